"""What a drawing starts from and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.labels import TICK_WIDTH, literal, literals
from qa.answer.chart.marks import Categories, categories, times
from qa.answer.chart.sight import CATEGORIES, Field, capital
from qa.answer.chart.spec import ChartSpec
from qa.answer.chart.theme import ticks
from qa.answer.formats import show, words

HOVERED = 2_000
"""Points up to which each has its value written out for the hover; beyond, Plotly formats it."""


@dataclass(frozen=True)
class Drawn:
    """Traces, what they change in the layout, and what was left out, in words. `flipped` bars lie down."""

    traces: Sequence[dict[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flipped: bool = False


def trace(kind: str, **properties: Any) -> dict[str, Any]:
    """A trace as Plotly writes it. Plain dicts: building them through Plotly's classes costs a hundred times more."""
    return {"type": kind} | {name: value for name, value in properties.items() if value is not None}


@dataclass(frozen=True)
class Canvas:
    """A chart's specification with its table."""

    spec: ChartSpec
    columns: Mapping[str, AnswerColumn]
    table: pl.DataFrame
    total_rows: int

    @cached_property
    def x(self) -> Field | None:
        return self.field(self.spec.x) if self.spec.x is not None else None

    @cached_property
    def color(self) -> Field | None:
        return self.field(self.spec.color) if self.spec.color is not None else None

    @property
    def measure(self) -> AnswerColumn:
        return self.columns[self.spec.y[0]]

    @property
    def values(self) -> pl.Series:
        return self.table[self.spec.y[0]]

    def field(self, name: str) -> Field:
        return Field(self.columns[name], self.table[name], True)

    def say(self, values: pl.Series, name: str) -> list[str]:
        """Each value as its column is shown, ready for a hover."""
        column = self.columns[name]
        return [literal(show(value, column)) for value in values.to_list()]

    def split(self, sizes: pl.Series, field: Field, *, most: int = CATEGORIES, series: bool = False) -> Categories:
        return categories(self.spec, field, sizes, self.total_rows, most=most, series=series)

    def along(self, field: Field) -> tuple[list[Any], dict[str, Any]]:
        """Positions on a time or number axis, and the axis."""
        if field.column.kind.numeric:
            form = {"tickformat": "d"} if field.is_time else ticks(field.column)
            step = {"dtick": 1} if field.is_time and field.distinct <= 12 else {}
            return times(field.values), {"type": "linear", **form, **step}
        return times(field.values, self.spec.grain if field.name == self.spec.x else None), {
            "type": "date"
        } | _date_ticks(self.spec.grain)


def _date_ticks(grain: str | None) -> dict[str, Any]:
    return {"year": {"tickformat": "%Y"}, "month": {"tickformat": "%b\n%Y"}}.get(grain or "", {})


def category_axis(order: Sequence[str], width: int = TICK_WIDTH) -> dict[str, Any]:
    """An axis of texts in a fixed order: digits stay texts, markup stays literal."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(order),
        "tickmode": "array",
        "tickvals": list(order),
        "ticktext": literals(order, width),
    }


def measure_axis(column: AnswerColumn, values: pl.Series, *, room: float = 0.0) -> dict[str, Any]:
    """The axis of a measure that is drawn as a length: it starts at zero. `room` is left for labels at the ends."""
    axis = {"type": "linear", "rangemode": "tozero"} | number_ticks(column, values)
    low, high = _ends(values)
    if room and high > low:
        span = high - low
        axis["range"] = [low - room * span if low < 0 else 0, high + room * span if high > 0 else 0]
    return axis


def number_ticks(column: AnswerColumn, values: pl.Series) -> dict[str, Any]:
    """The number format of an axis that shows these values."""
    return ticks(column, negative=_ends(values)[0] < 0)


def _ends(values: pl.Series) -> tuple[float, float]:
    """Lowest and highest value, zero included."""
    known = values.cast(pl.Float64).fill_nan(None).drop_nulls()
    if known.is_empty():
        return 0.0, 0.0
    return min(0.0, float(known.min())), max(0.0, float(known.max()))  # type: ignore[arg-type]


def legend_title(field: Field | None) -> dict[str, Any]:
    return {"legend": {"title": {"text": literal(capital(words(field.name)), 40)}}} if field else {}
