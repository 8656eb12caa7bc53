"""Whole question sets, where the shared folder stands beside the repository: none may be answered wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from qa.data.read import load
from qa.data.table import Table
from qa.planner.offline import plan

BENCH = Path(__file__).parents[3] / ".." / "shared" / "bench"
Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]


@lru_cache(maxsize=16)
def loaded(path: Path) -> list[Table]:
    return load(path)


def verdict(expected: dict[str, Any], rows: list[list[Any]]) -> bool:
    """True when the first row holds the value, or every expected group its number."""
    scale = 100 if expected.get("percent") else 1
    if "value" not in expected:
        found = {str(row[0]): row[1] for row in rows}
        return all(found.get(k) == pytest.approx(v, abs=0.005) for k, v in expected["means"].items())
    value = expected["value"]
    if isinstance(value, str):
        return str(rows[0][0]) == value or (rows[0][0] is True and value == "Yes")
    return any(
        abs(float(cell) * scale - value) <= expected.get("tol", 1e-6)
        for cell in rows[0]
        if isinstance(cell, int | float)
    )


@pytest.mark.parametrize(("folder", "least"), [("seed_cases", 20), ("adversarial", 18)])
def test_no_question_of_a_set_is_answered_wrongly(folder: str, least: int, answered: Answered) -> None:
    cases = BENCH / folder / "cases.jsonl"
    if not cases.exists():
        pytest.skip("the shared question sets are not beside this repository")
    right, wrong = 0, []
    for line in cases.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        tables = loaded(BENCH / folder / case["file"])
        reply = plan(case["question"], tables)
        if reply["reply"] != "plan":
            continue
        if verdict(case["expected"], answered(reply, tables)):
            right += 1
        else:
            wrong.append(case["question"])
    assert wrong == []
    assert right >= least


HOUSING = [
    ("how many metro-months had more than 10,000 active listings", "for_sale_inventory > 10000"),
    ("how many rows have median list price over $1M", "median_list_price > 1000000"),
    ("average median list price by state", "mean(median_list_price)"),
    ("average for-sale inventory by state", "mean(for_sale_inventory)"),
    ("top markets by new listings", "sum(new_listings)"),
    ("top metros by median list price", "mean(median_list_price)"),
    ("which markets have the highest new-listings-to-inventory ratio", "new_listings / for_sale_inventory"),
]


@pytest.mark.parametrize(("question", "formula"), HOUSING)
def test_the_housing_sample_answers_its_questions(
    question: str, formula: str, samples: Path, answered: Answered
) -> None:
    tables = loaded(samples / "housing.parquet")
    reply = plan(question, tables)
    assert reply["reply"] == "plan", reply
    assert formula in json.dumps(reply["parts"][0]["steps"])
    assert answered(reply, tables)
