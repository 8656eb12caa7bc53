"""A chart as a file: a page of its own, a picture, or Plotly's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import plotly.graph_objects as go

from qa.answer.answer import AnswerPart
from qa.answer.chart import ThemeName, repaint
from qa.answer.export import MIMES, Download, file_name
from qa.answer.page import escaped, figure_block, page
from qa.errors import Issue, QAError

PictureFormat = Literal["html", "png", "svg", "json"]

SIZE = (1000, 560)
"""Width and least height of a picture in CSS pixels; PNG has twice as many."""


class NoPicture(QAError):
    """The chart cannot be drawn here: no browser is installed, or it failed."""


def possible() -> bool:
    """Whether a browser that can draw PNG and SVG is installed here. Nothing is started to find out."""
    from choreographer.browsers.chromium import Chromium  # loaded by the first who asks: charts need it rarely

    found = Chromium.find_browser(skip_local=False)
    return bool(found) and Path(str(found)).exists()


def download(part: AnswerPart, format: PictureFormat, *, theme: ThemeName = "light") -> Download:
    """The part's chart as a file. PNG and SVG need a Chromium; without one NoPicture says so."""
    if not part.chart or not part.chart.get("figure"):
        raise NoPicture(Issue("no_chart", "chart", "This answer has no chart.", "Download the table instead."))
    figure = part.chart["figure"]
    note = str(part.chart.get("note") or "")
    match format:
        case "html":
            alt = str(part.chart.get("alt") or part.title)
            below = f'<p class="quiet">{escaped(note)}</p>' if note else ""
            data = page(part.title, figure_block(figure, "chart-0", alt, theme) + below, theme=theme).encode("utf-8")
        case "json":
            data = json.dumps(repaint(figure, theme), allow_nan=False).encode("utf-8")
        case _:
            data = _drawn(_with_note(repaint(figure, theme, solid=True), note), format)
    return Download(file_name(part.title, format), MIMES[format], data)


def _with_note(figure: dict[str, Any], note: str) -> dict[str, Any]:
    """What was left out travels with the picture."""
    if not note:
        return figure
    shown = go.Figure(figure)
    title = shown.layout.title.text or ""
    safe = escaped(note if len(note) <= 160 else note[:159] + "…").replace("$", "&#36;")
    shown.update_layout(title={"text": title, "subtitle": {"text": safe}}, margin={"t": 84})
    made: dict[str, Any] = shown.to_dict()
    return made


def _drawn(figure: dict[str, Any], format: PictureFormat) -> bytes:
    width, least = SIZE
    height = max(least, int(figure["layout"].get("height") or 0))
    try:
        picture: bytes = go.Figure(figure).to_image(format=format, width=width, height=height, scale=2)
    except (RuntimeError, ValueError, OSError) as error:
        raise NoPicture(
            Issue(
                "no_browser",
                "chart",
                "The picture could not be made: no working Chromium was found.",
                "Download the chart as HTML instead.",
            )
        ) from error
    return picture
