"""Read a big regular file without holding it: its head and its tail with care, the rest by Polars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from qa.data.cutting import Dialect, Records, cut
from qa.data.dialect import sep_line, sniff
from qa.data.grid import Grid, Notes, columns_of, skipped_of, surplus_of
from qa.data.mend import closed, mend
from qa.data.regular import Stretch, measure
from qa.data.structure import Layout, find_table

HEAD = 1 << 18
TAIL_MOST = 1 << 20
HEAD_RECORDS = 1000
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class _Head:
    """The first records of a file that reads as plain UTF-8 with one-byte marks, and what they tell."""

    records: Records
    layout: Layout
    dialect: Dialect
    skip_lines: int
    body_byte: int
    body_record: int


def read_big(
    path: Path,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: int | None = None,
    summing: str = "drop",
) -> Grid | None:
    """The grid of a big file whose records are proven regular up to its last few megabytes; None when they are not.

    Only UTF-8 files are tried. The cells are scanned from the file whenever they are collected; it must stay there.
    """
    head = _head(path, delimiter, quote, header)
    if head is None:
        return None
    width = head.layout.width
    mark, sign = head.dialect.delimiter or "", head.dialect.quote
    stretch = measure(path, head.body_byte, delimiter=mark, quote=sign, width=width)
    if path.stat().st_size - stretch.end > TAIL_MOST or stretch.tail_records == 0 or _heading_again(path, head):
        return None
    ends = _ends(path, stretch, head, summing)
    return None if ends is None else _grid(path, head, stretch, ends)


def _head(path: Path, delimiter: str | None, quote: str | None, header: int | None) -> _Head | None:
    with path.open("rb") as file:
        raw = file.read(HEAD)
    raw = raw[: raw.rfind(b"\n") + 1]
    try:
        text = raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text or "\0" in text or sep_line(text):
        return None
    dialect = sniff(text, delimiter=delimiter, quote=quote)
    if not _plain(dialect):
        return None
    records = closed(_without_last(cut(text, dialect)))
    layout = find_table(records.rows, header=header)
    if layout.others or layout.index_column or layout.totals or not layout.body or layout.width < 1:
        return None
    first = layout.body[0]
    line = records.starts[first]
    before = "".join(records.lines[:line])
    if (layout.block.end != len(records.rows) and header is None) or "\r" in before.replace("\r\n", ""):
        return None
    offset = len(before.encode()) + (len(BOM) if raw.startswith(BOM) else 0)
    if offset and not line:
        return None
    return _Head(records, layout, dialect, line, offset, first)


def _without_last(records: Records) -> Records:
    """Less the last record, which the end of the head may have cut."""
    return replace(
        records, rows=records.rows[:-1], starts=records.starts[:-1], lines=records.lines[: records.starts[-1]]
    )


def _plain(dialect: Dialect) -> bool:
    mark = dialect.delimiter
    one = mark is not None and len(mark) == 1 and mark.isascii()
    return (
        one and dialect.escape is None and not dialect.skip_space and not dialect.runs and dialect.quote in ('"', None)
    )


def _heading_again(path: Path, head: _Head) -> bool:
    """The header line stands again somewhere below it."""
    if not head.layout.block.header:
        return False
    line = "".join(head.records.raw(head.layout.block.header[-1])).strip("\r\n").encode()
    needle = b"\n" + line
    with path.open("rb") as file:
        file.seek(head.body_byte)
        kept = b"\n"
        while block := file.read(1 << 24):
            if needle in kept + block:
                return True
            kept = block[-len(needle) :]
    return False


@dataclass(frozen=True)
class _Ends:
    """The head's records and the last ones of the file in one list; from `top` on they stand `shift` rows further down."""

    rows: list[list[str]]
    layout: Layout
    top: int
    shift: int
    repairs: tuple[tuple[int, str], ...]

    def number(self, at: int) -> int:
        return at + 1 + (self.shift if at >= self.top else 0)

    @property
    def body(self) -> list[int]:
        """The data records at the end."""
        return [at for at in self.layout.body if at >= self.top]


def _ends(path: Path, stretch: Stretch, head: _Head, summing: str) -> _Ends | None:
    """Head and tail laid out together; None when they do not read as one table."""
    with path.open("rb") as file:
        file.seek(stretch.tail)
        raw = file.read()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    top = min(head.layout.body[-1], head.body_record + HEAD_RECORDS) + 1
    last = mend(closed(cut(text, head.dialect)))
    rows = [*head.records.rows[:top], *last.rows]
    header = head.layout.block.header
    layout = find_table(rows, header=header[-1] + 1 if header else 0, summing=summing)
    if layout.width != head.layout.width:
        return None
    repairs = tuple((top + at, how) for at, how in last.repairs)
    return _Ends(rows, layout, top, stretch.tail_records - (top - head.body_record), repairs)


def _grid(path: Path, head: _Head, stretch: Stretch, ends: _Ends) -> Grid:
    rows, width, back = ends.rows, head.layout.width, ends.body
    notes = Notes(number=ends.number)
    notes.of_header(head.layout)
    notes.of_totals(ends.layout)
    notes.of_rows(rows, back, width)
    notes.of_repairs(ends.repairs)
    before = [row for row in skipped_of(head.records.rows, head.layout) if row[0] <= head.body_record]
    after = [row for row in skipped_of(rows, ends.layout, ends.number) if row[0] > ends.top]
    return Grid(
        cells=pl.concat([_scan(path, head, stretch), columns_of(rows, back, width).lazy()]),
        height=stretch.tail_records + len(back),
        headers=head.layout.headers,
        header_found=head.layout.header_found,
        numbers=_numbers(head, stretch, [ends.number(at) for at in back]),
        first_row_number=head.body_record + 1,
        units=head.layout.units,
        encoding="utf-8",
        delimiter=head.dialect.delimiter,
        quote=head.dialect.quote,
        escape=head.dialect.escape,
        skipped=(*before, *after),
        notes=tuple(notes.all),
        totals=tuple(
            (stretch.tail_records + sum(other < at for other in back), ends.number(at), tuple(rows[at]))
            for at in ends.layout.totals
        ),
        surplus=surplus_of(rows, back, width, ends.number),
        rows_in=len(rows) + ends.shift,
        in_memory=False,
    )


def _scan(path: Path, head: _Head, stretch: Stretch) -> pl.LazyFrame:
    """The proven records, up to the tail."""
    names = [f"c{at}" for at in range(head.layout.width)]
    front = pl.scan_csv(
        path,
        has_header=False,
        separator=head.dialect.delimiter or ",",
        quote_char=head.dialect.quote,
        skip_lines=head.skip_lines,
        n_rows=stretch.tail_records,
        schema=dict.fromkeys(names, pl.String),
        truncate_ragged_lines=True,  # Only rows below the proven ones are ragged.
    )
    if stretch.blanks_quoted:
        front = front.with_columns(pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names)
    return front


def _numbers(head: _Head, stretch: Stretch, back: list[int]) -> pl.Series | None:
    """Row numbers when the last ones do not follow one by one, else None."""
    first = head.body_record + 1
    if back == list(range(first + stretch.tail_records, first + stretch.tail_records + len(back))):
        return None
    front = pl.int_range(first, first + stretch.tail_records, dtype=pl.UInt32, eager=True)
    return pl.concat([front, pl.Series(back, dtype=pl.UInt32)])
