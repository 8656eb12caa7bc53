"""Cells of a sheet by their types: texts, numbers, serial dates, times, lengths of time, failed formulas."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qa.data.extremes import share
from qa.data.reversal import as_kind
from qa.data.table import Assumption

_TYPED_CELLS = 2_000_000
"""Sheets of more cells are not asked for the type of every cell."""
_ERRORS = {
    "Div0": "#DIV/0!",
    "NA": "#N/A",
    "Name": "#NAME?",
    "Null": "#NULL!",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "GettingData": "#GETTING_DATA",
}
_MIDNIGHT = r"^(\d{4}-\d{2}-\d{2}) 00:00:00(?:\.0+)?$"
_MOMENT = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?$"
_TIME_ONLY = r"^(?:1899-12-3[01]|1904-01-01) (\d{2}:\d{2}:\d{2}(?:\.\d+)?)$"
_NUMBER = r"^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$"
_SERIAL_LOW, _SERIAL_HIGH = 10_000, 80_000
"""Serial numbers of 1927 to 2119."""
_WHEN = re.compile(r"(^|[^A-Za-z])(?i:dates?|datum|fecha|dob|birthday|timestamp)([^A-Za-z]|$)|[a-z]Date$")
"""A header under which numbers alone may be serial dates."""


@dataclass
class Cells:
    """The cells of a sheet as text, rows of the sheet from 0, with what their types say."""

    frame: pl.DataFrame
    errors: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """column -> (row, error) of failed formulas"""
    as_text: dict[int, set[int]] = field(default_factory=dict)
    """column -> rows whose cell is stored as text"""
    dated: dict[int, set[int]] = field(default_factory=dict)
    """column -> rows whose cell is a date or time"""
    lengths: dict[int, dict[int, float]] = field(default_factory=dict)
    """column -> row -> days, for cells formatted as a length of time"""
    typed: bool = False


def loaded(book: Any, name: str, dtype: str, columns: list[int] | None = None) -> Any:
    return book.load_sheet(name, header_row=None, dtypes=dtype, skip_rows=0, use_columns=columns)


def cells_of(book: Any, sheet: Any, sheet_name: str) -> Cells:
    """All cells as text, and the types of those where they matter."""
    batch, failed = sheet.to_arrow_with_errors()
    frame = pl.DataFrame(batch) if sheet.width else pl.DataFrame()
    cells = Cells(frame)
    for error in failed.errors if failed else ():
        row, column = error.position
        name = re.search(r"Error\((\w+)\)", error.detail)
        cells.errors.setdefault(column, []).append((row, _ERRORS.get(name.group(1), "#ERROR") if name else "#ERROR"))
    mixed = [index for index, column in enumerate(frame.get_columns()) if _worth_typing(column)]
    if mixed and frame.height * len(mixed) <= _TYPED_CELLS:
        cells.typed = True
        # Read as booleans, numbers pass and every other cell is an error that names its type.
        _, odd = loaded(book, sheet_name, "boolean", mixed).to_arrow_with_errors()
        for error in odd.errors if odd else ():
            row, column = error.position
            if "got 'String" in error.detail:
                cells.as_text.setdefault(column, set()).add(row)
            elif "TimeDelta" in error.detail and (value := re.search(r"value: (-?[\d.e-]+)", error.detail)):
                cells.lengths.setdefault(column, {})[row] = float(value.group(1))
            elif "DateTime" in error.detail:
                cells.dated.setdefault(column, set()).add(row)
    return cells


def _worth_typing(column: pl.Series) -> bool:
    """Could the column hold numbers, dates or lengths of time? Then the type of each cell is asked for."""
    texts = column.drop_nulls()
    if len(texts) == 0:
        return False
    return share(texts.str.strip_chars().str.contains(rf"{_NUMBER}|{_MOMENT}")) > 0.2


def readable(
    texts: pl.Series, index: int, body: Sequence[int], cells: Cells, header: str, base_1904: bool
) -> tuple[pl.Series, list[Assumption]]:
    """A column's texts with serial numbers, times and lengths of time made readable, and what was found in its types."""
    notes: list[Assumption] = []
    dated = cells.dated.get(index, set())
    stored_as_text = cells.as_text.get(index, set())
    if lengths := cells.lengths.get(index):
        spelled = [
            f"PT{round(lengths[row] * 86_400)}S" if row in lengths else text
            for row, text in zip(body, texts.to_list(), strict=True)
        ]
        return pl.Series(texts.name, spelled, dtype=pl.String), notes
    trimmed = texts.str.strip_chars()
    is_text = pl.Series([row in stored_as_text for row in body], dtype=pl.Boolean)
    is_dated = pl.Series([row in dated for row in body], dtype=pl.Boolean)
    numeric = trimmed.str.contains(_NUMBER).fill_null(False)
    label = header or f"column {index + 1}"
    number_texts = int((is_text & numeric).sum())
    if cells.typed and number_texts and int((numeric & ~is_text).sum()):
        notes.append(
            Assumption(
                code="numbers_as_text",
                column=label,
                damage=1,
                message=f"{number_texts:,} numbers in {label!r} are stored as text; they were read as numbers all the same.",
            )
        )
    texts, serial_notes = _serials(texts, trimmed, numeric & ~is_text, is_dated, is_text, label, base_1904)
    plain = texts.str.replace(_MIDNIGHT, "$1") if _all_midnight(texts.filter(is_dated)) else texts
    times = plain.filter(is_dated)
    if len(times) and times.str.contains(_TIME_ONLY).all():
        plain = plain.str.replace(_TIME_ONLY, "$1")
    return plain, notes + serial_notes


