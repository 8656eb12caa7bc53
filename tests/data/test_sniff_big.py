"""A big file reads as the same file would in memory: scanned when it is regular, copied when it is not."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import zstandard

from qa.data.sniff import Grid, ReadLimits, read_grid, write_cells
from qa.errors import LimitExceeded, LoadError

LINES = 12_000
BIG = replace(ReadLimits(), scanned_bytes=1 << 18)
"""Of these rows a file has about 400 KB; enough to be scanned under these limits."""


def body(rows: int = LINES, end: str = "\n") -> str:
    return "".join(f"{i},2024-01-{i % 28 + 1:02d},city {i % 97},{i * 7 % 1000 / 10},note{end}" for i in range(rows))


WIDE = "".join(",".join(f"{at}.{row}" if row else f"column {at}" for at in range(400)) + "\n" for row in range(900))
"""Wide rows: too few to a chunk of bytes to be counted by the thousand."""
HEAD = "id,day,place,amount,remark\n"
PLAIN = {
    "plain": HEAD + body(),
    "carriage returns": HEAD.replace("\n", "\r\n") + body(end="\r\n"),
    "no last line end": (HEAD + body())[:-1],
    "a byte order mark": "\ufeff" + HEAD + body(),
    "a title above": "Report of the day\n\n" + HEAD + body(),
    "no header": body(),
    "a total and notes below": HEAD + body() + "Total,,,35000,\n\n* preliminary,,,,\n",
    "quotes, delimiters and line ends in cells": HEAD + body().replace("city 9,", '"city, ""9""\nnorth",').replace(",note\n", ',""\n'),
    "wide rows": WIDE,
    "accents": HEAD + body().replace("city", "Žižkov"),
}  # fmt: skip
ODD = {
    "short rows": HEAD + body().replace("city 13,", ""),
    "blank lines": HEAD + body().replace("city 5,", "city 5,").replace("note\n7", "note\n\n7"),
    "the header again": HEAD + body(LINES // 2) + HEAD + body(LINES),
    "surplus cells": HEAD + body() + "1,2024-01-01,x,5,note,late\n" + body(5_000),
    "lone carriage returns": HEAD + body(LINES // 2) + body(LINES // 2, end="\r"),
    "two signs part the cells": (HEAD + body()).replace(",", "||"),
    "backslash escapes": HEAD + body().replace("city 9,", '"city \\"9\\" x",'),
}


def same(one: Grid, other: Grid) -> None:
    assert (one.headers, one.height, one.rows_in) == (other.headers, other.height, other.rows_in)
    assert one.frame.equals(other.frame)
    assert one.rows.equals(other.rows)
    assert one.skipped == other.skipped
    assert [note.code for note in one.notes if note.damage > 2] == [
        note.code for note in other.notes if note.damage > 2
    ]


@pytest.mark.parametrize("name", PLAIN)
def test_a_regular_file_is_scanned_and_reads_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(PLAIN[name].encode())
    grid = read_grid(path, limits=BIG)
    assert not grid.in_memory
    same(grid, read_grid(path.read_bytes()))


@pytest.mark.parametrize("name", ODD)
def test_an_irregular_file_reads_the_same_too(name: str, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(ODD[name].encode())
    same(read_grid(path, limits=BIG), read_grid(path.read_bytes()))


@pytest.mark.parametrize("name", [*ODD, "a total and notes below", "quotes, delimiters and line ends in cells"])
def test_a_file_too_big_to_hold_is_copied_and_reads_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    text = (ODD | PLAIN)[name]
    path.write_bytes(text.encode("utf-16"))
    limits = replace(BIG, held_bytes=1 << 18)
    grid = read_grid(path, scratch=tmp_path, limits=limits)
    assert not grid.in_memory
    same(grid, read_grid(text.encode()))


def test_a_legacy_encoding_is_found_far_down(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes((HEAD + body() + "1,2024-01-01,Köln,5,schön\n2,2024-01-02,Düsseldorf,5,größer\n").encode("cp1252"))
    for grid in (read_grid(path, limits=BIG), read_grid(path, scratch=tmp_path, limits=replace(BIG, held_bytes=1))):
        assert (grid.encoding, grid.frame["c2"][-1]) == ("cp1252", "Düsseldorf")


def test_one_late_bad_byte_is_read_as_windows(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes((HEAD + body().replace("city", "Žižkov")).encode() + b"1,2024-01-01,Caf\xe9,5,x\n")
    for grid in (read_grid(path, limits=BIG), read_grid(path, scratch=tmp_path, limits=replace(BIG, held_bytes=1))):
        assert (grid.frame["c2"][0], grid.frame["c2"][-1]) == ("Žižkov 0", "Café")


def zipped(data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "short")
        archive.writestr("data/table.csv", data)
    return target.getvalue()


PACKERS = {"gzip": gzip.compress, "zip": zipped, "zstandard": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("wrapping", PACKERS)
@pytest.mark.parametrize("text", [HEAD + body(50), HEAD + body()], ids=["small", "big"])
def test_a_packed_file_reads_as_the_file_inside(wrapping: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(PACKERS[wrapping](text.encode()))
    for grid in (read_grid(path), read_grid(path.read_bytes()), read_grid(path, scratch=tmp_path, limits=BIG)):
        assert (grid.wrapping, grid.headers, grid.height) == (
            wrapping,
            tuple(HEAD.strip().split(",")),
            text.count("\n") - 1,
        )
    assert read_grid(path).frame.equals(read_grid(text.encode()).frame)


def test_a_zip_names_what_else_it_holds() -> None:
    grid = read_grid(zipped((HEAD + body(5)).encode()))
    assert grid.member == "data/table.csv"
    assert [note.message for note in grid.notes if note.code == "other_members"] == ["The zip also holds readme.txt."]


@pytest.mark.parametrize("scratch", [True, False])
def test_a_bomb_is_refused_by_its_size_unpacked(scratch: bool, tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0" * 30_000_000))
    with pytest.raises(LimitExceeded, match="Unpacked, the file passes"):
        read_grid(path, limits=replace(ReadLimits(), unpacked_bytes=10_000_000), scratch=tmp_path if scratch else None)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (gzip.compress(b"a,b\n1,2\n" * 1000)[:-30], "broken_archive"),
        (gzip.compress(gzip.compress(b"a,b\n1,2\n")), "nested_archive"),
        (b"PK\x03\x04" + b"x" * 100, "broken_archive"),
        (zipped(b"")[:60], "broken_archive"),
    ],
    ids=["cut gzip", "twice packed", "no zip at all", "cut zip"],
)
def test_a_bad_archive_says_what_is_wrong(data: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(data)
    for scratch in (None, tmp_path):
        with pytest.raises(LoadError) as caught:
            read_grid(tmp_path / "bad", scratch=scratch)
        assert caught.value.issues[0].code == code


@pytest.mark.parametrize(
    ("limits", "code"),
    [({"columns": 3}, "too_many_columns"), ({"cells": 100}, "too_many_cells"), ({"file_bytes": 10}, "too_big")],
)
def test_a_limit_is_named_when_it_is_passed(limits: dict[str, int], code: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        read_grid((HEAD + body(100)).encode(), limits=replace(ReadLimits(), **limits))
    assert caught.value.issues[0].code == code


def test_a_scanned_grid_is_written_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(PLAIN["plain"].encode())
    write_cells(read_grid(path, limits=BIG), tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv", infer_schema=False).equals(pl.read_csv(path, infer_schema=False))
