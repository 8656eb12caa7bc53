"""The picker of the data that a visitor works on, the same on every page that has one."""

from __future__ import annotations

import streamlit as st

from qa.ui import datasets
from qa.ui.session import Dataset, Session
from qa.ui.words import cut

KEY = "dataset"


def pick_dataset(here: Session) -> Dataset:
    """Draw the picker; gives the dataset picked. What else changed the dataset (an upload, a link) is shown in it."""
    options = datasets.choices(here)
    dataset = datasets.current(here)
    if st.session_state.get(KEY) != dataset.key:
        # Only a value set from here reaches the browser, which else sends its old one back with the next click.
        st.session_state[KEY] = dataset.key
    st.selectbox(
        "Data", list(options), format_func=lambda key: cut(options[key], 60), key=KEY, on_change=_picked, args=(here,)
    )
    return dataset


def _picked(here: Session) -> None:
    here.dataset_key = st.session_state[KEY]
