"""The door from a file to tables: `load` in this process, `load_isolated` in a child under limits."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from qa.data.build import named, table
from qa.data.canonical import file_digest, own_folder, prune, recall, remember
from qa.data.delimited import read_delimited
from qa.data.excel import read_excel
from qa.data.names import file_stem, identifier
from qa.data.options import Limits, ReadOptions
from qa.data.raw import Raw
from qa.data.structured import READERS
from qa.data.table import Table
from qa.errors import Issue, LimitExceeded, LoadError

__all__ = ["Limits", "ReadOptions", "load", "load_isolated"]

_NO_OPTIONS = ReadOptions()
_SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".json": "json", ".geojson": "json", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".duckdb": "duckdb", ".ddb": "duckdb",
    ".xlsx": "excel", ".xlsm": "excel", ".xls": "excel", ".xlsb": "excel", ".ods": "excel",
}
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PAR1", "parquet"), (0, b"ARROW1", "arrow"), (0, b"SQLite format 3\0", "sqlite"), (8, b"DUCK", "duckdb"), (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
)


def load(path: Path | str, *, name: str | None = None, options: ReadOptions = _NO_OPTIONS, cache: Path | None = None) -> list[Table]:
    """The tables of a file: one for each sheet or table in it.

    `name` is the table's name (default: the file's; several tables keep their own); `cache` a folder that keeps the
    canonical Parquet (default: one that goes with the process). Raises LoadError for whatever is wrong with the file,
    a file past a limit included.
    """
    path = Path(path)
    folder = cache or own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    digest = file_digest(path, options)
    wanted = identifier(name) if name else identifier(file_stem(path))
    known = recall(folder, digest)
    if known is None:
        known = _read(path, folder, digest, wanted, options)
        remember(folder, digest, known)
        prune(folder)
    return [named(known[0], wanted)] if len(known) == 1 else known


load_isolated = load


def _read(path: Path, folder: Path, digest: str, name: str, options: ReadOptions) -> list[Table]:
    try:
        raws = _reader(path)(path, options, name)
        return [table(raw, options, file=path.name, target=folder / f"{digest}-{index}.parquet", digest=f"{digest}-{index}") for index, raw in enumerate(raws)]
    except LimitExceeded as error:
        raise LoadError(error.issues) from error
    except (pl.exceptions.PolarsError, OSError, UnicodeError, ValueError, zipfile.BadZipFile, RecursionError, OverflowError) as error:
        raise LoadError(
            Issue("cannot_read", path.name, f"{path.name!r} cannot be read: the file is damaged or not what its ending says.", "Open it in the program it came from and save it again.")
        ) from error


def _reader(path: Path) -> Callable[[Path, ReadOptions, str], list[Raw]]:
    """The room that reads a file, by its first bytes, else by its ending; text of any other ending is delimited text."""
    format = _format(path)
    if format == "excel":
        return read_excel
    return READERS.get(format, read_delimited)


def _format(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(16)
    for offset, mark, format in _MAGIC:
        if head[offset : offset + len(mark)] == mark:
            return format
    suffix = path.suffix.lower()
    if head[:2] == b"PK":
        return "excel" if suffix in (".xlsx", ".xlsm", ".xlsb", ".ods") or _is_workbook(path) else "csv"
    if suffix in (".json", ".geojson", ".ndjson", ".jsonl"):
        return _SUFFIXES[suffix]
    # A text file under a binary format's ending is read as what it is.
    return "csv"


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"})
