"""Periods that the data do not cover to the end: the last or first of a series, or one that a condition names."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qa.engine.ledger import lets_read
from qa.engine.polars_engine import PolarsEngine
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.periods import moved, start_of
from qa.plan.scope import Clock
from qa.plan.steps.derive import CheckedDerive
from qa.plan.steps.filter import CheckedFilter
from qa.plan.steps.summarize import CheckedSummarize
from qa.plan.steps.window import CheckedWindow
from qa.plan.typed import Apply, Const, Output, Ref, Typed, Windowed, walk
from qa.types import Column, Kind

UNITS = ("day", "week", "month", "quarter", "year")
_PARTS = {"year": "year", "quarter": "quarter", "month": "month", "month_name": "month", "week": "week"}
_CHANGES = frozenset({"lag", "lead", "change", "pct_change"})
_WHOLE = dt.date(1, 1, 8)
"""The first day whose week begins on a day that there is."""
_LONGEST = 10 * 366
"""Days of a condition's period beyond which its start is taken for 'from the beginning'."""


@dataclass(frozen=True)
class Coverage:
    """The days that the data cover. `slack` days more at either end are no sign of a gap: data with a row a
    month, a week or a working day reach to the next one."""

    first: dt.date
    last: dt.date
    slack: int

    @property
    def start(self) -> dt.date:
        return shifted(self.first, -self.slack)

    @property
    def end(self) -> dt.date:
        return shifted(self.last, self.slack)


def shifted(day: dt.date, days: int) -> dt.date:
    """A day so many days on, at most the last day that there is: 9999-12-31 is a usual way to say `for ever`."""
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


def after(start: dt.date, unit: str) -> dt.date:
    """The first day of the next period."""
    return dt.date.max if start.year == dt.date.max.year else moved(start, 1, unit)


@dataclass(frozen=True)
class Series:
    """A summary by periods: the day column, the unit, and what each key holds of a period's first day."""

    day: Column
    unit: str
    keys: tuple[tuple[str, str], ...]
    """(column id, part): `start` for a truncated day, else `year`, `month`…"""


def incomplete_periods(
    engine: PolarsEngine, plan: CheckedPlan, part: CheckedPart, shown: pl.DataFrame, whole: bool
) -> list[str]:
    """A sentence for each period that the result shows and the data do not cover.

    `shown` are the rows handed out under engine names `s0, s1, …`, all of them when `whole`.
    """
    lets = [plan.lets[name] for name in lets_read(plan.lets, part.pipeline)]
    pipelines = [*lets, part.pipeline]
    made = {
        output.column.id: output.typed
        for pipeline in pipelines
        for step in pipeline.steps
        for output in outputs(step)
        if not (isinstance(output.typed, Ref) and output.typed.column.id == output.column.id)
    }
    filters = [step for pipeline in pipelines for step in pipeline.steps if isinstance(step, CheckedFilter)]
    changes = any(
        isinstance(node, Windowed) and node.function in _CHANGES for typed in made.values() for node in walk(typed)
    )
    cells = shown if whole else None
    found: list[str] = []
    covered: dict[tuple[str, str], Coverage | None] = {}
    for pipeline in pipelines:
        for step in pipeline.steps:
            if isinstance(step, CheckedSummarize) and (series := series_of(step, made)) is not None:
                coverage = _coverage(engine, series.day, covered)
                if coverage is not None:
                    cut = narrowed(coverage, series.day, filters)
                    found += _ends(series, cut, coverage, plan.clock, part, cells, changes)
                    found += _skipped(series, part, cells)
    for condition, column in _named_periods(pipelines):
        coverage = _coverage(engine, column, covered)
        if coverage is not None:
            found += _uncovered(condition, coverage)
    return list(dict.fromkeys(found))


def outputs(step: Any) -> Iterator[Output]:
    """The columns that a step computes."""
    match step:
        case CheckedSummarize():
            yield from (*step.keys, *step.metrics)
        case CheckedDerive():
            yield from step.outputs
        case CheckedWindow():
            yield from (*step.first, *step.outputs)


