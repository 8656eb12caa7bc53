"""The Settings page: model and key, what may be sent, limits and calendar, for this session only."""

from __future__ import annotations

import zoneinfo
from typing import Any

import streamlit as st

from qa.planner import model as planning
from qa.planner import payload
from qa.settings import settings
from qa.ui import datasets
from qa.ui.session import Session, runs_locally
from qa.ui.words import plain

PRIVACY: dict[payload.Privacy, tuple[str, str]] = {
    "names": ("Names only", "Names and kinds of tables and columns. No value and no statistic leaves this machine."),
    "profile": ("Names and statistics", "Also counts, and the ranges of numbers and dates. Never text from a cell."),
    "samples": ("Also examples", "Also frequent values, a few examples, and values that your question names."),
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
    st.header("Model")
    st.caption(
        "Without a model the offline planner answers what it fully understands, and nothing leaves this machine."
    )
    with st.form("model"):
        name = st.text_input("Model", now.model or "", placeholder="openai/gpt-5-mini", help="LiteLLM's provider/model")
        key = st.text_input("API key", type="password", placeholder="kept in memory until this tab closes")
        base = now.api_base or ""
        if runs_locally():
            base = st.text_input("Address (only for a model of your own)", base, placeholder="http://localhost:11434")
        if st.form_submit_button("Use it", type="primary"):
            here.overrides |= chosen(name.strip(), key.strip(), base.strip(), now.api_base)
            if name.strip():
                planning.warm()  # its library takes seconds to load: it does while the person goes back to ask
            st.rerun()
    state = f"Now: {plain(now.model)}" if now.model else "Now: the offline planner"
    has_key = " · a key is set for this session" if "api_key" in here.overrides else ""
    st.caption(f"{state}{has_key}")
    if "api_key" in here.overrides and st.button("Forget the key", icon=":material/key_off:"):
        del here.overrides["api_key"]
        st.rerun()
    careful = st.slider("Plans asked for and compared (careful mode)", 1, 7, now.careful, help="1 = off")
    _set(here, careful=careful)


def chosen(model: str, key: str, base: str, was: str | None) -> dict[str, Any]:
    """What the form changes. The server's own key never goes to an address that a visitor typed."""
    change: dict[str, Any] = {"model": model or None, "api_base": base or None}
    if key:
        change["api_key"] = key
    elif base and base != was:
        change["api_key"] = "no-key-given"
    return change


def privacy(here: Session) -> None:
    """What a model may know of the table, and exactly what would be sent."""
    st.header("What a model may see")
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
            built = payload.build(question, dataset.tables, privacy=picked)
            st.caption(f"About {built.tokens:,} tokens.")
            for note in built.cut:
                st.text(f"Left out: {note}")
            for message in built.messages:
                st.caption(f"Sent as {plain(message['role'])}")
                st.code(message["content"], language=None, wrap_lines=True, height=320)


def limits(here: Session) -> None:
    """Time, memory, rows and money. A plan over its limit is stopped and says which one."""
    st.header("Limits")
    top = settings()
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
    st.header("Calendar")
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
    """Keep what differs from what holds now."""
    now = here.settings
    here.overrides |= {key: value for key, value in changes.items() if getattr(now, key) != value}
