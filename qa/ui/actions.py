"""What a person can do with an answer: download, share, pin, edit, ask carefully, say if it is right."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from qa.answer import export
from qa.answer.answer import AnswerPart
from qa.ui import boarding, links
from qa.ui.session import Entry, Session
from qa.ui.words import plain

FORMATS: dict[str, tuple[str, str, Callable[[AnswerPart], bytes]]] = {
    "CSV": ("csv", "text/csv", export.csv),
    "Parquet": ("parquet", "application/vnd.apache.parquet", export.parquet),
    "Excel": ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", export.xlsx),
    "JSON": ("json", "application/json", export.json),
}
"""label -> suffix, media type, maker of the bytes"""


def row(here: Session, entry: Entry) -> None:
    """The quiet row of buttons under an answer."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions-{entry.id}"):
        with st.popover("Download", icon=":material/download:", type="tertiary"):
            downloads(entry)
        with st.popover(
            "Share", icon=":material/link:", type="tertiary", key=f"share-{entry.id}", on_change="rerun"
        ) as box:
            if box.open:
                links.share_box(entry)
        boarding.pin_button(here, entry)
        if st.button(
            "Edit",
            key=f"edit-{entry.id}",
            icon=":material/edit:",
            type="tertiary",
            help="Edit the plan, run without a model",
        ):
            here.editing = None if here.editing == entry.id else entry.id
            st.rerun()
        st.feedback("thumbs", key=f"feedback-{entry.id}", on_change=_feedback, args=(here, entry))
        record_link(entry)


def downloads(entry: Entry) -> None:
    """Every part in every format; made only when clicked."""
    for number, part in enumerate(entry.answer.parts):
        if len(entry.answer.parts) > 1:
            st.caption(plain(part.title, 60))
        for label, (suffix, mime, make) in FORMATS.items():
            st.download_button(
                label,
                data=lambda make=make, part=part: make(part),
                file_name=f"answer-{number + 1}.{suffix}",
                mime=mime,
                key=f"download-{entry.id}-{number}-{suffix}",
                on_click="ignore",
                width="stretch",
            )
    st.caption(
        "CSV: text that a spreadsheet would run as a formula gets a leading apostrophe. Numbers stay as they are."
    )


def record_link(entry: Entry) -> None:
    """The way to the full record of this answer."""
    if entry.answer.audit_id:
        st.page_link(
            "pages/audit.py",
            label="Full record",
            icon=":material/fact_check:",
            query_params={"record": entry.answer.audit_id},
        )


def _feedback(here: Session, entry: Entry) -> None:
    entry.feedback = st.session_state[f"feedback-{entry.id}"]
