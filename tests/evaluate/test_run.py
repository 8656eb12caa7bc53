"""A file of questions goes in, a line a question and a report come out, whatever single questions do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa import evaluate
from qa.errors import LoadError
from qa.settings import Settings

SUM = {
    "reply": "plan",
    "lets": [],
    "parts": [{"title": "n", "source": "t", "steps": [{"op": "summarize", "by": [], "metrics": ["sum(sales) as n"]}]}],
}
WRONG = json.loads(json.dumps(SUM).replace("sum(sales)", "sum(revenue)"))
QUESTIONS: list[dict[str, Any]] = [
    {"id": "a", "file": "t.csv", "question": "total sales", "answer": [[97]], "compare": "table", "features": ["sum"]},
    {
        "id": "b",
        "tables": [{"name": "t", "file": "t.csv"}],
        "question": "total sales",
        "answer": [[98]],
        "compare": "table",
        "features": ["sum"],
    },
    {"id": "c", "file": "t.csv", "question": "total sales", "expected": {"value": 97}},
    {"id": "d", "file": "nowhere.csv", "question": "total sales", "answer": [[1]]},
    {"id": "e", "file": "t.csv", "question": "total sales", "answer": [[97]]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("region,sales\nNorth,50\nNorth,40\nSouth,7\n", encoding="utf-8")
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    replies = [
        {"id": "a", "reply": SUM},
        {"id": "b", "reply": json.dumps(SUM)},
        {"id": "c", "replies": [WRONG, SUM]},
        {"id": "d", "reply": SUM},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    return tmp_path


def settings(folder: Path) -> Settings:
    return Settings(cache=folder / "cache", audit=folder / "audit.sqlite", workers=1, _env_file=None)  # type: ignore[call-arg]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("chaos", [False, True])
def test_recorded_replies_are_run_repaired_and_judged(folder: Path, chaos: bool) -> None:
    told = evaluate.run(
        folder / "q.jsonl",
        out=folder / "p.jsonl",
        replies=folder / "r.jsonl",
        report=folder / "report.json",
        chaos=chaos,
        settings=settings(folder),
    )
    got = {line["id"]: line for line in lines(folder / "p.jsonl")}
    assert {id: line["verdict"] for id, line in got.items()} == {
        "a": "right",
        "b": "wrong",
        "c": "right",
        "d": None,
        "e": None,
    }
    assert {id: line["refused"] for id, line in got.items()} == {
        "a": False,
        "b": False,
        "c": False,
        "d": True,
        "e": True,
    }
    assert (told.total.right, told.total.wrong, told.total.failed) == (2, 1, 2)
    assert told.recovered == (3 if chaos else 1)
    written = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert written["by_feature"]["sum"]["right_when_answered"] == 0.5
    assert written["wrong_answers"][0]["id"] == "b"
    assert "2 of 5 right, 1 wrong" in str(told)


def test_the_report_is_a_page_where_a_page_is_asked_for(folder: Path) -> None:
    questions = [QUESTIONS[1] | {"question": "total <b>sales</b>"}]
    (folder / "one.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    evaluate.run(
        folder / "one.jsonl", replies=folder / "r.jsonl", report=folder / "report.html", settings=settings(folder)
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "total &lt;b&gt;sales" in page
    assert "<td>right_when_answered</td><td>0.0</td>" in page


def test_offline_questions_are_answered(folder: Path) -> None:
    told = evaluate.run(folder / "q.jsonl", planner="offline", settings=settings(folder), limit=1)
    assert told.total.right == 1


def test_the_query_of_a_record_is_run_as_a_plan(folder: Path) -> None:
    queries = [
        QUESTIONS[1] | {"id": "sum", "gold_query": "SELECT sum(sales) FROM t", "gold_lang": "sqlite", "answer": [[97]]}
    ]
    queries += [
        QUESTIONS[1]
        | {
            "id": "chart",
            "gold_query": "Visualize BAR SELECT region, sum(sales) FROM t GROUP BY region",
            "answer": [["North", 90], ["South", 7]],
        }
    ]
    queries += [QUESTIONS[1] | {"id": "none", "gold_query": "DROP TABLE t"}]
    (folder / "sql.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    evaluate.run(folder / "sql.jsonl", out=folder / "p.jsonl", planner="sql", settings=settings(folder))
    assert {line["id"]: line["verdict"] for line in lines(folder / "p.jsonl")} == {
        "sum": "right",
        "chart": "right",
        "none": None,
    }


def test_prompts_are_written_as_they_would_be_sent(folder: Path) -> None:
    evaluate.run(folder / "q.jsonl", export_prompts=folder / "prompts.jsonl", settings=settings(folder))
    written = lines(folder / "prompts.jsonl")
    assert [line["id"] for line in written] == ["a", "b", "c", "d", "e"]
    assert "total sales" in written[0]["messages"][1]["content"]
    assert "error" in written[3]


@pytest.mark.parametrize("text", ["no json", '{"id": 1}', "[]"])
def test_a_file_that_holds_no_questions_is_refused_in_one_line(folder: Path, text: str) -> None:
    (folder / "bad.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(LoadError, match="this line is no question"):
        evaluate.run(folder / "bad.jsonl", settings=settings(folder))
