"""How every page opens: its title, the visitor's session, the way to the other pages."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa.ui import sidebar, sign_in, theme
from qa.ui.session import Session, session, settle
from qa.ui.theme import on_phone

PAGES = {
    "ask": ("app.py", "Ask", ":material/forum:"),
    "data": ("pages/data.py", "Data", ":material/table_chart:"),
    "board": ("pages/board.py", "Board", ":material/dashboard:"),
    "audit": ("pages/audit.py", "Audit", ":material/fact_check:"),
    "plans": ("pages/plans.py", "Plans", ":material/account_tree:"),
    "settings": ("pages/settings.py", "Settings", ":material/tune:"),
}
"""key -> file, label, icon, in the order of the navigation"""
# Drawn here: a named symbol would be fetched from another server by every visitor's browser.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#23619f"/>'
    '<path d="M8 22v-6M16 22V9M24 22v-9" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>'
)
WIDE = frozenset({"data", "board", "audit"})


def open_page(key: str) -> Session:
    """Set this page up, draw the sidebar, and give the visitor's session. The first call of every page."""
    _, label, _ = PAGES[key]
    here = session()
    st.set_page_config(
        page_title=f"{label} · DataFrame QA",
        page_icon=ICON,
        layout="wide",
        menu_items={"About": "Ask your own tables."},
    )
    theme.apply(wide=key in WIDE)
    sign_in.gate()
    settle(here)
    with _place(key):
        st.markdown("**DataFrame QA**")
        with st.container(key="nav"):
            for file, text, symbol in PAGES.values():
                st.page_link(file, label=text, icon=symbol, width="stretch")
        sidebar.trail(here)
    return here


def _place(key: str) -> Any:
    """Where the navigation goes: the sidebar, or on a phone, where that would cover the page, a menu above it."""
    if not on_phone():
        return st.sidebar
    # Another key and another place in the page on each page: the menu that was open is not this one.
    for _ in range(list(PAGES).index(key)):
        st.empty()
    return st.popover("Menu", icon=":material/menu:", type="tertiary", key=f"menu-of-{key}")


def title(text: str, under: str = "") -> None:
    """The page's heading and one quiet line under it. `text` and `under` are ours, never data."""
    st.title(text)
    if under:
        st.caption(under)
