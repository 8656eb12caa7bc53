"""Sentences say what the result says, and nothing a cell holds becomes markup."""

from __future__ import annotations

import datetime as dt
import html
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import prose

from .results import DOLLARS, FRACTION, column, frame, plan, summarize

DAY, TIP = column("day", "text"), column("mean_tip", **DOLLARS)
COUNT = column("trips", "integer")
BY_DAY = summarize(["day"], "mean(tip) as mean_tip")
ALL_DAYS = (["Fri", "Sat", "Sun", "Thur"], [2.734737, 2.993103, 3.255132, 2.771452])
TOP = {"op": "limit", "n": 1, "order": ["mean_tip desc"], "ties": "keep"}
MONTHS = [dt.date(2024, 1, 1), dt.date(2024, 2, 1), dt.date(2024, 3, 1)]

CASES: list[tuple[str, Any, list[Any], tuple[list[Any], ...], dict[str, Any], list[str]]] = [
    (
        "few groups are listed best first",
        plan(BY_DAY), [DAY, TIP], ALL_DAYS, {},
        ["Sun has the highest average tip: $3.26, then Sat $2.99, Thur $2.77 and Fri $2.73."],
    ),
    (
        "two groups are compared",
        plan(BY_DAY), [DAY, TIP], (["Fri", "Sat"], [2.5, 3.0]), {},
        ["Sat has the higher average tip: $3.00 against $2.50 for Fri, a difference of $0.50."],
    ),
    (
        "a superlative names its group and its value",
        plan(BY_DAY, TOP), [DAY, TIP], (["Sun"], [3.255132]), {},
        ["Sun has the highest average tip: $3.26."],
    ),
    (
        "a superlative whose measure is hidden still says of what",
        plan(BY_DAY, TOP, show=["day"]), [DAY], (["Sun"],), {},
        ["Sun has the highest average tip."],
    ),
    (
        "a numbered group says what its number is",
        plan(summarize(["pclass"], "mean(survived) as rate"), {"op": "limit", "n": 1, "order": ["rate desc"]}, show=["pclass"]),
        [column("pclass", "integer")],
        ([1],),
        {},
        ["pclass 1 has the highest average survived."],
    ),
    (
        "long numbers of a condition are read in threes, years are not",
        plan({"op": "filter", "where": "price > 1000000 and year == 2013"}, summarize([], "count() as n")),
        [column("n", "integer")],
        ([5],),
        {},
        ["Where price is above 1,000,000 and year is 2013, the number of rows is 5."],
    ),
    (
        "what is left after a filter on groups is not given as the total",
        plan(summarize(["day"], "count() as trips"), {"op": "filter", "where": "trips > 1"}),
        [DAY, COUNT],
        (["a", "b", "c"], [2, 3, 4]),
        {},
        ["Where trips is above 1, c has the largest number of trips: 4, then b 3 and a 2."],
    ),
    (
        "a pivoted column says what it measures",
        plan({"op": "pivot", "by": ["day"], "names_from": "region", "values": ["sum(sales) as sales"]}),
        [DAY, column("East")],
        (["Fri", "Sat"], [1.0, 2.0]),
        {},
        ["Sat has the larger total sales for East: 2 against 1 for Fri, a difference of 1."],
    ),
    (
        "a key that is the same everywhere is not said, and what is left is a series",
        plan(summarize(["month", "kind"], "sum(sales) as sales")),
        [column("month", "date"), column("kind", "text"), column("sales", "integer")],
        (MONTHS, ["msa"] * 3, [120, 80, 120]),
        {},
        [
            "The total sales went from 120 (2024-01) to 120 (2024-03), unchanged between the two.",
            "Highest 120 (2024-01), lowest 80 (2024-02).",
        ],
    ),
    (
        "a truncated date says its calendar unit, a bin its edge",
        plan(summarize(["trunc(d, 'year') as y"], "mean(x) as m")),
        [column("y", "date", unit="year"), column("m", unit="bin")],
        ([dt.date(2024, 1, 1), dt.date(2025, 1, 1)], [1.5, 2.5]),
        {},
        ["2025 has the higher average x: 2.5 against 1.5 for 2024, a difference of 1."],
    ),
    (
        "groups are compared by their maximum",
        plan(summarize(["label"], "max(value) as value")),
        [column("label", "text"), column("value", "integer")],
        (["a", "b", "<b>"], [1, 2, 6]),
        {},
        ["<b> has the largest maximum value: 6, then b 2 and a 1."],
    ),
    (
        "a tie for the top names both",
        plan(BY_DAY, TOP), [DAY, TIP], (["Sat", "Sun"], [3.0, 3.0]), {},
        ["Sat and Sun tie for the highest average tip: $3.00."] ,
    ),
    (
        "a lowest-first list leads with the lowest",
        plan({"op": "limit", "n": 3, "order": ["mark asc"]}), [column("name", "text"), column("mark", "integer")],
        (["Flo", "Cy", "Ed"], [4, 11, 11]), {},
        ["Flo has the lowest mark: 4, then Cy 11 and Ed 11."],
    ),
    (
        "a missing group value is missing, a zero is zero",
        plan(summarize(["team"], "sum(hours) as hours")), [column("team", "text"), column("hours", "integer")],
        (["A", "B", "C"], [5, None, 0]), {"support": {"missing_skipped": {"hours": 2}}},
        [
            "A has the larger total hours: 5 against 0 for C, a difference of 5.",
            "B has no value for the total hours (missing, not zero).",
            "All 3 groups together: 5.",
            "2 missing values were left out of the total hours.",
        ],
    ),
    (
        "a group that misses some of its values is named with how many",
        plan(summarize(["team"], "sum(hours) as hours")),
        [column("team", "text"), column("hours", "integer")],
        (["A", "B", "C"], [5, None, 0]),
        {"support": {"missing_skipped": {"hours": 2}, "group_rows": [2, 1, 1], "group_values": {"hours": [1, 0, 1]}}},
        [
            "A has the larger total hours: 5 against 0 for C, a difference of 5.",
            "B has no value for the total hours (missing, not zero).",
            "All 3 groups together: 5.",
            "A: 1 of 2 values missing for the total hours.",
            "B: 1 of 1 value missing for the total hours.",
        ],
    ),
    (
        "rows that a metric's own condition leaves out are not called missing",
        plan(summarize([], "mean(age, where=sex == 'F') as age")),
        [column("age")],
        ([30.5],),
        {"support": {"missing_skipped": {"age": 157}}},
        ["The age is 30.5."],
    ),
    (
        "a missing key is a group of its own",
        plan(summarize(["day"], "count() as trips")), [DAY, COUNT], (["Fri", None], [1, 5]), {},
        ["(no day) has the larger number of trips: 5 against 1 for Fri, a difference of 4."],
    ),
    (
        "many groups give both ends and the true total",
        plan(summarize(["day"], "count() as trips")), [DAY, COUNT],
        ([f"d{n}" for n in range(1, 9)], list(range(1, 9))), {},
        ["d8 has the largest number of trips, 8, and d1 the smallest, 1, across 8 groups.", "All 8 groups together: 36."],
    ),
    (
        "a cut table is said to be cut, and its total is not given as the total",
        plan(summarize(["day"], "count() as trips")), [DAY, COUNT], (["a", "b", "c"], [1, 2, 3]), {"total_rows": 20000},
        [
            "c has the largest number of trips among the first 3 rows: 3, then b 2 and a 1.",
            "The table holds the first 3 of 20,000 rows.",
        ],
    ),
    (
        "a series says where it started, ended, peaked and dipped",
        plan(summarize(["trunc(d, 'month') as month"], "sum(sales) as sales")),
        [column("month", "date"), column("sales", "integer")], (MONTHS, [120, 80, 200]), {},
        ["The total sales went from 120 (2024-01) to 200 (2024-03), up 80 (66.7%).", "Highest 200 (2024-03), lowest 80 (2024-02)."],
    ),
    (
        "one number is said with its condition",
        plan({"op": "filter", "where": "tip > 5"}, summarize([], "count() as n")), [column("n", "integer")], ([18],), {},
        ["Where tip is above 5, the number of rows is 18."],
    ),
    (
        "a count of nothing is zero and says of how many",
        plan({"op": "filter", "where": "tip > 500"}, summarize([], "count() as n")), [column("n", "integer")], ([0],),
        {"ledger": [{"rows_in": 244}]},
        ["Where tip is above 500, the number of rows is 0: none of 244 rows match."],
    ),
    (
        "an average of nothing is missing",
        plan({"op": "filter", "where": "tip > 500"}, summarize([], "mean(age) as age")), [column("age")], ([None],), {},
        ["Where tip is above 500, the average age is missing: there is no value to take it from."],
    ),
    (
        "no row matches",
        plan({"op": "filter", "where": "town == 'Oslo'"}), [column("town", "text")], ([],), {"ledger": [{"rows_in": 1153}]},
        ["Where town is Oslo, none of 1,153 rows match."],
    ),
    (
        "two values of one row are both said",
        plan(summarize([], "min(price) as low", "max(price) as high")), [column("low", **DOLLARS), column("high", **DOLLARS)],
        ([5.0], [12.5]), {},
        ["The lowest price is $5.00 and the highest price is $12.50."],
    ),
    (
        "shares differ by percentage points",
        plan(summarize(["smoker"], "share_of_rows(paid) as rate")), [column("smoker", "boolean"), column("rate", **FRACTION)],
        ([False, True], [0.25, 0.5]), {},
        ["smoker true has the higher rate: 50% against 25% for smoker false, a difference of 25 percentage points."],
    ),
    (
        "a correlation is said with its strength and support",
        plan({"op": "correlate", "columns": ["total_bill", "tip"]}),
        [column("column_a", "text"), column("column_b", "text"), column("r"), column("n", "integer"), column("p_value")],
        (["total_bill"], ["tip"], [0.675734], [244], [6.7e-34]), {},
        ["The correlation of total bill and tip is 0.6757 (moderate positive) over 244 pairs of values, p < 0.001."],
    ),
    (
        "a formula that is not simple is quoted, not guessed",
        plan({"op": "filter", "where": "price * 2 > 10 or sold"}, summarize([], "sum(a) / sum(b) as ratio")),
        [column("ratio")], ([0.5],), {},
        ["Where price * 2 > 10 or sold, the ratio is 0.5."],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "steps", "columns", "values", "more", "expected"), CASES, ids=[case[0] for case in CASES]
)
def test_the_sentences_say_the_result(
    name: str, steps: Any, columns: Any, values: Any, more: Any, expected: list[str]
) -> None:
    table = frame(columns, *values)
    told = prose.sentences(plan=steps, columns=columns, table=table, **{"total_rows": table.height, **more})
    assert list(told) == expected


