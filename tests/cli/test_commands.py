"""The commands of the terminal: results on stdout, one line for what went wrong, and exit codes that tell."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.cli import COMMANDS, main
from qa.settings import settings
from tests.wire.server import serve

PLAN = {
    "reply": "plan",
    "lets": [],
    "parts": [
        {
            "title": "by region",
            "source": "sales",
            "steps": [{"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total"]}],
        }
    ],
}
ROWS = [["North", 4.5], ["South", 2.0]]
QUESTION = "total amount by region"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; gives its exit code, standard output and standard error."""

    def done(*words: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as left:
            code = int(left.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return done


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text("region,amount\nNorth,1.5\nSouth,2\nNorth,3\n")
    return path


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN))
    return path


def test_every_command_tells_its_exit_codes(run: Run) -> None:
    for words in ([], *([name] for name in COMMANDS)):
        code, out, _ = run(*words, "--help")
        assert code == 0
        assert "exit codes:" in out


def test_ask_gives_one_json_object_with_all_that_the_contract_names(run: Run, sales: Path) -> None:
    code, out, _ = run("ask", sales, "-q", QUESTION, "--planner", "offline", "--json")
    answer = json.loads(out)
    assert (code, answer["status"], answer["parts"][0]["rows"]) == (0, "answered", ROWS)
    top = [
        "status",
        "parts",
        "question_back",
        "options",
        "reason",
        "missing",
        "nearest",
        "attempts",
        "timings",
        "audit_id",
    ]
    assert set(top) <= answer.keys()
    part = [
        "title",
        "sentences",
        "value",
        "columns",
        "rows",
        "total_rows",
        "truncated",
        "chart",
        "plan",
        "polars",
        "sql",
        "ledger",
        "support",
        "checks",
        "assumptions",
        "warnings",
    ]
    assert set(part) <= answer["parts"][0].keys()
    assert set(answer["parts"][0]["columns"][0]) >= {"name", "kind", "role"}


def test_ask_takes_a_saved_reply_instead_of_a_model(run: Run, sales: Path, tmp_path: Path) -> None:
    saved = tmp_path / "reply.txt"
    saved.write_text(f"Here you are:\n```json\n{json.dumps(PLAN)}\n```")
    code, out, _ = run("ask", sales, "-q", "anything", "--reply", saved, "--json")
    assert (code, json.loads(out)["parts"][0]["rows"]) == (0, ROWS)


def test_a_declined_question_is_told_with_exit_code_1(run: Run, sales: Path) -> None:
    code, out, _ = run("ask", sales, "-q", "weather in Paris", "--planner", "offline", "--json")
    assert (code, json.loads(out)["status"]) == (1, "declined")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_run_gives_the_same_rows_on_either_engine(run: Run, sales: Path, plan: Path, engine: str) -> None:
    code, out, _ = run("run", sales, "--plan", plan, "--engine", engine, "--json")
    shown = json.loads(out)
    assert (code, shown["status"], shown["parts"][0]["rows"], shown["parts"][0]["total_rows"]) == (
        0,
        "answered",
        ROWS,
        2,
    )


