"""A question and tables to an answer: plan, check, run, cross-check, tell, record."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from qa.answer import chart
from qa.answer.answer import Answer, AnswerColumn
from qa.data.semantics import Semantics
from qa.data.table import Table
from qa.engine.pool import Pool, shared
from qa.errors import PlanError
from qa.pipeline.answering import finished
from qa.pipeline.desk import Desk, Early, Found, Progress, silent
from qa.pipeline.planning import planned_reply
from qa.plan.check import today_clock
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import Clock
from qa.planner import model
from qa.planner.budget import Budget
from qa.planner.dialogue import Turn
from qa.settings import Settings
from qa.settings import settings as process_settings
from qa.types import Kind

__all__ = ["ask", "run_plan", "warm"]


def ask(
    question: str,
    tables: Sequence[Table],
    *,
    settings: Settings | None = None,
    planner: str | None = None,
    history: Sequence[Turn] = (),
    progress: Progress | None = None,
    saved_reply: str | None = None,
    pool: Pool | None = None,
    session: str = "local",
    clock: Clock | None = None,
    semantics: Mapping[str, Semantics] | None = None,
    budget: Budget | None = None,
    record: bool = True,
    early: Early | None = None,
) -> Answer:
    """The answer to a question about tables.

    `planner` is `offline` or `model` (default: the model when one is set). `saved_reply` is a model's reply to
    use instead of calling one. `semantics` are the tables' semantic files by name: their verified questions are
    tried first, their send rules bind the payload. `budget` caps what the model may cost. `early` is given the
    answer when its cross-check takes longer than `crosscheck_wait`; without it the answer waits for the verdict.
    Whatever goes wrong is in the answer's status and issues; nothing is raised but what `progress` raises.
    """
    desk = _desk(tables, settings, pool, clock, progress, semantics, session, early)
    found = desk.clocked("plan", lambda: planned_reply(desk, question, planner, history, saved_reply, budget))
    return finished(desk, question, found, session, record)


def run_plan(
    reply: Mapping[str, Any] | PlanReply,
    tables: Sequence[Table],
    *,
    settings: Settings | None = None,
    question: str = "",
    progress: Progress | None = None,
    pool: Pool | None = None,
    session: str = "local",
    clock: Clock | None = None,
    semantics: Mapping[str, Semantics] | None = None,
    record: bool = True,
    early: Early | None = None,
) -> Answer:
    """The answer that a plan gives, without a planner: an edited plan, a shared link, a program's own."""
    desk = _desk(tables, settings, pool, clock, progress, semantics, session, early)
    try:
        parsed = reply if isinstance(reply, PlanReply) else parse_reply(reply)
        found = Found(parsed, planner="plan")
    except PlanError as error:
        found = Found(None, planner="plan", issues=error.issues)
    return finished(desk, question, found, session, record)


def _desk(
    tables: Sequence[Table],
    settings: Settings | None,
    pool: Pool | None,
    clock: Clock | None,
    progress: Progress | None,
    semantics: Mapping[str, Semantics] | None,
    session: str,
    early: Early | None,
) -> Desk:
    own = settings or process_settings()
    return Desk(
        {table.name: table for table in tables},
        own,
        pool or shared(),
        clock or today_clock(own.zone, own.week_start),
        progress or silent,
        semantics or {},
        session,
        early,
    )


def warm(pool: Pool | None = None) -> None:
    """Gets ready for the first question in the background: a worker, and the libraries that draw."""
    (pool or shared()).warm()
    _warm_once(process_settings().model is not None)


@lru_cache(maxsize=1)
def _warm_once(modelled: bool) -> None:
    if modelled:
        model.warm()
    threading.Thread(target=_drawn_once, name="qa-warm", daemon=True).start()


def _drawn_once() -> None:
    columns = (AnswerColumn(name="k", kind=Kind.TEXT), AnswerColumn(name="v", kind=Kind.NUMBER))
    table = pl.DataFrame({"k": ["a", "b"], "v": [1.0, 2.0]})
    chart.figure(columns=columns, table=table, plan={}, total_rows=2)
