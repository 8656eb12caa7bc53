"""The audit trail beside every page: each question with its state, rows, time, model and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from qa.ui.session import Entry, Session
from qa.ui.words import money, plain, rows, seconds

if TYPE_CHECKING:
    from qa.answer.answer import Answer

STATES = {
    "answered": (":material/check_circle:", "answered"),
    "clarify": (":material/help:", "needs a choice"),
    "declined": (":material/do_not_disturb_on:", "declined"),
    "failed": (":material/error:", "failed"),
}


def trail(here: Session) -> None:
    """Newest first; a click opens that answer on the Ask page."""
    st.divider()
    st.caption("Questions of this session")
    if not here.entries:
        st.caption("None yet.")
        return
    with st.container(key="trail", gap=None):
        for entry in reversed(here.entries[-50:]):
            _line(here, entry)
    if here.spent:
        st.caption(f"Spent on models: {money(here.spent)}")


def _line(here: Session, entry: Entry) -> None:
    icon, state = STATES[entry.answer.status]
    label = plain(entry.question, 60)
    with st.container(key=f"trail-line-{entry.id}", gap="xxsmall"):
        _draw(here, entry, label, icon, state)


def _draw(here: Session, entry: Entry, label: str, icon: str, state: str) -> None:
    if st.button(label, key=f"trail-{entry.id}", icon=icon, type="tertiary", width="stretch"):
        here.focus = entry.id
        st.switch_page("app.py")
    st.caption(summary(entry.answer))


def summary(answer: Answer) -> str:
    """`12 rows · 0.3 s · offline · $0.0012`, as far as each is known. Ours and numbers, plus a model's name."""
    pieces = [STATES[answer.status][1]] if answer.status != "answered" else []
    if answer.parts:
        pieces.append(rows(sum(part.total_rows for part in answer.parts)))
    if total := answer.timings.get("total"):
        pieces.append(seconds(total / 1000))
    pieces.append(plain(answer.model or answer.planner or "no planner", 40))
    cost = sum(a.cost or 0.0 for a in answer.attempts)
    if cost:
        pieces.append(money(cost))
    return " · ".join(pieces)
