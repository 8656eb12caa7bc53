"""Read delimited text of any make from its bytes into a grid of text cells, and say what was left out and why."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from qa.data.big import read_big
from qa.data.cutting import cut
from qa.data.decompress import ReadLimits, Unpacked, unpack, unpack_into, wrapping_of
from qa.data.dialect import sep_line, sniff
from qa.data.encoding import Decoded, decode
from qa.data.grid import (
    Grid,
    Notes,
    OtherTable,
    columns_of,
    others_of,
    skipped_of,
    surplus_of,
    write_cells,
)
from qa.data.mend import Mended, closed, mend
from qa.data.structure import Layout, find_table
from qa.data.table import Assumption
from qa.data.through import read_through
from qa.errors import Issue, LimitExceeded, LoadError

__all__ = ["Grid", "OtherTable", "ReadLimits", "read_grid", "write_cells"]

STANDARD = ReadLimits()


def read_grid(
    source: Path | bytes,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header: int | None = None,
    table: int | None = None,
    summing: str = "drop",
    member: str | None = None,
    limits: ReadLimits = STANDARD,
    scratch: Path | None = None,
) -> Grid:
    """The table in a delimited text file. What is given is obeyed, the rest is found from the bytes.

    `header` is the row number of the header from 1, 0 for none; `quote` "" for none; `table` the n-th of several
    tables; `summing` says what becomes of totals (`drop`, `keep`, `all`); `member` the file inside a zip. An empty file gives a grid without columns. A big regular file is not
    held in memory: its grid scans it. With a `scratch` folder, a packed file is unpacked there, and a file too big and
    irregular to be held is copied there in regular form; the grid needs the folder as long as it is used. Raises LoadError for what is no text, LimitExceeded past a limit.
    """
    wrapped = (
        unpack_into(source, scratch, limits=limits, member=member) if scratch and isinstance(source, Path) else None
    )
    inside = wrapped.path if wrapped and wrapped.path else source
    if isinstance(inside, Path) and table is None and _may_be_big(inside, limits):
        given = {"delimiter": delimiter, "quote": quote}
        big = read_big(inside, header=header, summing=summing, **given) if _is_utf8(encoding) else None
        if big is None and scratch is not None and inside.stat().st_size > limits.held_bytes:
            big = read_through(inside, scratch, encoding=encoding, header=header, summing=summing, **given)
        if big is not None:
            _within(big.width, big.height * big.width, limits)
            return _from_wrapping(big, wrapped)
    unpacked = (
        replace(wrapped, data=inside.read_bytes())
        if wrapped and isinstance(inside, Path)
        else unpack(source, limits=limits, member=member)
    )
    decoded = _text(unpacked.data, encoding)
    named = sep_line(decoded.text) if delimiter is None else None
    text = _blank_first_line(decoded.text) if named else decoded.text
    dialect = sniff(text, delimiter=delimiter or named, quote=quote)
    mended = mend(closed(cut(text, dialect)))
    _within(max(map(len, mended.rows), default=0), sum(map(len, mended.rows)), limits)
    layout = find_table(mended.rows, header=header, table=table, summing=summing)
    width = layout.width
    numbers = pl.Series("row", [at + 1 for at in layout.body], dtype=pl.UInt32)
    names = ((1, "names the delimiter", f"sep={named}"),) if named else ()
    return Grid(
        cells=columns_of(mended.rows, layout.body, width).lazy(),
        height=len(layout.body),
        headers=layout.headers,
        header_found=layout.header_found,
        numbers=numbers,
        first_row_number=layout.body[0] + 1 if layout.body else 0,
        units=layout.units,
        encoding=decoded.encoding,
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        escape=dialect.escape,
        skipped=names + skipped_of(mended.rows, layout),
        notes=_notes(mended, layout, decoded, unpacked),
        other_tables=others_of(mended.rows, layout),
        totals=tuple(
            (sum(other < at for other in layout.body), at + 1, tuple(mended.rows[at])) for at in layout.totals
        ),
        surplus=surplus_of(mended.rows, layout.body, width),
        rows_in=len(mended.rows),
        wrapping=unpacked.wrapping,
        member=unpacked.name,
    )


def _may_be_big(path: Path, limits: ReadLimits) -> bool:
    if not limits.scanned_bytes <= path.stat().st_size <= limits.file_bytes:
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if wrapping_of(head) is not None:
        return False
    _refuse_other_kinds(decode(head).text)
    return True


def _is_utf8(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8", "ascii")


def _from_wrapping(grid: Grid, wrapped: Unpacked | None) -> Grid:
    if wrapped is None:
        return grid
    notes = Notes(grid.notes)
    notes.of_members(wrapped.others)
    return replace(grid, wrapping=wrapped.wrapping, member=wrapped.name, notes=tuple(notes.all))


def _blank_first_line(text: str) -> str:
    """The text with nothing on its first line, so that rows keep their numbers."""
    ends = [at for at in (text.find("\n"), text.find("\r")) if at >= 0]
    return text[min(ends, default=len(text)) :]


def _text(data: bytes, encoding: str | None) -> Decoded:
    decoded = decode(data, encoding)
    _refuse_other_kinds(decoded.text)
    if decoded.text.endswith(END_OF_FILE):
        decoded = Decoded(decoded.text.rstrip(END_OF_FILE), decoded.encoding, decoded.notes)
    nuls = decoded.text.count("\0")
    if not nuls:
        return decoded
    note = Assumption(code="nul_bytes", column=None, message=f"{nuls:,} NUL characters left out.", damage=1)
    return Decoded(decoded.text.replace("\0", ""), decoded.encoding, (*decoded.notes, note))


END_OF_FILE = "\x1a"
"""What old programs write behind the last line."""
CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\ufffd]")
OTHER_KINDS = (
    (re.compile("%PDF-|\x89PNG|GIF8|ÿØÿ|‰PNG|.ELF|MZ.\0", re.DOTALL), "not_text", "The file is a document, a picture or a program, not a table of text."),
    (re.compile("\\s*<(?:!doctype html|html[\\s>])", re.IGNORECASE), "web_page", "The file is a web page, not a table: perhaps the sign-in page of the site it came from."),
)  # fmt: skip


def _refuse_other_kinds(text: str) -> None:
    head = text[: 1 << 16]
    for opening, code, message in OTHER_KINDS:
        if opening.match(head):
            raise LoadError(Issue(code, "", message, "Load a CSV, Excel, JSON or Parquet file."))
    odd = len(CONTROL.findall(head)) - (head.count("\x01") if "\n" in head else 0)
    if odd > 20 and odd > len(head) // 20:
        message = "The file is not text: it holds binary data."
        raise LoadError(Issue("not_text", "", message, "Load a CSV, Excel, JSON or Parquet file."))


def _within(columns: int, cells: int, limits: ReadLimits) -> None:
    if columns > limits.columns:
        message = f"A row has {columns:,} cells; at most {limits.columns:,} are read."
        raise LimitExceeded(Issue("too_many_columns", "", message, "Check the delimiter."))
    if cells > limits.cells:
        message = f"The file has {cells:,} cells; at most {limits.cells:,} are read."
        raise LimitExceeded(Issue("too_many_cells", "", message, "Split the file."))


def _notes(mended: Mended, layout: Layout, decoded: Decoded, unpacked: Unpacked) -> tuple[Assumption, ...]:
    notes = Notes(decoded.notes)
    notes.of_totals(layout)
    notes.of_header(layout)
    notes.of_rows(mended.rows, layout.body, layout.width)
    notes.of_repairs(mended.repairs)
    notes.of_members(unpacked.others)
    return tuple(notes.all)