@pytest.mark.parametrize(
    ("steps", "columns", "values", "value"),
    [
        (plan(summarize([], "count()")), [column("count()", "integer")], ([18],), 18),
        (plan(BY_DAY, TOP), [DAY, TIP], (["Sun"], [3.26]), 3.26),
        (plan(BY_DAY, TOP, show=["day"]), [DAY], (["Sun"],), "Sun"),
        (plan(BY_DAY), [DAY, TIP], ALL_DAYS, None),
        (plan(summarize([], "min(a)", "max(a)")), [column("min(a)"), column("max(a)")], ([1], [2]), None),
        (plan(), [DAY, TIP], ([], []), None),
    ],
)
def test_a_single_value_is_one_cell_or_the_one_metric_beside_its_keys(
    steps: Any, columns: Any, values: Any, value: Any
) -> None:
    assert prose.value_of(frame(columns, *values), columns, steps) == value


@given(st.text(max_size=60))
def test_escaped_text_reads_back_as_itself(text: str) -> None:
    shown = html.unescape(prose.escape_markdown(text)).replace("\u2060", "")
    assert shown == "".join(" " if sign == "\n" else sign for sign in _one_line(text).replace("\u2060", ""))


def _one_line(text: str) -> str:
    import re

    return re.sub(r"[\r\n\u2028\u2029]+", " ", text)


