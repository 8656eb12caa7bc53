"""A sum over nothing but looked-up columns says how often each value was added."""

from __future__ import annotations

from typing import Any

import pytest

from qa.engine.run import checked_plan, run
from qa.plan.plan import PlanReply, parse_reply
from tests.tables import table

LINES = table("lines", {"order": [1, 1, 2], "quantity": [5, 1, 2]})
ORDERS = table("orders", {"order": [1, 2], "shipping": [10, 4]})
NOTE = "t adds shipping of orders once for each row of lines, not once for each row of orders."


def notes(source: str, other: str, metric: str, expect: str) -> tuple[str, ...]:
    steps: list[dict[str, Any]] = [
        {"op": "join", "table": other, "how": "left", "on": ["order"], "expect": expect},
        {"op": "summarize", "by": [], "metrics": [f"{metric} as t"]},
    ]
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": source, "steps": steps}]})
    assert isinstance(reply, PlanReply)
    tables = {"lines": LINES, "orders": ORDERS}
    (result,) = run(checked_plan(reply, tables), tables)
    return tuple(note for note in result.notes if "once for each row" in note)


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("sum(shipping)", (NOTE,)),
        ("sum(shipping) / 2", (NOTE,)),
        ("sum(quantity)", ()),
        ("sum(quantity * shipping)", ()),
        ("max(shipping)", ()),
    ],
)
def test_a_sum_of_what_was_looked_up(metric: str, told: tuple[str, ...]) -> None:
    assert notes("lines", "orders", metric, "many_to_one") == told
