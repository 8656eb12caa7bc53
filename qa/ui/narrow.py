"""A chart made fit for a phone: what a wide page has room for moves or goes; its data stays untouched."""

from __future__ import annotations

import textwrap
from typing import Any

from qa.answer.chart.theme import merged

TITLE_WIDTH = 34
"""characters of a title's line"""
FEW_BARS = 4
"""upright bars whose values still fit above them"""


def narrow(figure: dict[str, Any]) -> dict[str, Any]:
    """The same figure, as Plotly JSON: a title in shorter lines, a colour bar below, no values beside bars."""
    layout = figure["layout"]
    barred = any("colorbar" in trace for trace in figure["data"])
    lines = _lines(str((layout.get("title") or {}).get("text") or ""))
    margin = layout.get("margin") or {}
    more = 18 * (len(lines) - 1 - str(layout["title"].get("text") or "").count("<br>")) if lines else 0
    change: dict[str, Any] = {
        "title": {"text": "<br>".join(lines), "font": {"size": 15}, "pad": {"l": 4}},
        "margin": {"l": 4, "r": 8, "t": margin.get("t", 56) + max(more, 0), "b": 56 if barred else margin.get("b", 12)},
        "xaxis": {"title": {"font": {"size": 12}}, "tickfont": {"size": 11}} | _fewer_ticks(layout.get("xaxis") or {}),
        "yaxis": {"title": {"font": {"size": 12}}, "tickfont": {"size": 11}},
    }
    return {"data": [_trace(trace) for trace in figure["data"]], "layout": merged(layout, change)}


def _lines(title: str) -> list[str]:
    return textwrap.wrap(title.replace("<br>", " "), TITLE_WIDTH, break_on_hyphens=False, break_long_words=False)


def _fewer_ticks(axis: dict[str, Any]) -> dict[str, Any]:
    return {"nticks": 4} if axis.get("type") == "linear" and "tickvals" not in axis else {}


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    if "colorbar" in trace:
        below = {"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0, "yanchor": "top", "len": 0.9, "nticks": 4}
        return merged(trace, {"colorbar": below | {"ypad": 24, "tickfont": {"size": 11}}})
    if trace["type"] == "bar" and trace.get("text") is not None and _crowded(trace):
        return trace | {"text": None}
    return trace


def _crowded(trace: dict[str, Any]) -> bool:
    return trace.get("orientation") == "h" or len(trace.get("x", ())) > FEW_BARS
