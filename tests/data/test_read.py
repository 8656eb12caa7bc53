"""The door: digests, the cache, the isolated reader and its limits, large files, and damage of every sort."""

from __future__ import annotations

import gzip
import random
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from qa.data.read import Limits, ReadOptions, load, load_isolated
from qa.errors import LoadError
from tests.data.loading import cells, notes, said, text

ROWS = 220_000
SMALL = "id,name,amount\n1,Ann,10\n2,Bob,20\n3,Cy,30\n"


@cache
def large(rows: int = ROWS, ending: str = "") -> str:
    """A regular CSV past the size where the fast reader takes over."""
    draw = random.Random(7)
    lines = [f"{n},{draw.choice(('red', 'green', 'blue'))},{draw.random() * 100:.4f},{n % 9 + 1}" for n in range(rows)]
    return "row,colour,value,size\n" + "\n".join(lines) + "\n" + ending


def test_the_same_name_and_size_with_other_bytes_is_another_table(tmp_path: Path) -> None:
    path, cache = tmp_path / "sales.csv", tmp_path / "cache"
    path.write_text("item,amount\na,10\nb,20\n")
    [first] = load(path, cache=cache)
    path.write_text("item,amount\na,11\nb,22\n")
    [second] = load(path, cache=cache)
    assert first.digest != second.digest
    assert (first.frame["amount"].sum(), second.frame["amount"].sum()) == (30, 33)


