"""What a person can do with an answer: download, share, pin, edit, ask again carefully, say if it is right."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from qa.answer import export
from qa.answer.answer import AnswerPart
from qa.audit import Audit
from qa.errors import LimitExceeded
from qa.ui import boarding, links
from qa.ui.asking import ask
from qa.ui.session import Entry, Session
from qa.ui.words import escape, plain

LABELS: dict[export.Format, str] = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet", "json": "JSON"}
VERDICTS: tuple[Literal["wrong", "right"], ...] = ("wrong", "right")
AT_ONCE = 20_000
"""cells up to which a file is made when the menu opens, so that its notes can be shown beside the button"""


@st.fragment
def row(here: Session, entry: Entry) -> None:
    """The quiet row of buttons under an answer."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions-{entry.id}"):
        menu = st.popover(
            "Download", icon=":material/download:", type="tertiary", key=f"menu-{entry.id}", on_change="rerun"
        )
        if menu.open:
            with menu:
                _downloads(entry)
        box = st.popover("Share", icon=":material/link:", type="tertiary", key=f"share-{entry.id}", on_change="rerun")
        if box.open:
            with box:
                links.share_box(here, entry)
        boarding.pin_button(here, entry)
        if st.button("Edit", key=f"edit-{entry.id}", icon=":material/edit:", type="tertiary"):
            here.editing = None if here.editing == entry.id else entry.id
            st.rerun()
        if here.settings.model and st.button(
            "Ask again carefully", key=f"careful-{entry.id}", icon=":material/repeat:", type="tertiary"
        ):
            ask(here, entry.dataset, entry.question, careful=True)
            st.rerun()
        record_link(entry)
        st.feedback(
            "thumbs", key=f"feedback-{entry.id}", default=entry.feedback, on_change=_feedback, args=(here, entry)
        )


def _downloads(entry: Entry) -> None:
    for number, part in enumerate(entry.answer.parts):
        if len(entry.answer.parts) > 1:
            st.caption(plain(part.title, 60))
        notes = [_download(entry, part, number, format) for format in LABELS]
        for note in dict.fromkeys(note for note in notes if note):
            st.caption(escape(note))


def _download(entry: Entry, part: AnswerPart, number: int, format: export.Format) -> str:
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


def record_link(entry: Entry) -> None:
    """The way to the full record of this answer."""
    if entry.answer.audit_id:
        st.page_link(
            "pages/audit.py",
            label="Record",
            icon=":material/fact_check:",
            query_params={"record": entry.answer.audit_id},
        )


def _feedback(here: Session, entry: Entry) -> None:
    """Keep a thumb on the record of the answer it is about."""
    entry.feedback = st.session_state[f"feedback-{entry.id}"]
    if entry.answer.audit_id and entry.feedback is not None:
        Audit(here.settings.audit).feedback(entry.answer.audit_id, VERDICTS[entry.feedback], session=here.id)
