"""A link carries a plan and nothing private, and what comes back from outside is never trusted."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import codec, share
from qa.answer.answer import Answer
from qa.errors import LimitExceeded, PlanError

from .results import column, part, plan, summarize

DIGEST = {"tips": "ab" * 32}
REPLY = {
    "reply": "plan",
    "lets": [],
    "parts": [plan(summarize(["day"], "mean(tip) as mean_tip"), title="Tips", chart=None)],
}
TABLE = pl.DataFrame({"day": ["Sat", "Sun"], "mean_tip": [2.5, 3.25]})


def _answer(table: pl.DataFrame = TABLE, digests: dict[str, str] = DIGEST, status: str = "answered") -> Answer:
    columns = [column("day", "text"), column("mean_tip")]
    return Answer(
        status=status,  # type: ignore[arg-type]
        question="?",
        parts=(part(columns, table),),
        digests=digests,
        result_hash=share.result_hash([table]),
    )


def _link(**more: Any) -> share.Shared:
    given = {"reply": REPLY, "digests": DIGEST, "result_hash": share.result_hash([TABLE]), "rows": [2]} | more
    return share.decode(share.encode(**given))


def test_a_link_gives_back_its_plan_without_nulls() -> None:
    shared = _link(names={"tips": "tips.csv"})
    assert shared.reply["parts"][0]["steps"] == REPLY["parts"][0]["steps"]
    assert "chart" not in shared.reply["parts"][0]
    assert (shared.digests, shared.names, shared.rows) == (DIGEST, {"tips": "tips.csv"}, [2])


def test_a_usual_link_is_short() -> None:
    assert len(share.encode(REPLY, DIGEST, "ab" * 16)) < 300


def test_only_the_plan_travels() -> None:
    leaky = REPLY | {"api_key": "sk-1", "attempts": [{"payload": "CANARY"}]}
    leaky["parts"] = [REPLY["parts"][0] | {"table": ["CANARY"]}]
    assert "CANARY" not in json.dumps(_link(reply=leaky).model_dump())
    assert "sk-1" not in json.dumps(_link(reply=leaky).model_dump())


def test_a_plan_too_long_for_a_link_says_so() -> None:
    words = "".join(chr(0x4E00 + n % 20000) for n in range(0, 70000, 7))
    long = {"reply": "plan", "parts": [plan({"op": "filter", "where": f"a == '{words}'"})]}
    with pytest.raises(LimitExceeded, match="characters long"):
        share.encode(long, DIGEST, None)


def _token(content: Any, *, raw: bytes | None = None) -> str:
    squeezed = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY, codec._PHRASES)
    data = squeezed.compress(raw if raw is not None else json.dumps(content).encode()) + squeezed.flush()
    return codec.VERSION + base64.urlsafe_b64encode(data).decode().rstrip("=")


GOOD = share.encode(REPLY, DIGEST, None)
PART = REPLY["parts"][0]

HOSTILE = [
    ("nothing", ""),
    ("only the version", "q1"),
    ("not base64", "q1!!!"),
    ("cut short", GOOD[:-6]),
    ("one letter changed", GOOD[:40] + ("A" if GOOD[40] != "A" else "B") + GOOD[41:]),
    ("something appended", GOOD + "AAAA"),
    ("another version", "q9" + GOOD[2:]),
    ("a bomb", _token(None, raw=b" " * 50_000_000)),
    ("too long", "q1" + "A" * 10_000),
    ("deep nesting", _token(None, raw=b'{"reply":' + b"[" * 90_000 + b"]" * 90_000 + b"}")),
    ("not an object", _token([1])),
    ("NaN", _token(None, raw=b'{"reply": NaN}')),
    ("a repeated key", _token(None, raw=b'{"reply": {}, "reply": {}}')),
    ("not UTF-8", _token(None, raw=b'{"reply": "\xff"}')),
    ("no plan", _token({"digests": DIGEST})),
    ("no parts", _token({"reply": {"reply": "plan", "parts": []}})),
    ("an unknown field", _token({"reply": REPLY, "key": "x"})),
    ("an unknown plan field", _token({"reply": {"reply": "plan", "parts": [{"source": "t", "steps": [], "sql": "x"}]}})),
    ("a step without op", _token({"reply": {"reply": "plan", "parts": [{"source": "t", "steps": [{}]}]}})),
    ("steps that are no list", _token({"reply": {"reply": "plan", "parts": [{"source": "t", "steps": "x"}]}})),
    ("a digest that is a path", _token({"reply": {"reply": "plan", "parts": [PART]}, "digests": {"t": "../../etc"}})),
    ("a surrogate", "q1\ud800"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "token"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_hostile_or_broken_link_is_a_plain_error(name: str, token: str) -> None:
    with pytest.raises(PlanError) as failure:
        share.decode(token)
    assert failure.value.issues[0].code == "bad_link"
    assert str(failure.value).startswith("link: This link cannot be read: ")


@given(st.text(max_size=300) | st.binary(max_size=200).map(lambda data: "q1" + base64.urlsafe_b64encode(data).decode()))
def test_any_text_is_a_link_or_a_plain_error(token: str) -> None:
    with pytest.raises(PlanError):
        share.decode(token)


NAMES = st.text(min_size=1, max_size=20)
VALUES = st.none() | st.booleans() | st.integers() | NAMES | st.lists(NAMES, max_size=3)
STEPS = st.lists(st.dictionaries(NAMES, VALUES, max_size=3).map(lambda step: {**step, "op": "filter"}), max_size=4)


@given(STEPS, st.text(max_size=30))
def test_any_plan_survives_the_link(steps: list[dict[str, Any]], title: str) -> None:
    kept = [{key: value for key, value in step.items() if value is not None} for step in steps]
    shared = share.decode(share.encode({"parts": [plan(*steps, title=title)]}, DIGEST, None))
    assert shared.reply["parts"][0]["steps"] == kept
    assert shared.reply["parts"][0]["title"] == title


DIFFER = [
    ("another value", pl.DataFrame({"a": [1.5, 2.0]}), pl.DataFrame({"a": [1.5, 2.1]})),
    ("another order", pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2, 1]})),
    ("another name", pl.DataFrame({"a": [1]}), pl.DataFrame({"b": [1]})),
    ("missing is not zero", pl.DataFrame({"a": [0.0]}), pl.DataFrame({"a": [None]}, schema={"a": pl.Float64})),
    ("missing is not blank", pl.DataFrame({"a": [""]}), pl.DataFrame({"a": [None]}, schema={"a": pl.String})),
    ("cells do not run together", pl.DataFrame({"a": ["x,y", "z"]}), pl.DataFrame({"a": ["x", "y,z"]})),
    ("text is not a number", pl.DataFrame({"a": [True]}), pl.DataFrame({"a": ["true"]})),
]
SAME = [
    ("the last bit of a double", pl.DataFrame({"a": [0.1 + 0.2]}), pl.DataFrame({"a": [0.3]})),
    ("a whole double and the integer", pl.DataFrame({"a": [5.0]}), pl.DataFrame({"a": [5]})),
    ("minus zero", pl.DataFrame({"a": [-0.0]}), pl.DataFrame({"a": [0.0]})),
    ("a category and its text", pl.DataFrame({"a": ["x"]}, schema={"a": pl.Enum(["x"])}), pl.DataFrame({"a": ["x"]})),
    ("an instant in two units", *(pl.DataFrame({"a": [0]}).cast(pl.Datetime(unit)) for unit in ("ms", "ns"))),
]


@pytest.mark.parametrize(("name", "left", "right"), DIFFER, ids=[case[0] for case in DIFFER])
def test_the_hash_sees(name: str, left: pl.DataFrame, right: pl.DataFrame) -> None:
    assert share.result_hash(left) != share.result_hash(right)


@pytest.mark.parametrize(("name", "left", "right"), SAME, ids=[case[0] for case in SAME])
def test_the_hash_does_not_mind(name: str, left: pl.DataFrame, right: pl.DataFrame) -> None:
    assert share.result_hash(left) == share.result_hash(right)


def test_two_parts_are_not_one_longer_part() -> None:
    assert share.result_hash([TABLE, TABLE]) != share.result_hash([TABLE])


OTHER = pl.DataFrame({"day": ["Sat", "Sun", "Mon"], "mean_tip": [2.5, 3.25, 9.0]})
MOVED = pl.DataFrame({"day": ["Sat", "Sun"], "mean_tip": [2.5, 3.5]})
NEWER = {"tips": "cd" * 32}

OPENED = [
    (_answer(), True, ["Identical: the same data, the same plan, the same result."]),
    (_answer(digests=NEWER), True, ["tips.csv has changed since the link was made.", "The result is identical all the same."]),
    (
        _answer(OTHER, NEWER), False,
        ["tips.csv has changed since the link was made.", "The result is different.", "Tips by day: 3 rows, 2 when shared."],
    ),
    (
        _answer(MOVED), False,
        ["The data is the same, but the result is different: another version ran it.", "It has as many rows as before (2), with other values."],
    ),
    (
        Answer(status="failed", question="?", digests={}), False,
        ["tips.csv is not loaded here.", "The plan could not be run here, so nothing can be compared."],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "identical", "words"), OPENED)
def test_opening_a_link_says_identical_or_what_differs(answer: Answer, identical: bool, words: list[str]) -> None:
    told = share.compare(_link(names={"tips": "tips.csv"}), answer)
    assert (told.identical, list(told.words)) == (identical, words)
