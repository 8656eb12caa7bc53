"""The pieces of the Ask page, in the order a person meets them."""

from __future__ import annotations

import streamlit as st

from qa import pipeline
from qa.ui import cards, datasets, links, reasking
from qa.ui import progress as watching
from qa.ui.asking import ask, example_questions
from qa.ui.picking import load_error, pick_dataset
from qa.ui.question_box import Places
from qa.ui.session import Dataset, Session
from qa.ui.words import escape, plain, plural, rows

NAMED = 6
"""tables that the line about the data names"""


def pick(here: Session, places: Places) -> Dataset:
    """The picker and the place to add files; gives the dataset to work on. A link it was opened with goes first."""
    pipeline.warm()
    waiting = links.open_shared(here)
    with places.picker:
        dataset = pick_dataset(here)
        with st.popover("Add files", icon=":material/upload_file:"):
            add_files(here)
    with places.notice:
        links.notice(waiting)
    return dataset


def add_files(here: Session) -> None:
    """Several files at once, spooled to disk and read at once; what could not be read says why."""
    given = st.file_uploader(
        f"CSV, Excel, JSON, Parquet and more, up to {here.settings.upload_mb} MB each",
        accept_multiple_files=True,
        key=f"uploader-{here.uploaders}",
    )
    for error in here.upload_errors:
        load_error(error)
    if not given:
        return
    with st.status("Reading your files", expanded=True) as status:
        here.upload_errors = datasets.take(
            here, given, progress=lambda name: status.update(label=f"Reading {plain(name)}")
        )
    here.uploaders += 1  # a fresh uploader lets go of the bytes it held in memory
    st.rerun()


def describe(dataset: Dataset, places: Places) -> None:
    """One line about the tables, and the way to everything known of them."""
    sizes = [
        f"**{plain(table.name)}** {rows(table.rows)} × {plural(len(table.columns), 'column')}"
        for table in dataset.tables
    ]
    with places.about, st.container(gap="xxsmall", key="description"):
        more = [f"and {plural(len(sizes) - NAMED, 'more table')}"] if len(sizes) > NAMED else []
        st.caption(" · ".join([escape(dataset.blurb)] * bool(dataset.blurb) + sizes[:NAMED] + more))
        worth = sum(1 for t in dataset.tables for a in t.report.assumptions if a.damage >= 2)
        label = f"See the columns ({plural(worth, 'assumption')})" if worth else "See the columns"
        st.page_link("pages/data.py", label=label, icon=":material/table_chart:")


def ask_typed(here: Session, dataset: Dataset, places: Places) -> None:
    """Ask what was typed or clicked; while there is no question yet, examples of this data's own to click."""
    if here.asked:
        question, here.asked = here.asked, None
        ask(here, dataset, question)
        st.rerun()
    if not here.entries and here.job is None:
        with places.examples:
            _examples(here, dataset)


def _clicked(here: Session, question: str) -> None:
    here.asked = question


def _examples(here: Session, dataset: Dataset) -> None:
    questions = example_questions(dataset.tables, tuple(t.digest for t in dataset.tables))
    if not questions:
        return
    with st.container(key="examples", gap="xsmall"):
        st.caption("Or try one of these")
        with st.container(horizontal=True, gap="small"):
            for number, question in enumerate(questions):
                st.button(plain(question, 90), key=f"example-{number}", on_click=_clicked, args=(here, question))


def progress(here: Session) -> None:
    """Watch the running question, which becomes an entry, and the cross-checks that are not done yet."""
    if here.job:
        watching.watch(here)
    if any(entry.checking for entry in here.entries):
        watching.verdicts(here)


def answers(here: Session, dataset: Dataset) -> None:
    """What newer data moved; the answer in focus whole, the others as one line each, newest first."""
    reasking.panel(here, dataset)
    focus = here.entry(here.focus) or (here.entries[-1] if here.entries else None)
    if focus is None:
        return
    cards.card(here, focus, dataset)
    others = [entry for entry in reversed(here.entries) if entry is not focus]
    if others:
        st.caption("Earlier questions")
    for entry in others[:20]:
        cards.line(here, entry)