def series_of(step: CheckedSummarize, made: dict[str, Typed]) -> Series | None:
    """The periods that a summary's keys are, if they name whole ones: a truncated day, or parts with the year."""
    found: dict[tuple[str, str], list[tuple[str, str, str, Column]]] = {}
    for key in step.keys:
        typed = _resolved(key.typed, made)
        for node in walk(typed):
            if isinstance(node, Apply) and (place := _period_part(node)) is not None:
                day = _day_of(node.args[0], made)
                if day is not None and day.origin is not None:
                    part = place[0] if node is typed else ""
                    found.setdefault(day.origin, []).append((key.column.id, part, place[1], day))
    for parts in found.values():
        units = [unit for _, _, unit, _ in parts]
        truncated = [unit for _, part, unit, _ in parts if part == "start"]
        if truncated or "year" in units:
            unit = min(truncated or units, key=UNITS.index)
            keys = tuple((id, part) for id, part, _, _ in parts)
            return Series(parts[0][3], unit, keys if all(part for _, part in keys) else ())
    return None


def _resolved(typed: Typed, made: dict[str, Typed]) -> Typed:
    while isinstance(typed, Ref) and typed.column.id in made and made[typed.column.id] != typed:
        typed = made[typed.column.id]
    return typed


def _period_part(node: Apply) -> tuple[str, str] | None:
    """(what the value is, its unit) of a function that names periods."""
    if node.function == "trunc":
        unit = str(dict(node.options).get("unit", "")).rstrip("s")
        return ("start", unit) if unit in UNITS[1:] else None
    return (node.function, _PARTS[node.function]) if node.function in _PARTS else None


def _day_of(typed: Typed, made: dict[str, Typed]) -> Column | None:
    """The loaded day column below casts and names."""
    typed = _resolved(typed, made)
    while isinstance(typed, Apply) and typed.function in ("date", "datetime") and len(typed.args) == 1:
        typed = _resolved(typed.args[0], made)
    return typed.column if isinstance(typed, Ref) and typed.kind in (Kind.DATE, Kind.DATETIME) else None


def _coverage(engine: PolarsEngine, column: Column, covered: dict[tuple[str, str], Coverage | None]) -> Coverage | None:
    """The days of a loaded column; None for fewer than two different ones."""
    if column.origin is None or column.origin[0] not in engine.tables:
        return None
    if column.origin not in covered:
        day = pl.col(column.origin[1])
        rows = (
            engine.tables[column.origin[0]]
            .scan()
            .select((day.dt.date() if column.kind is Kind.DATETIME else day).alias("d"))
        )
        days = rows.drop_nulls().unique().sort("d").collect(engine=engine.engine)["d"]
        gaps = days.diff().drop_nulls().dt.total_days()
        usual = gaps.quantile(0.9, "nearest")
        ends = (days[0], days[-1]) if days.len() > 1 else None
        covered[column.origin] = None if ends is None else Coverage(*ends, int(usual or 1) - 1)
    return covered[column.origin]


def narrowed(coverage: Coverage, day: Column, filters: Sequence[CheckedFilter]) -> Coverage:
    """The coverage within the days that conditions let through."""
    start, end = coverage.start, coverage.end
    for step in filters:
        for condition in _conjuncts(step.where):
            low, high = _range(condition, day)
            start = max(start, low) if low else start
            end = min(end, high) if high else end
    return Coverage(start, end, 0)


def _conjuncts(typed: Typed) -> Iterator[Typed]:
    if isinstance(typed, Apply) and typed.function == "and":
        for arg in typed.args:
            yield from _conjuncts(arg)
    else:
        yield typed


def _range(condition: Typed, day: Column) -> tuple[dt.date | None, dt.date | None]:
    """The first and last day that a condition on the column lets through."""
    if not isinstance(condition, Apply) or not condition.args or not _is_day(condition.args[0], day):
        return None, None
    limits = [_date(arg.value) for arg in condition.args[1:] if isinstance(arg, Const)]
    match condition.function, limits:
        case "between", [low, high]:
            return low, high
        case "==", [only]:
            return only, only
        case ">=", [low]:
            return low, None
        case ">", [low] if low:
            return shifted(low, 1), None
        case "<=", [high]:
            return None, high
        case "<", [high] if high:
            return None, shifted(high, -1)
    return None, None


def _is_day(typed: Typed, day: Column) -> bool:
    column = _day_of(typed, {})
    return column is not None and column.origin is not None and column.origin == day.origin


def _date(value: Any) -> dt.date | None:
    return value.date() if isinstance(value, dt.datetime) else value if isinstance(value, dt.date) else None


