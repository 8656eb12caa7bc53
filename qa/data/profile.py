"""The profile of a table: what the Data page shows and the most a planner may know."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from qa.data.table import ColumnProfile, Profile
from qa.types import Column, Kind, Role

TOP = 20
BINS = 20
NEAR_UNIQUE = 0.9
"""Above this share of distinct values a column has no top values worth showing."""


def profile(
    path: Path,
    columns: Sequence[Column],
    rows: int,
    *,
    name: str,
    digest: str,
    figures: dict[str, Any] | None = None,
    frame: pl.LazyFrame | None = None,
) -> Profile:
    """Statistics of every column of a canonical Parquet, over all rows.

    `figures` are those of `figures()` when they are known already, `frame` the same rows in memory.
    """
    frame = pl.scan_parquet(path) if frame is None else frame
    known = _figures(frame, {column.id: column.kind for column in columns}) if figures is None else figures
    return Profile(
        name=name,
        digest=digest,
        rows=rows,
        columns=_columns(frame, columns, rows, known),
    )


def _columns(
    frame: pl.LazyFrame, columns: Sequence[Column], rows: int, known: dict[str, Any]
) -> tuple[ColumnProfile, ...]:
    with ThreadPoolExecutor(min(4, pl.thread_pool_size())) as pool:
        return tuple(pool.map(lambda column: _column(frame, column, rows, known), columns))


def figures(frame: pl.LazyFrame, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """The first pass, over all columns at once: `c0:count`, `c0:distinct`, `c0:low`, … by column id."""
    if not kinds:
        return {}
    dtypes = frame.collect_schema()
    return (
        frame.select(*(figure for id, kind in kinds.items() for figure in _column_figures(id, kind, dtypes[id])))
        .collect(engine="in-memory")
        .row(0, named=True)
    )


_figures = figures


def _column_figures(id: str, kind: Kind, dtype: pl.DataType) -> list[pl.Expr]:
    """Everything that one scan can compute for a column."""
    x = pl.col(id)
    result = [x.count().cast(pl.Int64).alias(f"{id}:count")]
    if kind is Kind.LIST:
        x = x.list.len()
    result.append(x.drop_nulls().n_unique().cast(pl.Int64).alias(f"{id}:distinct"))
    # A coded text is compared as text, which is dear: its few distinct values are enough.
    ends = x if kind is not Kind.TEXT or dtype == pl.String else x.unique().cast(pl.String)
    result += [ends.min().alias(f"{id}:low"), ends.max().alias(f"{id}:high")]
    if kind.numeric:
        number = x.cast(pl.Float64)
        result += [number.mean().alias(f"{id}:mean"), number.std().alias(f"{id}:std")]
        quartiles = number.quantile(list(QUARTILES), interpolation="linear")
        result.append(quartiles.alias(f"{id}:quartiles"))
    return result


QUARTILES = (0.25, 0.5, 0.75)


def _column(frame: pl.LazyFrame, column: Column, rows: int, figures: dict[str, Any]) -> ColumnProfile:
    def figure(label: str) -> Any:
        return figures.get(f"{column.id}:{label}")

    count, distinct = figure("count"), figure("distinct")
    quartiles = figure("quartiles") or (None, None, None)
    return ColumnProfile(
        name=column.name,
        kind=column.kind,
        role=column.role,
        unit=column.unit,
        delimiter=column.unit if column.role is Role.TAG_LIST else None,
        count=count,
        missing=rows - count,
        distinct=distinct,
        unique=count > 0 and distinct == count,
        low=plain(figure("low")),
        high=plain(figure("high")),
        mean=_finite(figure("mean")),
        std=_finite(figure("std")),
        q25=_finite(quartiles[0]),
        median=_finite(quartiles[1]),
        q75=_finite(quartiles[2]),
        top=_top(frame, column, count, distinct),
        histogram=_histogram(frame, column, figure("low"), figure("high")),
    )


def _top(frame: pl.LazyFrame, column: Column, count: int, distinct: int) -> tuple[tuple[Any, int], ...]:
    if count == 0 or column.kind is Kind.LIST or (distinct > TOP and distinct > NEAR_UNIQUE * count):
        return ()
    x = pl.col(column.id)
    counted = frame.select(x.drop_nulls()).group_by(column.id).agg(pl.len().alias("n"))
    top = counted.with_columns(x.cast(pl.String) if column.kind is Kind.TEXT else x).sort(
        "n", column.id, descending=[True, False]
    )
    return tuple((plain(value), int(n)) for value, n in top.head(TOP).collect(engine="in-memory").iter_rows())


def _histogram(frame: pl.LazyFrame, column: Column, low: Any, high: Any) -> tuple[tuple[float, float, int], ...]:
    """Equal bins between the smallest and the largest value, left-closed, the last closed on both sides."""
    if not column.kind.numeric or low is None:
        return ()
    start, end = float(low), float(high)
    if not math.isfinite(end - start):
        return ()
    if start == end:
        return ((start, end, int(frame.select(pl.col(column.id).count()).collect(engine="in-memory").item())),)
    width = (end - start) / BINS
    bin_index = ((pl.col(column.id).cast(pl.Float64) - start) / width).floor().clip(0, BINS - 1).cast(pl.Int64)
    counted = dict(
        frame.select(bin_index.alias("bin").drop_nulls())
        .group_by("bin")
        .agg(pl.len())
        .collect(engine="in-memory")
        .iter_rows()
    )
    return tuple(
        (start + width * i, start + width * (i + 1) if i < BINS - 1 else end, counted.get(i, 0)) for i in range(BINS)
    )


def plain(value: Any) -> Any:
    """A value that JSON holds: dates and times as ISO text, durations in seconds."""
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case None | bool() | int() | str():
            return value
        case _:
            return float(value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
