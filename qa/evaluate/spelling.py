"""Looked-up cells as their file spells them: a gold answer quotes `12 May 1999`, not the date it was read as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from qa.answer.answer import AnswerPart
from qa.answer.cells import json_rows
from qa.data.options import ReadOptions
from qa.data.read import load
from qa.data.table import Table
from qa.errors import LoadError
from qa.types import Column, Kind

Origin = tuple[str, str]
REREAD = frozenset({Kind.DATE, Kind.DATETIME, Kind.TIME, Kind.DURATION})
"""kinds whose cells rarely look like their value; a number does when it has no unit"""


@dataclass
class Spelling:
    """The texts of a record's tables, read only when an answer shows a column that was converted.

    `tables` are the loaded tables of one question, `files` where each came from, `cache` where copies are kept.
    """

    tables: Sequence[Table]
    files: Mapping[str, Path]
    cache: Path | None = None
    known: dict[Origin, dict[str, str]] = field(default_factory=dict)

    def rows(self, part: AnswerPart) -> list[list[Any]]:
        """The rows of a part. A cell whose value has one spelling in its file is that text; a computed one is as it is."""
        texts = [self._texts(column.origin) for column in part.columns]
        return [
            [text.get(str(cell), cell) for cell, text in zip(row, texts, strict=True)] for row in json_rows(part.table)
        ]

    def _texts(self, origin: Origin | None) -> Mapping[str, str]:
        """Value -> text of a converted column; empty for any other."""
        if origin is None:
            return {}
        if origin not in self.known:
            self.known[origin] = self._read(*origin)
        return self.known[origin]

    def _read(self, table_name: str, id: str) -> dict[str, str]:
        table = next((table for table in self.tables if table.name == table_name), None)
        column = next((column for column in table.columns if column.id == id), None) if table else None
        path = self.files.get(table_name)
        if table is None or column is None or path is None or not _converted(column):
            return {}
        verbatim = ReadOptions(as_kinds={column.name: "verbatim"})
        try:
            twin = next((t for t in load(path, options=verbatim, cache=self.cache) if t.rows == table.rows), None)
        except LoadError:
            return {}
        return {} if twin is None else _pairs(table, twin, id)


def _converted(column: Column) -> bool:
    return column.kind in REREAD or (column.kind.numeric and (column.unit is not None or column.role is not None))


def _pairs(table: Table, twin: Table, id: str) -> dict[str, str]:
    """Value -> text where every cell of the value is spelled alike."""
    cells = table.scan().select(pl.col(id)).collect()
    texts = twin.scan().select(pl.col(id).cast(pl.String)).collect().to_series()
    spelled: dict[str, set[str]] = {}
    for (value,), text in zip(json_rows(cells), texts, strict=True):
        if value is not None and text is not None:
            spelled.setdefault(str(value), set()).add(text)
    return {value: texts.pop() for value, texts in spelled.items() if len(texts) == 1}
