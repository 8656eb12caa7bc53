"""Random tables: random columns of every kind, with missing cells, ties, unicode and zoned times."""

from __future__ import annotations

import datetime as dt
import decimal
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qa.data.table import Table
from qa.types import Role
from tests.property.choices import Choices
from tests.tables import table

DAYS = [dt.date(2024, 2, 29), dt.date(2023, 12, 31), dt.date(2024, 1, 1), dt.date(2024, 3, 31), dt.date(1899, 12, 30), dt.date(2024, 5, 15)]  # fmt: skip
MOMENTS = [
    dt.datetime(2024, 3, 31, 1, 30), dt.datetime(2024, 3, 31, 23, 59, 59), dt.datetime(2024, 10, 27, 0, 15), dt.datetime(2024, 10, 27, 1, 15), dt.datetime(2023, 12, 31, 23, 0),
    dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 29, 12, 0, 0, 500_000),
]  # fmt: skip
ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"]
CENTS = [decimal.Decimal(text) for text in ("0.00", "1.10", "-2.50", "99.99", "1.10", "1000000.01")]


@dataclass(frozen=True)
class Holding:
    """What a column may hold: its cells and their type. A zone is put on zoned times later."""

    cells: Sequence[Any]
    dtype: Any
    zoned: bool = False


HOLDINGS: dict[str, Holding] = {
    "small": Holding([1, 2, 3], pl.Int64),
    "whole": Holding([0, 1, -1, 2, 3, 7, 10, -10, 1000, 2**31, 2**53 + 1], pl.Int64),
    # Sums of these are exact, so both engines must give the same double whatever their order of adding.
    "double": Holding([0.0, 1.0, -1.5, 2.5, 0.125, 12345.75, -0.5, 3.0, 1e6], pl.Float64),
    "awkward": Holding([2.675, 1e-9, 0.1, 0.3, -0.0, 1.005, 33.3], pl.Float64),
    "cents": Holding(CENTS, pl.Decimal(18, 2)),
    "word": Holding(["a", "b", "B", "ä", "", " x ", "東京", "🙂", "it's", "10", "a b", "50%_\\"], pl.String),
    "category": Holding(["u", "v"], pl.String),
    "truth": Holding([True, False], pl.Boolean),
    "day": Holding(DAYS, pl.Date),
    "moment": Holding(MOMENTS, pl.Datetime("us")),
    "zoned": Holding(MOMENTS, pl.Datetime("us"), zoned=True),
    "time": Holding([dt.time(0, 0), dt.time(12, 30, 15), dt.time(23, 59, 59)], pl.Time),
    "duration": Holding([dt.timedelta(0), dt.timedelta(hours=5), dt.timedelta(days=-1, seconds=3)], pl.Duration("us")),
    "tags": Holding([[], ["a"], ["b", "a"], ["a", "a", ""], ["é"]], pl.List(pl.String)),
}
COMMON = ["small", "whole", "double", "double", "word", "category", "truth", "day"]
"""Drawn from half the time: most functions take these."""
NAMES = [
    "x", "y", "n", "total", "Total sales", "größe", "名前", "and", "case", "2024", "select", "count", "month", "a.b", "it's", "50 %", "value", "name", "kind", "Order Date", "a`b", "column 3",
]  # fmt: skip
NUMBER_ROLES = [Role.CURRENCY, Role.PERCENT, Role.ID, Role.RATE, Role.BALANCE, Role.COUNT]


def random_table(choose: Choices, name: str) -> Table:
    """A table of two to seven columns and up to forty rows. Its cells hang on one drawn seed."""
    cells = random.Random(choose.below(2**32))
    size = choose.pick([5, 8, 13, 3, 2, 1, 0, 40])
    columns: dict[str, pl.Series] = {}
    roles: dict[str, Role] = {}
    for heading in choose.some(NAMES, 2, 7):
        holding = HOLDINGS[choose.pick(COMMON if choose.one_in(2) else list(HOLDINGS))]
        missing = choose.pick([0.2, 0.0, 0.6])
        columns[heading] = _column(holding, size, missing, cells)
        if holding.dtype in (pl.Int64, pl.Float64) and choose.one_in(8):
            roles[heading] = choose.pick(NUMBER_ROLES)
    units = {heading: "EUR" if role is Role.CURRENCY else "fraction" for heading, role in roles.items() if role in (Role.CURRENCY, Role.PERCENT)}  # fmt: skip
    return table(name, pl.DataFrame(columns), roles=roles, units=units)


def _column(holding: Holding, size: int, missing: float, cells: random.Random) -> pl.Series:
    drawn = [None if cells.random() < missing else cells.choice(holding.cells) for _ in range(size)]
    column = pl.Series(drawn, dtype=holding.dtype)
    if not holding.zoned:
        return column
    return column.dt.replace_time_zone(cells.choice(ZONES), ambiguous="earliest", non_existent="null")
