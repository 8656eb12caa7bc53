"""The audit keeps what happened, hides sessions from each other, holds no key, and shows any tampering."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.answer import Answer, AnswerColumn, AnswerPart, Attempt, CheckResult, LedgerRow
from qa.audit import Audit, AuditUnavailable, verify_export
from qa.errors import Issue
from qa.types import Kind

KEY = "sk-" + "live-0123456789abcdefABCDEF"


def answered(question: str = "how many orders?", cell: Any = 4242, **more: Any) -> Answer:
    """An answer with one part whose result has two rows."""
    part = AnswerPart(
        title="Orders",
        sentences=("There are 1,500 orders.",),
        columns=(AnswerColumn(name="orders", kind=Kind.INTEGER),),
        table=pl.DataFrame({"orders": [cell, cell]}),
        total_rows=2,
        plan={"source": "orders", "steps": [{"op": "summarize", "by": [], "metrics": ["count() as orders"]}]},
        sql="select count(*) as orders from orders",
        ledger=(LedgerRow(step=1, op="summarize", rows_in=1500, rows_out=1, note="one row"),),
        support={"rows": 1500, "groups": [["group-cell", 3]]},
        checks=(CheckResult(name="two engines", passed=True, detail="equal"),),
        assumptions=("`x` read as `X`",),
        chart={"kind": "bar", "x": "orders", "y": ["orders"], "figure": {"data": ["chart-cell"]}, "alt": "…"},
    )
    attempt = Attempt(
        planner="model",
        model="openai/some-model",
        payload={"messages": [{"role": "user", "content": question}]},
        reply='{"reply": "plan"}',
        issues=(Issue("no_such_column", "parts[0]", "there is no column 'x'."),),
        tokens_in=900,
        tokens_out=70,
        cost=0.002,
        ms=812.5,
    )
    return Answer(
        status="answered",
        question=question,
        parts=(part,),
        attempts=(attempt, attempt),
        planner="model",
        model="openai/some-model",
        reply={"reply": "plan", "parts": []},
        digests={"orders": "ab12"},
        result_hash="cd34",
        timings={"plan": 1700.0, "total": 1801.25},
        **more,
    )


def declined(question: str) -> Answer:
    return Answer(
        status="declined", question=question, reason="not in the table", missing=("weather",), planner="offline"
    )


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path / "deep" / "audit.sqlite")


@pytest.fixture
def five(audit: Audit) -> Audit:
    """Five chained records, the third of them feedback."""
    first = audit.record(answered("one?"), "ann")
    audit.record(declined("two?"), "ann")
    audit.feedback(first, "right", "checked by hand", session="ann")
    audit.record(answered("four?"), "ben")
    audit.record(answered("five?"), "ann")
    return audit


def tamper(audit: Audit, *statements: str) -> None:
    with sqlite3.connect(audit.path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_a_record_holds_everything_that_led_to_the_answer(audit: Audit) -> None:
    answer = answered()
    record = audit.get(audit.record(answer, "ann"))
    assert record is not None
    part = record["parts"][0]
    assert record["question"] == "how many orders?"
    assert record["status"] == "answered"
    assert record["digests"] == {"orders": "ab12"}
    assert record["result_hash"] == "cd34"
    assert record["reply"] == {"reply": "plan", "parts": []}
    assert len(record["attempts"]) == 2
    assert record["attempts"][0]["payload"] == answer.attempts[0].payload
    assert record["attempts"][0]["reply"] == '{"reply": "plan"}'
    assert record["attempts"][0]["issues"][0]["code"] == "no_such_column"
    assert (record["tokens_in"], record["tokens_out"], record["cost"]) == (1800, 140, pytest.approx(0.004))
    assert part["plan"] == answer.parts[0].plan
    assert part["sql"].startswith("select")
    assert part["ledger"][0]["rows_in"] == 1500
    assert part["checks"][0] == {"name": "two engines", "passed": True, "detail": "equal"}
    assert part["assumptions"] == ["`x` read as `X`"]
    assert record["timings"]["total"] == 1801.25
    assert {"python", "polars", "duckdb", "streamlit", "qa"} <= record["versions"].keys()
    assert record["versions"]["polars"] == pl.__version__


def test_rows_groups_and_charts_of_a_result_are_not_kept_only_a_hash_and_the_sentences(audit: Audit) -> None:
    audit.record(answered(cell="secret-cell"), "ann")
    everything = (
        audit.path.read_bytes() + audit.path.with_name("audit.sqlite-wal").read_bytes()
        if audit.path.with_name("audit.sqlite-wal").exists()
        else audit.path.read_bytes()
    )
    for cell in (b"secret-cell", b"group-cell", b"chart-cell"):
        assert cell not in everything
    assert b"There are 1,500 orders." in everything


def test_the_hash_of_the_shown_rows_tells_two_results_apart(audit: Audit) -> None:
    hashes = [audit.get(audit.record(answered(cell=cell), "ann")) for cell in (1, 2, 1)]
    first, second, again = (record["parts"][0]["rows_hash"] for record in hashes if record)
    assert first == again != second


def test_no_key_is_ever_stored(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEONE_API_KEY", "an-env-key-without-a-shape")
    attempt = Attempt(
        planner="model",
        error=f"401: the key {KEY} is wrong",
        reply="you sent Bearer abcdefghij0123456789",
        payload={"messages": [{"content": "session-held-key and an-env-key-without-a-shape"}]},
    )
    answer = Answer(status="failed", question=f"is {KEY} my key?", attempts=(attempt,))
    id = audit.record(answer, "ann", secrets=["session-held-key"])
    record = json.dumps(audit.get(id))
    for key in (KEY, "abcdefghij0123456789", "session-held-key", "an-env-key-without-a-shape"):
        assert key not in record
    assert record.count("[key]") >= 5
    assert audit.list()[0]["question"] == "is [key] my key?"


def test_a_session_sees_only_its_own_records(five: Audit) -> None:
    bens = five.list(session="ben")
    assert [row["question"] for row in bens] == ["four?"]
    assert five.get(bens[0]["id"], session="ann") is None
    assert five.feedback(bens[0]["id"], "wrong", session="ann") is None
    assert five.get(bens[0]["id"], session="ben") is not None
    lines = io.StringIO()
    assert five.export(lines, session="ben") == 1
    assert "one?" not in lines.getvalue()
    assert len(five.list()) == 4


def test_questions_are_listed_newest_first_and_can_be_searched_and_paged(five: Audit) -> None:
    assert [row["question"] for row in five.list()] == ["five?", "four?", "two?", "one?"]
    assert [row["question"] for row in five.list(search="FOUR")] == ["four?"]
    assert [row["question"] for row in five.list(search="some-model")] == ["five?", "four?", "one?"]
    assert [row["question"] for row in five.list(status="declined")] == ["two?"]
    assert five.list(search="%") == []
    page = five.list(limit=2)
    assert [row["question"] for row in five.list(limit=2, before=page[-1]["seq"])] == ["two?", "one?"]
    assert page[0]["rows"] == 2
    assert page[0]["ms"] == 1801.25


def test_feedback_stands_beside_the_answer_it_is_about(five: Audit) -> None:
    row = five.list(search="one?")[0]
    assert row["verdict"] == "right"
    five.feedback(row["id"], "wrong", "on second thought", session="ann")
    record = five.get(row["id"])
    assert record is not None
    assert [(opinion["verdict"], opinion["note"]) for opinion in record["feedback"]] == [
        ("right", "checked by hand"),
        ("wrong", "on second thought"),
    ]
    assert five.list(search="one?")[0]["verdict"] == "wrong"
    assert five.verify() == []


def test_totals_add_up_tokens_and_cost_of_a_session(five: Audit) -> None:
    totals = five.totals("ann")
    assert (totals["questions"], totals["statuses"]) == (3, {"answered": 2, "declined": 1})
    assert (totals["tokens_in"], totals["tokens_out"], totals["cost"]) == (3600, 280, pytest.approx(0.008))


def test_an_audit_that_was_never_written_reads_as_empty_and_leaves_no_file(audit: Audit) -> None:
    assert audit.list() == []
    assert audit.get("nothing") is None
    assert audit.verify() == []
    assert audit.totals()["questions"] == 0
    assert audit.export(io.StringIO()) == 0
    assert not audit.path.parent.exists()


def test_an_untouched_chain_has_no_findings(five: Audit) -> None:
    assert five.verify() == []
    assert five.verify(five.head()) == []


@pytest.mark.parametrize(
    ("what", "statements", "named"),
    [
        ("a body is edited", ["update records set body = replace(body, 'two?', 'too?') where seq = 2"], "Record 2 "),
        ("a number in a body is edited", ["update records set body = replace(body, '900', '901') where seq = 4"], "Record 4 "),
        ("a listed column is edited", ["update records set cost = 9 where seq = 1"], "another cost"),
        ("a session is edited", ["update records set session = 'ben' where seq = 1"], "another session"),
        ("one is removed", ["delete from records where seq = 3"], "Record 3 was removed"),
        ("the first ones are removed", ["delete from records where seq <= 2"], "Records 1 to 2 were removed"),
        ("the last one is removed", ["delete from records where seq = 5"], "Record 5 was removed"),
        ("the last ones are removed", ["delete from records where seq >= 4"], "Records 4 to 5 were removed"),
        ("all are removed", ["delete from records"], "Records 1 to 5 were removed"),
        ("two change places", ["update records set seq = 99 where seq = 2", "update records set seq = 2 where seq = 4", "update records set seq = 4 where seq = 99"], "was moved"),
        ("a hash is edited", [f"update records set hash = '{'1' * 64}' where seq = 2"], "Record 2 "),
        ("the chaining is edited", [f"update records set previous = '{'1' * 64}' where seq = 2"], "Record 2 "),
        ("one is added without the chain", ["insert into records select 6, 'new', at, session, kind, about, status, question, planner, model, rows, ms, tokens_in, tokens_out, cost, body, previous, hash from records where seq = 5"], "added past"),
        ("the head is removed", ["delete from head"], "head that counts the records was removed"),
        ("the head is wound back", ["delete from records where seq = 5", "update head set count = 4, hash = (select hash from records where seq = 4)"], "seal does not fit"),
        ("a body is not JSON any more", ["update records set body = '{' where seq = 2"], "Record 2 "),
    ],
)  # fmt: skip
def test_tampering_is_found_and_named(five: Audit, what: str, statements: list[str], named: str) -> None:
    tamper(five, *statements)
    findings = five.verify()
    assert any(named in finding for finding in findings), (what, findings)


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (["delete from records where seq = 5"], "Record 5 was removed"),
        (["delete from records"], "Records 1 to 5 were removed"),
        (["delete from records where seq = 5", "update head set count = 4, hash = (select hash from records where seq = 4)"], "seal did not fit"),
        (["delete from records where seq >= 3", "delete from head"], "head that counts the records was missing"),
    ],
)  # fmt: skip
def test_a_later_question_does_not_cover_the_tracks(five: Audit, statements: list[str], named: str) -> None:
    tamper(five, *statements)
    five.record(answered("six?"), "ann")
    five.record(answered("seven?"), "ann")
    assert any(named in finding for finding in five.verify())


def test_a_chain_made_anew_without_the_key_does_not_pass(five: Audit, tmp_path: Path) -> None:
    forged = Audit(tmp_path / "forged.sqlite")
    for question in ("one?", "two?"):
        forged.record(answered(question), "ann")
    assert forged.verify() == []
    forged_head = forged.head()
    for suffix in ("", "-wal", "-shm"):
        source, target = Path(f"{forged.path}{suffix}"), Path(f"{five.path}{suffix}")
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copy(source, target)
    assert five.head() == forged_head
    assert any("seal" in finding for finding in five.verify())


def test_a_noted_head_finds_a_database_put_back_to_an_earlier_copy(five: Audit, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with sqlite3.connect(five.path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    five.record(answered("six?"), "ann")
    noted = five.head()
    with sqlite3.connect(copy) as source, sqlite3.connect(five.path) as target:
        source.backup(target)
    assert five.verify() == []
    assert any("cut or put back" in finding for finding in five.verify(noted))


def test_a_missing_key_file_is_said(five: Audit) -> None:
    five.key_path.unlink()
    assert any("key file" in finding for finding in five.verify())


def test_an_export_can_be_verified_by_anyone(five: Audit) -> None:
    out = io.StringIO()
    assert five.export(out) == 5
    lines = out.getvalue().splitlines()
    assert verify_export(lines) == []
    records = [json.loads(line) for line in lines]
    assert records[-1]["head"]["count"] == 5
    assert records[0]["record"]["question"] == "one?"
    assert any("Record 2 " in finding for finding in verify_export([line.replace("two?", "too?") for line in lines]))
    assert any("Record 3 was removed" in finding for finding in verify_export(lines[:2] + lines[3:]))
    assert any("Record 5 was removed" in finding for finding in verify_export([*lines[:4], lines[5]]))
    assert verify_export(["not json"]) == ["Line 1 is not a record."]
    own = io.StringIO()
    five.export(own, session="ann")
    assert verify_export(own.getvalue().splitlines()) == []
    assert verify_export(own.getvalue().replace("five?", "5?").splitlines()) != []


def test_processes_append_together_without_losing_or_forking(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    code = (
        "import sys; from pathlib import Path; from qa.audit import Audit; from qa.answer.answer import Answer\n"
        "audit = Audit(Path(sys.argv[1]))\n"
        "[audit.record(Answer(status='failed', question=f'{sys.argv[2]}.{n}'), sys.argv[2]) for n in range(12)]"
    )
    root = Path(__file__).parents[2]
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=root) for n in range(4)]
    assert [process.wait(240) for process in running] == [0] * 4
    audit = Audit(path)
    assert len(audit.list(limit=1000)) == 48
    assert audit.verify() == []
    assert audit.head().startswith("48:")


def test_only_the_owner_can_read_the_files(five: Audit) -> None:
    for path in (five.path, five.key_path):
        assert path.stat().st_mode & 0o077 == 0, path.name


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("this is no database, but a text of some length"), lambda path: path.mkdir()]
)
def test_a_file_that_cannot_be_used_is_one_clear_error(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "audit.sqlite"
    make(path)
    with pytest.raises(AuditUnavailable, match="cannot be used"):
        Audit(path).record(answered(), "ann")


@given(
    question=st.text(max_size=200),
    note=st.text(st.characters(exclude_categories=()), max_size=50),
    value=st.floats() | st.text(max_size=20) | st.none(),
)
def test_any_text_and_number_is_kept_and_verifies(
    question: str, note: str, value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    audit = Audit(tmp_path_factory.mktemp("any") / "audit.sqlite")
    id = audit.record(Answer(status="failed", question=question, reply={"x": value}, timings={"total": 1.5}), "ann")
    audit.feedback(id, "wrong", note)
    assert audit.verify() == []
    out = io.StringIO()
    audit.export(out)
    assert verify_export(out.getvalue().split("\n")) == []
    record = audit.get(id)
    assert record is not None and record["status"] == "failed"


@given(seed=st.data())
def test_any_one_flipped_character_in_a_body_is_found(
    seed: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    audit = Audit(tmp_path_factory.mktemp("flip") / "audit.sqlite")
    for question in ("one?", "two?"):
        audit.record(declined(question), "ann")
    with sqlite3.connect(audit.path) as database:
        body = database.execute("select body from records where seq = 1").fetchone()[0]
        place = seed.draw(st.integers(0, len(body) - 1))
        other = seed.draw(st.characters(codec="ascii", min_codepoint=32).filter(lambda letter: letter != body[place]))
        database.execute("update records set body = ? where seq = 1", (body[:place] + other + body[place + 1 :],))
    database.close()
    assert any(finding.startswith("Record 1 ") for finding in audit.verify())
