"""Answers become the lines that scorers read, and are judged as a careful person would."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from qa.answer.answer import Answer, AnswerColumn, AnswerPart
from qa.evaluate.compare import verdict
from qa.evaluate.shape import prediction
from qa.types import Kind


def answered(*tables: dict[str, list[Any]], chart: dict[str, Any] | None = None) -> Answer:
    parts = [
        AnswerPart(
            title=f"part {place}",
            columns=tuple(AnswerColumn(name=name, kind=Kind.TEXT) for name in table),
            table=pl.DataFrame(table),
            total_rows=len(next(iter(table.values()))),
            plan={},
            chart=chart,
        )
        for place, table in enumerate(tables)
    ]
    return Answer(status="answered", question="q", parts=tuple(parts))


NAMED = {"compare": "named_values", "format": "@mean_age[x] and @std_age[y]"}


@pytest.mark.parametrize(
    ("answer", "record", "shaped"),
    [
        (answered({"n": [6]}), {}, [[6]]),
        (answered({"a": ["x", "y"], "b": [1, 2]}), {}, [["x", 1], ["y", 2]]),
        (answered({"d": [dt.date(2024, 1, 2)]}), {}, [["2024-01-02"]]),
        (answered({"n": [1]}, {"n": [2]}), {}, [[1], [2]]),
        (answered({"n": []}), {}, []),
        (answered({"mean_age": [39.2], "std_age": [14.1]}), NAMED, {"mean_age": 39.2, "std_age": 14.1}),
        (answered({"mean age": [39.2]}, {"Std Age": [14.1]}), NAMED, {"mean_age": 39.2, "std_age": 14.1}),
        (answered({"a": [39.2], "b": [14.1]}), NAMED, {"mean_age": 39.2, "std_age": 14.1}),
        (
            answered({"name": ["mean_age", "std_age"], "value": [39.2, 14.1]}),
            NAMED,
            {"mean_age": 39.2, "std_age": 14.1},
        ),
    ],
)
def test_an_answer_is_written_as_its_scorer_reads_it(answer: Answer, record: dict[str, Any], shaped: Any) -> None:
    line = prediction("q1", answer, record)
    assert line["answer"] == shaped
    assert line["refused"] is False


def summarized(*metrics: str) -> dict[str, Any]:
    return {"steps": [{"op": "summarize", "by": [], "metrics": list(metrics)}]}


STATISTICS = {
    "count": [3],
    "mean": [2.0],
    "std": [1.0],
    "min": [1],
    "q25": [1.5],
    "median": [2.0],
    "q75": [2.5],
    "max": [3],
}


@pytest.mark.parametrize(
    ("table", "plan", "shaped"),
    [
        ({"min": [1], "max": [9]}, summarized("min(age) as min", "max(age) as max"), [["min", 1], ["max", 9]]),
        ({"min": [1], "max": [9]}, summarized("min(age)", "max(size)"), [[1, 9]]),
        ({"a": [1], "b": [9]}, summarized("mean(age) as a", "mean(`body mass`) as b"), [["age", 1], ["body mass", 9]]),
        ({"r": [0.5]}, summarized("corr(age, `body mass`) as r"), [["age", 1.0, 0.5], ["body mass", 0.5, 1.0]]),
        ({"mean": [0.5]}, summarized("mean(age)"), [[0.5]]),
        ({"column": ["age"], **STATISTICS}, {"steps": [{"op": "describe", "columns": ["age"], "by": []}]},
         [["count", 3], ["mean", 2.0], ["std", 1.0], ["min", 1], ["25%", 1.5], ["50%", 2.0], ["75%", 2.5], ["max", 3]]),
    ],
)  # fmt: skip
def test_statistics_stand_as_in_a_frame_where_frames_are_compared(
    table: dict[str, list[Any]], plan: dict[str, Any], shaped: list[list[Any]]
) -> None:
    given = answered(table)
    part = given.parts[0].model_copy(update={"plan": plan})
    given = given.model_copy(update={"parts": (part,)})
    assert prediction("q1", given, {"compare": "frame"})["answer"] == shaped
    assert prediction("q1", given, {"compare": "table"})["answer"] == [list(row) for row in part.table.rows()]


@pytest.mark.parametrize("status", ["declined", "clarify", "failed"])
def test_what_is_not_answered_is_refused_with_its_reason(status: Any) -> None:
    line = prediction("q1", Answer(status=status, question="q", reason="no profit"), {})
    assert (line["answer"], line["refused"], line["reason"]) == (None, True, "no profit")


@pytest.mark.parametrize(
    ("chart", "word"),
    [
        (None, None),
        ({"kind": "bar", "color": None}, "Bar"),
        ({"kind": "bar", "color": "region"}, "Stacked Bar"),
        ({"kind": "line", "color": "region"}, "Grouping Line"),
        ({"kind": "pie", "color": "region"}, "Pie"),
    ],
)
def test_a_chart_is_named_as_question_sets_name_it(chart: dict[str, Any] | None, word: str | None) -> None:
    assert prediction("q1", answered({"n": [6]}, chart=chart), {})["chart"] == word


def gold(answer: Any, compare: str = "table", **more: Any) -> dict[str, Any]:
    return {"answer": answer, "compare": compare, **more}


@pytest.mark.parametrize(
    ("answer", "record", "right"),
    [
        ([[6]], gold([[6]]), True),
        ([["6"]], gold([[6.0]]), True),
        ([[6]], gold([[7]]), False),
        ([[1, "A"], [2, "b"]], gold([["a", 1], ["B", 2]]), True),
        ([[1, "A"], [2, "b"]], gold([["a", 2], ["B", 1]]), False),
        ([["b", 2], ["a", 1]], gold([["a", 1], ["b", 2]]), True),
        ([["b", 2], ["a", 1]], gold([["a", 1], ["b", 2]], ordered=True), False),
        ([["a", 1, 9]], gold([["a", 1]]), False),
        ([], gold([]), True),
        ([["x"], ["x"]], gold([["x"]]), False),
        ([["x"], ["x"]], gold([["x"]], "wtq"), True),
        ([["2024-01-02T00:00:00"]], gold([["2024-01-02"]]), True),
        ([["1,234"]], gold([[1234]], "denotation_multiset"), True),
        ({"m": 39.2071}, gold([["m", "39.21"]], "named_values"), True),
        ({"m": 39.24}, gold([["m", "39.21"]], "named_values"), False),
        ({}, gold([["m", "39.21"]], "named_values"), False),
        ({"m": "Normal"}, gold([["m", "normal"]], "named_values"), True),
        ([[0.381148]], {"expected": {"value": 38.1148, "tol": 0.05, "percent": True}}, True),
        ([[0.381148]], {"expected": {"value": 38.1148, "tol": 0.05}}, False),
        ([["Sun", 3.25]], {"expected": {"value": "Sun"}}, True),
        ([["Sat", 3.25], ["Sun", 3.1]], {"expected": {"value": "Sun"}}, False),
        (
            [[True, 3.00871], [False, 2.99185]],
            {"expected": {"value": "Yes", "means": {"Yes": 3.00871, "No": 2.99185}}},
            True,
        ),
        ([[1, 84.15], [2, 20.66]], {"expected": {"means": {"1": 84.154688, "2": 20.662183}, "tol": 0.01}}, True),
        (None, gold([[1]]), False),
        ([[None]], gold([["none"]], "denotation_multiset"), True),
        ([[0]], gold([["none"]], "denotation_multiset"), False),
    ],
)
def test_right_is_told_from_wrong(answer: Any, record: dict[str, Any], right: bool) -> None:
    assert verdict(answer, record) == ("right" if right else "wrong")


def test_a_record_without_an_answer_is_not_scored() -> None:
    assert verdict([[1]], {}) == "unscored"