def test_run_writes_the_answer_as_a_notebook(run: Run, sales: Path, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "answer.ipynb"
    assert run("run", sales, "--plan", plan, "--notebook", out)[0] == 0
    cells = json.loads(out.read_text())["cells"]
    assert "## by region" in [cell["source"] for cell in cells]
    assert any("pl.scan_parquet('sales.parquet')" in cell["source"] for cell in cells)


def test_a_plan_that_does_not_fit_fails_with_its_issues(run: Run, sales: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(
        json.dumps({"parts": [{"title": "", "source": "sales", "steps": [{"op": "filter", "where": "amout > 1"}]}]})
    )
    code, out, _ = run("run", sales, "--plan", wrong, "--json")
    assert (code, json.loads(out)["status"]) == (1, "failed")
    code, out, _ = run("check", sales, "--plan", wrong, "--json")
    told = json.loads(out)
    assert (code, told["ok"], told["issues"][0]["code"], told["issues"][0]["candidates"]) == (
        1,
        False,
        "no_such_column",
        ["amount"],
    )


def test_check_says_what_a_good_plan_gives(run: Run, sales: Path, plan: Path) -> None:
    code, out, _ = run("check", sales, "--plan", plan, "--json")
    told = json.loads(out)
    assert (code, told["ok"], [c["name"] for c in told["parts"][0]["columns"]]) == (0, True, ["region", "total"])


def test_from_sql_makes_a_plan_that_runs(run: Run, sales: Path) -> None:
    sql = "select region, sum(amount) as total from sales group by region order by region"
    code, out, _ = run("from-sql", sales, "--sql", sql, "--json")
    assert (code, json.loads(out)["reply"]) == (0, "plan")
    code, out, _ = run("from-sql", sales, "--sql", sql, "--run", "--json")
    assert (code, json.loads(out)["parts"][0]["rows"]) == (0, ROWS)


def test_load_writes_a_clean_copy_and_its_report(run: Run, sales: Path, tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet"):
        code, out, _ = run("load", sales, "--to", tmp_path / name, "--report", tmp_path / "report.json")
        assert (code, out) == (0, "")
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == [("North", 1.5), ("South", 2.0), ("North", 3.0)]
    assert pl.read_csv(tmp_path / "out.csv").height == 3
    assert json.loads((tmp_path / "report.json").read_text())["rows_out"] == 3


def test_several_files_to_a_folder_are_written_as_read_and_a_bad_one_is_named(
    run: Run, sales: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes("a;b\n1,50;Z\xfcrich\n".encode("cp1252"))
    code, _, err = run("load", sales, other, tmp_path / "gone.csv", "--to", f"{tmp_path}/made/")
    assert code == 2
    assert "gone.csv" in err
    assert len(err.strip().splitlines()) == 1
    assert list(csv.reader(io.StringIO((tmp_path / "made/other.txt_converted.csv").read_text("utf-8")))) == [
        ["a", "b"],
        ["1,50", "Zürich"],
    ]
    assert (tmp_path / "made/sales.csv_converted.csv").is_file()


def test_profile_tables_and_search_know_the_semantic_file(run: Run, sales: Path) -> None:
    sales.with_name("sales.qa.yaml").write_text(
        "description: What was sold\ncolumns:\n  amount: {role: currency, unit: EUR, synonyms: [turnover]}\n  region: {}\n"
    )
    code, out, _ = run("profile", sales, "--json")
    profile = json.loads(out)["profile"]
    assert (code, profile["description"], [c["unit"] for c in profile["columns"]]) == (
        0,
        "What was sold",
        [None, "EUR"],
    )
    code, out, _ = run("tables", sales, "--json")
    assert (code, [(t["name"], t["rows"]) for t in json.loads(out)["tables"]]) == (0, [("sales", 3)])
    code, out, _ = run("search", "turnover", sales, "--json")
    assert (code, [(h["what"], h["column"]) for h in json.loads(out)["hits"]]) == (0, [("column", "amount")])
    assert run("search", "zebra", sales)[0] == 1


def test_a_folder_stands_for_its_files_and_links_are_shown_with_evidence(run: Run, samples: Path) -> None:
    code, out, _ = run("relationships", samples / "shop", "--json")
    links = {(r["left"], r["right"]): r for r in json.loads(out)["relationships"]}
    link = links["order_lines", "orders"]
    assert (code, link["on"], link["cardinality"], link["match_rate"], link["orphans"]) == (
        0,
        ["order_id"],
        "many_to_one",
        1.0,
        0,
    )
    assert links["orders", "customers"]["orphans"] == 5


def test_a_column_kept_at_home_is_not_in_the_prompt(run: Run, sales: Path) -> None:
    assert "region" in run("prompt", sales, "-q", QUESTION, "--json")[1].split("<tables>")[-1]
    sales.with_name("sales.qa.yaml").write_text("columns:\n  amount: {}\n  region: {send: nothing}\n")
    code, out, _ = run("prompt", sales, "-q", "total amount", "--json")
    told = json.loads(out)["messages"]
    assert code == 0
    assert "amount" in told[-1]["content"]
    assert "region" not in told[-1]["content"]


def test_init_config_drafts_a_file_that_takes_effect_and_is_not_overwritten(run: Run, sales: Path) -> None:
    assert run("init-config", sales, "--no-llm", "--out", "-")[1].startswith("version: 1")
    code, out, _ = run("init-config", sales, "--no-llm", "--json")
    made = sales.with_name("sales.qa.yaml")
    assert (code, json.loads(out)["tables"][0]["out"]) == (0, str(made))
    assert "amount" in made.read_text()
    assert run("init-config", sales, "--no-llm")[0] == 2
    assert run("init-config", sales, "--no-llm", "--force")[0] == 0


def test_init_config_asks_the_model_that_is_set_once_and_falls_back_on_the_rules(
    run: Run, sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "description": "Orders",
        "columns": [{"name": "amount", "description": "net of tax", "synonyms": ["sales"]}],
    }
    with serve() as wire:
        for name, value in (("MODEL", "openai/x"), ("API_KEY", "sk-test"), ("API_BASE", wire.base("openai"))):
            monkeypatch.setenv(f"QA_{name}", value)
        settings.cache_clear()
        wire.says(json.dumps(told))
        code, out, _ = run("init-config", sales, "--out", "-")
        assert (code, len(wire.requests)) == (0, 1)
        assert "net of tax" in out and "Orders" in out
        wire.says("no JSON at all")
        code, out, err = run("init-config", sales, "--out", "-")
        assert code == 0 and "drafted by rules" in err and out.startswith("version: 1")
    monkeypatch.undo()
    settings.cache_clear()


def test_the_record_is_kept_where_it_was_asked_for_and_verifies(run: Run, sales: Path, tmp_path: Path) -> None:
    assert run("ask", sales, "-q", QUESTION, "--planner", "offline")[0] == 0
    code, out, _ = run("audit", "verify", "--json")
    assert (code, json.loads(out)["findings"]) == (0, [])
    code, out, _ = run("audit", "export")
    assert code == 0
    assert QUESTION in out


def test_eval_scores_a_question_file(run: Run, sales: Path, tmp_path: Path) -> None:
    record = {"id": "one", "question": QUESTION, "file": sales.name, "expect": {}}
    (tmp_path / "q.jsonl").write_text(json.dumps(record) + "\n")
    code, _, _ = run("eval", tmp_path / "q.jsonl", "--planner", "offline", "--out", tmp_path / "p.jsonl")
    line = json.loads((tmp_path / "p.jsonl").read_text())
    assert (code, line["id"], line["status"], line["refused"]) == (0, "one", "answered", False)
    assert {"answer", "chart", "plan", "ms"} <= line.keys()


@pytest.mark.parametrize("name", ["schema", "reference"])
def test_what_describes_the_language_is_json_when_asked(run: Run, name: str) -> None:
    code, out, _ = run(name, "--json")
    assert code == 0
    assert json.loads(out)


WRONG: list[tuple[str, Sequence[str]]] = [
    ("a missing file", ["ask", "gone.csv", "-q", "x"]),
    ("no file at all", ["ask", "-q", "x"]),
    ("a missing plan", ["run", "{sales}", "--plan", "gone.json"]),
    ("a plan that is no JSON", ["run", "{sales}", "--plan", "{sales}"]),
    ("a plan that is a folder", ["run", "{sales}", "--plan", "{folder}"]),
    ("a reply that is no text", ["ask", "{sales}", "-q", "x", "--reply", "{parquet}"]),
    ("an unknown sheet of a workbook", ["profile", "{xlsx}", "--sheet", "Nope"]),
    ("a sheet of a file without sheets", ["profile", "{sales}", "--sheet", "Nope"]),
    ("an unreadable file", ["profile", "{broken}"]),
    ("an output of another kind", ["load", "{sales}", "--to", "out.txt"]),
    ("a folder that is not there", ["load", "{sales}", "--to", "gone/deep/out.csv"]),
    ("an unknown command", ["dance"]),
    ("a missing option", ["ask", "{sales}"]),
    ("a kind without a column", ["profile", "{sales}", "--as", "text"]),
    ("an address without a port", ["mcp", "{sales}", "--http", "127.0.0.1:nine"]),
    ("another machine without a token", ["mcp", "{sales}", "--http", "0.0.0.0:9000"]),
    ("a server of a missing file", ["mcp", "gone.csv"]),
]


@pytest.mark.parametrize("words", [words for _, words in WRONG], ids=[name for name, _ in WRONG])
def test_a_usage_or_file_error_is_one_line_and_exit_code_2(
    run: Run, sales: Path, tmp_path: Path, words: Sequence[str]
) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and then nothing that is right PAR1")
    pl.DataFrame({"a": [1]}).write_excel(tmp_path / "book.xlsx")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    places: dict[str, Any] = {
        "sales": sales,
        "folder": tmp_path,
        "xlsx": tmp_path / "book.xlsx",
        "broken": broken,
        "parquet": tmp_path / "t.parquet",
    }
    code, out, err = run(*(word.format(**places) for word in words))
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("qa: ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_a_shell_takes_it(run: Run, shell: str) -> None:
    code, out, _ = run("completion", shell)
    assert code == 0
    assert all(name in out for name in COMMANDS)
    assert "engine" in out
    program = shutil.which(shell)
    if program:
        assert subprocess.run([program, "-n"], input=out, text=True, check=False).returncode == 0
