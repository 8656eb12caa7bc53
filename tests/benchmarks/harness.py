"""Every benchmark in one run, each side by turns with the others: ratios as JSON and as a page with the machine's facts.

    python -m tests.benchmarks.harness [--rows 1000000] [--rounds 7] [--json OUT] [--page docs/benchmarks.md]

Sides of a question: `plan` (ours, from canonical Parquet), `hand` (Polars written by hand on the same file) and `again`
(the same once more: the control), `duck plain` and `duck enum` (DuckDB in memory, text plain or as ENUM), `duck parquet`
(DuckDB on plain-string Parquet), `memory` (our plan on rows that are in memory, as DuckDB's and pandas' are), `pandas`
(the plan run step by step by pandas). Wall time and processor time are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl

from qa.data.profile import profile
from qa.data.read import load
from qa.data.table import Table
from qa.engine.polars_engine import compiled, engine_for
from qa.engine.pool import Pool
from qa.engine.run import checked_plan
from qa.engine.sql_code import readable_sql
from qa.plan.check import check
from qa.plan.plan import PlanReply, as_json
from qa.settings import Settings
from tests.benchmarks.compiled import (
    SAMPLES,
    group_questions,
    group_table,
    housing_questions,
    join_questions,
    join_tables,
    loaded,
)
from tests.benchmarks.pandas_plans import executed

Run = Callable[[], Any]
COMPARED = {
    "plan ÷ hand": ("plan", "hand", "wall"), "control (hand ÷ hand)": ("again", "hand", "wall"), "memory ÷ duck plain": ("memory", "duck plain", "wall"),
    "memory ÷ duck enum": ("memory", "duck enum", "wall"), "parquet ÷ duck parquet": ("plan", "duck parquet", "wall"), "pandas ÷ memory, processor": ("pandas", "memory", "cpu"),
}  # fmt: skip


class InMemory:
    """A table whose rows are held, coded as the canonical Parquet codes them."""

    def __init__(self, table: Table) -> None:
        self.rows, self.held = table.rows, table.scan().collect()

    def scan(self, row_number: str | None = None) -> pl.LazyFrame:
        return self.held.lazy().with_row_index(row_number) if row_number else self.held.lazy()


def ducks(tables: Mapping[str, Table], folder: Path) -> dict[str, Any]:
    """Connections that hold the tables in each of the ways DuckDB can be fed."""
    found = {name: duckdb.connect(config={"threads": 2}) for name in ("duck plain", "duck enum", "duck parquet")}
    for name, table in tables.items():
        frame = table.frame
        plain = frame.with_columns(
            pl.col(c).cast(pl.String) for c, d in frame.schema.items() if d in (pl.Enum, pl.Categorical)
        )
        path = folder / f"plain-{name}.parquet"
        plain.write_parquet(path)
        found["duck plain"].execute(f"CREATE TABLE {name} AS FROM '{path}'")
        found["duck parquet"].execute(f"CREATE VIEW {name} AS FROM '{path}'")
        coded = [c for c, d in frame.schema.items() if d in (pl.Enum, pl.Categorical)]
        kinds = []
        for place, c in enumerate(coded):
            found["duck enum"].execute(
                f'CREATE TYPE {name}_{place} AS ENUM (SELECT DISTINCT "{c}" FROM \'{path}\' WHERE "{c}" IS NOT NULL ORDER BY 1)'
            )
            kinds.append(f'"{c}"::{name}_{place} AS "{c}"')
        replaced = f" REPLACE ({', '.join(kinds)})" if kinds else ""
        found["duck enum"].execute(f"CREATE TABLE {name} AS SELECT *{replaced} FROM '{path}'")
    return found


def sides(
    reply: PlanReply,
    hand: Callable[[], pl.LazyFrame],
    tables: dict[str, Table],
    held: dict[str, Any],
    sql: dict[str, Any],
    frames: dict[str, pd.DataFrame],
) -> dict[str, Run]:
    plan, engine = checked_plan(reply, tables), engine_for(tables)
    ready, in_memory, text, written = compiled(plan, tables), compiled(plan, held), readable_sql(plan), as_json(reply)
    return {
        "plan": lambda: ready.collect(engine=engine), "hand": lambda: hand().collect(engine=engine), "again": lambda: hand().collect(engine=engine),
        "memory": lambda: in_memory.collect(engine=engine), "pandas": lambda: executed(written, frames),
        **{name: lambda connection=connection: connection.sql(text).to_arrow_table() for name, connection in sql.items()},
    }  # fmt: skip


def timed(runs: dict[str, Run], rounds: int) -> dict[str, dict[str, float]]:
    """Median wall and processor milliseconds of each side, the sides by turns."""
    found: dict[str, dict[str, list[float]]] = {side: {"wall": [], "cpu": []} for side in runs}
    order = list(runs)
    for round_ in range(rounds + 1):
        turn = round_ % len(order)
        for side in order[turn:] + order[:turn]:
            wall, cpu = time.perf_counter(), time.process_time()
            runs[side]()
            took = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
            if round_:
                found[side]["wall"].append(took[0])
                found[side]["cpu"].append(took[1])
    return {
        side: {what: round(statistics.median(values), 3) for what, values in both.items()}
        for side, both in found.items()
    }


def questions(rows: int, rounds: int, folder: Path) -> dict[str, dict[str, Any]]:
    groups, joins = loaded({"g": group_table(rows, 100)}, folder), loaded(join_tables(rows), folder)
    (housing,) = load(SAMPLES / "housing.parquet", cache=folder / "cache")
    found: dict[str, dict[str, Any]] = {}
    for kind, tables, asked, times in (
        ("group-by", groups, group_questions(groups["g"]), 1), ("join", joins, join_questions(joins), 1), ("housing", {"housing": housing}, housing_questions(housing), 3),
    ):  # fmt: skip
        held: dict[str, Any] = {name: InMemory(table) for name, table in tables.items()}
        frames = {
            name: table.frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).to_pandas()
            for name, table in tables.items()
        }
        sql = ducks(tables, folder)
        for name, (reply, hand) in asked.items():
            found[name] = {"kind": kind, **timed(sides(reply, hand, tables, held, sql, frames), rounds * times)}
            print(
                f"{name:28s} "
                + "  ".join(f"{side} {both['wall']:.1f}" for side, both in found[name].items() if side != "kind"),
                flush=True,
            )
    return found


def ratios(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Geometric mean, smallest and largest of each comparison, a kind of question and in all."""
    told: dict[str, dict[str, float]] = {}
    for label, (top, bottom, what) in COMPARED.items():
        for kind in ("group-by", "join", "housing"):
            values = [one[top][what] / max(one[bottom][what], 1e-3) for one in found.values() if one["kind"] == kind]
            told[f"{label} · {kind}"] = {
                "mean": round(statistics.geometric_mean(values), 3),
                "least": round(min(values), 3),
                "most": round(max(values), 3),
            }
    return told


