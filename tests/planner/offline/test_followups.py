"""Follow-ups change the plan before them and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qa.data.table import Table
from qa.planner.dialogue import Turn
from qa.planner.offline import plan

Tables = Callable[..., list[Table]]
Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]

FIRST = "What is the total amount by region?"


@pytest.mark.parametrize(
    ("follow", "rows"),
    [
        ("only 2025", [["East", 50], ["North", 200], ["West", 10]]),
        ("only paid orders", [["East", 80], ["North", 300], ["South", 40], ["West", 10]]),
        ("what about 2024?", [["East", 80], ["North", 160], ["South", 60]]),
        ("by status instead", [["paid", 430], ["pending", 110], ["refunded", 20]]),
        ("by year", [[2024, 300], [2025, 260]]),
        ("top 2", [["North", 360], ["East", 130]]),
        ("bottom 1", [["West", 10]]),
        ("what about discount", [["East", 4], ["North", 35], ["South", 0], ["West", 1]]),
        ("exclude 2024", [["East", 50], ["North", 200], ["West", 10]]),
        ("without North", [["East", 130], ["South", 60], ["West", 10]]),
        ("show me the top 2", [["North", 360], ["East", 130]]),
        ("average instead of total", [["East", 65.0], ["North", 120.0], ["South", 30.0], ["West", 10.0]]),
        ("average instead", [["East", 65.0], ["North", 120.0], ["South", 30.0], ["West", 10.0]]),
    ],
)
def test_a_follow_up_edits_the_last_plan(
    follow: str, rows: list[list[Any]], tables: Tables, answered: Answered
) -> None:
    given = tables("orders")
    history = [Turn(FIRST, plan(FIRST, given))]
    reply = plan(follow, given, history=history)
    assert reply["reply"] == "plan", reply
    assert answered(reply, given) == rows


def test_a_second_filter_on_a_column_takes_the_place_of_the_first(tables: Tables, answered: Answered) -> None:
    given = tables("orders")
    first = plan("What is the total amount by region in 2024?", given)
    reply = plan("what about 2025?", given, history=[Turn("…", first)])
    assert answered(reply, given) == [["East", 50], ["North", 200], ["West", 10]]


def test_a_full_question_is_not_a_follow_up(tables: Tables, answered: Answered) -> None:
    given = tables("orders")
    history = [Turn(FIRST, plan(FIRST, given))]
    assert answered(plan("How many orders are there?", given, history=history), given) == [[8]]


def test_a_chart_can_be_asked_for_afterwards(tables: Tables) -> None:
    given = tables("orders")
    reply = plan("as a bar chart", given, history=[Turn(FIRST, plan(FIRST, given))])
    assert reply["parts"][0]["chart"] == {"kind": "bar", "x": "region", "y": ["total amount"], "color": None}


def test_a_follow_up_about_an_unknown_value_is_refused(tables: Tables) -> None:
    given = tables("orders")
    reply = plan("only Atlantis", given, history=[Turn(FIRST, plan(FIRST, given))])
    assert reply["reply"] == "decline"


def test_a_follow_up_may_need_a_related_table_or_leave_one(tables: Tables, answered: Answered) -> None:
    given = tables("orders", "customers")
    first = plan("What is the total amount by city?", given)
    only = plan("only 2025", given, history=[Turn("…", first)])
    assert answered(only, given) == [["Lima", 210], ["Oslo", 50]]
    back = plan("by region instead", given, history=[Turn("…", first), Turn("…", only)])
    assert answered(back, given) == [["East", 50], ["North", 200], ["West", 10]]
    assert all(step["op"] != "join" for step in back["parts"][0]["steps"])


def test_the_other_end_of_a_ranking(tables: Tables, answered: Answered) -> None:
    given = tables("orders")
    top = plan("top 1 region by total amount", given)
    assert answered(plan("the lowest instead", given, history=[Turn("…", top)]), given)[0][0] == "West"


@pytest.mark.parametrize("follow", ["what about the weather", "penguins instead"])
def test_a_change_that_is_not_understood_is_no_question_of_its_own(follow: str, tables: Tables) -> None:
    given = tables("orders")
    assert plan(follow, given, history=[Turn(FIRST, plan(FIRST, given))])["reply"] == "decline"
