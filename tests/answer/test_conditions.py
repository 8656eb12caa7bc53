"""Filters read as words where they are simple, and as their formula where they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.conditions import where

SAID = [
    ([], ""),
    (["sex == 'Female'"], "Where sex is Female, "),
    (["`total bill` >= 10 and tip != 2"], "Where total bill is at least 10 and tip is not 2, "),
    (
        ["month >= '2024-01-01' and month < '2025-01-01'"],
        "Where month is 2024-01-01 or later and month is before 2025-01-01, ",
    ),
    (["day in ['Sat', 'Sun']"], "Where day is Sat or Sun, "),
    (["day not in ('Sat', 'it''s')"], "Where day is not Sat or it's, "),
    (["price between 10 and 20"], "Where price is from 10 to 20, "),
    (["a is null", "b is not null"], "Where a is missing and b is known, "),
    (["contains(name, 'and')"], "Where name contains and, "),
    (["year(d) = 2013"], "Where the year of d is 2013, "),
    (["year(d) >= 2023 and month(d) == 7"], "Where the year of d is 2023 or later and the month of d is July, "),
    (["`Remote?` and not paid"], "Where Remote? is yes and paid is no, "),
    (["t.price > 1000000"], "Where price is above 1,000,000, "),
    (["a == 'x' or b == 'y'"], "Where a == 'x' or b == 'y', "),
    (["not (a == 1)"], "Where not (a == 1), "),
    (["a == b"], "Where a == b, "),
    (["x in l.names and a == 1"], "Where x in l.names and a == 1, "),
    ([f"a{n} == 'some rather long value'" for n in range(9)], "Where all 9 conditions hold, "),
]


@pytest.mark.parametrize(("conditions", "said"), SAID)
def test_a_filter_is_said(conditions: list[str], said: str) -> None:
    assert where(conditions) == said


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_filter_is_one_short_line(conditions: list[str]) -> None:
    said = where(conditions)
    assert len(said) <= 170
    assert "\n" not in said


@given(st.text(alphabet=st.characters(exclude_characters="'`", exclude_categories=["C", "Z"]), min_size=1, max_size=30))
def test_a_value_is_said_as_it_stands(value: str) -> None:
    assert where([f"name == '{value}'"]) == f"Where name is {value}, "
