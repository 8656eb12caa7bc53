"""Lines and areas along time or a scale; a missing value is a gap, never a zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from qa.answer.chart.canvas import (
    HOVERED,
    Canvas,
    Drawn,
    category_axis,
    legend_title,
    measure_axis,
    number_ticks,
    trace,
)
from qa.answer.chart.labels import TICK_WIDTH, literal, literals
from qa.answer.chart.marks import MARKS, array, spread, texts_of
from qa.answer.chart.sight import SERIES, Field
from qa.answer.formats import number, words

MARKERS = 40
"""Points of a line up to which each is marked."""


def lines(canvas: Canvas) -> Drawn:
    """One line a measure, or one a value of the colour column."""
    assert canvas.x is not None
    known = canvas.table.filter(canvas.x.values.is_not_null())
    lost = canvas.table.height - known.height
    notes: tuple[str, ...] = (f"Rows without {words(canvas.x.name)} are not drawn ({number(lost)}).",) if lost else ()
    inner = Canvas(canvas.spec, canvas.columns, known, canvas.total_rows)
    assert inner.x is not None
    if not (inner.x.is_time or inner.x.is_scale or inner.x.column.kind.numeric):
        return _over_categories(inner, notes)
    data, names, others, said = _series(inner)
    data = data.sort("x")
    if data.height * len(names) > MARKS:
        data, names = _peaks(data, names), names
        notes = (
            *notes,
            f"Drawn from the lowest and highest value of each stretch: {number(data.height)} points a line.",
        )
    field = Field(inner.x.column, data["x"], True)
    positions, axis = inner.along(field)
    labels = texts_of(data["x"], inner.x.column, inner.spec.grain).to_list()
    traces = [
        _line(inner, positions, labels, data[f"s{n}"], n, name, other=name in others, alone=len(names) == 1)
        for n, name in enumerate(names)
    ]
    return Drawn(traces, _layout(inner, axis, len(names)), (*notes, *said))


def _series(canvas: Canvas) -> tuple[pl.DataFrame, list[str], set[str], tuple[str, ...]]:
    """One column of values a line, over the sorted positions."""
    assert canvas.x is not None
    if canvas.color is None:
        columns = [canvas.table[name].alias(f"s{n}") for n, name in enumerate(canvas.spec.y)]
        return pl.DataFrame([canvas.x.values.alias("x"), *columns]), [words(name) for name in canvas.spec.y], set(), ()
    series = canvas.split(canvas.values, canvas.color, most=SERIES, series=True)
    keys = canvas.x.values.unique().sort()
    texts = texts_of(canvas.x.values, canvas.x.column)
    rows = texts_of(keys, canvas.x.column).to_list()
    wide = spread(texts, series.labels, canvas.values, rows, series.drawn)
    others = {series.other} if series.other else set()
    data = wide.drop("x").insert_column(0, keys.alias("x"))
    return data, list(series.drawn), others, (series.note,) if series.note else ()


def _peaks(data: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The rows where some line has its lowest or highest value of its stretch: the outline stays true."""
    stretches = max(1, MARKS // (4 * len(names)))
    numbered = data.with_row_index("row").with_columns((pl.col("row") * stretches // data.height).alias("stretch"))
    ends = [
        getattr(pl.col("row").sort_by(f"s{n}"), end)().alias(f"{end}{n}")
        for n in range(len(names))
        for end in ("first", "last")
    ]
    kept = numbered.group_by("stretch").agg(ends).drop("stretch")
    rows = pl.concat([kept[column] for column in kept.columns]).unique().sort()
    return data[rows]


def _line(
    canvas: Canvas,
    positions: list[Any],
    labels: list[str],
    values: pl.Series,
    n: int,
    name: str,
    *,
    other: bool,
    alone: bool,
) -> dict[str, Any]:
    measure = canvas.spec.y[0] if canvas.color is not None else canvas.spec.y[n]
    few = values.len() <= HOVERED
    said = canvas.say(values, measure) if few else []
    hover = [[a, b] for a, b in zip(literals(labels), said, strict=True)] if few else None
    head = "" if alone else "%{fullData.name}: "
    template = f"%{{customdata[0]}}<br>{head}<b>%{{customdata[1]}}</b><extra></extra>" if few else None
    return trace(
        "scatter",
        x=positions,
        y=array(values),
        name=literal(name, TICK_WIDTH),
        mode="lines+markers" if values.len() <= MARKERS and canvas.spec.kind != "area" else "lines",
        line={"width": 2.5 if alone else 2},
        marker={"size": 6},
        stackgroup="all" if canvas.spec.kind == "area" else None,
        connectgaps=None if canvas.spec.kind == "area" else False,
        customdata=hover,
        hovertemplate=template,
        meta={"series": n, "other": other, "measure": measure, "name": name},
    )


def _layout(canvas: Canvas, axis: Mapping[str, Any], lines: int) -> dict[str, Any]:
    zero = canvas.spec.kind == "area"
    vertical = (
        measure_axis(canvas.measure, canvas.values)
        if zero
        else {"type": "linear", **number_ticks(canvas.measure, canvas.values)}
    )
    shared = {"hovermode": "x unified"} if lines > 1 and canvas.table.height <= HOVERED else {}
    return {"xaxis": dict(axis), "yaxis": vertical, "showlegend": lines > 1} | legend_title(canvas.color) | shared


def _over_categories(canvas: Canvas, notes: tuple[str, ...]) -> Drawn:
    """A line over ordered categories: months without a year, buckets, levels."""
    assert canvas.x is not None
    split = canvas.split(canvas.values, canvas.x)
    if canvas.color is None:
        names, others = [words(name) for name in canvas.spec.y], set[str]()
        alone = pl.repeat("", split.labels.len(), eager=True)
        values = [spread(split.labels, alone, canvas.table[name], split.drawn, [""])["s0"] for name in canvas.spec.y]
    else:
        series = canvas.split(canvas.values, canvas.color, most=SERIES, series=True)
        names, others = list(series.drawn), {series.other} if series.other else set()
        wide = spread(split.labels, series.labels, canvas.values, split.drawn, series.drawn)
        values = [wide[f"s{n}"] for n in range(len(names))]
        notes = (*notes, series.note) if series.note else notes
    order = list(split.drawn)
    traces = [
        _line(canvas, order, order, column, n, name, other=name in others, alone=len(names) == 1)
        for n, (name, column) in enumerate(zip(names, values, strict=True))
    ]
    notes = (*notes, split.note) if split.note else notes
    return Drawn(traces, _layout(canvas, category_axis(order), len(names)), notes)
