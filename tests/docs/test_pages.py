"""The pages of `docs/` say what the code does: their plans run, and they are as the code writes them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from qa.engine.crosscheck import crosscheck
from qa.engine.run import checked_plan, run
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import Clock
from tests.docs.pages import DOCS, PAGES, every
from tests.docs.saying import Line
from tests.tables import table

CLOCK = Clock(dt.date(2024, 9, 20))
RUNS = [line for line in every() if line.plan is not None]


def same(got: Any, wanted: Any) -> bool:
    if isinstance(got, dt.date | dt.datetime):
        return got.isoformat() == wanted
    return bool(got == pytest.approx(wanted)) if isinstance(wanted, float) else bool(got == wanted)


@pytest.mark.parametrize("line", RUNS, ids=[line.item for line in RUNS])
def test_what_the_yardstick_page_says_runs_on_both_engines(line: Line) -> None:
    plan = line.plan
    assert plan is not None
    tables = {"t": table("t", plan.data), **{name: table(name, data) for name, data in plan.tables.items()}}
    reply = parse_reply({"reply": "plan", "lets": list(plan.lets), "parts": [{"title": "", "source": "t", "steps": list(plan.steps)}]})  # fmt: skip
    assert isinstance(reply, PlanReply)
    checked = checked_plan(reply, tables, CLOCK)
    found = run(checked, tables)[0]
    assert crosscheck(checked, 0, found.frame, tables, 1000).passed is True
    got = [list(row) for row in found.frame.iter_rows()]
    assert len(got) == len(plan.rows), got
    for row, wanted in zip(got, plan.rows, strict=True):
        assert all(same(g, w) for g, w in zip(row, wanted, strict=True)), got


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_code_writes_it(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "Run python -m tests.docs.pages."


def test_every_line_says_how_or_why() -> None:
    assert all(line.says in ("has", "another way", "leaves out") for line in every())
    assert [line.item for line in every() if line.says != "has" and not (line.how or line.plan)] == []
