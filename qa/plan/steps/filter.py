"""The filter step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.scope import Scope
from qa.plan.steps.step import (
    POSITION,
    CheckedStep,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    uses_position,
    without,
)
from qa.plan.typed import Aggregate, Ref, Typed, Windowed
from qa.plan.watches import watch_negations


class Filter(Step):
    """Keep only the rows where a formula is true. Missing is not true."""

    op: Literal["filter"]
    where: str = Field(description="boolean formula")
    words: ClassVar = ("where", "only", "with", "whose", "that have", "for")
    examples: ClassVar = (
        StepExample({"op": "filter", "where": "row_index() <= 2"}, {"x": [5, 6, 7]}, ["x"], [[5], [6]]),
        StepExample({"op": "filter", "where": "x > 1"}, {"x": [1, 2, None, 3]}, ["x"], [[2], [3]]),
        StepExample({"op": "filter", "where": "x > mean(x)"}, {"x": [1, 2, None, 6]}, ["x"], [[6]]),
        StepExample(
            {"op": "filter", "where": "x > mean(x, by=g)"},
            {"g": ["a", "a", "b"], "x": [1, 3, 9]},
            ["g", "x"],
            [["a", 3]],
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        scope.numbers_rows = True
        typed = Binder(scope).boolean(self.where, "where")
        if not _names_a_row(typed):
            scope.refuse(
                "no_row_condition",
                "This condition is the same for every row.",
                "To filter groups, filter after the summarize step.",
                "where",
            )
        watch_negations(scope, typed)
        after = replace(scope.schema, keys=scope.schema.keys)
        return CheckedFilter(
            step=self,
            before=scope.schema,
            after=after,
            where=typed,
            watches=tuple(dict.fromkeys((*scope.left_out, *scope.watches))),
            guards=tuple(scope.guards),
            uses_order=scope.uses_order,
        )


def _names_a_row(typed: Typed) -> bool:
    """True when a column, or the row's number, stands outside every aggregate."""
    if isinstance(typed, Aggregate):
        return bool(typed.by)
    return isinstance(typed, Ref | Windowed) or any(_names_a_row(child) for child in typed.children)


@dataclass(frozen=True, kw_only=True)
class CheckedFilter(CheckedStep):
    step: Filter
    where: Typed

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        kept = self.ready(frame, self.where).filter(lower.terms(self.where))
        return kept.drop(POSITION) if uses_position(self.where) else kept

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        ready = self.sql_ready(source, lower, self.where)
        condition = lower.terms(self.where)
        own = [POSITION] if uses_position(self.where) else []
        if condition.find(exp.Window) is None:
            return without(ready, own).where(condition)
        kept = lower.named(exp.select(exp.Star(), exp.alias_(condition, "kept", quoted=True)).from_(ready), "marked")
        return without(kept, [*own, "kept"]).where(exp.column("kept", quoted=True))

    def describe(self) -> str:
        return f"keep the rows where {self.step.where}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        if rows_in is None or rows_out is None:
            return f"kept where {self.step.where}"
        return f"{rows_in - rows_out:,} rows do not satisfy {self.step.where}"
