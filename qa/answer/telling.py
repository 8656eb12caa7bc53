"""Sentences about groups, rankings, series, records and lists; every number comes from the result."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.conditions import where
from qa.answer.formats import PLAIN, Style, calendar_unit, grain_of, joined, number, percent, plural, show, words
from qa.answer.shape import Measure, Shape
from qa.types import Kind, Role

NAMED = 5
"""How many rows a sentence names one by one."""


@dataclass(frozen=True)
class Result:
    """A result with what is needed to talk about it."""

    shape: Shape
    columns: Mapping[str, AnswerColumn]
    table: pl.DataFrame
    total_rows: int
    rows_in: int | None = None
    style: Style = PLAIN

    @property
    def complete(self) -> bool:
        """Every row of the result is in the table."""
        return self.table.height == self.total_rows

    def say(self, name: str, value: Any) -> str:
        return show(value, self.columns.get(name), self.style, self.grain(name))

    def grain(self, name: str) -> str | None:
        """The calendar unit a key's dates are said in."""
        known = self.shape.grain(name) or calendar_unit(self.columns.get(name))
        is_key = known is None and name in self.shape.keys and name in self.table.columns
        return grain_of(self.table[name]) if is_key else known

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys that tell the rows apart: one that is the same everywhere is not worth saying."""
        several = tuple(key for key in self.shape.keys if self.table.height > 1 and self.table[key].n_unique() > 1)
        return several or self.shape.keys

    def label(self, row: int) -> str:
        """What the row is, from its keys: `Sun`, `pclass 1`, `smoker true`, `(no day)`."""
        return ", ".join(self.key_words(key, self.table[key][row]) for key in self.keys)

    def key_words(self, key: str, value: Any) -> str:
        if value is None:
            return f"(no {words(key)})"
        said = self.say(key, value)
        column = self.columns[key]
        bare_number = column.kind.numeric and column.role not in (Role.YEAR,)
        return f"{words(key)} {said}" if bare_number or column.kind is Kind.BOOLEAN else said

    def values(self, measure: Measure) -> list[Any]:
        return self.table[measure.name].to_list()

    def gap(self, name: str, low: Any, high: Any) -> str:
        """How far apart two values are; shares differ by percentage points."""
        column = self.columns[name]
        apart = exact(high) - exact(low)
        if column.role is Role.PERCENT and column.unit in ("fraction", "percent"):
            points = apart * 100 if column.unit == "fraction" else apart
            return f"{number(points, self.style)} percentage points"
        return show(apart, column, self.style)


def exact(value: Any) -> Any:
    """A double as the decimal that it is written as, so that differences are what a reader would compute."""
    return decimal.Decimal(repr(value)) if isinstance(value, float) else value


def the(phrase: str) -> str:
    """`the average tip`; a formula's text stands without an article."""
    return f"the {phrase}" if phrase[:1].isalpha() and not set(phrase) & set("()*/+=<>") else phrase


def opened(clause: str, sentence: str) -> str:
    """The sentence after its condition, with one capital letter at the start."""
    return clause + sentence if clause else sentence[:1].upper() + sentence[1:] if _plain_start(sentence) else sentence


def _plain_start(sentence: str) -> bool:
    return sentence.startswith(("the ", "each ", "no ", "none "))


def extremes(measure: Measure) -> tuple[str, str]:
    """The words for most and least."""
    counted = measure.counts or measure.phrase.startswith(("number of", "maximum", "minimum", "total"))
    return ("largest", "smallest") if counted else ("highest", "lowest")


def _superlative(measure: Measure, descending: bool) -> str:
    most, least = extremes(measure)
    return most if descending else least


# --- one row ---------------------------------------------------------------------------------------------------------


