"""Small tables for tests, written as canonical Parquet the way a loaded file is."""

from __future__ import annotations

import datetime as dt
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from qa.data.canonical import coded, written
from qa.data.table import LoadReport, Profile, Table
from qa.types import Column, Kind, Role

FOLDER = tempfile.TemporaryDirectory(prefix="qa-test-tables-")
_KINDS: dict[Any, Kind] = {
    pl.Boolean: Kind.BOOLEAN, pl.Int64: Kind.INTEGER, pl.Float64: Kind.NUMBER, pl.Decimal: Kind.DECIMAL, pl.String: Kind.TEXT, pl.Date: Kind.DATE,
    pl.Datetime: Kind.DATETIME, pl.Time: Kind.TIME, pl.Duration: Kind.DURATION, pl.List: Kind.LIST, pl.Null: Kind.TEXT,
}  # fmt: skip
_written = 0


def series(name: str, values: Sequence[Any] | pl.Series) -> pl.Series:
    """A column. Text that is all ISO dates becomes dates, all ISO times of a day datetimes."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) for value in known):
        return pl.Series(name, [value and dt.date.fromisoformat(value) for value in values], dtype=pl.Date)
    if known and all(
        isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", value) for value in known
    ):
        return pl.Series(
            name, [value and dt.datetime.fromisoformat(value) for value in values], dtype=pl.Datetime("us")
        )
    if any(isinstance(value, float) for value in known) and all(isinstance(value, int | float) for value in known):
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    return pl.Series(name, list(values), dtype=None if known else pl.String)


def table(
    name: str,
    data: Mapping[str, Sequence[Any] | pl.Series] | pl.DataFrame,
    *,
    roles: Mapping[str, Role] | None = None,
    units: Mapping[str, str] | None = None,
) -> Table:
    """A table of these columns, with the facts about each that loading would find."""
    global _written
    columns = (
        data.get_columns() if isinstance(data, pl.DataFrame) else [series(key, values) for key, values in data.items()]
    )
    frame = pl.DataFrame([column.cast(pl.String) if column.dtype == pl.Null else column for column in columns])
    _written += 1
    path = Path(FOLDER.name) / f"{name}-{_written}.parquet"
    made = [
        _column(name, f"c{index}", column, (roles or {}).get(column.name), (units or {}).get(column.name))
        for index, column in enumerate(frame.get_columns())
    ]
    stored = [
        (coded(column) if column.dtype == pl.String else column).alias(f"c{index}")
        for index, column in enumerate(frame.get_columns())
    ]
    written(pl.DataFrame(stored), path)
    report = LoadReport(
        file=f"{name}.csv",
        format="csv",
        rows_in=frame.height,
        rows_out=frame.height,
        columns_in=frame.width,
        columns_out=frame.width,
    )
    profile = Profile(name=name, digest=path.stem, rows=frame.height, columns=())
    return Table(
        name=name, path=path, columns=made, rows=frame.height, digest=path.stem, profile=profile, report=report
    )


def _column(table: str, id: str, values: pl.Series, role: Role | None, unit: str | None) -> Column:
    integer = values.dtype == pl.Int64
    zone = values.dtype.time_zone if isinstance(values.dtype, pl.Datetime) else None
    unique = (
        not values.dtype.is_nested()
        and values.drop_nulls().n_unique() == values.drop_nulls().len()
        and values.len() > 0
    )
    return Column(
        id=id, name=values.name, kind=_KINDS[values.dtype.base_type()], role=role, unit=unit, zone=zone, owner=table, origin=(table, id),
        nullable=values.null_count() > 0, unique=unique, low=values.min() if integer else None, high=values.max() if integer else None,  # type: ignore[arg-type]
    )  # fmt: skip
