"""Score a file of questions: ask each one, write what was answered, and count right, wrong and declined."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from qa import pipeline
from qa.answer.answer import Answer
from qa.data.read import load
from qa.data.table import Table
from qa.engine.pool import Pool
from qa.errors import Issue, LoadError, QAError
from qa.evaluate.compare import Verdict, verdict
from qa.evaluate.gold import database, gold_reply, plain_tables
from qa.evaluate.report import Report, Tally
from qa.evaluate.shape import prediction
from qa.evaluate.spelling import Spelling
from qa.plan.check import today_clock
from qa.plan.plan import PlanReply, as_json
from qa.planner import model, payload
from qa.planner.attempts import Call, Planned, Said
from qa.planner.chaos import DAMAGES, first_reply_wrong
from qa.settings import Settings
from qa.settings import settings as process_settings

Planner = Literal["offline", "model", "sql"]


"""How a record's `gold_lang` is called by the SQL reader."""
ROWS = 100_000
"""Rows of an answer that a prediction may hold."""


@dataclass(frozen=True)
class Record:
    """One question of a file: its tables, its words, and what is known of the right answer."""

    id: str
    question: str
    files: tuple[tuple[str | None, Path], ...]
    raw: dict[str, Any]

    @property
    def asked(self) -> str:
        """The question with its constraints and answer format, for a planner that reads prose."""
        extra = [
            f"{label}: {self.raw[key]}"
            for key, label in (("constraints", "Constraints"), ("format", "Answer format"))
            if self.raw.get(key)
        ]
        return "\n".join([self.question, *extra])


