"""Every step and function, on its own examples and on hostile frames: documented, readable back, typed truly, alike on both engines."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from qa.errors import PlanError
from qa.plan.functions import FUNCTIONS, WINDOWED
from qa.plan.functions.table import Example, Function
from qa.plan.plan import as_json, parse_reply, reply_schema
from qa.plan.steps import STEPS, StepExample
from tests.agreement import ran, reply, rows, same
from tests.tables import series, table

STEP_EXAMPLES = [
    pytest.param(example, id=f"{op}-{index}")
    for op, step in STEPS.items()
    for index, example in enumerate(step.examples)
]
EVERY_FUNCTION = [*FUNCTIONS.values(), *WINDOWED.values()]
FUNCTION_EXAMPLES = [
    pytest.param(function, example, id=f"{example.formula}")
    for function in EVERY_FUNCTION
    for example in function.examples
]
MAY_REFUSE = {
    "no_such_value",
    "not_one_value",
    "overflow",
    "needs_a_number",
    "unsummable_role",
    "fan_out",
    "not_unique_key",
    "expect_broken",
    "many_to_many",
    "off_grid",
    "no_values",
    "test_needs_groups",
    "too_big",
}
"""What a changed frame may rightly be refused for."""


def tables_of(data: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "t": table("t", data or {"k": [1]}),
        **{name: table(name, columns) for name, columns in (others or {}).items()},
    }


def steps_of(function: Function, example: Example) -> list[dict[str, Any]]:
    if example.steps:
        return list(example.steps)
    match function.family:
        case "aggregate":
            return [{"op": "summarize", "by": [], "metrics": [f"{example.formula} as r"]}]
        case "window":
            return [{"op": "window", "columns": [f"{example.formula} as r"]}]
        case _:
            return [{"op": "derive", "columns": [f"{example.formula} as r"]}]


@pytest.mark.parametrize("op", STEPS)
def test_a_step_is_documented(op: str) -> None:
    step = STEPS[op]
    assert step.__doc__ and step.__doc__.strip().split("\n")[0].endswith((".", ":"))
    assert step.examples and step.words
    assert all(info.description or name == "op" or info.annotation for name, info in step.model_fields.items())


@pytest.mark.parametrize("function", EVERY_FUNCTION, ids=lambda f: f"{f.family}-{f.name}")
def test_a_function_is_documented(function: Function) -> None:
    assert function.doc.endswith(".") and function.missing.endswith(".")
    assert function.examples


@pytest.mark.parametrize("example", STEP_EXAMPLES)
def test_a_step_is_read_back_as_it_was_written(example: StepExample) -> None:
    plan = reply("t", [example.step])
    written = json.loads(json.dumps(as_json(plan)))
    assert parse_reply(written) == plan
    assert written["parts"][0]["steps"][0] == {key: value for key, value in example.step.items() if value is not None}


@pytest.mark.parametrize("example", STEP_EXAMPLES)
def test_a_step_gives_its_example_on_both_engines(example: StepExample) -> None:
    result = ran(reply("t", [example.step]), tables_of(example.data, example.tables))
    assert result.frame.columns == example.columns
    assert same(rows(result), example.rows), rows(result)
    assert result.checked.pipeline.steps[0].describe()


@pytest.mark.parametrize(("function", "example"), FUNCTION_EXAMPLES)
def test_a_function_gives_its_example_on_both_engines(function: Function, example: Example) -> None:
    result = ran(reply("t", steps_of(function, example), show=["r"]), tables_of(example.data))
    wanted = example.value if isinstance(example.value, list) else [example.value]
    assert same([row[0] for row in rows(result)], wanted), rows(result)


# ---- hostile frames --------------------------------------------------------------------------


def _emptied(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.clear()


def _missing(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in frame.schema.items())


def _tied(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame, frame.reverse(), frame.head(1)])


def _unicode(frame: pl.DataFrame) -> pl.DataFrame:
    more = frame.with_columns(
        (pl.col(name) + pl.lit(" 東京 é 🙂 \\'\"")).alias(name)
        for name, dtype in frame.schema.items()
        if dtype == pl.String
    )
    return pl.concat([frame, more])


def _wide(frame: pl.DataFrame) -> pl.DataFrame:
    huge = [pl.lit(2**62 + 3, dtype=pl.Int64).alias(name) for name, dtype in frame.schema.items() if dtype == pl.Int64]
    lowest = [pl.lit(-(2**62), dtype=pl.Int64).alias(name) for name, dtype in frame.schema.items() if dtype == pl.Int64]
    return pl.concat([frame, frame.head(1).with_columns(huge), frame.head(1).with_columns(lowest)])


def _old_dates(frame: pl.DataFrame) -> pl.DataFrame:
    ends = [pl.date(1850, 2, 28).alias(name) for name, dtype in frame.schema.items() if dtype == pl.Date]
    leap = [pl.date(2024, 2, 29).alias(name) for name, dtype in frame.schema.items() if dtype == pl.Date]
    return pl.concat([frame, frame.head(1).with_columns(ends), frame.head(1).with_columns(leap)])


HOSTILE: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "no rows": _emptied, "all missing": _missing, "tied": _tied, "unicode": _unicode, "wide integers": _wide, "old dates": _old_dates,
}  # fmt: skip


def _hostile(data: Mapping[str, Any], change: str) -> pl.DataFrame:
    frame = pl.DataFrame([series(name, values) for name, values in (data or {"k": [1]}).items()])
    return HOSTILE[change](frame)


def _agrees_or_is_refused(steps: list[dict[str, Any]], tables: dict[str, Any], show: list[str] | None) -> None:
    try:
        ran(reply("t", copy.deepcopy(steps), show=show), tables)
    except PlanError as error:
        assert {issue.code for issue in error.issues} <= MAY_REFUSE, str(error)


@pytest.mark.parametrize("change", HOSTILE)
@pytest.mark.parametrize("example", STEP_EXAMPLES)
def test_a_step_agrees_on_hostile_frames(example: StepExample, change: str) -> None:
    tables = {
        "t": table("t", _hostile(example.data, change)),
        **{name: table(name, columns) for name, columns in (example.tables or {}).items()},
    }
    _agrees_or_is_refused([example.step], tables, None)


@pytest.mark.parametrize("change", HOSTILE)
@pytest.mark.parametrize(("function", "example"), [case for case in FUNCTION_EXAMPLES if case.values[1].data])
def test_a_function_agrees_on_hostile_frames(function: Function, example: Example, change: str) -> None:
    _agrees_or_is_refused(steps_of(function, example), {"t": table("t", _hostile(example.data, change))}, ["r"])


def test_the_reply_schema_has_every_step_and_no_reference() -> None:
    written = json.dumps(reply_schema())
    assert "$ref" not in written and "oneOf" not in written and '"default"' not in written
    assert all(f'"{op}"' in written for op in STEPS)
