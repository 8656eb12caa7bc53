"""A new version of the data: every question asked of the old one is run again, and what moved is shown."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from qa import pipeline
from qa.answer import changes
from qa.answer.answer import Answer
from qa.answer.changes import Change
from qa.engine import pool
from qa.ui.session import Dataset, Entry, Move, Session
from qa.ui.words import escape, plain, plural

MOST = 40
"""questions that are asked again at once, the newest"""
TABLE_ROWS = 200


def outdated(here: Session, dataset: Dataset) -> list[Entry]:
    """The answers from an earlier version of these tables that were not run on this one yet, oldest first."""
    again = {(move.before, move.digests) for move in here.moves}
    now = _digests(dataset)
    found = [
        entry
        for entry in here.entries
        if entry.answer.status == "answered" and entry.answer.reply and _older(entry, dataset)
    ]
    return [entry for entry in found if (entry.id, now) not in again][-MOST:]


def _older(entry: Entry, dataset: Dataset) -> bool:
    """The same tables of the same place by name, with other cells."""
    if entry.dataset.key != dataset.key:
        return False
    then, now = entry.answer.digests or entry.dataset.digests, dataset.digests
    return set(then) <= set(now) and any(now[name] != digest for name, digest in then.items())


def _digests(dataset: Dataset) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dataset.digests.items()))


def panel(here: Session, dataset: Dataset) -> None:
    """The offer to ask again, or what came of it. Nothing is drawn while no data changed."""
    waiting = outdated(here, dataset)
    if waiting:
        with st.container(border=True, key="reask"):
            st.markdown(f":material/update: This data is a newer version of what {_asked(len(waiting))} about.")
            if st.button("Ask again and show what moved", key="reask-all", icon=":material/replay:", type="primary"):
                ask_again(here, dataset, waiting)
                st.rerun()
    moves = [move for move in here.moves if move.digests == _digests(dataset)]
    if moves:
        _moves(here, moves)


def _asked(count: int) -> str:
    return "you asked 1 question" if count == 1 else f"you asked {count} questions"


def ask_again(here: Session, dataset: Dataset, entries: Sequence[Entry]) -> None:
    """Run each plan as it was on the data as it is now, without a model; each becomes an entry and a move."""
    bar = st.progress(0.0, text="Asking again")
    for number, entry in enumerate(entries):
        bar.progress(number / len(entries), text=f"Asking again: {plain(entry.question, 60)}")
        answer = pipeline.run_plan(
            dict(entry.answer.reply or {}),
            dataset.tables,
            settings=here.settings,
            question=entry.question,
            pool=pool.shared(),
            session=here.id,
            semantics=dataset.semantics,
        )
        made = Entry(here.next_id("q"), entry.question, dataset, answer, note="asked again of newer data")
        here.add(made)
        here.moves.append(Move(entry.id, made.id, _digests(dataset)))
    bar.empty()


def _moves(here: Session, moves: Sequence[Move]) -> None:
    pairs = [(here.entry(move.before), here.entry(move.after)) for move in moves]
    known = [(old, new, changes.answers(old.answer, new.answer)) for old, new in pairs if old and new]
    moved = sum(1 for _, _, found in known if not all(change.same for change in found))
    with st.container(border=True, key="moves"):
        st.markdown(f"**What moved**: {moved} of {plural(len(known), 'answer')}")
        for old, new, found in known:
            _move(here, old, new, found)


def _move(here: Session, old: Entry, new: Entry, found: Sequence[Change]) -> None:
    same = all(change.same for change in found)
    icon = ":material/check_circle:" if same else ":material/trending_up:"
    with st.container(key=f"move-{new.id}", gap="xxsmall"):
        if st.button(plain(new.question, 120), key=f"moved-{new.id}", icon=icon, type="tertiary"):
            here.focus = new.id
            st.rerun()
        for change in found:
            st.caption(escape(" ".join(change.words)))
        tables = [change.table for change in found if not change.same and change.table is not None]
        if tables:
            box = st.expander("Row by row", key=f"rows-{new.id}", on_change="rerun")
            if box.open:
                with box:
                    for number, table in enumerate(tables):
                        st.dataframe(
                            table.head(TABLE_ROWS), hide_index=True, key=f"rows-{new.id}-{number}", alt="What moved"
                        )


def words_of(before: Answer, after: Answer) -> str:
    """What moved between two answers of one plan, in words."""
    return " ".join(word for change in changes.answers(before, after) for word in change.words)
