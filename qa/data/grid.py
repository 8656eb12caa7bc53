"""The cells of a table as text, with all that the file held beside them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from qa.data.structure import Layout
from qa.data.table import Assumption

Surplus = tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class OtherTable:
    """A further table in the same file, by its row numbers (from 1) and header; `number` is what `table=` takes."""

    number: int
    first_row: int
    last_row: int
    headers: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """The cells of a table as text, and everything the file held beside them.

    `cells` has String columns `c0, c1, …` in file order and `height` rows; a cell with nothing in it (quoted or not)
    is null, blanks are kept. For a big file it reads the file anew whenever it is collected.
    `headers` is the header text of each column as it stands (several header rows joined by a blank), "" where there
    is none; a column without header and without one filled cell stays. `units` likewise, or None.
    Row numbers count the records of the file from 1, blank lines included. `skipped` lists (row number, why, text cut
    to 200 characters) of every record that is not in `cells`, blank ones aside; `totals` are those left out as totals,
    with the position in `cells` where they stood; `surplus` holds the cells beyond the last column, by row number.
    `rows_in` counts the records of the file.
    """

    cells: pl.LazyFrame
    height: int
    headers: tuple[str, ...]
    header_found: bool
    encoding: str
    delimiter: str | None
    quote: str | None
    escape: str | None
    numbers: pl.Series | None = None
    first_row_number: int = 0
    """row number of the first data row, 0 when there is none; later rows follow one by one when `numbers` is None"""
    units: tuple[str, ...] | None = None
    skipped: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[Assumption, ...] = ()
    other_tables: tuple[OtherTable, ...] = ()
    totals: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    surplus: Surplus = ()
    rows_in: int = 0
    in_memory: bool = True
    """False when collecting the cells reads the file anew, which must then still be there"""
    wrapping: str | None = None
    member: str | None = None

    @property
    def width(self) -> int:
        return len(self.headers)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All cells, collected."""
        return self.cells.collect()

    @cached_property
    def rows(self) -> pl.Series:
        """The row number in the file of every row of `cells`."""
        if self.numbers is not None:
            return self.numbers
        return pl.int_range(self.first_row_number, self.first_row_number + self.height, dtype=pl.UInt32, eager=True)

    def row_number(self, index: int) -> int:
        """The row number in the file of the row of `cells` at `index`."""
        return int(self.numbers[index]) if self.numbers is not None else self.first_row_number + index


def columns_of(rows: Sequence[Sequence[str]], body: Sequence[int], width: int) -> pl.DataFrame:
    """The body records as String columns `c0, c1, …`, short ones filled up with null, empty cells null."""
    schema = {f"c{at}": pl.String for at in range(width)}
    picked = (
        [row[at] or None if at < len(row) else None for at in range(width)] for row in map(rows.__getitem__, body)
    )
    return pl.DataFrame(picked, schema=schema, orient="row") if width and body else pl.DataFrame(schema=schema)


Numbering = Callable[[int], int]
"""From a record's position in a list to its row number in the file."""


def plainly(at: int) -> int:
    """Rows counted from 1."""
    return at + 1


def surplus_of(rows: Sequence[Sequence[str]], body: Sequence[int], width: int, number: Numbering = plainly) -> Surplus:
    """The cells beyond the last column, by row number."""
    return tuple(
        (number(at), tuple(rows[at][width:])) for at in body if len(rows[at]) > width and any(rows[at][width:])
    )


def skipped_of(
    rows: Sequence[Sequence[str]], layout: Layout, number: Numbering = plainly
) -> tuple[tuple[int, str, str], ...]:
    """(row number, why, text) of the records that are not data."""
    return tuple((number(at), why, " | ".join(rows[at]).strip(" |")[:200]) for at, why in layout.skipped.items())


def others_of(rows: Sequence[Sequence[str]], layout: Layout) -> tuple[OtherTable, ...]:
    """The other tables of the file, numbered in file order with the chosen one."""
    order = sorted((layout.block, *layout.others), key=lambda block: block.start)
    return tuple(
        OtherTable(
            number, block.start + 1, block.end, tuple(map(str.strip, rows[block.header[-1]])) if block.header else ()
        )
        for number, block in enumerate(order, 1)
        if block is not layout.block
    )


