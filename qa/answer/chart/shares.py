"""Parts of a whole, crossings, places and single numbers: pie, heat map, tile map, indicator."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from qa.answer.chart.canvas import Canvas, Drawn, category_axis, trace
from qa.answer.chart.labels import literal, literals
from qa.answer.chart.marks import array, spread
from qa.answer.chart.sight import SLICES
from qa.answer.chart.theme import figure_format, ticks
from qa.answer.chart.tiles import PLACES, code_of
from qa.answer.formats import show, words

HEAT_CATEGORIES = 40
WRITTEN_CELLS = 150


def pie(canvas: Canvas) -> Drawn:
    """Few shares of one whole, the largest first, clockwise from the top."""
    assert canvas.x is not None
    split = canvas.split(canvas.values, canvas.x, most=SLICES)
    alone = pl.repeat("", split.labels.len(), eager=True)
    data = spread(split.labels, alone, canvas.values, split.drawn, [""])
    if not canvas.x.is_ordered:
        data = data.with_columns((pl.col("x") == (split.other or "")).alias("o")).sort(
            "o", "s0", descending=[False, True], maintain_order=True
        )
    numbers = data["s0"].cast(pl.Float64)
    total = float(numbers.sum()) or 1.0
    said = [literal(show(value, canvas.measure)) for value in data["s0"].to_list()]
    shares = [f"{value / total:.1%}" for value in numbers.to_list()]
    names = literals(data["x"].to_list(), 40)
    made = trace(
        "pie",
        labels=data["x"].to_list(),
        values=array(data["s0"]),
        text=[f"{name}<br>{share}" for name, share in zip(names, shares, strict=True)],
        textinfo="text",
        textposition="outside",
        customdata=[[name, value, share] for name, value, share in zip(names, said, shares, strict=True)],
        hovertemplate="%{customdata[0]}<br><b>%{customdata[1]}</b> (%{customdata[2]})<extra></extra>",
        hole=0.5,
        sort=False,
        direction="clockwise",
        automargin=True,
        marker={"line": {"width": 2}},
        meta={"slices": len(split.order), "folded": split.other is not None},
    )
    return Drawn([made], {"showlegend": False, "margin": {"t": 92, "b": 28}}, (split.note,) if split.note else ())


def heatmap(canvas: Canvas) -> Drawn:
    """A measure over two categories; or several measures over one."""
    assert canvas.x is not None
    if canvas.color is None:
        return _measures_heat(canvas)
    values = canvas.table[canvas.color.name]
    across = canvas.split(values, canvas.x, most=HEAT_CATEGORIES)
    down = canvas.split(values, canvas.field(canvas.spec.y[0]), most=HEAT_CATEGORIES, series=True)
    data = spread(across.labels, down.labels, values, across.drawn, down.drawn)
    grid = [data[f"s{n}"] for n in range(len(down.drawn))]
    notes = tuple(note for note in (across.note, down.note) if note)
    return _heat(canvas, list(across.drawn), list(down.drawn), grid, canvas.color.name, notes)


def _measures_heat(canvas: Canvas) -> Drawn:
    assert canvas.x is not None
    across = canvas.split(canvas.values, canvas.x, most=HEAT_CATEGORIES)
    alone = pl.repeat("", across.labels.len(), eager=True)
    grid = [spread(across.labels, alone, canvas.table[name], across.drawn, [""])["s0"] for name in canvas.spec.y]
    notes = (across.note,) if across.note else ()
    return _heat(canvas, list(across.drawn), [words(name) for name in canvas.spec.y], grid, canvas.spec.y[0], notes)


def _heat(
    canvas: Canvas, across: list[str], down: list[str], grid: list[pl.Series], measure: str, notes: tuple[str, ...]
) -> Drawn:
    column = canvas.columns[measure]
    z = np.array([array(row) for row in grid], dtype=float)
    said = [[literal(show(value, column)) if value is not None else "" for value in row.to_list()] for row in grid]
    written = z.size <= WRITTEN_CELLS
    low, high = (float(np.nanmin(z)), float(np.nanmax(z))) if np.isfinite(z).any() else (0.0, 1.0)
    both = low < 0 < high
    bound = max(abs(low), abs(high))
    ends = {"zmin": -bound, "zmax": bound} if both else {}
    hover = [
        [[a, d, text] for a, text in zip(literals(across), texts, strict=True)]
        for d, texts in zip(literals(down), said, strict=True)
    ]
    made = trace(
        "heatmap",
        x=across,
        y=down,
        z=z,
        text=said if written else None,
        texttemplate="%{text}" if written else None,
        customdata=hover,
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br><b>%{customdata[2]}</b><extra></extra>",
        hoverongaps=False,
        xgap=2,
        ygap=2,
        colorbar={"thickness": 12, "outlinewidth": 0, "title": {"text": ""}, **ticks(column)},
        meta={"diverging": both},
        **ends,
    )
    layout = {
        "xaxis": category_axis(across) | {"showline": False, "ticks": ""},
        "yaxis": category_axis(down) | {"autorange": "reversed", "showgrid": False},
        "height": max(400, 150 + 26 * len(down)),
    }
    return Drawn([made], layout, notes)


def state_tiles(canvas: Canvas) -> Drawn:
    """The states as equal squares, each with its code; a state without a value stays empty."""
    assert canvas.x is not None
    texts = canvas.x.values.cast(pl.String).to_list()
    found = {
        code: (name, value)
        for name, value in zip(texts, canvas.values.to_list(), strict=True)
        if (code := code_of(name))
    }
    columns = 1 + max(column for column, _ in PLACES.values())
    rows = 1 + max(row for _, row in PLACES.values())
    z = np.full((rows, columns), np.nan)
    said = [[["", ""] for _ in range(columns)] for _ in range(rows)]
    written = [["" for _ in range(columns)] for _ in range(rows)]
    for code, (column, row) in PLACES.items():
        name, value = found.get(code, (code, None))
        z[row, column] = np.nan if value is None else float(value)
        said[row][column] = [literal(name or code), literal(show(value, canvas.measure))]
        written[row][column] = code
    empty = np.where(np.isnan(z) & np.array([[bool(code) for code in line] for line in written]), 0.0, np.nan)
    made = trace(
        "heatmap",
        x=list(range(columns)),
        y=list(range(rows)),
        z=z,
        text=_only(written, ~np.isnan(z)),
        texttemplate="%{text}",
        customdata=said,
        hovertemplate="%{customdata[0]}<br><b>%{customdata[1]}</b><extra></extra>",
        hoverongaps=False,
        xgap=3,
        ygap=3,
        colorbar={"thickness": 12, "outlinewidth": 0, **ticks(canvas.measure)},
        meta={"diverging": False, "states": [[code, *PLACES[code]] for code in found]},
    )
    bare = {
        "showticklabels": False,
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "title": {"text": ""},
        "type": "linear",
    }
    layout = {"xaxis": bare, "yaxis": bare | {"autorange": "reversed", "scaleanchor": "x"}, "height": 460}
    absent = len(PLACES) - len(found)
    notes = (f"{absent} states are not in the result and stay empty.",) if absent else ()
    missing = canvas.x.values.null_count()
    ground = trace(
        "heatmap",
        x=made["x"],
        y=made["y"],
        z=empty,
        text=_only(written, ~np.isnan(empty)),
        texttemplate="%{text}",
        showscale=False,
        hoverinfo="skip",
        xgap=3,
        ygap=3,
        meta={"ground": True},
    )
    return Drawn(
        [ground, made], layout, (*notes, *((f"{missing} rows without a state are not drawn.",) if missing else ()))
    )


def _only(texts: list[list[str]], shown: np.ndarray[Any, Any]) -> list[list[str]]:
    return [[text if keep else "" for text, keep in zip(*line, strict=True)] for line in zip(texts, shown, strict=True)]


def value(canvas: Canvas) -> Drawn:
    """One number, with how far it is from the one it is compared with."""
    number = canvas.values[0]
    if number is None:
        return Drawn([trace("indicator", mode="number", value=None)], {"height": 200})
    form = figure_format(canvas.measure, float(number))
    compare: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    before = canvas.table[canvas.spec.compare][0] if canvas.spec.compare else None
    if before is not None and canvas.spec.compare:
        compare = {
            "mode": "number+delta",
            "delta": {
                "reference": float(before),
                "font": {"size": 20},
                **form,
                "increasing": {"color": "#1f9478"},
                "decreasing": {"color": "#c05590"},
            },
        }
        notes = (f"Compared with {words(canvas.spec.compare)}: {show(before, canvas.columns[canvas.spec.compare])}.",)
    label = canvas.table[canvas.spec.label][0] if canvas.spec.label else None
    head = literal(show(label, canvas.columns[canvas.spec.label])) if canvas.spec.label else ""
    made = trace(
        "indicator",
        **(
            {"mode": "number", "value": float(number), "number": form | {"font": {"size": 52}}, "title": {"text": head}}
            | compare
        ),
    )
    return Drawn([made], {"height": 200}, notes)
