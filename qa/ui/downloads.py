"""What an answer can be taken away as: its table in four formats, its chart as a picture or a page."""

from __future__ import annotations

from functools import partial

import streamlit as st

from qa.answer import export, picture
from qa.answer.answer import AnswerPart
from qa.answer.chart import ThemeName
from qa.answer.picture import PictureFormat
from qa.errors import LimitExceeded
from qa.ui import charts
from qa.ui.session import Entry
from qa.ui.words import escape, plain

LABELS: dict[export.Format, str] = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet", "json": "JSON"}
PICTURES: dict[PictureFormat, str] = {"png": "Chart as PNG", "svg": "Chart as SVG", "html": "Chart as a page"}
NEEDS_BROWSER: tuple[PictureFormat, ...] = ("png", "svg")
AT_ONCE = 20_000
"""cells up to which a file is made when the menu opens, so that its notes can be shown beside the button"""


def menu(entry: Entry) -> None:
    """The buttons of every part, and below them what a file changes about the table."""
    for number, part in enumerate(entry.answer.parts):
        if len(entry.answer.parts) > 1:
            st.caption(plain(part.title, 60))
        notes = [_table(entry, part, number, format) for format in LABELS]
        for note in dict.fromkeys(note for note in notes if note):
            st.caption(escape(note))
        _chart(entry, part, number)


def _table(entry: Entry, part: AnswerPart, number: int, format: export.Format) -> str:
    """One button; gives what the file changes about the table, to be said beside it."""
    small = part.table.height * part.table.width <= AT_ONCE
    try:
        made = export.download(part, format) if small or format == "csv" else None
    except LimitExceeded as error:
        return str(error)
    st.download_button(
        LABELS[format],
        data=made.data if made else lambda: export.download(part, format).data,
        file_name=export.file_name(part.title, format),
        mime=export.MIMES[format],
        key=f"download-{entry.id}-{number}-{format}",
        on_click="ignore",
        width="stretch",
    )
    return f"{LABELS[format]}: {made.note}" if made and made.note else ""


def _chart(entry: Entry, part: AnswerPart, number: int) -> None:
    """The chart as it is shown now, in this page's light or dark. Pictures only where a browser can draw them."""
    drawn = charts.shown(part, f"{entry.id}-{number}")
    if drawn is None:
        return
    seen, shade = part.model_copy(update={"chart": drawn}), charts.shade()
    able = picture.possible()
    for format, label in PICTURES.items():
        if able or format not in NEEDS_BROWSER:
            st.download_button(
                label,
                data=partial(_picture, seen, format, shade),
                file_name=export.file_name(part.title, format),
                mime=export.MIMES[format],
                key=f"picture-{entry.id}-{number}-{format}",
                on_click="ignore",
                width="stretch",
            )
    if not able:
        st.caption("PNG and SVG need a Chromium on the server, and there is none.")


def _picture(part: AnswerPart, format: PictureFormat, shade: ThemeName) -> bytes:
    return picture.download(part, format, theme=shade).data
