"""From a reply to an answer: run, cross-check, tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from qa.answer import chart, prose
from qa.answer.answer import Answer, AnswerColumn, AnswerPart, Attempt, CheckResult, LedgerRow, Option
from qa.answer.share import result_hash
from qa.audit import Audit
from qa.data.table import Table
from qa.engine.pool import EngineFault, Stopped
from qa.engine.result import Check, PartResult
from qa.errors import Issue, LimitExceeded, PlanError, QAError
from qa.pipeline.as_read import as_read
from qa.pipeline.checking import verdicts
from qa.pipeline.desk import Desk, Found
from qa.plan.check import CheckedPipeline
from qa.plan.plan import ClarifyReply, DeclineReply, PlanReply, as_json

Show = Callable[[Answer], None]


def finished(desk: Desk, question: str, found: Found, session: str, record: bool) -> Answer:
    """The answer with its verdict. `desk.early` is given it before, when the second engine needs longer than a moment."""
    shown: list[Answer] = []

    def show(answer: Answer) -> None:
        stamped = _stamped(desk, found, answer)
        shown.append(_recorded(desk, stamped, session) if record else stamped)
        if desk.early is not None:
            desk.early(shown[0])

    answer = _stamped(desk, found, _answer(desk, question, found, show if desk.early is not None else None))
    if not shown:
        return _recorded(desk, answer, session) if record else answer
    return _concluded(desk, shown[0], answer, session)


def _stamped(desk: Desk, found: Found, answer: Answer) -> Answer:
    desk.timings["total"] = round((time.perf_counter() - desk.started) * 1000, 2)
    return answer.model_copy(update={
        "attempts": (*found.attempts, *answer.attempts), "planner": found.planner, "model": found.model, "timings": dict(desk.timings),
        "digests": {name: table.digest for name, table in desk.tables.items()},
    })  # fmt: skip


def _concluded(desk: Desk, shown: Answer, answer: Answer, session: str) -> Answer:
    """The verdict on an answer that was shown already, on the record after it."""
    answer = answer.model_copy(update={"audit_id": shown.audit_id})
    if shown.audit_id is None:
        return answer
    try:
        Audit(desk.settings.audit).conclude(shown.audit_id, answer, session)
    except QAError as error:
        return answer.model_copy(update={"issues": (*answer.issues, *error.issues)})
    return answer


def _recorded(desk: Desk, answer: Answer, session: str) -> Answer:
    try:
        secrets = [desk.settings.api_key] if desk.settings.api_key else []
        return answer.model_copy(
            update={"audit_id": Audit(desk.settings.audit).record(answer, session, secrets=secrets)}
        )
    except QAError as error:
        return answer.model_copy(update={"issues": (*answer.issues, *error.issues)})


def _answer(desk: Desk, question: str, found: Found, show: Show | None) -> Answer:
    match found.reply:
        case PlanReply() as reply:
            return _run(desk, question, reply, found, show)
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


def _run(desk: Desk, question: str, reply: PlanReply, found: Found, show: Show | None) -> Answer:
    drafts: list[Answer] = []

    def draft(checks: Sequence[Check]) -> None:
        drafts.append(_told(desk, question, reply, results, checks, found))
        assert show is not None
        show(drafts[0])

    try:
        results: list[PartResult] = desk.clocked(
            "run",
            lambda: desk.pool.run(
                reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("run"), **desk.asker
            ),
        )
        checks = verdicts(desk, reply, results, draft if show is not None else None)
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
        withdrawn = "The answer that was shown is withdrawn: the two" if drafts else "The two"
        issue = Issue(
            "engines_disagree",
            "",
            f"{withdrawn} engines gave different results, so no answer is shown: {wrong[0].detail}",
            "Please report this plan.",
        )
        return _failed(question, (issue,), reply)
    return _with_verdict(drafts[0], checks) if drafts else _told(desk, question, reply, results, checks, found)


def _told(
    desk: Desk, question: str, reply: PlanReply, results: Sequence[PartResult], checks: Sequence[Check], found: Found
) -> Answer:
    parts = desk.clocked(
        "answer",
        lambda: [
            answer_part(desk, question, result, check, found) for result, check in zip(results, checks, strict=True)
        ],
    )
    return Answer(
        status="answered", question=question, parts=tuple(parts), reply=as_json(reply), result_hash=result_hash([part.table for part in parts]),
    )  # fmt: skip


def _with_verdict(answer: Answer, checks: Sequence[Check]) -> Answer:
    """A drafted answer whose parts carry their verdicts."""
    parts = (
        part.model_copy(update={"checks": (CheckResult(**vars(check)), *part.checks[1:])})
        for part, check in zip(answer.parts, checks, strict=True)
    )
    return answer.model_copy(update={"parts": tuple(parts)})


def answer_part(desk: Desk, question: str, result: PartResult, check: Check, found: Found) -> AnswerPart:
    part = result.checked.part
    columns = tuple(
        AnswerColumn(name=header, kind=column.kind, role=column.role, unit=column.unit, origin=column.origin)
        for column, header in zip(result.checked.shown, result.checked.headers, strict=True)
    )
    written = as_json(part)
    result = _arranged(result, columns, written)
    ledger = tuple(LedgerRow(**asdict(row)) for row in result.ledger)
    told = prose.sentences(
        title=part.title, plan=written, columns=columns, table=result.frame, total_rows=result.total_rows, truncated=result.truncated,
        support=result.support, question=question, ledger=ledger,
    )  # fmt: skip
    lets = [as_json(let) for let in found.reply.lets] if isinstance(found.reply, PlanReply) else []
    decided, doubts = as_read(desk.tables, result.checked.shown, written, lets)
    notes = [
        note for note in (part.reading and f"Read as: {part.reading}", found.note, *result.notes, *decided) if note
    ]
    return AnswerPart(
        title=part.title, reading=part.reading, sentences=told, value=prose.value_of(result.frame, columns, written), columns=columns,
        table=result.frame, total_rows=result.total_rows, truncated=result.truncated,
        chart=chart.figure(columns=columns, table=result.frame, plan=written, total_rows=result.total_rows, question=question),
        plan=written, polars=result.polars, sql=result.sql, ledger=ledger, support=result.support,
        checks=(CheckResult(**vars(check)), *(CheckResult(**vars(more)) for more in result.checks)),
        assumptions=tuple(dict.fromkeys(notes)), warnings=(*result.warnings, *doubts), explanation=explained(desk.tables, result.checked.pipeline),
    )  # fmt: skip


def _arranged(result: PartResult, columns: Sequence[AnswerColumn], written: Mapping[str, Any]) -> PartResult:
    """The rows with months, weekdays and buckets in their natural order, where the plan asked for none."""
    rows = None if result.truncated else chart.arrangement(result.frame, columns, written)
    if rows is None:
        return result
    order, support = rows.to_list(), dict(result.support)
    if "group_rows" in support:
        support["group_rows"] = [support["group_rows"][row] for row in order]
        support["group_values"] = {
            name: [values[row] for row in order] for name, values in support["group_values"].items()
        }
    return replace(result, frame=result.frame[order], support=support)


def explained(tables: Mapping[str, Table], pipeline: CheckedPipeline) -> tuple[str, ...]:
    """A pipeline in plain words, a line a step."""
    rows = f" ({tables[pipeline.source].rows:,} rows)" if pipeline.source in tables else ""
    return (f"Start from {pipeline.source}{rows}", *(_sentence(step.describe()) for step in pipeline.steps))


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
