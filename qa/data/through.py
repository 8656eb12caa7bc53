"""Pass a big irregular file through the careful cutting into a regular copy that Polars can scan."""

from __future__ import annotations

import csv
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TextIO

import polars as pl

from qa.data.cutting import Dialect, cut, cut_lines
from qa.data.dialect import sep_line, sniff
from qa.data.encoding import Decoded, decode_as, encoding_of
from qa.data.grid import Grid, Notes, skipped_of
from qa.data.headings import filled, same_cells
from qa.data.mend import closed, column_kinds, mend, moved
from qa.data.structure import Layout, find_table

HEAD_CHARACTERS = 1 << 18
HELD_BACK = 200
"""Records at the end that are looked at together, for totals and notes."""
REPORTED = 1000
"""Odd rows that are told one by one."""


@dataclass
class _Copy:
    """What happened to the records on their way."""

    width: int
    numbers: array[int] = field(default_factory=lambda: array("I"))
    skipped: list[tuple[int, str, str]] = field(default_factory=list)
    surplus: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    short: list[int] = field(default_factory=list)
    mended: list[tuple[int, str]] = field(default_factory=list)
    totals: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)
    rows_in: int = 0


@dataclass(frozen=True)
class _Start:
    decoded: Decoded
    dialect: Dialect
    rows: list[list[str]]
    layout: Layout
    kinds: dict[int, str]
    named: str | None


def read_through(
    path: Path,
    folder: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header: int | None = None,
    summing: str = "drop",
) -> Grid:
    """The grid of a file of any size, its cells in a regular copy inside the folder, which must stay there.

    Rows are held a few at a time. The table is found from the first records; rows of another width are moved, filled
    up or cut as in a small file, and reported; a second table further down is not looked for.
    """
    start = _start(path, delimiter, encoding, quote, header)
    copy = _Copy(start.layout.width)
    target = folder / "regular.csv"
    tail = _write(path, target, start, copy, summing)
    notes = Notes(start.decoded.notes)
    notes.of_header(start.layout)
    _note(notes, copy, tail)
    schema = {f"c{at}": pl.String for at in range(copy.width)}
    return Grid(
        cells=pl.scan_csv(target, has_header=False, schema=schema) if copy.numbers else pl.LazyFrame(schema=schema),
        height=len(copy.numbers),
        headers=start.layout.headers,
        header_found=start.layout.header_found,
        encoding=start.decoded.encoding,
        delimiter=start.dialect.delimiter,
        quote=start.dialect.quote,
        escape=start.dialect.escape,
        numbers=pl.Series("row", copy.numbers, dtype=pl.UInt32),
        first_row_number=copy.numbers[0] if copy.numbers else 0,
        units=start.layout.units,
        skipped=tuple(copy.skipped),
        notes=tuple(notes.all),
        totals=tuple(copy.totals),
        surplus=tuple(copy.surplus),
        rows_in=copy.rows_in,
        in_memory=False,
    )


def _open(path: Path, decoded: Decoded) -> TextIO:
    errors = "as_windows" if decoded.encoding == "utf-8" else "replace"
    return path.open(encoding=decoded.encoding, errors=errors, newline="")


def _lines(file: TextIO) -> Iterator[str]:
    for at, line in enumerate(file):
        yield (line.removeprefix("\ufeff") if at == 0 else line).replace("\0", "")


def _start(path: Path, delimiter: str | None, encoding: str | None, quote: str | None, header: int | None) -> _Start:
    decoded = encoding_of(path) if encoding is None else decode_as(b"", encoding)
    with _open(path, decoded) as file:
        lines: list[str] = []
        size = 0
        for line in _lines(file):
            lines.append(line)
            size += len(line)
            if size > HEAD_CHARACTERS:
                break
    named = sep_line("".join(lines[:1])) if delimiter is None else None
    text = "".join(["\n", *lines[1:]] if named else lines)
    dialect = sniff(text, delimiter=delimiter or named, quote=quote)
    rows = mend(closed(cut(text, dialect))).rows
    layout = find_table(rows, header=header, table=1)
    return _Start(decoded, dialect, rows, layout, column_kinds(rows, layout.width), named)