@pytest.mark.parametrize(
    "text",
    [
        "$5.00 and $12.50",
        "a_b *x* ~~y~~",
        "<b>bold</b>",
        "![i](http://attacker.invalid/x)",
        "[t](javascript:1)",
        ":smile: :red[x]",
        "# h",
        "`c`",
        "www.attacker.invalid a@b.cd",
        "a -> b <- c -- d <= e",
    ],
)
def test_no_character_that_markdown_acts_on_is_left(text: str) -> None:
    escaped = prose.escape_markdown(text)
    assert not set("$*_~`<>[]()!|:@") & set(escaped)
    decoded = html.unescape(escaped)
    assert not any(active in decoded for active in ("http://", "www.", "@b.cd", ":smile:", "->", "<-", "--", "<="))


CELL = st.one_of(st.none(), st.text(max_size=20))
FIGURE = st.one_of(
    st.none(), st.integers(-(10**25), 10**25).map(float), st.floats(allow_nan=False, allow_infinity=False)
)


@given(
    st.lists(st.tuples(CELL, FIGURE), max_size=12),
    st.integers(0, 5),
    st.sampled_from([plan(BY_DAY), plan(BY_DAY, TOP), plan()]),
)
def test_any_table_gets_sentences(rows: list[tuple[Any, Any]], beyond: int, steps: Any) -> None:
    table = frame([DAY, TIP], [row[0] for row in rows], [row[1] for row in rows])
    told = prose.sentences(plan=steps, columns=[DAY, TIP], table=table, total_rows=table.height + beyond)
    assert told
    assert all(sentence and "\n" not in sentence for sentence in told)
    assert not any(word in sentence for sentence in told for word in ("None", "nan", "inf "))
