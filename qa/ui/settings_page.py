"""The Settings page: model and key, what may be sent, limits and calendar, for this session only."""

from __future__ import annotations

import json
import zoneinfo
from typing import Any

import streamlit as st

from qa.planner import payload
from qa.settings import Settings
from qa.ui import datasets
from qa.ui.session import Session
from qa.ui.words import plain

PRIVACY = {
    "names": ("Names only", "Column names and kinds. No value of yours leaves this machine."),
    "profile": ("Names and statistics", "Also counts, ranges and the commonest values of each column."),
    "samples": ("Also examples", "Also a few example values of each column."),
}
LIMITS = {
    "query_seconds": ("Seconds a plan may run", 1.0, 600.0),
    "query_memory_mb": ("Memory a plan may take, MB", 256, 65_536),
    "result_rows": ("Rows of a result that are shown", 100, 100_000),
    "max_cost_question": ("US dollars a question may cost", 0.0, 100.0),
    "max_cost_session": ("US dollars this session may cost", 0.0, 1000.0),
}
"""setting -> label, lowest, highest; nobody can raise a limit above the server's own"""


def model(here: Session) -> None:
    """The model, its key and its address. The key stays in this session's memory."""
    now = here.settings
    st.subheader("Model")
    st.caption(
        "Without a model the offline planner answers what it fully understands, and nothing leaves this machine."
    )
    with st.form("model"):
        name = st.text_input("Model", now.model or "", placeholder="openai/gpt-5-mini", help="LiteLLM's provider/model")
        key = st.text_input("API key", type="password", placeholder="kept in memory until this tab closes")
        base = st.text_input(
            "Address of the server (only for local or private models)", now.api_base or "", placeholder="https://…"
        )
        if st.form_submit_button("Use it", type="primary"):
            change = {"model": name.strip() or None, "api_base": base.strip() or None}
            if key.strip():
                change["api_key"] = key.strip()
            here.overrides |= change
            st.rerun()
    state = f"Now: {plain(now.model)}" if now.model else "Now: the offline planner"
    has_key = " · a key is set for this session" if "api_key" in here.overrides else ""
    st.caption(f"{state}{has_key}")
    if "api_key" in here.overrides and st.button("Forget the key", icon=":material/key_off:"):
        del here.overrides["api_key"]
        st.rerun()
    careful = st.slider("Plans asked for and compared (careful mode)", 1, 7, now.careful, help="1 = off")
    _set(here, careful=careful)


def privacy(here: Session) -> None:
    """What a model may know of the table, and exactly what would be sent."""
    st.subheader("What a model may see")
    levels = list(PRIVACY)
    picked = st.radio(
        "Privacy",
        levels,
        index=levels.index(here.settings.privacy),
        format_func=lambda level: PRIVACY[level][0],
        captions=[text for _, text in PRIVACY.values()],
        label_visibility="collapsed",
        key="privacy",
    )
    _set(here, privacy=picked)
    dataset = datasets.current(here)
    box = st.expander("See exactly what would be sent", icon=":material/visibility:", key="preview", on_change="rerun")
    if box.open:
        with box:
            question = st.text_input("For the question", "How many rows are there?")
            built = payload.build(question, dataset.tables, privacy=picked, history=())
            for message in built.messages:
                st.caption(f"Sent as {plain(message['role'])}")
                st.code(_text(message["content"]), language=None, wrap_lines=True, height=320)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)


def limits(here: Session) -> None:
    """Time, memory, rows and money. A plan over its limit is stopped and says which one."""
    st.subheader("Limits")
    top = Settings()
    left, right = st.columns(2)
    for position, (field, (label, low, high)) in enumerate(LIMITS.items()):
        ceiling = min(high, getattr(top, field))
        with left if position % 2 == 0 else right:
            _set(
                here,
                **{
                    field: st.number_input(
                        label, min(low, ceiling), ceiling, min(getattr(here.settings, field), ceiling), key=field
                    )
                },
            )
    checks = {"auto": "when it is quick", "always": "always", "never": "only when asked"}
    picked = st.selectbox(
        "Cross-check with a second engine",
        list(checks),
        index=list(checks).index(here.settings.crosscheck),
        format_func=lambda key: checks[key],
    )
    _set(here, crosscheck=picked)


def calendar(here: Session) -> None:
    """The zone of `today` and the first day of a week."""
    st.subheader("Calendar")
    zones = sorted(zoneinfo.available_timezones())
    left, right = st.columns(2)
    zone = left.selectbox(
        "Time zone", zones, index=zones.index(here.settings.zone) if here.settings.zone in zones else 0
    )
    starts = ["monday", "sunday"]
    week = right.selectbox(
        "A week starts on", starts, index=starts.index(here.settings.week_start), format_func=str.title
    )
    _set(here, zone=zone, week_start=week)


def _set(here: Session, **changes: Any) -> None:
    """Keep what differs from the server's own setting."""
    server = here.settings
    here.overrides |= {key: value for key, value in changes.items() if getattr(server, key) != value}