def single(result: Result) -> tuple[str, ...]:
    """One cell."""
    name = result.table.columns[0]
    value = result.table[name][0]
    measure = result.shape.measure(name)
    clause = where(result.shape.conditions)
    if result.shape.rank and result.shape.limit == 1 and measure is None:
        ranked, descending = among_groups(result.shape.rank[0]), result.shape.rank[1]
        who = result.key_words(name, value) if name in result.shape.keys else result.say(name, value)
        return (opened(clause, f"{who} has the {_superlative(ranked, descending)} {ranked.phrase}."),)
    phrase = measure.phrase if measure else words(name)
    if value is None:
        reason = "there is no value to take it from" if measure and measure.aggregated else "the cell is empty"
        return (opened(clause, f"{the(phrase)} is missing: {reason}."),)
    said = result.say(name, value)
    nothing = measure is not None and measure.counts and value == 0 and result.shape.conditions and result.rows_in
    reason = f": none of {plural(result.rows_in or 0, 'row', style=result.style)} match" if nothing else ""
    return (opened(clause, f"{the(phrase)} is {said}{reason}."),)


def record(result: Result) -> tuple[str, ...]:
    """One row of several cells."""
    clause = where(result.shape.conditions)
    shape = result.shape
    if shape.rank and shape.limit == 1 and shape.keys:
        ranked, descending = among_groups(shape.rank[0]), shape.rank[1]
        rest = [name for name in result.table.columns if name not in shape.keys and name != ranked.name]
        head = f"{result.label(0)} has the {_superlative(ranked, descending)} {ranked.phrase}"
        value = f": {result.say(ranked.name, result.table[ranked.name][0])}" if ranked.name in result.columns else ""
        extra = f" ({', '.join(_pair(result, name) for name in rest[:4])})" if rest else ""
        return (opened(clause, f"{head}{value}{extra}."),)
    names = [name for name in result.table.columns if name not in shape.keys]
    if len(names) > 8:
        return (opened(clause, f"one row with {len(result.table.columns)} columns."),)
    if shape.keys:
        pairs = ", ".join(_pair(result, name) for name in names)
        return (opened(clause, f"{result.label(0)}: {pairs}." if pairs else f"{result.label(0)}."),)
    told = [f"{the(_phrase(result, name))} is {result.say(name, result.table[name][0])}" for name in names]
    return (opened(clause, f"{joined(told)}."),)


def _phrase(result: Result, name: str) -> str:
    measure = result.shape.measure(name)
    return measure.phrase if measure else words(name)


def _pair(result: Result, name: str) -> str:
    return f"{_phrase(result, name)} {result.say(name, result.table[name][0])}"


# --- many rows -------------------------------------------------------------------------------------------------------


def groups(result: Result) -> tuple[str, ...]:
    """Rows with keys and measures: a ranking when the plan ranks them, else who leads and how far the values spread."""
    shape = result.shape
    first = shape.rank[0].name if shape.rank and shape.rank[0].name in result.columns else None
    measures = sorted(shape.measures, key=lambda measure: measure.name != first)[:2]
    if shape.rank and first is None and shape.limit:
        return _hidden_rank(result)
    told: list[str] = []
    for measure in measures:
        descending = shape.rank[1] if shape.rank and measure.name == first else True
        told += _series(result, measure) if _is_series(result) else _leaders(result, measure, descending)
    clause = where(shape.conditions)
    return (opened(clause, told[0]), *(opened("", sentence) for sentence in told[1:])) if told else listing(result)


def _hidden_rank(result: Result) -> tuple[str, ...]:
    assert result.shape.rank is not None
    ranked, descending = among_groups(result.shape.rank[0]), result.shape.rank[1]
    names = [result.label(row) for row in range(min(result.table.height, 10))]
    tie = result.shape.limit == 1
    verb = "tie for" if tie else "have" if len(names) > 1 else "has"
    rest = f" and {result.total_rows - len(names)} more" if result.total_rows > len(names) else ""
    order = "" if tie else ", in that order"
    listed = ", ".join(names) + rest if rest else joined(names)
    head = f"{listed} {verb} the {_superlative(ranked, descending)} {ranked.phrase}{order}."
    return (opened(where(result.shape.conditions), head),)


