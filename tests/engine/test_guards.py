"""The guards of LANGUAGE 5 and 6: each fires where it should, and stays silent where it should not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest

from qa.engine.result import PartResult
from qa.engine.run import checked_plan, run
from qa.errors import PlanError
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import Clock
from qa.types import Role
from tests.tables import table

CLOCK = Clock(dt.date(2024, 9, 20))
Steps = Sequence[dict[str, Any]]


def ran(data: dict[str, Any], *steps: dict[str, Any], lets: Steps = (), source: str = "t", **facts: Any) -> PartResult:
    tables = {"t": table("t", data, **facts)}
    reply = parse_reply({"reply": "plan", "lets": list(lets), "parts": [{"title": "", "source": source, "steps": list(steps)}]})  # fmt: skip
    assert isinstance(reply, PlanReply)
    return run(checked_plan(reply, tables, CLOCK), tables)[0]


def refused(data: dict[str, Any], *steps: dict[str, Any], **facts: Any) -> tuple[str, str]:
    with pytest.raises(PlanError) as caught:
        ran(data, *steps, **facts)
    return caught.value.issues[0].code, str(caught.value)


def days(first: str, last: str, step: int = 1) -> list[dt.date]:
    start, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    return [start + dt.timedelta(days=n) for n in range(0, (end - start).days + 1, step)]


def months(first: str, count: int) -> list[dt.date]:
    year, month = map(int, first.split("-"))
    return [dt.date(year + (month - 1 + n) // 12, (month - 1 + n) % 12 + 1, 1) for n in range(count)]


def by(key: str) -> dict[str, Any]:
    return {"op": "summarize", "by": [f"{key} as p"], "metrics": ["count() as n"]}


GROWTH = {"op": "window", "order": ["p"], "columns": ["pct_change(n) as growth"]}
WORKDAYS = [day for day in days("2024-01-01", "2024-05-31") if day.weekday() < 5]
LONG_YEAR = days("2023-01-01", "2024-06-12")

SERIES: dict[str, tuple[list[dt.date], Steps, list[str]]] = {
    "a month that the data end in": (days("2024-01-01", "2024-06-12"), [by("trunc(d, 'month')")], ["2024-06 is not complete: the rows end on 2024-06-12."]),
    "a month that the data begin in": (days("2024-01-15", "2024-06-30"), [by("trunc(d, 'month')")], ["2024-01 is not complete: the rows begin on 2024-01-15."]),
    "growth names the comparison": (days("2024-01-01", "2024-06-12"), [by("trunc(d, 'month')"), GROWTH], ["2024-06 is not complete: the rows end on 2024-06-12, so a change to or from it compares a part with a whole."]),
    "a year by its number": (LONG_YEAR, [by("year(d)")], ["2024 is not complete: the rows end on 2024-06-12."]),
    "a quarter": (LONG_YEAR, [by("trunc(d, 'quarter')")], ["2024 Q2 is not complete: the rows end on 2024-06-12."]),
    "weeks at both ends": (days("2024-01-03", "2024-01-30"), [by("trunc(d, 'week')")], ["The week of 2024-01-29 is not complete: the rows end on 2024-01-30.", "The week of 2024-01-01 is not complete: the rows begin on 2024-01-03."]),
    "a period made in an earlier step": (days("2024-01-01", "2024-06-12"), [{"op": "derive", "columns": ["trunc(d, 'month') as m"]}, {"op": "summarize", "by": ["m"], "metrics": ["count() as n"]}], ["2024-06 is not complete: the rows end on 2024-06-12."]),
    "a filter that cuts a month": (days("2024-01-01", "2024-06-30"), [{"op": "filter", "where": "d <= '2024-03-10'"}, by("trunc(d, 'month')")], ["2024-03 is not complete: the rows end on 2024-03-10."]),
    "a month that is not over": (months("2023-10", 12), [by("trunc(d, 'month')")], ["2024-09 is not over: today is 2024-09-20."]),
    "a relative period beyond the data": (days("2024-01-01", "2024-06-12"), [{"op": "filter", "where": "in_period(d, '2024')"}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}], ["The period up to 2024-12-31 is not complete: the dates end on 2024-06-12."]),
    "a period without data": (days("2023-01-01", "2023-06-12"), [{"op": "filter", "where": "in_period(d, 'last 3 months')"}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}], ["No row lies between 2024-06-01 and 2024-08-31: the dates go from 2023-01-01 to 2023-06-12."]),
    "whole months": (days("2024-01-01", "2024-06-30"), [by("trunc(d, 'month')")], []),
    "a row a month is the whole month": (months("2023-01", 12), [by("trunc(d, 'month')")], []),
    "a row a quarter is the whole quarter": (months("2022-01", 24)[::3], [by("trunc(d, 'quarter')")], []),
    "working days reach to the month's end": (WORKDAYS, [by("trunc(d, 'month')")], []),
    "a row a week": (days("2024-01-01", "2024-06-24", 7), [by("trunc(d, 'month')")], []),
    "a month of the year without the year": (LONG_YEAR, [by("month(d)")], []),
    "the last month is not shown": (days("2024-01-01", "2024-06-12"), [by("trunc(d, 'month')"), {"op": "filter", "where": "p < '2024-06-01'"}], []),
    "a filter that keeps whole months": (days("2024-01-01", "2024-06-12"), [{"op": "filter", "where": "in_period(d, '2024-01-01 to 2024-03-31')"}, by("trunc(d, 'month')")], []),
}  # fmt: skip


@pytest.mark.parametrize("case", SERIES, ids=str)
def test_a_period_that_the_data_do_not_cover_is_named(case: str) -> None:
    dates, steps, expected = SERIES[case]
    assert [w for w in ran({"d": dates}, *steps).warnings if "rest" not in w] == expected


GAPPY = [*days("2024-01-01", "2024-02-29"), *days("2024-04-01", "2024-06-30")]
FILLED = {"op": "fill_gaps", "column": "p", "every": "1 month", "columns": ["n"], "fill": "zero"}


@pytest.mark.parametrize(
    ("dates", "steps", "warned"),
    [
        (GAPPY, [by("trunc(d, 'month')"), GROWTH], True),
        (GAPPY, [by("trunc(d, 'month')"), FILLED, GROWTH], False),
        (GAPPY, [by("trunc(d, 'month')")], False),
        (days("2024-01-01", "2024-06-30"), [by("trunc(d, 'month')"), GROWTH], False),
        (days("2024-01-01", "2024-12-31"), [by("trunc(d, 'quarter')"), GROWTH], False),
    ],
)
def test_a_change_that_passes_over_a_period_without_rows_says_so(dates: Any, steps: Any, warned: bool) -> None:
    told = [warning for warning in ran({"d": dates}, *steps).warnings if "no rows for 2024-03" in warning]
    assert bool(told) is warned


def test_a_change_within_groups_looks_for_gaps_within_each() -> None:
    data = {"g": ["a"] * 3 + ["b"] * 2, "d": ["2024-01-01", "2024-02-01", "2024-03-01", "2024-01-01", "2024-03-01"]}
    total = {"op": "summarize", "by": ["g", "trunc(d, 'month') as p"], "metrics": ["count() as n"]}
    step = {"op": "window", "by": ["g"], "order": ["p"], "columns": ["change(n) as more"]}
    assert any("no rows for 2024-02" in warning for warning in ran(data, total, step).warnings)
    whole = {**data, "d": [*data["d"][:4], "2024-02-01"]}
    assert not any("no rows for" in warning for warning in ran(whole, total, step).warnings)


MEANS: dict[str, tuple[dict[str, Any], Steps, list[str]]] = {
    "a small group": ({"g": ["a"] * 6 + ["b"], "x": list(range(7))}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}], ["m: 1 of 2 groups rest on fewer than 5 rows, the smallest on 1."]),
    "missing values do not count": ({"g": ["a"] * 6, "x": [1, 2, None, None, None, None]}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}], ["m: The group rests on fewer than 5 rows, the smallest on 2."]),
    "a share": ({"g": ["a"] * 6 + ["b"] * 2, "x": [1] * 8}, [{"op": "summarize", "by": ["g"], "metrics": ["share_of_rows(x > 0) as s"]}], ["s: 1 of 2 groups rest on fewer than 5 rows, the smallest on 2."]),
    "a correlation wants more": ({"x": list(range(7)), "y": list(range(7))}, [{"op": "summarize", "by": [], "metrics": ["corr(x, y) as r"]}], ["r rests on 7 rows only."]),
    "a correlation step": ({"x": [1, 2, 3], "y": [3, 1, 2]}, [{"op": "correlate", "columns": ["x", "y"]}], ["The correlation rests on 3 rows only."]),
    "a test": ({"x": [1, 2, 3.5], "y": [3, 1, 2]}, [{"op": "test", "kind": "pearson", "columns": ["x", "y"]}], ["The test rests on 3 rows only."]),
    "each row its own group": ({"g": ["a", "b"], "x": [1, 2]}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}], ["Each group has one row, so m is no more than that row's value."]),
    "a summary of a summary": ({"g": ["a"] * 6 + ["b"], "x": list(range(7))}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}, {"op": "summarize", "by": [], "metrics": ["max(m) as top"]}], ["m: 1 of 2 groups rest on fewer than 5 rows, the smallest on 1."]),
    "enough rows": ({"g": ["a"] * 6 + ["b"] * 5, "x": list(range(11))}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}], []),
    "a sum of one row is exact": ({"g": ["a", "b"], "x": [1, 2]}, [{"op": "summarize", "by": ["g"], "metrics": ["sum(x) as m"]}], []),
    "the small group is filtered away": ({"g": ["a"] * 6 + ["b"], "x": list(range(7))}, [{"op": "summarize", "by": ["g"], "metrics": ["mean(x) as m"]}, {"op": "filter", "where": "m < 4"}], []),
}  # fmt: skip


@pytest.mark.parametrize("case", MEANS, ids=str)
def test_means_shares_and_correlations_of_few_rows_are_told(case: str) -> None:
    data, steps, expected = MEANS[case]
    assert list(ran(data, *steps).warnings) == expected


FRACTION = {"pct": [0.1, 0.5, 0.9]}
PERCENT = {"pct": [10.0, 0.0, 90.0]}


@pytest.mark.parametrize(
    ("data", "unit", "where", "hint"),
    [
        (FRACTION, "fraction", "pct > 50", "Write 0.5 for 50 %."),
        (FRACTION, "fraction", "50 < pct", "Write 0.5 for 50 %."),
        (FRACTION, "fraction", "pct between 10 and 20", "Write 0.1 for 10 %."),
        (FRACTION, "fraction", "pct in [50]", "Write 0.5 for 50 %."),
        (PERCENT, "percent", "pct >= 0.5", "Write 50 for 50 %."),
    ],
)
def test_a_percentage_compared_on_another_scale_is_refused(data: Any, unit: str, where: str, hint: str) -> None:
    code, text = refused(data, {"op": "filter", "where": where}, roles={"pct": Role.PERCENT}, units={"pct": unit})
    assert code == "outside_scale"
    assert hint in text


@pytest.mark.parametrize(
    ("data", "unit", "where", "count"),
    [
        (FRACTION, "fraction", "pct > 0.5", 1),
        (FRACTION, "fraction", "pct <= 1", 3),
        (FRACTION, "fraction", "number(pct) < 50", 3),
        ({"pct": [0.1, 1.8]}, "fraction", "pct > 1.5", 1),
        (PERCENT, "percent", "pct > 50", 1),
        (PERCENT, "percent", "pct > 0", 2),
        ({"pct": [0.2, 0.7, 30.0]}, "percent", "pct > 0.5", 2),
    ],
)
def test_a_percentage_compared_on_its_own_scale_runs(data: Any, unit: str, where: str, count: int) -> None:
    found = ran(data, {"op": "filter", "where": where}, roles={"pct": Role.PERCENT}, units={"pct": unit})
    assert found.total_rows == count


def test_a_computed_growth_may_pass_the_whole_but_not_by_far() -> None:
    growth = {"op": "window", "order": ["x"], "columns": ["pct_change(x) as g"]}
    found = ran({"x": [1, 2, 9]}, growth, {"op": "filter", "where": "g > 2"})
    assert (found.total_rows, found.notes) == (1, ("'g' is a fraction: 2 means 200 %.",))
    assert refused({"x": [1, 2, 9]}, growth, {"op": "filter", "where": "g > 20"})[0] == "outside_scale"


COUNTED: dict[str, tuple[dict[str, Any], Steps, list[str]]] = {
    "a missing condition of a share": ({"x": [1, None, 3, None, 5, 6, 7]}, [{"op": "summarize", "by": [], "metrics": ["share_of_rows(x > 3) as s"]}], ["2 rows have a missing condition and are left out of the share."]),
    "a denied value in a share": ({"s": ["a", None, "b", "a", "b", "a"]}, [{"op": "summarize", "by": [], "metrics": ["count(where=s != 'a') as n"]}], ["1 rows with no value in s are not counted as different; they are left out."]),
    "a missing condition of a case": ({"x": [1, None]}, [{"op": "derive", "columns": ["case when x > 1 then 'big' else 'small' end as size"]}], ["1 rows have a missing condition and give missing."]),
    "not of a comparison": ({"s": ["a", None, "b"]}, [{"op": "filter", "where": "not (s == 'a')"}], ["1 rows with no value in s are not counted as different; they are left out."]),
    "a square root of a negative": ({"x": [-1.0, 4.0]}, [{"op": "derive", "columns": ["sqrt(x) as r"]}], ["1 rows have no square root and give missing."]),
    "a logarithm of zero": ({"x": [0.0, 1.0]}, [{"op": "derive", "columns": ["ln(x) as r"]}], ["1 rows have no logarithm and give missing."]),
    "text that is no number": ({"s": ["12", "n/a"]}, [{"op": "derive", "columns": ["number(s) as n"]}], ["1 rows cannot be read as a number and give missing."]),
    "totals divided by zero": ({"g": ["a", "b"], "x": [1, 2], "y": [0, 5]}, [{"op": "summarize", "by": ["g"], "metrics": ["sum(x) / sum(y) as r"]}], ["1 divisions of totals are by zero and give missing."]),
    "only finds nothing": ({"k": ["a", "b"], "x": [None, 2]}, [{"op": "derive", "columns": ["only(x, where=k == 'a') as first"]}], ["only(…) found no value 1 times and gives missing."]),
    "growth from zero": ({"k": [1, 2, 3], "x": [0, 2, 4]}, [{"op": "window", "order": ["k"], "columns": ["pct_change(x) as g"]}], ["1 changes start from zero and give missing."]),
    "growth from something": ({"k": [1, 2, 3], "x": [1, 2, 0]}, [{"op": "window", "order": ["k"], "columns": ["pct_change(x) as g"]}], []),
    "all known": ({"x": [1, 2, 3, 4, 5]}, [{"op": "summarize", "by": [], "metrics": ["share_of_rows(x > 3) as s"]}], []),
    "a case that knows": ({"x": [1, 2]}, [{"op": "derive", "columns": ["case when x > 1 then 'big' else 'small' end as size"]}], []),
    "coalesced": ({"x": [1, None, 3, 4, 5]}, [{"op": "summarize", "by": [], "metrics": ["share_of_rows(coalesce(x > 3, false)) as s"]}], []),
    "fine numbers": ({"x": [1.0, 4.0]}, [{"op": "derive", "columns": ["sqrt(x) as r", "ln(x) as l", "1 / x as q"]}], []),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_what_becomes_missing_or_is_left_out_is_counted(case: str) -> None:
    data, steps, expected = COUNTED[case]
    assert list(ran(data, *steps).warnings) == expected


def test_a_share_reports_the_known_conditions_in_its_support() -> None:
    found = ran(
        {"x": [1, None, 5, 6, 7, 8, 9]}, {"op": "summarize", "by": [], "metrics": ["share_of_rows(x > 3) as s"]}
    )
    assert found.frame.rows() == [(5 / 6,)]
    assert (found.support["group_values"], found.support["missing_skipped"]) == ({"s": [6]}, {"s": 1})


def test_a_tie_that_a_let_cuts_reaches_the_answer() -> None:
    let = {"name": "top", "source": "t", "steps": [{"op": "limit", "n": 1, "order": ["x desc"]}]}
    count = {"op": "summarize", "by": [], "metrics": ["count() as n"]}
    tied = ran({"k": ["a", "b"], "x": [3, 3]}, {"op": "filter", "where": "k in top.k"}, count, lets=[let])
    assert tied.warnings == ("In top: 1 more rows tie with the last one shown and are left out.",)
    assert (
        ran({"k": ["a", "b"], "x": [3, 4]}, {"op": "filter", "where": "k in top.k"}, count, lets=[let]).warnings == ()
    )


def test_several_values_for_only_in_a_let_withhold_the_answer() -> None:
    let = {"name": "one", "source": "t", "steps": [{"op": "summarize", "by": [], "metrics": ["only(x) as v"]}]}
    with pytest.raises(PlanError, match="In one: only"):
        ran({"x": [3, 4]}, {"op": "filter", "where": "x == one.v"}, lets=[let])
    assert ran({"x": [3, 3]}, {"op": "filter", "where": "x == one.v"}, lets=[let]).total_rows == 2


def test_computed_columns_are_capped_and_columns_of_a_joined_table_are_not() -> None:
    many = [f"x + {n} as y{n}" for n in range(150)]
    one = {"op": "derive", "columns": many}
    again = {"op": "derive", "columns": [text.replace(" as y", " as z") for text in many]}
    assert ran({"x": [1]}, one).frame.width == 151
    assert refused({"x": [1]}, one, {"op": "select", "columns": ["x"]}, again)[0] == "too_many_columns"
    wide = table("w", {"x": [1], **{f"c{n}": [n] for n in range(250)}})
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [{"op": "join", "table": "w", "how": "left", "on": ["x"]}]}]})  # fmt: skip
    assert isinstance(reply, PlanReply)
    tables = {"t": table("t", {"x": [1]}), "w": wide}
    assert run(checked_plan(reply, tables, CLOCK), tables)[0].frame.width == 251


@pytest.mark.parametrize(
    ("data", "step", "fits"),
    [
        ({"d": ["2014-01-01", "2024-01-01"]}, {"column": "d", "every": "1 day"}, True),
        ({"t": ["2014-01-01T00:00:00", "2024-01-01T00:00:00"]}, {"column": "t", "every": "1 second"}, False),
        ({"t": ["2014-01-01T00:00:00", "2024-01-01T00:00:00"]}, {"column": "t", "every": "1 hour"}, True),
        ({"g": [f"g{n}" for n in range(3000)], "k": list(range(3000))}, {"column": "k", "by": ["g"]}, False),
        ({"g": ["a", "b"] * 20, "k": list(range(40))}, {"column": "k", "by": ["g"]}, True),
        ({"k": [1, 9_000_000_000]}, {"column": "k", "every": "1"}, False),
    ],
)
def test_a_grid_of_too_many_rows_is_refused_before_it_is_made(data: Any, step: Any, fits: bool) -> None:
    if fits:
        assert ran(data, {"op": "fill_gaps", **step}).total_rows > 0
    else:
        assert refused(data, {"op": "fill_gaps", **step})[0] == "too_big"


@pytest.mark.parametrize(
    ("where", "code"),
    [("s == 'cherry'", "no_such_value"), ("s in ['apple', 'cherry']", "no_such_value"), ("s != 'cherry'", "no_such_value"), ("s == 'APPLE'", None), ("upper(s) == 'CHERRY'", None)],
)  # fmt: skip
def test_literals_are_proven_against_the_whole_column_also_behind_a_filter_and_a_let(
    where: str, code: str | None
) -> None:
    let = {"name": "few", "source": "t", "steps": [{"op": "filter", "where": "x > 1"}]}
    data = {"s": ["apple", "pear", "plum"], "x": [1, 2, 3]}
    for source, lets in (("t", []), ("few", [let])):
        if code is None:
            ran(data, {"op": "filter", "where": where}, lets=lets, source=source)
        else:
            assert refused(data, {"op": "filter", "where": where}, lets=lets, source=source)[0] == code


def noted(data: dict[str, Any], *steps: dict[str, Any]) -> tuple[str, ...]:
    return ran(data, *steps).notes


def test_the_bins_of_quantiles_say_where_they_end() -> None:
    notes = noted({"x": [1, 2, 3, 4, 5]}, {"op": "derive", "columns": ["quantile_bin(x, 2) as half"]})
    assert notes == ("Q1 from 1 to 3; Q2 from 3 to 5; a value between two belongs to the lower.",)
    later = {"op": "derive", "columns": ["x * 2 as y", "quantile_bin(y, 2) as half"]}
    assert noted({"x": [1, 2]}, later) == ()


def test_weeks_say_when_they_start() -> None:
    weeks = {"op": "derive", "columns": ["trunc(d, 'week') as w"]}
    assert noted({"d": ["2024-01-03"]}, weeks) == ("Weeks start on Monday.",)
    assert noted({"d": ["2024-01-03"]}, {"op": "derive", "columns": ["trunc(d, 'month') as m"]}) == ()


@pytest.mark.parametrize(("keys", "told"), [([1, None, 3], True), ([1, 2, 3], False)])
def test_an_anti_join_counts_the_rows_that_it_keeps_for_want_of_a_key(keys: list[int | None], told: bool) -> None:
    tables = {"t": table("t", {"k": keys}), "u": table("u", {"k": [1]})}
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [{"op": "join", "table": "u", "how": "anti", "on": ["k"]}]}]})  # fmt: skip
    assert isinstance(reply, PlanReply)
    found = run(checked_plan(reply, tables, CLOCK), tables)[0]
    assert found.total_rows == 2
    assert ("1 rows without a key match nothing, so they are kept." in found.warnings) is told


@pytest.mark.parametrize(
    ("period", "notes"),
    [
        ("last 3 months", ("Today is 2024-09-20 (UTC).", "'last 3 months' read as 2024-06-01 to 2024-08-31.")),
        ("2024 Q2", ("'2024 Q2' read as 2024-04-01 to 2024-06-30.",)),
    ],
)
def test_a_relative_period_says_from_which_day_it_is_counted(period: str, notes: tuple[str, ...]) -> None:
    assert noted({"d": ["2024-05-01", "2024-07-01"]}, {"op": "filter", "where": f"in_period(d, '{period}')"}) == notes


@pytest.mark.parametrize("unit", ["week", "month", "quarter", "year"])
@pytest.mark.parametrize("week_start", ["monday", "sunday"])
def test_dates_at_the_ends_of_time_are_periods_like_others(unit: str, week_start: str) -> None:
    tables = {"t": table("t", {"d": [dt.date(1, 1, 8), dt.date(2024, 1, 5), dt.date.max], "x": [1, 2, 3]})}
    steps = [{"op": "filter", "where": "d > '0001-01-01' or x > 0"}, by(f"trunc(d, '{unit}')"), GROWTH]
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": steps}]})
    assert isinstance(reply, PlanReply)
    assert run(checked_plan(reply, tables, Clock(CLOCK.today, week_start=week_start)), tables)[0].total_rows == 3
