"""Workbooks (xlsx, xlsm, xls, xlsb, ods) to raw tables."""

from __future__ import annotations

from pathlib import Path

import fastexcel
import polars as pl

from qa.data.options import ReadOptions
from qa.data.raw import Raw


def read_excel(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """Every visible sheet of a workbook."""
    book = fastexcel.read_excel(path)
    result = []
    for sheet_name in book.sheet_names:
        sheet = book.load_sheet(sheet_name, header_row=None, dtypes="string", skip_rows=0)
        if sheet.visible != "visible":
            continue
        frame = sheet.to_polars()
        headers = tuple(cell or "" for cell in frame.row(0))
        body = pl.DataFrame([column.alias(f"c{index}") for index, column in enumerate(frame.slice(1).get_columns())])
        result.append(Raw(name=name, frame=body, headers=headers, format="excel", sheet=sheet_name, first_row=2))
    return result