def _ranked(result: Result, measure: Measure, descending: bool) -> list[int]:
    """Row numbers with a value, best first; equal values in table order."""
    values = result.values(measure)
    known = [row for row, value in enumerate(values) if value is not None and value == value]
    return sorted(known, key=lambda row: values[row], reverse=descending)


def among_groups(measure: Measure) -> Measure:
    """The measure as it is called where groups are compared by it: the largest maximum, not the largest highest."""
    first, _, rest = measure.phrase.partition(" ")
    extreme = {"highest": "maximum", "lowest": "minimum"}.get(first)
    return replace(measure, phrase=f"{extreme} {rest}") if extreme and measure.aggregated else measure


def _leaders(result: Result, measure: Measure, descending: bool) -> list[str]:
    measure = among_groups(measure)
    values = result.values(measure)
    rows = _ranked(result, measure, descending)
    if not rows:
        return [f"no group has a value for {the(measure.phrase)}."]
    best, worst = values[rows[0]], values[rows[-1]]
    equal = [row for row in rows if values[row] == best]
    said = result.say(measure.name, best)
    word = _superlative(measure, descending)
    scope = "" if result.complete else f" among the first {plural(result.table.height, 'row', style=result.style)}"
    if len(equal) == len(rows) > 1 and result.complete and not result.shape.limit:
        head = f"each of {len(rows)} groups has the same {measure.phrase}: {said}"
        return [f"{head}.", *_unknown(result, measure, values)]
    if len(equal) > 1:
        who = joined([result.label(row) for row in equal[:NAMED]])
        who = (
            who
            if len(equal) <= NAMED
            else f"{', '.join(result.label(row) for row in equal[:NAMED])} and {len(equal) - NAMED} more"
        )
        told = [f"{who} tie for the {word} {measure.phrase}{scope}: {said}.", *_unknown(result, measure, values)]
        return [*told, *_total(result, measure)]
    who = result.label(rows[0])
    others = rows[1:]
    if len(rows) == 2 and not result.shape.limit:
        told = [_compared(result, measure, rows, values)]
    elif 0 < len(others) < NAMED or (result.shape.limit and others):
        then = [f"{result.label(row)} {result.say(measure.name, values[row])}" for row in others[: NAMED - 1]]
        more = f" ({len(rows)} in the table)" if len(others) >= NAMED else ""
        told = [f"{who} has the {word} {measure.phrase}{scope}: {said}, then {joined(then)}{more}."]
    elif others:
        other = _superlative(measure, not descending)
        ends = f"{who} has the {word} {measure.phrase}{scope}, {said}, and {result.label(rows[-1])} the {other}"
        told = [
            f"{ends}, {result.say(measure.name, worst)}, across {plural(result.total_rows, 'group', style=result.style)}."
        ]
    else:
        told = [f"{who}: {measure.phrase} {said}."]
    return [*told, *_unknown(result, measure, values), *_total(result, measure)]


def _compared(result: Result, measure: Measure, rows: Sequence[int], values: Sequence[Any]) -> str:
    first, second = sorted(rows, key=lambda row: values[row], reverse=True)
    high, low = values[first], values[second]
    word = "larger" if extremes(measure)[0] == "largest" else "higher"
    against = f"{result.say(measure.name, high)} against {result.say(measure.name, low)} for {result.label(second)}"
    return (
        f"{result.label(first)} has the {word} {measure.phrase}: {against}, "
        f"a difference of {result.gap(measure.name, low, high)}."
    )


