"""Charts on a phone: the same marks, in a frame that fits."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from qa.ui.narrow import TITLE_WIDTH, narrow

TITLE = "Average median list price by region name and month of the year"


def figure(*traces: dict[str, Any], title: str = TITLE) -> dict[str, Any]:
    axis = {"type": "linear"}
    return {"data": list(traces), "layout": {"title": {"text": title}, "margin": {"t": 56, "b": 12}, "xaxis": axis}}


BARS = {"type": "bar", "orientation": "h", "x": [3, 2], "y": ["a", "b"], "text": ["3", "2"]}
MANY = {"type": "bar", "orientation": "v", "x": list("abcdef"), "y": [1] * 6, "text": ["1"] * 6}
FEW = {"type": "bar", "orientation": "v", "x": ["a"], "y": [1], "text": ["1"]}
MAP = {"type": "heatmap", "z": [[1, 2]], "colorbar": {"thickness": 12}}
LINE = {"type": "scatter", "x": [1, 2], "y": [3, 4]}


@pytest.mark.parametrize("trace", [BARS, MANY, FEW, MAP, LINE], ids=["bars", "many", "few", "map", "line"])
def test_the_marks_are_the_same_and_plotly_takes_the_figure(trace: dict[str, Any]) -> None:
    made = go.Figure(narrow(figure(trace))).to_dict()["data"][0]
    for place in ("x", "y", "z"):
        assert list(made.get(place, ())) == list(trace.get(place, ()))


def test_a_long_title_breaks_into_lines_that_have_room() -> None:
    layout = narrow(figure(LINE))["layout"]
    lines = layout["title"]["text"].split("<br>")
    assert len(lines) == 2 and " ".join(lines) == TITLE and max(map(len, lines)) <= TITLE_WIDTH
    assert layout["margin"]["t"] == 56 + 18


def test_a_colour_bar_lies_below() -> None:
    made = narrow(figure(MAP))
    assert made["data"][0]["colorbar"]["orientation"] == "h"
    assert made["layout"]["margin"]["b"] > 40


@pytest.mark.parametrize(("trace", "kept"), [(BARS, False), (MANY, False), (FEW, True)], ids=["flat", "many", "few"])
def test_values_stand_at_bars_only_where_they_fit(trace: dict[str, Any], kept: bool) -> None:
    assert (narrow(figure(trace))["data"][0].get("text") is not None) is kept


def test_what_is_given_is_not_changed() -> None:
    given = figure(MAP)
    narrow(given)
    assert given == figure(MAP)
