"""What a file room hands over: columns as they came, with their headers, row numbers and findings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from qa.data.table import Assumption
from qa.types import Role


@dataclass(frozen=True)
class Raw:
    """One table before its kinds are decided. `frame` has columns `c0, c1, …`: String, or typed by the file.

    `rows` are row numbers in the file counted from 1 (None: the frame's own rows, counted from `first_row`).
    `states` is how far the file itself tells kinds: `nothing` (all cells are text), `loosely` (JSON, SQLite: text may
    still hold dates or amounts) or `strictly` (Parquet, Arrow, DuckDB: text stays as it is spelled).
    A column of bare numbers may come as numbers; `proven` names those that show a decimal point beyond doubt.
    `facts` are roles and units that number formats state, by column id.
    `errors` counts cells that are missing because a spreadsheet formula failed, with their place, by column id.
    """

    name: str
    frame: pl.DataFrame
    headers: tuple[str, ...]
    format: str
    rows: pl.Series | None = None
    first_row: int = 1
    states: Literal["nothing", "loosely", "strictly"] = "nothing"
    units: tuple[str, ...] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    sheet: str | None = None
    other_sheets: tuple[str, ...] = ()
    rows_in: int | None = None
    columns_in: int | None = None
    skipped: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[Assumption, ...] = ()
    errors: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    facts: dict[str, tuple[Role, str]] = field(default_factory=dict)
    proven: frozenset[str] = frozenset()

    def row_number(self, index: int) -> int:
        """The row number in the file of the frame's row at `index`."""
        return int(self.rows[index]) if self.rows is not None else self.first_row + index


def without_empty(raw: Raw) -> Raw:
    """The table without columns that have neither a header nor one filled cell, and with a note of them."""
    empty = [
        index
        for index, header in enumerate(raw.headers)
        if not header.strip()
        and (raw.frame[f"c{index}"].null_count() == raw.frame.height)
        and f"c{index}" not in raw.errors
    ]
    if not empty or len(empty) == len(raw.headers):
        return raw
    kept = [index for index in range(len(raw.headers)) if index not in set(empty)]
    place = {f"c{old}": f"c{new}" for new, old in enumerate(kept)}
    said = ", ".join(str(index + 1) for index in empty[:10]) + (" …" if len(empty) > 10 else "")
    note = Assumption(
        code="empty_columns",
        column=None,
        damage=1,
        message=f"Columns without a header and without a value were left out: {said}.",
    )
    return replace(
        raw,
        frame=pl.DataFrame([raw.frame[f"c{old}"].alias(f"c{new}") for new, old in enumerate(kept)]),
        headers=tuple(raw.headers[index] for index in kept),
        units=tuple(raw.units[index] for index in kept) if raw.units else None,
        errors={place[id]: cells for id, cells in raw.errors.items() if id in place},
        facts={place[id]: fact for id, fact in raw.facts.items() if id in place},
        notes=(*raw.notes, note),
        columns_in=len(raw.headers),
    )