def _unknown(result: Result, measure: Measure, values: Sequence[Any]) -> list[str]:
    """Groups without a value are named: missing is not zero."""
    rows = [row for row, value in enumerate(values) if value is None]
    if not rows:
        return []
    if len(rows) > 3:
        return [f"{plural(len(rows), 'group')} have no value for {the(measure.phrase)} (missing, not zero)."]
    verb = "has" if len(rows) == 1 else "have"
    return [
        f"{joined([result.label(row) for row in rows])} {verb} no value for {the(measure.phrase)} (missing, not zero)."
    ]


def _total(result: Result, measure: Measure) -> list[str]:
    """The sum over all groups, where it means something and every group is here."""
    if not measure.additive or not result.complete or result.shape.partial or result.table.height < 3:
        return []
    total = sum(value for value in result.values(measure) if value is not None)
    return [f"All {number(result.table.height, result.style)} groups together: {result.say(measure.name, total)}."]


# --- over time -------------------------------------------------------------------------------------------------------


def _is_series(result: Result) -> bool:
    shape = result.shape
    if len(result.keys) != 1 or not shape.grouped or shape.rank or shape.limit or result.table.height < 3:
        return False
    column = result.columns[result.keys[0]]
    return column.kind.temporal or column.role is Role.YEAR


def _series(result: Result, measure: Measure) -> list[str]:
    key = result.keys[0]
    times, values = result.table[key].to_list(), result.values(measure)
    rows = [row for row in range(len(times)) if times[row] is not None and values[row] is not None]
    rows.sort(key=lambda row: _moment(times[row]))
    if len(rows) < 2:
        return _leaders(result, measure, descending=True)
    first, last = rows[0], rows[-1]
    start, end = values[first], values[last]
    path = f"from {result.say(measure.name, start)} ({result.say(key, times[first])}) to {result.say(measure.name, end)} ({result.say(key, times[last])})"
    scope = "" if result.complete else f" in the first {plural(result.table.height, 'row', style=result.style)}"
    told = [f"{the(measure.phrase)} went {path}{scope}{_change(result, measure, start, end)}."]
    high, low = max(rows, key=lambda row: values[row]), min(rows, key=lambda row: values[row])
    if values[high] != values[low]:
        told.append(
            f"Highest {result.say(measure.name, values[high])} ({result.say(key, times[high])}), "
            f"lowest {result.say(measure.name, values[low])} ({result.say(key, times[low])})."
        )
    return [*told, *_unknown(result, measure, values)]


def _moment(value: Any) -> Any:
    return value if isinstance(value, (dt.date, dt.datetime)) else float(value)


def _change(result: Result, measure: Measure, start: Any, end: Any) -> str:
    if start == end:
        return ", unchanged between the two"
    way = "up" if end > start else "down"
    low, high = min(start, end), max(start, end)
    gap = result.gap(measure.name, low, high)
    share = result.columns[measure.name].role is Role.PERCENT
    relative = (
        ""
        if share or start <= 0 or end < 0
        else f" ({percent((exact(high) - exact(low)) / exact(start), result.style)})"
    )
    return f", {way} {gap}{relative}"


# --- lists -----------------------------------------------------------------------------------------------------------


def listing(result: Result) -> tuple[str, ...]:
    """Rows as they are."""
    clause = where(result.shape.conditions)
    count = plural(result.total_rows, "row", style=result.style)
    if len(result.table.columns) == 1 and result.complete and result.table.height <= 10:
        name = result.table.columns[0]
        items = [result.say(name, value) for value in result.table[name].to_list()]
        return (opened(clause, f"{plural(len(items), 'value')} of {words(name)}: {joined(items)}."),)
    of = f" of {number(result.rows_in, result.style)}" if result.rows_in and result.shape.conditions else ""
    return (opened(clause, f"there are {count}{of}." if clause else f"{count}{of}."),)


def nothing(result: Result) -> tuple[str, ...]:
    """No row at all."""
    clause = where(result.shape.conditions)
    known = f"none of {plural(result.rows_in, 'row', style=result.style)} match" if result.rows_in else "no rows match"
    return (opened(clause, f"{known}."),)
