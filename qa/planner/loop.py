"""Ask one model for a plan until it fits: one owner of retries, at most two repairs, and the same mistake only once."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from qa.errors import Issue, LimitExceeded, PlanError
from qa.plan.plan import ClarifyReply, PlanReply, Reply, parse_reply
from qa.planner import faults, pricing
from qa.planner.attempts import Attempt, Call, Planned, Said
from qa.planner.budget import Budget
from qa.planner.faults import CallFailed, Fault
from qa.planner.nearest import question_back
from qa.planner.payload import Payload
from qa.planner.providers import Shape, provider_of
from qa.planner.reply_text import extract

REPAIRS = 2
RETRIES = 2
BACK_OFF = (0.5, 2.0)
"""Seconds before the first and the second transport retry, unless the provider names a time."""
LONGEST_REPLY = 200_000
LONGEST_WAIT = 20.0
POLL = 0.05
"""Seconds between two looks at whether the user has stopped."""

Check = Callable[[PlanReply], Sequence[Issue]]
Progress = Callable[[str], None]

_TOO_LONG = Issue("reply_too_long", "", f"the reply is longer than {LONGEST_REPLY} characters", "Send a shorter plan.")
_CUT = Issue("truncated_reply", "", "the reply was cut off at its length limit", "Send a shorter plan.")


@dataclass(frozen=True)
class Manner:
    """How a model is asked: the shape of its reply and whether it takes a temperature."""

    shape: Shape
    temperature: float | None


_learned: dict[str, Manner] = {}
"""Manners that a provider's refusals taught, by model and address, for the length of the process."""


