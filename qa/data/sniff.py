"""Read delimited text of any make from its bytes into a grid of text cells, and say what was left out and why."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from qa.data.cutting import Dialect, cut
from qa.data.decompress import ReadLimits, Unpacked, unpack
from qa.data.dialect import sep_line, sniff
from qa.data.encoding import Decoded, decode
from qa.data.mend import closed, mend
from qa.data.structure import Layout, find_table
from qa.data.table import Assumption
from qa.errors import Issue, LimitExceeded


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

    `frame` has String columns `c0, c1, …`; a cell with nothing in it (quoted or not) is null, blanks are kept.
    `rows` are the row numbers of the frame's rows in the file: records counted from 1, blank lines included.
    `headers` is the header text of each column as it stands (several header rows joined by a blank), "" where there
    is none; a column without header and without one filled cell stays. `units` likewise, or None.
    `skipped` lists (row number, why, text cut to 200 characters) of every record that is not in the frame, blank
    ones aside; `totals` are those left out as totals, with the position in the frame where they stood; `surplus`
    holds the cells beyond the last column, by row number. `rows_in` counts the records of the file.
    """

    frame: pl.DataFrame
    headers: tuple[str, ...]
    header_found: bool
    rows: pl.Series
    units: tuple[str, ...] | None
    encoding: str
    delimiter: str | None
    quote: str | None
    escape: str | None
    skipped: tuple[tuple[int, str, str], ...] = ()
    notes: tuple[Assumption, ...] = ()
    other_tables: tuple[OtherTable, ...] = ()
    totals: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    surplus: tuple[tuple[int, tuple[str, ...]], ...] = ()
    rows_in: int = 0
    wrapping: str | None = None
    member: str | None = None

    @property
    def first_row_number(self) -> int:
        """The row number of the first data row; 0 when there is none."""
        return int(self.rows[0]) if len(self.rows) else 0


def read_grid(
    source: Path | bytes,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header: int | None = None,
    table: int | None = None,
    member: str | None = None,
    limits: ReadLimits = ReadLimits(),
) -> Grid:
    """The table in a delimited text file. What is given is obeyed, the rest is found from the bytes.

    `header` is the row number of the header from 1, 0 for none; `quote` "" for none; `table` the n-th of several
    tables; `member` the file inside a zip. An empty file gives a grid without columns. Raises LoadError for a file
    that is no text, LimitExceeded past a limit.
    """
    unpacked = unpack(source, limits=limits, member=member)
    decoded = _text(unpacked.data, encoding)
    named = sep_line(decoded.text) if delimiter is None else None
    body = decoded.text
    dialect = sniff(_after_sep(body) if named else body, delimiter=delimiter or named, quote=quote)
    mended = mend(closed(cut(body, dialect)))
    rows = mended.rows
    if named:
        rows[0] = []
    _within(rows, limits)
    layout = find_table(rows, header=header, table=table)
    return _grid(rows, layout, dialect, decoded, unpacked, named, mended.repairs)


def _after_sep(text: str) -> str:
    return text[min(position for position in (text.find("\n"), text.find("\r"), len(text)) if position >= 0) :].lstrip(
        "\r\n"
    )


def _text(data: bytes, encoding: str | None) -> Decoded:
    decoded = decode(data, encoding)
    nuls = decoded.text.count("\0")
    if not nuls:
        return decoded
    if nuls > len(decoded.text) // 5 and nuls > 100:
        raise _binary()
    note = Assumption(code="nul_bytes", column=None, message=f"{nuls:,} NUL characters left out.", damage=1)
    return Decoded(decoded.text.replace("\0", ""), decoded.encoding, (*decoded.notes, note))


def _binary() -> Exception:
    from qa.errors import LoadError

    return LoadError(
        Issue("not_text", "", "The file is not text: it holds binary data.", "Load a CSV, Excel, JSON or Parquet file.")
    )


def _within(rows: list[list[str]], limits: ReadLimits) -> None:
    widest = max(map(len, rows), default=0)
    if widest > limits.columns:
        raise LimitExceeded(
            Issue(
                "too_many_columns",
                "",
                f"A row has {widest:,} cells; at most {limits.columns:,} are read.",
                "Check the delimiter.",
            )
        )
    cells = sum(map(len, rows))
    if cells > limits.cells:
        raise LimitExceeded(
            Issue(
                "too_many_cells",
                "",
                f"The file has {cells:,} cells; at most {limits.cells:,} are read.",
                "Split the file.",
            )
        )


def _grid(
    rows: list[list[str]],
    layout: Layout,
    dialect: Dialect,
    decoded: Decoded,
    unpacked: Unpacked,
    named: str | None,
    repairs: tuple[tuple[int, str], ...],
) -> Grid:
    width = layout.width
    columns = [
        pl.Series(f"c{at}", [_cell(rows[index], at) for index in layout.body], dtype=pl.String) for at in range(width)
    ]
    surplus = tuple((index + 1, tuple(rows[index][width:])) for index in layout.body if any(rows[index][width:]))
    return Grid(
        frame=pl.DataFrame(columns),
        headers=layout.headers,
        header_found=layout.header_found,
        rows=pl.Series("row", [index + 1 for index in layout.body], dtype=pl.UInt32),
        units=layout.units,
        encoding=decoded.encoding,
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        escape=dialect.escape,
        skipped=_skipped(rows, layout, named),
        notes=_notes(rows, layout, decoded, unpacked, surplus, repairs),
        other_tables=_others(rows, layout),
        totals=tuple((sum(at < index for at in layout.body), index + 1, tuple(rows[index])) for index in layout.totals),
        surplus=surplus,
        rows_in=len(rows),
        wrapping=unpacked.wrapping,
        member=unpacked.name,
    )


