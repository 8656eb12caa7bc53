"""How charts look: colours that colour-blind readers can tell apart, on light and on dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

from qa.answer.answer import AnswerColumn
from qa.answer.formats import SYMBOLS, WHOLE_UNIT_CURRENCIES
from qa.types import Kind, Role

ThemeName = Literal["light", "dark"]

FONT = "ui-sans-serif, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


@dataclass(frozen=True)
class Theme:
    """The colours of one look. `series` are told apart with the common colour-vision deficiencies and by lightness."""

    background: str
    text: str
    quiet: str
    grid: str
    line: str
    edge: str
    other: str
    series: tuple[str, ...]
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]


_SEQUENTIAL = ("#e8f1f8", "#add0e8", "#5b9ccd", "#2565a3", "#0a284b")
_DIVERGING = ("#8a4b08", "#dc9a4b", "#f4efe6", "#68a3d1", "#194e87")

THEMES: Mapping[str, Theme] = {
    "light": Theme(
        background="#fdfdfb",
        text="#1d2630",
        quiet="#5a6570",
        grid="#e6eae9",
        line="#aab3b8",
        edge="#fdfdfb",
        other="#a3abb2",
        series=("#2f6fb5", "#d98218", "#1f9478", "#c05590", "#6f63b8", "#9a6b3a", "#58a9dc", "#7d8590"),
        sequential=_SEQUENTIAL,
        diverging=_DIVERGING,
    ),
    "dark": Theme(
        background="#14191f",
        text="#e5e9ec",
        quiet="#a4afb8",
        grid="#29313a",
        line="#55616c",
        edge="#14191f",
        other="#6d7782",
        series=("#5a9ee0", "#e79a3c", "#38b596", "#dc7fb2", "#9c91e0", "#c19464", "#8ccbf2", "#a3abb5"),
        sequential=("#16273a", "#1f4a75", "#3579b5", "#79b4e2", "#d9ecfa"),
        diverging=("#f0b26a", "#9a5f1e", "#262c33", "#2f70b0", "#9ccdf4"),
    ),
}


def layout(theme: Theme, *, solid: bool) -> dict[str, Any]:
    """The parts of a layout that depend on the look."""
    ground = theme.background if solid else "rgba(0,0,0,0)"
    axis = {
        "gridcolor": theme.grid,
        "linecolor": theme.line,
        "tickcolor": theme.line,
        "zerolinecolor": theme.line,
        "tickfont": {"color": theme.quiet},
        "title": {"font": {"color": theme.quiet, "size": 13}},
    }
    return {
        "paper_bgcolor": ground,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "color": theme.text, "size": 13},
        "title": {
            "font": {"color": theme.text, "size": 16, "weight": 600},
            "subtitle": {"font": {"color": theme.quiet, "size": 12}},
        },
        "legend": {"font": {"color": theme.text}, "title": {"font": {"color": theme.quiet, "size": 13}}},
        "hoverlabel": {"bgcolor": theme.background, "bordercolor": theme.line, "font": {"color": theme.text}},
        "xaxis": axis,
        "yaxis": axis,
    }


def repaint(figure: go.Figure | Mapping[str, Any], theme: ThemeName, *, solid: bool = False) -> dict[str, Any]:
    """The same figure, as Plotly JSON, in another look; its data is untouched. `solid` fills the ground (for a picture)."""
    look = THEMES[theme]
    content = figure.to_dict() if isinstance(figure, go.Figure) else figure
    traces = [merged(trace, _paint(trace, look)) for trace in content["data"]]
    frame = merged(content["layout"], layout(look, solid=solid))
    return {"data": traces, "layout": merged(frame, {"meta": {"theme": theme}})}


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a nested dict with another laid over it."""
    made = dict(base)
    for key, value in change.items():
        below = made.get(key)
        made[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return made


def _paint(trace: Mapping[str, Any], look: Theme) -> dict[str, Any]:
    """Colours by the part a trace plays: its meta says which series it is."""
    role = trace.get("meta") or {}
    color = look.other if role.get("other") else look.series[int(role.get("series", 0)) % len(look.series)]
    scale = look.diverging if role.get("diverging") else look.sequential
    match trace["type"]:
        case "bar":
            own = role.get("others")
            fill = [look.other if is_other else color for is_other in own] if own else color
            painted = {"marker": {"color": fill, "line": {"color": look.edge}}, "outsidetextfont": {"color": look.text}}
            inside = [look.text if is_other else look.edge for is_other in own] if own else look.edge
            return painted | ({"insidetextfont": {"color": inside}} if role.get("inside") else {})
        case "scatter" | "scattergl" if role.get("trend"):
            return {"line": {"color": look.quiet}}
        case "scatter" | "scattergl":
            return {"line": {"color": color}, "marker": {"color": color, "line": {"color": look.edge}}}
        case "box":
            return {"marker": {"color": color}, "line": {"color": color}, "fillcolor": _faint(color)}
        case "pie":
            wheel = [look.series[n % len(look.series)] for n in range(int(role.get("slices", 0)))]
            colors = [*wheel, look.other] if role.get("folded") else wheel
            return {"marker": {"colors": colors, "line": {"color": look.edge}}, "outsidetextfont": {"color": look.text}}
        case "heatmap" if role.get("ground"):
            return {"colorscale": [[0, look.grid], [1, look.grid]], "textfont": {"color": look.quiet}}
        case "heatmap":
            steps = [[n / (len(scale) - 1), shade] for n, shade in enumerate(scale)]
            return {"colorscale": steps, "colorbar": {"tickfont": {"color": look.quiet}}}
        case _:
            return {"number": {"font": {"color": look.text}}, "title": {"font": {"color": look.quiet}}}


def _faint(color: str) -> str:
    red, green, blue = (int(color[n : n + 2], 16) for n in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


def ticks(column: AnswerColumn | None, *, negative: bool = False) -> dict[str, Any]:
    """An axis's number format by role: percent as percent, money with its sign, years and ids plain."""
    role, unit = (column.role, column.unit) if column else (None, None)
    if role is Role.PERCENT and unit == "fraction":
        return {"tickformat": ",.3~%"}
    if role is Role.PERCENT and unit == "percent":
        return {"ticksuffix": "%"}
    if role is Role.CURRENCY and unit:
        symbol = SYMBOLS.get(unit.upper(), unit if len(unit) == 1 else "")
        # Plotly would write "$−2"; with negative amounts the axis title names the currency.
        return {"tickprefix": symbol} if symbol and not negative else {}
    if role in (Role.YEAR, Role.ID):
        return {"tickformat": "d"}
    return {}


def figure_format(column: AnswerColumn, value: float) -> dict[str, Any]:
    """How an indicator writes its number: {"valueformat", "prefix", "suffix"}."""
    role, unit = column.role, column.unit
    if role is Role.PERCENT and unit == "fraction":
        return {"valueformat": ".1%"}
    if role is Role.PERCENT and unit == "percent":
        return {"valueformat": ",.2~f", "suffix": "%"}
    if role is Role.CURRENCY and unit:
        symbol = SYMBOLS.get(unit.upper(), "")
        places = 0 if unit.upper() in WHOLE_UNIT_CURRENCIES or (abs(value) >= 1000 and value == int(value)) else 2
        return {"valueformat": f",.{places}f", "prefix": symbol, "suffix": "" if symbol else f" {unit}"}
    if column.kind is Kind.INTEGER:
        return {"valueformat": "d" if role in (Role.YEAR, Role.ID) else ",d"}
    return {"valueformat": ",.4~r" if abs(value) < 1 else ",.2~f"}
