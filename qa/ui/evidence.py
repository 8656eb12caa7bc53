"""What stands behind an answer, drawn only when asked for: plan, JSON, Polars, SQL, checks, what a model saw."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import streamlit as st

from qa.answer import export, notebook
from qa.answer.answer import Answer, AnswerPart
from qa.ui.words import escape, money, plain


@st.fragment
def tabs(answer: Answer, part: AnswerPart, key: str) -> None:
    """The tabs under one part. Nothing is drawn until one is picked; picking it again closes it."""
    picked = st.segmented_control(
        "How this was worked out", list(_TABS), key=f"tabs-{key}", label_visibility="collapsed"
    )
    if picked:
        with st.container(border=True, key=f"evidence-{key}"):
            _TABS[picked](answer, part, key)


def plan_steps(part: AnswerPart) -> None:
    """Each step in words, with the rows that went in and came out."""
    lines = part.explanation or tuple(json.dumps(step) for step in part.plan.get("steps", ()))
    for number, line in enumerate(lines, 1):
        st.text(f"{number}. {line}")
    if part.ledger:
        ledger = pl.DataFrame(
            [[row.step, row.op, row.rows_in, row.rows_out, row.note] for row in part.ledger],
            schema={"step": pl.Int64, "does": pl.String, "rows in": pl.Int64, "rows out": pl.Int64, "why": pl.String},
            orient="row",
        )
        count = st.column_config.NumberColumn(format="%,d")
        st.dataframe(
            ledger, hide_index=True, column_config={"rows in": count, "rows out": count}, alt="Rows of each step"
        )


def _plan(answer: Answer, part: AnswerPart, key: str) -> None:
    plan_steps(part)


def _json(answer: Answer, part: AnswerPart, key: str) -> None:
    lets = (answer.reply or {}).get("lets") or []
    body: dict[str, Any] = {"lets": lets, "part": part.plan} if lets else part.plan
    st.code(json.dumps(body, indent=2, ensure_ascii=False), language="json", wrap_lines=True)


def _polars(answer: Answer, part: AnswerPart, key: str) -> None:
    st.code(part.polars or "# No script was made for this plan.", language="python", wrap_lines=True)
    if notebook.has_script(part):
        st.download_button(
            "Notebook",
            data=lambda: notebook.notebook([part]),
            file_name=export.file_name(part.title, "ipynb"),
            mime=notebook.MIME,
            key=f"notebook-{key}",
            icon=":material/menu_book:",
            on_click="ignore",
        )


def _sql(answer: Answer, part: AnswerPart, key: str) -> None:
    st.code(part.sql or "-- No SQL was made for this plan.", language="sql", wrap_lines=True)


def _checks(answer: Answer, part: AnswerPart, key: str) -> None:
    for check in part.checks:
        icon = {True: ":green[:material/check_circle:]", False: ":red[:material/cancel:]", None: ":material/remove:"}
        st.markdown(f"{icon[check.passed]} **{escape(check.name)}** {escape(check.detail)}")
    if not part.checks:
        st.caption("No checks were recorded.")


def _model(answer: Answer, part: AnswerPart, key: str) -> None:
    attempts(answer)


def attempts(answer: Answer) -> None:
    """Every try at a plan: exactly what left this machine, what came back, and what was wrong with it."""
    asked = [attempt for attempt in answer.attempts if attempt.payload]
    if not asked:
        st.markdown(":material/lock: No model was asked. Nothing left this machine.")
        return
    for number, attempt in enumerate(asked, 1):
        cost = f" · {money(attempt.cost)}" if attempt.cost else ""
        tokens = f"{attempt.tokens_in:,} tokens in, {attempt.tokens_out:,} out"
        st.markdown(
            f"**Try {number}: {plain(attempt.model or attempt.planner)}** · {tokens}{cost} · {attempt.ms:,.0f} ms"
        )
        for message in (attempt.payload or {}).get("messages", []):
            st.caption(f"Sent as {plain(message.get('role', ''))}")
            st.code(str(message.get("content", "")), language=None, wrap_lines=True, height=240)
        if attempt.reply:
            st.caption("Came back")
            st.code(attempt.reply, language="json", wrap_lines=True)
        for issue in attempt.issues:
            st.text(f"Wrong with it: {issue}")
        if attempt.error:
            st.text(f"Failed: {attempt.error}")


_TABS = {
    "Plan": _plan,
    "JSON": _json,
    "Polars": _polars,
    "SQL": _sql,
    "Checks": _checks,
    "What the model saw": _model,
}
