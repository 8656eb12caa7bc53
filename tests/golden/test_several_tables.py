"""Ten questions over several sample tables, as plans, give values that were worked out by hand, on both engines."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from qa.data.gather import Tables, gather
from qa.errors import PlanError
from qa.plan.plan import PlanReply, parse_reply
from tests.agreement import ran, reply, rows, same

HERE = Path(__file__).parent
SAMPLES = Path(__file__).parents[2] / "sample_data"
# The rows of each question were worked out once with csv, Counter and pandas on the raw files, without our reader.
TEN = [json.loads(line) for line in (HERE / "several_tables.jsonl").read_text(encoding="utf-8").splitlines()]


@lru_cache
def sample(name: str) -> Tables:
    return gather([SAMPLES / name])


def told(plan: dict[str, Any], tables: str) -> list[list[Any]]:
    """The rows of a plan, after DuckDB agreed on them."""
    parsed = parse_reply(plan)
    assert isinstance(parsed, PlanReply)
    return rows(ran(parsed, sample(tables).by_name))


def test_there_are_ten() -> None:
    assert len(TEN) == 10


@pytest.mark.parametrize("case", TEN, ids=lambda case: case["question"])
def test_the_value_is_the_one_worked_out_by_hand(case: dict[str, Any]) -> None:
    assert same(told(case["plan"], case["tables"]), case["rows"])


def test_a_join_that_multiplies_rows_is_refused_until_it_says_so() -> None:
    steps = [
        {"op": "join", "table": "order_lines", "how": "inner", "on": ["order_id"], "expect": "many_to_one"},
        {"op": "summarize", "metrics": ["sum(shipping) as s"]},
    ]
    with pytest.raises(PlanError) as refused:
        ran(reply("orders", steps), sample("shop").by_name)
    assert "order_lines" in str(refused.value)


def test_a_sum_over_rows_that_a_join_repeated_is_refused() -> None:
    steps = [
        {"op": "join", "table": "order_lines", "how": "inner", "on": ["order_id"]},
        {"op": "summarize", "metrics": ["sum(shipping) as s"]},
    ]
    with pytest.raises(PlanError, match="would count values several times"):
        ran(reply("orders", steps), sample("shop").by_name)
