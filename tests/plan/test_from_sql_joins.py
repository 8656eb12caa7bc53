"""SQL joins over the sample shop: the plan gives SQLite's rows, or is refused where SQLite counts a value twice."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.answer.cells import json_rows
from qa.data.gather import Tables, gather
from qa.engine.run import checked_plan, run
from qa.errors import PlanError
from qa.plan.from_sql import translate
from qa.plan.plan import PlanReply, parse_reply

SHOP = Path(__file__).parents[2] / "sample_data" / "shop"
ORDERS_WITH_CUSTOMERS = "orders o join customers c on o.customer_id = c.customer_id"
ORDERS_WITH_LINES = "orders o join order_lines l on o.order_id = l.order_id"
EVERYTHING = f"{ORDERS_WITH_LINES} join products p on l.sku = p.sku join customers c on o.customer_id = c.customer_id"

SAID = [
    f"select c.state, count(*), sum(o.shipping) from {ORDERS_WITH_CUSTOMERS} group by c.state",
    f"select count(*), count(distinct o.order_id), min(o.shipping), max(o.shipping) from {ORDERS_WITH_LINES}",
    f"select o.order_id, sum(l.quantity) from {ORDERS_WITH_LINES} group by o.order_id",
    f"select p.category, sum(l.quantity * p.unit_price) from {EVERYTHING} group by p.category",
    f"select c.state, p.category, sum(l.quantity) from {EVERYTHING} group by c.state, p.category",
    f"select c.customer_id, max(o.shipping) from {EVERYTHING} where p.category is not null group by c.customer_id",
    f"select sum(c.credit_limit) from customers c where c.customer_id in (select o.customer_id from {ORDERS_WITH_LINES})",
    "select sum(o.shipping) from orders o where o.order_id in (select order_id from order_lines)",
    "select c.state, sum(t.s) from customers c join (select customer_id, sum(shipping) s from orders group by customer_id) t "
    "on t.customer_id = c.customer_id group by c.state",
    "select c.name, count(o.order_id) from customers c left join orders o on c.customer_id = o.customer_id group by c.customer_id, c.name",
    "select count(*) from customers c left join orders o on c.customer_id = o.customer_id where o.order_id is null",
    "select a.sku, b.sku from products a join products b on a.category = b.category where a.sku < b.sku",
]  # fmt: skip

TWICE = [
    (f"select sum(o.shipping) from {ORDERS_WITH_LINES}", "select sum(shipping) from orders"),
    ("select sum(o.shipping) from order_lines l, orders o where o.order_id = l.order_id", "select sum(shipping) from orders"),
    (f"select avg(o.shipping) from {ORDERS_WITH_LINES}", "select avg(shipping) from orders"),
    (f"select sum(c.credit_limit), count(*) from {ORDERS_WITH_CUSTOMERS}", None),
    (f"select p.category, sum(o.shipping) from {EVERYTHING} group by p.category", None),
    (f"select sum(o.shipping), sum(l.quantity) from {ORDERS_WITH_LINES}", None),
]  # fmt: skip


@lru_cache
def shop() -> tuple[Tables, sqlite3.Connection]:
    """The sample tables as loaded, and the same rows in SQLite."""
    tables, database = gather([SHOP]), sqlite3.connect(":memory:")
    for name, table in tables.by_name.items():
        frame = table.frame
        columns = [pl.col(c).cast(pl.String) if frame[c].dtype.is_temporal() else pl.col(c) for c in frame.columns]
        plain = frame.select(columns)
        database.execute(f"create table {name} ({', '.join(plain.columns)})")
        database.executemany(f"insert into {name} values ({', '.join('?' * plain.width)})", plain.rows())
    return tables, database


def planned(sql: str) -> list[list[Any]]:
    tables, _ = shop()
    reply = parse_reply(translate(sql, tables.by_name))
    assert isinstance(reply, PlanReply)
    return json_rows(run(checked_plan(reply, tables.by_name), tables.by_name)[0].frame)


@pytest.mark.parametrize("sql", SAID)
def test_a_join_that_repeats_nothing_it_sums_gives_the_rows_of_sqlite(sql: str) -> None:
    expected = sorted(([*row] for row in shop()[1].execute(sql)), key=repr)
    found = sorted(planned(sql), key=repr)
    assert len(expected) == len(found)
    for one, other in zip(expected, found, strict=True):
        assert [pytest.approx(cell) if isinstance(cell, float) else cell for cell in one] == other


@pytest.mark.parametrize(("sql", "alone"), TWICE)
def test_a_true_fan_out_is_refused_with_what_to_do(sql: str, alone: str | None) -> None:
    if alone is not None:
        database = shop()[1]
        assert database.execute(sql).fetchone() != pytest.approx(database.execute(alone).fetchone())
    with pytest.raises(PlanError, match="several times") as refused:
        planned(sql)
    assert all(issue.hint for issue in refused.value.issues)
