"""The Audit page: every question on record, one record in full, its replay, and the proof that none was changed."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
import streamlit as st

from qa.audit import Audit, AuditUnavailable
from qa.settings import settings
from qa.ui import links
from qa.ui.asking import run
from qa.ui.session import Session, runs_locally
from qa.ui.words import escape, money, plain, plural

STATUSES = ("answered", "clarify", "declined", "failed")
MOST = 200
"""records of one look; searching finds the older ones"""


def audit() -> Audit:
    return Audit(settings().audit)


def whose(here: Session) -> str | None:
    """The session whose records may be seen; None, all of them, only for a person at the server's own machine."""
    if not runs_locally():
        return here.id
    everyone = st.toggle("Also other sessions on this computer", key="everyone", persist_state="session")
    return None if everyone else here.id


def totals(session: str | None) -> None:
    """Questions, tokens and money, as small figures."""
    found = audit().totals(session)
    with st.container(horizontal=True, gap="medium"):
        st.metric("Questions", f"{found['questions']:,}", width="content")
        st.metric("Answered", f"{found['statuses'].get('answered', 0):,}", width="content")
        st.metric("Tokens", f"{found['tokens_in'] + found['tokens_out']:,}", width="content")
        st.metric("Model cost", money(found["cost"]), width="content")


def records(session: str | None) -> list[str]:
    """The records that fit the search, newest first; gives the ids of those picked, one to see or two to compare."""
    left, right = st.columns([3, 1])
    search = left.text_input(
        "Search in questions", key="search", placeholder="a word of the question or a model"
    ).strip()
    status = right.selectbox("Status", ("", *STATUSES), format_func=lambda s: s or "any", key="status")
    found = audit().list(session, search or None, status or None, MOST)
    if not found:
        st.info("No question is on record here yet." if not (search or status) else "No record fits this search.")
        return []
    frame = pl.DataFrame(
        {
            "when": [str(row["at"])[:19].replace("T", " ") for row in found],
            "question": [row["question"] for row in found],
            "status": [row["status"] for row in found],
            "rows": [row["rows"] for row in found],
            "seconds": [row["ms"] / 1000 if row["ms"] is not None else None for row in found],
            "planner": [row["model"] or row["planner"] for row in found],
            "tokens": [(row["tokens_in"] or 0) + (row["tokens_out"] or 0) for row in found],
            "cost": ["" if row["cost"] is None else f"${row['cost']:.4f}" for row in found],
            "said": [row["verdict"] or "" for row in found],
        },
        schema_overrides={"seconds": pl.Float64, "rows": pl.Int64},
        strict=False,
    )
    state: Any = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="records",
        height="content" if frame.height <= 10 else 400,
        alt="Questions on record; pick one to see its record, two to compare them",
        column_config={
            "seconds": st.column_config.NumberColumn(format="%.2f"),
            "rows": st.column_config.NumberColumn(format="%,d"),
            "tokens": st.column_config.NumberColumn(format="%,d"),
            "question": st.column_config.TextColumn(width="large"),
        },
    )
    picked = state.selection.rows
    ids = [str(found[place]["id"]) for place in sorted(picked, reverse=True) if place < len(found)]
    st.caption("Pick a row to see its record, or two to compare them." if len(ids) < 3 else "Pick two rows to compare.")
    return ids if len(ids) < 3 else []


def record(here: Session, session: str | None, id: str) -> None:
    """One record in full: what was asked, sent, answered, run, checked, and by which versions."""
    body = audit().get(id, session)
    if body is None:
        st.warning("There is no such record in this session.")
        return
    with st.container(border=True, key="record"):
        st.text(body.get("question") or "(unreadable record)")
        st.caption(
            f"{plain(body.get('status'))} · {plain(str(body.get('at'))[:19])} · record {plain(id)} · hash {plain(str(body['hash'])[:16])}"
        )
        for sentence in (s for part in body.get("parts") or [] for s in part.get("sentences") or []):
            st.text(sentence)
        if body.get("reason"):
            st.text(body["reason"])
        _actions(here, body, id)
        picked = st.segmented_control(
            "Show", list(_VIEWS), default="Plan", key=f"view-{id}", label_visibility="collapsed"
        )
        if picked:
            _VIEWS[picked](body)