def _all_midnight(texts: pl.Series) -> bool:
    dated = texts.drop_nulls()
    return len(dated) > 0 and bool(dated.str.contains(_MIDNIGHT).all())


def _serials(
    texts: pl.Series,
    trimmed: pl.Series,
    numbers: pl.Series,
    dated: pl.Series,
    as_text: pl.Series,
    label: str,
    base_1904: bool,
) -> tuple[pl.Series, list[Assumption]]:
    """Serial day numbers among dates, or under a header that speaks of dates, as dates."""
    values = trimmed.to_frame("t").select(pl.when(numbers).then(pl.col("t").cast(pl.Float64, strict=False))).to_series()
    serial = (values >= _SERIAL_LOW) & (values < _SERIAL_HIGH)
    count = int(serial.fill_null(False).sum())
    text_dates = int(
        (
            as_text
            & trimmed.str.contains(r"\d").fill_null(False)
            & trimmed.str.contains(r"[-/.]|[A-Za-z]{3}").fill_null(False)
        ).sum()
    )
    beside_dates = bool(dated.any()) or text_dates > 0
    if count == 0 or count < int(numbers.sum()) or not (beside_dates or _WHEN.search(label)):
        return texts, _text_dates(text_dates, bool(dated.any()), label)
    base = dt.datetime(1904, 1, 1) if base_1904 else dt.datetime(1899, 12, 30)
    moments = (
        values.to_frame("v")
        .select(
            pl.lit(base).cast(pl.Datetime("us"))
            + pl.duration(microseconds=(pl.col("v") * 86_400).round().cast(pl.Int64) * 1_000_000)
        )
        .to_series()
    )
    written = moments.dt.strftime("%Y-%m-%d %H:%M:%S").str.replace(_MIDNIGHT, "$1")
    example = trimmed.filter(serial.fill_null(False))[0]
    shown = written.filter(serial.fill_null(False))[0]
    note = Assumption(
        code="serial_dates",
        column=label,
        damage=2,
        reversal=as_kind(label, "integer"),
        message=f"{count:,} cells of {label!r} are serial day numbers; {example} was read as {shown}.",
    )
    result = (
        pl.DataFrame({"t": texts, "w": written, "s": serial})
        .select(pl.when(pl.col("s").fill_null(False)).then("w").otherwise("t").alias(texts.name))
        .to_series()
    )
    if not dated.is_empty() and (~serial.fill_null(False) & dated).any():
        result = result.str.replace(_MIDNIGHT, "$1")
    return result, [note, *_text_dates(text_dates, True, label)]


def _text_dates(count: int, among_dates: bool, label: str) -> list[Assumption]:
    if not count or not among_dates:
        return []
    return [
        Assumption(
            code="dates_as_text",
            column=label,
            damage=1,
            message=f"{count:,} dates in {label!r} are stored as text; they were read as dates where they can be.",
        )
    ]
