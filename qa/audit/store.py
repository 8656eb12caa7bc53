"""The audit database: one SQLite file that processes append to together and nobody edits."""

from __future__ import annotations

import json
import os
import secrets as random_ids
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TextIO

from qa.answer.answer import Answer
from qa.audit.chain import START, Head, Link, broken_links, export_line, head_line, link_hash, name, read_body, seal
from qa.audit.record import canonical, feedback_record, question_record, verdict_record, with_verdict, without_keys
from qa.errors import Issue, QAError

Records = list[dict[str, Any]]
Findings = list[str]

WAIT = 30  # seconds for another process to finish its record
SUMMARY = [
    "id",
    "at",
    "session",
    "kind",
    "about",
    "status",
    "question",
    "planner",
    "model",
    "rows",
    "ms",
    "tokens_in",
    "tokens_out",
    "cost",
]
TABLES = """
create table if not exists records (
    seq integer primary key, id text not null unique, at text not null, session text not null, kind text not null,
    about text, status text, question text, planner text, model text, rows integer, ms real,
    tokens_in integer, tokens_out integer, cost real, body text not null, previous text not null, hash text not null);
create index if not exists by_session on records (session, seq);
create index if not exists by_about on records (about);
create table if not exists head (only_row integer primary key check (only_row = 1), count integer, hash text, seal text);
"""
QUESTIONS = f"""(select seq, {", ".join(name for name in SUMMARY if name != "status")}, coalesce((select v.status from records v
    where v.about = q.id and v.kind = 'verdict' order by v.seq desc limit 1), q.status) as status
    from records q where kind = 'question')"""
"""The questions, each with the status that the verdict left it with."""


class AuditUnavailable(QAError):
    """The audit database cannot be read or written; says which and why."""


