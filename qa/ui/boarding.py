"""Pinning answers to the board, and the board itself."""

from __future__ import annotations

import streamlit as st

from qa.ui import parts
from qa.ui.session import Entry, Session
from qa.ui.words import plain


def pin_button(here: Session, entry: Entry) -> None:
    """Pin this answer, or take it off again."""
    pinned = entry.id in here.pins
    label, icon = ("Pinned", ":material/keep_off:") if pinned else ("Pin", ":material/keep:")
    if st.button(label, key=f"pin-{entry.id}", icon=icon, type="tertiary"):
        here.pins.remove(entry.id) if pinned else here.pins.append(entry.id)
        st.rerun(scope="fragment")


def board(here: Session) -> None:
    """Every pinned answer as a tile; an empty board says how to fill it."""
    tiles = [entry for id in here.pins if (entry := here.entry(id))]
    if not tiles:
        st.info("Nothing is pinned yet. Ask a question and press Pin under its answer.", icon=":material/keep:")
        st.page_link("app.py", label="Ask a question", icon=":material/forum:")
        return
    grid = st.grid(2, min_column_width=320, border=True)
    for entry in tiles:
        with grid.cell():
            _tile(here, entry)


def _tile(here: Session, entry: Entry) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(entry.question, 120)}**")
        if st.button("Unpin", key=f"unpin-{entry.id}", icon=":material/keep_off:", type="tertiary"):
            here.pins.remove(entry.id)
            st.rerun()
    st.caption(plain(entry.dataset.label))
    for number, part in enumerate(entry.answer.parts):
        parts.part_view(part, f"tile-{entry.id}-{number}")
