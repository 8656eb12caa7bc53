"""The frame of the Ask page and the box for a question, which are drawn before anything heavy is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from qa.ui.session import Session

QUESTION_LENGTH = 2000


@dataclass(frozen=True)
class Places:
    """Where the parts of the page go that come later: nothing shifts when they do."""

    picker: Any
    notice: Any
    about: Any
    examples: Any


def draw(here: Session) -> Places:
    """The title, the places, and the box; a question typed is kept until the data is there."""
    st.title("Ask your data")
    picker = st.container(horizontal=True, vertical_alignment="bottom", key="picker")
    notice = st.container()
    about = st.container(key="about")
    running = here.job is not None and not here.job.shown
    follow = any(e.answer.status == "answered" and e.dataset.key == here.dataset_key for e in here.entries)
    st.container(key="ask").chat_input(
        "Ask a follow-up, or something new" if follow else "Ask a question about this data",
        key="question",
        max_chars=QUESTION_LENGTH,
        disabled=running,
        on_submit=_typed,
        args=(here,),
    )
    return Places(picker, notice, about, st.container())


def _typed(here: Session) -> None:
    """Keep the question at once: a run that ends early, because a file was just read, must not lose it."""
    here.asked = (st.session_state["question"] or "").strip() or None
