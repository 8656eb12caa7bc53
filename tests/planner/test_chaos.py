"""A first reply that is broken in any of ten ways costs one more call and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qa.planner import model
from qa.planner.attempts import Call, Said
from qa.planner.chaos import DAMAGES, first_reply_wrong
from qa.settings import Settings
from tests.planner.tables import table
from tests.planner.test_model import GOOD, accepted, checker

CLARIFY = {"reply": "clarify", "question": "Which?", "options": [{"label": "a", "parts": None}]}
DECLINE = {"reply": "decline", "reason": "no profit", "missing": ["profit"], "nearest": None}


@pytest.mark.parametrize("way", DAMAGES)
@pytest.mark.parametrize("reply", [GOOD, CLARIFY, DECLINE], ids=["plan", "clarify", "decline"])
def test_every_broken_first_reply_is_recovered_from(tmp_path: Path, way: str, reply: dict[str, object]) -> None:
    sales = table(tmp_path, "t", {"region": ["North", "South"], "year": [2024, 2024], "sales": [40, 7]})

    def right(request: Call) -> Said:
        return Said(json.dumps(reply))

    planned = model.plan(
        "sales for North in 2024?",
        [sales],
        settings=Settings(model="recorded/model", _env_file=None),  # type: ignore[call-arg]
        check=checker(sales),
        via=first_reply_wrong(right, way),
    )
    assert planned.reply is not None
    assert planned.reply.reply == reply["reply"]
    assert planned.repairs == 1
    assert len(planned.attempts) == 2


@pytest.mark.parametrize("way", DAMAGES)
def test_every_broken_reply_for_ever_ends_with_a_name(tmp_path: Path, way: str) -> None:
    sales = table(tmp_path, "t", {"region": ["North", "South"], "year": [2024, 2024], "sales": [40, 7]})
    planned = model.plan(
        "sales for North in 2024?",
        [sales],
        settings=Settings(model="recorded/model", _env_file=None),  # type: ignore[call-arg]
        check=checker(sales),
        via=lambda request: DAMAGES[way](Said(json.dumps(GOOD))),
    )
    assert not accepted(planned)
    assert planned.failure is not None
    assert planned.failure.code == "same_mistake"
