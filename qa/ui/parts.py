"""One part of an answer as it is read: sentence, value, chart, table, and quietly what they rest on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa.answer.answer import CHECKING, AnswerPart
from qa.answer.formats import show
from qa.ui import charts
from qa.ui.columns import column_config
from qa.ui.words import cut, escape, plain, plural, rows

SECOND = "second engine"
"""the name of the cross-check among an answer's checks"""
ROWS_SHOWN = 8
"""rows of a table that are seen without scrolling"""


def part_view(
    part: AnswerPart, key: str, *, heading: bool = False, switch: bool = True, with_table: bool = True
) -> None:
    """Sentence, value, chart, table and the quiet row of one part; `switch` offers other kinds of chart."""
    if heading:
        st.header(escape(part.title))
    if _is_value(part):
        with st.container(key=f"value-{key}"):
            st.text(shown_value(part))
    if part.sentences:
        with st.container(key=f"sentence-{key}"):
            st.text(" ".join(part.sentences))
    charts.chart(part, key, switch=switch)
    if with_table and not _is_value(part):
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
    if cross and cross.detail == CHECKING:
        return "Checking…", "blue", ":material/pending:", escape(cross.detail)
    return "Not cross-checked", "gray", ":material/pending:", escape(cross.detail) if cross else "One engine ran it."
