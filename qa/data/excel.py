"""Workbooks (xlsx, xlsm, xls, xlsb, ods) to raw tables: every visible sheet, its header hunted, its oddities told."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl

from qa.data.archive import check_archive
from qa.data.names import distinct_identifiers, identifier
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.sheet_cells import cells_of, loaded, readable
from qa.data.structure import Layout, find_table
from qa.data.table import Assumption
from qa.data.workbook import Book, SheetFacts, book_facts
from qa.errors import Issue, LimitExceeded, LoadError


def read_excel(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """Every visible sheet of a workbook that holds a table; with `sheet` that one, hidden or not."""
    with path.open("rb") as file:
        head = file.read(8)
    zipped = head[:2] == b"PK"
    if zipped:
        check_archive(path, options.limits)
    elif b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e" in path.read_bytes():
        raise LoadError(
            Issue(
                "password", path.name, f"{path.name!r} is protected by a password.", "Save a copy without a password."
            )
        )
    facts = book_facts(path) if zipped else Book({})
    try:
        book = fastexcel.read_excel(facts.data if facts.data is not None else path)
    except fastexcel.FastExcelError as error:
        raise LoadError(
            Issue(
                "damaged",
                path.name,
                f"{path.name!r} cannot be opened as a workbook.",
                "Open it in a spreadsheet program and save it again.",
            )
        ) from error
    return _chosen(book, facts, path, options, name)


def _chosen(book: Any, facts: Book, path: Path, options: ReadOptions, name: str) -> list[Raw]:
    names = list(book.sheet_names)
    if options.sheet is not None and options.sheet not in names:
        raise LoadError(
            Issue(
                "no_such_sheet",
                path.name,
                f"There is no sheet {options.sheet!r} in {path.name!r}.",
                f"It holds {', '.join(map(repr, names[:20]))}.",
                tuple(names[:3]),
            )
        )
    if len(names) > options.limits.tables and options.sheet is None:
        raise LimitExceeded(
            Issue(
                "too_many_sheets",
                path.name,
                f"{path.name!r} has {len(names)} sheets; at most {options.limits.tables} are read.",
                "Name one with --sheet.",
            )
        )
    raws: list[Raw] = []
    hidden: list[str] = []
    empty: list[str] = []
    for sheet_name in [options.sheet] if options.sheet is not None else names:
        sheet = loaded(book, sheet_name, "string")
        if sheet.visible != "visible" and options.sheet is None:
            hidden.append(sheet_name)
            continue
        _within(sheet, path, options)
        raw = _table(book, sheet, sheet_name, facts.sheets.get(sheet_name, SheetFacts()), facts.base_1904, options)
        if raw is None:
            empty.append(sheet_name)
        else:
            raws.append(raw)
    if not raws:
        extra = f" Hidden sheets: {', '.join(map(repr, hidden))}; name one with --sheet." if hidden else ""
        raise LoadError(Issue("no_table", path.name, f"No visible sheet of {path.name!r} holds a table.{extra}"))
    return _told(raws, hidden, empty, name if options.sheet is None else identifier(options.sheet))


def _told(raws: list[Raw], hidden: list[str], empty: list[str], name: str) -> list[Raw]:
    """Name the tables and tell each about the sheets beside it."""
    sheets = [raw.sheet or "" for raw in raws]
    names = distinct_identifiers(sheets) if len(raws) > 1 else [name]
    notes: list[Assumption] = []
    if len(raws) > 1:
        notes.append(
            Assumption(
                code="several_sheets",
                column=None,
                damage=1,
                reversal="--sheet NAME",
                message=f"The workbook has {len(raws)} visible sheets, each a table: {', '.join(sheets[:20])}.",
            )
        )
    if hidden:
        notes.append(
            Assumption(
                code="hidden_sheets",
                column=None,
                damage=2,
                reversal=f"--sheet {shlex.quote(hidden[0])}",
                message=f"Hidden sheets were not read: {', '.join(map(repr, hidden[:20]))}.",
            )
        )
    if empty:
        notes.append(
            Assumption(
                code="empty_sheets",
                column=None,
                damage=1,
                message=f"Sheets without a table were left out: {', '.join(map(repr, empty[:20]))}.",
            )
        )
    return [
        replace(
            raw,
            name=named,
            notes=(*raw.notes, *notes),
            other_sheets=tuple(other for other in [*sheets, *hidden, *empty] if other != raw.sheet),
        )
        for raw, named in zip(raws, names, strict=True)
    ]


def _within(sheet: Any, path: Path, options: ReadOptions) -> None:
    limits = options.limits
    for what, count, most in (
        ("rows", sheet.total_height, limits.rows),
        ("columns", sheet.width, limits.columns),
        ("cells", sheet.total_height * sheet.width, limits.cells),
    ):
        if count > most:
            raise LimitExceeded(
                Issue(
                    f"too_many_{what}",
                    path.name,
                    f"Sheet {sheet.name!r} has {count:,} {what}; at most {most:,} are read.",
                    "Delete what is not needed, or split the sheet.",
                )
            )


def _table(
    book: Any, sheet: Any, sheet_name: str, facts: SheetFacts, base_1904: bool, options: ReadOptions
) -> Raw | None:
    cells = cells_of(book, sheet, sheet_name)
    if cells.frame.height == 0 or cells.frame.width == 0:
        return None
    grid = [[cell or "" for cell in row] for row in cells.frame.rows()]
    filled = _merged(grid, facts)
    stray = _islands(grid)
    layout = find_table(grid, header=options.header, table=options.table, summing=options.totals)
    if layout.width == 0 or (not layout.body and not any(layout.headers)):
        return None
    hidden = set(facts.hidden_rows) if options.hidden == "drop" else set()
    body = [row for row in layout.body if row not in hidden]
    notes = [*_sheet_notes(layout, facts, filled, list(layout.body), stray, options), *_layout_notes(layout)]
    columns: list[pl.Series] = []
    errors: dict[str, tuple[tuple[int, str], ...]] = {}
    inside = set(body)
    for index in range(layout.width):
        texts = [grid[row][index] or None if index < len(grid[row]) else None for row in body]
        column, more = readable(
            pl.Series(f"c{index}", texts, dtype=pl.String), index, body, cells, layout.headers[index], base_1904
        )
        columns.append(column)
        notes += more
        failed = tuple((row + 1, text) for row, text in cells.errors.get(index, ()) if row in inside)
        if failed:
            errors[f"c{index}"] = failed
    return Raw(
        name=sheet_name,
        frame=pl.DataFrame(columns),
        headers=layout.headers,
        format="excel",
        rows=pl.Series("row", [row + 1 for row in body], dtype=pl.UInt32),
        units=layout.units,
        sheet=sheet_name,
        rows_in=len(grid),
        notes=tuple(notes),
        errors=errors,
        skipped=tuple(
            (row + 1, why, " | ".join(grid[row]).strip(" |")[:200])
            for row, why in sorted(
                {**layout.skipped, **{row: "hidden" for row in layout.body if row in hidden}}.items()
            )
        ),
        facts={f"c{index}": fact for index, fact in facts.facts.items() if index < layout.width},
    )


def _merged(grid: list[list[str]], facts: SheetFacts) -> int:
    """Write the value of merged cells into each of them, titles across the sheet aside; the number of cells filled."""
    count = 0
    width = max((len(row) for row in grid), default=0)
    for top, left, bottom, right in facts.merges[:20_000]:
        if (
            top >= len(grid)
            or left >= width
            or (right - left + 1) >= max(3, 0.7 * width)
            or (bottom - top + 1) * (right - left + 1) > 100_000
        ):
            continue
        value = grid[top][left]
        if not value:
            continue
        for row in range(top, min(bottom + 1, len(grid))):
            for column in range(left, min(right + 1, width)):
                if not grid[row][column]:
                    grid[row][column] = value
                    count += 1
    return count


def _islands(grid: list[list[str]]) -> list[str]:
    """Blank out the few cells that stand far right of or far below the table; what they were, with their address."""
    width = max((len(row) for row in grid), default=0)
    counts = [sum(1 for row in grid if column < len(row) and row[column].strip()) for column in range(width)]
    stray: list[str] = []
    if edge := _gap(counts, 3, most=2):
        for number, row in enumerate(grid):
            stray += [
                f"{column_letters(column)}{number + 1} {row[column][:40]!r}"
                for column in range(edge, len(row))
                if row[column].strip()
            ]
            del row[edge:]
    filled = [sum(1 for cell in row if cell.strip()) for row in grid]
    if edge := _gap(filled, 30, most=2):
        for number in range(edge, len(grid)):
            stray += [
                f"{column_letters(column)}{number + 1} {cell[:40]!r}"
                for column, cell in enumerate(grid[number])
                if cell.strip()
            ]
        del grid[edge:]
    return stray


def _gap(counts: list[int], empty: int, *, most: int) -> int | None:
    """Where the table ends, when at least `empty` empty lines part it from at most `most` cells after them."""
    last = max((index for index, count in enumerate(counts) if count > most), default=-1)
    rest = counts[last + 1 :]
    if last < 0 or sum(rest) == 0 or sum(rest) > most:
        return None
    first = next(index for index, count in enumerate(rest) if count)
    return last + 1 if first >= empty else None


def column_letters(index: int) -> str:
    """0 is `A`, 26 is `AA`."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _sheet_notes(
    layout: Layout, facts: SheetFacts, filled: int, body: list[int], stray: list[str], options: ReadOptions
) -> list[Assumption]:
    inside = set(body)
    hidden = [row + 1 for row in facts.hidden_rows if row in inside]
    columns = [layout.headers[index] or f"column {index + 1}" for index in facts.hidden_columns if index < layout.width]
    notes = []
    if hidden:
        shown = ", ".join(map(str, hidden[:5])) + (" …" if len(hidden) > 5 else "")
        notes.append(
            Assumption(
                code="hidden_rows",
                column=None,
                damage=3,
                reversal="--hidden drop" if options.hidden == "keep" else "--hidden keep",
                message=f"{len(hidden):,} hidden rows (filtered or hidden by hand) "
                f"{'are in the table too' if options.hidden == 'keep' else 'were left out'}: rows {shown}.",
            )
        )
    if columns:
        notes.append(
            Assumption(
                code="hidden_columns",
                column=None,
                damage=1,
                message=f"Hidden columns are in the table too: {', '.join(map(repr, columns[:10]))}.",
            )
        )
    if filled:
        notes.append(
            Assumption(
                code="merged_cells",
                column=None,
                damage=2,
                message=f"Merged cells: their value was written into all {filled:,} cells they cover.",
            )
        )
    if lonely := [*facts.stray, *stray]:
        notes.append(
            Assumption(
                code="stray_cells",
                column=None,
                damage=1,
                message=f"Lonely cells far from the table were left out: {', '.join(lonely[:5])}.",
            )
        )
    return notes


