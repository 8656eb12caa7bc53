"""Small tables that the offline planner is asked about, read as a user's files would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qa.data.read import load
from qa.data.table import Table
from qa.engine.run import checked_plan, run
from qa.plan.plan import PlanReply, parse_reply

ORDERS = """order_id,customer_id,when,region,status,amount,discount,returned,age
1,10,2024-01-05,North,paid,100,5,no,31
2,11,2024-01-20,South,paid,40,0,yes,45
3,10,2024-02-03,North,pending,60,10,no,31
4,12,2024-02-14,East,paid,80,4,no,62
5,11,2024-03-01,South,refunded,20,0,yes,45
6,13,2025-03-09,North,paid,200,20,no,28
7,12,2025-04-11,East,pending,50,,no,62
8,14,2025-04-30,West,paid,10,1,no,19
"""
CUSTOMERS = """customer_id,name,city,gender
10,Ada,Oslo,female
11,Ben,Rome,male
12,Cleo,Oslo,female
13,Dan,Lima,male
14,Eve,Lima,female
"""
FILMS = """Title,Director,Year,Gross,Length
"C++ and I",Jo Hill,1999,12.5,90
"The UK (Part 2)",Ann Ray,2003,40,121
Snow,Jo Hill,2010,7.25,101
Ice,Bea Fox,2010,7.25,88
"""


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Table]]:
    """Gives the named tables, each loaded once from a file of its name."""
    folder = tmp_path_factory.mktemp("tables")
    texts = {"orders": ORDERS, "customers": CUSTOMERS, "films": FILMS}
    loaded: dict[str, Table] = {}

    def give(*names: str) -> list[Table]:
        for name in names:
            if name not in loaded:
                path: Path = folder / f"{name}.csv"
                path.write_text(texts[name], encoding="utf-8")
                loaded[name] = load(path)[0]
        return [loaded[name] for name in names]

    return give


@pytest.fixture(scope="session")
def answered() -> Callable[[dict[str, Any], list[Table]], list[list[Any]]]:
    """Runs a plan through the checker and the engine; gives the rows of all its parts, dates as text."""

    def rows(reply: dict[str, Any], given: list[Table]) -> list[list[Any]]:
        parsed = parse_reply(reply)
        assert isinstance(parsed, PlanReply)
        by_name = {table.name: table for table in given}
        results = run(checked_plan(parsed, by_name), by_name)
        return [[str(c) if hasattr(c, "isoformat") else c for c in row] for r in results for row in r.frame.rows()]

    return rows
