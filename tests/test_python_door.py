"""The Python door: load, ask, follow up, run a plan, from files and from frames."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import qa

SALES = pl.DataFrame({"region": ["North", "South", "North"], "amount": [1.5, 2.0, 3.0]})
TOTALS = {"North": 4.5, "South": 2.0}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    SALES.write_csv(path)
    return path


def totals(tables: Any) -> dict[str, float]:
    answer = qa.ask(tables, "total amount by region", planner="offline")
    assert answer.status == "answered", str(answer)
    return dict(answer.table.iter_rows())


def test_a_file_is_loaded_and_asked(file: Path) -> None:
    tables = qa.load(file)
    assert [table.name for table in tables] == ["sales"]
    assert totals(tables) == TOTALS


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "as it is"])
def test_a_frame_of_any_library_is_a_table(kind: str) -> None:
    source = {"polars": SALES, "lazy": SALES.lazy(), "pandas": SALES.to_pandas(), "arrow": SALES.to_arrow()}.get(kind)
    assert totals(SALES if source is None else qa.load(source, name="sales")) == TOTALS


def test_the_index_of_a_pandas_frame_is_a_column_when_it_has_a_name() -> None:
    grouped = SALES.to_pandas().groupby("region").sum()
    assert totals(grouped) == TOTALS


def test_a_later_question_follows_up_on_an_earlier_answer(file: Path) -> None:
    tables = qa.load(file)
    first = qa.ask(tables, "how many rows by region", planner="offline")
    second = qa.ask(tables, "only North", planner="offline", history=[first])
    assert second.status == "answered"
    assert second.table.rows()[-1][-1] == 2


def test_a_plan_runs_again_and_an_ill_fitting_one_tells_its_issues(file: Path) -> None:
    tables = qa.load(file)
    answer = qa.ask(tables, "total amount by region", planner="offline")
    assert answer.reply is not None
    assert qa.run_plan(tables, answer.reply).table.equals(answer.table)
    wrong = {"reply": "plan", "parts": [{"source": "sale", "steps": []}]}
    failed = qa.run_plan(tables, wrong)
    assert (failed.status, failed.issues[0].code) == ("failed", "no_such_table")
    assert [issue.code for issue in qa.check_plan(tables, wrong)] == ["no_such_table"]
    assert qa.check_plan(tables, answer.reply) == ()


def test_tables_of_several_sources_are_asked_together(file: Path) -> None:
    people = pl.DataFrame({"region": ["North", "South"], "boss": ["Ann", "Bob"]})
    tables = qa.load(file, people)
    assert len(tables) == 2
    steps = [
        {"op": "join", "table": "table", "how": "inner", "on": ["region"]},
        {"op": "summarize", "by": ["boss"], "metrics": ["sum(amount) as total"]},
    ]
    answer = qa.run_plan(tables, {"parts": [{"title": "", "source": "sales", "steps": steps}]})
    assert dict(answer.table.iter_rows()) == {"Ann": 4.5, "Bob": 2.0}


def test_two_tables_of_one_name_are_told_apart(file: Path) -> None:
    tables = qa.load(file, SALES).joined(qa.load(SALES))
    assert [table.name for table in tables] == ["sales", "table", "table_2"]
    assert tables["TABLE_2"].rows == 3


def test_a_semantic_file_beside_the_data_takes_effect(file: Path) -> None:
    file.with_name("sales.qa.yaml").write_text(
        "columns:\n  amount: {role: currency, unit: EUR, synonyms: [turnover]}\n"
    )
    tables = qa.load(file)
    assert tables["sales"].column("amount").unit == "EUR"
    assert tables["sales"].profile.column("amount").synonyms == ("turnover",)


def test_an_answer_reads_as_its_sentences_and_a_declined_one_as_its_reason(file: Path) -> None:
    tables = qa.load(file)
    assert "6.5" in str(qa.ask(tables, "total amount", planner="offline"))
    declined = qa.ask(tables, "weather in Paris", planner="offline")
    assert declined.status == "declined"
    assert str(declined) == declined.reason
    with pytest.raises(qa.QAError, match=r"[Pp]aris"):
        _ = declined.table


@pytest.mark.parametrize(
    ("source", "reading", "code"),
    [("nowhere.csv", {}, "no_such_file"), (3, {}, "not_a_table"), (SALES, {"headr": 1}, "usage")],
)
def test_what_cannot_be_loaded_is_a_load_error(source: Any, reading: dict[str, Any], code: str) -> None:
    with pytest.raises(qa.LoadError) as failed:
        qa.load(source, **reading)
    assert failed.value.issues[0].code == code


def test_importing_it_brings_in_no_library() -> None:
    heavy = "[m for m in ('polars', 'pydantic', 'streamlit', 'litellm', 'mcp', 'duckdb') if m in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, qa; print({heavy})"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
