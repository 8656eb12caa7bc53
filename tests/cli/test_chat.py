"""A conversation in the terminal: lines in, answers out, with a look at plan, SQL and tables."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest

from qa.cli import main


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text("region,amount\nNorth,1.5\nSouth,2\nNorth,3\n")
    return path


def chat(lines: list[str], file: Path, monkeypatch: pytest.MonkeyPatch, *flags: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    return main(["chat", str(file), "--planner", "offline", *flags])


def test_each_answer_is_a_line_of_json_and_a_follow_up_knows_what_was_asked(
    sales: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        chat(
            ["how many rows by region", "only North", "/plan", "/sql", "/quit", "never read"],
            sales,
            monkeypatch,
            "--json",
        )
        == 0
    )
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one.get("status") for one in said] == ["answered", "answered", None, None]
    assert said[0]["parts"][0]["rows"] == [["North", 2], ["South", 1]]
    assert said[1]["parts"][0]["rows"] == [["North", 2]]
    assert said[2]["plan"] == said[1]["reply"]
    assert "GROUP BY" in said[3]["sql"][0]


def test_after_forget_a_question_stands_alone(
    sales: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat(["how many rows by region", "/forget", "/plan"], sales, monkeypatch)
    assert "Nothing has been answered yet" in capsys.readouterr().err


def test_an_answer_is_saved_as_what_the_ending_says(
    sales: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a.csv", "a.parquet", "a.xlsx", "a.json", "a.md", "a.html", "a.ipynb", "a.plan.json"]
    assert chat(["total amount by region", *(f"/save {tmp_path / name}" for name in names)], sales, monkeypatch) == 0
    assert pl.read_parquet(tmp_path / "a.parquet").rows() == [("North", 4.5), ("South", 2.0)]
    assert json.loads((tmp_path / "a.plan.json").read_text())["reply"] == "plan"
    assert all((tmp_path / name).stat().st_size > 20 for name in names)


def test_a_kept_question_is_verified_from_then_on(
    sales: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat(["total amount by region", "/keep Ann"], sales, monkeypatch)
    assert "Ann" in sales.with_name("sales.qa.yaml").read_text()
    capsys.readouterr()
    chat(["Total amount by region?"], sales, monkeypatch, "--json")
    assert json.loads(capsys.readouterr().out)["planner"] == "verified"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/dance", "There is no command /dance"),
        ("/sql", "Nothing has been answered yet"),
        ("/profile nowhere", "There is no table 'nowhere'"),
        ("/save", "Nothing has been answered yet"),
    ],
)
def test_a_command_that_cannot_be_done_says_so_and_the_talk_goes_on(
    line: str, says: str, sales: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        chat([line if line != "/save" else "/save x.csv", "/tables", "/profile sales", "/help"], sales, monkeypatch)
        == 0
    )
    out, err = capsys.readouterr()
    assert says in err
    assert "sales" in out
    assert "/polars" in out
