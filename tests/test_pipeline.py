"""From a question to an answer, through the public door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qa import pipeline
from qa.answer.answer import CHECKING, Answer
from qa.audit import Audit
from qa.data.read import load
from qa.data.semantics import Semantics, VerifiedQuestion
from qa.data.table import Table
from qa.engine.pool import Pool
from qa.settings import Settings

ROWS = "region,amount,shipped\nNorth,10,yes\nSouth,20,no\nNorth,5,yes\nWest,,no\n"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "sales.csv").write_text(ROWS)
    return load(folder / "sales.csv", cache=folder / "cache")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(Settings(workers=1))
    yield made
    made.close()


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    return Settings(audit=tmp_path / "audit.sqlite")


def plan(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"reply": "plan", "lets": [], "parts": [{"title": "", "source": "sales", "steps": list(steps), **more}]}


TOTAL = plan({"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total"]}, reading="all orders")


class Misreported(Pool):
    """A pool that tells the second engine of other rows than it gave."""

    def crosscheck(self, reply: Any, tables: Any, results: Any, **more: Any) -> Any:
        frames = [replace(result, frame=result.frame.fill_null(7)) for result in results]
        return super().crosscheck(reply, tables, frames, **more)


AT_ONCE = {"crosscheck_wait": 0}
BEING_CHECKED = (None, CHECKING)


def test_an_answer_can_be_shown_before_its_verdict(tables: list[Table], pool: Pool, own: Settings) -> None:
    shown: list[Answer] = []
    at_once = own.model_copy(update=AT_ONCE)
    answer = pipeline.run_plan(TOTAL, tables, settings=at_once, pool=pool, early=shown.append)
    (before,) = shown
    first, last = before.parts[0].checks[0], answer.parts[0].checks[0]
    assert ((first.passed, first.detail), last.passed) == (BEING_CHECKED, True)
    assert (before.audit_id, before.result_hash) == (answer.audit_id, answer.result_hash)
    record = Audit(own.audit).get(answer.audit_id or "")
    assert record is not None and record["parts"][0]["checks"][0]["passed"] is True and record["verdict"]
    assert not list(Audit(own.audit).verify())


def test_an_answer_that_was_shown_is_withdrawn_when_the_engines_disagree(tables: list[Table], own: Settings) -> None:
    shown: list[Answer] = []
    wrong = Misreported(Settings(workers=1))
    try:
        at_once = own.model_copy(update=AT_ONCE)
        answer = pipeline.run_plan(TOTAL, tables, settings=at_once, pool=wrong, early=shown.append)
        waited = pipeline.run_plan(TOTAL, tables, settings=at_once, pool=wrong)
    finally:
        wrong.close()
    assert (shown[0].status, answer.status, waited.status) == ("answered", "failed", "failed")
    assert "The answer that was shown is withdrawn" in (answer.reason or "") and not answer.parts
    assert (waited.reason or "").startswith("The two engines gave different results")
    audit = Audit(own.audit)
    record = audit.get(answer.audit_id or "")
    assert record is not None and (record["status"], record["issues"][0]["code"]) == ("failed", "engines_disagree")
    assert [row["status"] for row in audit.list()] == ["failed", "failed"]
    assert audit.list(status="answered") == [] and audit.totals()["statuses"] == {"failed": 2}
    assert not list(audit.verify())


def test_a_cross_check_past_its_time_says_so(tables: list[Table], own: Settings) -> None:
    hasty = Pool(Settings(workers=1, crosscheck_seconds=1e-9))
    try:
        answer = pipeline.run_plan(TOTAL, tables, settings=own, pool=hasty)
    finally:
        hasty.close()
    check = answer.parts[0].checks[0]
    assert (check.passed, "took longer than its time" in check.detail) == (None, True)


def test_a_question_becomes_a_checked_recorded_answer(tables: list[Table], pool: Pool, own: Settings) -> None:
    answer = pipeline.ask("What is the total amount by region?", tables, settings=own, pool=pool, planner="offline")
    assert answer.status == "answered"
    (part,) = answer.parts
    assert part.table.rows() == [("North", 15), ("South", 20), ("West", None)]
    assert [check.passed for check in part.checks][:1] == [True]
    assert part.chart is not None and part.sentences and part.sql and part.polars
    assert [row.rows_out for row in part.ledger] == [3]
    record = Audit(own.audit).get(answer.audit_id or "")
    assert record is not None and record["question"] == answer.question
    assert not list(Audit(own.audit).verify())


def test_a_saved_model_reply_is_used_instead_of_a_call(tables: list[Table], pool: Pool, own: Settings) -> None:
    reply = f"Here you are:\n```json\n{json.dumps(TOTAL)}\n```"
    answer = pipeline.ask("Totals?", tables, settings=own, pool=pool, saved_reply=reply)
    assert (answer.status, answer.planner) == ("answered", "reply")
    assert "Read as: all orders" in answer.parts[0].assumptions


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("not json at all", None),
        (json.dumps(plan({"op": "drop_table"})), "no_such_step"),
        (json.dumps(plan({"op": "filter", "where": "nothing > 1"})), "no_such_column"),
        (json.dumps(plan({"op": "filter", "where": "region == 'Nroth'"})), "no_such_value"),
        (json.dumps({"reply": "plan", "parts": []}), "bad_reply"),
    ],
)
def test_a_bad_reply_ends_in_a_failure_with_issues_never_in_a_traceback(
    reply: str, code: str | None, tables: list[Table], pool: Pool, own: Settings
) -> None:
    answer = pipeline.ask("?", tables, settings=own, pool=pool, saved_reply=reply)
    assert answer.status == "failed"
    assert answer.issues
    assert code is None or answer.issues[0].code == code


def test_a_question_back_carries_plans_that_run(tables: list[Table], pool: Pool, own: Settings) -> None:
    back = {
        "reply": "clarify",
        "question": "By what?",
        "options": [{"label": "by region", "parts": TOTAL["parts"]}, {"label": "never mind", "parts": None}],
    }
    answer = pipeline.ask("Totals?", tables, settings=own, pool=pool, saved_reply=json.dumps(back))
    assert (answer.status, answer.question_back) == ("clarify", "By what?")
    assert answer.options[1].reply is None
    chosen = pipeline.run_plan(answer.options[0].reply or {}, tables, settings=own, pool=pool)
    assert chosen.parts[0].table.height == 3


def test_a_refusal_names_what_is_missing(tables: list[Table], pool: Pool, own: Settings) -> None:
    answer = pipeline.ask(
        "What is the average temperature by region?", tables, settings=own, pool=pool, planner="offline"
    )
    assert answer.status == "declined"
    assert any("temperature" in word for word in answer.missing)


def test_a_verified_question_is_answered_before_any_planner_is_asked(
    tables: list[Table], pool: Pool, own: Settings
) -> None:
    known = {"sales": Semantics(questions=(VerifiedQuestion(question="How did we do?", plan=TOTAL, by="Ann"),))}
    answer = pipeline.ask("how did we do", tables, settings=own, pool=pool, semantics=known)
    assert (answer.status, answer.planner) == ("answered", "verified")
    assert any("Verified plan" in note for note in answer.parts[0].assumptions)


def test_the_same_plan_on_the_same_data_has_the_same_hash(tables: list[Table], pool: Pool, own: Settings) -> None:
    first, second = (pipeline.run_plan(TOTAL, tables, settings=own, pool=pool) for _ in range(2))
    assert first.result_hash == second.result_hash is not None
    other = pipeline.run_plan(
        plan({"op": "summarize", "by": ["region"], "metrics": ["mean(amount) as total"]}),
        tables,
        settings=own,
        pool=pool,
    )
    assert other.result_hash != first.result_hash


def test_a_model_that_cannot_be_reached_leaves_the_offline_planner(
    tables: list[Table], pool: Pool, own: Settings
) -> None:
    unreachable = own.model_copy(
        update={
            "model": "openai/gpt-5-mini",
            "api_key": "sk-test-0000000000000000",
            "api_base": "http://127.0.0.1:9/v1",
            "model_timeout": 2.0,
        }
    )
    answer = pipeline.ask("What is the total amount by region?", tables, settings=unreachable, pool=pool)
    assert answer.status == "answered"
    assert answer.planner == "offline"
    assert any("Planned without a model" in note for note in answer.parts[0].assumptions)
    assert "sk-test" not in own.audit.read_bytes().decode("latin-1")


def test_an_answer_lists_what_reading_the_file_assumed_about_its_columns(
    tmp_path: Path, pool: Pool, own: Settings
) -> None:
    ages = [*range(20, 58), -99, -99]
    sexes = ["M", "Male", "female", "F"] * 10
    lines = [f"{age},{sex},{n}" for n, (age, sex) in enumerate(zip(ages, sexes, strict=True))]
    (tmp_path / "people.csv").write_text("age,sex,score\n" + "\n".join(lines) + "\n")
    people = load(tmp_path / "people.csv", cache=tmp_path / "cache")

    def told(metric: str, *by: str) -> str:
        step = {"op": "summarize", "by": list(by), "metrics": [f"{metric} as m"]}
        reply = {"reply": "plan", "parts": [{"title": "", "source": "people", "steps": [step]}]}
        (part,) = pipeline.run_plan(reply, people, pool=pool, settings=own).parts
        return " ".join((*part.assumptions, *part.warnings))

    assert "-99 stands in 2 cells of 'age'" in told("mean(age)")
    assert "Spellings in 'sex' were read as one" in told("count()", "sex")
    assert "age" not in told("mean(score)") and "sex" not in told("mean(score)")
