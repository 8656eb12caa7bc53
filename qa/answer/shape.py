"""What a result is about, read off its plan: its keys, its measures, its order and its conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from qa.answer.answer import AnswerColumn
from qa.answer.formats import words
from qa.plan.formula import split_as
from qa.types import Kind, Role

Plan = Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """A column that says how much. `phrase` names it in words; `additive` says that its values may be summed;
    `of` is the column a simple aggregate is taken of."""

    name: str
    phrase: str
    additive: bool = False
    counts: bool = False
    aggregated: bool = False
    of: str | None = None


@dataclass(frozen=True)
class Shape:
    """How to read a result.

    `keys` say what a row is (groups, a date, a name), `measures` how much. `grouped` is true when the keys come
    from a summarize, so that each combination stands once. `order` are the shown columns the plan sorted by,
    as (name, descending); `rank` the measure the rows are ranked by (it need not be shown), highest first when True;
    `limit` is the n of the last limit; `partial` says that
    groups were cut off or filtered away, so that what is left is not the whole; `conditions` are the row filters in force;
    `special` is the analysis op whose table has its own sentence (correlate, test, fit, describe).
    """

    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    grouped: bool = False
    order: tuple[tuple[str, bool], ...] = ()
    rank: tuple[Measure, bool] | None = None
    limit: int | None = None
    partial: bool = False
    from_end: bool = False
    conditions: tuple[str, ...] = ()
    special: str | None = None
    grains: Mapping[str, str] = field(default_factory=dict)

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)

    @property
    def measure_names(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.measures)

    def grain(self, name: str | None) -> str | None:
        """The calendar unit a date column was truncated to, if it was."""
        return self.grains.get(name or "")


SPECIAL = frozenset({"correlate", "test", "fit", "describe"})

ADDITIVE = frozenset({"sum", "count", "count_missing"})

AGGREGATES = {
    "sum": "total {}",
    "mean": "average {}",
    "avg": "average {}",
    "median": "median {}",
    "min": "lowest {}",
    "max": "highest {}",
    "std": "standard deviation of {}",
    "stddev": "standard deviation of {}",
    "var": "variance of {}",
    "mode": "most common {}",
    "count": "number of {} values",
    "count_missing": "number of missing {} values",
    "count_distinct": "number of distinct {} values",
    "nunique": "number of distinct {} values",
    "iqr": "interquartile range of {}",
    "skew": "skewness of {}",
    "kurtosis": "kurtosis of {}",
}

_CALL = re.compile(r"^(?P<name>\w+)\((?P<inside>.*)\)$", re.DOTALL)
_COLUMN = re.compile(r"^(?:\w+|`[^`]+`)(?:\.(?:\w+|`[^`]+`))?$")
_TRUNC = re.compile(r"^trunc\(.*,\s*['\"](year|quarter|month|week|day)s?['\"]\s*\)$", re.IGNORECASE | re.DOTALL)
_ROWS = re.compile(r"^(n|rows?|count|counts|count\(\)|count\(\*\)|number_of_rows|row_count|n_rows)$", re.IGNORECASE)
_COUNTING = re.compile(r"(^|[_ ])(count|counts|number|num|total|n)([_ ]|$)", re.IGNORECASE)


def named(text: str) -> tuple[str, str]:
    """A named formula as (formula, name); without `as` the name is the formula's text."""
    formula, name = split_as(text.strip())
    return formula.strip(), bare(name if name is not None else text)


def bare(name: str) -> str:
    """A reference without its backticks."""
    text = name.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == "`" else text


def ordering(text: str) -> tuple[str, bool]:
    """A sort key as (formula, descending)."""
    clean = re.sub(r"\s+nulls\s+(first|last)\s*$", "", text.strip(), flags=re.IGNORECASE)
    match = re.match(r"^(?P<key>.*\S)\s+(?P<way>asc|desc)$", clean, re.IGNORECASE | re.DOTALL)
    return (bare(match["key"]), match["way"].lower() == "desc") if match else (bare(clean), False)


