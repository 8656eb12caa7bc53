"""Pinning answers to the board, and running its pins on the data that is here now."""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from qa import pipeline
from qa.answer import board as boards
from qa.answer.answer import Answer
from qa.answer.board import Board, Pin, Tile
from qa.engine import pool
from qa.errors import QAError
from qa.ui import links
from qa.ui.session import Dataset, Entry, Session


def pin_button(here: Session, entry: Entry) -> None:
    """Pin this answer, or take it off again."""
    pinned = here.board.pin(here.pin_of.get(entry.id, "")) is not None
    label, icon = ("Unpin", ":material/keep_off:") if pinned else ("Pin", ":material/keep:")
    st.button(
        label, key=f"pin-{entry.id}", icon=icon, type="tertiary", on_click=unpin if pinned else pin, args=(here, entry)
    )


def unpin(here: Session, entry: Entry) -> None:
    """Take the answer off the board."""
    here.board = boards.unpinned(here.board, here.pin_of.pop(entry.id, ""))


def pin(here: Session, entry: Entry) -> None:
    """Add the answer to the board; what it shows now is kept until the board is refreshed."""
    try:
        here.board = boards.pinned(here.board, entry.answer, names=links.file_names(here, entry.dataset))
    except QAError as error:
        st.toast(str(error))
        return
    newest = here.board.pins[-1]
    here.pin_of[entry.id] = newest.id
    here.pinned_data[newest.id] = entry.dataset
    here.tiles[_tile_key(here.board, newest, entry.dataset)] = entry.answer
    here.pinned_answers[newest.id] = entry.answer


def dataset_of(here: Session, pin: Pin) -> Dataset | None:
    """The data that a pin can run on: the same tables, or the visitor's newer files of those names."""
    return links.find(here, pin.digests) or here.pinned_data.get(pin.id)


def columns_by_table(here: Session, board: Board) -> dict[str, list[str]]:
    """The columns of every table that the pins start from."""
    found: dict[str, list[str]] = {}
    for one in board.pins:
        dataset = dataset_of(here, one)
        sources = {part.get("source") for part in one.reply.get("parts") or ()}
        found |= {t.name: [c.name for c in t.columns] for t in (dataset.tables if dataset else ()) if t.name in sources}
    return found


def tiles(here: Session) -> list[Tile]:
    """Every pin with its answer; only what was not run yet on this data and these filters runs now."""
    columns = columns_by_table(here, here.board)
    order = iter(here.board.pins)
    return boards.refreshed(here.board, lambda reply: _answer(here, next(order), reply), columns)


def forget_answers(here: Session) -> None:
    """Run every pin again when the board is drawn next."""
    here.tiles.clear()


def _answer(here: Session, pin: Pin, reply: Mapping[str, object]) -> Answer:
    dataset = dataset_of(here, pin)
    if dataset is None:
        names = ", ".join(pin.names.get(name, name) for name in pin.digests) or "its data"
        return Answer(
            status="failed",
            question=pin.question,
            reason=f"This answer needs the file {names}. Add it on the Ask page.",
        )
    key = _tile_key(here.board, pin, dataset)
    if key not in here.tiles:
        here.tiles[key] = pipeline.run_plan(
            dict(reply),
            dataset.tables,
            settings=here.settings,
            question=pin.question or pin.title,
            pool=pool.shared(),
            session=here.id,
            record=False,
        )
    return here.tiles[key]


def _tile_key(board: Board, pin: Pin, dataset: Dataset) -> str:
    """What an answer of a pin depends on: its plan, its data, the board's filters."""
    filters = [one.model_dump() for one in board.filters]
    return json.dumps([pin.reply, sorted(dataset.digests.items()), filters], sort_keys=True, default=str)
