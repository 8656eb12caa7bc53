"""What a person can do with an answer: download, share, pin, edit, ask again carefully, say if it is right."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from qa.audit import Audit
from qa.ui import boarding, downloads, links
from qa.ui.asking import ask
from qa.ui.session import Entry, Session

VERDICTS: tuple[Literal["wrong", "right"], ...] = ("wrong", "right")


@st.fragment
def row(here: Session, entry: Entry) -> None:
    """The quiet row of buttons under an answer."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions-{entry.id}"):
        menu = st.popover(
            "Download", icon=":material/download:", type="tertiary", key=f"menu-{entry.id}", on_change="rerun"
        )
        if menu.open:
            with menu:
                downloads.menu(entry)
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
