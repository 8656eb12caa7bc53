"""Tables bigger than memory: five gigabytes of Parquet and two of CSV under a limit of one, question by question.

    python -m tests.benchmarks.memory [--parquet-gb 5] [--csv-gb 2] [--limit-mb 1024] [--folder DIR] [--json OUT]

Each question runs in a worker of its own through the pool, with the limit that a server sets. Told: seconds, the most
memory that the worker held (`VmHWM` of the kernel: resident pages, mapped files included, and `RssAnon`, sampled, its
own alone), and whether it was answered or refused beforehand with a reason. The files are deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from qa.data.read import ReadOptions, load_isolated
from qa.data.table import LoadReport, Profile, Table
from qa.engine.pool import Pool
from qa.errors import QAError
from qa.plan.plan import parse_reply
from qa.settings import Settings
from qa.types import Column, Kind, Role

BATCH = 2_000_000
REGIONS = [f"region {n:02d}" for n in range(20)]
PARQUET_ROW, CSV_ROW = 50, 68
"""bytes of a row, about"""

QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "filter and count": [{"op": "filter", "where": "v1 > 0.999 and region == 'region 07'"}, {"op": "summarize", "by": [], "metrics": ["count() as n", "sum(v2) as s"]}],
    "group by 20": [{"op": "summarize", "by": ["region"], "metrics": ["count() as n", "sum(v1) as a", "mean(v2) as b", "max(v3) as c"]}],
    "group by 10,000": [{"op": "summarize", "by": ["product"], "metrics": ["sum(v1) as a", "mean(v4) as b"]}],
    "join to a small table": [
        {"op": "join", "table": "products", "how": "left", "on": ["product"]}, {"op": "summarize", "by": ["family"], "metrics": ["sum(v1) as a", "count() as n"]},
    ],
    "top 10": [{"op": "limit", "n": 10, "order": ["v5 desc"]}, {"op": "select", "columns": ["id", "v5"]}],
    "distinct products": [{"op": "summarize", "by": [], "metrics": ["count_distinct(product) as n"]}],
    "distinct customers": [{"op": "summarize", "by": [], "metrics": ["count_distinct(customer) as n"]}],
    "top 10 customers": [{"op": "summarize", "by": ["customer"], "metrics": ["sum(v1) as a"]}, {"op": "limit", "n": 10, "order": ["a desc"]}],
    "distinct ids": [{"op": "summarize", "by": [], "metrics": ["count_distinct(id) as n"]}],
    "median": [{"op": "summarize", "by": [], "metrics": ["median(v1) as m"]}],
    "sort all": [{"op": "sort", "order": ["v1 desc"]}],
}  # fmt: skip


def batch(rows: int, start: int, draw: np.random.Generator) -> dict[str, Any]:
    return {
        "id": np.arange(start, start + rows), "region": draw.integers(0, 20, rows), "product": draw.integers(0, 10_000, rows),
        "customer": draw.integers(0, 1_000_000, rows), **{f"v{n}": draw.random(rows) for n in range(1, 6)},
    }  # fmt: skip


def columns(table: str, kinds: dict[str, Kind], rows: int) -> tuple[Column, ...]:
    return tuple(
        Column(id=f"c{place}", name=name, kind=kind, role=Role.ID if name == "id" else None, owner=table, origin=(table, f"c{place}"), nullable=False)
        for place, (name, kind) in enumerate(kinds.items())
    )  # fmt: skip


def as_table(name: str, path: Path, kinds: dict[str, Kind], rows: int) -> Table:
    """A table over a canonical Parquet that is there already."""
    found = columns(name, kinds, rows)
    report = LoadReport(
        file=path.name, format="parquet", rows_in=rows, rows_out=rows, columns_in=len(found), columns_out=len(found)
    )
    profile = Profile(name=name, digest=path.stem, rows=rows, columns=())
    return Table(name=name, path=path, columns=found, rows=rows, digest=path.stem, profile=profile, report=report)


def big_parquet(path: Path, gigabytes: float) -> Table:
    """Canonical Parquet of that size: nine columns, numbers that do not compress."""
    rows, draw = int(gigabytes * 1e9 / PARQUET_ROW), np.random.default_rng(11)
    kinds = {"id": Kind.INTEGER, "region": Kind.TEXT, "product": Kind.INTEGER, "customer": Kind.INTEGER} | {
        f"v{n}": Kind.NUMBER for n in range(1, 6)
    }
    writer = None
    for start in range(0, rows, BATCH):
        made = batch(min(BATCH, rows - start), start, draw)
        made["region"] = pa.DictionaryArray.from_arrays(pa.array(made["region"], pa.int32()), pa.array(REGIONS))
        arrow = pa.table({f"c{place}": values for place, values in enumerate(made.values())})
        writer = writer or pq.ParquetWriter(
            path, arrow.schema, compression="zstd", compression_level=1, use_dictionary=["c1"]
        )
        writer.write_table(arrow, row_group_size=250_000)
    assert writer is not None
    writer.close()
    return as_table("sales", path, kinds, rows)


def big_csv(path: Path, gigabytes: float) -> int:
    rows, draw = int(gigabytes * 1e9 / CSV_ROW), np.random.default_rng(12)
    with path.open("wb") as file:
        for start in range(0, rows, BATCH):
            made = batch(min(BATCH, rows - start), start, draw)
            frame = pl.DataFrame(made).with_columns(pl.col(f"v{n}").round(6) for n in range(1, 6))
            frame = frame.with_columns(
                pl.col("region").replace_strict(list(range(20)), REGIONS, return_dtype=pl.String)
            )
            frame.write_csv(file, include_header=start == 0)
    return rows


class Watch:
    """The memory of a worker while a question runs."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.own, self.peak = pool, 0.0, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            for worker in list(self.pool._busy):
                try:
                    lines = Path(f"/proc/{worker.process.pid}/status").read_text().splitlines()
                except OSError:
                    continue
                told = {
                    line.split(":")[0]: int(line.split()[1]) / 1024
                    for line in lines
                    if line.startswith(("VmHWM", "RssAnon"))
                }
                self.own, self.peak = max(self.own, told.get("RssAnon", 0)), max(self.peak, told.get("VmHWM", 0))


