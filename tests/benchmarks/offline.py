"""Warm time of offline answers over 100,000 rows, from the question to the finished answer.

    python tests/benchmarks/offline.py [--rows N] [--rounds N] [--out FILE]

One table with ids, dates, cities, products, amounts, shares and flags; each question is asked `rounds` times after one
that is not counted. The outcome is one JSON object: milliseconds by question and stage, and the median over all.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from qa import pipeline
from qa.data.read import load
from qa.data.table import Table
from qa.engine.pool import Pool
from qa.settings import Settings

QUESTIONS = (
    "How many orders are there?",
    "What is the average price?",
    "What is the total quantity by city?",
    "top 5 cities by total price",
    "average price by month",
    "How many orders have a price above 100?",
    "What percentage of orders were returned?",
    "average price in city 17",
    "Which product has the highest total quantity?",
    "correlation between price and quantity",
    "How many different products are there?",
    "median price by returned",
    "How many orders in 2016?",
    "average price of returned orders by city, highest first",
)


def orders(rows: int) -> pl.DataFrame:
    """Orders as a shop has them, from a fixed seed."""
    draw = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "order_id": np.arange(1, rows + 1),
            "day": np.datetime64("2015-01-01") + draw.integers(0, 1500, rows),
            "city": [f"city {n}" for n in draw.integers(0, 300, rows)],
            "product": [f"P{n:05d}" for n in draw.integers(0, 5_000, rows)],
            "customer": [f"{n:08x}" for n in draw.integers(0, 60_000, rows)],
            "quantity": draw.integers(1, 100, rows),
            "price": np.round(draw.gamma(2.0, 40.0, rows), 2),
            "discount": np.round(draw.random(rows), 4),
            "returned": draw.random(rows) < 0.1,
        }
    )


def measure(rows: int, rounds: int) -> dict[str, Any]:
    """Milliseconds by question (median over the rounds, with the stages of the last) and the median over questions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.csv"
        orders(rows).write_csv(path)
        settings = Settings(cache=Path(folder) / "cache", audit=Path(folder) / "audit.sqlite", workers=1)
        tables = load(path, cache=settings.cache)
        pool = Pool(settings)
        try:
            asked = {question: _asked(question, tables, settings, pool, rounds) for question in QUESTIONS}
        finally:
            pool.close()
    return {"rows": rows, "questions": asked, "median": statistics.median(row["total"] for row in asked.values())}


def _asked(question: str, tables: list[Table], settings: Settings, pool: Pool, rounds: int) -> dict[str, Any]:
    answers = [
        pipeline.ask(question, tables, settings=settings, planner="offline", pool=pool) for _ in range(rounds + 1)
    ]
    total = statistics.median(answer.timings["total"] for answer in answers[1:])
    return {"status": answers[-1].status, "total": round(total, 1), "stages": answers[-1].timings}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--rows", type=int, default=100_000)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--out", type=Path)
    given = asked.parse_args()
    found = json.dumps(measure(given.rows, given.rounds), indent=1)
    print(found)
    if given.out:
        given.out.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
