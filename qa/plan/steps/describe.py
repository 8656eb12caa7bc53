"""The describe step: one row of statistics for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from qa.plan.formula import quoted_name
from qa.plan.scope import Scope
from qa.plan.steps.derive import Derive
from qa.plan.steps.macro import Inner, stack
from qa.plan.steps.select import Select, choose
from qa.plan.steps.step import CheckedStep, Issues, Step, StepExample, worded
from qa.plan.steps.summarize import Summarize, check_keys, keys_to_derive
from qa.types import Column, Kind

RESULT = [
    "column",
    "kind",
    "count",
    "missing",
    "distinct",
    "most_common",
    "mean",
    "std",
    "min",
    "q25",
    "median",
    "q75",
    "max",
    "first_date",
    "last_date",
]
_NUMBERS = {
    "mean": "mean({c})", "std": "std({c})", "min": "number(min({c}))", "q25": "quantile({c}, 0.25)", "median": "median({c})",
    "q75": "quantile({c}, 0.75)", "max": "number(max({c}))",
}  # fmt: skip


class Describe(Step):
    """One row for each column: how many values, how many missing, how many different, the most common, and the spread.

    Numbers have mean to max, dates first and last; what does not apply is missing.
    """

    op: Literal["describe"]
    columns: list[str] | None = Field(default=None, description="null takes all")
    by: list[str] | None = Field(default=None, description="for each of these keys")
    words: ClassVar = ("describe", "summary statistics", "overview", "profile")
    examples: ClassVar = (
        StepExample({"op": "describe"}, {"x": [1.0, 3.0, None], "g": ["b", "a", "b"], "d": ["2024-01-02", None, "2024-01-01"]}, RESULT, [
            ["x", "number", 2, 1, 2, "1", 2.0, 2.0**0.5, 1.0, 1.5, 2.0, 2.5, 3.0, None, None],
            ["g", "text", 3, 0, 2, "b", None, None, None, None, None, None, None, None, None],
            ["d", "date", 2, 1, 2, "2024-01-01", None, None, None, None, None, None, None, "2024-01-01", "2024-01-02"],
        ]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = [key.column.name for key in check_keys(scope, self.by or [], issues)]
        issues.done()
        columns = (
            [c for c in scope.schema if c.name not in keys] if self.columns is None else self.plain(scope, self.columns)
        )
        columns = [c for c in columns if c.kind is not Kind.LIST]
        if not columns:
            scope.refuse("empty_step", "There is no column to describe.", "Name one.", "columns")
        pieces = [self.one(scope, column, keys) for column in columns]
        return stack(scope, self, pieces, keys, f"describe {worded([c.name for c in columns][:6])}")

    def plain(self, scope: Scope, texts: Sequence[str]) -> list[Column]:
        outputs, columns = choose(scope, texts, "columns")
        if outputs:
            scope.refuse("not_a_column", f"{outputs[0].text!r} is not a column.", "Derive it first.", "columns")
        return columns

    def one(self, scope: Scope, column: Column, keys: Sequence[str]) -> Inner:
        """The statistics that a column's kind has; the stack leaves the rest missing."""
        name = f"{quoted_name(column.owner)}.{quoted_name(column.name)}" if column.owner else quoted_name(column.name)
        metrics = ["count(_c) as count", "count_missing(_c) as missing", "count_distinct(_c) as `distinct`"]
        texts, more = ["null_if('', '') as most_common"], [f"null_if(0.0, 0.0) as {stat}" for stat in _NUMBERS]
        dates = ["date(null_if('', '')) as first_date", "date(null_if('', '')) as last_date"]
        if column.kind not in (Kind.DURATION, Kind.TIME):
            metrics.append("mode(_c) as _mode")
            texts = ["text(_mode) as most_common"]
        if column.kind.numeric:
            metrics += [f"{formula.format(c='_c')} as {stat}" for stat, formula in _NUMBERS.items()]
            more = []
        if column.kind.temporal:
            metrics += ["date(min(_c)) as first_date", "date(max(_c)) as last_date"]
            dates = []
        label = column.name.replace("'", "''")
        inner = Inner(scope).then(Derive(op="derive", columns=[f"{name} as _c", *keys_to_derive(scope, self.by or [])]))
        inner.then(Summarize(op="summarize", by=[quoted_name(key) for key in keys], metrics=metrics))
        inner.then(
            Derive(op="derive", columns=[f"'{label}' as `column`", f"'{column.kind}' as kind", *texts, *more, *dates])
        )
        return inner.then(
            Select(op="select", columns=[*(quoted_name(key) for key in keys), *(quoted_name(n) for n in RESULT)])
        )
