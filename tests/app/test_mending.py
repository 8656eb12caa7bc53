"""One wrong word of a plan is set right where the issue points, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qa.data.read import load
from qa.ui.mending import mended
from qa.ui.plan_editor import problems
from qa.ui.session import Dataset

SALES = "Region,Net Amount,units\nNorth,10,1\nSouth,20,2\n"


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = Path(tmp_path_factory.mktemp("sales")) / "sales.csv"
    path.write_text(SALES, encoding="utf-8")
    return Dataset("k", "sales.csv", "", tuple(load(path)))


def plan(*steps: dict[str, Any], source: str = "sales") -> dict[str, Any]:
    return {"reply": "plan", "lets": [], "parts": [{"title": "t", "source": source, "steps": list(steps)}]}


def filtered(where: str) -> dict[str, Any]:
    return plan({"op": "filter", "where": where})


def summed(metric: str) -> dict[str, Any]:
    return plan({"op": "summarize", "by": ["Region"], "metrics": [metric]})


@pytest.mark.parametrize(
    ("wrong", "meant", "right"),
    [
        pytest.param(filtered("unitz > 1"), "units", filtered("units > 1"), id="a column"),
        pytest.param(
            filtered("contains(Region, 'unitz') and unitz > 1"),
            "units",
            filtered("contains(Region, 'unitz') and units > 1"),
            id="not the text in quotes",
        ),
        pytest.param(filtered("`Nett Amount` > 1"), "Net Amount", filtered("`Net Amount` > 1"), id="in backticks"),
        pytest.param(summed("meann(units) as m"), "mean", summed("mean(units) as m"), id="a function"),
        pytest.param(
            plan({"op": "limt", "n": 1, "order": ["units"]}),
            "limit",
            plan({"op": "limit", "n": 1, "order": ["units"]}),
            id="a step",
        ),
        pytest.param(
            plan({"op": "limit", "n": 1}, source="salez"), "sales", plan({"op": "limit", "n": 1}), id="a table"
        ),
        pytest.param(
            plan({"op": "summarize", "by": ["Regin"], "metrics": ["count() as n"]}),
            "Region",
            plan({"op": "summarize", "by": ["Region"], "metrics": ["count() as n"]}),
            id="a group",
        ),
    ],
)
def test_the_word_that_was_meant(sales: Dataset, wrong: dict[str, Any], meant: str, right: dict[str, Any]) -> None:
    issues = problems(wrong, sales)
    issue = next(issue for issue in issues if meant in issue.candidates)
    assert mended(wrong, issue, meant) == right


def test_what_is_not_found_is_not_guessed(sales: Dataset) -> None:
    issue = problems(filtered("unitz > 1"), sales)[0]
    assert mended(filtered("other > 1"), issue, "units") is None
    assert mended(plan(), issue, "units") is None
