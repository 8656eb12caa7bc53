"""Cells as plain JSON values: one place that decides how a value leaves the program."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import polars as pl


def json_cell(value: Any) -> Any:
    """ISO text for dates and times, text for what JSON numbers cannot hold, else the value itself."""
    match value:
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return value.total_seconds()
        case decimal.Decimal():
            return float(value) if abs(value) < 1e15 else str(value)
        case pl.Series():
            return [json_cell(item) for item in value.to_list()]
        case list() | tuple():
            return [json_cell(item) for item in value]
        case _:
            return value


def json_rows(table: pl.DataFrame) -> list[list[Any]]:
    """The rows of a small table as lists of JSON values."""
    return [[json_cell(cell) for cell in row] for row in table.iter_rows()]
