"""What the reader decided about the columns that an answer rests on, so that the answer says it too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from qa.data.table import Table
from qa.types import Column

MATTERS = 2
"""The least damage that is told with an answer: some cells could be different."""
ALWAYS = frozenset({"null_words"})
"""Told in any case: words such as NaN or N/A that made cells missing."""
SERIOUS = 3
"""The damage that makes it a warning: a total could be different and nothing would show it."""
MOST = 5
"""Assumptions told with an answer; the load report has all."""


def as_read(
    tables: Mapping[str, Table], shown: Iterable[Column], part: Mapping[str, Any], lets: Iterable[Mapping[str, Any]]
) -> tuple[list[str], list[str]]:
    """(assumptions, warnings): the readers' decisions about whole tables that the part or a let names, and about
    columns that are named or shown unchanged; gravest first.

    Spellings read as one, words read as yes and no, cells that are no number, the order of day and month, a total
    row left out, a usual mark for a missing value that was kept, and the like.
    """
    origins = {column.origin for column in shown}
    texts = list(_texts([part, *lets]))
    found: list[tuple[int, str]] = []
    for table in tables.values():
        if table.name not in texts:
            continue
        ids = {column.name: column.id for column in table.columns}
        for damage, about, message in _decisions(table):
            shows = about in ids and (table.name, ids[about]) in origins
            if about is None or shows or _named(about, texts):
                found.append((damage, message))
    found.sort(key=lambda item: -item[0])
    notes = [message for damage, message in found if damage < SERIOUS]
    if len(notes) > MOST:
        notes[MOST:] = [f"{len(notes) - MOST} more assumptions of reading the file are on the Data page."]
    return notes, [message for damage, message in found if damage >= SERIOUS]


def _decisions(table: Table) -> Iterator[tuple[int, str | None, str]]:
    """(damage, column or None for the whole table, message) of everything that matters."""
    for note in table.report.assumptions:
        if note.damage >= MATTERS or note.code in ALWAYS:
            yield note.damage, note.column, note.message
    told = {note.column for note in table.report.assumptions if note.damage >= MATTERS}
    for cells in table.report.unreadable:
        if cells.column not in told:
            yield MATTERS, cells.column, f"{cells.count:,} cells of {cells.column!r} could not be read and are missing."


def _named(column: str, texts: Iterable[str]) -> bool:
    word = re.compile(rf"(?<!\w){re.escape(column.replace('`', '``'))}(?!\w)", re.IGNORECASE)
    return any(word.search(text) for text in texts)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a plan, however deep, but for the columns that a join carries along and nobody may use."""
    match value:
        case str():
            yield value
        case Mapping():
            joins = value.get("op") == "join"
            for key, item in value.items():
                if not (joins and key == "columns"):
                    yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
