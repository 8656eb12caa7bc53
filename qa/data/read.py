"""The door from a file to tables: `load` in this process, `load_isolated` in a child under limits."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from qa.data.canonical import coded, file_digest, own_folder, prune, recall, remember, written
from qa.data.names import display_names, file_stem, identifier
from qa.data.options import Limits, ReadOptions
from qa.data.profile import profile
from qa.data.table import ColumnReport, LoadReport, Table
from qa.errors import Issue, LoadError
from qa.types import Column, Kind

__all__ = ["Limits", "ReadOptions", "load", "load_isolated"]


def load(path: Path | str, *, name: str | None = None, options: ReadOptions = ReadOptions(), cache: Path | None = None) -> list[Table]:  # noqa: B008
    """The tables of a file: one for each sheet or table in it.

    `name` is the table's name (default: the file's); `cache` a folder that keeps the canonical Parquet
    (default: one that goes with the process). Raises LoadError for whatever is wrong with the file.
    """
    path = Path(path)
    folder = cache or own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    digest = file_digest(path, options)
    known = recall(folder, digest)
    if known is None:
        known = _read(path, folder, digest, name or identifier(file_stem(path)))
        remember(folder, digest, known)
        prune(folder)
    return known


load_isolated = load


def _read(path: Path, folder: Path, digest: str, name: str) -> list[Table]:
    try:
        match path.suffix.lower():
            case ".parquet":
                frame = pl.read_parquet(path)
            case ".ndjson" | ".jsonl":
                frame = pl.read_ndjson(path, infer_schema_length=None)
            case ".json":
                frame = pl.read_json(path, infer_schema_length=None)
            case ".xlsx" | ".xls" | ".xlsb" | ".ods" | ".xlsm":
                frame = pl.read_excel(path)
            case _:
                frame = pl.read_csv(path, infer_schema_length=None, try_parse_dates=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LoadError(Issue("cannot_read", path.name, f"{path.name!r} cannot be read as a table.")) from error
    headers = frame.columns
    names = display_names(headers)
    frame = frame.rename({header: f"c{i}" for i, header in enumerate(headers)})
    frame = frame.with_columns(coded(frame[c]) for c in frame.columns if frame.schema[c] == pl.String)
    columns = [_column(frame[f"c{i}"], names[i], name) for i in range(len(names))]
    target = folder / f"{digest}.parquet"
    written(frame, target)
    reports = tuple(
        ColumnReport(name=c.name, header=h, kind=c.kind, role=c.role, why="", missing=frame[c.id].null_count())
        for c, h in zip(columns, headers, strict=True)
    )
    report = LoadReport(
        file=path.name, format=path.suffix.lower().strip("."), rows_in=frame.height, rows_out=frame.height,
        columns_in=frame.width, columns_out=frame.width, columns=reports,
    )
    facts = profile(target, columns, frame.height, name=name, digest=digest)
    return [Table(name=name, path=target, columns=columns, rows=frame.height, digest=digest, profile=facts, report=report)]


_KINDS = {pl.Boolean: Kind.BOOLEAN, pl.Date: Kind.DATE, pl.Datetime: Kind.DATETIME, pl.Time: Kind.TIME, pl.Duration: Kind.DURATION, pl.List: Kind.LIST}


def _column(x: pl.Series, name: str, table: str) -> Column:
    kind = _KINDS.get(x.dtype.base_type(), Kind.INTEGER if x.dtype.is_integer() else Kind.NUMBER if x.dtype.is_float() else Kind.TEXT)
    whole = kind is Kind.INTEGER and x.null_count() < len(x)
    return Column(
        id=x.name, name=name, kind=kind, owner=table, origin=(table, x.name), nullable=x.null_count() > 0, unique=x.is_unique().all() if kind is not Kind.LIST else False,
        low=x.min() if whole else None, high=x.max() if whole else None,  # type: ignore[arg-type]
    )