def answered(pool: Pool, tables: dict[str, Table], source: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": source, "steps": steps}]})
    started, outcome = time.perf_counter(), "answered"
    with Watch(pool) as watch:
        try:
            (result,) = pool.run(reply, tables)  # type: ignore[arg-type]
            outcome = f"answered, {result.total_rows:,} rows"
        except QAError as error:
            outcome = f"{error.issues[0].code}: {error.issues[0].message}"
    return {
        "outcome": outcome,
        "seconds": round(time.perf_counter() - started, 1),
        "own_mb": round(watch.own),
        "resident_mb": round(watch.peak),
    }


def measured(tables: dict[str, Table], source: str, limit: int, only: list[str]) -> dict[str, Any]:
    found = {}
    for question, steps in QUESTIONS.items():
        if only and question not in only:
            continue
        pool = Pool(Settings(query_memory_mb=limit, query_seconds=900, workers=1))
        try:
            found[question] = answered(pool, tables, source, steps)
        finally:
            pool.close()
        print(f"{source:8s} {question:24s} {found[question]}", flush=True)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--parquet-gb", type=float, default=5)
    options.add_argument("--csv-gb", type=float, default=2)
    options.add_argument("--limit-mb", type=int, default=1024)
    options.add_argument("--folder", type=Path)
    options.add_argument("--question", action="append", default=[])
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    free = shutil.disk_usage(chosen.folder or tempfile.gettempdir()).free / 1e9
    if free < 1.5 * (chosen.parquet_gb + 2 * chosen.csv_gb):
        raise SystemExit(f"{free:.0f} GB are free, which is too little; take smaller files")
    told: dict[str, Any] = {"limit_mb": chosen.limit_mb}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        small = pl.DataFrame({"c0": range(10_000), "c1": [f"family {n % 50}" for n in range(10_000)]})
        small.write_parquet(folder / "products.parquet")
        products = as_table(
            "products", folder / "products.parquet", {"product": Kind.INTEGER, "family": Kind.TEXT}, 10_000
        )
        if chosen.parquet_gb:
            sales = big_parquet(folder / "sales.parquet", chosen.parquet_gb)
            told["parquet"] = {"gb": round(sales.path.stat().st_size / 1e9, 2), "rows": sales.rows}
            print(told["parquet"], flush=True)
            told["parquet"]["questions"] = measured(
                {"sales": sales, "products": products}, "sales", chosen.limit_mb, chosen.question
            )
            sales.path.unlink()
        if chosen.csv_gb:
            told["csv"] = csv(folder, products, chosen.csv_gb, chosen.limit_mb, chosen.question)
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


def csv(folder: Path, products: Table, gigabytes: float, limit: int, only: list[str]) -> dict[str, Any]:
    """A CSV read by the loader in its child under a limit, then asked."""
    path = folder / "orders.csv"
    rows, started = big_csv(path, gigabytes), time.perf_counter()
    told: dict[str, Any] = {"gb": round(path.stat().st_size / 1e9, 2), "rows": rows}
    limits = ReadOptions().limits.model_copy(update={"seconds": 1800, "memory_mb": limit})
    try:
        (table,) = load_isolated(path, name="orders", cache=folder / "cache", options=ReadOptions(limits=limits))
    except QAError as error:
        return told | {"load": str(error), "seconds": round(time.perf_counter() - started, 1)}
    told |= {"load": "read", "seconds": round(time.perf_counter() - started, 1)}
    print(told, flush=True)
    return told | {"questions": measured({"orders": table, "products": products}, "orders", limit, only)}


if __name__ == "__main__":
    main()
