"""Answers as files: CSV, Parquet, XLSX and JSON under caps that are announced, safe to open in a spreadsheet."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import polars as pl

from qa.answer.answer import AnswerPart
from qa.answer.cells import json_rows
from qa.answer.formats import number, plural
from qa.answer.spreadsheet import SHEET_COLUMNS, SHEET_ROWS, workbook
from qa.errors import Issue, LimitExceeded

Format = Literal["csv", "parquet", "xlsx", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

MIMES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Caps:
    """The most a download may hold: rows, cells (rows × columns) and bytes."""

    rows: int = 100_000
    cells: int = 2_000_000
    bytes: int = 50_000_000


CAPS = Caps()


@dataclass(frozen=True)
class Download:
    """A file to hand out. `note` says what differs from the table shown (rows cut, cells made safe), or is empty."""

    name: str
    mime: str
    data: bytes
    note: str = ""


def download(part: AnswerPart, format: Format, caps: Caps = CAPS) -> Download:
    """The part's table as a file. Rows over a cap are left out and counted in the note, never in silence.

    Raises LimitExceeded when not even one row fits the caps.
    """
    write = _WRITERS[format]
    limits = replace(caps, rows=min(caps.rows, SHEET_ROWS)) if format == "xlsx" else caps
    if format == "xlsx" and part.table.width > SHEET_COLUMNS:
        raise _over(f"{part.table.width:,} columns; a sheet holds {SHEET_COLUMNS:,}")
    rows = min(part.table.height, limits.rows, max(limits.cells // max(part.table.width, 1), 0))
    if rows == 0 and part.table.height:
        raise _over(f"{part.table.width:,} columns, more than the {limits.cells:,} cells a download may have")
    data, notes = write(part, part.table.head(rows))
    while len(data) > limits.bytes and rows > 1:
        rows = max(1, int(rows * limits.bytes / len(data) * 0.9))
        data, notes = write(part, part.table.head(rows))
    if len(data) > limits.bytes:
        raise _over(f"{len(data):,} bytes in one row; a download may have {limits.bytes:,}")
    cut = (f"Holds the first {number(rows)} of {plural(part.total_rows, 'row')}.",) if rows < part.total_rows else ()
    return Download(file_name(part.title, format), MIMES[format], data, " ".join((*cut, *notes)))


def _over(what: str) -> LimitExceeded:
    return LimitExceeded(Issue("download_too_big", "download", f"The table has {what}.", "Show fewer columns or rows."))


# --- formats -----------------------------------------------------------------------------------------------------------


def _csv(part: AnswerPart, table: pl.DataFrame) -> tuple[bytes, tuple[str, ...]]:
    flat = [_flat(column) for column in table.get_columns()]
    risky = sum(int(column.str.contains(_RISKY).sum()) for column in flat if column.dtype == pl.String)
    risky += sum(guarded(name) != name for name in table.columns)
    safe = [column.str.replace(_RISKY, "'${0}") if column.dtype == pl.String else column for column in flat]
    header = _distinct([guarded(name) for name in table.columns])
    buffer = io.BytesIO()
    pl.DataFrame([column.alias(name) for column, name in zip(safe, header, strict=True)]).write_csv(buffer)
    note = f"{plural(risky, 'text cell')} that a spreadsheet would run as a formula got a leading apostrophe."
    return buffer.getvalue(), (note,) if risky else ()


# Half-width and full-width signs: spreadsheets in Japanese and Chinese locales run both.
_RISKY = r"(?s)^[=+\-@\t\r＝＋－＠]."


def guarded(text: str) -> str:
    """Text that no spreadsheet runs: what begins with = + - @ tab or return gets an apostrophe; a lone sign stays."""
    return f"'{text}" if re.match(_RISKY, text) else text


def _distinct(names: list[str]) -> list[str]:
    taken: set[str] = set()
    made = []
    for name in names:
        fresh = name
        while fresh in taken:
            fresh += "'"
        taken.add(fresh)
        made.append(fresh)
    return made


def _flat(column: pl.Series) -> pl.Series:
    """A column that one CSV cell can hold: lists as JSON, durations in seconds, categories as text."""
    kind = column.dtype
    if kind.is_nested():
        cells = [
            None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in column.to_list()
        ]
        return pl.Series(column.name, cells, dtype=pl.String)
    if isinstance(kind, pl.Duration):
        return column.dt.total_microseconds() / 1_000_000
    if isinstance(kind, (pl.Enum, pl.Categorical)):
        return column.cast(pl.String)
    if isinstance(kind, pl.Datetime):
        return column.dt.strftime("%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if kind.time_zone else ""))
    return column


def _parquet(part: AnswerPart, table: pl.DataFrame) -> tuple[bytes, tuple[str, ...]]:
    plain = table.with_columns(
        column.cast(pl.String) for column in table.get_columns() if isinstance(column.dtype, (pl.Enum, pl.Categorical))
    )
    buffer = io.BytesIO()
    plain.write_parquet(buffer, compression="zstd")
    return buffer.getvalue(), ()


def _xlsx(part: AnswerPart, table: pl.DataFrame) -> tuple[bytes, tuple[str, ...]]:
    return workbook(part.title, part.columns, table)


_EXACT_IN_DOUBLES = 2**53


def _json(part: AnswerPart, table: pl.DataFrame) -> tuple[bytes, tuple[str, ...]]:
    wide = [
        column.cast(pl.String)
        for column in table.get_columns()
        if column.dtype.is_integer() and column.len() > column.null_count() and _beyond(column)
    ]
    finite = [column.fill_nan(None) for column in table.get_columns() if column.dtype.is_float()]
    content = {
        "title": part.title,
        "columns": [column.model_dump(mode="json", exclude_none=True) for column in part.columns],
        "total_rows": part.total_rows,
        "rows": json_rows(table.with_columns(wide + finite)),
    }
    note = f"Integers past {_EXACT_IN_DOUBLES:,} are written as text in {len(wide)} of the columns." if wide else ""
    text = json.dumps(content, ensure_ascii=False, indent=None, separators=(",", ":"), allow_nan=False, default=str)
    return text.encode("utf-8"), (note,) if note else ()


def _beyond(column: pl.Series) -> bool:
    low, high = column.min(), column.max()
    return isinstance(low, int) and isinstance(high, int) and max(-low, high) > _EXACT_IN_DOUBLES


_WRITERS: Mapping[Format, Callable[[AnswerPart, pl.DataFrame], tuple[bytes, tuple[str, ...]]]] = {
    "csv": _csv,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "json": _json,
}


# --- names -------------------------------------------------------------------------------------------------------------

_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)$")


def file_name(title: str, extension: str) -> str:
    """A file name from a title: lower-case ASCII words, at most 60 characters, never a path or a reserved name."""
    ascii_text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:60].strip("-")
    return f"{'answer' if not slug or _RESERVED.match(slug) else slug}.{extension}"