class Notes:
    """Collects what was assumed while a file was read."""

    def __init__(self, first: Sequence[Assumption] = (), number: Numbering = plainly) -> None:
        self.all = list(first)
        self.number = number

    def add(self, code: str, message: str, damage: int, reversal: str | None = None) -> None:
        self.all.append(Assumption(code=code, column=None, message=message, damage=damage, reversal=reversal))

    def listed(self, positions: Sequence[int]) -> str:
        """The first few positions as row numbers."""
        shown = ", ".join(str(self.number(at)) for at in positions[:5])
        more = f" and {len(positions) - 5:,} more" if len(positions) > 5 else ""
        return f"row{'s' if len(positions) > 1 else ''} {shown}{more}"

    def of_header(self, layout: Layout) -> None:
        """What was assumed about where the table and its names are."""
        header = layout.block.header
        if not header and layout.width:
            self.add("no_header", "No header was found: the first row is data.", 2, "--header 1")
        if len(header) > 1:
            text = f"The header takes {self.listed(header)}; their texts are joined."
            self.add("header_rows", text, 1, f"--header {self.number(header[-1])}")
        elif header and header[0] > 0:
            self.add("header_row", f"The header was found in {self.listed(header)}.", 1, "--header N")
        if layout.block.weak:
            text = "The first row is taken for the header; nothing but its distinct texts says so."
            self.add("weak_header", text, 2, "--header 0")
        if layout.names_short > 0:
            text = f"The rows have {layout.names_short} cell(s) more than the header has names; they are blank and left out."
            self.add("short_header", text, 2)
        if layout.index_column:
            text = "The header has one name less than the rows have cells; the first column has no name."
            self.add("index_column", text, 3)
        if layout.others:
            text = f"The file holds {len(layout.others) + 1} tables; this is the one from row {layout.block.start + 1}."
            self.add("other_tables", text, 3, "--table N")

    def of_totals(self, layout: Layout) -> None:
        """Rows left out as totals, and rows that may be some."""
        if layout.totals:
            self.add(
                "totals", f"Left out as totals of the rows above: {self.listed(layout.totals)}.", 2, "--totals keep"
            )
        if layout.called_total:
            text = f"Called total but not shown to sum up the rows above, so kept as data: {self.listed(layout.called_total)}."
            self.add("kept_totals", text, 3, "--totals all")

    def of_rows(self, rows: Sequence[Sequence[str]], body: Sequence[int], width: int) -> None:
        """Records of another width."""
        short = [at for at in body if len(rows[at]) < width]
        if short:
            text = f"{len(short):,} with fewer cells than the table, the rest missing: {self.listed(short)}."
            self.add("short_rows", text, 2)
        over = [(row, cells) for row, cells in surplus_of(rows, body, width, self.number) if any(map(str.strip, cells))]
        if over:
            shown = "; ".join(f"row {row}: {', '.join(filter(None, cells))[:60]!r}" for row, cells in over[:3])
            more = f" and {len(over) - 3:,} more" if len(over) > 3 else ""
            self.add("surplus_cells", f"Cells beyond the last column were left out: {shown}{more}.", 2)

    def of_members(self, others: Sequence[str]) -> None:
        """Other files in the same zip."""
        if others:
            self.add("other_members", f"The zip also holds {', '.join(others[:5])}.", 2, "--member NAME")

    def of_repairs(self, repairs: Sequence[tuple[int, str]]) -> None:
        """Records that were cut or put together anew."""
        for how in dict.fromkeys(how for _, how in repairs):
            self.add("mended_rows", f"In {self.listed([at for at, other in repairs if other == how])} {how}.", 2)


def write_cells(grid: Grid, out: Path) -> None:
    """Write the table as read as RFC-4180 UTF-8, the header first if it has one; totals and surplus cells are in it too."""
    surplus, totals = dict(grid.surplus), list(grid.totals)
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if grid.header_found:
            units = grid.units or ("",) * len(grid.headers)
            writer.writerow([" ".join(filter(None, pair)) for pair in zip(grid.headers, units, strict=True)])
        at = 0
        for part in [grid.frame] if grid.in_memory else grid.cells.collect_batches(maintain_order=True):
            for row in part.iter_rows():
                while totals and totals[0][0] <= at:
                    writer.writerow(totals.pop(0)[2])
                extra = surplus.get(grid.row_number(at), ()) if surplus else ()
                writer.writerow([cell or "" for cell in row] + list(extra))
                at += 1
        for _, _, cells in totals:
            writer.writerow(cells)
