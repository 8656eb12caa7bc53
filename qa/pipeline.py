"""A question and tables to an answer: plan, check, run, cross-check, tell, record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from qa.answer import chart, prose
from qa.answer.answer import Answer, AnswerColumn, AnswerPart, Attempt, CheckResult, LedgerRow, Option
from qa.answer.share import result_hash
from qa.audit import Audit
from qa.data.table import Table
from qa.engine.pool import EngineFault, Pool, Stopped, shared
from qa.engine.result import Check, PartResult
from qa.errors import Issue, LimitExceeded, ModelUnavailable, PlanError, QAError
from qa.plan.check import CheckedPipeline, today_clock
from qa.plan.plan import ClarifyReply, DeclineReply, PlanReply, Reply, as_json, parse_reply
from qa.plan.scope import Clock
from qa.planner import model, offline
from qa.planner.dialogue import Turn
from qa.planner.reply_text import extract
from qa.settings import Settings
from qa.settings import settings as process_settings

Progress = Callable[..., None]
"""Called with a stage (`plan`, `model`, `check`, `run`, `crosscheck`, `answer`) and a detail, also while
waiting; whatever it raises ends the question."""


def _silent(*_: object) -> None:
    return None


@dataclass(frozen=True)
class Desk:
    """What every question needs beside itself: tables, settings, workers, a clock, and who is told."""

    tables: Mapping[str, Table]
    settings: Settings
    pool: Pool
    clock: Clock
    progress: Progress = _silent
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

    def tick(self, stage: str) -> Callable[[], None]:
        return lambda: self.progress(stage)


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
    record: bool = True,
) -> Answer:
    """The answer to a question about tables.

    `planner` is `offline` or `model` (default: the model when one is set). `saved_reply` is a model's reply to
    use instead of calling one. Whatever goes wrong is in the answer's status and issues; nothing is raised but
    what `progress` raises.
    """
    desk = _desk(tables, settings, pool, clock, progress)
    found = desk.clocked("plan", lambda: _planned(desk, question, planner, history, saved_reply))
    return _finished(desk, question, found, session, record)


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
    record: bool = True,
) -> Answer:
    """The answer that a plan gives, without a planner: an edited plan, a shared link, a program's own."""
    desk = _desk(tables, settings, pool, clock, progress)
    try:
        parsed = reply if isinstance(reply, PlanReply) else parse_reply(reply)
        found = Found(parsed, planner="plan")
    except PlanError as error:
        found = Found(None, planner="plan", issues=error.issues)
    return _finished(desk, question, found, session, record)


def _desk(
    tables: Sequence[Table],
    settings: Settings | None,
    pool: Pool | None,
    clock: Clock | None,
    progress: Progress | None,
) -> Desk:
    own = settings or process_settings()
    return Desk(
        {table.name: table for table in tables},
        own,
        pool or shared(),
        clock or today_clock(own.zone, own.week_start),
        progress or _silent,
    )


# ---- planning --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What planning came to: a reply, or the issues that say why there is none."""

    reply: Reply | None
    planner: str
    attempts: tuple[Attempt, ...] = ()
    model: str | None = None
    issues: tuple[Issue, ...] = ()
    note: str | None = None


def _planned(desk: Desk, question: str, planner: str | None, history: Sequence[Turn], saved_reply: str | None) -> Found:
    if saved_reply is not None:
        return _saved(saved_reply)
    if (planner or ("model" if desk.settings.model else "offline")) == "offline":
        return _offline(desk, question, history)
    return _modelled(desk, question, history)


def _saved(text: str) -> Found:
    try:
        reply = parse_reply(extract(text))
    except PlanError as error:
        attempt = Attempt(planner="reply", reply=text, issues=error.issues)
        return Found(None, "reply", (attempt,), issues=error.issues)
    return Found(reply, "reply", (Attempt(planner="reply", reply=text),))


