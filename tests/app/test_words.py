"""Labels, formats and names the page makes of data text."""

from __future__ import annotations

import html
from decimal import Decimal

import polars as pl
import pytest

from qa.answer.answer import AnswerColumn
from qa.types import Kind, Role
from qa.ui.columns import number_format
from qa.ui.datasets import shown_name
from qa.ui.words import cut, escape, plural

HOSTILE = [
    "$5 and $6",
    "**bold** _it_ ~~no~~",
    "<b>b</b><img src=x>",
    "[l](http://a.invalid)",
    "![i](http://a.invalid/i.png)",
    ":smile: :material/home: :red[x]",
    "`code` # head",
    "a -> b -- c >= d",
    "&#36; &amp;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_holds_no_markup_and_reads_the_same(text: str) -> None:
    escaped = escape(text)
    assert not set("`*_[]<>$~!#|:\\") & set(escaped.replace("&#", ""))
    assert html.unescape(escaped).replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["http://a.invalid", "HTTPS://a.invalid", "www.a.invalid", "me@a.invalid"])
def test_an_address_is_kept_apart_so_that_it_is_no_link(text: str) -> None:
    assert "\u2060" in escape(text)


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert cut("x" * 100, 10) == "x" * 9 + "…"
    assert cut("a\n  b") == "a b"


def test_one_is_not_plural() -> None:
    assert (plural(1, "column"), plural(1200, "column")) == ("1 column", "1,200 columns")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("sales.csv", "sales.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\sales.CSV", "sales.CSV"),
        ("a\x00b\u202e.csv", "ab.csv"),
        ("", "file"),
        ("/", "file"),
        ("x" * 300 + ".csv", "x" * 70 + "….csv"),
    ],
)
def test_an_uploaded_name_is_shown_without_its_path(given: str, shown: str) -> None:
    assert shown_name(given) == shown


FORMATS = [
    ("years are not grouped", Kind.INTEGER, Role.YEAR, None, [2013], "%d"),
    ("ids are not grouped", Kind.INTEGER, Role.ID, None, [10001], "%d"),
    ("counts have thousands marks", Kind.INTEGER, Role.COUNT, None, [12345], "%,d"),
    ("money has its sign and cents", Kind.NUMBER, Role.CURRENCY, "USD", [1234.5], "$%,.2f"),
    ("whole money has no cents", Kind.NUMBER, Role.CURRENCY, "EUR", [1200.0, None], "€%,.0f"),
    ("a currency without a sign shows its code", Kind.DECIMAL, Role.CURRENCY, "CHF", [Decimal("1.50")], "CHF %,.2f"),
    ("fractions are shown as percent", Kind.NUMBER, Role.PERCENT, "fraction", [0.25], "percent"),
    ("percent keeps its scale", Kind.NUMBER, Role.PERCENT, "percent", [12.5], "%.2f%%"),
    ("large numbers have two places", Kind.NUMBER, None, None, [12345.678], "%,.2f"),
    ("small numbers have four places", Kind.NUMBER, None, None, [0.0251], "%,.4f"),
    ("tiny numbers are powers of ten", Kind.NUMBER, None, None, [1e-9], "scientific"),
    ("a column of missing values has a format", Kind.NUMBER, None, None, [None], "%,d"),
]


@pytest.mark.parametrize(("name", "kind", "role", "unit", "values", "wanted"), FORMATS, ids=[row[0] for row in FORMATS])
def test_number_format(
    name: str, kind: Kind, role: Role | None, unit: str | None, values: list[object], wanted: str
) -> None:
    assert number_format(AnswerColumn(name="x", kind=kind, role=role, unit=unit), pl.Series("x", values)) == wanted
