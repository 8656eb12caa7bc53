"""Two records of the audit side by side: what was asked, what data, which plan, and whether the result is the same."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa.answer.share import plan_only
from qa.ui.audit_page import audit
from qa.ui.plan_editor import difference
from qa.ui.words import escape, plain, rows, seconds

ICONS = {True: ":green[:material/check_circle:]", False: ":orange[:material/difference:]", None: ":material/remove:"}


def comparison(session: str | None, earlier: str, later: str) -> None:
    """What two answers have in common and where they part, the earlier one first."""
    first, second = (audit().get(id, session) for id in (earlier, later))
    if first is None or second is None:
        st.warning("There is no such record in this session.")
        return
    with st.container(border=True, key="comparison"):
        for same, words in verdicts(first, second):
            st.markdown(f"{ICONS[same]} {escape(words)}")
        for column, body in zip(st.columns(2), (first, second), strict=True):
            with column:
                _side(body)
        lines = difference(_plan(first), _plan(second), "earlier", "later")
        if lines:
            st.caption("What differs between the plans")
            st.code("\n".join(lines), language="diff", wrap_lines=True)


def verdicts(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[bool | None, str]]:
    """Question, data, plan and result: the same, different, or (None) not to be compared."""
    kept = [
        ("The question is the same.", "The questions differ.", "question"),
        ("The data is the same, cell by cell.", "The data is another version, or other data.", "digests"),
    ]
    found: list[tuple[bool | None, str]] = []
    for same, differs, field in kept:
        equal = first.get(field) == second.get(field)
        found.append((equal, same if equal else differs))
    if not _plan(first) or not _plan(second):
        found.append((None, "One of them ran no plan, so plans and results cannot be compared."))
        return found
    equal = _plan(first) == _plan(second)
    found.append((equal, "The plan is the same." if equal else "The plans differ."))
    hashes = first.get("result_hash"), second.get("result_hash")
    if None in hashes:
        found.append((None, "One of them has no result to compare."))
    else:
        equal = hashes[0] == hashes[1]
        found.append((equal, "The result is identical, value by value." if equal else "The results differ."))
    return found


def _plan(body: dict[str, Any]) -> dict[str, Any]:
    reply = body.get("reply") or {}
    return plan_only(reply) if reply.get("parts") else {}


def _side(body: dict[str, Any]) -> None:
    st.text(body.get("question") or "(unreadable record)")
    taken = (body.get("timings") or {}).get("total")
    pieces = [plain(body.get("status")), plain(str(body.get("at"))[:19].replace("T", " "))]
    pieces += [rows(body["rows"])] if body.get("rows") is not None else []
    pieces += [seconds(taken / 1000)] if taken is not None else []
    pieces += [plain(body.get("model") or body.get("planner") or "no planner", 40)]
    st.caption(" · ".join(pieces))
    for sentence in (s for part in body.get("parts") or [] for s in part.get("sentences") or []):
        st.text(sentence)
    if body.get("reason"):
        st.text(body["reason"])
