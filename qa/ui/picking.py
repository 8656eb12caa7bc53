"""The picker of the data that a visitor works on, the same on every page that has one."""

from __future__ import annotations

import streamlit as st

from qa.errors import LoadError
from qa.ui import datasets
from qa.ui.session import Dataset, Session
from qa.ui.words import cut, escape, plain

KEY = "dataset"


def pick_dataset(here: Session) -> Dataset:
    """Draw the picker; gives the dataset picked. What else changed the dataset (an upload, a link) is shown in it."""
    options = datasets.choices(here)
    dataset = _current(here)
    if st.session_state.get(KEY) != dataset.key:
        # Only a value set from here reaches the browser, which else sends its old one back with the next click.
        st.session_state[KEY] = dataset.key
    st.selectbox(
        "Data", list(options), format_func=lambda key: cut(options[key], 60), key=KEY, on_change=_picked, args=(here,)
    )
    return dataset


def _picked(here: Session) -> None:
    here.dataset_key = st.session_state[KEY]


def _current(here: Session) -> Dataset:
    """The dataset to work on; one that cannot be read is told and left for the first that can."""
    try:
        return datasets.current(here)
    except LoadError as error:
        load_error(error)
        st.button("Work on something else", on_click=_leave, args=(here,))
        st.stop()


def _leave(here: Session) -> None:
    keys = list(datasets.choices(here))
    here.dataset_key = keys[(keys.index(here.dataset_key or keys[0]) + 1) % len(keys)]


def load_error(error: LoadError) -> None:
    """One file's trouble, what it is and what to do."""
    for issue in error.issues:
        st.error(f"**{plain(issue.where or 'File')}**: {escape(issue.message)} {escape(issue.hint)}")
