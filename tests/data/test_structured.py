"""JSON, NDJSON, Parquet, Arrow, SQLite and DuckDB files keep every key, digit and table."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from pathlib import Path

import duckdb
import polars as pl
import pytest

from qa.data.read import ReadOptions, load
from qa.data.table import Table
from qa.errors import LoadError
from qa.types import Kind
from tests.data.loading import cells, notes, said, text


def written(tmp_path: Path, name: str, data: object) -> Path:
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def one(path: Path, **options: object) -> Table:
    [table] = load(path, options=ReadOptions(**options))  # type: ignore[arg-type]
    return table


def test_a_key_that_comes_late_is_a_column(tmp_path: Path) -> None:
    lines = [json.dumps({"id": n} | ({"refund": 2} if n > 150 else {})) for n in range(200)]
    table = one(written(tmp_path, "t.ndjson", "\n".join(lines)))
    assert table.rows == 200
    assert sum(cell or 0 for cell in cells(table, "refund")) == 98  # type: ignore[misc]


def test_a_broken_line_is_left_out_and_told_with_its_number(tmp_path: Path) -> None:
    table = one(written(tmp_path, "t.jsonl", '{"a": 1}\n{"a": \n\n{"a": 3}\n'))
    assert cells(table, "a") == [1, 3]
    assert table.report.skipped == ((2, "is not JSON", '{"a": '),)


SHAPES = [
    ("records", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
    ("columns", {"a": [1, 2], "b": ["x", "y"]}),
    ("columns by row number", {"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}),
    ("split", {"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [2, "y"]]}),
    ("rows under a header", [["a", "b"], [1, "x"], [2, "y"]]),
    ("one list inside an object", {"count": 2, "items": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}),
]


@pytest.mark.parametrize("data", [row[1] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_json_shapes(tmp_path: Path, data: object) -> None:
    table = one(written(tmp_path, "t.json", data))
    assert (cells(table, "a"), cells(table, "b")) == ([1, 2], ["x", "y"])


def test_two_lists_in_an_object_are_two_tables(tmp_path: Path) -> None:
    path = written(tmp_path, "t.json", {"orders": [{"id": 1}], "customers": [{"id": 7, "name": "Ann"}]})
    assert [table.name for table in load(path)] == ["orders", "customers"]
    assert one(path, sheet="customers").name == "customers"


def test_one_level_of_nesting_becomes_columns_and_deeper_stays_text(tmp_path: Path) -> None:
    table = one(
        written(
            tmp_path,
            "t.json",
            [{"id": 1, "where": {"city": "Oslo", "at": {"lat": 1}}}, {"id": 2, "where": {"city": "Rome"}}],
        )
    )
    assert [column.name for column in table.columns] == ["id", "where.city", "where.at"]
    assert cells(table, "where.at") == ['{"lat": 1}', None]
    assert {"flattened", "kept_as_text"} <= notes(table)


def test_lists_of_texts_are_lists(tmp_path: Path) -> None:
    table = one(written(tmp_path, "t.json", [{"tags": ["a", "b"]}, {"tags": []}, {"tags": None}]))
    assert table.column("tags").kind is Kind.LIST
    assert cells(table, "tags") == [["a", "b"], [], None]


def test_texts_in_json_are_dates_and_amounts_but_digits_stay_codes(tmp_path: Path) -> None:
    table = one(
        written(
            tmp_path,
            "t.json",
            [
                {"day": "2024-01-05", "price": "12.50", "zip": "02134", "code": "17"},
                {"day": "2024-01-06", "price": "3.25", "zip": "10001", "code": "18"},
            ],
        )
    )
    assert [column.kind for column in table.columns] == [Kind.DATE, Kind.NUMBER, Kind.TEXT, Kind.TEXT]
    assert "text_read_as" in notes(table)
    assert cells(one(tmp_path / "t.json", as_kinds={"code": "integer"}), "code") == [17, 18]


def test_a_column_of_several_sorts_is_read_from_its_text_and_told(tmp_path: Path) -> None:
    table = one(written(tmp_path, "t.json", [{"v": 1}, {"v": "n/a"}, {"v": 2.5}]))
    assert cells(table, "v") == [1.0, None, 2.5]
    assert "mixed_json" in notes(table)


def test_whole_numbers_of_json_keep_all_digits(tmp_path: Path) -> None:
    assert cells(one(written(tmp_path, "t.json", '[{"n": 9007199254740993}]')), "n") == [9007199254740993]


BROKEN_JSON = ['{"a": [1, 2', "nothing here", "[]", "{}", "[1, 2", ""]


@pytest.mark.parametrize("content", BROKEN_JSON)
def test_broken_json_is_a_clear_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(LoadError):
        load(written(tmp_path, "t.json", content))


def test_epochs_of_a_typed_file_are_moments_where_the_name_says_so(tmp_path: Path) -> None:
    rows = [{"timestamp": 1_704_067_200_000 + n * 60_000, "reading": 1_704_067_200_000 + n} for n in range(3)]
    table = one(written(tmp_path, "t.ndjson", "\n".join(map(json.dumps, rows))))
    assert [column.kind for column in table.columns] == [Kind.DATETIME, Kind.INTEGER]
    assert str(cells(table, "timestamp")[1]).startswith("2024-01-01 00:01")
    assert "milliseconds since 1970" in said(table, "epoch")


def test_narrow_integers_of_parquet_are_widened(tmp_path: Path) -> None:
    pl.DataFrame({"g": ["a", "a"], "v": pl.Series([1_500_000_000, 1_500_000_000], dtype=pl.Int32)}).write_parquet(
        tmp_path / "t.parquet"
    )
    table = one(tmp_path / "t.parquet")
    assert table.frame["v"].sum() == 3_000_000_000


def test_what_a_typed_file_says_is_kept(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "d": [dt.date(2024, 1, 5), None],
            "t": pl.Series([dt.datetime(2024, 1, 5, 10), None]).dt.replace_time_zone("Europe/Berlin"),
            "x": [1.5, float("nan")],
            "code": ["007", "N/A"],
            "b": [True, False],
            "wide": pl.Series([2**64 - 1, 1], dtype=pl.UInt64),
            "money": pl.Series(["1.10", "2.20"]).cast(pl.Decimal(10, 2)),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    frame.drop("wide", "money").write_ipc(tmp_path / "t.arrow")
    table = one(tmp_path / "t.parquet")
    assert [column.kind.value for column in table.columns] == [
        "date",
        "datetime",
        "number",
        "text",
        "boolean",
        "decimal",
        "decimal",
    ]
    assert table.column("t").zone == "Europe/Berlin"
    assert cells(table, "code") == ["007", "N/A"]
    assert cells(table, "x") == [1.5, None]
    assert "1 cells of 'x'" in said(table, "not_finite")
    assert str(cells(table, "wide")[0]) == "18446744073709551615"
    assert cells(one(tmp_path / "t.arrow"), "code") == ["007", "N/A"]


def test_text_of_a_typed_file_that_plainly_is_a_date_is_read_as_one_and_told(tmp_path: Path) -> None:
    pl.DataFrame({"day": ["2024-01-05", "2024-01-06"], "n": ["1", "2"]}).write_parquet(tmp_path / "t.parquet")
    table = one(tmp_path / "t.parquet")
    assert cells(table, "day") == [dt.date(2024, 1, 5), dt.date(2024, 1, 6)]
    assert cells(table, "n") == ["1", "2"]
    assert {"text_read_as", "text_kept"} <= notes(table)


def test_structs_of_parquet_are_laid_out(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "at": [{"city": "Oslo", "n": 1}, {"city": "Rome", "n": 2}]}).write_parquet(
        tmp_path / "t.parquet"
    )
    assert [column.name for column in one(tmp_path / "t.parquet").columns] == ["id", "at.city", "at.n"]


def test_each_table_of_a_sqlite_file(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("create table orders (id integer, day text, ok boolean, amount real)")
        connection.executemany(
            "insert into orders values (?, ?, ?, ?)", [(1, "2024-01-05", 1, 2.5), (2, "2024-01-06", 0, None)]
        )
        connection.execute('create table "odd name" (v)')
        connection.executemany('insert into "odd name" values (?)', [("1",), (2,), ("n/a",)])
    orders, odd = load(tmp_path / "t.sqlite")
    assert (orders.name, odd.name) == ("orders", "odd_name")
    assert [column.kind.value for column in orders.columns] == ["integer", "date", "boolean", "number"]
    assert cells(orders, "amount") == [2.5, None]


def test_each_table_of_a_duckdb_file(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("create table a as select 1 as x, date '2024-01-05' as d, 1.50::decimal(9,2) as m")
        connection.execute("create table b as select 'q' as y")
    first, second = load(tmp_path / "t.duckdb")
    assert (first.name, second.name) == ("a", "b")
    assert [column.kind.value for column in first.columns] == ["integer", "date", "decimal"]


def test_databases_are_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table a (x)")
        connection.execute("insert into a values (1)")
    connection.close()
    before = path.read_bytes()
    load(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["t.sqlite"]


RUBBISH = {
    "t.parquet": b"PAR1 rubbish PAR1",
    "t.sqlite": b"SQLite format 3\0" + b"x" * 100,
    "t.duckdb": bytes(8) + b"DUCK" + bytes(100),
    "t.arrow": b"ARROW1" + b"x" * 50,
}


@pytest.mark.parametrize(("name", "data"), RUBBISH.items(), ids=RUBBISH.keys())
def test_rubbish_under_a_known_mark_is_a_clear_error(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(LoadError):
        load(tmp_path / name)


def test_a_text_file_under_a_wrong_ending_is_read_as_what_it_is(tmp_path: Path) -> None:
    assert cells(text(tmp_path, "a,b\n1,2\n3,4\n", name="t.xlsx"), "b") == [2, 4]


def test_the_only_table_of_a_database_keeps_its_name(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "export.sqlite")
    connection.execute("create table customers (id integer)")
    connection.execute("insert into customers values (1)")
    connection.commit()
    connection.close()
    assert [table.name for table in load(tmp_path / "export.sqlite")] == ["customers"]
    assert [table.name for table in load(tmp_path / "export.sqlite", name="people")] == ["people"]
