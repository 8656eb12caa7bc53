"""Scores of the offline planner on Spider, apart for one table, joins and nested queries, and for two halves of the databases.

    python tests/benchmarks/several_tables.py [--shared FOLDER] [--half a|b] [--show wrong,declined,right]

`--shared` is the folder that holds `bench/dev` (beside the repository by default). Tune on half a only; half b is the check.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from qa.evaluate import run  # noqa: E402
from qa.settings import Settings  # noqa: E402


def kind(record: dict[str, Any]) -> str:
    """One table, a join, or tables that only meet in a nested query or a set operation."""
    if len(record["tables_used"]) == 1:
        return "one table"
    return "joins" if "join" in record["features"] else "several tables, no join"


def half(record: dict[str, Any]) -> str:
    """The half that a record's database belongs to; a database is never split."""
    database = Path(record["tables"][0]["file"]).parent.name
    return "ab"[hashlib.md5(database.encode(), usedforsecurity=False).digest()[0] % 2]


def predictions(questions: Path, wanted: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The line of each wanted record, asked beside the set's own tables."""
    root = questions.parent.resolve()
    lines = []
    for record in wanted:
        tables = [{"name": t["name"], "file": str(root / t["file"])} for t in record["tables"]]
        lines.append(json.dumps(record | {"tables": tables}))
    with tempfile.TemporaryDirectory() as folder:
        asked, out = Path(folder) / "questions.jsonl", Path(folder) / "out.jsonl"
        asked.write_text("\n".join(lines), encoding="utf-8")
        run(asked, out=out, planner="offline", settings=Settings())
        return {line["id"]: line for line in map(json.loads, out.read_text(encoding="utf-8").splitlines())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=REPOSITORY.parent / "shared")
    parser.add_argument("--half", choices=["a", "b"])
    parser.add_argument("--show", default="")
    given = parser.parse_args()
    questions = given.shared / "bench" / "dev" / "spider" / "questions.jsonl"
    records = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    records = [r for r in records if given.half in (None, half(r))]
    found = predictions(questions, records)
    tally: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        line = found[record["id"]]
        verdict = line["verdict"] or "declined"
        for where in (half(record), "all"):
            tally[kind(record), where].append(verdict)
        if verdict in given.show.split(","):
            print(f"{record['id'][-4:]} {verdict} [{kind(record)}] {record['question']}\n     {record['gold_query']}")
            print("    ", json.dumps(line["plan"]["parts"])[:600] if verdict != "declined" else line["reason"][:160])
    for (what, where), verdicts in sorted(tally.items()):
        answered = [v for v in verdicts if v != "declined"]
        right = answered.count("right")
        print(
            f"{what:24} {where:4} {right:4} of {len(verdicts):4} right = {right / len(verdicts):.1%}, "
            f"{right / max(1, len(answered)):.1%} of the {len(answered)} answered, {len(answered) - right} wrong"
        )


if __name__ == "__main__":
    main()
