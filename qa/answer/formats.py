"""Values as people read them: numbers, money, percent, dates and text, by the column's role."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.types import Role

MISSING = "missing"
"""What stands for a missing value in sentences and labels. Never 0, never blank."""

TEXT_WIDTH = 80
"""Characters of a cell that a sentence or a label shows."""


@dataclass(frozen=True)
class Style:
    """How numbers are punctuated; a setting of the person, never of the data."""

    thousands: str = ","
    decimal: str = "."


PLAIN = Style()

STYLES = {
    "1,234.56": PLAIN,
    "1.234,56": Style(".", ","),
    "1 234,56": Style("\u202f", ","),
    "1'234.56": Style("'", "."),
    "1234.56": Style("", "."),
}

SYMBOLS = {
    "USD": "$",
    "EUR": "€",
    "GBP": "£",
    "JPY": "¥",
    "INR": "₹",
    "KRW": "₩",
    "BRL": "R$",
    "AUD": "A$",
    "CAD": "C$",
    "NZD": "NZ$",
    "HKD": "HK$",
    "SGD": "S$",
    "MXN": "MX$",
    "CNY": "CN¥",
    "RUB": "₽",
    "TRY": "₺",
    "UAH": "₴",
    "VND": "₫",
    "ILS": "₪",
    "NGN": "₦",
    "PHP": "₱",
    "THB": "฿",
}

WHOLE_UNIT_CURRENCIES = frozenset({"JPY", "KRW", "VND", "CLP", "ISK", "HUF", "IDR"})

_UNSEEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\s]+")


def plain(text: str, width: int | None = TEXT_WIDTH) -> str:
    """The text on one line: controls, direction marks and runs of space become one space; cut with … at `width`."""
    line = _UNSEEN.sub(" ", text).strip()
    return line if width is None or len(line) <= width else line[: width - 1].rstrip() + "…"


def words(name: str, width: int | None = 60) -> str:
    """A column name as words: `total_sales` reads "total sales". A formula's text stays as it is."""
    line = plain(name, width)
    is_name = re.fullmatch(r"[\w\s%'’-]+", line) and line.strip("_ ")
    return re.sub(r"(?<=\w)_+(?=\w)", " ", line).strip("_ ") if is_name else line


def show(value: Any, column: AnswerColumn | None = None, style: Style = PLAIN, grain: str | None = None) -> str:
    """One value as plain text, by kind and role. None reads "missing"; nothing is escaped."""
    match value:
        case None:
            return MISSING
        case bool():
            return "true" if value else "false"
        case int() | float() | decimal.Decimal():
            return _number(value, column, style)
        case dt.datetime():
            return _moment(value, grain or calendar_unit(column))
        case dt.date():
            return _day(value, grain or calendar_unit(column))
        case dt.time():
            return value.isoformat()
        case dt.timedelta():
            return duration(value.total_seconds())
        case str():
            return plain(value) if value.strip() else "(blank)"
        case pl.Series() | list() | tuple():
            return _list([show(item, style=style) for item in value])
        case _:
            return plain(str(value))


def _list(items: Sequence[str], most: int = 8) -> str:
    if not items:
        return "(empty list)"
    shown = ", ".join(items[:most])
    return plain(shown + (f", … ({len(items)} in all)" if len(items) > most else ""), 160)


def _number(value: Any, column: AnswerColumn | None, style: Style) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return MISSING
    if isinstance(value, decimal.Decimal) and not value.is_finite():
        return MISSING
    role, unit = (column.role, column.unit) if column else (None, None)
    match role:
        case Role.ID | Role.YEAR:
            return str(int(value)) if value == int(value) else number(value, style)
        case Role.CURRENCY:
            return money(value, unit, style)
        case Role.PERCENT if unit == "fraction":
            return percent(value, style)
        case Role.PERCENT if unit == "percent":
            return f"{_digits(value, _percent_places(float(value)), style)}%"
        case Role.PERCENT:
            return number(value, style)
        case _:
            text = number(value, style)
            return f"{text} {said}" if (said := unit_of(column)) else text


def number(value: Any, style: Style = PLAIN) -> str:
    """A number with thousands marks and the places it needs: 1,234.57, 0.0123, 1.5e-07. Integers are never cut."""
    if isinstance(value, int):
        return _group(str(value), style)
    size = abs(float(value))
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e15:
        return f"{float(value):.3g}".replace(".", style.decimal)
    places = max(2, 3 - math.floor(math.log10(size)))
    return _digits(value, places, style)


