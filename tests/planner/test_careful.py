"""Several plans count as one answer only when they come to one result."""

from __future__ import annotations

import pytest

from qa.plan.plan import PlanReply, parse_reply
from qa.planner.attempts import Planned
from qa.planner.careful import Outcome, agreed


def plan(metric: str) -> Planned:
    steps = [{"op": "summarize", "by": [], "metrics": [f"{metric} as x"]}]
    return Planned(
        parse_reply({"reply": "plan", "parts": [{"title": "t", "reading": metric, "source": "t", "steps": steps}]})
    )


DECLINED = Planned(parse_reply({"reply": "decline", "reason": "no profit"}))
NOTHING = Planned(None)
RESULTS = {"sum(a)": "12", "mean(a)": "3", "total(a)": "12"}


def run(reply: PlanReply) -> Outcome | None:
    shown = RESULTS.get(str(reply.parts[0].reading))
    return shown and (f"hash of {shown}", shown)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("plans", "reply", "votes", "note"),
    [
        (
            [plan("sum(a)"), plan("total(a)"), plan("sum(a)")],
            "plan",
            [3],
            "3 of 3 plans gave this result, none another",
        ),
        ([plan("sum(a)"), NOTHING, plan("broken(a)")], "plan", [1], "1 of 3 plans gave this result, none another"),
        ([plan("mean(a)"), plan("sum(a)"), plan("total(a)")], None, [2, 1], "3 plans gave 2 different results"),
        ([plan("sum(a)"), DECLINED], "plan", [1], "1 of 2 plans gave this result, none another"),
        ([DECLINED, NOTHING], "decline", [], "none of 2 plans could be run"),
        ([plan("broken(a)")], None, [], "none of 1 plans could be run"),
    ],
)
def test_plans_are_grouped_by_what_they_come_to(
    plans: list[Planned], reply: str | None, votes: list[int], note: str
) -> None:
    found = agreed(plans, run)
    assert (found.reply.reply if found.reply else None) == reply
    assert [group.votes for group in found.groups] == votes
    assert found.note == note


def test_rivals_show_their_reading_and_their_number() -> None:
    found = agreed([plan("mean(a)"), plan("sum(a)"), plan("total(a)")], run)
    assert [group.label for group in found.rivals] == ["sum(a): 12", "mean(a): 3"]
