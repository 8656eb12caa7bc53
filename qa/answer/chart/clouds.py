"""Single values: scatter with trend, histogram, box plot."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from qa.answer.chart.canvas import HOVERED, Canvas, Drawn, category_axis, legend_title, number_ticks, trace
from qa.answer.chart.labels import TICK_WIDTH, literal
from qa.answer.chart.marks import MARKS, array, thinned
from qa.answer.chart.sight import SERIES
from qa.answer.formats import number, plural, show, words

FAST_FROM = 3_000
"""Points from which the graphics card draws them."""

TREND_FROM = 5


def scatter(canvas: Canvas) -> Drawn:
    """A mark a row that has both values; a straight trend when both are numbers and there is one series."""
    assert canvas.x is not None
    both = canvas.table.filter(canvas.x.values.is_not_null() & canvas.values.is_not_null())
    lost = canvas.table.height - both.height
    notes: tuple[str, ...] = (f"{plural(lost, 'row')} without both values not drawn.",) if lost else ()
    if canvas.total_rows > canvas.table.height:
        notes = (*notes, f"Only the first {number(canvas.table.height)} of {number(canvas.total_rows)} rows are drawn.")
    trend = _trend(canvas, both)
    shown, thin = thinned(both)
    inner = Canvas(canvas.spec, canvas.columns, shown, canvas.total_rows)
    traces, layout, more = _clouds(inner)
    assert inner.x is not None
    axis = (
        inner.along(inner.x)[1]
        if inner.x.is_time
        else {"type": "linear", **number_ticks(inner.x.column, inner.x.values)}
    )
    layout |= {
        "xaxis": axis | {"showgrid": True},
        "yaxis": {"type": "linear", **number_ticks(canvas.measure, canvas.values)},
    }
    notes = (*notes, *((thin,) if thin else ()), *more, *((trend[1],) if trend else ()))
    return Drawn([*traces, *([trend[0]] if trend else [])], layout, notes)


def _clouds(canvas: Canvas) -> tuple[list[dict[str, Any]], dict[str, Any], tuple[str, ...]]:
    if canvas.color is None:
        return [_cloud(canvas, canvas.table, 0, "")], {"showlegend": False}, ()
    ones = pl.repeat(1, canvas.table.height, dtype=pl.Int64, eager=True)
    counted = Canvas(canvas.spec, canvas.columns, canvas.table, canvas.table.height)
    series = counted.split(ones, canvas.color, most=SERIES, series=True)
    shown = [(n, name, canvas.table.filter(series.labels == name)) for n, name in enumerate(series.drawn)]
    traces = [_cloud(canvas, rows, n, name, other=name == series.other) for n, name, rows in shown]
    note = (series.note,) if series.note else ()
    return traces, {"showlegend": True} | legend_title(canvas.color), note


def _cloud(canvas: Canvas, rows: pl.DataFrame, n: int, name: str, *, other: bool = False) -> dict[str, Any]:
    assert canvas.x is not None
    inner = Canvas(canvas.spec, canvas.columns, rows, canvas.total_rows)
    assert inner.x is not None
    x = inner.along(inner.x)[0] if inner.x.is_time else array(inner.x.values)
    return trace(
        "scattergl" if canvas.table.height > FAST_FROM else "scatter",
        x=x,
        y=array(inner.values),
        mode="markers",
        name=literal(name, TICK_WIDTH),
        marker={
            "size": 9 if rows.height <= 200 else 6,
            "opacity": 0.85 if rows.height <= 300 else 0.6,
            "line": {"width": 0.5},
        },
        **_hover(inner),
        meta={"series": n, "other": other, "measure": canvas.spec.y[0], "name": name},
    )


def _hover(canvas: Canvas) -> dict[str, Any]:
    """What a mark says. Names and values come as data, never inside the template."""
    spec = canvas.spec
    if canvas.table.height > HOVERED or spec.x is None:
        return {}
    told = [
        [f"{literal(words(name))}: {text}" for text in canvas.say(canvas.table[name], name)]
        for name in (spec.x, spec.y[0])
    ]
    label = canvas.say(canvas.table[spec.label], spec.label) if spec.label else [""] * canvas.table.height
    head = "<b>%{customdata[2]}</b><br>" if spec.label else ""
    return {
        "customdata": [list(cells) for cells in zip(*told, label, strict=True)],
        "hovertemplate": f"{head}%{{customdata[0]}}<br>%{{customdata[1]}}<extra></extra>",
    }


def _trend(canvas: Canvas, rows: pl.DataFrame) -> tuple[dict[str, Any], str] | None:
    """The least-squares line over every row with both values, with its equation in words."""
    assert canvas.x is not None
    if canvas.color is not None or canvas.x.is_time or rows.height < TREND_FROM:
        return None
    x, y = (rows[name].cast(pl.Float64).to_numpy() for name in (canvas.x.name, canvas.spec.y[0]))
    spread = np.ptp(x)
    if not np.isfinite(spread) or spread == 0 or np.ptp(y) == 0:
        return None
    center, scale = x.mean(), spread
    slope, middle = np.polyfit((x - center) / scale, y, 1)
    ends = np.array([x.min(), x.max()])
    fitted = middle + slope * (ends - center) / scale
    if not np.isfinite(fitted).all():
        return None
    r2 = float(np.corrcoef(x, y)[0, 1] ** 2)
    line = trace(
        "scatter",
        x=ends,
        y=fitted,
        mode="lines",
        name="trend",
        line={"width": 2, "dash": "dash"},
        hoverinfo="skip",
        meta={"trend": True},
    )
    per = float(f"{slope / scale:.10g}")
    way = "rises" if per > 0 else "falls"
    note = f"Trend: {words(canvas.spec.y[0])} {way} by {number(abs(per))} per unit of {words(canvas.x.name)} (R² {number(round(r2, 4))}, {plural(rows.height, 'row')})."
    return line, note


# --- distributions -----------------------------------------------------------------------------------------------------


def histogram(canvas: Canvas) -> Drawn:
    """How often values fall into equal, left-closed ranges; the counts are made here, so that little is sent."""
    values = canvas.values.drop_nulls()
    numbers = values.cast(pl.Float64).to_numpy()
    missing = canvas.values.len() - values.len()
    notes: tuple[str, ...] = (f"{plural(missing, 'missing value')} not drawn.",) if missing else ()
    if canvas.total_rows > canvas.table.height:
        notes = (
            *notes,
            f"Only the first {number(canvas.table.height)} of {number(canvas.total_rows)} rows are counted.",
        )
    edges = _edges(numbers, whole=values.dtype.is_integer())
    counts, _ = np.histogram(numbers, edges)
    low, high = edges[:-1], edges[1:]
    hover = [
        [_range(canvas, a, b, whole=values.dtype.is_integer()), plural(int(c), "row")]
        for a, b, c in zip(low, high, counts, strict=True)
    ]
    made = trace(
        "bar",
        x=(low + high) / 2,
        y=counts,
        width=high - low,
        customdata=hover,
        hovertemplate="%{customdata[0]}<br><b>%{customdata[1]}</b><extra></extra>",
        marker={"line": {"width": 1}},
        meta={"series": 0, "edges": edges.tolist()},
    )
    name = literal(canvas.spec.y_title, 60)
    layout = {
        "xaxis": {"type": "linear", "title": {"text": name}, **number_ticks(canvas.measure, canvas.values)},
        "yaxis": {"type": "linear", "rangemode": "tozero", "title": {"text": "Rows"}},
        "bargap": 0,
        "showlegend": False,
    }
    return Drawn([made], layout, notes)


def _range(canvas: Canvas, low: float, high: float, *, whole: bool) -> str:
    if whole and high - low == 1:
        return literal(show(int(np.ceil(low)), canvas.measure))
    return literal(f"{show(float(low), canvas.measure)} to {show(float(high), canvas.measure)}")


def _edges(numbers: np.ndarray[Any, Any], *, whole: bool) -> np.ndarray[Any, Any]:
    """Edges on round numbers; whole numbers of a short range have a bar each."""
    if numbers.size == 0:
        return np.array([0.0, 1.0])
    low, high = float(numbers.min()), float(numbers.max())
    if whole and high - low <= 30:
        return np.arange(low - 0.5, high + 1.5)
    if low == high:
        return np.array([low - 0.5, low + 0.5]) if abs(low) < 1e15 else np.array([low * (1 - 1e-6), low * (1 + 1e-6)])
    quarter = np.subtract(*np.percentile(numbers, [75, 25]))
    width = 2 * quarter / np.cbrt(numbers.size) if quarter > 0 else (high - low) / np.sqrt(numbers.size)
    bins = min(40, max(6, int(np.ceil((high - low) / width)))) if np.isfinite(width) and width > 0 else 20
    step = _round_step((high - low) / bins)
    if whole:
        step = max(1.0, np.ceil(step))
    start = np.floor(low / step) * step
    edges: np.ndarray[Any, Any] = start + step * np.arange(int(np.floor((high - start) / step)) + 2)
    return edges


def _round_step(step: float) -> float:
    size = 10.0 ** np.floor(np.log10(step))
    return float(next(nice for nice in (1, 2, 2.5, 5, 10) if nice * size >= step * 0.999) * size)


def boxes(canvas: Canvas) -> Drawn:
    """Median, quartiles and outliers of each category; quartiles interpolate linearly, as the language's do."""
    known = canvas.table.filter(canvas.values.is_not_null())
    shown, thin = thinned(known, MARKS)
    inner = Canvas(canvas.spec, canvas.columns, shown, canvas.total_rows)
    notes: tuple[str, ...] = (thin,) if thin else ()
    if canvas.total_rows > canvas.table.height:
        notes = (*notes, f"Only the first {number(canvas.table.height)} of {number(canvas.total_rows)} rows are drawn.")
    layout: dict[str, Any] = {
        "yaxis": {"type": "linear", **number_ticks(canvas.measure, canvas.values)},
        "showlegend": False,
    }
    values = array(inner.values)
    if inner.x is None:
        layout |= {"xaxis": {"type": "category", "showticklabels": False, "title": {"text": ""}, "ticks": ""}}
        return Drawn([_box(values, None)], layout, notes)
    split = inner.split(inner.values, inner.x)
    drawn = split.labels.is_in(list(split.order)).to_numpy()
    notes = (*notes, split.note) if split.note and not split.other else notes
    layout |= {"xaxis": category_axis(split.order)}
    return Drawn([_box(values[drawn], split.labels.filter(pl.Series(drawn)).to_list())], layout, notes)


def _box(values: np.ndarray[Any, Any], names: list[str] | None) -> dict[str, Any]:
    return trace(
        "box",
        x=names,
        y=values,
        quartilemethod="linear",
        boxpoints="outliers",
        line={"width": 1.5},
        marker={"size": 5},
        hoverinfo="y",
        name="",
        meta={"series": 0},
    )
