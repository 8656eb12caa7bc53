"""The door from a file to tables: `load` in this process, `load_isolated` in a child under limits."""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import fastexcel
import polars as pl

from qa.data.build import named, said_of, table
from qa.data.canonical import file_digest, own_folder, prune, recall, remember
from qa.data.decompress import ReadLimits, peek, unpack_into
from qa.data.delimited import read_delimited
from qa.data.excel import read_excel
from qa.data.isolation import Progress, read_in_child
from qa.data.names import file_stem, identifier
from qa.data.options import Limits, ReadOptions
from qa.data.raw import Raw
from qa.data.structured import READERS
from qa.data.table import Table
from qa.errors import Issue, LoadError, QAError

__all__ = ["Limits", "ReadOptions", "load", "load_isolated"]

_NO_OPTIONS = ReadOptions()
_DAMAGE = (
    QAError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    fastexcel.FastExcelError,
    zipfile.BadZipFile,
    OSError,
    EOFError,
    UnicodeError,
    OverflowError,
    RecursionError,
    zlib.error,
)
"""What reading a damaged file may raise. Anything else is a mistake of ours and is not blamed on the file."""
_Read = Callable[[Path, ReadOptions, Path, str, str, Progress | None], None]
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "json",
    ".geojson": "json",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
}
DATABASES = frozenset({"sqlite", "duckdb"})
"""Formats whose tables keep their own names, a lone one too."""
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PAR1", "parquet"),
    (0, b"ARROW1", "arrow"),
    (0, b"SQLite format 3\0", "sqlite"),
    (8, b"DUCK", "duckdb"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
)


def load(
    path: Path | str,
    *,
    name: str | None = None,
    options: ReadOptions = _NO_OPTIONS,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Table]:
    """The tables of a file: one for each sheet or table in it.

    `name` is the table's name (default: the file's; a named sheet, several tables and those of a database keep their own); `cache` a folder that keeps the
    canonical Parquet (default: one that goes with the process); `progress` is called with what is being done and the
    share done. Raises LoadError for whatever is wrong with the file, a file past a limit included.
    """
    return _load(Path(path), name, options, cache, progress, read_into)


def load_isolated(
    path: Path | str,
    *,
    name: str | None = None,
    options: ReadOptions = _NO_OPTIONS,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Table]:
    """As `load`, in a child process that is stopped when it passes the time or memory of `options.limits`."""
    return _load(Path(path), name, options, cache, progress, read_in_child)


def _load(
    path: Path, name: str | None, options: ReadOptions, cache: Path | None, progress: Progress | None, read: _Read
) -> list[Table]:
    folder = (cache or own_folder()).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    _check_size(path, options)
    digest = file_digest(path, options)
    wanted = identifier(name) if name else identifier(file_stem(path))
    tables = recall(folder, digest)
    if tables is None:
        read(path.resolve(), options, folder, digest, wanted, progress)
        tables = recall(folder, digest)
        if tables is None:
            raise LoadError(
                Issue("cache_lost", path.name, f"What {path.name!r} was read to is gone.", "Load it again.")
            )
        prune(folder, spare=digest)
    tables = [said_of(table, path.name) for table in tables]
    own = options.sheet is not None or any(table.report.format in DATABASES for table in tables)
    return [named(tables[0], wanted)] if len(tables) == 1 and (name or not own) else tables


def _check_size(path: Path, options: ReadOptions) -> None:
    if not path.is_file():
        raise LoadError(Issue("no_such_file", path.name, f"There is no file {path.name!r}.", "Check the path."))
    size = path.stat().st_size
    if size == 0:
        raise LoadError(Issue("empty", path.name, f"{path.name!r} is empty.", "Choose another file."))
    if size > options.limits.bytes:
        raise LoadError(
            Issue(
                "too_large",
                path.name,
                f"{path.name!r} has {size:,} bytes; at most {options.limits.bytes:,} are read.",
                "Split the file, or save it as Parquet.",
            )
        )


def read_into(
    path: Path, options: ReadOptions, folder: Path, digest: str, name: str, progress: Progress | None
) -> None:
    """Read a file's tables into the folder's cache under `digest`. Raises LoadError and leaves nothing behind then."""
    tell = progress or (lambda what, share: None)
    targets: list[Path] = []
    try:
        tell("Reading the file", 0.05)
        with tempfile.TemporaryDirectory(prefix="qa-inside-") as scratch:
            inside = _unpacked(path, options, Path(scratch))
            raws = _reader(inside)(inside, options, name)
        tables = []
        for index, raw in enumerate(raws):
            tell(
                f"Deciding kinds of {raw.frame.width:,} columns" if len(raws) == 1 else f"Table {raw.name}",
                0.4 + 0.6 * index / len(raws),
            )
            targets.append(folder / f"{digest}-{index}.parquet")
            tables.append(table(raw, options, file=path.name, target=targets[-1], digest=f"{digest}-{index}"))
        remember(folder, digest, tables)
        tell("Done", 1.0)
    except _DAMAGE as error:
        for target in targets:
            target.unlink(missing_ok=True)
        raise _explained(error, path) from error


def _explained(error: BaseException, path: Path) -> LoadError:
    if isinstance(error, QAError):
        return LoadError(error.issues)
    return LoadError(
        Issue(
            "cannot_read",
            path.name,
            f"{path.name!r} cannot be read: the file is damaged or not what its ending says.",
            "Open it in the program it came from and save it again.",
        )
    )


def _reader(path: Path) -> Callable[[Path, ReadOptions, str], list[Raw]]:
    """The room that reads a file, by its first bytes, else by its ending; text of any other ending is delimited text."""
    format = _format(path)
    if format == "excel":
        return read_excel
    if format == "text":
        return _read_text
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
    return "text" if _looks_like_json(path) else "csv"


_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*\"(?:[^\"\\]|\\.)*\"\s*:")


def _looks_like_json(path: Path) -> bool:
    with path.open("rb") as file:
        return _JSON.match(file.read(1 << 12)) is not None


def _read_text(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """Text that begins as JSON does: JSON when it is, else delimited text."""
    try:
        return READERS["json"](path, options, name)
    except LoadError as error:
        if error.issues[0].code != "not_json":
            raise
        return read_delimited(path, options, name)


def _unpacked(path: Path, options: ReadOptions, scratch: Path) -> Path:
    """A packed JSON, Parquet or database file unpacked into the scratch folder; any other file as it is.

    Delimited text is unpacked by its own reader, workbooks are zips themselves.
    """
    if _format(path) != "csv":
        return path
    limits = ReadLimits(
        file_bytes=options.limits.bytes, unpacked_bytes=options.limits.bytes, unpacked_ratio=options.limits.ratio
    )
    head = peek(path, limits=limits, member=options.member)
    if head is None:
        return path
    place = scratch / f"inside{Path(head.name or path.stem).suffix.lower()}"
    place.write_bytes(head.data)
    if _format(place) == "csv":
        return path
    whole = unpack_into(path, scratch, limits=limits, member=options.member)
    assert whole is not None and whole.path is not None
    return whole.path.replace(place)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"})