def _write(path: Path, target: Path, start: _Start, copy: _Copy, summing: str) -> Layout:
    """Write the data records; the layout of the last ones is given back for its notes."""
    layout = start.layout
    heading = [cell.strip() for cell in start.rows[layout.block.header[-1]]] if layout.block.header else None
    held: deque[tuple[int, list[str]]] = deque()
    copy.skipped += [row for row in skipped_of(start.rows, layout) if row[0] <= layout.block.body]
    with _open(path, start.decoded) as file, target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        number = 0
        for number, row in enumerate(cut_lines(_lines(file), start.dialect), 1):
            if number <= layout.block.body or not filled(row):
                continue
            if heading and same_cells(row, heading):
                copy.skipped.append((number, "header repeated", " | ".join(row)[:200]))
                continue
            held.append((number, row))
            if len(held) > HELD_BACK:
                writer.writerow(_fitted(*held.popleft(), start, copy))
        copy.rows_in = number
        return _finish(writer, held, start, copy, summing)


def _finish(writer: object, held: deque[tuple[int, list[str]]], start: _Start, copy: _Copy, summing: str) -> Layout:
    top = start.layout.block.body
    first = list(islice(start.rows, top))
    header = start.layout.block.header
    last = find_table([*first, *(row for _, row in held)], header=header[-1] + 1 if header else 0, summing=summing)
    numbers = {top + place: number for place, (number, _) in enumerate(held)}
    for place, (number, row) in enumerate(held):
        why = last.skipped.get(top + place)
        if why is None:
            writer.writerow(_fitted(number, row, start, copy))  # type: ignore[attr-defined]
            continue
        copy.skipped.append((number, why, " | ".join(row).strip(" |")[:200]))
        if top + place in last.totals:
            copy.totals.append((len(copy.numbers), numbers[top + place], tuple(row)))
    return last


def _fitted(number: int, row: list[str], start: _Start, copy: _Copy) -> list[str]:
    """The record at the width of the table, what was done to it noted."""
    copy.numbers.append(number)
    width = copy.width
    if len(row) == width:
        return row
    found = moved(row, width, start.kinds, start.dialect)
    if found is not None:
        row, how = found
        copy.mended.append((number - 1, how))
    if len(row) < width:
        copy.short.append(number)
        return [*row, *[""] * (width - len(row))]
    if any(row[width:]) and len(copy.surplus) < REPORTED:
        copy.surplus.append((number, tuple(row[width:])))
    return row[:width]


def _note(notes: Notes, copy: _Copy, tail: Layout) -> None:
    if copy.totals:
        rows = ", ".join(str(number) for _, number, _ in copy.totals)
        notes.add("totals", f"Left out as totals of the rows above: row {rows}.", 2, "--totals keep")
    odd = len(copy.short) + len(copy.surplus)
    damage = 3 if odd * 100 > len(copy.numbers) else 2
    if copy.short:
        shown = ", ".join(map(str, copy.short[:5]))
        notes.add(
            "short_rows", f"{len(copy.short):,} with fewer cells than the table, the rest missing: row {shown}.", damage
        )
    over = [(row, cells) for row, cells in copy.surplus if any(map(str.strip, cells))]
    if over:
        shown = "; ".join(f"row {row}: {', '.join(filter(None, cells))[:60]!r}" for row, cells in over[:3])
        notes.add("surplus_cells", f"{len(over):,} with cells beyond the last column, left out: {shown}.", damage)
    notes.of_repairs(copy.mended)
    if tail.called_total:
        notes.add("kept_totals", "Rows near the end are called total and were kept as data.", 3, "--totals all")
