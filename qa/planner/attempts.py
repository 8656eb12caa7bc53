"""What is asked of a model, what it says, and the record of every try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qa.errors import Issue
from qa.plan.plan import Reply
from qa.planner.providers import Shape


@dataclass(frozen=True)
class Call:
    """One request to one model. `temperature` None sends none; `timeout` is in seconds."""

    model: str
    messages: tuple[dict[str, str], ...]
    shape: Shape
    max_tokens: int
    timeout: float
    temperature: float | None = None


@dataclass(frozen=True)
class Said:
    """What came back. `finish` is why the text ended (`stop`, `length`, …); `dollars` None when the price is unknown."""

    text: str
    finish: str = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None


@dataclass(frozen=True)
class Attempt:
    """One call: what was sent, what came back, what was wrong with it, what it cost (US dollars), how long it took."""

    planner: str
    model: str | None = None
    payload: dict[str, Any] | None = None
    reply: str | None = None
    issues: tuple[Issue, ...] = ()
    error: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    ms: float = 0.0


@dataclass(frozen=True)
class Planned:
    """The reply that passed every check, or None; all attempts in order; `failure` says why there is no reply."""

    reply: Reply | None
    attempts: tuple[Attempt, ...] = ()
    failure: Issue | None = None

    @property
    def model(self) -> str | None:
        """The model whose reply was taken."""
        return self.attempts[-1].model if self.reply is not None and self.attempts else None

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens sent and received over all attempts."""
        return sum(item.tokens_in for item in self.attempts), sum(item.tokens_out for item in self.attempts)

    @property
    def cost(self) -> float | None:
        """US dollars over all attempts, None when the price of none is known."""
        known = [item.cost for item in self.attempts if item.cost is not None]
        return sum(known) if known else None

    @property
    def repairs(self) -> int:
        """Replies that had to be corrected."""
        return sum(bool(item.issues) for item in self.attempts)
