"""Workbooks: every visible sheet a table, and what a spreadsheet hides is told."""

from __future__ import annotations

import datetime as dt
import struct
import zipfile
from pathlib import Path

import pytest
import xlsxwriter

from qa.data.read import Limits, ReadOptions, load
from qa.data.table import Table
from qa.errors import LoadError
from qa.types import Kind, Role
from tests.data.loading import cells, notes, said

D = dt.date


class Book:
    """A workbook under construction; `tables()` saves and loads it."""

    def __init__(self, path: Path, **options: object) -> None:
        self.path = path / "book.xlsx"
        self.book = xlsxwriter.Workbook(str(self.path), options)
        self.date = self.book.add_format({"num_format": "yyyy-mm-dd"})

    def sheet(self, name: str, rows: list[list[object]], **where: int) -> xlsxwriter.worksheet.Worksheet:
        sheet = self.book.add_worksheet(name)
        for number, row in enumerate(rows, where.get("row", 0)):
            for column, cell in enumerate(row, where.get("column", 0)):
                if isinstance(cell, dt.date):
                    sheet.write_datetime(number, column, dt.datetime.combine(cell, dt.time()), self.date)
                elif isinstance(cell, str):
                    sheet.write_string(number, column, cell)
                elif cell is not None:
                    sheet.write(number, column, cell)
        return sheet

    def tables(self, **options: object) -> list[Table]:
        self.book.close()
        return load(self.path, options=ReadOptions(**options))  # type: ignore[arg-type]

    def table(self, **options: object) -> Table:
        [table] = self.tables(**options)
        return table


