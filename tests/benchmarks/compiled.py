"""Compiled plans against hand-written Polars, interleaved in one process with an A/A control.

`python -m tests.benchmarks.compiled [--rows 1000000] [--rounds 15] [--json OUT]`. The tables follow the public
description of db-benchmark's generator (group-by: seed 108, K groups; join: keys 0.9 common), written here in NumPy.
Both sides read the same canonical Parquet with the same engine, so a ratio is the cost of the plan's meaning.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qa.data.read import load
from qa.data.table import Table
from qa.engine.polars_engine import compiled, engine_for
from qa.plan.check import check
from qa.plan.plan import PlanReply, parse_reply

Frame = Callable[[], pl.LazyFrame]
SAMPLES = Path(__file__).parents[2] / "sample_data"


def group_table(rows: int, groups: int) -> pl.DataFrame:
    """db-benchmark's G1 table without missing values."""
    make = np.random.default_rng(108)
    many = max(rows // groups, 1)
    texts = pl.Series([f"id{i:03d}" for i in range(1, groups + 1)])
    long_texts = pl.Series([f"id{i:010d}" for i in range(1, many + 1)])
    return pl.DataFrame({
        "id1": texts.gather(make.integers(0, groups, rows)), "id2": texts.gather(make.integers(0, groups, rows)),
        "id3": long_texts.gather(make.integers(0, many, rows)), "id4": make.integers(1, groups + 1, rows),
        "id5": make.integers(1, groups + 1, rows), "id6": make.integers(1, many + 1, rows),
        "v1": make.integers(1, 6, rows), "v2": make.integers(1, 16, rows), "v3": (make.random(rows) * 100).round(6),
    })  # fmt: skip


def join_tables(rows: int) -> dict[str, pl.DataFrame]:
    """db-benchmark's left table with a small and a medium right one; nine keys of ten are common."""
    make = np.random.default_rng(108)
    tables: dict[str, pl.DataFrame] = {}
    small, medium = max(rows // 1_000_000, 10), max(rows // 1_000, 10)
    left: dict[str, Any] = {"v1": (make.random(rows) * 100).round(6)}
    for name, size, key in (("small", small, "id1"), ("medium", medium, "id2")):
        keys = make.permutation(int(size * 1.1)) + 1
        common, right_only = keys[: int(size * 0.9)], keys[int(size * 0.9) : size]
        left_only = keys[size:]
        pool = np.concatenate([common, left_only if len(left_only) else common[:1]])
        left[key] = pool[make.integers(0, len(pool), rows)]
        right = make.permutation(np.concatenate([common, right_only]))
        tables[name] = pl.DataFrame({key: right, f"v_{name}": (make.random(len(right)) * 100).round(6)})
    return {"x": pl.DataFrame(left), **tables}


def loaded(frames: dict[str, pl.DataFrame], folder: Path) -> dict[str, Table]:
    found = {}
    for name, frame in frames.items():
        frame.write_parquet(folder / f"{name}.parquet")
        (found[name],) = load(folder / f"{name}.parquet", cache=folder / "cache")
    return found


def plan(source: str, *steps: dict[str, Any]) -> PlanReply:
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": source, "steps": list(steps)}]})
    assert isinstance(reply, PlanReply)
    return reply


def summary(source: str, by: list[str], *metrics: str) -> PlanReply:
    return plan(source, {"op": "summarize", "by": by, "metrics": list(metrics)})


def group_questions(table: Table) -> dict[str, tuple[PlanReply, Frame]]:
    """The ten group-by questions, each as a plan and by hand; the hand-written side sorts by its keys too."""
    id_, scan = {c.name: pl.col(c.id) for c in table.columns}, table.scan

    def by_hand(by: list[str], *values: pl.Expr) -> Frame:
        keys = [id_[key] for key in by]
        return lambda: scan().group_by(keys).agg(*values).sort(keys)

    v1, v2, v3 = id_["v1"], id_["v2"], id_["v3"]
    return {
        "q1 sum by id1": (summary("g", ["id1"], "sum(v1) as a"), by_hand(["id1"], v1.sum())),
        "q2 sum by id1 id2": (summary("g", ["id1", "id2"], "sum(v1) as a"), by_hand(["id1", "id2"], v1.sum())),
        "q3 sum, mean by id3": (summary("g", ["id3"], "sum(v1) as a", "mean(v3) as b"), by_hand(["id3"], v1.sum(), v3.mean())),
        "q4 means by id4": (summary("g", ["id4"], "mean(v1) as a", "mean(v2) as b", "mean(v3) as c"), by_hand(["id4"], v1.mean(), v2.mean(), v3.mean())),
        "q5 sums by id6": (summary("g", ["id6"], "sum(v1) as a", "sum(v2) as b", "sum(v3) as c"), by_hand(["id6"], v1.sum(), v2.sum(), v3.sum())),
        "q6 median, sd by id4 id5": (summary("g", ["id4", "id5"], "median(v3) as a", "std(v3) as b"), by_hand(["id4", "id5"], v3.median(), v3.std().alias("b"))),
        "q7 max - min by id3": (summary("g", ["id3"], "max(v1) - min(v2) as a"), by_hand(["id3"], v1.max() - v2.min())),
        "q8 two largest by id6": (
            plan("g", {"op": "limit", "n": 2, "order": ["v3 desc"], "by": ["id6"]}, {"op": "select", "columns": ["id6", "v3"]}),
            # Sorting inside each group beats a sort of the whole followed by head(2).
            lambda: scan().group_by(id_["id6"]).agg(v3.sort(descending=True, nulls_last=True).head(2)).explode(v3).sort(id_["id6"], v3, descending=[False, True], nulls_last=True),
        ),
        "q9 r2 by id2 id4": (summary("g", ["id2", "id4"], "corr(v1, v2)^2 as a"), by_hand(["id2", "id4"], pl.corr(v1, v2) ** 2)),
        "q10 sum, count by six": (summary("g", ["id1", "id2", "id3", "id4", "id5", "id6"], "sum(v3) as a", "count() as n"), by_hand(["id1", "id2", "id3", "id4", "id5", "id6"], v3.sum(), pl.len())),
    }  # fmt: skip


def join_questions(tables: dict[str, Table]) -> dict[str, tuple[PlanReply, Frame]]:
    """Small and medium joins on whole-number keys, summed so that the result is one row."""
    x = {c.name: c.id for c in tables["x"].columns}

    def by_hand(name: str, key: str, how: Any) -> Frame:
        right = {c.name: c.id for c in tables[name].columns}
        other = tables[name].scan().select(pl.col(right[key]).alias("k"), pl.col(right[f"v_{name}"]).alias("w"))
        return lambda: (
            tables["x"]
            .scan()
            .join(other, left_on=x[key], right_on="k", how=how)
            .select(pl.col(x["v1"]).sum(), pl.col("w").sum())
        )

    def planned(name: str, key: str, how: str) -> PlanReply:
        return plan(
            "x",
            {"op": "join", "table": name, "how": how, "on": [key]},
            {"op": "summarize", "by": [], "metrics": ["sum(v1) as a", f"sum(v_{name}) as b"]},
        )

    return {
        "join small inner": (planned("small", "id1", "inner"), by_hand("small", "id1", "inner")),
        "join medium inner": (planned("medium", "id2", "inner"), by_hand("medium", "id2", "inner")),
        "join medium left": (planned("medium", "id2", "left"), by_hand("medium", "id2", "left")),
    }


def housing_questions(table: Table) -> dict[str, tuple[PlanReply, Frame]]:
    """Questions of the housing sample."""
    c, scan = {column.name: pl.col(column.id) for column in table.columns}, table.scan
    price, state, stock, listed, region = (
        c[n] for n in ("median_list_price", "state_code", "for_sale_inventory", "new_listings", "region_name")
    )
    top = {"op": "limit", "n": 10, "order": ["p desc"]}
    return {
        "top metros by price": (plan("housing", {"op": "summarize", "by": ["region_name"], "metrics": ["mean(median_list_price) as p"]}, top),
            lambda: scan().group_by(region).agg(price.mean().alias("p")).sort("p", region, descending=[True, False], nulls_last=True).head(10)),
        "mean price by state": (summary("housing", ["state_code"], "mean(median_list_price) as p"), lambda: scan().group_by(state).agg(price.mean()).sort(state)),
        "months over 10,000": (plan("housing", {"op": "filter", "where": "for_sale_inventory > 10000"}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}), lambda: scan().filter(stock > 10000).select(pl.len())),
        "mean stock by state": (summary("housing", ["state_code"], "mean(for_sale_inventory) as p"), lambda: scan().group_by(state).agg(stock.mean()).sort(state)),
        "top by listings": (plan("housing", {"op": "summarize", "by": ["region_name"], "metrics": ["sum(new_listings) as p"]}, top),
            lambda: scan().group_by(region).agg(listed.sum().alias("p")).sort("p", region, descending=[True, False], nulls_last=True).head(10)),
        "rows over 1M": (plan("housing", {"op": "filter", "where": "median_list_price > 1000000"}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}), lambda: scan().filter(price > 1_000_000).select(pl.len())),
        "highest ratio": (plan("housing", {"op": "summarize", "by": ["region_name"], "metrics": ["sum(new_listings) / sum(for_sale_inventory) as p"]}, top),
            lambda: scan().group_by(region).agg((listed.sum() / stock.sum()).alias("p")).sort("p", region, descending=[True, False], nulls_last=True).head(10)),
    }  # fmt: skip


