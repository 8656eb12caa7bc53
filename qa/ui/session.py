"""One visitor's state: their tables, questions, key and limits, seen by nobody else."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from qa.errors import LoadError
from qa.ui.job import Job

if TYPE_CHECKING:  # a page is drawn before these are loaded
    from qa.answer.answer import Answer
    from qa.answer.board import Board
    from qa.answer.share import Shared
    from qa.data.semantics import Semantics
    from qa.data.table import Table
    from qa.settings import Settings

KEY = "qa_session"


@dataclass(frozen=True)
class Dataset:
    """Tables that a question may use together. `key` is stable, `label` is what people read."""

    key: str
    label: str
    blurb: str
    tables: tuple[Table, ...]
    semantics: Mapping[str, Semantics] = field(default_factory=dict)
    """semantic files by table, where one lies beside the data"""

    @property
    def digests(self) -> dict[str, str]:
        return {table.name: table.digest for table in self.tables}


@dataclass(frozen=True)
class Upload:
    """A file a person gave: its shown name, where it was spooled, how it was read and what came of it."""

    shown: str
    path: Path
    tables: tuple[Table, ...]
    options: Any = None


@dataclass
class Entry:
    """A question of this session and what came of it, newest last in `Session.entries`."""

    id: str
    question: str
    dataset: Dataset
    answer: Answer
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    note: str | None = None
    feedback: int | None = None
    """0 wrong, 1 right"""
    shared: Shared | None = None
    """the link this answer was opened from"""
    proposed: dict[str, Any] | None = None
    """the plan as it was before a person edited it"""
    checking: Job | None = None
    """the cross-check that still runs"""


@dataclass(frozen=True)
class Move:
    """A question that was asked again of newer data: the entry before, the entry after, the data's digests now."""

    before: str
    after: str
    digests: tuple[tuple[str, str], ...]


class Session:
    """Everything one browser tab's visit holds. Its folder vanishes with it."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="qa-session-"))
        self._cleanup = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.uploads: dict[str, Upload] = {}
        self.dataset_key: str | None = None
        self.entries: list[Entry] = []
        self.focus: str | None = None
        self.job: Job | None = None
        self.asked: str | None = None
        self.overrides: dict[str, Any] = {}
        self._board: Board | None = None
        self.pin_of: dict[str, str] = {}
        self.pinned_data: dict[str, Dataset] = {}
        self.tiles: dict[str, Answer] = {}
        self.pinned_answers: dict[str, Answer] = {}
        self.boards_seen: set[str] = set()
        self.moves: list[Move] = []
        self.shares_opened: set[str] = set()
        self.counter = 0
        self.uploaders = 0
        self.editing: str | None = None
        self.redrawn: dict[str, int] = {}
        self.drafts: dict[str, list[dict[str, Any]]] = {}
        self.upload_errors: list[LoadError] = []

    @property
    def board(self) -> Board:
        """The pinned answers; an empty board at first."""
        if self._board is None:
            from qa.answer.board import Board

            self._board = Board()
        return self._board

    @board.setter
    def board(self, board: Board) -> None:
        self._board = board

    @property
    def settings(self) -> Settings:
        """The process's settings with what this visitor changed on the Settings page."""
        from qa.settings import settings as process_settings

        return process_settings().model_copy(update=self.overrides)

    def next_id(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def add(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        self.focus = entry.id
        return entry

    def entry(self, id: str | None) -> Entry | None:
        return next((entry for entry in self.entries if entry.id == id), None)

    def answered(self, dataset: Dataset) -> Iterator[Entry]:
        """Earlier answered questions on the same data as it is now: what a follow-up may refer to."""
        return (e for e in self.entries if e.dataset.digests == dataset.digests and e.answer.status == "answered")

    @property
    def spent(self) -> float:
        """US dollars of model calls in this session."""
        return sum(a.cost or 0.0 for entry in self.entries for a in entry.answer.attempts)


def session() -> Session:
    """This visitor's session, made on the first call of a visit."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    found: Session = st.session_state[KEY]
    return found


def settle(here: Session) -> None:
    """Move a question with an answer from the job to the entries, and give entries the verdicts that came since."""
    for entry in here.entries:
        _concluded(here, entry)
    job = here.job
    if job and job.shown and job.answer:
        here.job = None
        entry = Entry(here.next_id("q"), job.question, job.dataset, job.answer, checking=job)
        entry.note, entry.proposed, entry.shared = job.note, job.proposed, job.shared
        here.add(entry)
        _concluded(here, entry)


def _concluded(here: Session, entry: Entry) -> None:
    """The answer with its verdict takes the place of the one that was being checked, on the board too."""
    job, before = entry.checking, entry.answer
    if job is None or not job.finished or job.answer is None:
        return
    entry.answer, entry.checking = job.answer, None
    for kept in (here.tiles, here.pinned_answers):
        kept.update({key: entry.answer for key, answer in kept.items() if answer is before})


FORWARDED = ("X-Forwarded-For", "X-Real-Ip", "Forwarded", "Via")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def runs_locally() -> bool:
    """True when the browser is on the server's own machine, without a proxy between: that person may see all records."""
    headers = st.context.headers
    host = (headers.get("Host") or "").rsplit(":", 1)[0]
    return st.context.ip_address is None and host in LOOPBACK and not any(headers.get(name) for name in FORWARDED)
