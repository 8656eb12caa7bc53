"""What a drawing starts from and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.choose import CATEGORIES, Field
from qa.answer.chart.labels import TICK_WIDTH, literal, literals
from qa.answer.chart.marks import Categories, categories, times
from qa.answer.chart.spec import ChartSpec
from qa.answer.chart.theme import ticks
from qa.answer.formats import show, words
from qa.types import Role

HOVERED = 2_000
"""Points up to which each has its value written out for the hover; beyond, Plotly formats it."""


@dataclass(frozen=True)
class Drawn:
    """Traces, what they change in the layout, and what was left out, in words. `flipped` bars lie down."""

    traces: Sequence[Any]
    layout: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flipped: bool = False


@dataclass(frozen=True)
class Canvas:
    """A chart's specification with its table."""

    spec: ChartSpec
    columns: Mapping[str, AnswerColumn]
    table: pl.DataFrame
    total_rows: int

    @cached_property
    def x(self) -> Field | None:
        return self.field(self.spec.x) if self.spec.x else None

    @cached_property
    def color(self) -> Field | None:
        return self.field(self.spec.color) if self.spec.color else None

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
        return times(field.values), {"type": "date"} | _date_ticks(self.spec.grain)


def _date_ticks(grain: str | None) -> dict[str, Any]:
    return {"year": {"tickformat": "%Y"}, "month": {"tickformat": "%b\n%Y"}}.get(grain or "", {})


def category_axis(order: Sequence[str]) -> dict[str, Any]:
    """An axis of texts in a fixed order: digits stay texts, markup stays literal."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(order),
        "tickmode": "array",
        "tickvals": list(order),
        "ticktext": literals(order, TICK_WIDTH),
    }


def measure_axis(column: AnswerColumn) -> dict[str, Any]:
    """The axis of a measure that is drawn as a length: it starts at zero."""
    return {"type": "linear", "rangemode": "tozero", **ticks(column)}


def legend_title(field: Field | None) -> dict[str, Any]:
    return {"legend": {"title": {"text": literal(words(field.name), 40)}}} if field else {}


def is_share(column: AnswerColumn) -> bool:
    return column.role is Role.PERCENT
