"""Row numbers count the rows that enter their step, in every step that uses them."""

from __future__ import annotations

from qa.engine.crosscheck import crosscheck
from qa.engine.run import checked_plan, run
from qa.plan.plan import PlanReply, parse_reply
from tests.tables import table


def test_several_steps_may_each_number_their_rows() -> None:
    tables = {"t": table("t", {"x": [5, 6, 7, 8]})}
    steps = [
        {"op": "filter", "where": "row_index() >= 2"},
        {"op": "derive", "columns": ["row_index() as n"]},
        {"op": "filter", "where": "row_index() <= 2"},
    ]
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": steps}]})
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, tables)
    found = run(plan, tables)[0]
    assert found.frame.rows() == [(6, 1), (7, 2)]
    assert crosscheck(plan, 0, found.frame, tables, 100).passed is True
