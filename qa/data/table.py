"""What a loaded table is: canonical Parquet, its columns, its profile and its load report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict

from qa.types import Column, Kind, Role

BIG = 1_000_000
"""Rows from which a column is not held to find its values."""


class Facts(BaseModel):
    """Base of the frozen, serialisable facts about a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Assumption(Facts):
    """Something the reader decided that could have been decided otherwise.

    `damage` orders them (3 could change totals silently, 2 could change some cells, 1 cosmetic).
    `reversal` is the option that undoes it, as the command line spells it (`--dayfirst no`).
    """

    code: str
    column: str | None
    message: str
    damage: int = 1
    reversal: str | None = None


class Unreadable(Facts):
    """Cells of a column that could not be read as its kind and are missing now."""

    column: str
    count: int
    examples: tuple[tuple[int, str], ...]
    """(row number in the file counted from 1, the cell's text)"""


class ColumnReport(Facts):
    """Why a column has its kind. `header` is the original header text, `was_missing` the null words met."""

    name: str
    header: str
    kind: Kind
    role: Role | None
    why: str
    missing: int
    null_words: dict[str, int] = {}


class LoadReport(Facts):
    """What happened between the bytes and the table. Nothing is dropped without a line here."""

    file: str
    format: str
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    sheet: str | None = None
    other_sheets: tuple[str, ...] = ()
    rows_in: int
    rows_out: int
    columns_in: int
    columns_out: int
    skipped: tuple[tuple[int, str, str], ...] = ()
    """(row number in the file counted from 1, why, its text cut to 200 characters); at most 50"""
    skipped_total: int = 0
    columns: tuple[ColumnReport, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    variants: dict[str, dict[str, str]] = {}
    """column -> spelling -> the spelling it was read as (applied), reversible"""
    offered: dict[str, dict[str, str]] = {}
    """column -> spelling -> the spelling it may stand for (not applied)"""


class ColumnProfile(Facts):
    """Statistics of one column over all rows. Dates and times are ISO text; lists count items."""

    name: str
    kind: Kind
    role: Role | None = None
    unit: str | None = None
    count: int
    missing: int
    distinct: int
    unique: bool
    low: Any = None
    high: Any = None
    mean: float | None = None
    std: float | None = None
    q25: float | None = None
    median: float | None = None
    q75: float | None = None
    top: tuple[tuple[Any, int], ...] = ()
    """most frequent values with their counts, at most 20; empty for near-unique columns"""
    histogram: tuple[tuple[float, float, int], ...] = ()
    """(from, to, count) for numeric columns, at most 20 bins"""
    description: str | None = None
    synonyms: tuple[str, ...] = ()
    delimiter: str | None = None
    """what separates the items of a tag list"""
    send: str | None = None
    """the most a model may be told of it (nothing, names, profile, samples), from the semantic file"""


class Profile(Facts):
    """Everything the planner may know of a table at most, computed once a digest."""

    name: str
    digest: str
    rows: int
    description: str | None = None
    columns: tuple[ColumnProfile, ...]
    synonyms: tuple[str, ...] = ()
    """other words for a row of the table, from its semantic file"""
    default_date: str | None = None
    """the column that "last month" is about, from its semantic file"""
    metrics: dict[str, str] = {}
    """named formulas, from its semantic file"""

    def column(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)


class Table:
    """A loaded table. Its Parquet holds the columns `c0, c1, …` in file order; rows are never held here.

    Immutable by convention; two tables with one `digest` hold the same cells.
    `name` is an identifier. Text of few distinct values is Enum- or Categorical-coded in the Parquet.
    """

    def __init__(
        self,
        *,
        name: str,
        path: Path,
        columns: Sequence[Column],
        rows: int,
        digest: str,
        profile: Profile,
        report: LoadReport,
    ) -> None:
        self.name = name
        self.path = path
        self.columns = tuple(columns)
        self.rows = rows
        self.digest = digest
        self.profile = profile
        self.report = report
        self._distinct: dict[str, list[str]] = {}

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.rows} rows × {len(self.columns)} columns)"

    def scan(self, row_number: str | None = None) -> pl.LazyFrame:
        """The rows, lazily, as `c0, c1, …`; `row_number` names an extra column with the file's row number."""
        return pl.scan_parquet(self.path, row_index_name=row_number)

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def distinct(self, column_id: str) -> Sequence[str]:
        """Every distinct non-missing text of a text column, in lexical order. Read once, then kept."""
        if column_id not in self._distinct:
            values = (
                self.scan()
                .select(pl.col(column_id).unique())
                .collect(engine="streaming" if self.rows > BIG else "auto")
            )
            self._distinct[column_id] = values.to_series().cast(pl.String).drop_nulls().sort().to_list()
        return self._distinct[column_id]

    def variants(self, column_id: str) -> dict[str, str]:
        name = next(column.name for column in self.columns if column.id == column_id)
        return {**self.report.offered.get(name, {}), **self.report.variants.get(name, {})}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All rows under their display names. For tests and small tables."""
        return self.scan().collect().rename({column.id: column.name for column in self.columns})
