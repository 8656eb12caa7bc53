"""Correlations, tests and fits are told with their strength, their support and their doubt."""

from __future__ import annotations

from typing import Any

import pytest

from qa.answer import prose

from .results import column, frame, plan

TEST = [column("kind", "text"), column("column", "text"), column("statistic"), column("df"), column("p_value"), column("effect", "text"), column("effect_size"), column("n", "integer"), column("significant", "boolean")]  # fmt: skip
PAIRS = [column("column_a", "text"), column("column_b", "text"), column("r"), column("n", "integer"), column("p_value")]
TERMS = [
    column("term", "text"),
    column("estimate"),
    column("std_error"),
    column("ci_low"),
    column("ci_high"),
    column("p_value"),
]
QUALITY = [column("r2"), column("adjusted_r2"), column("rmse"), column("mae"), column("n", "integer")]
DESCRIBED = [column("column", "text"), column("kind", "text"), column("count", "integer"), column("missing", "integer")]

TOLD: list[tuple[str, dict[str, Any], Any, tuple[Any, ...], list[str]]] = [
    (
        "a significant test", {"op": "test", "kind": "welch_t"}, TEST,
        (["welch_t"], ["tip"], [2.5], [80.1], [0.0123], ["cohen_d"], [0.4], [244], [True]),
        ["Welch's t-test on tip: significant (statistic 2.5, p = 0.0123, 244 values)."],
    ),
    (
        "a test that finds nothing does not claim equality", {"op": "test", "kind": "anova"}, TEST,
        (["anova"], ["tip"], [1.1], [3.0], [0.35], [None], [None], [244], [False]),
        ["One-way ANOVA on tip: not significant (statistic 1.1, p = 0.35, 244 values)."],
    ),
    (
        "a normality test is read the right way round", {"op": "test", "kind": "shapiro"}, TEST,
        (["shapiro"], ["tip"], [0.9], [None], [1e-9], [None], [None], [244], [True]),
        ["The Shapiro-Wilk test on tip: the values differ significantly from a normal distribution (statistic 0.9, p < 0.001, 244 values)."],
    ),
    (
        "a test without enough values", {"op": "test", "kind": "welch_t"}, TEST,
        (["welch_t"], ["tip"], [None], [None], [None], [None], [None], [1], [None]),
        ["Welch's t-test on tip could not be computed: too few values."],
    ),
    (
        "several correlations, the strongest first", {"op": "correlate"}, PAIRS,
        (["a", "a", "b"], ["b", "c", "c"], [0.05, -0.95, None], [10, 9, 0], [0.9, 0.0001, None]),
        [
            "Strongest of 3 pairs:",
            "The correlation of a and c is -0.95 (very strong negative) over 9 pairs of values, p < 0.001.",
            "The correlation of a and b is 0.05 (almost no linear relation) over 10 pairs of values, p = 0.9.",
        ],
    ),
    ("no correlation at all", {"op": "correlate"}, PAIRS, (["a"], ["b"], [None], [1], [None]), ["No pair has enough values for a correlation."]),
    (
        "coefficients with their intervals", {"op": "fit", "output": "coefficients"}, TERMS,
        (["intercept", "total_bill"], [0.92, 0.105], [0.16, 0.007], [0.6, 0.09], [1.2, 0.12], [1e-8, 1e-30]),
        ["Intercept: 0.92, interval 0.6 to 1.2, p < 0.001.", "Total bill: 0.105, interval 0.09 to 0.12, p < 0.001."],
    ),
    (
        "the quality of a fit", {"op": "fit", "output": "quality"}, QUALITY, ([0.4566], [0.454], [1.01], [0.75], [244]),
        ["The fit explains 45.66% of the variance over 244 rows (adjusted r2 0.454, rmse 1.01, mae 0.75)."],
    ),
    (
        "a description names the worst gap", {"op": "describe"}, DESCRIBED, (["age", "fare"], ["number", "number"], [714, 891], [177, 0]),
        ["2 columns described.", "Age has the most missing values: 177."],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "step", "columns", "values", "expected"), TOLD, ids=[case[0] for case in TOLD])
def test_a_finding_is_told(name: str, step: Any, columns: Any, values: Any, expected: list[str]) -> None:
    table = frame(columns, *values)
    assert list(prose.sentences(plan=plan(step), columns=columns, table=table, total_rows=table.height)) == expected
