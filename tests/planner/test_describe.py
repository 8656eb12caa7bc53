"""A model's words on columns fill what the rules left blank, and nothing else gets in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa.data.semantics import Semantics, dump_semantics, parse_semantics
from qa.errors import PlanError
from qa.planner.attempts import Call, Said
from qa.planner.budget import Budget
from qa.planner.describe import described
from qa.settings import Settings
from qa.types import Role
from tests.planner.tables import table

REPLY: dict[str, Any] = {
    "description": "Staff of the\nfirm",
    "columns": [
        {
            "name": "pay",
            "description": "monthly pay",
            "role": "currency",
            "unit": "EUR",
            "synonyms": ["salary", "salary", 7],
        },
        {"name": "dept", "description": "x" * 900, "role": "currency", "unit": None, "synonyms": "none"},
        {"name": "nowhere", "description": "made up"},
        "not a column",
    ],
}


def ask(folder: Path, text: str, asked: list[Call], privacy: Any = "samples") -> Semantics:
    people = table(
        folder, "people", {"pay": [1.5, 2.5] * 9, "dept": ["CANARY-X", "CANARY-Y"] * 9}, {"dept": Role.CATEGORY}
    )

    def call(request: Call) -> Said:
        asked.append(request)
        return Said(text)

    budget = Budget.of(Settings(_env_file=None))  # type: ignore[call-arg]
    return described(people, model="openai/x", privacy=privacy, budget=budget, call=call)


def test_blanks_are_filled_and_the_file_can_be_read_again(tmp_path: Path) -> None:
    made = ask(tmp_path, f"Here you are: {json.dumps(REPLY)}", [])
    assert made.description == "Staff of the firm"
    assert made.columns["pay"].description == "monthly pay"
    assert (made.columns["pay"].role, made.columns["pay"].unit) == (Role.CURRENCY, "EUR")
    assert made.columns["pay"].synonyms == ("salary",)
    assert made.columns["dept"].role is not Role.CURRENCY
    assert len(str(made.columns["dept"].description)) == 200
    assert "nowhere" not in made.columns
    assert parse_semantics(dump_semantics(made)) == made


@pytest.mark.parametrize(("privacy", "seen"), [("names", False), ("profile", False), ("samples", True)])
def test_cells_are_seen_at_samples_alone(tmp_path: Path, privacy: str, seen: bool) -> None:
    asked: list[Call] = []
    ask(tmp_path, json.dumps(REPLY), asked, privacy)
    assert ("CANARY" in json.dumps(asked[0].messages)) is seen


@pytest.mark.parametrize("text", ["", "no", '{"description": "a", "columns": ['])
def test_a_reply_without_an_object_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PlanError):
        ask(tmp_path, text, [])


@pytest.mark.parametrize("reply", [{}, {"columns": None}, {"columns": {"pay": 1}}, {"columns": [], "description": 5}])
def test_an_odd_reply_leaves_the_draft_by_rules(tmp_path: Path, reply: dict[str, Any]) -> None:
    made = ask(tmp_path, json.dumps(reply | {"x": 1}), [])
    assert set(made.columns) == {"pay", "dept"}
    assert made.description is None
