"""Hard caps on what planning may cost: calls, seconds, tokens and money, per question and per session."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from qa.errors import Issue, LimitExceeded
from qa.settings import Settings

MIN_REPLY_TOKENS = 200
"""A reply shorter than this cannot hold a plan, so no call is made with less room."""


@dataclass
class Purse:
    """Money a session has spent on models, in US dollars. Shared by its questions, safe across threads."""

    limit: float
    spent: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, dollars: float) -> None:
        with self._lock:
            self.spent += dollars

    @property
    def left(self) -> float:
        return max(0.0, self.limit - self.spent)


_purses: OrderedDict[str, Purse] = OrderedDict()
_MOST_PURSES = 10_000


def purse_of(session: str, settings: Settings) -> Purse:
    """The purse of a session, the same one for all its questions in this process."""
    purse = _purses.setdefault(session, Purse(settings.max_cost_session))
    purse.limit = settings.max_cost_session
    _purses.move_to_end(session)
    while len(_purses) > _MOST_PURSES:
        _purses.popitem(last=False)
    return purse


@dataclass
class Budget:
    """What one question may still use, and what it has used.

    Calls of unknown price count their tokens but no money; `unpriced` says how many there were.
    """

    calls: int
    seconds: float
    tokens: int
    dollars: float
    purse: Purse | None = None
    clock: Callable[[], float] = time.monotonic
    used_calls: int = 0
    used_tokens: int = 0
    used_dollars: float = 0.0
    unpriced: int = 0
    _started: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, settings: Settings, *, purse: Purse | None = None, plans: int = 1) -> Budget:
        """The caps of the settings; careful mode may call once more for every further plan it asks for."""
        return cls(
            settings.max_calls + plans - 1,
            settings.max_seconds,
            settings.max_tokens_question,
            settings.max_cost_question,
            purse,
        )

    @property
    def seconds_left(self) -> float:
        if self._started is None:
            self._started = self.clock()
        return self.seconds - (self.clock() - self._started)

    @property
    def dollars_left(self) -> float:
        left = self.dollars - self.used_dollars
        return left if self.purse is None else min(left, self.purse.left)

    def admit(self, tokens_in: int, tokens_out: int, prices: tuple[float, float] | None) -> int:
        """Count a call in, and give the tokens its reply may have so that no cap can be passed.

        `prices` are dollars a token in and out, None when unknown. Raises `LimitExceeded` naming the cap
        that leaves too little room.
        """
        with self._lock:
            room = min(tokens_out, self.tokens - self.used_tokens - tokens_in)
            if prices is not None and prices[1] > 0:
                room = min(room, int((self.dollars_left - tokens_in * prices[0]) / prices[1]))
            elif prices is not None and tokens_in * prices[0] > self.dollars_left:
                room = 0
            for reached, code, message, hint in (
                (
                    self.used_calls >= self.calls,
                    "too_many_calls",
                    f"{self.calls} model calls were made",
                    "QA_MAX_CALLS",
                ),
                (self.seconds_left <= 0, "too_slow", f"planning took {self.seconds:g} seconds", "QA_MAX_SECONDS"),
                (
                    self.tokens - self.used_tokens - tokens_in < MIN_REPLY_TOKENS,
                    "too_many_tokens",
                    f"the next call would pass {self.tokens} tokens",
                    "QA_MAX_TOKENS_QUESTION",
                ),
                (room < MIN_REPLY_TOKENS, "too_dear", f"the next call could pass {self._cap()}", self._cap_knob()),
            ):
                if reached:
                    raise LimitExceeded(Issue(code, "", message, f"Raise {hint} to allow more."))
            self.used_calls += 1
            return room

    def pay(self, tokens_in: int, tokens_out: int, dollars: float | None) -> None:
        """Record what a call really used."""
        with self._lock:
            self.used_tokens += tokens_in + tokens_out
            self.unpriced += dollars is None
            self.used_dollars += dollars or 0.0
        if self.purse is not None and dollars:
            self.purse.add(dollars)

    def _session_binds(self) -> bool:
        return self.purse is not None and self.purse.left <= self.dollars - self.used_dollars

    def _cap(self) -> str:
        if self.purse is not None and self._session_binds():
            return f"${self.purse.limit:g} a session"
        return f"${self.dollars:g} a question"

    def _cap_knob(self) -> str:
        return "QA_MAX_COST_SESSION" if self._session_binds() else "QA_MAX_COST_QUESTION"
