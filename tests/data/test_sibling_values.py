"""Values whose kind only their name, their neighbours or their size gives away, beside the collected cases."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from qa.types import Kind, Role
from tests.data.loading import cells, column, notes, said, text

D, T = dt.date, dt.datetime
UTC = dt.UTC

KEPT_AS_TEXT = [
    ("codes that look like powers of ten", "part no", ["1E5", "2E10", "3E7"]),
    ("such codes among others", "sku", ["1E5", "2E10", "12A"]),
    ("ids of thirteen digits and more", "card", ["4111111111111111", "5500000000000004", "340000000000009"]),
    ("an ISBN with a check letter", "isbn", ["9780306406157", "080442957X"]),
    ("versions are no decimals", "version", ["1.10", "1.9", "1.2"]),
    ("firmware of three parts", "firmware", ["1.10.2", "1.9.0"]),
    ("a tracking number", "tracking number", ["10000000001", "10000000002"]),
    ("a surname that says Null", "surname", ["Null", "Smith", "Jones"]),
    ("an abbreviated month and a gene", "gene", ["MARCH1", "SEPT2", "DEC1", "TP53"]),
]


@pytest.mark.parametrize(("header", "given"), [row[1:] for row in KEPT_AS_TEXT], ids=[row[0] for row in KEPT_AS_TEXT])
def test_what_names_a_thing_keeps_its_spelling(tmp_path: Path, header: str, given: list[str]) -> None:
    table = column(tmp_path, given, header=header)
    assert table.column(header).kind is Kind.TEXT
    assert cells(table, header) == given


def test_codes_keep_their_spelling_in_long_columns_too(tmp_path: Path) -> None:
    given = [str(number) for number in range(1, 400)] + ["1E5"]
    assert cells(column(tmp_path, given, header="part no"), "part no") == given


def test_powers_of_ten_without_a_point_are_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["1E5", "2E3", "7"])
    assert cells(table) == [100000.0, 2000.0, 7.0]
    assert "may look so" in said(table, "powers")


def test_ids_that_a_spreadsheet_cut_are_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["1.23457E+11", "1.23458E+11"], header="order id")
    assert table.column("order id").kind is Kind.TEXT
    assert "last digits are lost" in said(table, "cut_ids")


def test_whole_codes_are_ids(tmp_path: Path) -> None:
    table = column(tmp_path, ["2001", "1001", "1001", "2150"], header="store code")
    assert table.column("store code").role is Role.ID


def test_a_list_in_brackets_is_no_list_of_tags(tmp_path: Path) -> None:
    assert column(tmp_path, ["[1,2]", "[3]"], header="tags").column("tags").role is not Role.TAG_LIST


MOMENTS = [
    ("seconds with fractions", "timestamp", ["1704067200.5", "1704153600.25"],
     [T(2024, 1, 1, 0, 0, 0, 500000, UTC), T(2024, 1, 2, 0, 0, 0, 250000, UTC)]),
    ("seconds and milliseconds mixed", "ts", ["1704067200", "1704153600000"], [T(2024, 1, 1, tzinfo=UTC), T(2024, 1, 2, tzinfo=UTC)]),
    ("a spreadsheet's day numbers", "date", ["45292", "45293", "45300"], [D(2024, 1, 1), D(2024, 1, 2), D(2024, 1, 9)]),
    ("a spreadsheet's days with times", "date", ["45292.5", "45293.25"], [T(2024, 1, 1, 12), T(2024, 1, 2, 6)]),
    ("the end of a day", "when", ["2024-01-01 24:00", "2024-01-02 12:00"], [T(2024, 1, 2), T(2024, 1, 2, 12)]),
    ("months with a short year", "month", ["Jan-24", "Feb-24", "Mar-24"], [D(2024, 1, 1), D(2024, 2, 1), D(2024, 3, 1)]),
    ("dates that are all zeros", "d", ["0000-00-00", "2024-01-05", "2024-02-05"], [None, D(2024, 1, 5), D(2024, 2, 5)]),
    ("Japanese dates", "d", ["2024年1月5日", "2024年12月31日"], [D(2024, 1, 5), D(2024, 12, 31)]),
    ("Korean dates", "d", ["2024년 1월 5일", "2024년 12월 31일"], [D(2024, 1, 5), D(2024, 12, 31)]),
    ("births are never ahead", "birth date", ["15/03/45", "20/07/62", "01/12/05"], [D(1945, 3, 15), D(1962, 7, 20), D(2005, 12, 1)]),
    ("short years beside the last century", "d", ["31/12/68", "15/03/99", "01/02/24"], [D(1968, 12, 31), D(1999, 3, 15), D(2024, 2, 1)]),
    ("fourteen digits of a moment", "d", ["20240105123000", "20240106123000", "20240107000000"],
     [T(2024, 1, 5, 12, 30), T(2024, 1, 6, 12, 30), T(2024, 1, 7)]),
]  # fmt: skip


@pytest.mark.parametrize(("header", "given", "expected"), [row[1:] for row in MOMENTS], ids=[row[0] for row in MOMENTS])
def test_moments_behind_other_spellings(tmp_path: Path, header: str, given: list[str], expected: list[Any]) -> None:
    assert cells(column(tmp_path, given, header=header), header) == expected


@pytest.mark.parametrize(
    ("header", "given", "code"),
    [
        ("timestamp", ["1704067200", "1704153600000"], "epoch"),
        ("date", ["45292", "45293", "45300"], "serial_dates"),
        ("month", ["Jan-24", "Feb-24"], "two_digit_years"),
        ("d", ["0000-00-00", "2024-01-05", "2024-02-05"], "null_words"),
    ],
)
def test_each_of_them_is_told(tmp_path: Path, header: str, given: list[str], code: str) -> None:
    assert code in notes(column(tmp_path, given, header=header))


@pytest.mark.parametrize(
    ("header", "given"),
    [("amount", ["45292", "45293"]), ("update count", ["45292", "45293"]), ("size", ["20240105123000", "7"])],
)
def test_numbers_that_only_look_like_moments_stay_numbers(tmp_path: Path, header: str, given: list[str]) -> None:
    assert cells(column(tmp_path, given, header=header), header) == [int(cell) for cell in given]


def test_shares_among_percentages_are_put_on_one_scale_and_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["45%", "0.12", "30%", "0.5"], header="rate")
    assert cells(table, "rate") == [45.0, 12.0, 30.0, 50.0]
    assert "'0.12' as 12 %" in said(table, "shares_as_percent")


def test_bare_percentages_among_percentages_stay_as_they_are(tmp_path: Path) -> None:
    assert cells(column(tmp_path, ["45%", "12", "30%", "0.5"], header="rate"), "rate") == [45.0, 12.0, 30.0, 0.5]


def test_per_mille_is_exact(tmp_path: Path) -> None:
    assert cells(column(tmp_path, ["5‰", "12‰", "3‰"], header="rate"), "rate") == [0.5, 1.2, 0.3]


@pytest.mark.parametrize(
    ("header", "unit"), [("weight (kg)", "kg"), ("speed [km/h]", "km/h"), ("size (large)", None), ("price (net)", None)]
)
def test_a_header_states_a_unit_in_brackets(tmp_path: Path, header: str, unit: str | None) -> None:
    assert text(tmp_path, f"key,{header}\na,12\nb,15\nc,18\n").column(header).unit == unit


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (["12*", "15", "18", "20†", "21", "22", "23", "24"], "number"),
        (["2024-02-30", "2024-01-05", "2024-02-05", "2023-02-29"], "date"),
        ([">200", "<5", "300", "400", "500"], "number"),
    ],
)
def test_a_column_that_nearly_is_of_a_kind_says_so(tmp_path: Path, given: list[str], kind: str) -> None:
    table = column(tmp_path, given)
    assert table.column("x").kind is Kind.TEXT
    assert [note.reversal for note in table.report.assumptions if note.code == "nearly"] == [f"--as x={kind}"]
