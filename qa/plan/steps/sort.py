"""The sort step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.scope import Scope
from qa.plan.steps.step import (
    CheckedStep,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    appended,
    order_keys,
    sql_outputs,
    star,
    with_outputs,
    worded,
)
from qa.plan.typed import Output


class Sort(Step):
    """Put the rows in an order; the order they had breaks ties. Missing comes last unless `nulls first`."""

    op: Literal["sort"]
    order: list[str] = Field(description="'formula [asc|desc] [nulls first]'", min_length=1)
    words: ClassVar = ("sorted by", "ordered by", "in order of", "ranked by", "sort by")
    examples: ClassVar = (
        StepExample({"op": "sort", "order": ["x desc"]}, {"x": [1, None, 3]}, ["x"], [[3], [1], [None]]),
        StepExample(
            {"op": "sort", "order": ["x desc nulls first", "y"]},
            {"x": [1, None, 1], "y": ["b", "c", "a"]},
            ["x", "y"],
            [[None, "c"], [1, "a"], [1, "b"]],
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        outputs, order = order_keys(scope, Binder(scope), self.order)
        after = replace(scope.schema, order=appended(order, scope.schema.order))
        return CheckedSort(
            step=self, before=scope.schema, after=after, outputs=outputs, same_rows=True, watches=tuple(scope.watches)
        )


@dataclass(frozen=True, kw_only=True)
class CheckedSort(CheckedStep):
    """The order lives in the schema; only computed keys touch the rows."""

    step: Sort
    outputs: Sequence[Output]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        return with_outputs(frame, self.outputs, lower)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        return star(sql_outputs(source, self.outputs, lower))

    def describe(self) -> str:
        return f"sort by {worded(self.step.order)}"