def _offline(desk: Desk, question: str, history: Sequence[Turn]) -> Found:
    begun = time.perf_counter()
    try:
        reply = parse_reply(offline.plan(question, list(desk.tables.values()), history=history, today=desk.clock.today))
    except PlanError as error:
        return Found(None, "offline", (Attempt(planner="offline", issues=error.issues),), issues=error.issues)
    attempt = Attempt(planner="offline", ms=(time.perf_counter() - begun) * 1000)
    return Found(reply, "offline", (attempt,))


def _modelled(desk: Desk, question: str, history: Sequence[Turn]) -> Found:
    """The model's plan; when no model gives one, the offline planner's; when that declines too, the failure."""
    try:
        planned = model.plan(
            question, list(desk.tables.values()), settings=desk.settings, check=lambda reply: _issues(desk, reply), history=history,
            progress=lambda detail="", *_: desk.progress("model", detail),
        )  # fmt: skip
    except ModelUnavailable as error:
        return replace(_offline(desk, question, history), note=str(error))
    attempts = tuple(Attempt(**vars(attempt)) for attempt in planned.attempts)
    if planned.reply is not None:
        return Found(planned.reply, "model", attempts, planned.model)
    second = _offline(desk, question, history)
    tried = (*attempts, *second.attempts)
    why = planned.failure or Issue("no_plan", "", "The model gave no usable plan.")
    if isinstance(second.reply, PlanReply) and not _issues(desk, second.reply):
        return replace(second, attempts=tried, note=f"Planned without a model: {why}")
    return Found(None, "model", tried, issues=(why,))


def _issues(desk: Desk, reply: Reply) -> list[Issue]:
    """What is wrong with a plan, measured on the data; nothing for a question back or a refusal."""
    if not isinstance(reply, PlanReply):
        return []
    try:
        desk.clocked("check", lambda: desk.pool.check(reply, desk.tables, clock=desk.clock, tick=desk.tick("check")))
    except QAError as error:
        return list(error.issues)
    return []


# ---- from a reply to an answer ---------------------------------------------------------------


def _finished(desk: Desk, question: str, found: Found, session: str, record: bool) -> Answer:
    answer = _answer(desk, question, found)
    desk.timings["total"] = round((time.perf_counter() - desk.started) * 1000, 2)
    answer = answer.model_copy(update={
        "attempts": found.attempts, "planner": found.planner, "model": found.model, "timings": dict(desk.timings),
        "digests": {name: table.digest for name, table in desk.tables.items()},
    })  # fmt: skip
    return _recorded(desk, answer, session) if record else answer


def _recorded(desk: Desk, answer: Answer, session: str) -> Answer:
    try:
        secrets = [desk.settings.api_key] if desk.settings.api_key else []
        return answer.model_copy(
            update={"audit_id": Audit(desk.settings.audit).record(answer, session, secrets=secrets)}
        )
    except QAError as error:
        return answer.model_copy(update={"issues": (*answer.issues, *error.issues)})


def _answer(desk: Desk, question: str, found: Found) -> Answer:
    match found.reply:
        case PlanReply() as reply:
            return _run(desk, question, reply, found)
        case ClarifyReply() as back:
            options = tuple(
                Option(label=o.label, reply=None if o.parts is None else as_json(PlanReply(parts=o.parts)))
                for o in back.options
            )
            return Answer(status="clarify", question=question, question_back=back.question, options=options)
        case DeclineReply() as no:
            return Answer(
                status="declined", question=question, reason=no.reason, missing=no.missing, nearest=no.nearest
            )
        case _:
            return _failed(question, found.issues)


def _failed(question: str, issues: Sequence[Issue], reply: PlanReply | None = None) -> Answer:
    reason = " ".join(str(issue) for issue in issues[:3]) or "No plan could be made."
    return Answer(
        status="failed",
        question=question,
        reason=reason,
        issues=tuple(issues),
        reply=None if reply is None else as_json(reply),
    )


