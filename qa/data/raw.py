"""What a file room hands over: columns as they came, with their headers, row numbers and findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from qa.data.table import Assumption


@dataclass(frozen=True)
class Raw:
    """One table before its kinds are decided. `frame` has columns `c0, c1, …`: String, or typed by the file.

    `rows` are row numbers in the file counted from 1 (None: the frame's own rows, counted from `first_row`).
    `states` is how far the file itself tells kinds: `nothing` (all cells are text), `loosely` (JSON, SQLite: text may
    still hold dates or amounts) or `strictly` (Parquet, Arrow, DuckDB: text stays as it is spelled).
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
    skipped: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[Assumption, ...] = ()
    errors: dict[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)

    def row_number(self, index: int) -> int:
        """The row number in the file of the frame's row at `index`."""
        return int(self.rows[index]) if self.rows is not None else self.first_row + index
