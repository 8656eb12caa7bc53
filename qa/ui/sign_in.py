"""Optional sign-in through Streamlit's own OIDC: off unless `[auth]` stands in the secrets, then with an allow-list."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError


def required() -> bool:
    """True when whoever runs the server configured sign-in."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def gate() -> None:
    """Let nobody past who has to sign in and has not, or is not on the list."""
    if not required():
        return
    if not st.user.is_logged_in:
        st.title("DataFrame QA")
        st.text("Please sign in.")
        st.button("Sign in", type="primary", icon=":material/login:", on_click=st.login)
        st.stop()
    from qa.settings import settings

    email = str(st.user.get("email") or "")
    if not allowed(email, settings().allow) or st.user.get("email_verified") is False:
        st.title("DataFrame QA")
        st.error("This account is not on the list of those who may use this page.")
        st.button("Sign out", icon=":material/logout:", on_click=st.logout)
        st.stop()


def allowed(email: str, allow: Sequence[str]) -> bool:
    """Whether an address is on the list, itself or by its `@domain`. An empty list lets in whoever can sign in."""
    address = email.casefold()
    domain = "@" + address.rpartition("@")[2]
    return not allow or (bool(address) and ({address, domain} & {entry.casefold() for entry in allow}) != set())