def phrase(formula: str, name: str) -> Measure:
    """The measure a metric makes, in words that come from the formula where it is simple, else from its name."""
    call = _CALL.match(formula)
    op = call["name"].lower() if call else ""
    inside = call["inside"].strip() if call else ""
    alone = bool(call) and _balanced(inside)
    counts = alone and op in ("count", "count_distinct", "nunique", "count_missing")
    additive = alone and op in ADDITIVE and not re.search(r"\bby\s*=", inside)
    measure = Measure(name, words(name), additive, counts, aggregated=alone)
    if alone and op == "count" and (not inside or inside == "*"):
        return replace(measure, phrase=_count_words(name))
    if op in AGGREGATES and _COLUMN.match(inside):
        of = bare(inside.rpartition(".")[2] or inside)
        return replace(measure, phrase=AGGREGATES[op].format(words(of)), of=None if counts else of)
    return measure


def _balanced(inside: str) -> bool:
    depth = 0
    for sign in inside:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _count_words(name: str) -> str:
    if _ROWS.match(name):
        return "number of rows"
    return words(name) if _COUNTING.search(name) else f"number of {words(name)}"


@dataclass(frozen=True)
class _Walk:
    """What is known after each step; a new one per step."""

    keys: tuple[str, ...] = ()
    measures: Mapping[str, Measure] = field(default_factory=dict)
    grouped: bool = False
    order: tuple[tuple[str, bool], ...] = ()
    limit: int | None = None
    partial: bool = False
    from_end: bool = False
    conditions: tuple[str, ...] = ()
    special: str | None = None
    grains: Mapping[str, str] = field(default_factory=dict)
    pivoted: Measure | None = None

    def after(self, step: Mapping[str, Any]) -> _Walk:
        change = _STEPS.get(str(step.get("op")))
        return change(self, step) if change else self