def money(value: Any, code: str | None, style: Style = PLAIN) -> str:
    """An amount with its currency's sign or code: $12.50, -€3, 1,200 CHF. Whole amounts of 1,000 or more drop the cents."""
    if not code:
        return number(value, style)
    if not isinstance(value, int) and abs(value) >= 1e15:
        return f"{number(value, style)} {plain(code, 10)}"
    whole = value == int(value) and (isinstance(value, int) or abs(value) >= 1000)
    places = 0 if whole or code in WHOLE_UNIT_CURRENCIES else 2
    if 0 < abs(value) < 0.005 and places == 2:
        places = 4
    digits = _digits(abs(value), places, style, strip=False)
    sign = "-" if value < 0 and digits.strip("0.,") else ""
    symbol = SYMBOLS.get(code.upper())
    if symbol is None and len(code) == 1:
        symbol = code
    return f"{sign}{symbol}{digits}" if symbol else f"{sign}{digits} {plain(code, 10)}"


def percent(fraction: Any, style: Style = PLAIN) -> str:
    """A fraction as percent: 0.6667 reads 66.7%."""
    hundredfold = _exact(fraction) * 100
    return f"{_digits(hundredfold, _percent_places(float(hundredfold)), style)}%"


def _percent_places(value: float) -> int:
    size = abs(value)
    return 1 if size >= 10 or size == 0 else 2 if size >= 0.1 else min(8, 1 - math.floor(math.log10(size)))


def _digits(value: Any, places: int, style: Style, *, strip: bool = True) -> str:
    """Rounded half away from zero on the shortest decimal form, as the language rounds."""
    exact = _exact(value)
    with decimal.localcontext(prec=400):
        rounded = exact.quantize(decimal.Decimal(1).scaleb(-places), rounding=decimal.ROUND_HALF_UP)
    text = f"{rounded:f}"
    if strip and "." in text and rounded == exact:
        text = text.rstrip("0").rstrip(".")
    return _group("0" if text in ("-0", "") else text, style)


def _exact(value: Any) -> decimal.Decimal:
    """A double counts as what its first 15 digits say: 0.1 + 0.2 is 0.3."""
    return decimal.Decimal(f"{value:.15g}" if isinstance(value, float) else str(value))


def _group(text: str, style: Style) -> str:
    whole, _, part = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    grouped = re.sub(r"(?<=\d)(?=(\d{3})+$)", style.thousands, digits)
    return f"{sign}{grouped}{style.decimal + part if part else ''}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units: 2 d 3 h, 5 min 4 s, 0.25 s."""
    sign, left = ("-", -seconds) if seconds < 0 else ("", seconds)
    if left < 60:
        return f"{sign}{number(left)} s"
    parts: list[tuple[int, str]] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or parts:
            parts.append((int(count), unit))
    return sign + " ".join(f"{count:,} {unit}" for count, unit in parts[:2] if count)


GRAINS = ("year", "quarter", "month", "week", "day")

_NOT_SAID = frozenset({"fraction", "percent", "bin", *GRAINS})


def unit_of(column: AnswerColumn | None) -> str | None:
    """The unit to say after a number (`kg`); scales, bins and calendar units are said otherwise."""
    unit = column.unit if column else None
    return plain(unit, 20) if unit and unit not in _NOT_SAID else None


def calendar_unit(column: AnswerColumn | None) -> str | None:
    """The calendar unit that a column's dates were truncated to, if the plan says so."""
    return column.unit if column and column.kind.temporal and column.unit in GRAINS else None


def grain_of(values: pl.Series) -> str | None:
    """`month` where every date is the first of its month (two at least), so that nothing is lost by saying the month."""
    days = values.drop_nulls()
    is_first = days.len() > 1 and days.dtype == pl.Date and bool((days.dt.day() == 1).all())
    return "month" if is_first else None


def _day(value: dt.date, grain: str | None) -> str:
    match grain:
        case "year":
            return f"{value.year:04d}"
        case "quarter":
            return f"{value.year:04d}-Q{(value.month + 2) // 3}"
        case "month":
            return f"{value.year:04d}-{value.month:02d}"
        case _:
            return value.isoformat()


def _moment(value: dt.datetime, grain: str | None) -> str:
    if grain in GRAINS:
        return _day(value.date(), grain)
    text = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds" if value.microsecond else "seconds")
    return text if value.tzinfo is None else f"{text} {value.tzname() or ''}".rstrip()


def plural(count: int, one: str, many: str | None = None, style: Style = PLAIN) -> str:
    """A count with its noun: 1 row, 1,153 rows, none."""
    return f"{number(count, style)} {one if count == 1 else many or one + 's'}"


def joined(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""
