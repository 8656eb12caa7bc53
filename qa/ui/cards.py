"""An answer as a card: the sentence, the value or chart, the table, then quietly what it rests on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa.answer.answer import Answer, AnswerPart
from qa.answer.formats import show
from qa.ui import actions, charts, evidence, links, plan_editor
from qa.ui.asking import ask, run
from qa.ui.columns import column_config
from qa.ui.session import Dataset, Entry, Session
from qa.ui.sidebar import STATES, summary
from qa.ui.words import cut, escape, plain, plural, rows

SECOND = "second engine"
"""the name of the cross-check among an answer's checks"""
ROWS_SHOWN = 8
"""rows of a table that are seen without scrolling"""


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
        part_view(part, f"{entry.id}-{number}", heading=len(answer.parts) > 1)
        evidence.tabs(answer, part, f"{entry.id}-{number}")
    actions.row(here, entry)
    if here.editing == entry.id:
        plan_editor.editor(here, entry, entry.dataset)


def part_view(part: AnswerPart, key: str, *, heading: bool = False) -> None:
    """Sentence, value, chart, table and the quiet row of one part."""
    if heading:
        st.subheader(escape(part.title))
    if _is_value(part):
        with st.container(key=f"value-{key}"):
            st.text(shown_value(part))
    if part.sentences:
        with st.container(key=f"sentence-{key}"):
            st.text(" ".join(part.sentences))
    charts.chart(part, key)
    if not _is_value(part):
        table(part, key)
    for warning in part.warnings:
        st.warning(escape(warning), icon=":material/warning:")
    _quiet(part, key)


def _is_value(part: AnswerPart) -> bool:
    return part.value is not None and part.table.height == 1 and part.table.width == 1


def shown_value(part: AnswerPart) -> str:
    """The single value as its column is shown everywhere else."""
    return show(part.value, part.columns[0])


def table(part: AnswerPart, key: str) -> None:
    """The rows, sortable and formatted; how many there are when not all are shown."""
    if not part.table.width:
        return
    height: Any = "content" if part.table.height <= ROWS_SHOWN else 35 * (ROWS_SHOWN + 1) + 2
    st.dataframe(
        part.table,
        key=f"table-{key}",
        hide_index=True,
        height=height,
        column_config=column_config(part.columns, part.table),
        alt=f"Table: {cut(part.title)}, {rows(part.table.height)}",
    )
    if part.truncated:
        st.caption(f"The first {part.table.height:,} of {rows(part.total_rows)}. Every total above counts all of them.")
    elif part.total_rows > ROWS_SHOWN:
        st.caption(rows(part.total_rows))


def _quiet(part: AnswerPart, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"quiet-{key}"):
        label, color, icon, why = verdict(part)
        st.badge(label, icon=icon, color=color, help=why)
        if (used := part.support.get("rows")) is not None:
            st.badge(f"{rows(used)} used", color="gray")
        if skipped := sum((part.support.get("missing_skipped") or {}).values()):
            st.badge(f"{plural(skipped, 'missing value')} skipped", color="gray", help=_skipped(part))
    notes = list(dict.fromkeys(part.assumptions))
    with st.container(key=f"notes-{key}", gap="xxsmall"):
        for note in notes[:3]:
            st.caption(f":material/info: {escape(note)}")
    if notes[3:]:
        with st.popover(f"{plural(len(notes) - 3, 'more assumption')}", type="tertiary"):
            for note in notes[3:]:
                st.text(note)


def _skipped(part: AnswerPart) -> str:
    return "; ".join(f"{plain(k)}: {v:,}" for k, v in part.support["missing_skipped"].items() if v)


def verdict(part: AnswerPart) -> tuple[str, Any, str, str]:
    """Label, colour, icon and reason of the verified badge."""
    cross = next((check for check in part.checks if check.name == SECOND), None)
    failed = [check for check in part.checks if check.passed is False]
    if failed:
        return "Check failed", "red", ":material/gpp_bad:", escape(failed[0].detail)
    if cross and cross.passed:
        return "Verified", "green", ":material/verified:", f"Two engines agree. {escape(cross.detail)}"
    return "Not cross-checked", "gray", ":material/pending:", escape(cross.detail) if cross else "One engine ran it."


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
            st.caption("Not understood:")
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
            label="Set a model to ask more freely than the offline planner understands",
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
