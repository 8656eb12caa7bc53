"""What one question carries through the pipeline: tables, settings, workers, a clock, and who is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qa.answer.answer import Answer, Attempt
from qa.data.semantics import Semantics, send_rules
from qa.data.table import Table
from qa.engine.pool import Pool
from qa.errors import Issue, QAError
from qa.plan.plan import PlanReply, Reply
from qa.plan.scope import Clock
from qa.settings import Settings

Progress = Callable[..., None]
"""Called with a stage (`plan`, `model`, `check`, `run`, `crosscheck`, `answer`) and a detail, also while
waiting; whatever it raises ends the question."""

Early = Callable[[Answer], None]
"""Called once with an answer whose cross-check takes longer than a moment; the call that gave it ends with the verdict."""


def silent(*_: object) -> None:
    return None


@dataclass(frozen=True)
class Desk:
    """What every question needs beside itself: tables, settings, workers, a clock, and who is told."""

    tables: Mapping[str, Table]
    settings: Settings
    pool: Pool
    clock: Clock
    progress: Progress = silent
    semantics: Mapping[str, Semantics] = field(default_factory=dict)
    session: str = "local"
    early: Early | None = None
    started: float = field(default_factory=time.perf_counter)
    timings: dict[str, float] = field(default_factory=dict)

    def clocked(self, stage: str, work: Callable[[], Any], shown: bool = True) -> Any:
        """The work's value; its milliseconds are kept under the stage."""
        if shown:
            self.progress(stage)
        begun = time.perf_counter()
        try:
            return work()
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + round((time.perf_counter() - begun) * 1000, 2)

    @property
    def metrics(self) -> dict[str, str]:
        """Named metrics of every table."""
        return {name: formula for table in self.tables.values() for name, formula in table.profile.metrics.items()}

    @property
    def send_rules(self) -> dict[str, str]:
        """The most that may leave of each column for which a semantic file sets a limit."""
        known = {name: table for name, table in self.tables.items() if name in self.semantics}
        return {
            key: rule for name, table in known.items() for key, rule in send_rules(table, self.semantics[name]).items()
        }

    @property
    def asker(self) -> dict[str, Any]:
        """Who asks the workers, and how their queue is told: sessions take turns there, a program of its own does not."""
        return {"session": "" if self.session == "local" else self.session, "queued": self.waits}

    def waits(self, before: int) -> None:
        """Says how many come before this question at the workers."""
        self.progress("queue", f"{before} before this" if before else "next")

    def tick(self, stage: str) -> Callable[[], None]:
        return lambda: self.progress(stage)


@dataclass(frozen=True)
class Found:
    """What planning came to: a reply, or the issues that say why there is none."""

    reply: Reply | None
    planner: str
    attempts: tuple[Attempt, ...] = ()
    model: str | None = None
    issues: tuple[Issue, ...] = ()
    note: str | None = None


def issues_of(desk: Desk, reply: Reply) -> list[Issue]:
    """What is wrong with a plan, measured on the data; nothing for a question back or a refusal."""
    if not isinstance(reply, PlanReply):
        return []
    try:
        desk.clocked(
            "check",
            lambda: desk.pool.check(
                reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("check"), **desk.asker
            ),
        )
    except QAError as error:
        return list(error.issues)
    return []
