"""Files whose frame misleads: odd encodings and signs, drawn lines, summaries, several tables, packed and unruly JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from qa.data.read import ReadOptions, load
from qa.data.table import Table
from qa.errors import LoadError
from tests.data.loading import notes, said


def read(tmp_path: Path, content: str | bytes, name: str = "t.csv", options: ReadOptions | None = None) -> Table:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    [table] = load(path, options=options or ReadOptions())
    return table


SAME = [
    ("information separators", "id\x1fname\n1\x1fa\n2\x1fb\n"),
    ("start-of-heading signs, as Hive writes them", "id\x01name\n1\x01a\n2\x01b\n"),
    ("a comment among the data", "# by hand\nid,name\n1,a\n# checked\n2,b\n"),
    ("the end-of-file sign of old programs", "id,name\n1,a\n2,b\n\x1a"),
    ("a Markdown table", "| id | name |\n|---|:---:|\n| 1 | a |\n| 2 | b |\n"),
    ("a drawn table", "+---+---+\n| id | name |\n+---+---+\n| 1 | a |\n| 2 | b |\n+---+---+\n"),
    ("what psql prints", " id | name \n----+------\n  1 | a\n  2 | b\n(2 rows)\n"),
    ("a dashed line under the header", "id,name\n---,---\n1,a\n2,b\n"),
    ("UTF-16 without a mark", "id;name\n1;a\n2;b\n".encode("utf-16-le")),
    ("UTF-32", "id;name\n1;a\n2;b\n".encode("utf-32")),
    ("sep= in quotes", '"sep=;"\nid;name\n1;a\n2;b\n'),
    ("four kinds of line end", "id,name\r\n1,a\r2,b\n"),
]  # fmt: skip


@pytest.mark.parametrize("content", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_the_same_table_in_many_frames(tmp_path: Path, content: str | bytes) -> None:
    assert read(tmp_path, content).frame.to_dict(as_series=False) == {"id": [1, 2], "name": ["a", "b"]}


def test_a_comment_sign_is_data_where_no_comment_opens_the_file(tmp_path: Path) -> None:
    assert read(tmp_path, "tag,n\n#one,1\n#two,2\n").frame["tag"].to_list() == ["#one", "#two"]


def test_letters_that_were_encoded_twice_are_brought_back_and_told(tmp_path: Path) -> None:
    content = "id,name\n1,CafÃ©\n2,MÃ¼ller\n"
    table = read(tmp_path, content)
    assert table.frame["name"].to_list() == ["Café", "Müller"]
    assert "'é'" in said(table, "encoded_twice")
    as_told = read(tmp_path, content, options=ReadOptions(encoding="utf-8"))
    assert as_told.frame["name"].to_list() == ["CafÃ©", "MÃ¼ller"]


def test_letters_that_are_meant_so_stay(tmp_path: Path) -> None:
    assert read(tmp_path, "id,name\n1,Ãnima\n2,São\n").frame["name"].to_list() == ["Ãnima", "São"]


def test_the_euro_of_latin_9(tmp_path: Path) -> None:
    table = read(tmp_path, "id;prix\n1;5 €\n2;7 €\n".encode("iso8859_15"))
    assert (table.column("prix").unit, table.frame["prix"].sum()) == ("EUR", 12)


def test_units_under_the_header_are_no_part_of_the_names(tmp_path: Path) -> None:
    table = read(tmp_path, "depth,temp,date\nm,°C,yyyy-mm-dd\n10,5.5,2024-01-01\n20,6.5,2024-01-02\n30,7,2024-01-03\n")
    assert [column.name for column in table.columns] == ["depth", "temp", "date"]
    assert (table.column("depth").unit, table.column("temp").unit) == ("m", "°C")


SUMMARIES = [
    ("an average that is one", "name,score\nA,10\nB,20\nC,30\nAverage,20\n", 3),
    ("an average that is none is a name", "name,score\nA,10\nB,20\nC,30\nAverage,25\n", 4),
    ("a largest value", "name,score\nA,10\nB,20\nC,30\nMax,30\n", 3),
    ("subtotals of groups and a grand total", "r,c,s\nN,A,10\nN,B,20\nN Total,,30\nS,C,5\nS,D,15\nS Total,,20\nGrand Total,,50\n", 4),
    ("a firm called Total", "brand,sales\nTotal,10\nShell,20\nBP,30\n", 3),
]  # fmt: skip


@pytest.mark.parametrize(("content", "rows"), [row[1:] for row in SUMMARIES], ids=[row[0] for row in SUMMARIES])
def test_only_rows_that_sum_up_others_are_left_out(tmp_path: Path, content: str, rows: int) -> None:
    table = read(tmp_path, content)
    assert table.rows == rows
    assert table.report.skipped_total == table.report.rows_in - 1 - rows


TWO = "Sales\nid,v\n1,2\n2,3\n\nPeople\nname,age\nA,30\nB,40\n"


def test_a_second_table_under_a_title_of_its_own(tmp_path: Path) -> None:
    table = read(tmp_path, TWO)
    assert table.frame.to_dict(as_series=False) == {"id": [1, 2], "v": [2, 3]}
    assert "other_tables" in notes(table)
    other = read(tmp_path, TWO, options=ReadOptions(table=2))
    assert other.frame.to_dict(as_series=False) == {"name": ["A", "B"], "age": [30, 40]}


def test_one_long_row_of_three_does_not_widen_the_table(tmp_path: Path) -> None:
    table = read(tmp_path, "id,address,city\n1,12 Main St, Apt 4,Paris\n2,5 Oak,Rome\n3,7 Elm,Oslo\n")
    assert [column.name for column in table.columns] == ["id", "address", "city"]
    assert "'Paris'" in said(table, "surplus_cells")


@pytest.mark.parametrize("content", ["", " \n\n", "\ufeff", "\n" * 1000])
def test_a_file_of_nothing_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(LoadError) as caught:
        read(tmp_path, content)
    assert caught.value.issues[0].code == "empty"


def test_a_name_is_cut_before_it_fills_the_page(tmp_path: Path) -> None:
    assert len(read(tmp_path, f"id,{'x' * 50_000}\n1,2\n2,3\n").columns[1].name) == 500


RECORDS = json.dumps([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]).encode()
LINES = b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.txt", RECORDS),
        ("t.csv", LINES),
        ("t", RECORDS),
        ("t.json.gz", gzip.compress(RECORDS)),
        ("t.ndjson.gz", gzip.compress(LINES)),
        ("t.gz", gzip.compress(LINES)),
    ],
)
def test_json_is_known_by_its_text(tmp_path: Path, name: str, content: bytes) -> None:
    assert read(tmp_path, content, name).frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"]}


def test_cells_of_json_in_a_delimited_file_stay_cells(tmp_path: Path) -> None:
    assert read(tmp_path, '{"a":1},5\n{"a":2},6\n').frame.width == 2


def test_a_line_of_json_ends_only_at_a_line_end(tmp_path: Path) -> None:
    table = read(tmp_path, '{"a":"x\u2028y"}\n{"a":"z\x85w"}\n', "t.ndjson")
    assert table.frame["a"].to_list() == ["x\u2028y", "z\x85w"]


def test_keys_that_stand_twice_are_told(tmp_path: Path) -> None:
    table = read(tmp_path, '[{"a":1,"a":2},{"a":3}]', "t.json")
    assert (table.frame["a"].to_list(), "repeated_keys" in notes(table)) == ([2, 3], True)


def test_digits_lost_beside_broken_numbers_are_told(tmp_path: Path) -> None:
    assert "digits_lost" in notes(read(tmp_path, '[{"a":9007199254740993},{"a":1.5}]', "t.json"))


@pytest.mark.parametrize("content", ["[" * 100_000 + "]" * 100_000, '[{"a":' * 5_000 + "1" + "}]" * 5_000])
def test_json_without_a_bottom_is_an_error_that_says_so(tmp_path: Path, content: str) -> None:
    with pytest.raises(LoadError, match="too deeply"):
        read(tmp_path, content, "t.json")
