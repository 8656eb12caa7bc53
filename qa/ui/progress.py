"""What a person sees while a question is being answered: the stage, the seconds, and a Stop that works."""

from __future__ import annotations

import streamlit as st

from qa.ui.job import STAGES, Job
from qa.ui.session import Session
from qa.ui.words import plain

AT_ONCE = 1.2
"""seconds the page waits for a quick answer before it shows progress"""
EVERY = 0.4
"""seconds between two looks at a running question"""


@st.fragment(run_every=EVERY)
def watch(here: Session) -> None:
    """Draw the running question; when it is done, draw the page again with its answer."""
    job = here.job
    if job is None or job.shown:
        st.rerun()
        return
    with st.container(border=True, key="running"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/hourglass_top: **{_stage(job)}** · {job.seconds:.0f} s")
            if st.button("Stop", icon=":material/stop_circle:", key="stop"):
                job.stop()
                st.rerun()
        st.text(job.question)
        for stage, detail in job.events[-6:-1]:
            st.caption(f":material/check: {STAGES.get(stage, plain(stage))} {plain(detail)}")


@st.fragment(run_every=EVERY)
def verdicts(here: Session) -> None:
    """Wait for the cross-checks of answers that are shown already; when one ends, draw the page again with its verdict."""
    if any(entry.checking and entry.checking.finished for entry in here.entries):
        st.rerun()


def _stage(job: Job) -> str:
    if not job.events:
        return "Starting"
    stage, detail = job.events[-1]
    return f"{STAGES.get(stage, plain(stage))}{' – ' + plain(detail) if detail else ''}"
