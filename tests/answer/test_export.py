"""A downloaded file holds the table: every value, no formula, and what was cut is said."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from qa.answer import export
from qa.errors import LimitExceeded

from .results import DOLLARS, FRACTION, column, frame, part

RISKY = ["=1+1", "+49 30 1", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1+1", '=HYPERLINK("http://attacker.invalid")']
HARMLESS = ["-", "=", "a=b", "", " =1", "1-2"]


def _csv_rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def test_text_that_would_run_is_guarded_and_numbers_are_not() -> None:
    columns = [column("note", "text"), column("delta")]
    made = part(columns, frame(columns, [*RISKY, *HARMLESS], [-5, -12.5, *[1.0] * 12]))
    file = export.download(made, "csv")
    rows = _csv_rows(file.data)[1:]
    assert [row[0] for row in rows] == [f"'{text}" for text in RISKY] + HARMLESS
    assert [row[1] for row in rows[:2]] == ["-5.0", "-12.5"]
    assert file.note == "8 text cells that a spreadsheet would run as a formula got a leading apostrophe."


def test_a_header_that_would_run_is_guarded() -> None:
    columns = [column("=cmd()", "integer"), column("'=cmd()", "integer")]
    rows = _csv_rows(export.download(part(columns, frame(columns, [1], [2])), "csv").data)
    assert rows == [["'=cmd()", "'=cmd()'"], ["1", "2"]]


def test_columns_with_pattern_names_survive() -> None:
    columns = [column("*", "text"), column("^.*$", "text"), column("$", "text")]
    rows = _csv_rows(export.download(part(columns, frame(columns, ["=1+1"], ["b"], ["c"])), "csv").data)
    assert rows == [["*", "^.*$", "$"], ["'=1+1", "b", "c"]]


def test_every_kind_of_value_has_a_csv_form() -> None:
    table = pl.DataFrame(
        {
            "day": [dt.date(2024, 2, 29)],
            "at": [dt.datetime(2024, 2, 29, 8, 30)],
            "zoned": pl.Series([dt.datetime(2024, 2, 29, 8, 30)]).dt.replace_time_zone("Europe/Oslo"),
            "took": [dt.timedelta(seconds=90)],
            "tags": [["a", "=b", None]],
            "exact": [Decimal("1.50")],
            "big": pl.Series([2**100], dtype=pl.Int128),
            "kind": pl.Series(["x"], dtype=pl.Enum(["x"])),
            "none": pl.Series([None], dtype=pl.String),
        }
    )
    rows = _csv_rows(export.download(part([], table), "csv").data)
    assert rows[1] == [
        "2024-02-29", "2024-02-29T08:30:00", "2024-02-29T08:30:00+01:00", "90.0", '["a", "=b", null]',
        "1.50", str(2**100), "x", "",
    ]  # fmt: skip


def test_parquet_keeps_values_byte_for_byte() -> None:
    columns = [column("note", "text"), column("delta")]
    table = frame(columns, [*RISKY, None], [*range(8), None])
    assert_frame_equal(pl.read_parquet(io.BytesIO(export.download(part(columns, table), "parquet").data)), table)


def test_a_workbook_holds_dates_numbers_and_text_but_no_formula() -> None:
    columns = [column("day", "date"), column("price", **DOLLARS), column("share", **FRACTION), column("note", "text")]
    days = [dt.date(2024, 2, 29), dt.date(1850, 1, 1)]
    made = part(columns, frame(columns, days, [12.5, None], [0.25, 1.0], ["=1+1", "http://attacker.invalid"]))
    file = export.download(made, "xlsx")
    assert "1 date before 1900 written as text" in file.note
    inside = zipfile.ZipFile(io.BytesIO(file.data))
    xml = b"".join(inside.read(name) for name in inside.namelist())
    assert b"<f>" not in xml
    assert b"<hyperlink " not in xml
    sheet = fastexcel.read_excel(file.data).load_sheet(0, header_row=None)
    cells = sheet.to_polars().rows()
    assert cells[0] == ("day", "price", "share", "note")
    assert (cells[1][1], cells[1][2], cells[1][3]) == ("12.5", "0.25", "=1+1")
    assert cells[1][0].startswith("2024-02-29")
    assert cells[2][0] == "1850-01-01"


def test_digits_that_excel_would_round_become_text_and_it_is_said() -> None:
    columns = [column("id", "integer"), column("exact", "decimal")]
    table = frame(columns, [2**60, 5], [Decimal("1234567890123456.78"), Decimal("1.25")])
    file = export.download(part(columns, table), "xlsx")
    cells = fastexcel.read_excel(file.data).load_sheet(0, header_row=None, dtypes="string").to_polars().rows()
    assert cells[1] == (str(2**60), "1234567890123456.78")
    assert file.note.count("written as text") == 2


def test_json_is_strict_and_keeps_long_integers() -> None:
    columns = [column("id", "integer"), column("x")]
    file = export.download(part(columns, frame(columns, [2**60, 1], [float("nan"), 1.5])), "json")
    content = json.loads(file.data, parse_constant=pytest.fail)
    assert content["rows"] == [[str(2**60), None], ["1", 1.5]]


@pytest.mark.parametrize("format", export.FORMATS)
def test_a_cap_is_announced(format: export.Format) -> None:
    columns = [column("n", "integer"), column("m", "integer")]
    made = part(columns, frame(columns, range(50), range(50)), total_rows=20000)
    assert export.download(made, format).note == "Holds the first 50 of 20,000 rows."
    assert export.download(made, format, export.Caps(rows=10)).note == "Holds the first 10 of 20,000 rows."
    assert export.download(made, format, export.Caps(cells=20)).note == "Holds the first 10 of 20,000 rows."


def test_bytes_are_capped_by_leaving_out_rows() -> None:
    columns = [column("note", "text")]
    made = part(columns, frame(columns, ["x" * 100] * 1000))
    file = export.download(made, "csv", export.Caps(bytes=5000))
    assert len(file.data) <= 5000
    assert len(_csv_rows(file.data)) > 20
    with pytest.raises(LimitExceeded, match="in one row; a download may have 5"):
        export.download(made, "csv", export.Caps(bytes=5))


@pytest.mark.parametrize("format", export.FORMATS)
def test_an_empty_result_is_an_empty_file_with_its_header(format: export.Format) -> None:
    columns = [column("n", "integer")]
    assert export.download(part(columns, frame(columns, [])), format).data


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Tips by day", "tips-by-day.csv"),
        ("../../etc/passwd", "etc-passwd.csv"),
        ("CON", "answer.csv"),
        ("Größe <b>", "groe-b.csv"),
        ("売上", "answer.csv"),
        ("a" * 200, "a" * 60 + ".csv"),
    ],
)
def test_a_file_name_is_harmless(title: str, name: str) -> None:
    made = export.file_name(title, "csv")
    assert made == name
    assert Path(made).name == made


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=10), st.lists(st.floats() | st.none(), max_size=10)
)
def test_csv_reads_back_as_the_table_but_for_the_guards(texts: list[Any], numbers: list[Any]) -> None:
    size = min(len(texts), len(numbers))
    columns = [column("t", "text"), column("x")]
    table = frame(columns, texts[:size], numbers[:size])
    data = export.download(part(columns, table), "csv").data
    back = pl.read_csv(io.BytesIO(data), schema={"t": pl.String, "x": pl.Float64})
    guarded = [None if text is None else export.guarded(text) for text in texts[:size]]
    assert back["t"].to_list() == guarded
    assert back["x"].equals(table["x"], null_equal=True)
