"""Identifiers keep their digits, yes and no are found in every spelling, and missing words are told from values."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.read import ReadOptions
from qa.types import Kind, Role
from tests.data.loading import cells, column, notes, said, text

CODES = [
    ("leading zeros", "sku", ["00952", "02025", "10001"], Role.ID),
    ("a postal code without leading zeros", "zip", ["10001", "94105", "60601"], Role.GEO),
    ("card numbers", "card", ["4111111111111111", "5500005555555559", "4000056655665556"], Role.ID),
    ("numbers past 64 bits", "tx", ["12345678901234567890123", "99945678901234567890123", "1"], Role.ID),
    ("phone numbers", "contact", ["+447911123456", "+14155550123", "+4930123456"], Role.ID),
    ("padded beside bare", "customer_id", ["123", "00456", " 00789 "], Role.ID),
]


@pytest.mark.parametrize(("header", "given", "role"), [row[1:] for row in CODES], ids=[row[0] for row in CODES])
def test_codes_are_text_and_keep_every_digit(tmp_path: Path, header: str, given: list[str], role: Role) -> None:
    table = column(tmp_path, given, header=header)
    assert table.column(header).kind is Kind.TEXT
    assert table.column(header).role is role
    assert cells(table, header) == [cell.strip() for cell in given]


NUMBERS_AFTER_ALL = [
    ("decimals below one", ["0.5", "0.25", "0"], [0.5, 0.25, 0.0]),
    ("a zero among whole numbers", ["0", "10", "7"], [0, 10, 7]),
]


@pytest.mark.parametrize(
    ("given", "expected"), [row[1:] for row in NUMBERS_AFTER_ALL], ids=[row[0] for row in NUMBERS_AFTER_ALL]
)
def test_a_zero_is_no_padding(tmp_path: Path, given: list[str], expected: list[float]) -> None:
    assert cells(column(tmp_path, given)) == expected


BOOLEANS = [
    (
        "mixed spellings with a blank",
        ["Yes", "no", "Y", "N", "TRUE", "false", "1", "0", "", "yes ", "T"],
        [True, False, True, False, True, False, True, False, None, True, True],
    ),
    ("two words", ["yes", "no", "yes"], [True, False, True]),
    ("letters", ["t", "f", "t", "f"], [True, False, True, False]),
    ("German", ["ja", "nein", "ja"], [True, False, True]),
    ("ticks", ["✓", "✗", "✓"], [True, False, True]),
    ("with words for missing", ["yes", "no", "n/a", "unknown"], [True, False, None, None]),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in BOOLEANS], ids=[row[0] for row in BOOLEANS])
def test_yes_and_no(tmp_path: Path, given: list[str], expected: list[bool | None]) -> None:
    table = column(tmp_path, given)
    assert table.column("x").kind is Kind.BOOLEAN
    assert cells(table) == expected


def test_the_mapping_of_mixed_booleans_is_told(tmp_path: Path) -> None:
    message = said(column(tmp_path, ["Yes", "N", "1", "false"]), "boolean_spellings")
    assert "'Yes'" in message and "'false'" in message


NO_BOOLEANS = [
    ("zeros and ones are numbers", ["0", "1", "1"], Kind.INTEGER),
    ("compass points", ["N", "S", "E", "W"], Kind.TEXT),
    ("one letter only", ["Y", "Y", "Y"], Kind.TEXT),
    ("a third answer", ["yes", "no", "maybe"], Kind.TEXT),
]


@pytest.mark.parametrize(("given", "kind"), [row[1:] for row in NO_BOOLEANS], ids=[row[0] for row in NO_BOOLEANS])
def test_what_is_no_boolean(tmp_path: Path, given: list[str], kind: Kind) -> None:
    assert column(tmp_path, given).column("x").kind is kind


def test_na_is_a_country_among_country_codes_and_missing_among_words(tmp_path: Path) -> None:
    assert cells(column(tmp_path, ["NA", "ZA", "US", "", "CA"])) == ["NA", "ZA", "US", None, "CA"]
    assert cells(column(tmp_path, ["apple", "NA", "pear"])) == ["apple", None, "pear"]
    assert cells(column(tmp_path, ["1", "NA", "3"])) == [1, None, 3]


def test_words_that_mean_missing_are_counted_by_word(tmp_path: Path) -> None:
    table = column(tmp_path, ["a", "n/a", "NULL", "-", "NULL", "None"])
    assert table.report.columns[1].null_words == {"NULL": 2, "n/a": 1, "-": 1}
    assert cells(table)[-1] == "None"  # a category of that name; told apart from a blank


def test_spaces_around_texts_go_and_are_counted(tmp_path: Path) -> None:
    table = column(tmp_path, ["a", " a ", "b", "a"])
    assert cells(table) == ["a", "a", "b", "a"]
    assert "1 cells" in said(table, "spaces_trimmed")
    assert cells(column(tmp_path, ["a", " a ", "b", "a"], options=ReadOptions(as_kinds={"x": "verbatim"})))[1] == " a "


TOLD = [
    ("text", ["1", "2"], ["1", "2"], Kind.TEXT),
    ("id", ["1", "2"], ["1", "2"], Kind.TEXT),
    ("number", ["1", "2"], [1.0, 2.0], Kind.NUMBER),
    ("boolean", ["1", "0"], [True, False], Kind.BOOLEAN),
    ("integer", ["1", "2.5"], [1, None], Kind.INTEGER),
]


@pytest.mark.parametrize(("kind", "given", "expected", "found"), TOLD, ids=[row[0] for row in TOLD])
def test_a_kind_that_was_told_is_obeyed(
    tmp_path: Path, kind: str, given: list[str], expected: list[object], found: Kind
) -> None:
    table = column(tmp_path, given, options=ReadOptions(as_kinds={"X": kind}))
    assert cells(table) == expected
    assert table.column("x").kind is found


def test_a_format_that_was_told_is_obeyed(tmp_path: Path) -> None:
    table = column(tmp_path, ["2024|05|01"], options=ReadOptions(as_kinds={"x": "date:%Y|%d|%m"}))
    assert [str(day) for day in cells(table)] == ["2024-01-05"]


VARIANTS = [
    (
        "case and spaces",
        "country",
        ["South Sudan", "South Sudan ", "south sudan", "Chad", "CHAD"],
        ["South Sudan", "South Sudan", "South Sudan", "Chad", "Chad"],
    ),
    (
        "letters of gender",
        "gender",
        ["M", "Male", "f", "Female", "MALE", "F"],
        ["Male", "Male", "Female", "Female", "Male", "Female"],
    ),
    (
        "usual abbreviations",
        "dept",
        ["Eng", "Engineering", "Eng.", "HR", "Human Resources", "H.R."],
        ["Engineering"] * 3 + ["Human Resources"] * 3,
    ),
    (
        "sizes that all have a long form",
        "size",
        ["S", "Small", "M", "Medium", "L", "Large"],
        ["Small", "Small", "Medium", "Medium", "Large", "Large"],
    ),
]


@pytest.mark.parametrize(
    ("header", "given", "expected"), [row[1:] for row in VARIANTS], ids=[row[0] for row in VARIANTS]
)
def test_category_variants_that_are_certain_are_read_as_one(
    tmp_path: Path, header: str, given: list[str], expected: list[str]
) -> None:
    table = column(tmp_path, given, header=header)
    assert cells(table, header) == expected
    assert set(table.report.variants[header]) == {
        cell for cell, target in zip(given, expected, strict=True) if cell != target
    }
    as_they_are = column(tmp_path, given, header=header, options=ReadOptions(as_kinds={header: "text"}))
    assert cells(as_they_are, header) == [cell.strip() for cell in given]


KEPT_APART = [
    ("grades are no abbreviations", "grade", ["A", "B", "C", "Absent", "A", "B", "C", "Absent"]),
    (
        "Niger is not Nigeria",
        "country",
        ["Niger", "Nigeria", "Niger", "Nigeria", "Guinea", "Guinea-Bissau", "Guinea", "Guinea-Bissau"],
    ),
    (
        "a rival for an abbreviation",
        "team",
        ["E", "East", "Engineering", "W", "West", "E", "East", "Engineering", "W", "West"],
    ),
    ("numbered names", "store", ["Store 1", "Store 2", "Store 1", "Store 2"]),
    ("a whole word that begins another", "thing", ["Car", "Carpet", "Car", "Carpet"]),
]


@pytest.mark.parametrize(("header", "given"), [row[1:] for row in KEPT_APART], ids=[row[0] for row in KEPT_APART])
def test_categories_that_may_differ_are_kept_apart(tmp_path: Path, header: str, given: list[str]) -> None:
    assert cells(column(tmp_path, given, header=header), header) == given


def test_a_slip_of_the_pen_is_offered_not_applied(tmp_path: Path) -> None:
    given = ["Manchester"] * 10 + ["Manchestre", "London"] + ["London"] * 8
    table = column(tmp_path, given, header="city")
    assert cells(table, "city") == given
    assert table.report.offered["city"] == {"Manchestre": "Manchester"}
    assert table.variants("c1") == {"Manchestre": "Manchester"}


def test_names_that_hardly_repeat_are_never_merged(tmp_path: Path) -> None:
    given = ["john smith", "John Smith", "Ann Lee", "Bo Ek", "Cy Fox", "Di Hall"]
    assert cells(column(tmp_path, given, header="name"), "name") == given


ROLES = [
    ("year", ["1999", "2004", "2011"], Role.YEAR, None),
    ("order_id", ["501", "502", "509"], Role.ID, None),
    ("orderId", ["501", "502", "509"], Role.ID, None),
    ("discount_pct", ["12.5", "40", "7"], Role.PERCENT, "percent"),
    ("price_cut_share", ["0.2", "0.4", "0.7"], Role.PERCENT, "fraction"),
    ("churn_rate", ["0.2", "0.4", "0.7"], Role.RATE, None),
    ("closing_balance", ["100", "200", "150"], Role.BALANCE, None),
    ("price_usd", ["100", "200", "150"], Role.CURRENCY, "USD"),
    ("Sales [€]", ["100", "200", "150"], Role.CURRENCY, "EUR"),
    ("quantity", ["3", "9", "3"], Role.COUNT, None),
    ("cases", ["3", "4", "2", "5", "1"], None, None),
    ("amount", ["1", "2", "3", "4", "5"], None, None),
    ("hourly_rate", ["12.5", "40", "7"], None, None),
    ("accident", ["5", "4", "2"], None, None),
    ("city", ["Oslo", "Rome", "Lima"], Role.GEO, None),
]


@pytest.mark.parametrize(("header", "given", "role", "unit"), ROLES, ids=[row[0] for row in ROLES])
def test_roles_come_from_names_and_values_and_stay_blank_when_unsure(
    tmp_path: Path, header: str, given: list[str], role: Role | None, unit: str | None
) -> None:
    found = column(tmp_path, given, header=header).column(header)
    assert (found.role, found.unit) == (role, unit)


def test_a_list_of_tags_is_told_from_a_name_with_a_comma(tmp_path: Path) -> None:
    tags = column(tmp_path, ["new; eco", "eco", "sale; eco; bulky", "new; sale"], header="tags").column("tags")
    assert (tags.role, tags.unit) == (Role.TAG_LIST, ";")
    names = column(tmp_path, ["Abbott, Olu", "Chen, Tara", "Ueda, Yusuf", "Xu, Victor"], header="customer").column(
        "customer"
    )
    assert names.role is not Role.TAG_LIST


def test_headers_become_names_that_are_unique_ignoring_case(tmp_path: Path) -> None:
    table = text(tmp_path, 'a,a_1,a,Amount,amount,,"line\nbreak"\n1,2,3,10,100,x,7\n4,5,6,20,200,y,8\n')
    assert [c.name for c in table.columns] == ["a", "a_1", "a (2)", "Amount", "amount (2)", "column 6", "line break"]
    assert "column 3 ('a') is called 'a (2)'" in said(table, "renamed")
    assert [c.header for c in table.report.columns][2] == "a"


def test_columns_know_their_origin_and_whether_they_miss_or_repeat_values(tmp_path: Path) -> None:
    table = text(tmp_path, "k,v\n1,5\n2,\n3,5\n", name="my sales 2024.csv")
    key, value = table.columns
    assert table.name == "my_sales_2024"
    assert (key.id, key.owner, key.origin) == ("c0", "my_sales_2024", ("my_sales_2024", "c0"))
    assert (key.unique, key.nullable, value.unique, value.nullable) == (True, False, False, True)


def test_assumptions_come_in_order_of_the_damage_they_could_do(tmp_path: Path) -> None:
    table = text(tmp_path, "d,v,s\n03/04/2024,$5, a\n05/06/2024,6,b\n04/04/2024,n/a,b\n")
    damages = [note.damage for note in table.report.assumptions]
    assert damages == sorted(damages, reverse=True)
    assert {"ambiguous_day_order", "unit_assumed", "null_words"} <= notes(table)