def _actions(here: Session, body: dict[str, Any], id: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        reply = body.get("reply") or {}
        if reply.get("reply") == "plan" or reply.get("parts"):
            shared = links.from_record(body)
            dataset = links.find(here, shared.digests)
            label = "Replay" if dataset else "Replay (its data is not open here)"
            if st.button(label, icon=":material/replay:", disabled=dataset is None, key=f"replay-{id}") and dataset:
                here.dataset_key = dataset.key
                run(
                    here,
                    dataset,
                    str(body.get("question") or "Replay"),
                    reply,
                    note="replayed from the audit",
                    shared=shared,
                )
                st.switch_page("app.py")
        text = json.dumps(body, indent=2, ensure_ascii=False)
        st.download_button(
            "Record as JSON",
            text,
            f"record-{id}.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            key=f"json-{id}",
        )


def _plan(body: dict[str, Any]) -> None:
    for part in body.get("parts") or []:
        for number, line in enumerate(part.get("explanation") or [], 1):
            st.text(f"{number}. {line}")
        rows = [[r["step"], r["op"], r["rows_in"], r["rows_out"], r["note"]] for r in part.get("ledger") or []]
        if rows:
            names = {"step": pl.Int64, "does": pl.String, "rows in": pl.Int64, "rows out": pl.Int64, "why": pl.String}
            count = st.column_config.NumberColumn(format="%,d")
            st.dataframe(
                pl.DataFrame(rows, schema=names, orient="row"),
                hide_index=True,
                column_config={"rows in": count, "rows out": count},
                alt="Rows of each step",
            )
        for check in part.get("checks") or []:
            mark = {True: ":green[:material/check_circle:]", False: ":red[:material/cancel:]"}.get(check["passed"], "–")
            st.markdown(f"{mark} {escape(check['name'])}: {escape(check['detail'])}")
        for note in part.get("assumptions") or []:
            st.text(f"Assumed: {note}")
    if not body.get("parts"):
        st.caption("No plan was run.")


def _sql(body: dict[str, Any]) -> None:
    for part in body.get("parts") or []:
        st.code(part.get("sql") or "-- none", language="sql", wrap_lines=True)


def _sent(body: dict[str, Any]) -> None:
    asked = [attempt for attempt in body.get("attempts") or [] if attempt.get("payload")]
    if not asked:
        st.markdown(":material/lock: No model was asked. Nothing left this machine.")
    for number, attempt in enumerate(asked, 1):
        st.markdown(f"**Try {number}: {plain(attempt.get('model') or attempt.get('planner'))}**")
        st.code(
            json.dumps(attempt["payload"], indent=2, ensure_ascii=False), language="json", wrap_lines=True, height=320
        )
        st.code(attempt.get("reply") or attempt.get("error") or "", language=None, wrap_lines=True)
        for issue in attempt.get("issues") or []:
            st.text(f"Wrong with it: {issue['message']} {issue['hint']}")


def _whole(body: dict[str, Any]) -> None:
    st.code(json.dumps(body, indent=2, ensure_ascii=False), language="json", wrap_lines=True, height=480)


_VIEWS = {"Plan": _plan, "SQL": _sql, "What the model saw": _sent, "Whole record": _whole}


def proof(session: str | None) -> None:
    """Export, and a check of the chain that any edit, removal or reordering breaks."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Export as JSON lines",
            lambda: exported(session),
            "audit.jsonl",
            "application/jsonl",
            icon=":material/download:",
            on_click="ignore",
        )
        if st.button("Verify the chain", icon=":material/verified_user:"):
            faults = audit().verify()
            if faults:
                st.error(f"{plural(len(faults), 'fault')} found.")
                for fault in faults[:20]:
                    st.text(fault)
            else:
                st.success("No record was changed, removed or reordered.")


def exported(session: str | None) -> bytes:
    """The records one may see, a JSON object a line."""
    lines = io.StringIO()
    audit().export(lines, session)
    return lines.getvalue().encode()


def unavailable(error: AuditUnavailable) -> None:
    for issue in error.issues:
        st.error(escape(f"{issue.message} {issue.hint}"))