class Audit:
    """The records in the database at `path`. Cheap to make; opens the file anew for each call, from any thread.

    `session` limits a call to that session's records; None means all, which only a local door may ask for.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.key_path = self.path.with_name(self.path.name + ".key")

    def record(self, answer: Answer, session: str, *, secrets: Iterable[str] = ()) -> str:
        """Append what happened with one question and return its id.

        `secrets` are keys that this session holds; they, the configured ones and whatever looks like one are never stored.
        Raises AuditUnavailable when the file cannot be written.
        """
        return self._append(without_keys(question_record(answer), secrets), session)

    def conclude(self, id: str, answer: Answer, session: str) -> str:
        """Append how the cross-check of a recorded answer ended; the question is read with it from then on."""
        return self._append(without_keys(verdict_record(id, answer)), session)

    def feedback(
        self, id: str, verdict: Literal["right", "wrong"], note: str = "", *, session: str | None = None
    ) -> str | None:
        """Append what a person thought of an answer. None when this session has no such record."""
        found = self.get(id, session=session)
        if found is None:
            return None
        return self._append(without_keys(feedback_record(id, verdict, note)), session or found["session"])

    def list(
        self,
        session: str | None = None,
        search: str | None = None,
        status: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> Records:
        """Questions, newest first: seq, id, at, status, question, rows, ms, tokens, cost, and the last verdict.

        `search` is looked for in question, model and status, ignoring case; `before` continues below a seq.
        """
        words = f"%{_escaped(search)}%" if search else None
        query = f"""
            select seq, {", ".join(SUMMARY)}, (select json_extract(f.body, '$.verdict') from records f
                where f.about = r.id and f.kind = 'feedback' order by f.seq desc limit 1) as verdict
            from {QUESTIONS} r where (:session is null or session = :session)
                and (:status is null or status = :status) and (:before is null or seq < :before)
                and (:words is null or question like :words escape '!' or model like :words escape '!' or status like :words escape '!')
            order by seq desc limit :limit"""
        values = {"session": session, "status": status, "before": before, "words": words, "limit": limit}
        with self._open() as database:
            return [dict(row) for row in database.execute(query, values)]

    def get(self, id: str, session: str | None = None) -> dict[str, Any] | None:
        """The full record with its hash and all feedback on it; None when this session has no such record."""
        with self._open() as database:
            row = database.execute(
                "select * from records where id = ? and (? is null or session = ?)", (id, session, session)
            ).fetchone()
            if row is None:
                return None
            said = database.execute(
                "select body from records where about = ? and kind = 'feedback' order by seq", (id,)
            )
            opinions = [json.loads(body) for (body,) in said]
            ended = database.execute(
                "select body from records where about = ? and kind = 'verdict' order by seq desc limit 1", (id,)
            ).fetchone()
        body = read_body(_link(row)) or {"id": row["id"], "unreadable": True}
        body = with_verdict(body, json.loads(ended["body"]) if ended else None)
        kept = ("id", "at", "verdict", "note")
        return body | {
            "hash": row["hash"],
            "previous": row["previous"],
            "feedback": [{k: o.get(k) for k in kept} for o in opinions],
        }

    def totals(self, session: str | None = None) -> dict[str, Any]:
        """Number of questions, of each status, tokens in and out, US dollars where known."""
        chosen = f"from {QUESTIONS} where (:session is null or session = :session)"
        values = {"session": session}
        with self._open() as database:
            statuses = dict(database.execute(f"select status, count(*) {chosen} group by status", values).fetchall())
            tokens = database.execute(
                f"select coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), total(cost) {chosen}", values
            ).fetchone()
        return {
            "questions": sum(statuses.values()),
            "statuses": statuses,
            "tokens_in": tokens[0],
            "tokens_out": tokens[1],
            "cost": tokens[2],
        }

    def export(self, fp: TextIO, session: str | None = None) -> int:
        """Write the records as JSON lines, oldest first, and return how many. A whole export ends with the head."""
        count = 0
        with self._open() as database:
            for row in database.execute(
                "select * from records where ? is null or session = ? order by seq", (session, session)
            ):
                fp.write(export_line(_link(row)) + "\n")
                count += 1
            if session is None and (head := _head(database)[0]) is not None:
                fp.write(head_line(head) + "\n")
        return count

    def head(self) -> str:
        """Count and last hash as one short text to keep elsewhere; `0:000…` when there is no record."""
        with self._open() as database:
            return str(_head(database)[0] or Head(0, START))

    def verify(self, noted: str | None = None) -> Findings:
        """What is wrong with the records, a sentence each, oldest first; empty when nothing is. `noted` is an earlier `head()`."""
        with self._open() as database:
            database.execute("begin")
            head, stored = _head(database)
            rows = database.execute("select * from records order by seq")
            relisted: Findings = []
            links = (_checked(row, relisted) for row in rows)
            findings = [*broken_links(links, head, Head.parse(noted) if noted else None), *relisted]
        if head is None:
            return findings
        key = self._key(make=False)
        if key is None:
            findings.append(
                f"The key file {self.key_path.name} is missing, so the seal of the head could not be checked."
            )
        elif stored != seal(key, head):
            findings.append(
                "The head's seal does not fit: the head, or the whole chain with it, was written by something else."
            )
        return findings

    def _append(self, body: dict[str, Any], session: str) -> str:
        with self._open(writing=True) as database:
            # The key is made, and the chain's end is read, under the write lock: processes take turns.
            database.execute("begin immediate")
            head, stored = _head(database)
            last = database.execute("select seq, hash from records order by seq desc limit 1").fetchone()
            key = self._key(make=True)
            assert key is not None
            end = head or Head(last["seq"], last["hash"]) if last or head else Head(0, START)
            if broken := _broken_end(head, stored, last, key):
                body = body | {"broken_before": broken}
            if last and last["seq"] > end.count:
                end = Head(last["seq"], end.hash)
            body = body | {
                "v": 1,
                "seq": end.count + 1,
                "id": random_ids.token_hex(8),
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "session": session,
            }
            text = canonical(body)
            link = Link(end.count + 1, text, end.hash, link_hash(end.hash, text))
            _insert(database, link, body)
            new = Head(link.seq, link.hash)
            database.execute("insert or replace into head values (1, ?, ?, ?)", (new.count, new.hash, seal(key, new)))
            database.execute("commit")
            return str(body["id"])

    @contextmanager
    def _open(self, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection for one call. A database that does not exist yet reads as empty."""
        try:
            exists = self.path.exists() and self.path.stat().st_size > 0
            if writing:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            database = sqlite3.connect(
                self.path if writing or exists else ":memory:", timeout=WAIT, isolation_level=None
            )
        except (OSError, sqlite3.Error) as why:
            raise self._unavailable(why) from why
        try:
            database.row_factory = sqlite3.Row
            if writing or not exists:
                # Two processes that switch a new file to WAL at once do not wait for each other; either mode is safe.
                with suppress(sqlite3.OperationalError):
                    database.execute("pragma journal_mode = wal")
                database.executescript(TABLES)
            yield database
        except (OSError, sqlite3.Error) as why:
            raise self._unavailable(why) from why
        finally:
            database.close()

    def _unavailable(self, why: Exception) -> AuditUnavailable:
        return AuditUnavailable(
            Issue(
                "audit_unavailable",
                str(self.path),
                f"The audit database cannot be used: {why}.",
                "Set QA_AUDIT to a file that can be written.",
            )
        )

    def _key(self, *, make: bool) -> bytes | None:
        """The key of the seal. Made whole before it gets its name, so no other process reads half of it."""
        try:
            return self.key_path.read_bytes()
        except FileNotFoundError:
            if not make:
                return None
        draft = self.key_path.with_name(f"{self.key_path.name}.{random_ids.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(random_ids.token_bytes(32))
        draft.replace(self.key_path)
        return self.key_path.read_bytes()


def _head(database: sqlite3.Connection) -> tuple[Head | None, str | None]:
    row = database.execute("select count, hash, seal from head").fetchone()
    return (Head(row["count"], row["hash"]), row["seal"]) if row else (None, None)


def _broken_end(head: Head | None, stored: str | None, last: sqlite3.Row | None, key: bytes) -> str | None:
    """What was already wrong with the chain's end when a record is added, so that adding does not hide it."""
    if head is None:
        return "the head that counts the records was missing." if last else None
    if stored != seal(key, head):
        return "the head's seal did not fit."
    if last is None or (last["seq"], last["hash"]) != (head.count, head.hash):
        return "the last record was not the one that the head names."
    return None


def _link(row: sqlite3.Row) -> Link:
    return Link(row["seq"], row["body"], row["previous"], row["hash"])


def _columns(body: dict[str, Any]) -> dict[str, Any]:
    """What stands beside the body to list and search by."""
    return {column: body.get(column) for column in SUMMARY} | {"ms": (body.get("timings") or {}).get("total")}


def _insert(database: sqlite3.Connection, link: Link, body: dict[str, Any]) -> None:
    values = {
        "seq": link.seq,
        **_columns(json.loads(link.body)),
        "body": link.body,
        "previous": link.previous,
        "hash": link.hash,
    }
    places = ", ".join(f":{column}" for column in values)
    database.execute(f"insert into records ({', '.join(values)}) values ({places})", values)


def _checked(row: sqlite3.Row, findings: Findings) -> Link:
    """The row's link, after comparing the columns beside its body with the body."""
    link = _link(row)
    body = read_body(link)
    if body is not None:
        wrong = [column for column, value in _columns(body).items() if row[column] != value]
        if wrong:
            findings.append(f"{name(link)} is listed with another {' and '.join(wrong)} than it was written with.")
    return link


def _escaped(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