def measured(
    questions: dict[str, tuple[PlanReply, Frame]], tables: dict[str, Table], rounds: int
) -> list[dict[str, Any]]:
    """For each question the median milliseconds by plan and by hand (twice), and their ratios."""
    engine, results = engine_for(tables), []
    for name, (reply, by_hand) in questions.items():
        ready = compiled(check(reply, tables), tables)
        sides: list[tuple[str, Callable[[], Any]]] = [
            ("plan", lambda ready=ready: ready.collect(engine=engine)),
            ("hand", lambda by_hand=by_hand: by_hand().collect(engine=engine)),
            ("again", lambda by_hand=by_hand: by_hand().collect(engine=engine)),
        ]
        times: dict[str, list[float]] = {side: [] for side, _ in sides}
        for round_ in range(rounds + 1):
            for side, run in sides[round_ % 3 :] + sides[: round_ % 3]:
                started = time.perf_counter()
                run()
                if round_:
                    times[side].append((time.perf_counter() - started) * 1000)
        median = {side: statistics.median(values) for side, values in times.items()}
        results.append({
            "question": name, "plan_ms": round(median["plan"], 2), "hand_ms": round(median["hand"], 2),
            "ratio": round(median["plan"] / median["hand"], 3), "control": round(median["again"] / median["hand"], 3),
        })  # fmt: skip
        print(
            f"{name:28s} plan {median['plan']:9.2f} ms  hand {median['hand']:9.2f} ms  ratio {results[-1]['ratio']:.3f}  control {results[-1]['control']:.3f}",
            flush=True,
        )
    return results


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        groups = loaded({"g": group_table(chosen.rows, 100)}, folder)
        joins = loaded(join_tables(chosen.rows), folder)
        (housing,) = load(SAMPLES / "housing.parquet", cache=folder / "cache")
        rows = measured(group_questions(groups["g"]), groups, chosen.rounds)
        rows += measured(join_questions(joins), joins, chosen.rounds)
        rows += measured(housing_questions(housing), {"housing": housing}, chosen.rounds * 3)
    ratios = [row["ratio"] for row in rows]
    print(
        f"median ratio {statistics.median(ratios):.3f}, geometric mean {statistics.geometric_mean(ratios):.3f}, worst {max(ratios):.3f}; Python {sys.version.split()[0]}, Polars {pl.__version__}"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