def profiles(rows: int, folder: Path) -> dict[str, float]:
    """CSV to ready, and the profile alone, beside DuckDB's reading and SUMMARIZE, by turns."""
    path = folder / "g.csv"
    group_table(rows, 100).write_csv(path)
    (table,) = load(path, cache=folder / "first")
    stored = folder / "stored.parquet"
    table.frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).write_parquet(stored)
    connection = duckdb.connect(config={"threads": 2})
    turn = iter(range(1000))
    runs: dict[str, Run] = {
        "csv ours": lambda: load(path, cache=folder / f"c{next(turn)}"),
        "csv duck": lambda: (
            connection.sql(f"CREATE OR REPLACE TABLE r AS FROM read_csv('{path}', sample_size=-1)")
            or connection.sql("SUMMARIZE r").fetchall()
        ),
        "profile ours": lambda: profile(
            table.path, name=table.name, digest=table.digest, rows=table.rows, columns=table.columns
        ),
        "profile duck": lambda: connection.sql(f"SUMMARIZE FROM '{stored}'").fetchall(),
    }
    told = timed(runs, 3)
    return {side: both["wall"] for side, both in told.items()}


def overheads(folder: Path) -> dict[str, float]:
    """Milliseconds that every question pays whatever its data: check, compile, worker, cross-check."""
    (folder / "small").mkdir()
    tables = loaded({"g": group_table(100_000, 100)}, folder / "small")
    reply, _ = group_questions(tables["g"])["q1 sum by id1"]
    pool = Pool(Settings(workers=1))
    try:
        results = pool.run(reply, tables)
        plan = check(reply, tables)
        told = timed({
            "check": lambda: check(reply, tables), "compile": lambda: compiled(plan, tables), "worker, plan run and told": lambda: pool.run(reply, tables),
            "cross-check": lambda: pool.crosscheck(reply, tables, results), "worker, check only": lambda: pool.check(reply, tables),
        }, 15)  # fmt: skip
    finally:
        pool.close()
    return {what: both["wall"] for what, both in told.items()}


