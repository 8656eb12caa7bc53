"""Two answers of one plan are compared value by value, and what moved is said."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import changes

from .results import DOLLARS, FRACTION, column, frame, part, plan, summarize

DAY, TIP = column("day", "text"), column("mean_tip", **DOLLARS)
BY_DAY = plan(summarize(["day"], "mean(tip) as mean_tip"))
ALL = plan(summarize([], "mean(tip) as mean_tip"))
LIST = plan()

CASES: list[tuple[str, Any, Any, Any, Any, list[str]]] = [
    ("nothing", BY_DAY, [DAY, TIP], (["a", "b"], [1.0, 2.0]), (["b", "a"], [2.0, 1.0 + 1e-15]), ["Nothing moved: all 2 rows are as before."]),
    (
        "a value, a new group and one that is gone", BY_DAY, [DAY, TIP], (["a", "b", "c"], [1.0, 2.0, 3.0]), (["a", "b", None], [1.0, 2.5, 4.0]),
        ["1 of 4 rows moved.", "b: average tip $2.00 → $2.50 (up $0.50, 25%).", "1 new: (no day).", "1 gone: c."],
    ),
    (
        "missing becomes a value", BY_DAY, [DAY, TIP], (["a", "b"], [1.0, None]), (["a", "b"], [1.0, 0.0]),
        ["1 of 2 rows moved.", "b: average tip missing → $0.00."],
    ),
    ("one number", ALL, [TIP], ([3.0],), ([3.3],), ["The average tip went from $3.00 to $3.30 (up $0.30, 10%)."]),
    ("one number that stays", ALL, [TIP], ([3.0],), ([3.0],), ["Nothing moved."]),
    (
        "a share moves by points", plan(summarize([], "share_of_rows(x) as rate")), [column("rate", **FRACTION)], ([0.5],), ([0.25],),
        ["The rate went from 50% to 25% (down 25 percentage points)."],
    ),
    ("rows without keys", LIST, [column("x", "integer")], ([1, 1, 2],), ([1, 2, 3],), ["1 row is new.", "1 row is gone."]),
    ("rows with repeated keys", LIST, [DAY, TIP], (["a", "a"], [1.0, 2.0]), (["a", "a"], [2.0, 1.0]), ["Nothing moved: the same 2 rows."]),
    ("an empty result", BY_DAY, [DAY, TIP], ([], []), (["a"], [1.0]), ["1 new: a."]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "steps", "columns", "old", "new", "words"), CASES, ids=[case[0] for case in CASES])
def test_what_moved_is_said(name: str, steps: Any, columns: Any, old: Any, new: Any, words: list[str]) -> None:
    change = changes.compare(part(columns, frame(columns, *old), steps), part(columns, frame(columns, *new), steps))
    assert list(change.words) == words
    assert change.same is words[0].startswith("Nothing")


def test_the_table_holds_every_key_with_before_after_and_change() -> None:
    old = frame([DAY, TIP], ["a", "b"], [1.0, 2.0])
    new = frame([DAY, TIP], ["b", "c"], [2.5, 3.0])
    change = changes.compare(part([DAY, TIP], old, BY_DAY), part([DAY, TIP], new, BY_DAY))
    assert change.table is not None
    assert change.table.rows() == [
        ("b", 2.0, 2.5, 0.5, "moved"), ("c", None, 3.0, None, "new"), ("a", 1.0, None, None, "gone"),
    ]  # fmt: skip
    assert (change.moved, change.new, change.gone) == (1, 1, 1)


def test_a_cut_table_is_not_compared_as_the_whole() -> None:
    made = part([DAY, TIP], frame([DAY, TIP], ["a"], [1.0]), BY_DAY, total_rows=20_000)
    assert changes.compare(made, made).words[-1] == "Only the rows that the tables hold were compared."


def test_other_columns_are_named() -> None:
    old, new = part([DAY], frame([DAY], ["a"])), part([TIP], frame([TIP], [1.0]))
    assert changes.compare(old, new).words == ("Columns gone: day.", "New columns: mean_tip.")


ROWS = st.dictionaries(st.none() | st.text(max_size=4), st.none() | st.floats(-1e6, 1e6), max_size=8)


@given(ROWS, ROWS)
def test_every_key_is_accounted_for(old: dict[Any, Any], new: dict[Any, Any]) -> None:
    tables = [frame([DAY, TIP], list(rows), list(rows.values())) for rows in (old, new)]
    change = changes.compare(*(part([DAY, TIP], table, BY_DAY) for table in tables))
    assert change.new == len(set(new) - set(old))
    assert change.gone == len(set(old) - set(new))
    assert change.same or change.words[0] != "Nothing moved."
    back = changes.compare(*(part([DAY, TIP], table, BY_DAY) for table in reversed(tables)))
    assert (back.new, back.gone, back.moved) == (change.gone, change.new, change.moved)


def test_a_category_matches_its_text() -> None:
    old = pl.DataFrame({"day": ["a"], "mean_tip": [1.0]})
    new = old.with_columns(pl.col("day").cast(pl.Enum(["a"])))
    assert changes.compare(part([DAY, TIP], old, BY_DAY), part([DAY, TIP], new, BY_DAY)).same
