"""Text on a chart: one line, never markup, and a description for those who cannot see it."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.spec import ChartSpec
from qa.answer.formats import number, plain, plural, show

TICK_WIDTH = 26
LYING_WIDTH = 44
HOVER_WIDTH = 120

NAMES = {
    "bar": "Bar chart",
    "grouped_bar": "Grouped bar chart",
    "stacked_bar": "Stacked bar chart",
    "line": "Line chart",
    "area": "Area chart",
    "scatter": "Scatter plot",
    "histogram": "Histogram",
    "box": "Box plot",
    "heatmap": "Heat map",
    "pie": "Pie chart",
    "value": "Single value",
    "map": "Tile map of states",
}


def literal(text: str, width: int | None = HOVER_WIDTH) -> str:
    """Text that Plotly shows as it is: its own little HTML and TeX are switched off by entities."""
    return html.escape(plain(text, width), quote=False).replace("$", "&#36;")


def wrapped(text: str, width: int = 46, lines: int = 2) -> str:
    """Literal text broken into lines, because Plotly's titles do not wrap on a narrow page."""
    made = textwrap.wrap(plain(text, None), width, max_lines=lines, placeholder=" …", break_on_hyphens=False)
    return "<br>".join(literal(line, None) for line in made)


def literals(texts: Sequence[str], width: int | None = HOVER_WIDTH) -> list[str]:
    return [literal(text, width) for text in texts]


def alt_text(spec: ChartSpec, columns: Sequence[AnswerColumn], table: pl.DataFrame) -> str:
    """What the chart shows, in a sentence or two, with its ends from the table."""
    head = f"{NAMES[spec.kind]}: {spec.title}."
    name = spec.color if spec.kind == "heatmap" else spec.y[0] if spec.y else None
    by_name = {column.name: column for column in columns}
    if name is None or name not in table.columns or not by_name[name].kind.numeric:
        return head
    values = table[name].drop_nulls()
    if values.is_empty():
        return head
    if spec.kind == "value":
        return f"{head} {show(values[0], by_name[name])}."
    low, high = values.min(), values.max()
    ends = f"from {show(low, by_name[name])} to {show(high, by_name[name])}"
    marks = plural(table.height, "row")
    if spec.kind in ("bar", "pie", "map", "line", "area") and spec.x and not spec.color and len(spec.y) == 1:
        at_low, at_high = _where(table, spec.x, name, low), _where(table, spec.x, name, high)
        grain, x = spec.grain, by_name[spec.x]
        return f"{head} {marks}, highest {show(at_high, x, grain=grain)} ({show(high, by_name[name])}), lowest {show(at_low, x, grain=grain)} ({show(low, by_name[name])})."
    return f"{head} {marks}, values {ends}."


def _where(table: pl.DataFrame, x: str, y: str, value: Any) -> Any:
    return table[x].gather((table[y] == value).fill_null(False).arg_true().head(1))[0]


def count_note(shown: int, whole: int, what: str) -> str:
    return f"{number(shown)} of {number(whole)} {what}"
