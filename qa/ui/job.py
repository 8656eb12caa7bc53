"""A question being answered in the background, watched by the page and stopped by a button."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qa.errors import Issue, QAError

if TYPE_CHECKING:
    from qa.answer.answer import Answer, Status
    from qa.answer.share import Shared
    from qa.ui.session import Dataset

Progress = Callable[..., None]
Early = Callable[["Answer"], None]

STAGES = {
    "read": "Reading the table",
    "plan": "Working out a plan",
    "model": "Asking the model",
    "check": "Checking the plan",
    "queue": "Waiting for a free worker",
    "run": "Running it",
    "crosscheck": "Cross-checking with a second engine",
    "answer": "Writing the answer",
}
"""What a stage of the pipeline is called on the page."""


class Stopped(BaseException):
    """The person pressed Stop. Not an `Exception`: nothing on the way may swallow it."""


@dataclass
class Job:
    """One question in flight. `work` gets a progress callback, and one for an answer that can be shown while its
    cross-check runs, and gives the answer; it runs once, in a thread.

    The callback raises `Stopped` in that thread once `stop()` was called, which lets the pool kill its worker.
    """

    question: str
    dataset: Dataset
    work: Callable[[Progress, Early], Answer]
    note: str | None = None
    proposed: dict[str, Any] | None = None
    shared: Shared | None = None
    answer: Answer | None = None
    """what can be shown: the answer, or until the job is finished the one that is still being checked"""
    events: list[tuple[str, str]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _shown: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> Job:
        threading.Thread(target=self._run, name="qa-question", daemon=True).start()
        return self

    def progress(self, stage: str, detail: str = "", *_: object) -> None:
        """Called by the pipeline at every stage, and every moment while a worker runs."""
        if self._stop.is_set():
            raise Stopped
        if not self.events or self.events[-1] != (stage, detail):
            self.events.append((stage, detail))

    def stop(self) -> None:
        """End it: the page has its answer (stopped) at once, the thread ends at its next sign of life."""
        self._stop.set()
        self._end(_answer("failed", self.question, STOPPED))

    def show(self, answer: Answer) -> None:
        """Called by the pipeline with an answer that is still being checked."""
        if not self._stop.is_set():
            self.answer = answer
            self._shown.set()

    def _end(self, answer: Answer) -> None:
        self.answer = answer
        self._done.set()
        self._shown.set()

    @property
    def shown(self) -> bool:
        """Whether there is something to show: a finished answer, or one that is being checked."""
        return self._shown.is_set()

    @property
    def finished(self) -> bool:
        return self._done.is_set()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def wait(self, seconds: float) -> bool:
        """True when there was an answer to show within `seconds`."""
        return self._shown.wait(seconds)

    def _run(self) -> None:
        try:
            answer = self.work(self.progress, self.show)
        except Stopped:
            return
        except QAError as error:
            answer = _answer("failed", self.question, str(error), error.issues)
        except Exception as error:  # the door: whatever went wrong is shown as one apology, in words
            answer = _apology(self.question, error)
        if not self._stop.is_set():
            self._end(answer)


STOPPED = "You stopped this question before it was answered."


def _apology(question: str, error: Exception) -> Answer:
    issue = Issue(
        "unexpected", "", f"Something inside the program broke ({type(error).__name__}).", "Please ask again."
    )
    return _answer("failed", question, "Sorry, something inside the program broke. Nothing was answered.", (issue,))


def _answer(status: Status, question: str, reason: str, issues: tuple[Issue, ...] = ()) -> Answer:
    from qa.answer.answer import Answer  # by now it is loaded; a page is drawn before it is

    return Answer(status=status, question=question, reason=reason, issues=issues)
