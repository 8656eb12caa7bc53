"""Every way a provider can answer ends in a plan or a named failure, within its budget: real LiteLLM, scripted servers."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from qa.data.table import Table
from qa.errors import Issue, PlanError
from qa.plan.check import check
from qa.plan.plan import PlanReply, as_json
from qa.planner import model, payload
from qa.planner.attempts import Planned
from qa.planner.budget import Budget, Purse
from qa.settings import Settings
from tests.planner.tables import table
from tests.wire.server import Say, Wire

pytestmark = pytest.mark.filterwarnings("ignore:Item.*ReadOnly:UserWarning")
"""The model library warns about its own types once."""

MODELS = {
    "openai": "openai/gpt-5-mini",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
    "ollama_chat": "ollama_chat/llama3",
}
QUESTION = "What are the sales for North in 2024?"
GOOD = {
    "reply": "plan",
    "lets": [],
    "parts": [
        {
            "title": "Sales for North in 2024",
            "reading": None,
            "source": "t",
            "steps": [
                {"op": "filter", "where": "region = 'North' and year = 2024"},
                {"op": "summarize", "by": [], "metrics": ["sum(sales) as total"]},
            ],
            "show": None,
            "chart": None,
        }
    ],
}


def changed(**step: Any) -> str:
    """The good plan with its last step changed."""
    plan = json.loads(json.dumps(GOOD))
    plan["parts"][0]["steps"][1] |= step
    return json.dumps(plan)


PLAN = json.dumps(GOOD)
UNKNOWN_COLUMN = changed(metrics=["sum(Revenue) as total"])
UNKNOWN_STEP = changed(op="exec")
TRUNCATED = Say(PLAN[:90], finish="length")


def checker(*tables: Table) -> Any:
    """The real checker, as the pipeline hands it to the planner."""

    def issues(reply: PlanReply) -> list[Issue]:
        try:
            check(reply, {made.name: made for made in tables})
        except PlanError as error:
            return list(error.issues)
        return []

    return issues


@pytest.fixture
def sales(tmp_path: Path) -> Table:
    return table(
        tmp_path, "t", {"region": ["North", "North", "South"], "year": [2023, 2024, 2024], "sales": [50, 40, 7]}
    )


def settings(wire: Wire, provider: str, **more: Any) -> Settings:
    given: dict[str, Any] = {
        "model": MODELS[provider],
        "api_key": "sk-test-0123456789abcdef",
        "api_base": wire.base(provider),
        "model_timeout": 20,
    }
    return Settings(**(given | more), _env_file=None)  # type: ignore[call-arg]


def ask(wire: Wire, sales: Table, provider: str = "openai", **more: Any) -> Planned:
    return model.plan(QUESTION, [sales], settings=settings(wire, provider, **more), check=checker(sales))


def accepted(planned: Planned) -> bool:
    return planned.reply is not None and as_json(planned.reply)["parts"][0]["title"] == "Sales for North in 2024"


@pytest.mark.parametrize("provider", MODELS)
def test_a_good_reply_is_the_plan(wire: Wire, sales: Table, provider: str) -> None:
    wire.says(PLAN)
    planned = ask(wire, sales, provider)
    assert accepted(planned)
    assert len(wire.requests) == len(planned.attempts) == 1
    assert planned.tokens == (1000, 100)
    assert planned.attempts[0].payload is not None
    assert QUESTION in planned.attempts[0].payload["messages"][1]["content"]
    assert QUESTION in wire.bodies
    assert (planned.cost == 0) if provider == "ollama_chat" else (planned.cost is not None and 0 < planned.cost < 0.01)


SCHEMA_AT = {
    "openai": lambda body: body["response_format"]["json_schema"]["schema"],
    "anthropic": lambda body: body["output_format"]["schema"],
    "gemini": lambda body: body["generationConfig"]["response_json_schema"],
    "ollama_chat": lambda body: body["format"],
}


@pytest.mark.parametrize("provider", MODELS)
def test_every_provider_is_held_to_the_schema_with_a_limit_on_the_reply(
    wire: Wire, sales: Table, provider: str
) -> None:
    wire.says(PLAN)
    ask(wire, sales, provider, max_tokens_out=1234)
    body = wire.requests[0]["body"]
    assert "reply" in SCHEMA_AT[provider](body)["properties"]
    assert "1234" in json.dumps(body)


FAULTS = {
    "400": (Say(status=400, message="nope"), "bad_request", 1),
    "401": (Say(status=401, message="Incorrect API key provided: sk-test-0123456789abcdef"), "key_refused", 1),
    "403": (Say(status=403, message="not for you"), "forbidden", 1),
    "404": (Say(status=404, message="no model"), "no_such_model", 1),
    "429": (Say(status=429, message="slow down"), "rate_limited", 3),
    "500": (Say(status=500, message="oops"), "provider_error", 3),
    "503": (Say(status=503, message="busy"), "overloaded", 3),
    "a page": (Say(raw="<html>proxy</html>"), "not_a_model", 1),
    "nothing": (Say(raw=""), "not_a_model", 1),
}


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_provider_is_named_and_retried_only_when_that_can_help(
    wire: Wire, sales: Table, provider: str, fault: str
) -> None:
    say, code, calls = FAULTS[fault]
    wire.says(say)
    planned = ask(wire, sales, provider)
    assert planned.reply is None
    assert planned.failure is not None
    assert planned.failure.code == code
    assert len(wire.requests) == len(planned.attempts) == calls
    assert all(item.error and item.error.startswith(code) for item in planned.attempts)
    assert "Traceback" not in str(planned)
    assert "sk-test-0123456789abcdef" not in str(planned)


@pytest.mark.parametrize("provider", MODELS)
def test_a_passing_fault_is_overcome(wire: Wire, sales: Table, provider: str) -> None:
    wire.says(Say(status=503), Say(status=429, headers={"Retry-After": "0"}), PLAN)
    planned = ask(wire, sales, provider)
    assert accepted(planned)
    assert [bool(item.error) for item in planned.attempts] == [True, True, False]


@pytest.mark.parametrize("provider", MODELS)
def test_a_slow_provider_is_given_up_and_tried_once_more(wire: Wire, sales: Table, provider: str) -> None:
    wire.says(Say(PLAN, wait=30))
    planned = ask(wire, sales, provider, model_timeout=0.3)
    assert planned.failure is not None
    assert planned.failure.code == "timeout"
    assert len(planned.attempts) == 2


@pytest.mark.parametrize("provider", MODELS)
def test_no_server_at_the_address_is_named(sales: Table, wire: Wire, provider: str) -> None:
    planned = ask(wire, sales, provider, api_base="http://127.0.0.1:9")
    assert planned.failure is not None
    assert planned.failure.code == "connection"


@pytest.mark.parametrize("provider", MODELS)
def test_no_choices_or_no_text_is_an_error_with_a_name(wire: Wire, sales: Table, provider: str) -> None:
    wire.says(Say(empty=True))
    planned = ask(wire, sales, provider)
    assert planned.reply is None
    assert planned.failure is not None
    assert planned.failure.code in ("empty_choices", "same_mistake")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_a_refusal_is_named_and_not_repeated(wire: Wire, sales: Table, provider: str) -> None:
    wire.says(Say(refusal="I will not"))
    planned = ask(wire, sales, provider)
    assert planned.failure is not None
    assert planned.failure.code in ("refused", "filtered")
    assert len(wire.requests) == 1


DECOY = PLAN.replace("Sales for North in 2024", "decoy")
FIRST_REPLIES: dict[str, str | Say] = {
    "bad JSON": PLAN[:-1],
    "truncated": TRUNCATED,
    "two plans": f"{DECOY} or {PLAN}",
    "an apology": "I'm sorry, I can't help with that.",
    "wrong type": changed(metrics="sum(sales)"),
    "unknown column": UNKNOWN_COLUMN,
    "unknown step": UNKNOWN_STEP,
    "unknown field": changed(python="import os"),
    "another reply word": PLAN.replace('"plan"', '"answer"'),
    "only reasoning": f"<think>{PLAN}</think>",
    "hostile nesting": '{"reply":' * 20_000,
}


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("first", FIRST_REPLIES)
def test_a_wrong_first_reply_is_repaired_by_a_right_second_one(
    wire: Wire, sales: Table, provider: str, first: str
) -> None:
    wire.says(FIRST_REPLIES[first], PLAN)
    planned = ask(wire, sales, provider)
    assert accepted(planned)
    assert planned.repairs == 1
    assert planned.attempts[0].issues
    assert "cannot be used" in json.dumps(wire.requests[1]["body"])


@pytest.mark.parametrize("first", FIRST_REPLIES)
def test_the_same_wrong_reply_twice_ends_early(wire: Wire, sales: Table, first: str) -> None:
    wire.says(FIRST_REPLIES[first])
    planned = ask(wire, sales)
    assert planned.reply is None
    assert planned.failure is not None
    assert planned.failure.code == "same_mistake"
    assert len(wire.requests) == 2


def test_three_different_wrong_plans_are_enough(wire: Wire, sales: Table) -> None:
    wire.says(UNKNOWN_COLUMN, UNKNOWN_STEP, "no", PLAN)
    planned = ask(wire, sales)
    assert planned.failure is not None
    assert planned.failure.code == "no_usable_plan"
    assert len(wire.requests) == 3


WRAPPED: dict[str, str | Say] = {
    "fenced": f"```json\n{PLAN}\n```",
    "chatty": f"Sure! Here is the plan:\n```\n{PLAN}\n```\nHope this helps {{:-)}}",
    "a decoy while thinking": f"<think>maybe {DECOY}</think>{PLAN}",
}


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("how", WRAPPED)
def test_what_surrounds_a_plan_is_passed_over(wire: Wire, sales: Table, provider: str, how: str) -> None:
    wire.says(WRAPPED[how])
    assert accepted(ask(wire, sales, provider))
    assert len(wire.requests) == 1


def test_a_plan_in_a_tool_call_counts(wire: Wire, sales: Table) -> None:
    wire.says(Say(PLAN, tool=True, finish="tool_calls"))
    assert accepted(ask(wire, sales))


def test_a_refused_temperature_is_not_sent_again(wire: Wire, sales: Table) -> None:
    refusal = Say(status=400, message="Unsupported parameter: 'temperature' is not supported with this model.")
    wire.says(refusal, Say(status=429, headers={"Retry-After": "0"}), UNKNOWN_COLUMN, UNKNOWN_STEP, UNKNOWN_STEP)
    planned = ask(wire, sales, model="openai/some-new-model")
    assert planned.failure is not None
    assert planned.failure.code == "same_mistake"
    assert ["temperature" in item["body"] for item in wire.requests] == [True, False, False, False, False]
    wire.says(PLAN)
    assert accepted(ask(wire, sales, model="openai/some-new-model"))
    assert "temperature" not in wire.requests[0]["body"]


def test_a_server_without_schemas_is_asked_for_json_and_then_for_text(wire: Wire, sales: Table) -> None:
    wire.says(
        Say(status=400, message="response_format json_schema unknown"),
        Say(status=400, message="unsupported parameter: response_format"),
        PLAN,
    )
    assert accepted(ask(wire, sales, model="hosted_vllm/local"))
    kinds = [item["body"].get("response_format", {}).get("type") for item in wire.requests]
    assert kinds == ["json_schema", "json_object", None]


def test_the_next_model_is_asked_when_one_fails(wire: Wire, sales: Table) -> None:
    wire.says(Say(status=401), PLAN)
    planned = ask(wire, sales, fallback_models=("openai/gpt-5",))
    assert accepted(planned)
    assert planned.model == "openai/gpt-5"
    assert [item.model for item in planned.attempts] == ["openai/gpt-5-mini", "openai/gpt-5"]


def test_another_provider_gets_neither_our_key_nor_our_address(
    wire: Wire, sales: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    wire.says(Say(status=401))
    planned = ask(wire, sales, fallback_models=("anthropic/claude-sonnet-4-5",))
    assert len(wire.requests) == 1
    assert planned.failure is not None
    assert planned.failure.code == "no_key"


def test_calls_are_capped_over_all_models(wire: Wire, sales: Table) -> None:
    wire.says(Say(status=500))
    planned = ask(wire, sales, fallback_models=("openai/gpt-5", "openai/gpt-4.1"), max_calls=4)
    assert len(wire.requests) == 4
    assert planned.failure is not None
    assert planned.failure.code == "too_many_calls"


@pytest.mark.parametrize(
    ("caps", "code"),
    [
        ({"max_tokens_question": 1500}, "too_many_tokens"),
        ({"max_cost_question": 0.0001}, "too_dear"),
        ({"max_seconds": 0}, "too_slow"),
    ],
)
def test_a_cap_that_is_too_small_stops_the_call_before_it_is_made(
    wire: Wire, sales: Table, caps: dict[str, Any], code: str
) -> None:
    wire.says(PLAN)
    planned = ask(wire, sales, **caps)
    assert planned.failure is not None
    assert planned.failure.code == code
    assert wire.requests == []


def test_money_is_capped_over_a_session(wire: Wire, sales: Table) -> None:
    chosen = settings(wire, "anthropic")
    built = payload.build(QUESTION, [sales], privacy="profile")
    purse = Purse(model.estimate(built, chosen).tokens_in * 3e-6 * 1.5)
    wire.says(Say(PLAN, tokens=(2000, 800)))
    spent = [
        model.plan(QUESTION, [sales], settings=chosen, check=checker(sales), budget=Budget.of(chosen, purse=purse))
        for _ in range(3)
    ]
    assert purse.spent <= purse.limit + 0.018
    assert spent[-1].failure is not None
    assert spent[-1].failure.code == "too_dear"
    assert "session" in spent[-1].failure.message


def test_the_reply_gets_no_more_room_than_the_money_allows(wire: Wire, sales: Table) -> None:
    wire.says(PLAN)
    chosen = settings(wire, "anthropic")
    built = payload.build(QUESTION, [sales], privacy="profile")
    reading = model.estimate(built, chosen).tokens_in * 3e-6
    ask(wire, sales, "anthropic", max_cost_question=reading + 0.01)
    assert 200 < wire.requests[0]["body"]["max_tokens"] < 1000


def test_stop_returns_at_once_while_a_call_is_under_way(wire: Wire, sales: Table) -> None:
    wire.says(Say(PLAN, wait=30))
    stop, started = threading.Event(), threading.Event()
    found: list[Planned] = []

    def run() -> None:
        found.append(
            model.plan(
                QUESTION,
                [sales],
                settings=settings(wire, "openai"),
                check=checker(sales),
                stop=stop,
                progress=lambda _: started.set(),
            )
        )

    thread = threading.Thread(target=run)
    thread.start()
    while not wire.requests:
        time.sleep(0.01)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert started.is_set()
    assert found[0].failure is not None
    assert found[0].failure.code == "stopped"


def test_a_question_back_keeps_only_the_options_that_fit(wire: Wire, sales: Table) -> None:
    parts, wrong = json.loads(PLAN)["parts"], json.loads(UNKNOWN_COLUMN)["parts"]
    options = [{"label": "a", "parts": parts}, {"label": "b", "parts": wrong}, {"label": "c", "parts": None}]
    wire.says(json.dumps({"reply": "clarify", "question": "Which?", "options": options}))
    reply = ask(wire, sales).reply
    assert reply is not None
    assert [bool(option.get("parts")) for option in as_json(reply)["options"]] == [True, False, False]


def test_a_refusal_to_plan_is_a_reply(wire: Wire, sales: Table) -> None:
    wire.says(json.dumps({"reply": "decline", "reason": "no profit", "missing": ["profit"], "nearest": None}))
    reply = ask(wire, sales).reply
    assert reply is not None
    assert reply.reply == "decline"


@pytest.mark.parametrize("privacy", ["names", "profile"])
def test_a_value_that_is_nowhere_is_asked_of_the_user_and_not_of_the_model(
    wire: Wire, sales: Table, privacy: Any
) -> None:
    wire.says(PLAN.replace("'North'", "'Nort'"))
    planned = ask(wire, sales, privacy=privacy)
    assert planned.reply is not None
    asked = as_json(planned.reply)
    assert asked["reply"] == "clarify"
    assert asked["options"][0]["label"] == "North"
    assert asked["options"][0]["parts"][0]["steps"][0]["where"] == "region = 'North' and year = 2024"
    assert len(wire.requests) == 1


def test_a_value_that_is_nowhere_is_repaired_where_values_may_leave(wire: Wire, sales: Table) -> None:
    wire.says(PLAN.replace("'North'", "'Nort'"), PLAN)
    assert accepted(ask(wire, sales, privacy="samples"))
    assert "Nearest: North" in wire.bodies or "nearest are 'North'" in wire.bodies


def test_empty_fields_of_other_replies_are_passed_over(wire: Wire, sales: Table) -> None:
    wire.says(json.dumps(GOOD | {"question": "", "options": [], "reason": None, "missing": [], "nearest": None}))
    assert accepted(ask(wire, sales))


def test_careful_mode_asks_for_several_plans_of_several_models(wire: Wire, sales: Table) -> None:
    wire.says(PLAN)
    chosen = settings(wire, "openai", fallback_models=("openai/gpt-4.1",))
    several = model.plans(3, QUESTION, [sales], settings=chosen, check=checker(sales))
    assert all(accepted(planned) for planned in several)
    assert sorted(str(planned.model) for planned in several) == [
        "openai/gpt-4.1",
        "openai/gpt-5-mini",
        "openai/gpt-5-mini",
    ]


CANARIES = {
    "name": [f"CANARY-NAME-{n}" for n in range(9)],
    "dept": ["CANARY-DEPT-X", "CANARY-DEPT-Y", "CANARY-DEPT-Z"] * 3,
    "sales": list(range(9)),
}


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("privacy", ["names", "profile"])
def test_no_cell_leaves_in_any_request_of_a_question_with_repairs(
    wire: Wire, tmp_path: Path, provider: str, privacy: Any
) -> None:
    people = table(tmp_path, "people", CANARIES)

    def leaky(reply: Any) -> list[Issue]:
        return [
            Issue(
                "no_such_value",
                "parts[0].steps[0].where",
                "no cell is 'x'",
                "Did you mean 'CANARY-DEPT-X'?",
                ("CANARY-DEPT-X",),
            ),
            Issue("cannot_run", "", "conversion of 'CANARY-NAME-3' failed"),
        ]

    wire.says(PLAN, UNKNOWN_COLUMN, DECOY)
    planned = model.plan("average by dept?", [people], settings=settings(wire, provider, privacy=privacy), check=leaky)
    assert planned.reply is None
    assert len(wire.requests) == 3
    assert "CANARY" not in wire.bodies


def test_the_connection_test_sends_no_data(wire: Wire) -> None:
    wire.says("ready")
    found = model.test_connection(settings(wire, "openai"))
    assert found.ok
    assert "table" not in wire.bodies
    wire.says(Say(status=401, message="bad key"))
    refused = model.test_connection(settings(wire, "openai"))
    assert (refused.ok, refused.code) == (False, "key_refused")


def test_models_are_listed_for_the_providers_with_a_key(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    listed = model.list_models(Settings(_env_file=None))  # type: ignore[call-arg]
    assert {item.provider for item in listed} == {"Anthropic"}
    assert any(item.dollars_in for item in listed)
    assert model.served_models(wire.base("openai")) == ["m"]


def test_the_price_is_told_before_the_call(wire: Wire, sales: Table) -> None:
    built = payload.build(QUESTION, [sales], privacy="profile")
    told = model.estimate(built, settings(wire, "anthropic"))
    assert told.dollars is not None
    assert 0.001 < told.dollars < 0.1
    assert model.estimate(built, settings(wire, "openai", model="openai/unheard-of")).dollars is None


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5-mini",
        "azure/gpt-4.1",
        "openrouter/openai/gpt-4.1",
        "hosted_vllm/qwen",
        "lm_studio/qwen",
        "groq/llama-3.3-70b-versatile",
        "mistral/mistral-large-latest",
        "deepseek/deepseek-chat",
        "xai/grok-4",
        "ollama/llama3",
        "a-new-provider/some-model",
    ],
)
def test_any_provider_is_reached_by_its_name(wire: Wire, sales: Table, name: str) -> None:
    wire.says(PLAN)
    base = wire.base("ollama_chat" if name.startswith(("ollama", "azure", "openrouter")) else "openai")
    planned = ask(wire, sales, model=name, api_base=base)
    if name.startswith("a-new"):
        assert planned.failure is not None
        assert planned.failure.code == "no_such_provider"
    else:
        assert accepted(planned)
