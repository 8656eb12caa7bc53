"""The second engine's verdict on results, within its budget; past a moment the answer is shown as being checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from qa.answer.answer import CHECKING
from qa.engine.pool import EngineFault, Stopped
from qa.engine.result import Check, PartResult
from qa.errors import LimitExceeded
from qa.pipeline.desk import Desk
from qa.plan.plan import PlanReply

NAME = "second engine"


class Moment:
    """The time until an answer is shown without its verdict: `show` is called once, when it is over."""

    def __init__(self, seconds: float, show: Callable[[Sequence[Check]], None] | None, parts: int) -> None:
        self.show, self.parts = show, parts
        self.over = False
        self._until = time.perf_counter() + seconds

    def passes(self) -> None:
        if self.show is not None and not self.over and time.perf_counter() >= self._until:
            self.over = True
            self.show([Check(NAME, None, CHECKING)] * self.parts)


def verdicts(
    desk: Desk, reply: PlanReply, results: Sequence[PartResult], show: Callable[[Sequence[Check]], None] | None
) -> list[Check]:
    """The verdict on each part; past the budget it says why there is none."""
    if skipped := _not_asked(desk):
        return [Check(NAME, None, skipped)] * len(results)
    moment = Moment(desk.settings.crosscheck_wait, show, len(results))
    tick, asker = desk.tick("crosscheck"), desk.asker

    def waits(before: int) -> None:
        asker["queued"](before)
        moment.passes()

    def ticks() -> None:
        tick()
        moment.passes()

    try:
        checks: list[Check] = desk.clocked(
            "crosscheck",
            lambda: desk.pool.crosscheck(
                reply, desk.tables, results, clock=desk.clock, metrics=desk.metrics, tick=ticks, session=asker["session"], queued=waits,
            ),
        )  # fmt: skip
        return checks
    except (LimitExceeded, EngineFault) as error:
        return [Check(NAME, None, f"Not cross-checked: {_why(error)}")] * len(results)
    except Stopped:
        if not moment.over:
            raise
        return [Check(NAME, None, "Not cross-checked: it was stopped before it was done.")] * len(results)


def _not_asked(desk: Desk) -> str:
    """Why the second engine is not asked at all."""
    if desk.settings.crosscheck == "never":
        return "Not cross-checked: switched off in the settings."
    rows = sum(table.rows for table in desk.tables.values())
    if desk.settings.crosscheck == "auto" and rows > desk.settings.crosscheck_rows:
        return f"Not cross-checked: {rows:,} rows are more than the budget of {desk.settings.crosscheck_rows:,}."
    return ""


_WHY = {
    "too_slow": "the second engine took longer than its time, QA_CROSSCHECK_SECONDS.",
    "too_much_memory": "the second engine needed more than its memory, QA_QUERY_MEMORY_MB.",
}


def _why(error: LimitExceeded | EngineFault) -> str:
    code = error.issues[0].code if isinstance(error, LimitExceeded) else ""
    return _WHY.get(code, str(error))