def _ends(
    series: Series,
    cut: Coverage,
    coverage: Coverage,
    clock: Clock,
    part: CheckedPart,
    shown: pl.DataFrame | None,
    changes: bool,
) -> list[str]:
    """What to say of the first and the last period."""
    first_day, last_day = max(cut.start, coverage.first), min(cut.end, coverage.last)
    if first_day > last_day:
        return []
    found = []
    first, last = (start_of(max(day, _WHOLE), series.unit, clock.week_start) for day in (first_day, last_day))
    next_one = after(last, series.unit)
    if cut.end < shifted(next_one, -1):
        found.append((last, f"{label(last, series.unit)} is not complete: the rows end on {last_day}"))
    elif last_day <= clock.today < next_one:
        found.append((last, f"{label(last, series.unit)} is not over: today is {clock.today}"))
    if cut.start > first:
        found.append((first, f"{label(first, series.unit)} is not complete: the rows begin on {first_day}"))
    more = ", so a change to or from it compares a part with a whole." if changes else "."
    return [text + more for start, text in found if _there(series, start, part, shown)]


def _there(series: Series, start: dt.date, part: CheckedPart, shown: pl.DataFrame | None) -> bool:
    """Whether the result shows a period; true where that cannot be seen."""
    places = {column.id: f"s{place}" for place, column in enumerate(part.shown)}
    rows = shown
    for id, name in series.keys:
        if rows is None or id not in places:
            return True
        held = pl.col(places[id])
        if name == "start":
            rows = rows.filter(held.cast(pl.Date) == start)
        elif name in ("year", "quarter", "month"):
            value = {"year": start.year, "quarter": (start.month + 2) // 3, "month": start.month}[name]
            rows = rows.filter(held == value)
    return rows is None or rows.height > 0


def _skipped(series: Series, part: CheckedPart, shown: pl.DataFrame | None) -> list[str]:
    """Periods without rows between those that a step compares with the row before: a change passes over them."""
    compares = [
        step
        for step in part.pipeline.steps
        if isinstance(step, CheckedWindow)
        and any(isinstance(n, Windowed) and n.function in _CHANGES for o in step.outputs for n in walk(o.typed))
    ]
    places = {column.id: f"s{place}" for place, column in enumerate(part.shown)}
    key = next((places[id] for id, name in series.keys if name == "start" and id in places), None)
    by = [id for step in compares for id in step.by]
    if not compares or shown is None or key is None or any(id not in places for id in by):
        return []
    starts = pl.col(key).cast(pl.Date)
    groups = [pl.col(places[id]) for id in by]
    runs = shown.select(starts.alias("start"), *groups).drop_nulls("start").unique().sort("start")
    before = pl.col("start").shift(1)
    pairs = runs.with_columns((before.over(groups) if groups else before).alias("before")).drop_nulls("before")
    gaps = [
        (start, last)
        for start, last in zip(pairs["start"], pairs["before"], strict=True)
        if after(last, series.unit) != start
    ]
    if not gaps:
        return []
    first = label(after(gaps[0][1], series.unit), series.unit)
    more = f" and {len(gaps) - 1} more gaps" if len(gaps) > 1 else ""
    return [f"There are no rows for {first}{more}, so a change passes over it. fill_gaps gives every period a row."]


def label(start: dt.date, unit: str) -> str:
    """A period as people write it: `2024`, `2024 Q2`, `2024-06`, `The week of 2024-06-10`."""
    match unit:
        case "year":
            return str(start.year)
        case "quarter":
            return f"{start.year} Q{(start.month + 2) // 3}"
        case "month":
            return f"{start:%Y-%m}"
        case "week":
            return f"The week of {start}"
    return str(start)


def _named_periods(pipelines: Sequence[CheckedPipeline]) -> Iterator[tuple[tuple[dt.date, dt.date], Column]]:
    """Every `between` of a loaded day column and two days, with the days: what in_period is made of."""
    typed = [step.where for pipeline in pipelines for step in pipeline.steps if isinstance(step, CheckedFilter)]
    typed += [output.typed for pipeline in pipelines for step in pipeline.steps for output in outputs(step)]
    for formula in typed:
        for node in walk(formula):
            if isinstance(node, Apply) and node.function == "between":
                column = _day_of(node.args[0], {})
                low, high = (_date(arg.value) if isinstance(arg, Const) else None for arg in node.args[1:])
                if column is not None and low is not None and high is not None:
                    yield (low, high), column


def _uncovered(period: tuple[dt.date, dt.date], coverage: Coverage) -> list[str]:
    low, high = period
    if low > high:
        return []
    if low > coverage.end or high < coverage.start:
        return [f"No row lies between {low} and {high}: the dates go from {coverage.first} to {coverage.last}."]
    found = []
    if high > coverage.end:
        found.append(f"The period up to {high} is not complete: the dates end on {coverage.last}.")
    if low < coverage.start and (high - low).days <= _LONGEST:
        found.append(f"The period from {low} is not complete: the dates begin on {coverage.first}.")
    return found
