"""Cases from real bug reports about models, privacy and wide tables, when the shared collection is beside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa import pipeline
from qa.data.read import load
from qa.planner import payload
from qa.settings import Settings
from tests.wire.server import Say, Wire

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside the repository")


def case(start: str) -> tuple[Path, dict[str, Any]]:
    folder = next(CASES.glob(f"{start}-*"))
    return folder, json.loads((folder / "case.json").read_text(encoding="utf-8"))


def using(wire: Wire, **more: Any) -> Settings:
    given: dict[str, Any] = {"model": "openai/gpt-4.1", "api_key": "k", "api_base": wire.base("openai"), "workers": 1}
    return Settings(**(given | more), _env_file=None)  # type: ignore[call-arg]


def sales_plan(source: str, year: str) -> str:
    steps = [
        {"op": "filter", "where": f"region = 'North'{year}"},
        {"op": "summarize", "by": [], "metrics": ["sum(sales) as total"]},
    ]
    return json.dumps({"reply": "plan", "lets": [], "parts": [{"title": "Sales", "source": source, "steps": steps}]})


REPLIES = (
    json.loads((next(CASES.glob("m01-*")) / "input.replies.json").read_text(encoding="utf-8"))["replies"]
    if CASES.is_dir()
    else []
)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["name"])
def test_a_wrapped_plan_is_taken_and_anything_else_is_not(wire: Wire, reply: dict[str, Any]) -> None:
    folder, told = case("m01")
    table = load(folder / "input.csv")[0]
    plan = sales_plan(table.name, " and year = 2024")
    decoy = json.dumps(
        {
            "reply": "plan",
            "lets": [],
            "parts": [
                {
                    "title": "All",
                    "source": table.name,
                    "steps": [{"op": "summarize", "by": [], "metrics": ["sum(sales) as total"]}],
                }
            ],
        }
    )

    def filled(text: str | None) -> str | None:
        return text and text.replace("<<PLAN>>", plan).replace("<<DECOY>>", decoy)

    calls = reply.get("tool_calls")
    text = filled(calls[0]["function"]["arguments"]) if calls else filled(reply["content"])
    wire.says(Say(text, tool=bool(calls)))
    answer = pipeline.ask("What are the sales for North in 2024?", [table], settings=using(wire), record=False)
    if reply["expect"] == "accept":
        assert answer.planner == "model"
        assert answer.parts[0].value == told["expected"]["value_on_accept"]
    else:
        assert answer.planner != "model" or answer.status != "answered"
        assert len(wire.requests) <= 3
        assert any(attempt.issues for attempt in answer.attempts)
    assert all(part.value != 97 for part in answer.parts)


def test_a_bad_provider_is_asked_a_bounded_number_of_times(wire: Wire) -> None:
    folder, told = case("m04")
    table = load(folder / "input.csv")[0]

    def plan(op: str, column: str) -> str:
        step = {"op": op, "by": [], "metrics": [f"sum({column}) as total"]}
        return json.dumps(
            {"reply": "plan", "lets": [], "parts": [{"title": "Revenue", "source": table.name, "steps": [step]}]}
        )

    wire.says(
        Say(status=400, message="Unsupported parameter: 'temperature' is not supported with this model."),
        Say(status=429, message="rate limit", headers={"Retry-After": "0"}),
        plan("summarize", "Turnover"),
        plan("exec", "revenue_usd"),
    )
    answer = pipeline.ask("What is the total revenue_usd?", [table], settings=using(wire), record=False)
    assert (answer.status, answer.planner) == ("answered", "offline")
    assert answer.parts[0].value == told["expected"]["value"]
    assert len(wire.requests) <= 5
    assert ["temperature" in item["body"] for item in wire.requests] == [True, False, False, False, False]


@pytest.mark.parametrize("privacy", ["names", "profile"])
def test_rows_stay_home_in_every_request(wire: Wire, privacy: Any) -> None:
    folder, told = case("p03")
    table = load(folder / "input.csv")[0]
    steps = [
        {"op": "summarize", "by": ["dept"], "metrics": ["mean(salary) as pay"]},
        {"op": "sort", "order": ["pay desc"]},
    ]
    right = json.dumps({"reply": "plan", "lets": [], "parts": [{"title": "Pay", "source": table.name, "steps": steps}]})
    wire.says("not yet", right.replace("dept", "departments"), right)
    answer = pipeline.ask(
        "What is the average salary by dept?", [table], settings=using(wire, privacy=privacy), record=False
    )
    assert answer.parts[0].table.rows() == [tuple(row) for row in told["expected"]["table"]]
    assert len(wire.requests) == 3
    assert "canary" not in wire.bodies.lower()
    assert [
        attempt.payload["messages"][1]["content"]
        in json.dumps(item["body"], ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')
        for attempt, item in zip(answer.attempts, wire.requests, strict=True)
        if attempt.payload
    ] == [True] * 3


def test_the_asked_column_of_four_hundred_is_in_the_prompt() -> None:
    folder, told = case("q04")
    built = payload.build(told["question"], load(folder / "input.csv"), privacy="profile")
    assert 'c377 = "metric_377_' in built.messages[1]["content"]
    assert built.tokens < 6000
    assert "of 420 columns" in built.cut[0]