def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "processor": model, "cores": os.cpu_count(), "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1), "system": platform.system(),
        "python": platform.python_version(), "polars": pl.__version__, "duckdb": duckdb.__version__, "pandas": pd.__version__, "load_before": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def page(told: dict[str, Any]) -> str:
    """The figures for people."""
    facts = told["machine"]
    busy = (
        " **The machine was busy with other work: trust the ratios, not the times.**"
        if facts["load_before"] > 1
        else ""
    )
    lines = [
        "# Benchmarks", "",
        f"Written by `make bench`. {facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB; Python {facts['python']}, Polars {facts['polars']}, DuckDB {facts['duckdb']}, "
        f"pandas {facts['pandas']}; load before the run {facts['load_before']}.{busy}", "",
        f"Tables of {told['rows']:,} rows after db-benchmark's description, and the housing sample; {told['rounds']} rounds, all sides by turns in one process. Below 1 ours is faster, except for pandas.", "",
        "| Ratio | geometric mean | least | most |", "|---|---|---|---|",
        *(f"| {label} | {r['mean']} | {r['least']} | {r['most']} |" for label, r in told["ratios"].items()), "",
        "`plan` reads the canonical Parquet, `memory` the same rows held in memory with their coding, `duck plain` and `duck enum` hold theirs, `duck parquet` reads plain-string Parquet. pandas is compared by processor time.", "",
        "| Milliseconds | median |", "|---|---|", *(f"| {what} | {ms:.1f} |" for what, ms in {**told["overheads"], **told["loading"]}.items()), "",
        "| Question, ms | " + " | ".join(SIDES) + " |", "|---|" + "---|" * len(SIDES),
        *(f"| {name} | " + " | ".join(f"{one[side]['wall']:.1f}" for side in SIDES) + " |" for name, one in told["questions"].items()), "",
    ]  # fmt: skip
    return "\n".join(lines)


SIDES = ("plan", "hand", "again", "memory", "duck plain", "duck enum", "duck parquet", "pandas")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json", type=Path)
    options.add_argument("--page", type=Path)
    chosen = options.parse_args()
    told: dict[str, Any] = {"machine": machine(), "rows": chosen.rows, "rounds": chosen.rounds}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told["overheads"] = overheads(folder)
        told["loading"] = profiles(chosen.rows, folder)
        told["questions"] = questions(chosen.rows, chosen.rounds, folder)
    told["ratios"] = ratios(told["questions"])
    print(json.dumps({key: told[key] for key in ("overheads", "loading", "ratios")}, indent=1))
    for path, text in ((chosen.json, json.dumps(told, indent=1)), (chosen.page, page(told))):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