def run(
    questions: Path,
    *,
    out: Path | None = None,
    planner: Planner | None = None,
    replies: Path | None = None,
    export_prompts: Path | None = None,
    chaos: bool = False,
    report: Path | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Ask every question of a JSONL file and write one prediction a line to `out`.

    `replies` scores recorded model replies (`{"id", "reply"}` a line) instead of asking; `export_prompts` writes the
    messages that would be sent and asks nothing; `report` writes the figures as JSON, or as a page when it ends in
    `.html`; `chaos` breaks the first reply of each question on purpose. A
    question that cannot be read, loaded or answered is a line with its reason, never an end of the run.
    Raises `LoadError` when the file itself cannot be read.
    """
    chosen = (settings or process_settings()).model_copy(update={"result_rows": ROWS})
    records = list(read(questions))[:limit]
    if export_prompts is not None:
        _export(records, export_prompts, chosen)
        return Report(questions.name, "none")
    told = Report(questions.name, "replies" if replies else planner or ("model" if chosen.model else "offline"))
    recorded = _recorded(replies) if replies else None
    lines = []
    pool = Pool(chosen)
    try:
        asker, shelf = _Asker(chosen, planner, recorded, chaos, pool), _Shelf(chosen, plain=planner == "sql")
        for place, record in enumerate(records, start=1):
            lines.append(_scored(record, asker, shelf, told))
            if progress and place % 25 == 0:
                progress(f"{place} of {len(records)}")
    finally:
        pool.close()
    if out is not None:
        out.write_text(
            "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines), encoding="utf-8"
        )
    if report is not None:
        text = (
            told.page()
            if report.suffix == ".html"
            else json.dumps(told.as_dict(), indent=1, ensure_ascii=False, default=str)
        )
        report.write_text(text, encoding="utf-8")
    return told


def read(questions: Path) -> Iterator[Record]:
    """The records of a question file. Raises `LoadError` when it is not JSON lines of questions."""
    try:
        texts = questions.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(
            Issue("no_questions", questions.name, "the question file cannot be read", str(error))
        ) from error
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        try:
            raw = json.loads(text)
            listed = raw.get("tables") or [{"name": None, "file": raw["file"]}]
            files = tuple((entry.get("name"), _beside(questions, entry["file"])) for entry in listed)
            yield Record(str(raw["id"]), str(raw["question"]), files, raw)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = Issue(
                "bad_question",
                f"line {number}",
                "this line is no question",
                "It needs id, question and file or tables.",
            )
            raise LoadError(problem) from error


def _beside(questions: Path, file: str) -> Path:
    """A table's path, relative to the question file's folder or to the one above it."""
    near = questions.parent / file
    return near if near.exists() else questions.parent.parent / file


class _Shelf:
    """The tables of records, each loaded once; the last few are kept."""

    kept = 24

    def __init__(self, settings: Settings, plain: bool = False) -> None:
        self.settings = settings
        self.plain = plain
        self.loaded: dict[tuple[str | None, Path], list[Table]] = {}

    def tables(self, record: Record) -> list[Table]:
        return [table for name, path in record.files for table in self._table(name, path)]

    def spelling(self, record: Record, tables: Sequence[Table]) -> Spelling:
        """How the record's files spell the cells that an answer shows."""
        files = {table.name: path for name, path in record.files for table in self._table(name, path)}
        return Spelling(tables, files, self.settings.cache)

    def _table(self, name: str | None, path: Path) -> list[Table]:
        key = (name, path)
        if key not in self.loaded:
            while len(self.loaded) >= self.kept:
                self.loaded.pop(next(iter(self.loaded)))
            cache = self.settings.cache
            self.loaded[key] = (
                plain_tables(name, database(path), cache) if self.plain else load(path, name=name, cache=cache)
            )
        return self.loaded[key]


@dataclass
class _Asker:
    """Asks records one after the other, in the way the run was started."""

    settings: Settings
    planner: Planner | None
    recorded: dict[str, list[Any]] | None
    chaos: bool
    pool: Pool
    asked: int = 0

    def ask(self, record: Record, tables: Sequence[Table]) -> tuple[Answer, Planned | None]:
        """The answer, and what a recorded or disturbed model did when one took part."""
        if self.recorded is not None and not self.recorded.get(record.id):
            return Answer(status="failed", question=record.question, reason="no reply was recorded"), None
        if self.recorded is not None:
            return self._through(record, tables, _spoken(self.recorded[record.id]))
        if self.chaos and self.planner != "offline":
            return self._through(record, tables, lambda request: model.call(request, self.settings))
        if self.planner == "sql":
            return self._gold(record, tables), None
        words = record.question if self.planner == "offline" else record.asked
        return pipeline.ask(
            words, tables, settings=self.settings, planner=self.planner, record=False, pool=self.pool
        ), None

    def _gold(self, record: Record, tables: Sequence[Table]) -> Answer:
        """The answer of the record's own query, read as a plan. Raises PlanError where it cannot be said."""
        reply = json.dumps(gold_reply(record.raw, tables))
        return pipeline.ask(
            record.question, tables, settings=self.settings, saved_reply=reply, record=False, pool=self.pool
        )

    def _through(self, record: Record, tables: Sequence[Table], transport: model.Transport) -> tuple[Answer, Planned]:
        """Plan through a stand-in for the provider, first reply broken under chaos, then run the plan."""
        self.asked += 1
        ways = list(DAMAGES)
        via = first_reply_wrong(transport, ways[self.asked % len(ways)]) if self.chaos else transport
        chosen = (
            self.settings if self.settings.model else self.settings.model_copy(update={"model": "recorded/replies"})
        )
        planned = model.plan(record.asked, tables, settings=chosen, check=self._checker(tables), via=via)
        if planned.reply is None:
            issues = tuple(issue for attempt in planned.attempts for issue in attempt.issues)
            reason = str(planned.failure) if planned.failure else "no reply"
            return Answer(status="failed", question=record.question, reason=reason, issues=issues), planned
        reply = json.dumps(as_json(planned.reply))
        return pipeline.ask(
            record.question, tables, settings=self.settings, saved_reply=reply, record=False, pool=self.pool
        ), planned

    def _checker(self, tables: Sequence[Table]) -> Callable[[PlanReply], list[Issue]]:
        sources = {table.name: table for table in tables}
        clock = today_clock(self.settings.zone, self.settings.week_start)

        def issues(reply: PlanReply) -> list[Issue]:
            try:
                self.pool.check(reply, sources, clock=clock)
            except QAError as error:
                return list(error.issues)
            return []

        return issues


def _spoken(replies: Sequence[Any]) -> model.Transport:
    """A transport that gives the recorded replies in order, the last one again when more are asked for."""
    texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    place = itertools.count()

    def carried(request: Call) -> Said:
        return Said(texts[min(next(place), len(texts) - 1)])

    return carried


def _scored(record: Record, asker: _Asker, shelf: _Shelf, told: Report) -> dict[str, Any]:
    """One prediction line, counted into the report."""
    planned: Planned | None = None
    started = time.perf_counter()
    try:
        tables = shelf.tables(record)
        started = time.perf_counter()
        answer, planned = asker.ask(record, tables)
        line = prediction(record.id, answer, record.raw, shelf.spelling(record, tables))
    except QAError as error:
        answer = Answer(status="failed", question=record.question, reason=str(error), issues=error.issues)
        line = prediction(record.id, answer, record.raw)
    except Exception as error:  # one record never ends the run; its line says what happened
        answer = Answer(status="failed", question=record.question, reason=f"{type(error).__name__}: {error}")
        line = prediction(record.id, answer, record.raw)
    line["ms"] = round((time.perf_counter() - started) * 1000, 1)
    judged = verdict(line["answer"], record.raw)
    line["verdict"] = judged if answer.status == "answered" else None
    _count(record, answer, planned, line, judged, told)
    return line


def _count(
    record: Record, answer: Answer, planned: Planned | None, line: dict[str, Any], judged: Verdict, told: Report
) -> None:
    attempts: Sequence[Any] = planned.attempts if planned else answer.attempts
    wrong_first = any(attempt.issues for attempt in attempts)
    told.total.add(answer.status, judged)
    for name in [*record.raw.get("features", []), *filter(None, [record.raw.get("level")])]:
        told.features.setdefault(name, Tally()).add(answer.status, judged)
    told.ms.append(line["ms"])
    told.repaired += wrong_first
    told.recovered += wrong_first and answer.status != "failed"
    told.tokens += sum(attempt.tokens_in + attempt.tokens_out for attempt in attempts)
    told.dollars += sum(attempt.cost or 0.0 for attempt in attempts)
    if answer.status == "answered" and judged == "wrong":
        told.wrong.append({"id": record.id, "question": record.question, "answer": line["answer"]})


def _recorded(path: Path) -> dict[str, list[Any]]:
    """Recorded replies by question id, in order. Raises `LoadError` when the file is not JSON lines."""
    found: dict[str, list[Any]] = {}
    try:
        for text in path.read_text(encoding="utf-8-sig").splitlines():
            if text.strip():
                line = json.loads(text)
                several = line.get("replies") or [line.get("reply", line.get("content"))]
                found.setdefault(str(line["id"]), []).extend(several)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise LoadError(
            Issue("bad_replies", path.name, "the replies cannot be read", "One JSON object a line: id, reply.")
        ) from error
    return found


def _export(records: Sequence[Record], path: Path, settings: Settings) -> None:
    """Write the exact messages of every question, one JSON line each; a table that cannot be loaded is named there."""
    shelf = _Shelf(settings)
    with path.open("w", encoding="utf-8") as out:
        for record in records:
            try:
                built = payload.build(record.asked, shelf.tables(record), privacy=settings.privacy)
                line: dict[str, Any] = {"id": record.id, **built.as_dict()}
            except QAError as error:
                line = {"id": record.id, "error": str(error)}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
