"""Large regular delimited files to a raw table, fast and in bounded memory; None for any file that is not regular."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from qa.data.columns import named_for_text, plain_whole, proves_point
from qa.data.decompress import MAGIC, ReadLimits, unpack
from qa.data.encoding import decode
from qa.data.extremes import largest
from qa.data.names import display_names
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.sniff import Grid, read_grid
from qa.data.structure import find_table
from qa.data.table import Assumption
from qa.errors import Issue, LimitExceeded

FROM_BYTES = 300_000
"""Smaller files are read record by record, which knows more kinds of disorder."""
_HEAD = 200_000
_TAIL_ROWS = 60
_CHECKED_ROWS = 200
_BATCH_CELLS = 4_000_000
_DECODED_MOST = 1_000_000_000


@dataclass
class _Growing:
    """One column as batches of it come in: bare numbers as numbers, else texts, coded while they repeat."""

    id: str
    as_text: bool
    chunks: list[pl.Series] = field(default_factory=list)
    kind: str = "whole"
    proven: bool = False
    failed: bool = False

    def add(self, cells: pl.Series) -> None:
        if self.as_text or self.kind == "text":
            self._add_text(cells)
        elif not self.failed:
            self._add_number(cells)

    def _add_number(self, cells: pl.Series) -> None:
        if self.kind == "whole" and (whole := plain_whole(cells)) is not None:
            self.chunks.append(whole)
            return
        real = cells.cast(pl.Float64, strict=False)
        if real.null_count() == cells.null_count() and real.is_finite().all() and not _padded(cells):
            self.kind = "real"
            self.proven = self.proven or proves_point(cells)
            self.chunks.append(real)
            return
        if any(chunk.null_count() < len(chunk) for chunk in self.chunks):
            self.failed = True  # earlier cells were kept as numbers: the column is read again as text
            self.chunks = []
            return
        blank = sum(map(len, self.chunks))
        self.kind, self.chunks = "text", [pl.Series(self.id, [None] * blank, dtype=pl.Categorical)] if blank else []
        self._add_text(cells)

    def _add_text(self, cells: pl.Series) -> None:
        coded = self.chunks[0].dtype == pl.Categorical if self.chunks else cells.n_unique() < 0.4 * max(len(cells), 1)
        self.kind = "text"
        self.chunks.append(cells.cast(pl.Categorical) if coded else cells)

    def whole_column(self) -> pl.Series:
        if self.kind == "real":
            self.chunks = [chunk.cast(pl.Float64) for chunk in self.chunks]
        column = pl.concat(self.chunks, rechunk=False) if self.chunks else pl.Series(self.id, [], dtype=pl.String)
        self.chunks = []
        return column.alias(self.id)


def _padded(cells: pl.Series) -> bool:
    zero = cells.str.starts_with("0") | cells.str.starts_with("-0")
    return bool(zero.any()) and bool(cells.filter(zero).str.contains(r"^-?0\d").any())


def read_bulk(path: Path, options: ReadOptions, name: str) -> Raw | None:
    """The table of a large file that is plain CSV through and through, or None when it has to be read with more care."""
    source, notes = _source(path, options)
    head = _head(source)
    grid = read_grid(
        head,
        delimiter=options.delimiter,
        encoding=options.encoding,
        quote=options.quote,
        header=options.header,
        table=options.table,
    )
    if not _regular(grid):
        return None
    try:
        return _read(source, grid, options, name, notes, head)
    except pl.exceptions.PolarsError:
        return _again(source, grid, options, name, notes, head)


def _source(path: Path, options: ReadOptions) -> tuple[Path | bytes, tuple[Assumption, ...]]:
    with path.open("rb") as file:
        start = file.read(8)
    if any(start.startswith(mark) for mark, _ in MAGIC):
        limits = options.limits
        return unpack(path, limits=ReadLimits(file_bytes=limits.bytes, unpacked_bytes=limits.bytes)).data, ()
    return path, ()


def _head(source: Path | bytes) -> bytes:
    """The first records, cut at a line end."""
    if isinstance(source, bytes):
        start, more = source[:_HEAD], len(source) > _HEAD
    else:
        with source.open("rb") as file:
            start = file.read(_HEAD)
            more = bool(file.read(1))
    if not more or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return start
    return start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1]


def _regular(grid: Grid) -> bool:
    """Is the head plain enough for a fast reader: one mark between cells, no table beside, nothing left out of the body?"""
    if (
        grid.delimiter is None
        or len(grid.delimiter) != 1
        or grid.escape not in (None, '"', grid.quote)
        or grid.quote not in (None, '"', "")
    ):
        return False
    if (
        grid.other_tables
        or grid.surplus
        or grid.frame.width < 2
        or grid.frame.height < 20
        or any(note.code in _DISORDER for note in grid.notes)
    ):
        return False
    first = grid.first_row_number
    return all(row < first for row, _, _ in grid.skipped) and bool(largest(grid.rows.diff().drop_nulls()) == 1)


_DISORDER = frozenset({"mended", "short_rows", "surplus_cells", "nul_bytes", "repairs", "quote_repaired", "split_rows"})


def _again(
    source: Path | bytes, grid: Grid, options: ReadOptions, name: str, notes: tuple[Assumption, ...], head: bytes
) -> Raw | None:
    """A second try for a file that is not UTF-8; anything else that stopped the fast reader needs the careful one."""
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size > _DECODED_MOST:
        return None
    data = source if isinstance(source, bytes) else source.read_bytes()
    try:
        data.decode("utf-8")
        return None
    except UnicodeDecodeError:
        decoded = decode(data, options.encoding)
    try:
        raw = _read(decoded.text.encode(), grid, options, name, (*notes, *decoded.notes), head)
    except pl.exceptions.PolarsError:
        return None
    return replace(raw, encoding=decoded.encoding) if raw is not None else None


def _read(
    source: Path | bytes, grid: Grid, options: ReadOptions, name: str, notes: tuple[Assumption, ...], head: bytes
) -> Raw | None:
    names = display_names(grid.headers)
    scan = _scan(source, grid, options)
    growing = [
        _Growing(f"c{index}", as_text=named_for_text(names[index], options)) for index in range(grid.frame.width)
    ]
    rows, blank, first = 0, False, None
    last: pl.DataFrame | None = None
    for batch in _batches(scan, len(growing)):
        if first is None:
            first = batch.head(_CHECKED_ROWS)
            if not _agrees(first, grid):
                return None
        rows += batch.height
        _check_rows(rows, len(growing), options)
        blank = blank or all(column.null_count() for column in batch.get_columns())
        for column, into in zip(batch.get_columns(), growing, strict=True):
            into.add(column)
        last = batch.tail(_TAIL_ROWS)
    if first is None or last is None:
        return None
    for into in growing:
        if into.failed:
            into.as_text, into.kind, into.failed = True, "text", False
            for batch in _batches(scan.select(into.id), 1):
                into.add(batch[into.id])
    frame = pl.DataFrame([into.whole_column() for into in growing])
    if not _complete(source, frame, grid, head):
        return None
    return _raw(frame, grid, name, notes, blank, last, {into.id for into in growing if into.proven})


def _scan(source: Path | bytes, grid: Grid, options: ReadOptions) -> pl.LazyFrame:
    return pl.scan_csv(
        source,
        separator=grid.delimiter or ",",
        quote_char=grid.quote or None if grid.quote == "" else '"',
        has_header=False,
        skip_rows=grid.first_row_number - 1,
        schema={f"c{index}": pl.String for index in range(grid.frame.width)},
        infer_schema=False,
        null_values=None,
    )


def _batches(scan: pl.LazyFrame, width: int) -> Iterator[pl.DataFrame]:
    yield from scan.collect_batches(chunk_size=max(20_000, _BATCH_CELLS // width), maintain_order=True)


def _check_rows(rows: int, width: int, options: ReadOptions) -> None:
    limits = options.limits
    for what, count, most in (("rows", rows, limits.rows), ("cells", rows * width, limits.cells)):
        if count > most:
            raise LimitExceeded(
                Issue(
                    f"too_many_{what}",
                    "",
                    f"The file has more than {most:,} {what}.",
                    "Split the file or take out what is not needed.",
                )
            )


def _agrees(first: pl.DataFrame, grid: Grid) -> bool:
    """Do both readers see the same first cells?"""
    count = min(first.height, grid.frame.height - 1, _CHECKED_ROWS)
    blank = pl.all().replace("", None)
    return first.head(count).select(blank).equals(grid.frame.head(count).select(blank))


def _complete(source: Path | bytes, frame: pl.DataFrame, grid: Grid, head: bytes) -> bool:
    """Does every row have its full number of cells? The marks between cells are counted in the bytes."""
    if frame[frame.columns[-1]].null_count() == 0:
        return True
    mark = (grid.delimiter or ",").encode()
    marks = sum(block.count(mark) for block in _blocks(source))
    marks -= sum(line.count(mark) for line in head.splitlines()[: grid.first_row_number - 1])
    empty = frame.select(pl.all_horizontal(pl.all().is_null()).sum()).item()
    needed = (frame.height - empty) * (frame.width - 1)
    if marks == needed:
        return True
    inside = sum(
        int(column.cast(pl.String).str.count_matches(mark.decode(), literal=True).sum() or 0)
        for column in frame.get_columns()
        if column.dtype in (pl.String, pl.Categorical)
    )
    return bool(needed <= marks - inside <= needed + empty * (frame.width - 1))


def _blocks(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as file:
        while block := file.read(1 << 24):
            yield block


def _raw(
    frame: pl.DataFrame,
    grid: Grid,
    name: str,
    notes: tuple[Assumption, ...],
    blank: bool,
    last: pl.DataFrame,
    proven: set[str],
) -> Raw:
    first = grid.first_row_number
    skipped, more = list(grid.skipped), list(notes)
    rows_in = frame.height + first - 1
    dropped = _footer(frame, grid, last)
    for index, why, text in dropped:
        skipped.append((first + index, why, text))
        if why.startswith("total"):
            more.append(
                Assumption(
                    code="totals",
                    column=None,
                    damage=2,
                    message=f"Left out as a total of the rows above: row {first + index}.",
                )
            )
    keep = frame.height - len(dropped)
    frame = frame.head(keep)
    numbers = None
    if blank:
        filled = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series()
        if not filled.all():
            numbers = filled.arg_true().cast(pl.UInt32) + first
            frame = frame.filter(filled)
    return Raw(
        name=name,
        frame=frame,
        headers=grid.headers,
        format="csv",
        rows=numbers,
        first_row=first,
        units=grid.units,
        encoding=grid.encoding,
        delimiter=grid.delimiter,
        quote=grid.quote,
        rows_in=rows_in,
        skipped=tuple(skipped),
        notes=(*grid.notes, *more),
        proven=frozenset(proven),
    )


def _footer(frame: pl.DataFrame, grid: Grid, last: pl.DataFrame) -> list[tuple[int, str, str]]:
    """(position, why, text) of the rows at the very end that are notes or totals."""
    rows = [[cell or "" for cell in row] for row in last.rows()]
    layout = find_table([[header or f"column {index}" for index, header in enumerate(grid.headers)], *rows], header=1)
    offset = frame.height - len(rows) - 1
    found: dict[int, str] = dict(layout.skipped)
    found |= {
        at: "total of the rows above"
        for at in (*layout.totals, *layout.called_total)
        if _is_total(frame, offset + at, rows[at - 1])
    }
    dropped = []
    for at in range(len(rows), 0, -1):
        if at in found:
            dropped.append((offset + at, found[at], " | ".join(rows[at - 1]).strip(" |")[:200]))
        elif any(cell for cell in rows[at - 1]):
            break
    return dropped[::-1]


def _is_total(frame: pl.DataFrame, at: int, row: list[str]) -> bool:
    """Does the row hold the sum of a column above it?"""
    for index, cell in enumerate(row):
        if not re.fullmatch(r"-?\d+(\.\d+)?", cell.strip()):
            continue
        above = frame[f"c{index}"].head(at).cast(pl.String).cast(pl.Float64, strict=False)
        total = float(above.sum())
        if total and abs(total - float(cell)) <= 1e-6 * max(abs(total), 1.0):
            return True
    return False
