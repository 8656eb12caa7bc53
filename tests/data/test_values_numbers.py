"""Columns of numbers in the ways people write them are read as numbers, and every supposition is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.read import ReadOptions
from qa.types import Kind, Role
from tests.data.loading import cells, column, notes, said, text

STYLES = [
    (
        "decimal commas show that a lone point groups thousands",
        ["1.234,56", "987,00", "-45,50", "1.250"],
        [1234.56, 987.0, -45.5, 1250.0],
    ),
    ("decimal points show that a lone comma groups thousands", ["1,234.56", "3.5", "1,250"], [1234.56, 3.5, 1250.0]),
    ("a blank groups thousands", ["1 234,5", "12 000,25", "7,75"], [1234.5, 12000.25, 7.75]),
    ("an apostrophe groups thousands", ["1'234.50", "12'000.75", "3.10"], [1234.5, 12000.75, 3.1]),
    ("lakh and crore groups", ["12,34,567.50", "1,23,456.25", "99.5"], [1234567.5, 123456.25, 99.5]),
    ("narrow and fixed blanks group", ["1\u202f234", "2\u00a0500", "17"], [1234, 2500, 17]),
    ("wide digits and marks", ["１２，３４５", "９８７．５", "３"], [12345.0, 987.5, 3.0]),
    ("Arabic-Indic digits", ["١٢٣", "٤٥", "٧"], [123, 45, 7]),
    ("minus signs of every make", ["−450", "–3", "-2", "7"], [-450, -3, -2, 7]),
    (
        "parentheses and trailing minus are negative",
        ["(234.00)", "12.50-", "-1.25", "8.00"],
        [-234.0, -12.5, -1.25, 8.0],
    ),
    ("powers of ten", ["1e5", "2.5E-3", "3 x 10^4"], [100000.0, 0.0025, 30000.0]),
    ("a late decimal makes the column decimal", ["1"] * 200 + ["2.5"], [1.0] * 200 + [2.5]),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in STYLES], ids=[row[0] for row in STYLES])
def test_number_styles(tmp_path: Path, given: list[str], expected: list[float]) -> None:
    table = column(tmp_path, given)
    assert cells(table) == expected
    assert table.column("x").kind.numeric


UNITS = [
    (
        "dollars with accounting negatives",
        ["$1,234.50", "($234.00)", "$ 2,000", "-$75.25"],
        [1234.5, -234.0, 2000.0, -75.25],
        Role.CURRENCY,
        "USD",
    ),
    ("euros behind the number", ["1.234,50 €", "20,00 €", "3,75€"], [1234.5, 20.0, 3.75], Role.CURRENCY, "EUR"),
    ("a currency code before", ["CHF 1'200.50", "CHF 5.25", "CHF 7.-"], [1200.5, 5.25, 7.0], Role.CURRENCY, "CHF"),
    ("millions and thousands of dollars", ["$1.2M", "$300k", "$2.5bn"], [1.2e6, 3e5, 2.5e9], Role.CURRENCY, "USD"),
    ("percent keeps its scale", ["45%", "-3.5%", "100%"], [45.0, -3.5, 100.0], Role.PERCENT, "percent"),
    ("one unit", ["12 kg", "1.5kg", "3 kg"], [12.0, 1.5, 3.0], None, "kg"),
    ("units of one measure are converted to the usual one", ["12 kg", "800 g", "1.5kg"], [12.0, 0.8, 1.5], None, "kg"),
    ("degrees are converted with their offset", ["20 °C", "68 °F", "21 °C"], [20.0, 20.0, 21.0], None, "°C"),
    ("years behind an age", ["57 yrs", "55 years", "21y", "40"], [57, 55, 21, 40], None, "years"),
    ("minutes and hours", ["45 min", "1 h", "30 min"], [45.0, 60.0, 30.0], None, "min"),
]


@pytest.mark.parametrize(
    ("given", "expected", "role", "unit"), [row[1:] for row in UNITS], ids=[row[0] for row in UNITS]
)
def test_units_and_currencies(
    tmp_path: Path, given: list[str], expected: list[float], role: Role | None, unit: str
) -> None:
    table = column(tmp_path, given)
    assert cells(table) == pytest.approx(expected)
    assert (table.column("x").role, table.column("x").unit) == (role, unit)


NEVER_MIXED = [
    ("two currencies", ["$5", "€7", "$9", "€1"]),
    ("two measures", ["5 kg", "3 m", "7 kg", "2 m"]),
]


@pytest.mark.parametrize("given", [row[1] for row in NEVER_MIXED], ids=[row[0] for row in NEVER_MIXED])
def test_amounts_that_cannot_be_added_stay_text_and_say_so(tmp_path: Path, given: list[str]) -> None:
    table = column(tmp_path, given)
    assert table.column("x").kind is Kind.TEXT
    assert "rival_units" in notes(table)


NO_NUMBERS = [
    ("routes", ["Route 66", "A5", "12A", "B7"]),
    ("versions", ["1.2.3", "1.10.0", "2.0.1"]),
    ("ordinals", ["1st", "2nd", "3rd"]),
    ("days of a month", ["9 June", "10 June", "11 June"]),
    ("ranges", ["10-12", "5-7", "1-3"]),
    ("codes that begin like a currency", ["DM101", "DM102", "RS5"]),
]


@pytest.mark.parametrize("given", [row[1] for row in NO_NUMBERS], ids=[row[0] for row in NO_NUMBERS])
def test_texts_with_digits_stay_text(tmp_path: Path, given: list[str]) -> None:
    assert column(tmp_path, given).column("x").kind is Kind.TEXT


def test_a_lone_point_follows_the_rest_of_the_table(tmp_path: Path) -> None:
    table = text(tmp_path, "a;b\n1,5;1.250\n2,25;3.500\n")
    assert cells(table, "b") == [1250, 3500]
    assert "decimal comma" in said(table, "decimal_mark") or "1.25" in said(table, "decimal_mark")


def test_a_lone_point_without_evidence_is_told_and_can_be_reversed(tmp_path: Path) -> None:
    given = ["1.250", "3.142", "12.125"]
    assert cells(column(tmp_path, given)) == [1.25, 3.142, 12.125]
    note = next(n for n in column(tmp_path, given).report.assumptions if n.code == "decimal_mark")
    assert note.reversal == "--decimal ','"
    assert cells(column(tmp_path, given, options=ReadOptions(decimal=","))) == [1250, 3142, 12125]


def test_decimal_points_and_commas_in_one_column_are_each_read_and_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["1,234.50", "1.234,50", "5,5", "6.5"])
    assert cells(table) == [1234.5, 1234.5, 5.5, 6.5]
    assert "mixed_decimals" in notes(table)


def test_a_remark_among_numbers_is_missing_and_shown_with_its_row(tmp_path: Path) -> None:
    table = column(tmp_path, ["1", "2", "#REF!", "4", "about 45", "N/A", ""])
    assert cells(table) == [1, 2, None, 4, 45, None, None]
    [unreadable] = table.report.unreadable
    assert (unreadable.count, unreadable.examples) == (1, ((4, "#REF!"),))
    assert table.report.columns[1].null_words == {"N/A": 1}
    assert table.report.columns[1].missing == 3
    assert {"about_numbers", "unreadable", "null_words"} <= notes(table)


def test_a_few_percent_signs_do_not_make_a_column_percent(tmp_path: Path) -> None:
    table = column(tmp_path, [str(number) for number in range(2, 30)] + ["5%"])
    assert table.column("x").role is None
    assert cells(table)[-1] is None


def test_numbers_without_a_unit_beside_numbers_with_one_are_told(tmp_path: Path) -> None:
    assert "2 of 4" in said(column(tmp_path, ["$5", "6", "$7", "8"]), "unit_assumed")


def test_sentinels_are_kept_told_and_can_be_made_missing(tmp_path: Path) -> None:
    given = ["12", "15", "-999", "14", "-999"]
    table = column(tmp_path, given)
    assert cells(table) == [12, 15, -999, 14, -999]
    note = next(n for n in table.report.assumptions if n.code == "sentinel")
    assert (note.damage, note.reversal) == (3, "--missing x=-999")
    assert cells(column(tmp_path, given, options=ReadOptions(missing={"x": ("-999",)}))) == [12, 15, None, 14, None]


def test_not_a_number_and_infinity_are_missing_and_counted(tmp_path: Path) -> None:
    table = column(tmp_path, ["10", "NaN", "20", "inf", "-inf"])
    assert cells(table) == [10, None, 20, None, None]
    assert sum(table.report.columns[1].null_words.values()) == 3


def test_whole_numbers_past_double_precision_keep_their_digits(tmp_path: Path) -> None:
    table = column(tmp_path, ["9007199254740993", "12", "5"], header="n")
    assert cells(table, "n") == [9007199254740993, 12, 5]
    assert (table.column("n").low, table.column("n").high) == (5, 9007199254740993)


def test_letters_for_thousands_and_millions_are_multiplied_out_and_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["1.2M", "300k", "2B"])
    assert cells(table) == [1.2e6, 3e5, 2e9]
    assert "'1.2M' was read as 1,200,000" in said(table, "magnitudes")


def test_one_letter_behind_all_numbers_is_their_unit_not_a_factor(tmp_path: Path) -> None:
    table = column(tmp_path, ["32B", "34B", "36B"])
    assert (cells(table), table.column("x").unit) == ([32, 34, 36], "B")
