"""A look-up that no row fits is refused with what the column holds; a count of nothing is still 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qa.data.table import Table
from qa.planner.offline import plan

Tables = Callable[..., list[Table]]
Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the region with an amount above 900?", ["No row has amount > 900", "from 10 to 200"]),
        ("Which status has an age below 10 and region North?", ["No row has age < 10", "from 19 to 62"]),
        ("Which status has an amount of -40?", ["No row has amount == -40"]),
        ("Which status has an age of 19 and region North?", ["No row fits all of", "each fits some row"]),
    ],
)
def test_a_look_up_without_a_row_says_what_there_is(question: str, told: list[str], tables: Tables) -> None:
    reply = plan(question, tables("orders"))
    assert reply["reply"] == "decline", reply
    assert all(piece in reply["reason"] for piece in told), reply["reason"]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many orders have an amount above 900?", [[0]]),
        ("Which status has an age of 19 and region West?", [["paid"]]),
    ],
)
def test_a_count_of_nothing_and_a_look_up_with_rows_are_answered(
    question: str, rows: list[list[Any]], tables: Tables, answered: Answered
) -> None:
    given = tables("orders")
    assert answered(plan(question, given), given) == rows
