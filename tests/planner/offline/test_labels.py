"""What a row is called answers `name the …` and `the earliest …`; whole rows answer `which …`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qa.data.read import load
from qa.data.table import Table
from qa.planner.offline import plan

Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]

ALBUMS = """Album title,Year,Sales,Sign
Plastic Trees,1991,12,a
Wayward Bus,1992,30,
House of Tomorrow,1995,8,b
Holiday,1999,20,c
"""


@pytest.fixture(scope="module")
def albums(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    path: Path = tmp_path_factory.mktemp("labels") / "albums.csv"
    path.write_text(ALBUMS, encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What was the earliest album?", [["Plastic Trees"]]),
        ("Identify the albums with sales above 10.", [["Plastic Trees"], ["Wayward Bus"], ["Holiday"]]),
        ("Which albums have sales above 25?", [["Wayward Bus", 1992, 30, None]]),
        ("How many signs are there?", [[3]]),
    ],
)
def test_the_word_for_a_row_finds_its_name(
    question: str, rows: list[list[Any]], albums: list[Table], answered: Answered
) -> None:
    reply = plan(question, albums)
    assert reply["reply"] == "plan", reply
    assert answered(reply, albums) == rows


def test_how_many_in_a_top_is_no_ranking(albums: list[Table]) -> None:
    assert plan("How many albums made it into the top 3 sales?", albums)["reply"] == "decline"