@dataclass
class Conversation:
    """One model asked one question. `call` reaches the provider; `address` tells apart servers of one model name."""

    model: str
    payload: Payload
    call: Callable[[Call], Said]
    check: Check
    budget: Budget
    timeout: float
    max_tokens: int
    temperature: float | None = 0.0
    schema_tokens: int = 0
    address: str = ""
    stop: threading.Event | None = None
    progress: Progress | None = None
    attempts: list[Attempt] = field(default_factory=list)

    def plan(self) -> Planned:
        """The first reply without issues; a fault or a limit is the `failure`. Raises only what `progress` raises."""
        try:
            return self._plan()
        except CallFailed as failed:
            return Planned(None, tuple(self.attempts), failed.fault.issue())
        except LimitExceeded as reached:
            self._record(Attempt("model", self.model, error=str(reached)))
            return Planned(None, tuple(self.attempts), reached.issues[0])

    def _plan(self) -> Planned:
        sent = self.payload
        failed: set[str] = set()
        last: tuple[Issue, ...] = ()
        for turn in range(REPAIRS + 1):
            said, started = self._reach(sent, turn)
            reply, issues, mark = self._read(said)
            self._record(self._attempt(sent, said, issues, started))
            if reply is not None:
                return Planned(reply, tuple(self.attempts))
            if mark in failed:
                why = Issue("same_mistake", "", "the model sent the same unusable reply twice", "", ())
                return Planned(None, tuple(self.attempts), why)
            failed.add(mark)
            last = issues
            sent = sent.repair("" if said.finish == "length" else said.text, issues)
        why = Issue("no_usable_plan", "", f"the model's plan did not fit after {REPAIRS} repairs ({last[0].message})")
        return Planned(None, tuple(self.attempts), why)

    def _reach(self, sent: Payload, turn: int) -> tuple[Said, float]:
        """The reply to one turn, with transport retries. Raises `CallFailed` when they are used up."""
        tries = 0
        while True:
            manner = self._manner()
            tokens_in = sent.tokens + (self.schema_tokens if manner.shape in ("schema", "tool") else 0)
            room = self.budget.admit(tokens_in, self.max_tokens, pricing.facts(self.model).prices)
            timeout = max(0.1, min(self.timeout, self.budget.seconds_left))
            request = Call(self.model, sent.messages, manner.shape, room, timeout, manner.temperature)
            self._say(turn, tries)
            started = time.monotonic()
            try:
                said = self._waited(request)
            except CallFailed as failed:
                self._failed(sent, request, failed.fault, tokens_in, started)
                if self._changes_manner(failed.fault, manner):
                    continue
                self._wait(failed.fault, tries)
                tries += 1
                continue
            said = said if said.tokens_in else replace(said, tokens_in=tokens_in)
            self.budget.pay(said.tokens_in, said.tokens_out, said.dollars)
            return said, started

    def _waited(self, request: Call) -> Said:
        """The call's outcome, given up the moment the user stops or the time is over."""
        box: queue.SimpleQueue[Said | CallFailed] = queue.SimpleQueue()

        def work() -> None:
            try:
                box.put(self.call(request))
            except CallFailed as failed:
                box.put(failed)

        threading.Thread(target=work, daemon=True, name="model-call").start()
        end = time.monotonic() + request.timeout + 1.0
        while True:
            try:
                outcome = box.get(timeout=POLL)
            except queue.Empty:
                self._tell("waiting for the model")
                if self._stopped:
                    raise CallFailed(faults.named("stopped")) from None
                if time.monotonic() > end:
                    raise CallFailed(faults.named("timeout")) from None
                continue
            if isinstance(outcome, CallFailed):
                raise outcome
            return outcome

    def _failed(self, sent: Payload, request: Call, fault: Fault, tokens_in: int, started: float) -> None:
        billed = tokens_in if fault.code in ("timeout", "stopped") else 0
        prices = pricing.facts(self.model).prices
        if billed:
            # the provider may have worked, and bills what it read
            self.budget.pay(billed, 0, billed * prices[0] if prices else None)
        ms = (time.monotonic() - started) * 1000
        record = sent.as_dict() | {
            "shape": request.shape,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        self._record(Attempt("model", self.model, record, error=str(fault), tokens_in=billed, ms=ms))

    def _changes_manner(self, fault: Fault, manner: Manner) -> bool:
        """Learn from a refused parameter: leave the temperature out, else ask for the reply in the next shape."""
        if fault.code != "bad_parameter":
            return False
        shapes = provider_of(self.model)[0].shapes
        place = shapes.index(manner.shape) if manner.shape in shapes else len(shapes)
        if manner.temperature is not None and "temperature" in fault.said.lower():
            changed = replace(manner, temperature=None)
        elif place + 1 < len(shapes):
            changed = replace(manner, shape=shapes[place + 1])
        else:
            return False
        _learned[self._key] = changed
        return True

    def _wait(self, fault: Fault, tries: int) -> None:
        """Back off before the next try, or raise when there is none to make."""
        most = 1 if fault.code == "timeout" else RETRIES
        pause = fault.after if fault.after is not None else BACK_OFF[min(tries, len(BACK_OFF) - 1)]
        if not fault.retry or tries >= most or pause > min(LONGEST_WAIT, self.budget.seconds_left):
            raise CallFailed(fault)
        end = time.monotonic() + pause
        while (left := end - time.monotonic()) > 0:
            self._tell(f"{fault.message}, trying again in {pause:g} s")
            (self.stop or threading.Event()).wait(min(left, POLL))
            if self._stopped:
                raise CallFailed(faults.named("stopped"))

    def _read(self, said: Said) -> tuple[Reply | None, tuple[Issue, ...], str]:
        """The reply if it fits, else what is wrong with it, and a mark that is the same for the same plan."""
        if said.finish == "length":
            return None, (_CUT,), "cut"
        if len(said.text) > LONGEST_REPLY:
            return None, (_TOO_LONG,), "long"
        try:
            found = _own_fields(self.payload.expanded(extract(said.text)))
        except PlanError as error:
            return None, error.issues, said.text
        mark = json.dumps(found, sort_keys=True)
        try:
            reply = parse_reply(found)
        except PlanError as error:
            return None, error.issues, mark
        if isinstance(reply, ClarifyReply):
            return self._checked_options(found), (), mark
        if not isinstance(reply, PlanReply):
            return reply, (), mark
        issues = tuple(self.check(reply))
        if issues and not self.payload.values_may_leave and (asked := question_back(reply, issues)):
            # the model may not see the near values, so the user is asked, not the model
            return self._checked_options(asked), issues, mark
        return (None, issues, mark) if issues else (reply, (), mark)

    def _checked_options(self, found: dict[str, Any]) -> Reply:
        """A question back, each option keeping its plan only if that passes the check."""
        options = [
            option if self._fits(option.get("parts")) else option | {"parts": None}
            for option in found.get("options") or []
        ]
        return parse_reply(found | {"options": options})

    def _fits(self, parts: Any) -> bool:
        try:
            reply = parse_reply({"reply": "plan", "lets": [], "parts": parts or []})
        except PlanError:
            return False
        return isinstance(reply, PlanReply) and not self.check(reply)

    def _manner(self) -> Manner:
        if self._key in _learned:
            learned = _learned[self._key]
            return replace(learned, temperature=None if learned.temperature is None else self.temperature)
        known = pricing.facts(self.model)
        shapes = provider_of(self.model)[0].shapes
        shape = shapes[1] if known.schema is False and len(shapes) > 1 else shapes[0]
        return Manner(shape, None if known.reasoning else self.temperature)

    @property
    def _key(self) -> str:
        return f"{self.model} {self.address}"

    @property
    def _stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def _attempt(self, sent: Payload, said: Said, issues: tuple[Issue, ...], started: float) -> Attempt:
        ms = (time.monotonic() - started) * 1000
        record = sent.as_dict() | {"shape": self._manner().shape, "temperature": self._manner().temperature}
        return Attempt(
            "model", self.model, record, said.text, issues, None, said.tokens_in, said.tokens_out, said.dollars, ms
        )

    def _record(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def _say(self, turn: int, tries: int) -> None:
        doing = f"repairing the plan ({turn} of {REPAIRS})" if turn else "planning"
        self._tell(f"{doing}{', again' if tries else ''}")

    def _tell(self, doing: str) -> None:
        if self.progress:
            self.progress(f"{self.model}: {doing}")


_FIELDS = {
    "plan": frozenset({"reply", "lets", "parts"}),
    "clarify": frozenset({"reply", "question", "options"}),
    "decline": frozenset({"reply", "reason", "missing", "nearest"}),
}
"""The fields of each kind of reply. The schema sent has them all, so a strict provider fills the others with nothing."""


def _own_fields(found: dict[str, Any]) -> dict[str, Any]:
    """The reply without the empty fields of other kinds of reply."""
    own = _FIELDS.get(str(found.get("reply")))
    others = frozenset().union(*_FIELDS.values())
    if own is None:
        return found
    return {
        key: value for key, value in found.items() if key in own or key not in others or value not in (None, "", [])
    }
