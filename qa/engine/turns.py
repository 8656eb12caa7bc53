"""Whose turn it is at the workers: sessions take turns, whoever asks most waits for those who ask least."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Ticket:
    """A place in the queue. `turn` counts a session's questions from the turn that the queue has come to."""

    turn: int
    number: int
    session: str


class Turns:
    """A queue for `places` workers that is fair between sessions. Safe to use from many threads.

    A session's questions get consecutive turns from the one that is being served, so that one with many waiting does
    not come before one with few. A named session holds at most all places but one, so that a place is always soon
    free for another; work without a session may hold all.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.share = max(1, places - 1)
        self._changed = threading.Condition()
        self._waiting: list[Ticket] = []
        self._held: Counter[str] = Counter()
        self._last: dict[str, int] = {}
        self._turn = self._numbers = 0

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._waiting)

    def take(self, session: str = "", told: Callable[[int], None] | None = None) -> None:
        """Waits for a place. `told` is called every moment with the number before this one; when it raises, the
        ticket is given up."""
        ticket = self._joined(session)
        try:
            while not self._granted(ticket, 0.1):
                if told is not None:
                    told(self._before(ticket))
        except BaseException:
            self._left(ticket)
            raise

    def give_back(self, session: str = "") -> None:
        """Frees the place that a session took."""
        with self._changed:
            self._held[session] -= 1
            if not self._held[session]:
                del self._held[session]
            self._changed.notify_all()

    def _joined(self, session: str) -> Ticket:
        with self._changed:
            self._numbers += 1
            turn = max(self._turn, self._last.get(session, 0)) + 1 if session else self._turn + 1
            ticket = Ticket(turn, self._numbers, session)
            if session:
                self._last[session] = turn
            self._waiting.append(ticket)
            return ticket

    def _left(self, ticket: Ticket) -> None:
        with self._changed:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            self._changed.notify_all()

    def _granted(self, ticket: Ticket, seconds: float) -> bool:
        with self._changed:
            if not self._changed.wait_for(lambda: self._next() is ticket, seconds):
                return False
            self._waiting.remove(ticket)
            self._held[ticket.session] += 1
            self._turn = max(self._turn, ticket.turn)
            if self._last.get(ticket.session, 0) <= self._turn:
                self._last.pop(ticket.session, None)
            self._changed.notify_all()
            return True

    def _next(self) -> Ticket | None:
        """The ticket that the next free place is for."""
        if self._held.total() >= self.places:
            return None
        may = [ticket for ticket in self._waiting if not ticket.session or self._held[ticket.session] < self.share]
        return min(may, default=None)

    def _before(self, ticket: Ticket) -> int:
        with self._changed:
            return sum(other < ticket for other in self._waiting)
