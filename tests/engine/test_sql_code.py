"""The SQL that is shown, run in DuckDB over tables under their display names, gives the same table."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
import pytest
import sqlglot

from qa.data.table import Table
from qa.engine.crosscheck import differs
from qa.engine.run import checked_plan, run
from qa.engine.sql_code import DIALECTS, readable_sql
from qa.plan.functions.aggregates import NoTwin
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.steps import STEPS
from tests.tables import table


def shown(sql: str, tables: dict[str, Table]) -> pl.DataFrame:
    connection = duckdb.connect()
    for name, made in tables.items():
        connection.register("arrow", made.frame.to_arrow())
        connection.execute(f'create table "{name}" as select * from arrow')
    frame = pl.from_arrow(connection.sql(sql).to_arrow_table())
    assert isinstance(frame, pl.DataFrame)
    return frame


CASES = [(op, example) for op, cls in STEPS.items() for example in cls.examples]


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{op}" for i, (op, _) in enumerate(CASES)])
def test_the_shown_sql_gives_the_table_of_the_plan(case: Any) -> None:
    _, example = case
    tables = {
        "t": table("t", example.data),
        **{name: table(name, columns) for name, columns in (example.tables or {}).items()},
    }
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [example.step]}]})
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, tables)
    try:
        sql = readable_sql(plan)
    except NoTwin as reason:
        pytest.skip(f"this step has no SQL: {reason}")
    assert differs(run(plan, tables)[0].frame, shown(sql, tables)) is None, sql


def test_the_shown_sql_speaks_the_users_names_in_every_dialect() -> None:
    made = {"sales": table("sales", {"Unit price": [2.0, 3.5], "region": ["a", "b"]})}
    steps = [
        {"op": "filter", "where": "`Unit price` > 2"},
        {"op": "summarize", "by": ["region"], "metrics": ["mean(`Unit price`) as mean price"]},
    ]
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "sales", "steps": steps}]})
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, made)
    for dialect in DIALECTS:
        sql = readable_sql(plan, dialect=dialect)
        assert "Unit price" in sql and "mean price" in sql
        assert '"c0"' not in sql and "file_row_number" not in sql
        assert sqlglot.parse_one(sql, dialect=dialect) is not None
