"""The distinct step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.polars_terms import order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.step import (
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    sql_outputs,
    with_outputs,
    worded,
)
from qa.plan.steps.summarize import check_keys
from qa.plan.typed import Output
from qa.types import Kind, Order


class Distinct(Step):
    """Keep the first whole row of each combination of the columns; `[]` means of all. Rows come ordered by them.

    Missing equals missing.
    """

    op: Literal["distinct"]
    columns: list[str] = Field(default=[], description="columns that decide; [] is all")
    words: ClassVar = ("distinct", "unique", "without duplicates", "different")
    examples: ClassVar = (
        StepExample(
            {"op": "distinct", "columns": ["g"]},
            {"g": ["b", "a", "b", None, None], "x": [1, 2, 3, 4, 5]},
            ["g", "x"],
            [["a", 2], ["b", 1], [None, 4]],
        ),
        StepExample(
            {"op": "distinct", "columns": []}, {"g": ["b", "a", "b"], "x": [1, 2, 1]}, ["g", "x"], [["a", 2], ["b", 1]]
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = check_keys(scope, self.columns, issues)
        issues.done()
        ids = [key.column.id for key in keys] if self.columns else [c.id for c in scope.schema]
        lists = [c for c in scope.schema if c.id in ids and c.kind is Kind.LIST]
        if lists:
            scope.refuse(
                "wrong_kind",
                f"{lists[0].name!r} holds lists, which are not compared.",
                "Name the columns that decide, or explode it first.",
                "columns",
            )
        columns = tuple(replace(c, unique=c.unique or ids == [c.id]) for c in scope.schema)
        after = replace(
            scope.schema,
            columns=columns,
            order=tuple(Order(id) for id in ids),
            keys=(*scope.schema.keys, frozenset(ids)),
        )
        return CheckedDistinct(
            step=self,
            before=scope.schema,
            after=after,
            outputs=[k for k in keys if k.computed],
            ids=ids,
            uses_order=True,
        )


@dataclass(frozen=True, kw_only=True)
class CheckedDistinct(CheckedStep):
    step: Distinct
    outputs: Sequence[Output]
    ids: Sequence[str]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        frame = with_outputs(frame, self.outputs, lower)
        frame = frame.sort(**order_arguments(self.before.order)) if self.before.order else frame
        return frame.unique(list(self.ids), keep="first", maintain_order=True)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        source = sql_outputs(source, self.outputs, lower)
        order = exp.Order(expressions=ordered(self.before.order)) if self.before.order else None
        place = exp.Window(this=exp.RowNumber(), partition_by=[name(id) for id in self.ids], order=order)
        placed = lower.named(exp.select(exp.Star(), exp.alias_(place, "p", quoted=True)).from_(source), "placed")
        return (
            exp.select(exp.Star(except_=[name("p")]))
            .from_(placed)
            .where(exp.EQ(this=name("p"), expression=exp.Literal.number("1")))
        )

    def describe(self) -> str:
        return f"keep one row for each {worded(self.step.columns)}" if self.step.columns else "drop repeated rows"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return f"{rows_in - rows_out:,} repeats left out" if rows_in is not None and rows_out is not None else ""
