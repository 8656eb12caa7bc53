"""The Polars script of a plan, run on its own, gives the same table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.engine.crosscheck import differs
from qa.engine.polars_code import script
from qa.engine.run import checked_plan, run
from qa.plan.functions import FUNCTIONS
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.steps import STEPS
from tests.tables import table


def run_script(source: str, folder: Path, tables: dict[str, Any]) -> pl.DataFrame:
    """Runs a script in this process from a folder that holds the tables under their display names."""
    for name, made in tables.items():
        made.frame.write_parquet(folder / f"{name}.parquet")
    names: dict[str, Any] = {}
    text = source.replace("print(result)", "").replace("scan_parquet('", f"scan_parquet('{folder}/")
    exec(compile(text, "script", "exec"), names)
    frame = names["result"]
    assert isinstance(frame, pl.DataFrame)
    return frame


CASES = [(step, example.step, example.data, example.tables) for step, cls in STEPS.items() for example in cls.examples]
CASES += [
    (
        row.name,
        {"op": "derive", "columns": [f"{example.formula} as r"]}
        if row.family == "row"
        else {"op": "summarize", "by": [], "metrics": [f"{example.formula} as r"]},
        example.data or {"k": [1]},
        None,
    )
    for row in FUNCTIONS.values()
    if row.family in ("row", "aggregate") and not row.name.startswith("_")
    for example in row.examples
]


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(CASES)])
def test_the_script_gives_the_table_of_the_plan(case: Any, tmp_path: Path) -> None:
    _, step, data, others = case
    tables = {"t": table("t", data), **{name: table(name, columns) for name, columns in (others or {}).items()}}
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [step]}]})
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, tables)
    assert differs(run(plan, tables)[0].frame, run_script(script(plan), tmp_path, tables)) is None


def test_the_script_runs_without_this_project_and_uses_the_users_names(tmp_path: Path) -> None:
    made = table("shop sales".replace(" ", "_"), {"Unit price": [2.0, 3.5], "region": ["a", "b"]})
    made.frame.write_parquet(tmp_path / "shop_sales.parquet")
    reply = parse_reply(
        {
            "reply": "plan",
            "parts": [{"title": "", "source": "shop_sales", "steps": [{"op": "filter", "where": "`Unit price` > 2"}]}],
        }
    )
    assert isinstance(reply, PlanReply)
    source = script(checked_plan(reply, {"shop_sales": made}))
    assert "import qa" not in source
    assert "Unit price" in source
    ran = subprocess.run([sys.executable, "-I", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "3.5" in ran.stdout


NUMBERS: dict[str, list[Any]] = {
    "g": ["a", "b"] * 8,
    "x": [1.0, 2.5, 3.0, 4.0, 5.5, 6.0, 7.0, 8.5] * 2,
    "y": [2.0, 3.9, 6.2, 7.8, 11.0, 12.5, 13.7, 16.6, 2.2, 4.5, 5.8, 8.1, 10.5, 12.0, 14.2, 17.1],
    "z": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0, 3.0],
    "b": [True, False, True, True] * 4,
}
TESTS: list[dict[str, Any]] = [
    *({"op": "test", "kind": kind, "columns": ["x"], "group": "g"} for kind in ("student_t", "welch_t", "mann_whitney", "anova", "kruskal")),
    *({"op": "test", "kind": kind, "columns": ["x", "y"]} for kind in ("paired_t", "pearson", "spearman", "kendall")),
    *({"op": "test", "kind": kind, "columns": ["x", "y"]} for kind in ("shapiro", "ks_normal", "dagostino", "anderson")),
    {"op": "test", "kind": "one_sample_t", "columns": ["x"], "mu": 3, "by": ["g"]},
    {"op": "test", "kind": "chi_square", "columns": ["g", "z"]},
    {"op": "test", "kind": "proportion", "columns": ["b"], "group": "g"},
    {"op": "fit", "target": "y", "predictors": ["x", "z", "g"], "by": ["b"]},
    {"op": "fit", "target": "y", "predictors": ["x", "z"], "output": "quality"},
    {"op": "correlate", "columns": ["x", "y", "z"], "method": "spearman"},
    {"op": "describe"},
]  # fmt: skip


@pytest.mark.parametrize("step", TESTS, ids=lambda step: f"{step['op']}-{step.get('kind') or step.get('output')}")
def test_statistics_run_as_a_script_of_their_own(step: Any, tmp_path: Path) -> None:
    tables = {"t": table("t", NUMBERS)}
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [step]}]})
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, tables)
    source = script(plan)
    assert "import qa" not in source
    assert differs(run(plan, tables)[0].frame, run_script(source, tmp_path, tables)) is None
