"""Plans that run: rows, ledger, support, ties, widening, order."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from qa.engine.crosscheck import crosscheck, differs
from qa.engine.result import PartResult
from qa.engine.run import checked_plan, run
from qa.errors import PlanError
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import Clock
from tests.agreement import ran, reply
from tests.tables import table

CLOCK = Clock(dt.date(2024, 5, 20))


def part(*steps: dict[str, Any], source: str = "t", lets: tuple[Any, ...] = (), **more: Any) -> PlanReply:
    reply = parse_reply(
        {"reply": "plan", "lets": list(lets), "parts": [{"title": "", "source": source, "steps": list(steps), **more}]}
    )
    assert isinstance(reply, PlanReply)
    return reply


def result(reply: PlanReply, **data: Any) -> PartResult:
    """The result of a one-part plan over small tables, after both engines agreed on it."""
    tables = {name: columns if hasattr(columns, "path") else table(name, columns) for name, columns in data.items()}
    plan = checked_plan(reply, tables, CLOCK)
    found = run(plan, tables)[0]
    verdict = crosscheck(plan, 0, found.frame, tables, 10_000)
    assert verdict.passed is True, verdict.detail
    return found


def rows(found: PartResult) -> list[list[Any]]:
    return [list(row) for row in found.frame.iter_rows()]


def test_not_equal_leaves_missing_out_and_says_how_many() -> None:
    found = result(
        part(
            {"op": "filter", "where": "status != 'shipped'"}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}
        ),
        t={"status": ["shipped", "open", None, "late", None]},
    )
    assert rows(found) == [[2]]
    assert any("2 rows with no value in status" in warning for warning in found.warnings)


def test_a_sum_of_nothing_is_missing_and_a_sum_of_zeros_is_zero() -> None:
    found = result(
        part({"op": "summarize", "by": ["team"], "metrics": ["sum(hours) as h"]}),
        t={"team": ["A", "A", "B", "C"], "hours": [5, None, None, 0]},
    )
    assert rows(found) == [["A", 5], ["B", None], ["C", 0]]
    assert found.support["missing_skipped"] == {"h": 2}
    assert found.support["group_rows"] == [2, 1, 1]


def test_division_by_zero_is_missing_counted_and_sorted_last() -> None:
    found = result(
        part({"op": "derive", "columns": ["orders / visits as rate"]}, {"op": "sort", "order": ["rate desc"]}),
        t={"page": ["a", "b", "c"], "orders": [1, 3, 0], "visits": [20, 0, 10]},
    )
    assert [row[3] for row in rows(found)] == [0.05, 0.0, None]
    assert found.warnings == ("1 rows divide by zero and give missing.",)


def test_a_sum_past_64_bits_is_exact_text_not_a_wrapped_number() -> None:
    big = 2**62
    found = result(
        part({"op": "summarize", "by": [], "metrics": ["sum(x) as s", "max(x) as m"]}), t={"x": [big, big, big]}
    )
    assert rows(found) == [[str(3 * big), big]]


def test_a_product_that_could_overflow_is_widened_and_comes_back_when_it_fits() -> None:
    found = result(part({"op": "derive", "columns": ["x * y as p"]}), t={"x": [2**40, 3], "y": [2**40, 5]})
    assert [row[2] for row in rows(found)] == [str(2**80), "15"]


@pytest.mark.parametrize(("ties", "names", "warned"), [("cut", ["a"], True), ("keep", ["a", "c"], False)])
def test_a_tie_at_the_cut_is_told_or_kept(ties: str, names: list[str], warned: bool) -> None:
    found = result(
        part({"op": "limit", "n": 1, "order": ["x desc"], "ties": ties}), t={"k": ["a", "b", "c"], "x": [3, 1, 3]}
    )
    assert [row[0] for row in rows(found)] == names
    assert bool(found.warnings) is warned


def test_the_ledger_counts_rows_into_and_out_of_every_step() -> None:
    found = result(
        part(
            {"op": "filter", "where": "x > 1"},
            {"op": "derive", "columns": ["x * 2 as y"]},
            {"op": "filter", "where": "y < 9"},
            {"op": "summarize", "by": ["g"], "metrics": ["sum(y) as s"]},
        ),
        t={"g": ["a", "b", "a", "b"], "x": [1, 2, 3, 9]},
    )
    assert [(row.op, row.rows_in, row.rows_out) for row in found.ledger] == [
        ("filter", 4, 3),
        ("derive", 3, 3),
        ("filter", 3, 2),
        ("summarize", 2, 2),
    ]


def test_a_literal_of_another_case_is_read_and_listed() -> None:
    found = result(part({"op": "filter", "where": "country == 'germany'"}), t={"country": ["Germany", "France"]})
    assert rows(found) == [["Germany"]]
    assert found.notes == ("`germany` read as `Germany` in country.",)


def test_a_literal_that_no_cell_holds_is_an_issue_with_the_nearest() -> None:
    with pytest.raises(PlanError) as caught:
        result(part({"op": "filter", "where": "country == 'Germony'"}), t={"country": ["Germany", "France"]})
    (issue,) = caught.value.issues
    assert (issue.code, issue.candidates[0]) == ("no_such_value", "Germany")


def test_every_issue_is_reported_at_once_with_its_place() -> None:
    with pytest.raises(PlanError) as caught:
        result(
            part({"op": "summarize", "by": ["regoin"], "metrics": ["sum(reveneu) as r", "mean(region) as m"]}),
            t={"region": ["a"], "revenue": [1]},
        )
    found = [(issue.code, issue.where) for issue in caught.value.issues]
    assert found == [
        ("no_such_column", "parts[0].steps[0].by[0]"),
        ("no_such_column", "parts[0].steps[0].metrics[0], col 5"),
        ("wrong_kind", "parts[0].steps[0].metrics[1]"),
    ]
    assert "Did you mean 'revenue'?" in str(caught.value)


def test_only_refuses_several_values_and_gives_the_one() -> None:
    data = {"c": ["x", "y", "y"], "p": [1, 2, 3]}
    found = result(part({"op": "filter", "where": "p > only(p, where=c == 'x')"}), t=data)
    assert [row[1] for row in rows(found)] == [2, 3]
    with pytest.raises(PlanError, match="several different values"):
        result(part({"op": "filter", "where": "p >= only(p, where=c == 'y')"}), t=data)


def test_a_one_row_let_is_a_scalar_and_any_let_is_a_list() -> None:
    lets = (
        {"name": "avg", "source": "t", "steps": [{"op": "summarize", "by": [], "metrics": ["mean(x) as m"]}]},
        {"name": "big", "source": "t", "steps": [{"op": "filter", "where": "x > avg.m"}]},
    )
    found = result(
        part({"op": "filter", "where": "g in big.g"}, lets=lets), t={"g": ["a", "b", "a", "c"], "x": [1, 2, 9, 1]}
    )
    assert rows(found) == [["a", 1], ["a", 9]]


def test_a_scalar_of_a_let_without_rows_is_missing() -> None:
    lets = ({"name": "none", "source": "t", "steps": [{"op": "filter", "where": "x > 100"}, {"op": "limit", "n": 1}]},)
    found = result(part({"op": "derive", "columns": ["x - none.x as d"]}, lets=lets), t={"x": [1, 2]})
    assert [row[1] for row in rows(found)] == [None, None]


def test_file_order_is_kept_without_a_sort_and_breaks_ties_of_one() -> None:
    data = {"k": ["c", "a", "b"], "x": [1, 1, 0]}
    assert [r[0] for r in rows(result(part({"op": "filter", "where": "x >= 0"}), t=data))] == ["c", "a", "b"]
    assert [r[0] for r in rows(result(part({"op": "sort", "order": ["x desc"]}), t=data))] == ["c", "a", "b"]
    assert [r[0] for r in rows(result(part({"op": "limit", "n": 2}), t=data))] == ["c", "a"]


def test_show_picks_computes_and_renames_after_the_last_step() -> None:
    found = result(
        part({"op": "summarize", "by": ["g"], "metrics": ["sum(x) as s", "count() as n"]}, show=["g", "s / n as mean"]),
        t={"g": ["a", "a", "b"], "x": [1, 2, 5]},
    )
    assert found.frame.columns == ["g", "mean"]
    assert rows(found) == [["a", 1.5], ["b", 5.0]]


def test_results_past_the_cap_are_cut_and_counted() -> None:
    tables = {"t": table("t", {"x": list(range(50))})}
    found = run(checked_plan(part({"op": "filter", "where": "x >= 10"}), tables), tables, rows=5)[0]
    assert (found.frame.height, found.total_rows, found.truncated) == (5, 40, True)


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("last 3 months", 3),
        ("this month", 2),
        ("month to date", 1),
        ("3 months", 4),
        ("2024-03", 1),
        ("2024 Q1", 3),
        ("last year", 1),
        ("yesterday", 0),
    ],
)
def test_relative_periods_resolve_against_the_clock_and_are_printed(period: str, expected: int) -> None:
    days = [
        dt.date(2023, 12, 31),
        dt.date(2024, 1, 31),
        dt.date(2024, 2, 1),
        dt.date(2024, 3, 31),
        dt.date(2024, 4, 30),
        dt.date(2024, 5, 1),
        dt.date(2024, 5, 31),
    ]
    found = result(part({"op": "filter", "where": f"in_period(d, '{period}')"}), t={"d": days})
    assert found.total_rows == expected
    assert any(f"'{period}' read as" in note for note in found.notes)


def test_a_date_without_time_reads_a_datetime_by_its_day() -> None:
    moments = ["2024-03-01T00:00:00", "2024-03-01T18:30:00", "2024-03-02T00:00:00"]
    found = result(part({"op": "filter", "where": "t <= '2024-03-01'"}), t={"t": moments})
    assert found.total_rows == 2


def test_two_results_that_differ_are_told_apart() -> None:
    import polars as pl

    assert differs(pl.DataFrame({"a": [1.0, 2.0]}), pl.DataFrame({"b": [1.0, 2.0 + 1e-12]})) is None
    assert "row 2" in (differs(pl.DataFrame({"a": [1.0, 2.0]}), pl.DataFrame({"b": [1.0, 2.1]})) or "")
    assert "rows against" in (differs(pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1, 2]})) or "")
    assert differs(pl.DataFrame({"a": [1, None]}), pl.DataFrame({"a": [1, 0]})) is not None


def test_a_negated_missing_condition_is_missing_on_both_engines() -> None:
    found = result(part({"op": "derive", "columns": ["if(not b, 1, 2) as n"]}), t={"b": [True, False, None]})
    assert [row[1] for row in rows(found)] == [2, 1, None]


@pytest.mark.parametrize("by", ["50 %", "`50 %`"])
@pytest.mark.parametrize("step", [
    {"op": "describe", "columns": ["x", "y"]},
    {"op": "test", "kind": "pearson", "columns": ["x", "y"]},
    {"op": "fit", "target": "y", "predictors": ["x"]},
], ids=lambda step: str(step["op"]))  # fmt: skip
def test_a_key_in_backticks_keeps_its_name_and_orders_the_groups(step: dict[str, Any], by: str) -> None:
    groups = ["b", None, "", "a"] * 4
    rows = {"50 %": groups, "x": list(range(16)), "y": [n * n for n in range(16)]}
    frame = ran(reply("t", [{**step, "by": [by]}]), {"t": table("t", rows)}).frame
    assert frame.columns[0] == "50 %"
    assert frame["50 %"].unique(maintain_order=True).to_list() == ["", "a", "b", None]
