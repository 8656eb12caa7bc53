"""The Polars script of a plan, run on its own, gives the same table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.engine.crosscheck import differs
from qa.engine.polars_code import NoScript, script
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
    try:
        source = script(plan)
    except NoScript as reason:
        pytest.skip(f"this step has no script: {reason}")
    assert differs(run(plan, tables)[0].frame, run_script(source, tmp_path, tables)) is None


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
