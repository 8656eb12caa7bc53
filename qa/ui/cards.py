"""An answer as a card: the sentence, the value or chart, the table, then quietly what it rests on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa.answer.answer import Answer
from qa.ui import actions, evidence, links, parts, plan_editor
from qa.ui.asking import ask, run
from qa.ui.session import Dataset, Entry, Session
from qa.ui.sidebar import STATES, summary
from qa.ui.words import escape, plain


def card(here: Session, entry: Entry, dataset: Dataset) -> None:
    """The whole answer. `dataset` is the one worked on now; an answer from other data says so."""
    with st.container(border=True, key=f"answer-{entry.id}"):
        with st.container(key=f"question-{entry.id}", gap="xxsmall"):
            st.text(entry.question)
            st.caption(_source(entry, dataset))
        links.outcome(entry)
        _BODIES[entry.answer.status](here, entry)


def line(here: Session, entry: Entry) -> None:
    """An earlier answer in one line; a click opens it."""
    icon, _ = STATES[entry.answer.status]
    with st.container(border=True, key=f"earlier-{entry.id}", gap="xxsmall"):
        if st.button(plain(entry.question, 120), key=f"open-{entry.id}", icon=icon, type="tertiary"):
            here.focus = entry.id
            st.rerun()
        sentence = entry.answer.parts[0].sentences[:1] if entry.answer.parts else ()
        st.caption(plain(sentence[0], 160) if sentence else summary(entry.answer))


def _source(entry: Entry, dataset: Dataset) -> str:
    """Which data an answer came from, and whether that is still the data of today."""
    label = plain(entry.dataset.label, 80)
    if entry.dataset.digests == dataset.digests:
        return f"{label}{' · ' + entry.note if entry.note else ''}"
    if entry.dataset.key == dataset.key:
        return f"{label} · :orange[from an earlier version of this data]"
    return f"{label} · from other data than is picked now"


def _answered(here: Session, entry: Entry) -> None:
    answer = entry.answer
    if answer.planner == "offline" and any(attempt.error for attempt in answer.attempts):
        st.caption("The model gave no plan that could be used, so the offline planner answered.")
    for number, part in enumerate(answer.parts):
        if number:
            st.divider()
        parts.part_view(part, f"{entry.id}-{number}", heading=len(answer.parts) > 1)
        evidence.tabs(answer, part, f"{entry.id}-{number}")
    actions.row(here, entry)
    if here.editing == entry.id:
        plan_editor.editor(here, entry, entry.dataset)


def _clarify(here: Session, entry: Entry) -> None:
    st.text(entry.answer.question_back or "Which one did you mean?")
    with st.container(key=f"examples-{entry.id}", gap="xsmall"):
        for number, option in enumerate(entry.answer.options):
            if st.button(plain(option.label, 120), key=f"option-{entry.id}-{number}", width="stretch"):
                _choose(here, entry, option.label, option.reply)
    actions.record_link(entry)


def _choose(here: Session, entry: Entry, label: str, reply: dict[str, Any] | None) -> None:
    if reply:
        run(here, entry.dataset, f"{entry.question} – {label}", reply)
    else:
        ask(here, entry.dataset, f"{entry.question} ({label})")
    st.rerun()


def _declined(here: Session, entry: Entry) -> None:
    answer = entry.answer
    st.text(answer.reason or "This question could not be turned into a plan.")
    if answer.missing:
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            st.caption("Not understood:", width="content")
            for word in answer.missing[:8]:
                st.badge(plain(word, 40), color="orange")
    if answer.nearest:
        st.caption("The nearest question that can be answered:")
        if st.button(plain(answer.nearest, 160), key=f"nearest-{entry.id}", icon=":material/arrow_forward:"):
            ask(here, entry.dataset, answer.nearest)
            st.rerun()
    _model_hint(here)
    actions.record_link(entry)


def _model_hint(here: Session) -> None:
    if not here.settings.model:
        st.page_link(
            "pages/settings.py",
            label="Set a model to ask more freely",
            icon=":material/tune:",
        )


def _failed(here: Session, entry: Entry) -> None:
    answer: Answer = entry.answer
    st.error(escape(answer.reason or "No answer came of this."), icon=":material/error:")
    for issue in answer.issues[:5]:
        st.text(f"{issue.message} {issue.hint}".strip())
    if st.button("Ask again", key=f"again-{entry.id}", icon=":material/refresh:"):
        ask(here, entry.dataset, entry.question)
        st.rerun()
    actions.record_link(entry)


_BODIES = {"answered": _answered, "clarify": _clarify, "declined": _declined, "failed": _failed}
