"""The canonical Parquet of a table: where it lies, what names it, and how its columns are coded."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from qa.data.options import ReadOptions
from qa.data.table import LoadReport, Profile, Table
from qa.errors import Issue, LoadError
from qa.types import Column, Kind, Role

READER = "2026-12-01.2"
"""Part of every digest: a reader that decides otherwise must not find the tables of an older one."""

ENUM_MOST = 10_000
NEAR_UNIQUE = 0.5
CACHE_BYTES = 4_000_000_000
_CHUNK = 1 << 22


def file_digest(path: Path, options: ReadOptions) -> str:
    """Names the cells of a file read with these options: any other byte or option gives another digest."""
    content = hashlib.blake2b(digest_size=16)
    content.update(READER.encode())
    content.update(path.suffix.lower().encode())
    content.update(json.dumps(options.model_dump(mode="json", exclude={"limits"}), sort_keys=True).encode())
    try:
        with path.open("rb") as file:
            while block := file.read(_CHUNK):
                content.update(block)
    except OSError as error:
        raise LoadError(
            Issue(
                "cannot_open",
                path.name,
                f"{path.name!r} cannot be opened.",
                "Check that the file exists and may be read.",
            )
        ) from error
    return content.hexdigest()


@lru_cache(maxsize=1)
def own_folder() -> Path:
    """Where this process keeps canonical Parquet when no cache is given; gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="qa-tables-"))
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    return folder


def coded(text: pl.Series, distinct: int | None = None) -> pl.Series:
    """A text column dictionary-coded where that pays: sorted Enum up to 10,000 values, Categorical above, else text."""
    filled = len(text) - text.null_count()
    values = text.drop_nulls().unique() if distinct is None else None
    count = distinct if values is None else len(values)
    if not filled or not count:
        return text.cast(pl.String)
    if count <= ENUM_MOST and (count <= NEAR_UNIQUE * filled or count <= 100):
        found = text.drop_nulls().unique() if values is None else values
        return text.cast(pl.Enum(found.cast(pl.String).sort()))
    return text.cast(pl.Categorical) if count <= NEAR_UNIQUE * filled else text.cast(pl.String)


def written(frame: pl.DataFrame, path: Path) -> None:
    """Write a canonical Parquet so that a reader sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}.part")
    frame.write_parquet(scratch, compression="zstd", compression_level=1, statistics=True)
    scratch.replace(path)


def remember(folder: Path, digest: str, tables: list[Table]) -> None:
    """Keep what a file was read to beside its Parquet, so that a second visit reads nothing."""
    entry = {"reader": READER, "tables": [_as_json(table) for table in tables]}
    scratch = folder / f"{digest}.{os.getpid()}.part"
    scratch.write_text(json.dumps(entry), encoding="utf-8")
    scratch.replace(folder / f"{digest}.json")


def recall(folder: Path, digest: str) -> list[Table] | None:
    """The tables a file was read to before, or None."""
    index = folder / f"{digest}.json"
    try:
        entry = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tables = [_from_json(record, folder) for record in entry["tables"]]
    if not all(_holds(table) for table in tables):
        return None
    for path in (index, *(table.path for table in tables if table.path.parent == folder)):
        os.utime(path)
    return tables


def _holds(table: Table) -> bool:
    """Whether the Parquet is there, with the columns and rows that its entry tells of."""
    try:
        found = pl.scan_parquet(table.path)
        names = set(found.collect_schema().names())
        return (
            all(column.id in names for column in table.columns)
            and found.select(pl.len()).collect().item() == table.rows
        )
    except (OSError, pl.exceptions.PolarsError):
        return False


def prune(folder: Path, most: int = CACHE_BYTES, spare: str = "") -> None:
    """Delete the tables that were used longest ago until the folder is under `most` bytes; those of `spare` stay."""
    files = [(path, path.stat()) for path in folder.iterdir() if path.suffix in (".parquet", ".json")]
    total = sum(stat.st_size for _, stat in files)
    for path, stat in sorted(files, key=lambda entry: entry[1].st_mtime):
        if total <= most:
            return
        if spare and path.name.startswith(spare):
            continue
        path.unlink(missing_ok=True)
        total -= stat.st_size


def _as_json(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "path": str(table.path),
        "rows": table.rows,
        "digest": table.digest,
        "columns": [_column_as_json(column) for column in table.columns],
        "profile": table.profile.model_dump(mode="json"),
        "report": table.report.model_dump(mode="json"),
    }


def _column_as_json(column: Column) -> dict[str, Any]:
    return {key: value for key, value in vars(column).items() if value is not None}


def _from_json(record: dict[str, Any], folder: Path) -> Table:
    path = Path(record["path"])
    return Table(
        name=record["name"],
        path=path if path.exists() else folder / path.name,
        columns=[_column_from_json(column) for column in record["columns"]],
        rows=record["rows"],
        digest=record["digest"],
        profile=Profile.model_validate(record["profile"]),
        report=LoadReport.model_validate(record["report"]),
    )


def _column_from_json(record: dict[str, Any]) -> Column:
    origin = record.pop("origin", None)
    role = record.pop("role", None)
    return Column(
        **{**record, "kind": Kind(record["kind"])},
        role=Role(role) if role else None,
        origin=(origin[0], origin[1]) if origin else None,
    )
