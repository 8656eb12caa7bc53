"""Charts: chosen from what the columns are, drawn from the table, checked against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.choose import alternatives, choose
from qa.answer.chart.decode import decode, points, typed
from qa.answer.chart.draw import Drawing, compose, draw
from qa.answer.chart.labels import alt_text
from qa.answer.chart.order import arrange, arrangement
from qa.answer.chart.spec import KINDS, ChartSpec
from qa.answer.chart.theme import ThemeName, repaint

__all__ = [
    "KINDS",
    "ChartSpec",
    "Drawing",
    "ThemeName",
    "alt_text",
    "alternatives",
    "arrange",
    "arrangement",
    "choose",
    "compose",
    "decode",
    "draw",
    "figure",
    "points",
    "repaint",
]


def figure(
    *,
    columns: Sequence[AnswerColumn],
    table: pl.DataFrame,
    plan: Mapping[str, Any],
    total_rows: int,
    question: str = "",
    kind: str | None = None,
    theme: ThemeName = "light",
) -> dict[str, Any] | None:
    """An answer part's `chart`: {"kind", "x", "y", "color", "figure", "alt", "note"}, or None without one.

    `figure` is Plotly JSON as a dict (typed arrays in base64; `decode` reads them), on a clear ground. `kind` is a
    person's choice among `alternatives(...)`. `repaint` turns the figure to the other theme.
    """
    spec = choose(columns, table, plan, total_rows, question=question, kind=kind)
    if spec is None:
        return None
    drawn = compose(spec, columns, table, total_rows=total_rows, theme=theme)
    return {
        "kind": spec.kind,
        "x": spec.x,
        "y": list(spec.y),
        "color": spec.color,
        "figure": typed(drawn.content),
        "alt": alt_text(spec, columns, table),
        "note": drawn.note,
    }