def _cell(row: list[str], at: int) -> str | None:
    return row[at] or None if at < len(row) else None


def _skipped(rows: list[list[str]], layout: Layout, named: str | None) -> tuple[tuple[int, str, str], ...]:
    first = ((1, "names the delimiter", f"sep={named}"),) if named else ()
    return first + tuple(
        (index + 1, why, " | ".join(rows[index]).strip(" |")[:200]) for index, why in layout.skipped.items()
    )


def _others(rows: list[list[str]], layout: Layout) -> tuple[OtherTable, ...]:
    order = sorted((layout.block, *layout.others), key=lambda block: block.start)
    return tuple(
        OtherTable(
            number,
            block.start + 1,
            block.end,
            tuple(cell.strip() for cell in rows[block.header[-1]]) if block.header else (),
        )
        for number, block in enumerate(order, 1)
        if block is not layout.block
    )


def _notes(
    rows: list[list[str]],
    layout: Layout,
    decoded: Decoded,
    unpacked: Unpacked,
    surplus: tuple[tuple[int, tuple[str, ...]], ...],
    repairs: tuple[tuple[int, str], ...],
) -> tuple[Assumption, ...]:
    notes = list(decoded.notes)

    def note(code: str, message: str, damage: int, reversal: str | None = None) -> None:
        notes.append(Assumption(code=code, column=None, message=message, damage=damage, reversal=reversal))

    if layout.totals:
        note("totals", f"Left out as totals of the rows above: rows {_list(layout.totals)}.", 2)
    if layout.called_total:
        note(
            "kept_totals",
            f"Rows {_list(layout.called_total)} are called total but do not add up; they are kept as data.",
            3,
        )
    if not layout.header_found and layout.width:
        note("no_header", "No header was found: the first row is data.", 2, "--header 1")
    if len(layout.block.header) > 1:
        note(
            "header_rows",
            f"The header takes rows {_list(layout.block.header)}; their texts are joined.",
            1,
            f"--header {layout.block.header[-1] + 1}",
        )
    elif layout.header_found and layout.block.header[0] > 0:
        note("header_row", f"The header was found in row {layout.block.header[0] + 1}.", 1, "--header N")
    if layout.others:
        note(
            "other_tables",
            f"The file holds {len(layout.others) + 1} tables; this is the one from row {layout.block.start + 1}.",
            3,
            "--table N",
        )
    short = [index for index in layout.body if len(rows[index]) < layout.width]
    if short:
        note(
            "short_rows",
            f"{len(short):,} rows have fewer cells than the table; the rest is missing: rows {_list(short)}.",
            2,
        )
    if surplus := tuple((row, cells) for row, cells in surplus if any(cell.strip() for cell in cells)):
        note("surplus_cells", f"Cells beyond the last column were left out: {_surplus_text(surplus)}.", 2)
    if layout.index_column:
        note("index_column", "The header has one name less than the rows have cells; the first column has no name.", 3)
    if layout.block.weak:
        note(
            "weak_header",
            "The first row is taken for the header; nothing but its distinct texts says so.",
            2,
            "--header 0",
        )
    for how in dict.fromkeys(how for _, how in repairs):
        touched = [at for at, other in repairs if other == how]
        note("mended_rows", f"In rows {_list(touched)} {how}.", 2)
    if unpacked.others:
        note("other_members", f"The zip also holds {', '.join(unpacked.others[:5])}.", 2)
    return tuple(notes)


def _list(positions: tuple[int, ...] | list[int]) -> str:
    shown = ", ".join(str(position + 1) for position in positions[:5])
    return shown + (f" and {len(positions) - 5:,} more" if len(positions) > 5 else "")


def _surplus_text(surplus: tuple[tuple[int, tuple[str, ...]], ...]) -> str:
    shown = "; ".join(f"row {row}: {', '.join(filter(None, cells))[:60]!r}" for row, cells in surplus[:3])
    return shown + (f" and {len(surplus) - 3:,} more" if len(surplus) > 3 else "")


def write_cells(grid: Grid, out: Path) -> None:
    """Write the table as read as RFC-4180 UTF-8, the header first if it has one; totals and surplus cells are in it too."""
    surplus = dict(grid.surplus)
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if grid.header_found:
            units = grid.units or ("",) * len(grid.headers)
            writer.writerow([" ".join(filter(None, pair)) for pair in zip(grid.headers, units, strict=True)])
        totals = list(grid.totals)
        for at, (number, row) in enumerate(zip(grid.rows, grid.frame.iter_rows(), strict=True)):
            while totals and totals[0][0] <= at:
                writer.writerow(totals.pop(0)[2])
            writer.writerow([cell or "" for cell in row] + list(surplus.get(number, ())))
        for _, _, cells in totals:
            writer.writerow(cells)
