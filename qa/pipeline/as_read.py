"""What the reader decided about the columns that an answer rests on, so that the answer says it too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from qa.data.table import Table
from qa.types import Column

MATTERS = 2
"""The least damage that is told with an answer: some cells could be different."""
ALWAYS = {"null_words"}
"""Told in any case: words such as NaN or N/A that made cells missing."""


def as_read(
    tables: Mapping[str, Table], shown: Iterable[Column], part: Mapping[str, Any], lets: Iterable[Mapping[str, Any]]
) -> list[str]:
    """The readers' decisions, gravest first, about columns that the part or a let names or that are shown unchanged.

    Spellings read as one, words read as yes and no, cells that are no number, the order of day and month and the like.
    """
    origins = {column.origin for column in shown}
    texts = list(_texts([part, *lets]))
    found = []
    for table in tables.values():
        if table.name not in texts:
            continue
        ids = {column.name: column.id for column in table.columns}
        for note in table.report.assumptions:
            if note.column not in ids or not (note.damage >= MATTERS or note.code in ALWAYS):
                continue
            if (table.name, ids[note.column]) in origins or _named(note.column, texts):
                found.append(note)
    return [note.message for note in sorted(found, key=lambda note: -note.damage)]


def _named(column: str, texts: Iterable[str]) -> bool:
    word = re.compile(rf"(?<!\w){re.escape(column.replace('`', '``'))}(?!\w)", re.IGNORECASE)
    return any(word.search(text) for text in texts)


def _texts(value: Any) -> Iterable[str]:
    """Every text in a plan, however deep."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from _texts(list(value.values()))
        case list() | tuple():
            for item in value:
                yield from _texts(item)