def test_hidden_sheets_are_told_and_can_be_named(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("lookup", [["region", "amount"], ["North", 999]]).hide()
    book.sheet("Orders", [["region", "amount"], ["North", 10], ["South", 20]]).activate()
    book.sheet("calc", [["region", "amount"], ["North", 5000]]).very_hidden()
    table = book.table()
    assert (table.report.sheet, cells(table, "amount")) == ("Orders", [10, 20])
    assert table.report.other_sheets == ("lookup", "calc")
    assert "'lookup', 'calc'" in said(table, "hidden_sheets")
    [hidden] = load(book.path, options=ReadOptions(sheet="lookup"))
    assert cells(hidden, "amount") == [999]


def test_each_visible_sheet_is_a_table_and_empty_ones_are_told(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("Orders 2024", [["id", "n"], [1, 2]])
    book.sheet("Empty", [])
    book.sheet("Plan", [["id", "n"], [1, 3]])
    tables = book.tables()
    assert [table.name for table in tables] == ["Orders_2024", "Plan"]
    assert "'Empty'" in said(tables[0], "empty_sheets")


def test_a_sheet_that_is_not_there_is_an_error_that_lists_those_that_are(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("Orders", [["a"], [1]])
    with pytest.raises(LoadError, match="It holds 'Orders'"):
        book.tables(sheet="Order")


def test_failed_formulas_are_missing_and_counted_apart_from_blanks(tmp_path: Path) -> None:
    book = Book(tmp_path)
    sheet = book.sheet("S", [["item", "score"], ["A", 4], ["B", None], ["C", 6], ["D", None], ["E", 8], ["F", None]])
    sheet.write_formula(2, 1, "=1/0", None, "#DIV/0!")
    sheet.write_formula(4, 1, "=NA()", None, "#N/A")
    table = book.table()
    assert cells(table, "score") == [4, None, 6, None, 8, None]
    assert table.report.unreadable[0].examples == ((3, "#DIV/0!"), (5, "#N/A"))
    assert table.report.columns[1].missing == 3
    assert "2 cells of 'score' hold Excel errors" in said(table, "formula_errors")


def test_serial_dates_real_dates_and_text_dates_in_one_column(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("S", [["date", "amount"], [45292, 10], [45323, "20"], [D(2024, 2, 15), 30], ["2024-03-01", " 40 "]])
    table = book.table()
    assert cells(table, "date") == [D(2024, 1, 1), D(2024, 2, 1), D(2024, 2, 15), D(2024, 3, 1)]
    assert cells(table, "amount") == [10, 20, 30, 40]
    assert said(table, "serial_dates").startswith("2 cells")
    assert said(table, "dates_as_text").startswith("1 dates")
    assert said(table, "numbers_as_text").startswith("2 numbers")


def test_the_1904_date_system(tmp_path: Path) -> None:
    book = Book(tmp_path, date_1904=True)
    book.sheet("S", [["day", "amount"], [D(2024, 1, 15), 10], [D(2024, 2, 20), 25]])
    assert cells(book.table(), "day") == [D(2024, 1, 15), D(2024, 2, 20)]


def test_serial_dates_count_from_1904_in_such_a_workbook(tmp_path: Path) -> None:
    book = Book(tmp_path, date_1904=True)
    book.sheet("S", [["due date", "amount"], [43844, 10], [43845, 25]])
    assert cells(book.table(), "due date") == [D(2024, 1, 15), D(2024, 1, 16)]


def test_times_lengths_of_time_percents_and_currencies_come_from_formats(tmp_path: Path) -> None:
    book = Book(tmp_path)
    sheet = book.sheet("S", [["when", "spent", "share", "price", "ok"]])
    formats = [
        book.book.add_format({"num_format": code}) for code in ("yyyy-mm-dd hh:mm", "[h]:mm:ss", "0.0%", '#,##0.00 "€"')
    ]
    for row in (1, 2, 3):
        sheet.write_datetime(row, 0, dt.datetime(2024, 1, row, 10, 30), formats[0])
        sheet.write_number(row, 1, row * 20 / 24, formats[1])
        sheet.write_number(row, 2, 0.25 * row, formats[2])
        sheet.write_number(row, 3, 10.5 * row, formats[3])
        sheet.write_boolean(row, 4, row == 2)
    table = book.table()
    assert cells(table, "when")[0] == dt.datetime(2024, 1, 1, 10, 30)
    assert cells(table, "spent") == [dt.timedelta(hours=20), dt.timedelta(hours=40), dt.timedelta(hours=60)]
    assert (table.column("share").role, table.column("share").unit) == (Role.PERCENT, "fraction")
    assert (table.column("price").role, table.column("price").unit) == (Role.CURRENCY, "EUR")
    assert table.column("ok").kind is Kind.BOOLEAN


def test_a_title_a_two_row_header_and_merged_cells(tmp_path: Path) -> None:
    book = Book(tmp_path)
    sheet = book.book.add_worksheet("Q")
    sheet.merge_range("B1:C1", "2023")
    sheet.merge_range("D1:E1", "2024")
    sheet.write_row("A2", ["Region", "Sales", "Cost", "Sales", "Cost"])
    sheet.merge_range("A3:A4", "North")
    sheet.write_row("B3", [1, 2, 3, 4])
    sheet.write_row("B4", [5, 6, 7, 8])
    sheet.write_row("A5", ["South", 9, 10, 11, 12])
    table = book.table()
    assert [column.name for column in table.columns] == ["Region", "2023 Sales", "2023 Cost", "2024 Sales", "2024 Cost"]
    assert cells(table, "Region") == ["North", "North", "South"]
    assert {"merged_cells", "header_rows"} <= notes(table)


def test_hidden_rows_and_columns_are_read_and_told(tmp_path: Path) -> None:
    book = Book(tmp_path)
    sheet = book.sheet("S", [["a", "b"], [1, 2], [3, 4], [5, 6]])
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column(1, 1, None, None, {"hidden": True})
    table = book.table()
    assert cells(table, "a") == [1, 3, 5]
    assert said(table, "hidden_rows").endswith("rows 3.")
    assert "'b'" in said(table, "hidden_columns")


@pytest.mark.parametrize("where", ["XFD1048576", "H400"], ids=["at the far corner", "not so far"])
def test_a_stray_cell_neither_widens_the_table_nor_costs_memory(tmp_path: Path, where: str) -> None:
    book = Book(tmp_path)
    book.sheet("S", [["a", "b"], [1, 2], [3, 4]]).write(where, "stray")
    table = book.table()
    assert (table.rows, len(table.columns)) == (2, 2)
    assert where in said(table, "stray_cells")


def test_a_table_that_begins_below_and_right_of_the_corner(tmp_path: Path) -> None:
    book = Book(tmp_path)
    sheet = book.sheet("S", [["city", "people"], ["Oslo", 700], ["Rome", 2800]], row=5, column=2)
    sheet.write(0, 0, "Report of today")
    table = book.table()
    assert [column.name for column in table.columns] == ["city", "people"]
    assert cells(table, "people") == [700, 2800]
    assert table.report.skipped[0][2] == "Report of today"


def test_a_bomb_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("S", [["v"], [5]])
    book.book.close()
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(book.path) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            target.writestr(entry, source.read(entry))
        target.writestr("xl/media/image1.bin", bytes(60_000_000))
    with pytest.raises(LoadError, match="far more than a workbook of its size should"):
        load(bomb)


def test_a_bomb_whose_directory_lies_is_refused_too(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("xl/workbook.xml", bytes(60_000_000))
    data = bytearray(bomb.read_bytes())
    central = data.rfind(b"PK\x01\x02")
    data[22:26] = data[central + 24 : central + 28] = struct.pack("<I", 1_000)
    bomb.write_bytes(bytes(data))
    with pytest.raises(LoadError, match="far more than a workbook of its size should"):
        load(bomb)


def test_a_sheet_past_the_cell_limit_is_refused(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.sheet("S", [["a", "b"], [1, 2], [3, 4]])
    with pytest.raises(LoadError, match="at most 4 are read"):
        book.tables(limits=Limits(cells=4))


DAMAGED = {
    "cut in half": lambda data: data[: len(data) // 2],
    "not a workbook": lambda data: b"PK\x03\x04" + b"junk" * 50,
    "an old workbook of rubbish": lambda data: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_workbook_is_a_clear_error(tmp_path: Path, damage: object) -> None:
    book = Book(tmp_path)
    book.sheet("S", [["a"], [1]])
    book.book.close()
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(damage(book.path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(LoadError):
        load(broken)
