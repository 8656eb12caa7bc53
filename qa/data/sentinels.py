"""Finds the numbers and dates that stand for a missing value, such as -999 or 9999-12-31."""

from __future__ import annotations

import datetime as dt

import polars as pl

from qa.data.extremes import largest, smallest
from qa.data.reversal import missing
from qa.data.table import Assumption
from qa.types import Kind

_LOW = (-1, -8, -9, -88, -98, -99, -888, -998, -999, -9999, -99999, -999999, -32768, -2147483648)
_HIGH = (99, 999, 9999, 99999, 999999, 9999999, 99999999, 999999999, 32767, 2147483647)
_DAYS = frozenset(
    {
        dt.date(1900, 1, 1),
        dt.date(1899, 12, 30),
        dt.date(1899, 12, 31),
        dt.date(1, 1, 1),
        dt.date(1970, 1, 1),
        dt.date(9999, 12, 31),
        dt.date(2099, 12, 31),
        dt.date(2999, 12, 31),
        dt.date(1111, 11, 11),
    }
)
_YEARS_AWAY = 365 * 15


def sentinel(values: pl.Series, kind: Kind, name: str) -> tuple[Assumption, ...]:
    """A note for each usual mark of a missing value that lies far from all other values of the column."""
    if kind.temporal:
        return _of_dates(values, name)
    if not kind.numeric or kind is Kind.DECIMAL:
        return ()
    low, high = smallest(values), largest(values)
    if low is None or low == high:
        return ()
    notes = []
    if low in _LOW:
        rest = values.filter(values != low)
        nearest, span = smallest(rest), largest(rest) - smallest(rest)
        count = len(values) - values.null_count() - (len(rest) - rest.null_count())
        lonely = (nearest >= 0 and (low != -1 or count > 1)) or (low <= -99 and nearest - low > 2 * max(span, 1))
        if lonely:
            notes.append(_note(name, f"{low:g}", count))
    if high in _HIGH:
        rest = values.filter(values != high)
        top, span = largest(rest), largest(rest) - smallest(rest)
        count = len(values) - values.null_count() - (len(rest) - rest.null_count())
        if high - top > 2 * max(span, 1) and (count > 1 or high >= 9999):
            notes.append(_note(name, f"{high:g}" if high < 1e6 else f"{int(high)}", count))
    return tuple(notes)


def _of_dates(values: pl.Series, name: str) -> tuple[Assumption, ...]:
    days = values.dt.date() if values.dtype != pl.Date else values
    notes = []
    for edge in {smallest(days), largest(days)} & _DAYS:
        rest = days.filter(days != edge).drop_nulls()
        if len(rest) == 0:
            continue
        gap = min(abs((smallest(rest) - edge).days), abs((largest(rest) - edge).days))
        if gap > _YEARS_AWAY:
            notes.append(_note(name, edge.isoformat(), len(days.drop_nulls()) - len(rest)))
    return tuple(notes)


def _note(name: str, shown: str, count: int) -> Assumption:
    return Assumption(
        code="sentinel",
        column=name,
        damage=3,
        reversal=missing(name, shown),
        message=f"{shown} stands in {count:,} cells of {name!r}, far from all others: a usual mark for a missing value. It was kept as a value.",
    )
