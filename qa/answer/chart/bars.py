"""Bars: one series, several measures, grouped or stacked. They start at zero, always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qa.answer.chart.canvas import Canvas, Drawn, category_axis, legend_title, measure_axis, trace
from qa.answer.chart.labels import LYING_WIDTH, TICK_WIDTH, literal, literals
from qa.answer.chart.marks import array, repeated_names, spread, texts_of
from qa.answer.chart.sight import CATEGORIES, SERIES, Field
from qa.answer.formats import show, words

LONG_LABEL = 14
LIES_DOWN_FROM = 5
LABELLED = 12
"""Bars up to which each carries its value."""


def bars(canvas: Canvas) -> Drawn:
    """One bar a row."""
    if canvas.x is None:
        return _measures_as_bars(canvas)
    if (canvas.x.is_time or canvas.x.is_scale) and canvas.x.unique and _many_times(canvas):
        return _bars_in_time(canvas)
    field, notes = _own_names(canvas, canvas.x)
    split = canvas.split(canvas.values, field)
    data = spread(split.labels, pl.repeat("", split.labels.len(), eager=True), canvas.values, split.drawn, [""])
    notes = (*notes, split.note) if split.note else notes
    flat = _lies_down(split.drawn, canvas)
    labelled = len(split.drawn) <= (2 * LABELLED if flat else LABELLED)
    made = _bar(canvas, canvas.spec.y[0], split.drawn, data["s0"], 0, flat=flat, labelled=labelled)
    if split.other:
        made["meta"] |= {"others": [name == split.other for name in split.drawn]}
    gap = {"bargap": 0.5} if len(split.drawn) <= 3 else {}
    layout = _axes(canvas, split.drawn, flat, data["s0"], labelled=labelled) | {"showlegend": False} | gap
    return Drawn([made], layout, notes, flat)


def _own_names(canvas: Canvas, field: Field) -> tuple[Field, tuple[str, ...]]:
    """Raw rows that share a name keep a bar each."""
    if field.unique:
        return field, ()
    labels, repeated = repeated_names(texts_of(field.values, field.column, canvas.spec.grain))
    note = f"Rows with the same {words(field.name)} have a bar each, numbered."
    return (replace(field, values=labels), (note,)) if repeated else (field, ())


def _many_times(canvas: Canvas) -> bool:
    assert canvas.x is not None
    return canvas.x.distinct > CATEGORIES or (
        canvas.x.is_time and not canvas.x.column.kind.numeric and not canvas.spec.ranked
    )


def _bars_in_time(canvas: Canvas) -> Drawn:
    assert canvas.x is not None
    rows = canvas.x.values.arg_sort(nulls_last=True)
    ordered = canvas.table[rows.head(rows.len() - canvas.x.values.null_count())]
    inner = Canvas(canvas.spec, canvas.columns, ordered, canvas.total_rows)
    assert inner.x is not None
    positions, axis = inner.along(inner.x)
    hover = _hover(inner, texts_of(inner.x.values, inner.x.column, inner.spec.grain).to_list(), inner.values)
    made = trace(
        "bar", x=positions, y=array(inner.values), customdata=hover, hovertemplate=_TEMPLATE, meta={"series": 0}
    )
    layout = {"xaxis": axis, "yaxis": measure_axis(inner.measure, inner.values), "showlegend": False}
    lost = canvas.table.height - ordered.height
    return Drawn([made], layout, (f"{lost} without {words(inner.x.name)} not drawn.",) if lost else ())


def _measures_as_bars(canvas: Canvas) -> Drawn:
    """One row: a bar for each of its measures."""
    names = [words(name) for name in canvas.spec.y]
    values = pl.Series([canvas.table[name].cast(pl.Float64)[0] for name in canvas.spec.y], dtype=pl.Float64)
    made = _bar(canvas, canvas.spec.y[0], names, values, 0, flat=False, labelled=True)
    return Drawn([made], _axes(canvas, names, False, values, labelled=True) | {"showlegend": False})


def crossed_bars(canvas: Canvas) -> Drawn:
    """Bars of several series: one a measure, or one a value of the colour column."""
    if canvas.x is None:
        return bars(canvas)
    if canvas.color is None:
        return _measures_by_category(canvas)
    across = canvas.split(canvas.values, canvas.x)
    series = canvas.split(canvas.values, canvas.color, most=SERIES, series=True)
    data = spread(across.labels, series.labels, canvas.values, across.drawn, series.drawn)
    flat = _lies_down(across.drawn, canvas)
    few = len(across.drawn) * len(series.drawn) <= LABELLED
    traces = [
        _bar(
            canvas,
            canvas.spec.y[0],
            across.drawn,
            data[f"s{n}"],
            n,
            name=name,
            flat=flat,
            other=name == series.other,
            labelled=few,
        )
        for n, name in enumerate(series.drawn)
    ]
    notes = tuple(note for note in (across.note, series.note) if note)
    numbers = _lengths(canvas, data, len(series.drawn))
    return Drawn(
        traces,
        _axes(canvas, across.drawn, flat, numbers, labelled=few) | _mode(canvas) | legend_title(canvas.color),
        notes,
        flat,
    )


def _measures_by_category(canvas: Canvas) -> Drawn:
    assert canvas.x is not None
    split = canvas.split(canvas.values, canvas.x)
    flat = _lies_down(split.drawn, canvas)
    alone = pl.repeat("", split.labels.len(), eager=True)
    few = len(split.drawn) * len(canvas.spec.y) <= LABELLED
    data = pl.DataFrame(
        [
            spread(split.labels, alone, canvas.table[name], split.drawn, [""])["s0"].cast(pl.Float64).alias(f"s{n}")
            for n, name in enumerate(canvas.spec.y)
        ]
    )
    traces = [
        _bar(
            canvas,
            name,
            split.drawn,
            spread(split.labels, alone, canvas.table[name], split.drawn, [""])["s0"],
            n,
            name=words(name),
            flat=flat,
            labelled=few,
        )
        for n, name in enumerate(canvas.spec.y)
    ]
    numbers = _lengths(canvas, data, len(canvas.spec.y))
    return Drawn(
        traces,
        _axes(canvas, split.drawn, flat, numbers, labelled=few) | _mode(canvas),
        (split.note,) if split.note else (),
        flat,
    )


def _mode(canvas: Canvas) -> dict[str, Any]:
    return {"barmode": "relative" if canvas.spec.kind == "stacked_bar" else "group", "showlegend": True}


def _lies_down(order: Sequence[str], canvas: Canvas) -> bool:
    """Long names read better on their own lines."""
    assert canvas.x is not None
    longest = max((len(name) for name in order), default=0)
    crowded = len(order) > LABELLED and longest > 2 and not canvas.x.is_ordered
    return not canvas.x.is_time and ((longest > LONG_LABEL and len(order) >= LIES_DOWN_FROM) or crowded)


def _lengths(canvas: Canvas, data: pl.DataFrame, series: int) -> pl.Series:
    """The lengths that the axis has to hold: of each bar, or of each stack above and below zero."""
    names = [f"s{n}" for n in range(series)]
    if canvas.spec.kind != "stacked_bar":
        return pl.concat([data[name].cast(pl.Float64) for name in names])
    above, below = (
        data.select(pl.sum_horizontal(pl.col(names).cast(pl.Float64).clip(*ends))) for ends in ((0, None), (None, 0))
    )
    return pl.concat([above.to_series(), below.to_series()])


def _axes(canvas: Canvas, order: Sequence[str], flat: bool, values: pl.Series, *, labelled: bool) -> dict[str, Any]:
    names = category_axis(order, LYING_WIDTH if flat else TICK_WIDTH)
    room = 0.0 if not labelled or canvas.spec.kind == "stacked_bar" else 0.08
    lengths = measure_axis(canvas.measure, values, room=room)
    if not flat:
        return {"xaxis": names, "yaxis": lengths}
    titles = {"xaxis": {"title": {"text": literal(canvas.spec.y_title, 60)}}, "yaxis": {"title": {"text": ""}}}
    height = {"height": max(400, 120 + 24 * len(order))}
    return {
        "xaxis": lengths | titles["xaxis"] | {"showgrid": True, "showline": False, "ticks": ""},
        "yaxis": names | titles["yaxis"] | {"autorange": "reversed", "showgrid": False, "showline": True},
    } | height


_TEMPLATE = "%{customdata[0]}<br><b>%{customdata[1]}</b><extra></extra>"
_NAMED = "%{customdata[0]}<br>%{fullData.name}: <b>%{customdata[1]}</b><extra></extra>"


def _hover(canvas: Canvas, names: Sequence[str], values: pl.Series) -> list[list[str]]:
    said = canvas.say(values, canvas.spec.y[0])
    return [[name, value] for name, value in zip(literals(names), said, strict=True)]


def _bar(
    canvas: Canvas,
    measure: str,
    order: Sequence[str],
    values: pl.Series,
    number: int,
    *,
    name: str | None = None,
    flat: bool,
    labelled: bool,
    other: bool = False,
) -> dict[str, Any]:
    said = [literal(show(value, canvas.columns[measure])) for value in values.to_list()]
    names = list(order)
    numbers = array(values)
    alone = name is None
    texts = ["" if value is None else text for value, text in zip(values.to_list(), said, strict=True)]
    return trace(
        "bar",
        x=numbers if flat else names,
        y=names if flat else numbers,
        orientation="h" if flat else "v",
        name=literal(name or "", TICK_WIDTH),
        text=texts if labelled else None,
        textposition="inside" if canvas.spec.kind == "stacked_bar" else "auto" if flat else "outside",
        insidetextanchor="end" if flat else None,
        textangle=0,
        cliponaxis=False,
        customdata=[[a, b] for a, b in zip(literals(names), said, strict=True)],
        hovertemplate=_TEMPLATE if alone else _NAMED,
        marker={"line": {"width": 1 if canvas.spec.kind == "stacked_bar" else 0}},
        meta={"series": number, "other": other, "measure": measure, "name": name or "", "inside": alone and flat},
    )
