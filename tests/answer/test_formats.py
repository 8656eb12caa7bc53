"""Values read as people write them, and no digit that matters is lost."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import formats
from qa.types import Role

from .results import DOLLARS, FRACTION, column

PERCENT = {"role": Role.PERCENT, "unit": "percent"}
EURO = {"role": Role.CURRENCY, "unit": "EUR"}
FRANC = {"role": Role.CURRENCY, "unit": "CHF"}
YEN = {"role": Role.CURRENCY, "unit": "JPY"}

READS = [
    (None, {}, "missing"),
    (0, {}, "0"),
    (0.0, {}, "0"),
    (-0.0, {}, "0"),
    (2.998279, {}, "2.998"),
    (3.0, {}, "3"),
    (2.99999, {}, "3.000"),
    (1234567.891, {}, "1,234,567.89"),
    (-1153, {}, "-1,153"),
    (2**100, {}, "1,267,650,600,228,229,401,496,703,205,376"),
    (Decimal("12345678901234567890.10"), {}, "1.23e+19"),
    (0.0123456, {}, "0.01235"),
    (1.5e-7, {}, "1.5e-07"),
    (float("nan"), {}, "missing"),
    (float("inf"), {}, "missing"),
    (0.5, FRACTION, "50%"),
    (2 / 3, FRACTION, "66.7%"),
    (0.0004, FRACTION, "0.04%"),
    (-0.125, FRACTION, "-12.5%"),
    (45, PERCENT, "45%"),
    (0.5, {"role": Role.PERCENT}, "0.5"),
    (12.5, DOLLARS, "$12.50"),
    (5.0, DOLLARS, "$5.00"),
    (-75.25, DOLLARS, "-$75.25"),
    (325000.0, DOLLARS, "$325,000"),
    (1.005, DOLLARS, "$1.01"),
    (1200.5, EURO, "€1,200.50"),
    (1200.5, FRANC, "1,200.50 CHF"),
    (1200.4, YEN, "¥1,200"),
    (2019, {"role": Role.YEAR}, "2019"),
    (1002003, {"role": Role.ID}, "1002003"),
    (3.5, {"unit": "kg"}, "3.5 kg"),
    (True, {}, "true"),
    (dt.date(2024, 2, 29), {}, "2024-02-29"),
    (dt.datetime(2024, 2, 29, 8, 30), {}, "2024-02-29 08:30:00"),
    (dt.timedelta(hours=27), {}, "1 d 3 h"),
    (dt.timedelta(seconds=-90), {}, "-1 min 30 s"),
    ("", {}, "(blank)"),
    ("two\nlines\u202e and\tmore", {}, "two lines and more"),
    (["a", None, "b"], {}, "a, missing, b"),
]


@pytest.mark.parametrize(("value", "facets", "text"), READS)
def test_a_value_reads_by_kind_and_role(value: object, facets: dict[str, object], text: str) -> None:
    assert formats.show(value, column("a", **facets)) == text


@pytest.mark.parametrize(
    ("grain", "text"), [("year", "2024"), ("quarter", "2024-Q1"), ("month", "2024-03"), (None, "2024-03-01")]
)
def test_a_truncated_date_shows_only_what_it_holds(grain: str | None, text: str) -> None:
    assert formats.show(dt.date(2024, 3, 1), grain=grain) == text


@pytest.mark.parametrize(
    ("style", "text"),
    [("1,234.56", "1,234.50"), ("1.234,56", "1.234,50"), ("1234.56", "1234.50"), ("1'234.56", "1'234.50")],
)
def test_punctuation_follows_the_reader(style: str, text: str) -> None:
    assert formats.money(1234.5, None, formats.STYLES[style]) == text.replace("50", "5")
    assert formats.money(1234.5, "USD", formats.STYLES[style]) == f"${text}"


@given(st.integers(-(10**30), 10**30))
def test_an_integer_keeps_every_digit(value: int) -> None:
    assert int(formats.number(value).replace(",", "")) == value


@given(st.floats(-1e300, 1e300))
def test_a_number_is_never_further_off_than_its_last_place(value: float) -> None:
    said = float(formats.number(value).replace(",", ""))
    assert said == pytest.approx(value, rel=6e-3, abs=0)


@given(st.text())
def test_text_is_one_short_line(text: str) -> None:
    line = formats.plain(text)
    assert len(line) <= formats.TEXT_WIDTH
    assert line == line.strip()
    assert not set(line) & set("\r\n\t\u202e\u2066")