def _layout_notes(layout: Layout) -> list[Assumption]:
    notes = []
    head = layout.block.header
    if not head and layout.width:
        notes.append(
            Assumption(
                code="no_header",
                column=None,
                damage=2,
                reversal="--header 1",
                message="No header was found: the first row is data.",
            )
        )
    elif len(head) > 1:
        notes.append(
            Assumption(
                code="header_rows",
                column=None,
                damage=1,
                reversal=f"--header {head[-1] + 1}",
                message=f"The header takes rows {', '.join(str(row + 1) for row in head)}; their texts are joined.",
            )
        )
    elif head and head[0] > 0:
        notes.append(
            Assumption(
                code="header_row",
                column=None,
                damage=1,
                reversal="--header N",
                message=f"The header was found in row {head[0] + 1}.",
            )
        )
    if layout.totals:
        notes.append(
            Assumption(
                code="totals",
                column=None,
                damage=2,
                reversal="--totals keep",
                message=f"Left out as totals of the rows above: rows {', '.join(str(row + 1) for row in layout.totals[:5])}.",
            )
        )
    if layout.others:
        notes.append(
            Assumption(
                code="other_tables",
                column=None,
                damage=3,
                reversal="--table N",
                message=f"The sheet holds {len(layout.others) + 1} tables; this is the one from row {layout.block.start + 1}.",
            )
        )
    return notes
