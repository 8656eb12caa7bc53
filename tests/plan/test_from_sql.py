"""SQL in: a SELECT gives the rows that SQLite gives, or an issue names what cannot be said."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from qa.data.table import Table
from qa.engine.run import checked_plan, run
from qa.errors import PlanError
from qa.plan.from_sql import translate
from qa.plan.plan import PlanReply, parse_reply
from tests.tables import table

CUSTOMERS = {"id": [1, 2, 3, 4], "name": ["Ann", "Bob", "Cid", "Dee"], "city": ["Rome", "Oslo", "Rome", None]}
ORDERS = {
    "order_id": [10, 11, 12, 13, 14],
    "customer": [1, 1, 2, 3, 3],
    "amount": [5.0, 7.5, 2.0, None, 9.0],
    "status": ["paid", "open", "paid", "paid", "open"],
}
VISITS = {
    "visit": [1, 2, 3, 4],
    "day": ["2024-03-01", "2023-12-31", "2024-02-29", "2000-01-01"],
    "moment": ["2024-03-01 10:05:06", "2023-12-31 23:59:59", None, "1999-12-31 12:00:00"],
}
DATA: dict[str, dict[str, list[Any]]] = {"customers": CUSTOMERS, "orders": ORDERS, "visits": VISITS}


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {name: table(name, columns) for name, columns in DATA.items()}


@pytest.fixture(scope="module")
def sqlite() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for name, columns in DATA.items():
        connection.execute(f"create table {name} ({', '.join(columns)})")
        connection.executemany(
            f"insert into {name} values ({', '.join('?' * len(columns))})", list(zip(*columns.values(), strict=True))
        )
    return connection


def answer(sql: str, tables: dict[str, Table]) -> list[tuple[Any, ...]]:
    reply = parse_reply(translate(sql, tables))
    assert isinstance(reply, PlanReply)
    return list(run(checked_plan(reply, tables), tables)[0].frame.iter_rows())


QUERIES = [
    "select name from customers where city = 'Rome'",
    "select count(*), sum(amount), avg(amount), min(amount), max(amount) from orders",
    "select status, count(*) as n from orders group by status having count(*) > 2 order by n desc",
    "select status, sum(amount) * 1.0 / count(*) from orders group by status order by 1",
    "select name, city from customers where city is null or name like 'A%'",
    "select name from customers where name like '%b%' and not city = 'Rome'",
    "select order_id from orders where amount between 3 and 8 order by amount desc",
    "select distinct city from customers where city is not null order by city",
    "select c.name, o.amount from customers c join orders o on c.id = o.customer where o.status = 'paid' order by o.order_id",
    "select c.name, sum(o.amount) t from orders o join customers c on o.customer = c.id group by c.id order by t desc limit 1",
    "select c.name, o.order_id from customers c left join orders o on c.id = o.customer order by c.id, o.order_id",
    "select c.name from customers c left join orders o on c.id = o.customer where o.customer is null",
    "select name from customers where id not in (select customer from orders)",
    "select name from customers where exists (select 1 from orders where orders.customer = customers.id and status = 'open') order by name",
    "select name from customers c where not exists (select * from orders o where o.customer = c.id)",
    "select order_id from orders where amount > (select avg(amount) from orders)",
    "select a.name, b.name from customers a join customers b on a.city = b.city where a.id < b.id",
    "select name from customers where city = 'Rome' union select name from customers where id = 2 order by name",
    "select customer from orders where status = 'paid' intersect select customer from orders where status = 'open'",
    "select customer from orders except select customer from orders where status = 'open'",
    "with big as (select * from orders where amount > 4) select status, count(*) from big group by status order by status",
    "select n, count(*) from (select customer, count(*) as n from orders group by customer) group by n order by n",
    "select case when amount > 6 then 'high' when amount > 1 then 'low' else 'none' end k, count(*) from orders group by k order by k",
    "select order_id, rank() over (partition by status order by amount desc) r from orders order by order_id",
    "select order_id, sum(amount) over (order by order_id) s from orders where amount is not null order by order_id",
    "select (select max(amount) from orders) - (select min(amount) from orders)",
    "select count(distinct customer), count(amount) from orders",
    "select upper(name) || '!' from customers where id <= 2 order by id",
    "select name from customers order by city, name desc limit 2 offset 1",
    "select status, max(amount), order_id from orders group by status order by status",
    "select distinct c.name from customers c join orders o where o.amount < (select avg(amount) from orders)",
    "select count(*) from customers cross join orders where 1 = 1 and customers.id < orders.customer",
    "select strftime('%Y', day), strftime('%m', moment), strftime('%d/%m', day) from visits order by visit",
    "select strftime('%Y-%m-%d', moment), strftime('%H:%M:%S', moment) from visits order by visit",
    "select strftime('%w', day), count(*) from visits group by strftime('%w', day) order by 1",
    "select visit, julianday(day), julianday(moment) - julianday(day) from visits order by visit",
    "select visit from visits order by julianday(moment) - julianday(day) desc, visit limit 1",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_the_plan_gives_the_rows_that_sqlite_gives(
    sql: str, tables: dict[str, Table], sqlite: sqlite3.Connection
) -> None:
    expected, found = [tuple(row) for row in sqlite.execute(sql)], answer(sql, tables)
    if "order by" not in sql.rpartition("over")[2]:
        expected, found = sorted(expected, key=repr), sorted(found, key=repr)
    assert [
        tuple(None if v is None else pytest.approx(v) if isinstance(v, float) else v for v in row) for row in expected
    ] == found


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select frobnicate(name) from customers", "frobnicate has no counterpart"),
        ("select nothing from customers", "no column"),
        ("select * from nowhere", "no table 'nowhere'"),
        ("delete from customers", "Only a SELECT"),
        ("select from where", "not SQL"),
        ("select sum(distinct amount) from orders", "different values only"),
    ],
)
def test_what_cannot_be_said_is_named(sql: str, message: str, tables: dict[str, Table]) -> None:
    with pytest.raises(PlanError, match=message):
        answer(sql, tables)


def test_a_true_fan_out_is_refused(tables: dict[str, Table]) -> None:
    lines = {**tables, "lines": table("lines", {"customer": [1, 1, 2], "qty": [1, 2, 3]})}
    with pytest.raises(PlanError, match="several times"):
        answer("select sum(o.amount) from orders o join lines l on o.customer = l.customer", lines)
