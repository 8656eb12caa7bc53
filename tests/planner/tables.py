"""Small tables made in memory and written to a folder, with the profile that a loader would give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from qa.data.table import ColumnProfile, LoadReport, Profile, Table
from qa.types import Column, Kind, Role

_KINDS: dict[type[pl.DataType], Kind] = {
    pl.String: Kind.TEXT,
    pl.Int64: Kind.INTEGER,
    pl.Float64: Kind.NUMBER,
    pl.Boolean: Kind.BOOLEAN,
    pl.Date: Kind.DATE,
    pl.Datetime: Kind.DATETIME,
}


def table(
    folder: Path, name: str, columns: dict[str, list[Any]], roles: dict[str, Role] | None = None, **more: Any
) -> Table:
    """A table of these columns. `descriptions` and `synonyms` by column name may be given."""
    frame = pl.DataFrame(columns)
    kinds = [_KINDS[dtype.base_type()] for dtype in frame.dtypes]
    made = [
        Column(
            f"c{i}",
            header,
            kind,
            (roles or {}).get(header),
            unique=frame[header].is_unique().all() and frame.height > 0,
        )
        for i, (header, kind) in enumerate(zip(frame.columns, kinds, strict=True))
    ]
    path = folder / f"{name}.parquet"
    frame.rename({header: f"c{i}" for i, header in enumerate(frame.columns)}).write_parquet(path)
    facts = tuple(_facts(frame[column.name], column, more) for column in made)
    report = LoadReport(
        file=f"{name}.csv",
        format="csv",
        rows_in=frame.height,
        rows_out=frame.height,
        columns_in=frame.width,
        columns_out=frame.width,
    )
    profile = Profile(name=name, digest=name, rows=frame.height, columns=facts)
    return Table(name=name, path=path, columns=made, rows=frame.height, digest=name, profile=profile, report=report)


def _facts(values: pl.Series, column: Column, more: dict[str, Any]) -> ColumnProfile:
    some = values.drop_nulls()
    ranged = column.kind.numeric or column.kind.temporal
    low, high = (some.min(), some.max()) if ranged else (None, None)
    counts = some.value_counts(sort=True).head(20)
    return ColumnProfile(
        name=column.name,
        kind=column.kind,
        role=column.role,
        count=len(some),
        missing=values.null_count(),
        distinct=some.n_unique(),
        unique=column.unique,
        low=low.isoformat() if column.kind.temporal and low is not None else low,  # type: ignore[union-attr]
        high=high.isoformat() if column.kind.temporal and high is not None else high,  # type: ignore[union-attr]
        mean=float(some.mean()) if column.kind.numeric and len(some) else None,  # type: ignore[arg-type]
        median=float(some.median()) if column.kind.numeric and len(some) else None,  # type: ignore[arg-type]
        top=() if column.unique else tuple((value, count) for value, count in counts.iter_rows()),
        description=more.get("descriptions", {}).get(column.name),
        synonyms=tuple(more.get("synonyms", {}).get(column.name, ())),
    )
