"""Words that functions and steps of the language declare are read without a line in the planner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qa.data.table import Table
from qa.plan.steps import STEPS
from qa.planner.offline import plan
from qa.planner.offline.lexicon import lexicon

Tables = Callable[..., list[Table]]
Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("random sample of 3 orders", {"op": "sample", "by": [], "n": 3}),
        ("overview of amount by status", {"op": "describe", "by": ["status"], "columns": ["amount"]}),
        ("summary statistics of amount for each region", {"op": "describe", "columns": ["amount"], "by": ["region"]}),
        ("overview of amount and age", {"op": "describe", "by": [], "columns": ["amount", "age"]}),
    ],
)
def test_a_step_is_called_by_its_own_words(question: str, step: dict[str, Any], tables: Tables) -> None:
    reply = plan(question, tables("orders"))
    assert reply["reply"] == "plan", reply
    assert reply["parts"][0]["steps"] == [step]


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("covariance of amount and discount", "cov(amount, discount)"),
        ("What is the slope of amount and age in North?", "slope(amount, age)"),
        ("skewness of amount", "skew(amount)"),
    ],
)
def test_a_function_is_called_by_its_own_words(question: str, metric: str, tables: Tables) -> None:
    reply = plan(question, tables("orders"))
    assert reply["reply"] == "plan", reply
    assert reply["parts"][0]["steps"][-1]["metrics"][0].startswith(metric)


@pytest.mark.parametrize(
    "question", ["overview of amount by planet", "covariance of amount", "random sample of amount"]
)
def test_declared_words_without_what_they_need_are_refused(question: str, tables: Tables) -> None:
    assert plan(question, tables("orders"))["reply"] == "decline"


def test_every_step_that_needs_only_columns_has_a_word_of_its_own() -> None:
    called = {tag.partition(":")[2] for tags in lexicon().phrases.values() for tag in tags if tag.startswith("STEP:")}
    assert called and called <= set(STEPS)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("pivot table of total amount for each combination of region and returned",
         [["East", 130, None], ["North", 360, None], ["South", None, 60], ["West", 10, None]]),
        ("average amount for different regions",
         [["East", 65.0], ["North", 120.0], ["South", 30.0], ["West", 10.0]]),
        ("Which region has the maximum average amount?", [["North"]]),
        ("Calculate the ratio of discount to amount for each order and find the one with the highest ratio.",
         [[3, 10, "2024-02-03", "North", "pending", 60, 10, False, 31, pytest.approx(1 / 6)]]),
        ("What is the average size (amount, discount and age)?", [[70.0, pytest.approx(40 / 7), 40.375]]),
        ("What is the range (max - min) of amount?", [[190]]),
        ("What is the overall average amount?", [[70.0]]),
        ("Which status (paid, pending, refunded) has the highest total amount and what is the value?", [["paid", 430]]),
        ("Which region has the highest average amount, and what is that value?", [["North", 120.0]]),
        ("Create a column 'Net' as amount minus discount, then find the average Net for each returned.",
         [[False, 82.0], [True, 30.0]]),
        ("average amount to age ratio in North", [[pytest.approx((100 / 31 + 60 / 31 + 200 / 28) / 3)]]),
    ],
)  # fmt: skip
def test_tables_across_ratios_and_different_groups(
    question: str, rows: list[list[Any]], tables: Tables, answered: Answered
) -> None:
    given = tables("orders")
    assert answered(plan(question, given), given) == rows


def test_a_correlation_of_several_columns_is_their_matrix(tables: Tables) -> None:
    reply = plan("What is the correlation matrix between amount, discount and age?", tables("orders"))
    assert reply["parts"][0]["steps"] == [
        {"op": "correlate", "columns": ["amount", "discount", "age"], "shape": "matrix"}
    ]
