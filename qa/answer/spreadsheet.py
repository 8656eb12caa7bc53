"""A table as an Excel workbook: real dates, real numbers, text that stays text."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import xlsxwriter

from qa.answer.answer import AnswerColumn
from qa.answer.formats import SYMBOLS, WHOLE_UNIT_CURRENCIES, plural, show
from qa.types import Kind, Role

SHEET_ROWS = 1_048_575
SHEET_COLUMNS = 16_384
CELL_CHARACTERS = 32_767
EXACT_DIGITS = 15
FIRST_DATE = dt.date(1900, 1, 1)

_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "remove_timezone": True,
}

_BY_KIND: Mapping[Kind, str] = {
    Kind.DATE: "yyyy-mm-dd",
    Kind.DATETIME: "yyyy-mm-dd hh:mm:ss",
    Kind.TIME: "hh:mm:ss",
    Kind.DURATION: "[h]:mm:ss",
    Kind.INTEGER: "#,##0",
}


def workbook(title: str, columns: Sequence[AnswerColumn], table: pl.DataFrame) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of the workbook and what had to be changed. No formula and no link is ever written.

    Dates before 1900, integers past 15 digits and times with a zone do not exist in Excel: the first two become text,
    the third loses its zone; the notes say so.
    """
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, _OPTIONS)
    book.set_properties({"title": title[:250], "comments": "Made by DataFrame QA"})
    sheet = book.add_worksheet("Answer")
    head = book.add_format({"bold": True, "bottom": 1})
    notes: list[str] = []
    by_name = {column.name: column for column in columns}
    for position, values in enumerate(table.get_columns()):
        column = by_name.get(values.name)
        pattern = _pattern(column)
        style = book.add_format({"num_format": pattern}) if pattern else None
        sheet.write_string(0, position, values.name[:CELL_CHARACTERS], head)
        cells, note = _cells(values)
        notes += [f"{show(values.name)}: {note}"] if note else []
        sheet.write_column(1, position, cells, style)
        sheet.set_column(position, position, _width(values.name, cells, column))
    sheet.freeze_panes(1, 0)
    if table.height and table.width:
        sheet.autofilter(0, 0, table.height, table.width - 1)
    book.close()
    return buffer.getvalue(), tuple(notes)


def _pattern(column: AnswerColumn | None) -> str | None:
    if column is None:
        return None
    match column.role:
        case Role.CURRENCY if column.unit:
            code = column.unit.upper()
            places = "" if code in WHOLE_UNIT_CURRENCIES else ".00"
            symbol = SYMBOLS.get(code, code if len(code) == 1 else "").replace('"', "")
            safe = "".join(sign for sign in code if sign.isalnum())[:10]
            return f'"{symbol}"#,##0{places}' if symbol else f'#,##0{places} "{safe}"'
        case Role.PERCENT if column.unit == "fraction":
            return "0.0%"
        case Role.PERCENT if column.unit == "percent":
            return '0.##"%"'
        case Role.ID | Role.YEAR:
            return "0"
        case _:
            return _BY_KIND.get(column.kind)


def _cells(values: pl.Series) -> tuple[list[Any], str]:
    """The column as what Excel can hold, and what changed."""
    kind = values.dtype
    if kind.is_integer():
        return _whole(values)
    if kind.is_decimal():
        return _exact(values)
    if kind.is_float():
        return values.set(~values.is_finite(), None).to_list(), ""
    if isinstance(kind, pl.Datetime):
        return _moments(values)
    if kind == pl.Date:
        return _days(values)
    if kind == pl.Boolean or kind == pl.Time or isinstance(kind, pl.Duration):
        return values.to_list(), ""
    if kind.is_nested():
        return [None if cell is None else show(cell) for cell in values.to_list()], "lists are written as text."
    return _texts(values.cast(pl.String))


def _whole(values: pl.Series) -> tuple[list[Any], str]:
    limit = 10**EXACT_DIGITS
    cells = values.to_list()
    wide = sum(cell is not None and abs(cell) >= limit for cell in cells)
    return [str(cell) if cell is not None and abs(cell) >= limit else cell for cell in cells], _as_text(
        wide
    ) if wide else ""


def _exact(values: pl.Series) -> tuple[list[Any], str]:
    cells = values.to_list()
    wide = sum(cell is not None and _digits(cell) > EXACT_DIGITS for cell in cells)
    return [_number_or_text(cell) for cell in cells], _as_text(wide) if wide else ""


def _number_or_text(cell: decimal.Decimal | None) -> float | str | None:
    if cell is None:
        return None
    return str(cell) if _digits(cell) > EXACT_DIGITS else float(cell)


def _digits(cell: decimal.Decimal) -> int:
    return len(cell.normalize(decimal.Context(prec=100)).as_tuple().digits)


def _as_text(count: int) -> str:
    return f"{plural(count, 'number')} of more than {EXACT_DIGITS} digits written as text, because Excel would round."


def _days(values: pl.Series) -> tuple[list[Any], str]:
    cells = values.to_list()
    early = sum(cell is not None and cell < FIRST_DATE for cell in cells)
    kept = [cell.isoformat() if cell is not None and cell < FIRST_DATE else cell for cell in cells]
    return kept, f"{plural(early, 'date')} before 1900 written as text." if early else ""


def _moments(values: pl.Series) -> tuple[list[Any], str]:
    zone = getattr(values.dtype, "time_zone", None)
    cells = values.dt.replace_time_zone(None).to_list()
    early = sum(cell is not None and cell.date() < FIRST_DATE for cell in cells)
    kept = [cell.isoformat(sep=" ") if cell is not None and cell.date() < FIRST_DATE else cell for cell in cells]
    notes = [f"times are in {zone}, which Excel cannot say."] if zone else []
    notes += [f"{plural(early, 'date')} before 1900 written as text."] if early else []
    return kept, " ".join(notes)


def _texts(values: pl.Series) -> tuple[list[Any], str]:
    long = int((values.str.len_chars() > CELL_CHARACTERS).sum())
    note = f"{plural(long, 'text')} cut to {CELL_CHARACTERS:,} characters." if long else ""
    return values.str.slice(0, CELL_CHARACTERS).to_list(), note


def _width(name: str, cells: Sequence[Any], column: AnswerColumn | None) -> float:
    shown = [len(show(cell, column)) for cell in cells[:50]]
    return float(min(60, max([len(name) + 2, 8, *shown]) + 2))
