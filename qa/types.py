"""The kinds a value can have, the roles a column can play, and the schema a step sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol


class Kind(StrEnum):
    """What a cell holds. `integer` is a whole number, `number` a double, `decimal` an exact one."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    DECIMAL = "decimal"
    TEXT = "text"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    DURATION = "duration"
    LIST = "list"

    @property
    def numeric(self) -> bool:
        return self in NUMERIC

    @property
    def temporal(self) -> bool:
        return self in (Kind.DATE, Kind.DATETIME)


NUMERIC = frozenset({Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL})


class Role(StrEnum):
    """What a column is for; guards and charts read it."""

    ID = "id"
    CATEGORY = "category"
    CURRENCY = "currency"
    PERCENT = "percent"
    COUNT = "count"
    RATE = "rate"
    BALANCE = "balance"
    YEAR = "year"
    GEO = "geo"
    TAG_LIST = "tag_list"


@dataclass(frozen=True)
class Column:
    """One column of a table or of a step's result.

    `id` is the name inside the engine (`c0`), `name` what people read (unique in its table, ignoring case).
    `unit` is a currency code for `currency`, `fraction` or `percent` for `percent`, else a unit such as `kg`.
    `owner` is the table it came from (None for a computed column), `origin` the (table, id) whose
    values it still holds unchanged. `nullable` False promises no missing value; `low`/`high` bound integers.
    `repeated` says that a join may have repeated its values (LANGUAGE 5.12).
    """

    id: str
    name: str
    kind: Kind
    role: Role | None = None
    unit: str | None = None
    zone: str | None = None
    owner: str | None = None
    origin: tuple[str, str] | None = None
    nullable: bool = True
    unique: bool = False
    low: float | int | None = None
    high: float | int | None = None
    repeated: bool = False

    def renamed(self, name: str) -> Column:
        return replace(self, name=name)


@dataclass(frozen=True)
class Order:
    """One sort key on an engine column."""

    id: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Schema:
    """The columns after a step, the order its rows have, and what rides along unseen.

    `order` names engine columns, most significant first; `ROW` is the hidden file row number.
    `hidden` are engine columns that no formula can name (row number, support counts).
    `one_row` is true when the form of the plan promises at most one row. `keys` are column id sets
    that are known to be unique together.
    """

    columns: tuple[Column, ...]
    order: tuple[Order, ...] = ()
    hidden: tuple[str, ...] = ()
    one_row: bool = False
    keys: tuple[frozenset[str], ...] = ()
    most_rows: int | None = None
    also: tuple[tuple[str, str, str], ...] = ()
    """(owner, name, column id): other references that mean a column, such as the right key of an inner join"""
    lost: tuple[tuple[str, str], ...] = ()
    """(owner, name) of join keys that were not kept"""

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def by_id(self, id: str) -> Column:
        return next(column for column in self.columns if column.id == id)

    def with_columns(self, columns: Iterable[Column]) -> Schema:
        return replace(self, columns=tuple(columns))


ROW = "r0"
"""The hidden column that holds a loaded table's row number, counted from 0."""


class Source(Protocol):
    """What the checker may know of a table. The data room implements it; the plan room only reads it."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def digest(self) -> str: ...
    def distinct(self, column_id: str) -> Sequence[str]:
        """Every distinct non-missing text of a text column, in lexical order."""
        ...

    def variants(self, column_id: str) -> dict[str, str]:
        """Spellings of a category that the load report grouped: spelling -> the one it stands for."""
        ...
