"""The chart of an answer on the page: in the visitor's light or dark, and switchable among the kinds that fit."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from qa.answer.answer import AnswerPart
from qa.answer.chart import ThemeName, alternatives, figure, repaint
from qa.ui.narrow import narrow
from qa.ui.theme import on_phone
from qa.ui.words import escape

NAMES = {
    "bar": "Bars",
    "grouped_bar": "Bars side by side",
    "stacked_bar": "Stacked bars",
    "line": "Line",
    "area": "Area",
    "scatter": "Points",
    "histogram": "Histogram",
    "box": "Boxes",
    "heatmap": "Heat map",
    "pie": "Pie",
    "value": "Value",
    "map": "Map",
}
"""chart kind -> what it is called on the page"""


@st.fragment
def chart(part: AnswerPart, key: str, *, switch: bool = True) -> None:
    """The part's chart, if it has one, with its description for a screen reader and its note."""
    if not part.chart or not part.chart.get("figure") or part.chart.get("kind") == "value":
        return
    drawn = _chosen(part, key) if switch else part.chart
    look = repaint(drawn["figure"], shade())
    painted = go.Figure(narrow(look) if on_phone() else look)
    st.plotly_chart(
        painted,
        theme=None,
        key=f"chart-{key}-{drawn['kind']}",
        alt=drawn.get("alt") or part.title,
        config={"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
    )
    if drawn.get("note"):
        st.caption(escape(drawn["note"]))


def _chosen(part: AnswerPart, key: str) -> dict[str, Any]:
    """The chart as chosen by the data, or as the person switched it."""
    now: dict[str, Any] = part.chart or {}
    kinds = kinds_of(part)
    if len(kinds) < 2:
        return now
    picked = st.segmented_control(
        "Chart",
        kinds,
        default=now["kind"],
        format_func=lambda k: NAMES.get(k, k),
        key=f"kind-{key}",
        label_visibility="collapsed",
    )
    return _as(part, picked)


def shown(part: AnswerPart, key: str) -> dict[str, Any] | None:
    """The chart that `chart` draws for this part and key, switched by hand or not; None when it draws none."""
    if not part.chart or not part.chart.get("figure") or part.chart.get("kind") == "value":
        return None
    return _as(part, st.session_state.get(f"kind-{key}"))


def _as(part: AnswerPart, kind: str | None) -> dict[str, Any]:
    now: dict[str, Any] = part.chart or {}
    if kind in (None, now["kind"]):
        return now
    other = figure(columns=part.columns, table=part.table, plan=part.plan, total_rows=part.total_rows, kind=kind)
    return other or now


def kinds_of(part: AnswerPart) -> list[str]:
    """The kinds of chart that fit, the one chosen by the data first."""
    if not part.chart:
        return []
    fitting = alternatives(part.columns, part.table, part.plan, part.total_rows)
    return [kind for kind in dict.fromkeys((part.chart["kind"], *fitting)) if kind != "value"]


def shade() -> ThemeName:
    """Whether this visitor's page is light or dark."""
    return "dark" if st.context.theme.type == "dark" else "light"
