"""Mutated files of every format end in a table with a report or in a clear error, and leave nothing behind.

QA_MUTANTS sets how many are tried (150 without it); QA_MUTANTS_SEED begins elsewhere.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from qa.data.options import Limits
from qa.data.read import ReadOptions, load
from qa.errors import LoadError

MUTANTS = int(os.environ.get("QA_MUTANTS", "150"))
SEED = int(os.environ.get("QA_MUTANTS_SEED", "1"))
LIMITS = Limits(bytes=30_000_000, columns=2_000, cells=5_000_000, rows=1_000_000)

ROWS = [
    {"id": i, "name": f"Näme {i}, {'x' * (i % 7)}", "day": f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}", "amount": i * 1.25, "ok": i % 3 == 0}
    for i in range(60)
]  # fmt: skip


def delimited(mark: str = ",") -> bytes:
    lines = [mark.join(ROWS[0])] + [mark.join(f'"{cell}"' if mark in str(cell) else str(cell) for cell in row.values()) for row in ROWS]  # fmt: skip
    return ("\n".join(lines) + "\n").encode()


def parquet() -> bytes:
    target = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(target)
    return target.getvalue()


def arrow() -> bytes:
    target = io.BytesIO()
    pl.DataFrame(ROWS).write_ipc(target)
    return target.getvalue()


def workbook() -> bytes:
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Data")
        sheet.write_row(0, 0, list(ROWS[0]))
        for number, row in enumerate(ROWS, 1):
            sheet.write_row(number, 0, list(row.values()))
        sheet.merge_range(70, 0, 71, 2, "a note")
        book.add_worksheet("Second").write_column(0, 0, ["x", 1, 2, 3])
    return target.getvalue()


def sqlite() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("create table things (id integer, name text, day text, amount real, ok integer)")
        connection.executemany("insert into things values (:id, :name, :day, :amount, :ok)", ROWS)
        connection.commit()
        connection.close()
        return path.read_bytes()


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", delimited())
        archive.writestr("readme.txt", "what it is")
    return target.getvalue()


MAKERS: dict[str, Callable[[], bytes]] = {
    "t.csv": delimited,
    "t.tsv": lambda: delimited("\t"),
    "t16.csv": lambda: delimited(";").decode().encode("utf-16"),
    "t.json": lambda: json.dumps(ROWS).encode(),
    "t.ndjson": lambda: "\n".join(map(json.dumps, ROWS)).encode(),
    "t.parquet": parquet,
    "t.arrow": arrow,
    "t.xlsx": workbook,
    "t.sqlite": sqlite,
    "t.csv.gz": lambda: gzip.compress(delimited()),
    "t.json.gz": lambda: gzip.compress(json.dumps(ROWS).encode()),
    "t.zip": zipped,
}


def flipped(data: bytearray, draw: random.Random) -> bytes:
    for _ in range(draw.choice([1, 2, 8, 40])):
        data[draw.randrange(len(data))] = draw.choice([0, 10, 13, 34, 44, 92, 255, draw.randrange(256)])
    return bytes(data)


def shortened(data: bytearray, draw: random.Random) -> bytes:
    at = draw.randrange(len(data))
    return bytes(data[:at] if draw.random() < 0.6 else data[at:])


def holed(data: bytearray, draw: random.Random) -> bytes:
    at = draw.randrange(len(data))
    del data[at : at + draw.choice([1, 4, 100, 1000])]
    return bytes(data)


def repeated(data: bytearray, draw: random.Random) -> bytes:
    at = draw.randrange(len(data))
    part = data[at : at + draw.choice([1, 3, 50, 500])]
    return bytes(data[:at] + part * draw.choice([2, 20, 300]) + data[at:])


def nested(data: bytearray, draw: random.Random) -> bytes:
    for _ in range(draw.choice([1, 2])):
        data = bytearray(gzip.compress(bytes(data)))
    return bytes(data)


def glued(data: bytearray, draw: random.Random) -> bytes:
    return bytes(data + data[draw.randrange(len(data)) :])


CHANGES = (flipped, flipped, flipped, shortened, holed, repeated, nested, glued)
ORIGINALS = {name: make() for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_each_original_is_a_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(ORIGINALS[name])
    assert load(path, cache=tmp_path / "cache")[0].frame["amount"].sum() == sum(range(60)) * 1.25


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(10))
def test_a_mutant_is_a_table_or_a_clear_error(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for number in range(part, MUTANTS, 10):
        draw = random.Random(SEED * 1_000_003 + number)
        name = draw.choice(list(MAKERS))
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(draw.choice(CHANGES)(bytearray(ORIGINALS[name]), draw) or b"\0")
        cache = tmp_path / f"cache-{number}"
        try:
            tables = load(path, options=ReadOptions(limits=LIMITS), cache=cache)
        except LoadError as error:
            assert error.issues and all(len(issue.message) < 500 for issue in error.issues), number
            assert not list(cache.iterdir()), number
        else:
            assert all(table.frame.height == table.rows == table.report.rows_out for table in tables), number
        assert not list(scratch.iterdir()), number
        path.unlink()
