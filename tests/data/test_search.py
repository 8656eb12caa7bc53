"""Search finds tables, columns and values by any of their words, best first."""

from __future__ import annotations

import itertools

import pytest

from qa.data.catalog import open_tables
from qa.data.search import search
from qa.data.table import Table


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder = tmp_path_factory.mktemp("search")
    (folder / "orders.csv").write_text("order_id,shipCity,amt\n1,São Paulo,1.5\n2,Paris,2.5\n3,New York,3.5\n")
    (folder / "cities.csv").write_text("name,country\nParis,France\nLyon,France\n")
    (folder / "orders.qa.yaml").write_text(
        "description: what was sold\ncolumns:\n  amt: {synonyms: [net revenue], description: without tax}\n"
    )
    return [table for name in ("orders", "cities") for table in open_tables(folder / f"{name}.csv").tables]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("orders", ("table", "orders", None, None)),
        ("city", ("column", "orders", "shipCity", None)),
        ("revenue", ("column", "orders", "amt", None)),
        ("revenue net", ("column", "orders", "amt", None)),
        ("without tax", ("column", "orders", "amt", None)),
        ("sold", ("table", "orders", None, None)),
        ("sao", ("value", "orders", "shipCity", "São Paulo")),
        ("PARIS", ("value", "cities", "name", "Paris")),
        ("country", ("column", "cities", "country", None)),
        ("coutnry", ("column", "cities", "country", None)),
    ],
)
def test_words_find_what_they_name(tables: list[Table], words: str, first: tuple[str | None, ...]) -> None:
    hit = search(tables, words)[0]
    assert (hit.what, hit.table, hit.column, hit.value) == first


def test_every_word_must_be_found(tables: list[Table]) -> None:
    assert search(tables, "paris revenue") == []
    assert search(tables, "") == [] == search(tables, " ,; ")


def test_names_come_before_descriptions_and_the_limit_holds(tables: list[Table]) -> None:
    hits = search(tables, "paris")
    assert [hit.table for hit in hits] == ["cities", "orders"]
    assert search(tables, "paris", limit=1) == hits[:1]
    assert search(tables, "paris", values=False) == []
    assert all(a.score >= b.score for a, b in itertools.pairwise(hits))
