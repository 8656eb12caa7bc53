"""Predictions quote the file where an answer shows its cells, and give the value where it was computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qa import evaluate
from qa.settings import Settings

FILE = """title,air date,clock,seats,city
Pilot,12 May 1999,1.83 GHz,"1,200",Oslo
Storm,14 June 2001,2.4 GHz,900,Rome
Calm,14 June 2001,2.4 GHz,900,Bern
"""


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("What is the air date when the title is Pilot?", [["12 May 1999"]]),
        ("What is the clock when the title is Pilot?", [["1.83 GHz"]]),
        ("What are the air date and city when the title is Storm?", [["14 June 2001", "Rome"]]),
        ("What is the maximum clock?", [[2.4]]),
        ("What is the seats when the title is Pilot?", [[1200]]),
    ],
)
def test_a_cell_is_written_as_its_file_spells_it(tmp_path: Path, question: str, written: list[list[object]]) -> None:
    (tmp_path / "shows.csv").write_text(FILE, encoding="utf-8")
    record = {"id": "a", "file": "shows.csv", "question": question, "answer": written}
    (tmp_path / "q.jsonl").write_text(json.dumps(record), encoding="utf-8")
    settings = Settings(cache=tmp_path / "cache", audit=tmp_path / "a.sqlite", workers=1, _env_file=None)  # type: ignore[call-arg]
    evaluate.run(tmp_path / "q.jsonl", planner="offline", out=tmp_path / "out.jsonl", settings=settings)
    line = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert line["answer"] == written, line


def test_a_value_with_two_spellings_stays_a_value(tmp_path: Path) -> None:
    (tmp_path / "shows.csv").write_text(
        "title,air date\nA,12 May 1999\nB,May 12 1999\nC,2 June 2001\n", encoding="utf-8"
    )
    record = {"id": "a", "file": "shows.csv", "question": "What is the air date when the title is A?"}
    (tmp_path / "q.jsonl").write_text(json.dumps(record), encoding="utf-8")
    settings = Settings(cache=tmp_path / "cache", audit=tmp_path / "a.sqlite", workers=1, _env_file=None)  # type: ignore[call-arg]
    evaluate.run(tmp_path / "q.jsonl", planner="offline", out=tmp_path / "out.jsonl", settings=settings)
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["answer"] == [["1999-05-12"]]
