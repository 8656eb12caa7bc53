"""Questions that speak of several tables by name: what is related, what is not, how many of them, and the most."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qa.data.gather import gather
from qa.data.read import load
from qa.data.table import Table
from qa.planner.offline import plan
from tests.agreement import same

Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]
ROOT = Path(__file__).parents[3]

FILES = {
    "author": "author_id,name,country,age\n1,Ada,Peru,50\n2,Ben,Chile,41\n3,Cleo,Peru,38\n4,Dan,Cuba,60\n",
    "book": "book_id,title,year,price\n10,Sea,2001,9\n11,Sky,2005,12\n12,Fog,2010,30\n13,Ice,2012,8\n14,Oak,2014,15\n",
    "authorship": "author_id,book_id\n1,10\n1,11\n2,11\n3,12\n1,13\n",
    "review": "review_id,book_id,stars,critic\n1,10,5,Kim\n2,10,3,Lee\n3,11,4,Kim\n4,12,1,Pat\n5,12,2,Lee\n6,12,5,Kim\n",
}
QUESTIONS: list[tuple[str, list[list[Any]]]] = [
    # related, and not
    ("What are the names of the authors who have written books?", [["Ada"], ["Ben"], ["Cleo"]]),
    ("Which authors have written no book?", [["Dan"]]),
    ("What are the titles of the books without any reviews?", [["Ice"], ["Oak"]]),
    ("How many books have not received any review?", [[2]]),
    ("List the titles of books written by authors from Peru.", [["Sea"], ["Sky"], ["Fog"], ["Ice"]]),
    ("List the names of authors who wrote a book in 2005.", [["Ada"], ["Ben"]]),
    ("What are the names of authors who wrote a book after 2009?", [["Ada"], ["Cleo"]]),
    ("How many books were written by the author Ada?", [[3]]),
    ("How many reviews does the book Fog have?", [[3]]),
    ("What is the average price of the books that have reviews?", [[17.0]]),
    ("What is the average age of authors who have no books?", [[60.0]]),
    # counted
    ("List the names of authors with at least two books.", [["Ada"]]),
    ("Show the titles of books that received 2 or more reviews.", [["Sea"], ["Fog"]]),
    ("Show the name of each author and the number of books.", [["Ada", 3], ["Ben", 1], ["Cleo", 1]]),
    ("For each book, how many reviews are there?", [["Sea", 2], ["Sky", 1], ["Fog", 3]]),
    ("What are the title and price of the book with the most reviews?", [["Fog", 30]]),
    ("Which author has written the most books?", [["Ada"]]),
    ("How many reviews does Fog have?", [[3]]),
    ("Show the titles of the books except for books having a review.", [["Ice"], ["Oak"]]),
    ("List the two authors with the most books.", [["Ada", 3], ["Ben", 1]]),
    # columns of both
    ("List the stars of each review and the title of the book.",
     [[5, "Sea"], [3, "Sea"], [4, "Sky"], [1, "Fog"], [2, "Fog"], [5, "Fog"]]),
    ("Show the names of authors and the titles of the books they wrote.",
     [["Ada", "Sea"], ["Ada", "Sky"], ["Ben", "Sky"], ["Cleo", "Fog"], ["Ada", "Ice"]]),
    # superlatives of the other side
    ("How many reviews did the most expensive book receive?", [[3]]),
    ("List the names of the authors of the oldest book.", [["Ada"]]),
]  # fmt: skip
REFUSED = [
    "List the names of authors who burned books.",
    "Show the names of Ada's books.",
    "What are the names of authors whose books have not been reviewed?",
    "Which critics reviewed no book?",
    "List the names of authors who wrote a book in both 2001 and 2005.",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder = tmp_path_factory.mktemp("library")
    for name, text in FILES.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return [load(folder / f"{name}.csv")[0] for name in FILES]


@pytest.mark.parametrize(("question", "rows"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_things_are_found_by_what_they_are_related_to(
    library: list[Table], answered: Answered, question: str, rows: list[list[Any]]
) -> None:
    reply = plan(question, library)
    assert reply["reply"] == "plan", reply
    assert answered(reply, library) == rows


@pytest.mark.parametrize("question", REFUSED)
def test_what_the_tables_do_not_say_is_not_answered(library: list[Table], question: str) -> None:
    assert plan(question, library)["reply"] != "plan"


TEN = [json.loads(line) for line in (ROOT / "tests/golden/several_tables.jsonl").read_text("utf-8").splitlines()]
ASKED = {"average departure delay by engine type of the plane": [0, 2]}
"""columns of a worked-out value that the question asks for, where it holds more; an answer may also show a name or a number more"""


@pytest.fixture(scope="module")
def sample() -> Callable[[str], list[Table]]:
    read = {name: list(gather([ROOT / "sample_data" / name]).by_name.values()) for name in ("flights", "shop")}
    return read.__getitem__


def holds(rows: list[list[Any]], wanted: list[list[Any]]) -> bool:
    """Whether some columns of the rows, in order, are the wanted ones."""
    width = len(wanted[0])
    ways = itertools.permutations(range(len(rows[0])), width) if rows and len(rows[0]) >= width else ()
    return any(same([[row[place] for place in way] for row in rows], wanted) for way in ways)


def test_of_ten_joined_questions_four_are_answered_and_none_wrongly(
    sample: Callable[[str], list[Table]], answered: Answered
) -> None:
    right, wrong = [], []
    for case in TEN:
        reply = plan(case["question"], sample(case["tables"]))
        if reply["reply"] == "plan":
            wanted = [[row[n] for n in ASKED.get(case["question"], range(len(row)))] for row in case["rows"]]
            verdict = holds(answered(reply, sample(case["tables"])), wanted)
            (right if verdict else wrong).append(case["question"])
    assert wrong == []
    assert len(right) >= 4
