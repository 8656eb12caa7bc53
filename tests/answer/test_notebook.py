"""An answer as a notebook: valid, readable, and its cells give the answer's table."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.answer.answer import AnswerPart
from qa.answer.notebook import notebook
from qa.engine.crosscheck import differs
from qa.errors import PlanError
from qa.pipeline import run_plan
from tests.tables import table

SALES = {"region": ["North", "South", "North", "East"], "amount": [3.0, 2.0, 1.5, None], "day": ["2024-01-05", "2024-02-01", "2024-02-09", "2024-03-01"]}  # fmt: skip
TOTAL = {"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total"]}
TOP = {"name": "top", "source": "sales", "steps": [TOTAL, {"op": "limit", "n": 1, "order": ["total desc"]}]}
PLANS: dict[str, dict[str, Any]] = {
    "steps": {"parts": [{"title": "Totals", "source": "sales", "steps": [{"op": "filter", "where": "amount > 1"}, TOTAL]}]},
    "dates": {"parts": [{"title": "Since February", "source": "sales", "steps": [{"op": "filter", "where": "day >= '2024-02-01'"}]}]},
    "a let": {"lets": [TOP], "parts": [{"title": "Rows of the top region", "source": "sales", "steps": [{"op": "filter", "where": "region in top.region"}]}]},
    "a test": {"parts": [{"title": "Are they normal?", "source": "sales", "steps": [{"op": "test", "kind": "shapiro", "columns": ["amount"]}]}]},
    "two parts": {"parts": [{"title": "Totals", "source": "sales", "steps": [TOTAL]}, {"title": "A line", "reading": "by day", "source": "sales", "steps": [{"op": "fit", "target": "amount", "predictors": ["date_diff('2024-01-01', day, 'day')"]}]}]},
}  # fmt: skip


def answered(plan: dict[str, Any]) -> tuple[AnswerPart, ...]:
    answer = run_plan({"reply": "plan", **plan}, [table("sales", SALES)], record=False)
    assert answer.status == "answered", answer.reason
    return answer.parts


def tables_of(text: str, folder: Path) -> list[pl.DataFrame]:
    """Runs every code cell in one namespace, in a folder that holds the table; gives what `result` cells show."""
    table("sales", SALES).frame.write_parquet(folder / "sales.parquet")
    names: dict[str, Any] = {}
    shown: list[pl.DataFrame] = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"].replace("scan_parquet('", f"scan_parquet('{folder}/")
            exec(compile(source, "cell", "exec"), names)
            last = ast.parse(source).body[-1]
            if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name):
                shown.append(names[last.value.id])
    return shown


@pytest.mark.parametrize("name", PLANS)
def test_the_cells_of_a_notebook_give_the_tables_of_the_answer(name: str, tmp_path: Path) -> None:
    parts = answered(PLANS[name])
    shown = tables_of(notebook(parts), tmp_path)
    assert len(shown) == len(parts)
    for part, frame in zip(parts, shown, strict=True):
        assert differs(part.table, frame) is None


@pytest.mark.parametrize("name", PLANS)
def test_a_notebook_is_of_format_4_5(name: str) -> None:
    made = json.loads(notebook(answered(PLANS[name])))
    assert set(made) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert {"name", "display_name"} <= set(made["metadata"]["kernelspec"])
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id) for id in ids)
    wanted = {"markdown": {"cell_type", "id", "metadata", "source"}, "code": {"cell_type", "id", "metadata", "source", "execution_count", "outputs"}}  # fmt: skip
    assert all(set(cell) == wanted[cell["cell_type"]] for cell in made["cells"])


def test_each_step_stands_under_its_words() -> None:
    cells = json.loads(notebook(answered(PLANS["steps"])))["cells"]
    words = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    assert words[1:4] == ["## Totals", "Keep the rows where amount > 1", "For each region take sum(amount) as total"]
    assert "`sales.parquet`" in words[0]


def test_an_answer_without_a_script_has_no_notebook() -> None:
    part = answered(PLANS["steps"])[0].model_copy(update={"polars": "# no script for this plan: it cannot be"})
    with pytest.raises(PlanError, match="no script"):
        notebook([part])