def test_other_options_give_another_digest(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("d\n03/04/2024\n05/06/2024\n")
    assert load(path)[0].digest != load(path, options=ReadOptions(dayfirst=False))[0].digest


def test_a_second_visit_reads_the_cache_and_equal_bytes_may_have_two_names(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (tmp_path / "a.csv").write_text(SMALL)
    (tmp_path / "b.csv").write_text(SMALL)
    [a] = load(tmp_path / "a.csv", cache=cache)
    written = {path: path.stat().st_size for path in cache.iterdir()}
    [b] = load(tmp_path / "b.csv", cache=cache)
    assert (a.name, b.name, a.digest) == ("a", "b", b.digest)
    assert [column.owner for column in b.columns] == ["b"] * 3
    assert b.report.file == "b.csv"
    assert {path: path.stat().st_size for path in cache.iterdir()} == written


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "a column short": lambda path: pl.read_parquet(path).drop("c1").write_parquet(path),
    "a row short": lambda path: pl.read_parquet(path).head(2).write_parquet(path),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_cache_entry_that_was_damaged_is_read_again(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    cache = tmp_path / "cache"
    (tmp_path / "a.csv").write_text(SMALL)
    [first] = load(tmp_path / "a.csv", cache=cache)
    for path in cache.glob("*.parquet"):
        damage(path)
    [again] = load(tmp_path / "a.csv", cache=cache)
    assert again.frame.equals(first.frame)
    assert (again.frame.height, again.frame["amount"].sum()) == (3, 60)


def test_the_isolated_reader_gives_the_same_table_and_tells_its_progress(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(SMALL)
    seen: list[tuple[str, float]] = []
    [inside] = load_isolated(path, cache=tmp_path / "one", progress=lambda what, share: seen.append((what, share)))
    [here] = load(path, cache=tmp_path / "two")
    assert inside.frame.equals(here.frame)
    assert inside.report == here.report
    assert seen[-1] == ("Done", 1.0)


REFUSED = [
    ("rows", Limits(rows=2), "at most 2|more than 2"),
    ("cells", Limits(cells=5), "at most 5|more than 5"),
    ("bytes", Limits(bytes=10), "at most 10"),
    ("seconds", Limits(seconds=0.01), "was stopped"),
    ("memory", Limits(memory_mb=1), "1 MB of memory"),
]


@pytest.mark.parametrize(("limits", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_each_limit_stops_the_isolated_reader_and_leaves_nothing(tmp_path: Path, limits: Limits, message: str) -> None:
    path, cache = tmp_path / "a.csv", tmp_path / "cache"
    path.write_text(large())
    with pytest.raises(LoadError, match=message):
        load_isolated(path, options=ReadOptions(limits=limits), cache=cache)
    assert not list(cache.iterdir())


def test_two_loads_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.csv", tmp_path / "cache"
    path.write_text(SMALL)
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(load_isolated(path, cache=cache)[0].frame["amount"].sum()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [60, 60]


def test_a_missing_and_an_empty_file_are_clear_errors(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    for name, message in (("none.csv", "There is no file"), ("empty.csv", "is empty")):
        with pytest.raises(LoadError, match=message):
            load(tmp_path / name)


def test_a_large_file_is_read_like_a_small_one(tmp_path: Path) -> None:
    content = large()
    table = text(tmp_path, content)
    beginning = text(tmp_path, "\n".join(content.split("\n")[:2_000]) + "\n", name="s.csv")
    assert table.rows == ROWS
    assert [column.kind for column in table.columns] == [column.kind for column in beginning.columns]
    assert table.frame.head(1_999).equals(
        beginning.frame.with_columns(beginning.frame["colour"].cast(table.frame["colour"].dtype))
    )


LATE = [
    ("a late decimal", "220000,red,1.5,2.5\n", "size", 2.5),
    ("a late padded code makes all of them codes", "220000,red,1.5,007\n", "size", "007"),
    ("a late word is missing", "220000,red,N/A,7\n", "value", None),
]


@pytest.mark.parametrize(("ending", "name", "expected"), [row[1:] for row in LATE], ids=[row[0] for row in LATE])
def test_the_last_row_of_a_large_file_counts_as_much_as_the_first(
    tmp_path: Path, ending: str, name: str, expected: object
) -> None:
    table = text(tmp_path, large(ending=ending))
    assert table.rows == ROWS + 1
    assert cells(table, name)[-1] == expected
    assert {type(cell) for cell in cells(table, name)} - {type(None)} == {
        type(expected) if expected is not None else float
    }


def test_a_total_and_a_note_at_the_end_of_a_large_file_are_left_out_and_told(tmp_path: Path) -> None:
    body = large()
    total = sum(int(line.split(",")[3]) for line in body.splitlines()[1:])
    table = text(tmp_path, f"{body}Total,,,{total}\n")
    assert table.rows == ROWS
    assert table.report.skipped[-1][0] == ROWS + 2
    assert "totals" in notes(table)


def test_a_long_row_in_a_large_file_is_not_cut_in_silence(tmp_path: Path) -> None:
    lines = large(8_000).splitlines()
    lines[5_000] += ",surplus"
    lines[6_000] = "6000,red"
    table = text(tmp_path, "\n".join(lines * 2) + "\n")
    said_of = " ".join(note.message for note in table.report.assumptions) + " ".join(
        part for entry in table.report.skipped for part in map(str, entry)
    )
    assert "surplus" in said_of
    assert "short_rows" in notes(table)


def test_a_large_file_of_windows_letters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(large().replace("red", "grün").encode("cp1252"))
    [table] = load(path)
    assert "grün" in table.distinct("c1")


def test_a_large_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(large().encode()))
    [table] = load(path)
    assert (table.name, table.rows) == ("t", ROWS)


def test_row_numbers_of_unreadable_cells_are_those_of_the_file(tmp_path: Path) -> None:
    assert text(tmp_path, large(ending="220000,red,soon,7\n")).report.unreadable[0].examples == ((ROWS + 2, "soon"),)


FORMATS = ["csv", "ndjson", "parquet", "xlsx"]


@pytest.mark.parametrize("format", FORMATS)
def test_mutated_files_end_in_a_table_or_a_clear_error(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"t.{format}"
    [table] = load(_sample(tmp_path))
    frame = table.frame
    match format:
        case "csv":
            frame.write_csv(path)
        case "ndjson":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case _:
            frame.write_excel(path)
    good = path.read_bytes()
    draw = random.Random(format)
    for _ in range(25):
        path.write_bytes(_mutated(good, draw))
        try:
            for read in load(path, cache=tmp_path / "cache"):
                assert read.report.rows_out == read.rows
        except LoadError as error:
            assert str(error)
    assert not list((tmp_path / "cache").glob("*.part"))


def _sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.csv"
    path.write_text(
        "id,day,price,ok\n"
        + "".join(f"{n},2024-01-{n:02},{n * 1.5},{'yes' if n % 2 else 'no'}\n" for n in range(1, 29))
    )
    return path


def _mutated(data: bytes, draw: random.Random) -> bytes:
    at, length = draw.randrange(len(data)), draw.randint(1, 40)
    match draw.randrange(4):
        case 0:
            changed = bytearray(data)
            for _ in range(length):
                changed[draw.randrange(len(data))] = draw.randrange(256)
            return bytes(changed)
        case 1:
            return data[:at]
        case 2:
            return data[:at] + data[at : at + length] * 3 + data[at + length :]
        case _:
            return data[:at] + data + data[at:]


def test_what_a_person_says_of_the_file_is_obeyed(tmp_path: Path) -> None:
    content = "x;y\nnote;here\na;b\n1,5;2\n"
    table = text(tmp_path, content, options=ReadOptions(header=3, delimiter=";", decimal=","))
    assert [column.name for column in table.columns] == ["a", "b"]
    assert cells(table, "a") == [1.5]


def test_an_unknown_kind_is_an_error_that_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="boolean, integer"):
        text(tmp_path, SMALL, options=ReadOptions(as_kinds={"name": "colour"}))


def test_a_kind_for_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "'nme'" in said(text(tmp_path, SMALL, options=ReadOptions(as_kinds={"nme": "text"})), "no_such_column")
