"""A result as the chart chooser sees it: its times, categories and measures, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.order import ranks_of
from qa.answer.chart.spec import ChartSpec, Kind
from qa.answer.formats import calendar_unit, grain_of, unit_of, words
from qa.answer.shape import Measure, Shape, read
from qa.types import Kind as ValueKind
from qa.types import Role

CATEGORIES = 20
"""Categories that are drawn one by one; more are folded into Other or said to be left out."""

SLICES = 6
SERIES = 8

_YEAR = r"^(1[5-9]|20)\d\d$"

_ISO = re.compile(r"^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$")


@dataclass(frozen=True)
class Field:
    """A column as a chart sees it."""

    column: AnswerColumn
    values: pl.Series
    grouped: bool

    @property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def distinct(self) -> int:
        return self.values.n_unique()

    @cached_property
    def unique(self) -> bool:
        return self.distinct == self.values.len()

    @cached_property
    def is_time(self) -> bool:
        """A date, a moment, a year, or text that spells months or days the ISO way."""
        if self.column.kind.temporal or self.column.role is Role.YEAR:
            return True
        if self.column.kind is ValueKind.INTEGER:
            return bool(re.search(r"(^|[_ ])years?$", self.name, re.IGNORECASE)) and _are_years(self.values)
        return self.is_iso

    @cached_property
    def is_iso(self) -> bool:
        if self.column.kind is not ValueKind.TEXT:
            return False
        texts = self.values.drop_nulls()
        return texts.len() > 0 and bool(texts.cast(pl.String).str.contains(_ISO.pattern).all())

    @cached_property
    def spells_years(self) -> bool:
        """Text that could be years. It may be codes too, so it is only put in order, not on a time axis."""
        if self.column.kind is not ValueKind.TEXT:
            return False
        texts = self.values.drop_nulls()
        return texts.len() > 0 and bool(texts.cast(pl.String).str.contains(_YEAR).all())

    @cached_property
    def is_scale(self) -> bool:
        """Numbers that group rows and lie on a line (an age, an hour), too many for a bar each."""
        return (
            self.column.kind.numeric
            and not self.is_time
            and self.distinct > CATEGORIES
            and self.column.role is not Role.ID
        )

    @cached_property
    def is_ordered(self) -> bool:
        return self.is_time or self.column.kind.numeric or self.spells_years or ranks_of(self.values) is not None


def _are_years(values: pl.Series) -> bool:
    known = values.drop_nulls()
    return known.len() > 0 and bool(known.is_between(1000, 2999).all())


@dataclass(frozen=True)
class Sight:
    """A result as the chooser sees it."""

    shape: Shape
    columns: Mapping[str, AnswerColumn]
    table: pl.DataFrame
    total_rows: int
    pivoted: bool = False

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        known = (
            measure for measure in self.shape.measures if self.table[measure.name].null_count() < self.table.height
        )
        first = self.shape.rank[0].name if self.shape.rank else None
        return tuple(sorted(known, key=lambda measure: measure.name != first))

    @cached_property
    def dims(self) -> tuple[Field, ...]:
        fields = tuple(Field(self.columns[key], self.table[key], self.shape.grouped) for key in self.shape.keys)
        several = tuple(field for field in fields if field.distinct > 1)
        return several or fields[:1]

    def alike(self, first: Measure) -> tuple[Measure, ...]:
        """The measures on the scale of the first one, itself included."""
        return tuple(measure for measure in self.measures if self._same_scale(first, measure))

    def _same_scale(self, one: Measure, other: Measure) -> bool:
        a, b = self.columns[one.name], self.columns[other.name]
        if (a.role, a.unit) != (b.role, b.unit):
            return False
        named = a.role is not None and a.role is not Role.COUNT
        counted = one.counts and other.counts
        return one.name == other.name or named or counted or self.pivoted or (one.of is not None and one.of == other.of)

    def spec(self, kind: Kind, x: str | None, y: Sequence[str], color: str | None = None, **more: Any) -> ChartSpec:
        rank = self.shape.rank
        ranked = bool(rank and rank[0].name in y) or bool(self.shape.order and not rank and x in dict(self.shape.order))
        measures = [measure for measure in self.measures if measure.name in y]
        additive = bool(measures) and all(measure.additive for measure in measures)
        made = ChartSpec(kind, x, tuple(y), color, ranked, additive, self.grain(x), **more)
        return self.titled(made)

    def grain(self, name: str | None) -> str | None:
        if name is None or name not in self.shape.keys:
            return None
        return self.shape.grain(name) or calendar_unit(self.columns[name]) or grain_of(self.table[name])

    def titled(self, spec: ChartSpec) -> ChartSpec:
        shown = spec.color if spec.kind == "heatmap" else None
        named = [self.phrase(shown)] if shown else [self.phrase(name) for name in spec.y]
        measure = named[0] if len(named) == 1 else self._common(spec.y)
        by = [
            words(name) for name in (spec.x, *(spec.y if spec.kind == "heatmap" else (spec.color,))) if name is not None
        ]
        title = f"{measure} by {' and '.join(by)}" if by else measure
        if spec.kind == "scatter":
            title = f"{measure} against {self.phrase(spec.x)}"
        if spec.kind == "histogram":
            title = f"Distribution of {measure}"
        y_title = words(spec.y[0]) if spec.kind == "heatmap" else self._with_unit(measure, spec.y[0])
        x_title = self._with_unit(self.phrase(spec.x), spec.x) if spec.x is not None else ""
        return replace(spec, title=capital(title), x_title=capital(x_title), y_title=capital(y_title))

    def phrase(self, name: str | None) -> str:
        measure = self.shape.measure(name or "")
        return measure.phrase if measure else words(name or "")

    def _common(self, names: Sequence[str]) -> str:
        return ", ".join(self.phrase(name) for name in names) if len(names) <= 3 else "values"

    def _with_unit(self, text: str, name: str) -> str:
        unit = unit_of(self.columns[name])
        said = unit is not None and unit.casefold() in re.findall(r"[^\W_]+", text.casefold())
        return f"{text} ({unit})" if unit and not said and self.columns[name].role is not Role.PERCENT else text


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sight_of(columns: Sequence[AnswerColumn], table: pl.DataFrame, plan: Mapping[str, Any], total_rows: int) -> Sight:
    steps = [step.get("op") for step in plan.get("steps") or ()]
    return Sight(
        read(plan, columns), {column.name: column for column in columns}, table, total_rows, "pivot" in steps[-2:]
    )
