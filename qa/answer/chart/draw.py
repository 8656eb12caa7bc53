"""A chart specification and its table as a Plotly figure, built from arrays with every axis typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.bars import bars, crossed_bars
from qa.answer.chart.canvas import Canvas, Drawn
from qa.answer.chart.clouds import boxes, histogram, scatter
from qa.answer.chart.labels import literal, wrapped
from qa.answer.chart.lines import lines
from qa.answer.chart.shares import heatmap, pie, state_tiles, value
from qa.answer.chart.spec import ChartSpec
from qa.answer.chart.theme import ThemeName, merged, repaint
from qa.answer.formats import number

_DRAW: Mapping[str, Callable[[Canvas], Drawn]] = {
    "bar": bars,
    "grouped_bar": crossed_bars,
    "stacked_bar": crossed_bars,
    "line": lines,
    "area": lines,
    "scatter": scatter,
    "histogram": histogram,
    "box": boxes,
    "heatmap": heatmap,
    "pie": pie,
    "value": value,
    "map": state_tiles,
}


ONE_LINE = 44
"""Characters of a legend that fit on one line of a phone."""


@dataclass(frozen=True)
class Drawing:
    """A figure as Plotly's JSON (numbers as NumPy arrays until it is sent), with what it leaves out in words."""

    content: dict[str, Any]
    note: str | None = None

    @property
    def figure(self) -> go.Figure:
        return go.Figure(self.content)


def compose(
    spec: ChartSpec,
    columns: Sequence[AnswerColumn],
    table: pl.DataFrame,
    *,
    total_rows: int | None = None,
    theme: ThemeName = "light",
) -> Drawing:
    """The figure and its note. `table` is the result as shown; `total_rows` counts all its rows."""
    canvas = Canvas(spec, {column.name: column for column in columns}, table, total_rows or table.height)
    drawn = _DRAW[spec.kind](canvas)
    meta = {"kind": spec.kind, "flipped": drawn.flipped}
    layout = merged(merged(_frame(spec), drawn.layout), {"meta": meta, "template": {}})
    layout = merged(layout, _short_legend(drawn.traces, layout))
    notes = " ".join([*drawn.notes, *_cut_words(canvas, drawn.notes)])
    return Drawing(repaint({"data": list(drawn.traces), "layout": layout}, theme), notes or None)


def _cut_words(canvas: Canvas, notes: Sequence[str]) -> list[str]:
    """A chart of a cut table says so, once."""
    whole = number(canvas.total_rows)
    if canvas.total_rows <= canvas.table.height or any(whole in note for note in notes):
        return []
    return [f"Only the first {number(canvas.table.height)} of {whole} rows are drawn."]


def draw(
    spec: ChartSpec,
    columns: Sequence[AnswerColumn],
    table: pl.DataFrame,
    theme: ThemeName = "light",
    *,
    total_rows: int | None = None,
) -> go.Figure:
    """The figure of a chart; its data equals the table's. What a cap leaves out is in `compose(...).note`."""
    return compose(spec, columns, table, total_rows=total_rows, theme=theme).figure


def _short_legend(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> dict[str, Any]:
    """A few short names fit on one line above the plot, also on a phone; more stand at its right."""
    names = [len(str(trace.get("name") or "")) + 5 for trace in traces]
    heading = len(str(layout["legend"].get("title", {}).get("text", "")))
    if not layout.get("showlegend") or sum(names) + heading > ONE_LINE:
        return {}
    above = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "title": {"side": "left"}}
    return {"legend": above, "margin": {"t": layout["margin"]["t"] + 28}}


def _frame(spec: ChartSpec) -> dict[str, Any]:
    """What every chart shares."""
    axis = {
        "automargin": True,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "exponentformat": "B",
        "separatethousands": True,
    }
    title = wrapped(spec.title)
    return {
        "separators": ".,",
        "title": {
            "text": title,
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "pad": {"l": 12},
            "y": 0.97,
            "yanchor": "top",
        },
        "xaxis": axis
        | {"title": {"text": literal(spec.x_title, 60), "standoff": 10}, "showline": True, "showgrid": False},
        "yaxis": axis | {"title": {"text": literal(spec.y_title, 60), "standoff": 10}, "ticks": ""},
        "margin": {"l": 12, "r": 20, "t": 56 + 20 * title.count("<br>"), "b": 12},
        "height": 400,
        "hovermode": "closest",
        "bargap": 0.25,
        "bargroupgap": 0.06,
        "legend": {
            "orientation": "v",
            "x": 1.02,
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "itemsizing": "constant",
        },
    }
