"""A question and tables to an answer: plan, check, run, cross-check, tell, record."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import polars as pl

from qa.answer import chart, prose
from qa.answer.answer import Answer, AnswerColumn, AnswerPart, Attempt, CheckResult, LedgerRow, Option
from qa.answer.share import result_hash
from qa.audit import Audit
from qa.data.semantics import Semantics, send_rules
from qa.data.table import Table
from qa.data.verified import verified_match
from qa.engine.pool import EngineFault, Pool, Stopped, shared
from qa.engine.result import Check, PartResult
from qa.errors import Issue, LimitExceeded, ModelUnavailable, PlanError, QAError
from qa.plan.check import CheckedPipeline, today_clock
from qa.plan.plan import Choice, ClarifyReply, DeclineReply, PlanReply, Reply, as_json, parse_reply
from qa.plan.scope import Clock
from qa.planner import model, offline, payload
from qa.planner.attempts import Planned
from qa.planner.budget import Budget, purse_of
from qa.planner.careful import agreed
from qa.planner.dialogue import Turn
from qa.planner.reply_text import extract
from qa.settings import Settings
from qa.settings import settings as process_settings
from qa.types import Kind

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
    semantics: Mapping[str, Semantics] = field(default_factory=dict)
    session: str = "local"
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
    semantics: Mapping[str, Semantics] | None = None,
    budget: Budget | None = None,
    record: bool = True,
) -> Answer:
    """The answer to a question about tables.

    `planner` is `offline` or `model` (default: the model when one is set). `saved_reply` is a model's reply to
    use instead of calling one. `semantics` are the tables' semantic files by name: their verified questions are
    tried first, their send rules bind the payload. `budget` caps what the model may cost. Whatever goes wrong is in the answer's status and issues; nothing is raised but
    what `progress` raises.
    """
    desk = _desk(tables, settings, pool, clock, progress, semantics, session)
    found = desk.clocked("plan", lambda: _planned(desk, question, planner, history, saved_reply, budget))
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
    semantics: Mapping[str, Semantics] | None = None,
    record: bool = True,
) -> Answer:
    """The answer that a plan gives, without a planner: an edited plan, a shared link, a program's own."""
    desk = _desk(tables, settings, pool, clock, progress, semantics, session)
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
    semantics: Mapping[str, Semantics] | None,
    session: str,
) -> Desk:
    own = settings or process_settings()
    return Desk(
        {table.name: table for table in tables},
        own,
        pool or shared(),
        clock or today_clock(own.zone, own.week_start),
        progress or _silent,
        semantics or {},
        session,
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


def _planned(
    desk: Desk,
    question: str,
    planner: str | None,
    history: Sequence[Turn],
    saved_reply: str | None,
    budget: Budget | None,
) -> Found:
    if saved_reply is not None:
        return _saved(desk, saved_reply)
    verified = _verified(desk, question)
    if verified is not None:
        return verified
    if (planner or ("model" if desk.settings.model else "offline")) == "offline":
        return _offline(desk, question, history)
    if desk.settings.careful > 1:
        return _careful(desk, question, history, budget)
    return _modelled(desk, question, history, budget)


def _verified(desk: Desk, question: str) -> Found | None:
    """The plan that a person verified for this question, if there is one and it still fits."""
    known = verified_match(question, {name: file for name, file in desk.semantics.items() if name in desk.tables})
    if known is None:
        return None
    try:
        reply = parse_reply(known.question.plan)
    except PlanError:
        return None
    asked = "the same question" if known.exact else f"the question {known.question.question!r}"
    note = f"Verified plan for {asked}{f', by {known.question.by}' if known.question.by else ''}."
    return None if _issues(desk, reply) else Found(reply, "verified", note=note)


def _saved(desk: Desk, text: str) -> Found:
    try:
        reply = parse_reply(payload.with_real_names(extract(text), list(desk.tables.values())))
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


def _modelled(desk: Desk, question: str, history: Sequence[Turn], budget: Budget | None) -> Found:
    """The model's plan; when no model gives one, the offline planner's; when that declines too, the failure."""
    try:
        planned = model.plan(question, list(desk.tables.values()), **_model_arguments(desk, history, budget))
    except ModelUnavailable as error:
        return replace(_offline(desk, question, history), note=f"Planned without a model: {error}")
    if planned.reply is not None:
        return Found(planned.reply, "model", _attempts(planned), planned.model)
    return _instead(desk, question, history, [planned])


def _model_arguments(desk: Desk, history: Sequence[Turn], budget: Budget | None) -> dict[str, Any]:
    return {
        "today": desk.clock.today,
        "settings": desk.settings, "check": lambda reply: _issues(desk, reply), "history": history, "budget": budget or Budget.of(desk.settings, purse=purse_of(desk.session, desk.settings), plans=desk.settings.careful),
        "send_rules": desk.send_rules, "progress": lambda detail="", *_: desk.progress("model", detail),
    }  # fmt: skip


def _attempts(*planned: Planned) -> tuple[Attempt, ...]:
    return tuple(Attempt(**vars(attempt)) for one in planned for attempt in one.attempts)


def _instead(desk: Desk, question: str, history: Sequence[Turn], tried: Sequence[Planned]) -> Found:
    """What is said when no model gave a plan: the offline planner's plan, if it has one that fits."""
    second = _offline(desk, question, history)
    why = next((one.failure for one in tried if one.failure), None) or Issue(
        "no_plan", "", "The model gave no usable plan."
    )
    if isinstance(second.reply, PlanReply) and not _issues(desk, second.reply):
        return replace(second, attempts=(*_attempts(*tried), *second.attempts), note=f"Planned without a model: {why}")
    return Found(None, "model", (*_attempts(*tried), *second.attempts), issues=(why,))


def _careful(desk: Desk, question: str, history: Sequence[Turn], budget: Budget | None) -> Found:
    """Several plans, run and grouped by result. Agreement is told; disagreement becomes a question back."""
    try:
        planned = model.plans(
            desk.settings.careful, question, list(desk.tables.values()), **_model_arguments(desk, history, budget)
        )
    except ModelUnavailable as error:
        return replace(_offline(desk, question, history), note=f"Planned without a model: {error}")
    verdict, attempts = agreed(planned, lambda reply: _outcome(desk, reply)), _attempts(*planned)
    by_model = next((one.model for one in planned if one.reply is verdict.reply), None)
    if verdict.reply is not None:
        return Found(verdict.reply, "model", attempts, by_model, note=f"Asked carefully: {verdict.note}.")
    if not verdict.groups:
        return _instead(desk, question, history, planned)
    options = tuple(
        Choice(label=f"{_reading(group.reply)}: {group.shown}", lets=group.reply.lets, parts=group.reply.parts)
        for group in verdict.groups[:3]
    )
    back = ClarifyReply(
        reply="clarify", question=f"Asked carefully, {verdict.note}. Which one do you mean?", options=options
    )
    return Found(back, "model", attempts)


def _reading(reply: PlanReply) -> str:
    return reply.parts[0].reading or reply.parts[0].title or "one reading"


def _outcome(desk: Desk, reply: PlanReply) -> tuple[str, str] | None:
    """The hash of a plan's result, names of columns aside, and its first sentence; None where it does not run."""
    try:
        results = desk.pool.run(reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("run"))
    except (QAError, EngineFault):
        return None
    unnamed = [
        result.frame.rename({name: str(place) for place, name in enumerate(result.frame.columns)}) for result in results
    ]
    told = _part(desk, "", results[0], Check("second engine", None, ""), Found(reply, "model")).sentences
    return result_hash(unnamed), told[0] if told else ""


def _issues(desk: Desk, reply: Reply) -> list[Issue]:
    """What is wrong with a plan, measured on the data; nothing for a question back or a refusal."""
    if not isinstance(reply, PlanReply):
        return []
    try:
        desk.clocked(
            "check",
            lambda: desk.pool.check(
                reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("check")
            ),
        )
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
                Option(label=o.label, reply=None if o.parts is None else as_json(PlanReply(lets=o.lets, parts=o.parts)))
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
            "run",
            lambda: desk.pool.run(reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("run")),
        )
        checks = _crosschecked(desk, reply, results)
    except Stopped:
        return Answer(status="failed", question=question, reason="You stopped this question before it was answered.")
    except PlanError as error:
        if found.planner == "offline":
            return Answer(
                status="declined",
                question=question,
                reason=f"The plan for this question does not fit the data: {error}",
                issues=error.issues,
            )
        return _failed(question, error.issues, reply)
    except LimitExceeded as error:
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
            lambda: desk.pool.crosscheck(
                reply, desk.tables, results, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("crosscheck")
            ),
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
