"""From a question to a reply: a verified plan, a saved reply, a model's plan, or the offline planner's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qa.answer.answer import Attempt
from qa.answer.share import result_hash
from qa.data.verified import verified_match
from qa.engine.pool import EngineFault
from qa.engine.result import Check
from qa.errors import Issue, ModelUnavailable, PlanError, QAError
from qa.pipeline.answering import answer_part
from qa.pipeline.desk import Desk, Found, issues_of
from qa.plan.plan import Choice, ClarifyReply, PlanReply, parse_reply
from qa.planner import model, offline, payload
from qa.planner.attempts import Planned
from qa.planner.budget import Budget, purse_of
from qa.planner.careful import agreed
from qa.planner.dialogue import Turn
from qa.planner.reply_text import extract


def planned_reply(
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
    return None if issues_of(desk, reply) else Found(reply, "verified", note=note)


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
        "settings": desk.settings, "check": lambda reply: issues_of(desk, reply), "history": history, "budget": budget or Budget.of(desk.settings, purse=purse_of(desk.session, desk.settings), plans=desk.settings.careful),
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
    if isinstance(second.reply, PlanReply) and not issues_of(desk, second.reply):
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
        results = desk.pool.run(
            reply, desk.tables, clock=desk.clock, metrics=desk.metrics, tick=desk.tick("run"), **desk.asker
        )
    except (QAError, EngineFault):
        return None
    unnamed = [
        result.frame.rename({name: str(place) for place, name in enumerate(result.frame.columns)}) for result in results
    ]
    told = answer_part(desk, "", results[0], Check("second engine", None, ""), Found(reply, "model")).sentences
    return result_hash(unnamed), told[0] if told else ""