def _filter(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    return replace(walk, conditions=(*walk.conditions, str(step.get("where", ""))), partial=walk.grouped)


def _summarize(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    keys = [named(text) for text in _texts(step.get("by"))]
    metrics = [named(text) for text in _texts(step.get("metrics"))]
    grains = {**walk.grains} | _grains(keys)
    names = tuple(name for _, name in keys)
    return _Walk(
        names,
        {name: phrase(formula, name) for formula, name in metrics},
        True,
        conditions=walk.conditions,
        grains=grains,
    )


def _derive(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    made = [named(text) for text in _texts(step.get("columns"))]
    measures = {**walk.measures} | {name: Measure(name, words(name)) for _, name in made}
    return replace(walk, measures=measures, grains={**walk.grains} | _grains(made))


def _sort(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    return replace(walk, order=tuple(ordering(text) for text in _texts(step.get("order"))))


def _limit(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    order = tuple(ordering(text) for text in _texts(step.get("order")))
    n = step.get("n")
    limit = n if isinstance(n, int) and not step.get("by") and not step.get("offset") else None
    return replace(walk, order=order or walk.order, limit=limit, partial=True, from_end=step.get("from") == "end")


def _rename(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    names = {bare(old): new for old, new in (named(text) for text in _texts(step.get("columns")))}
    return _renamed(walk, names)


def _renamed(walk: _Walk, names: Mapping[str, str]) -> _Walk:
    def new(name: str) -> str:
        return names.get(name, name)

    measures = {new(name): replace(measure, name=new(name)) for name, measure in walk.measures.items()}
    return replace(
        walk,
        keys=tuple(new(key) for key in walk.keys),
        measures=measures,
        order=tuple((new(name), descending) for name, descending in walk.order),
        grains={new(name): grain for name, grain in walk.grains.items()},
    )


def _pivot(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    keys = tuple(named(text)[1] for text in _texts(step.get("by")))
    values = [phrase(*named(text)) for text in _texts(step.get("values"))]
    return _Walk(keys, {}, True, conditions=walk.conditions, pivoted=values[0] if len(values) == 1 else None)


def _sample(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    return replace(walk, partial=True)


def _special(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    special = str(step["op"])
    if special == "fit" and step.get("output") == "predictions":
        return walk
    keys = tuple(named(text)[1] for text in _texts(step.get("by")))
    return _Walk(keys, {}, True, conditions=walk.conditions, special=special)


def _reshaped(walk: _Walk, step: Mapping[str, Any]) -> _Walk:
    return _Walk(conditions=walk.conditions)


_STEPS = {
    "filter": _filter,
    "summarize": _summarize,
    "derive": _derive,
    "window": _derive,
    "sort": _sort,
    "limit": _limit,
    "sample": _sample,
    "rename": _rename,
    "pivot": _pivot,
    "correlate": _special,
    "test": _special,
    "fit": _special,
    "describe": _special,
    "unpivot": _reshaped,
    "explode": _reshaped,
    "union": _reshaped,
}


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []


def _grains(made: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: match[1].lower() for formula, name in made if (match := _TRUNC.match(formula))}


def read(plan: Plan, columns: Sequence[AnswerColumn]) -> Shape:
    """The shape of a result with these shown columns. What the plan does not settle, kinds and roles decide."""
    walk = _Walk()
    for step in plan.get("steps") or ():
        walk = walk.after(step)
    shown = [named(text) for text in _texts(plan.get("show"))]
    walk = _renamed(walk, {bare(old): new for old, new in shown if bare(old) != new})
    names = [column.name for column in columns]
    known = walk.measures
    keys = tuple(key for key in walk.keys if key in names) if walk.grouped else ()
    dims = keys or tuple(column.name for column in columns if _names_a_row(column, walk))
    measures = tuple(
        _typed(known.get(column.name) or _unnamed(column.name, walk), column)
        for column in columns
        if column.name not in dims and column.kind.numeric and column.role not in (Role.ID,)
    )
    order = tuple(takewhile(lambda key: key[0] in names, walk.order))
    return Shape(
        dims,
        measures,
        grouped=walk.grouped and keys == walk.keys and bool(keys),
        order=order,
        rank=_rank(walk, columns, dims),
        limit=walk.limit,
        partial=walk.partial,
        from_end=walk.from_end,
        conditions=walk.conditions,
        special=walk.special,
        grains=walk.grains,
    )


def _unnamed(name: str, walk: _Walk) -> Measure:
    """A column that no step names: one of a table, or one that a pivot made of a value."""
    if walk.pivoted is None:
        return Measure(name, words(name))
    return replace(walk.pivoted, name=name, phrase=f"{walk.pivoted.phrase} for {words(name)}")


def _rank(walk: _Walk, columns: Sequence[AnswerColumn], keys: tuple[str, ...]) -> tuple[Measure, bool] | None:
    if not walk.order or walk.from_end:
        return None
    name, descending = walk.order[0]
    measure = walk.measures.get(name)
    shown = next((column for column in columns if column.name == name), None)
    if shown is None:
        return (measure, descending) if measure and measure.aggregated else None
    ranks = shown.kind.numeric and name not in keys and shown.role not in (Role.ID, Role.CATEGORY)
    return (_typed(measure or Measure(name, words(name)), shown), descending) if ranks else None


def _names_a_row(column: AnswerColumn, walk: _Walk) -> bool:
    if walk.grouped and not walk.keys:
        return False
    if column.kind.numeric:
        return column.role in (Role.ID, Role.YEAR, Role.CATEGORY)
    return column.kind is not Kind.LIST and column.kind is not Kind.DURATION


def _typed(measure: Measure, column: AnswerColumn) -> Measure:
    refused = (Role.PERCENT, Role.RATE, Role.YEAR, Role.ID)
    if column.role in refused:
        return replace(measure, additive=False)
    return measure