def _run(desk: Desk, question: str, reply: PlanReply, found: Found) -> Answer:
    try:
        results: list[PartResult] = desk.clocked(
            "run", lambda: desk.pool.run(reply, desk.tables, clock=desk.clock, tick=desk.tick("run"))
        )
        checks = _crosschecked(desk, reply, results)
    except Stopped:
        return Answer(status="failed", question=question, reason="You stopped this question before it was answered.")
    except (PlanError, LimitExceeded) as error:
        return _failed(question, error.issues, reply)
    except EngineFault as fault:
        issue = Issue(
            "unexpected",
            "",
            "Something inside the program broke while running the plan.",
            "Please ask again, or ask it another way.",
        )
        return _failed(question, (issue,), reply).model_copy(
            update={"attempts": (Attempt(planner="engine", error=str(fault)),)}
        )
    wrong = [check for check in checks if check.passed is False]
    if wrong:
        issue = Issue(
            "engines_disagree",
            "",
            f"The two engines gave different results, so no answer is shown: {wrong[0].detail}",
            "Please report this plan.",
        )
        return _failed(question, (issue,), reply)
    parts = desk.clocked(
        "answer",
        lambda: [_part(desk, question, result, check, found) for result, check in zip(results, checks, strict=True)],
    )
    return Answer(
        status="answered", question=question, parts=tuple(parts), reply=as_json(reply), result_hash=result_hash([part.table for part in parts]),
    )  # fmt: skip


def _crosschecked(desk: Desk, reply: PlanReply, results: Sequence[PartResult]) -> list[Check]:
    """The second engine's verdict on each part; past the size budget it says why it was not asked."""
    rows = sum(table.rows for table in desk.tables.values())
    skipped = {
        "never": "Not cross-checked: switched off in the settings.",
        "auto": f"Not cross-checked: {rows:,} rows are more than the budget of {desk.settings.crosscheck_rows:,}."
        if rows > desk.settings.crosscheck_rows
        else "",
    }.get(desk.settings.crosscheck, "")
    if skipped:
        return [Check("second engine", None, skipped) for _ in results]
    try:
        checks: list[Check] = desk.clocked(
            "crosscheck",
            lambda: desk.pool.crosscheck(reply, desk.tables, results, clock=desk.clock, tick=desk.tick("crosscheck")),
        )
        return checks
    except (LimitExceeded, EngineFault) as error:
        return [Check("second engine", None, f"Not cross-checked: {error}") for _ in results]


def _part(desk: Desk, question: str, result: PartResult, check: Check, found: Found) -> AnswerPart:
    part = result.checked.part
    columns = tuple(
        AnswerColumn(name=header, kind=column.kind, role=column.role, unit=column.unit)
        for column, header in zip(result.checked.shown, result.checked.headers, strict=True)
    )
    written = as_json(part)
    ledger = tuple(LedgerRow(**asdict(row)) for row in result.ledger)
    told = prose.sentences(
        title=part.title, plan=written, columns=columns, table=result.frame, total_rows=result.total_rows, truncated=result.truncated,
        support=result.support, question=question, ledger=ledger,
    )  # fmt: skip
    notes = [note for note in (part.reading and f"Read as: {part.reading}", found.note, *result.notes) if note]
    return AnswerPart(
        title=part.title, reading=part.reading, sentences=told, value=prose.value_of(result.frame, columns, written), columns=columns,
        table=result.frame, total_rows=result.total_rows, truncated=result.truncated,
        chart=chart.figure(columns=columns, table=result.frame, plan=written, total_rows=result.total_rows, question=question),
        plan=written, polars=result.polars, sql=result.sql, ledger=ledger, support=result.support,
        checks=(CheckResult(**vars(check)), *(CheckResult(**vars(more)) for more in result.checks)),
        assumptions=tuple(dict.fromkeys(notes)), warnings=result.warnings, explanation=explained(desk.tables, result.checked.pipeline),
    )  # fmt: skip


def explained(tables: Mapping[str, Table], pipeline: CheckedPipeline) -> tuple[str, ...]:
    """A pipeline in plain words, a line a step."""
    rows = f" ({tables[pipeline.source].rows:,} rows)" if pipeline.source in tables else ""
    return (f"Start from {pipeline.source}{rows}", *(_sentence(step.describe()) for step in pipeline.steps))


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
