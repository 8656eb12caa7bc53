"""Time and memory of loading big delimited files, beside DuckDB on the same file in the same run.

    python tests/benchmarks/loading.py [--shape long|wide|text …] [--scale SHARE] [--runs N] [--out FILE]

Ours is `qa.data.read.load` into an empty cache: typed Parquet, profile and load report. DuckDB's is
`read_csv(sample_size=-1)` copied to Parquet, then SUMMARIZE of it. Each runs in a process of its own.
The outcome is one JSON object with seconds, processor seconds, peak memory and ratios (below 1: ours is faster);
on a busy machine the ratio of processor seconds is the steadier one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

REPOSITORY = Path(__file__).parents[2]
BATCH = 500_000

OURS = """
import sys, tempfile, pathlib
from qa.data.read import load
with tempfile.TemporaryDirectory() as cache:
    table, = load(sys.argv[1], cache=pathlib.Path(cache))
    print(table.rows, len(table.columns))
"""
DUCKDB = """
import sys, tempfile, pathlib, duckdb
duckdb.sql("set enable_progress_bar = false")
with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "out.parquet"
    duckdb.sql(f"copy (from read_csv('{sys.argv[1]}', sample_size=-1)) to '{out}'")
    print(duckdb.sql(f"select count(*) from '{out}'").fetchall()[0][0], len(duckdb.sql(f"summarize from '{out}'").fetchall()))
"""
LOADERS = {"ours": OURS, "duckdb": DUCKDB}
IMPORTS = {"ours": "import qa.data.read", "duckdb": "import duckdb"}


def long(rows: int, draw: np.random.Generator, start: int) -> pl.DataFrame:
    """Nine columns as sales data have them: ids, dates, codes, amounts, a share, a flag."""
    days = np.datetime64("2015-01-01") + draw.integers(0, 3650, rows)
    return pl.DataFrame(
        {
            "id": np.arange(start, start + rows),
            "day": days,
            "city": _picked([f"city {n}" for n in range(300)], draw, rows),
            "product": _picked([f"P{n:05d}" for n in range(5_000)], draw, rows),
            "quantity": draw.integers(1, 100, rows),
            "price": np.round(draw.gamma(2.0, 40.0, rows), 2),
            "share": np.round(draw.random(rows), 4),
            "returned": draw.random(rows) < 0.1,
            "code": draw.integers(10_000, 99_999, rows),
        }
    )


def wide(rows: int, draw: np.random.Generator, start: int) -> pl.DataFrame:
    """Five hundred columns of measures, whole and broken, with dates and codes among them."""
    columns: dict[str, Any] = {}
    for at in range(500):
        match at % 5:
            case 0:
                columns[f"count_{at}"] = draw.integers(0, 100_000, rows)
            case 1 | 2:
                columns[f"measure_{at}"] = np.round(draw.normal(100, 30, rows), 3)
            case 3:
                columns[f"group_{at}"] = _picked([f"group {n}" for n in range(40)], draw, rows)
            case _:
                columns[f"day_{at}"] = np.datetime64("2018-01-01") + draw.integers(0, 2000, rows)
    return pl.DataFrame(columns)


def text(rows: int, draw: np.random.Generator, start: int) -> pl.DataFrame:
    """Four columns of which two are near-unique text, quoted where a comma is inside."""
    return pl.DataFrame(
        {
            "key": [f"{n:x}-{start}" for n in draw.integers(0, 1 << 60, rows)],
            "name": [f"Name {n}, given {n % 977}" for n in draw.integers(0, 1 << 40, rows)],
            "kind": _picked(["a", "b", "c"], draw, rows),
            "amount": np.round(draw.gamma(2.0, 40.0, rows), 2),
        }
    )


def _picked(values: list[str], draw: np.random.Generator, rows: int) -> pl.Series:
    return pl.Series(values).gather(draw.integers(0, len(values), rows))


SHAPES: dict[str, tuple[Callable[[int, np.random.Generator, int], pl.DataFrame], int]] = {
    "long": (long, 10_000_000),
    "wide": (wide, 20_000),
    "text": (text, 2_000_000),
}
"""shape -> what makes its rows, and how many there are at scale 1"""


def made(shape: str, scale: float, folder: Path) -> Path:
    """The file of a shape; the same bytes at every run."""
    make, full = SHAPES[shape]
    draw, rows = np.random.default_rng(7), int(full * scale)
    path = folder / f"{shape}.csv"
    with path.open("wb") as file:
        for start in range(0, rows, BATCH):
            make(min(BATCH, rows - start), draw, start).write_csv(file, include_header=start == 0)
    return path


def run(code: str, *arguments: str) -> dict[str, Any]:
    """Seconds, processor seconds and peak memory of a process of its own."""
    measured = (
        "import os, sys, time, subprocess, json\n"
        "start = time.perf_counter()\n"
        "out = subprocess.run([sys.executable, '-c', *sys.argv[1:]], capture_output=True, text=True)\n"
        "took = time.perf_counter() - start\n"
        "import resource\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps({'seconds': took, 'cpu_seconds': used.ru_utime + used.ru_stime, "
        "'peak_mb': round(used.ru_maxrss / 1024), 'said': out.stdout.strip() or out.stderr[-500:]}))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", measured, code, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    return dict(json.loads(out.stdout))


def measure(shape: str, scale: float, runs: int) -> dict[str, Any]:
    """Both loaders on one file by turns, the best of each, the time of their imports taken off."""
    with tempfile.TemporaryDirectory(prefix="qa-loading-") as folder:
        path = made(shape, scale, Path(folder))
        figures: dict[str, Any] = {"shape": shape, "bytes": path.stat().st_size}
        idle = {who: run(code) for who, code in IMPORTS.items()}
        tries: dict[str, list[dict[str, Any]]] = {who: [] for who in LOADERS}
        for _ in range(runs):
            for who, code in LOADERS.items():
                tries[who].append(run(code, str(path)))
        for who, told in tries.items():
            figures[who] = {
                "seconds": round(min(one["seconds"] for one in told) - idle[who]["seconds"], 2),
                "cpu_seconds": round(min(one["cpu_seconds"] for one in told) - idle[who]["cpu_seconds"], 2),
                "peak_mb": max(one["peak_mb"] for one in told),
            }
        said = {one["said"] for told in tries.values() for one in told}
        assert len(said) == 1, said
    return figures | {
        f"{what}_ratio": round(figures["ours"][what] / figures["duckdb"][what], 3)
        for what in ("seconds", "cpu_seconds")
    }


def main() -> None:
    """Measures what was asked for and prints the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="default: all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of rows")
    parser.add_argument("--runs", type=int, default=1, help="the best of so many counts")
    parser.add_argument("--out", type=Path, help="also write the JSON there")
    options = parser.parse_args()
    told = json.dumps(
        {"loads": [measure(shape, options.scale, options.runs) for shape in options.shape or SHAPES]}, indent=1
    )
    print(told)
    if options.out:
        options.out.write_text(told + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
