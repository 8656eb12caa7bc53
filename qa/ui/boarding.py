"""Pinning an answer to the board, and taking it off."""

from __future__ import annotations

import streamlit as st

from qa.ui.session import Entry, Session


def pin_button(here: Session, entry: Entry) -> None:
    st.button(
        "Pin", key=f"pin-{entry.id}", icon=":material/keep:", type="tertiary", help="Pin this answer to the board"
    )
