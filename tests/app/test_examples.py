"""Example questions are made of a table's own columns and only shown when they can be answered."""

from __future__ import annotations

from pathlib import Path

from qa.data.table import ColumnProfile, LoadReport, Profile, Table
from qa.types import Column, Kind, Role
from qa.ui.examples import examples


def _table(*columns: ColumnProfile) -> Table:
    report = LoadReport(file="t.csv", format="csv", rows_in=9, rows_out=9, columns_in=1, columns_out=1)
    profile = Profile(name="t", digest="d" * 32, rows=9, columns=columns)
    made = [Column(f"c{n}", c.name, c.kind, c.role) for n, c in enumerate(columns)]
    return Table(
        name="t", path=Path("t.parquet"), columns=made, rows=9, digest="d" * 32, profile=profile, report=report
    )


def _column(name: str, kind: Kind, distinct: int, role: Role | None = None, **more: object) -> ColumnProfile:
    return ColumnProfile(
        name=name,
        kind=kind,
        role=role,
        count=1000,
        missing=0,
        distinct=distinct,
        unique=False,
        **more,  # type: ignore[arg-type]
    )


PRICE = _column("list_price", Kind.NUMBER, 900, Role.CURRENCY, q75=412_000.0)
STATE = _column("state", Kind.TEXT, 50, Role.CATEGORY)
KEY = _column("customer_id", Kind.INTEGER, 1000, Role.ID)


def test_questions_name_the_columns_as_words() -> None:
    assert examples([_table(PRICE, STATE)], lambda _: True)[0] == "Average list price by state"


def test_only_answerable_questions_are_offered() -> None:
    assert examples([_table(PRICE, STATE)], lambda question: "How many" in question) == [
        "How many rows have list price over 400,000",
        "How many rows per state",
        "How many rows are there",
    ]


def test_an_id_is_never_summed_or_averaged() -> None:
    assert examples([_table(KEY)], lambda _: True) == ["How many rows are there"]


def test_numbers_that_are_names_of_things_are_no_measure() -> None:
    assert examples([_table(_column("size_rank", Kind.INTEGER, 900))], lambda _: True) == ["How many rows are there"]


def test_a_table_of_nothing_familiar_still_has_a_question() -> None:
    assert examples([_table(_column("x", Kind.LIST, 5))], lambda _: True) == ["How many rows are there"]
