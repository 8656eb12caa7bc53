"""Plans for public question sets give the gold answers on both engines, compared by the sets' own rule."""

from __future__ import annotations

import importlib.util
import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.answer.cells import json_rows
from qa.cli import main
from qa.data.options import ReadOptions
from qa.data.read import load
from qa.data.table import Table
from qa.engine.run import checked_plan, run
from qa.engine.sql_engine import run_sql, statement
from qa.plan.check import CheckedPlan
from qa.plan.plan import PlanReply, parse_reply

HERE = Path(__file__).parent
BENCH = HERE.parents[1] / ".." / "shared" / "bench"
SETS = {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in HERE.glob("*.jsonl")}
CASES = [(name, case) for name in sorted(SETS) for case in SETS[name]]
MOST = 100_000
needs_sets = pytest.mark.skipif(not BENCH.exists(), reason="the question sets are not beside this repository")

Gold = dict[str, Any]


@lru_cache
def questions(name: str) -> dict[str, Gold]:
    lines = (BENCH / "dev" / name / "questions.jsonl").read_text("utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


@lru_cache
def rule() -> Any:
    """The comparison that the scorer of the sets uses."""
    found = importlib.util.spec_from_file_location("bench_compare", BENCH / "compare.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@lru_cache(maxsize=4)
def loaded(path: Path, read: str) -> dict[str, Table]:
    return {table.name: table for table in load(path, name="df", options=ReadOptions(**json.loads(read)))}


def file(name: str, case: Gold) -> Path:
    return BENCH / "dev" / name / str(questions(name)[case["id"]]["tables"][0]["file"])


def checked(name: str, case: Gold) -> tuple[CheckedPlan, dict[str, Table]]:
    tables = loaded(file(name, case), json.dumps(case.get("read", {})))
    reply = parse_reply(case["plan"])
    assert isinstance(reply, PlanReply)
    return checked_plan(reply, tables), tables


def right(frames: list[pl.DataFrame], gold: Gold) -> bool:
    """Rows of all parts; where the gold is named values, the columns are the names."""
    if gold["compare"] == "named_values":
        named = {column: frame.item(0, column) for frame in frames for column in frame.columns}
        return bool(rule().match(named, gold))
    return bool(rule().match([row for frame in frames for row in json_rows(frame)], gold))


@needs_sets
@pytest.mark.parametrize(("name", "case"), CASES, ids=[case["id"] for _, case in CASES])
def test_a_plan_gives_the_gold_answer_on_both_engines(name: str, case: Gold) -> None:
    plan, tables = checked(name, case)
    gold = questions(name)[case["id"]]
    in_polars = [result.frame for result in run(plan, tables, rows=MOST)]
    assert right(in_polars, gold), in_polars
    in_duckdb = [run_sql(statement(plan, index), tables, limit=MOST) for index in range(len(plan.parts))]
    assert right(in_duckdb, gold), in_duckdb


@needs_sets
def test_every_table_question_has_a_plan() -> None:
    assert {case["id"] for case in SETS["uci_dfqa"]} == set(questions("uci_dfqa"))


@needs_sets
def test_nearly_every_relational_or_statistical_question_has_a_plan() -> None:
    asked = {
        id for id, record in questions("dabench").items() if {"relational", "hypothesis_test"} & set(record["features"])
    }
    planned = {case["id"] for case in SETS["dabench"]}
    assert len(planned & asked) >= 0.85 * len(asked)


@needs_sets
@pytest.mark.parametrize(("name", "id"), [("uci_dfqa", "ucidfqa-087"), ("dabench", "dabench-27")])
def test_the_terminal_runs_a_plan_from_a_file(
    name: str, id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(case for case in SETS[name] if case["id"] == id)
    shutil.copy(file(name, case), tmp_path / "df.csv")
    (tmp_path / "plan.json").write_text(json.dumps(case["plan"]), "utf-8")
    assert main(["run", str(tmp_path / "df.csv"), "--plan", str(tmp_path / "plan.json"), "--json"]) == 0
    [part] = json.loads(capsys.readouterr().out)["parts"]
    names = [column["name"] for column in part["columns"]]
    assert right([pl.DataFrame(part["rows"], schema=names, orient="row")], questions(name)[id])


@pytest.mark.parametrize("name", sorted(SETS))
def test_plans_parse_and_have_a_name_each(name: str) -> None:
    assert all(isinstance(parse_reply(case["plan"]), PlanReply) for case in SETS[name])
    assert len({case["id"] for case in SETS[name]}) == len(SETS[name])
