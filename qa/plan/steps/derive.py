"""The derive step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.formula import parse_named
from qa.plan.scope import Scope
from qa.plan.steps.step import (
    POSITION,
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    output,
    sql_outputs,
    uses_position,
    with_outputs,
    without,
    worded,
)
from qa.plan.typed import Output
from qa.types import Column, Schema


class Derive(Step):
    """Add columns computed in each row. A later formula sees the earlier ones; an existing name is replaced in place."""

    op: Literal["derive"]
    columns: list[str] = Field(description="'formula as name'", min_length=1)
    words: ClassVar = ("compute", "calculate", "as")
    examples: ClassVar = (
        StepExample(
            {"op": "derive", "columns": ["x * 2 as y", "y + 1 as z"]},
            {"x": [1, None]},
            ["x", "y", "z"],
            [[1, 2, 3], [None, None, None]],
        ),
        StepExample(
            {"op": "derive", "columns": ["x / sum(x) as share"]}, {"x": [1, 3]}, ["x", "share"], [[1, 0.25], [3, 0.75]]
        ),
        StepExample({"op": "derive", "columns": ["x + 1 as x"]}, {"x": [1], "y": [5]}, ["x", "y"], [[2, 5]]),
    )

    def check(self, scope: Scope) -> CheckedStep:
        before, outputs, replaced = scope.schema, [], []
        scope.numbers_rows = True
        issues = Issues()
        for index, text in enumerate(self.columns):
            with issues:
                named = parse_named(text)
                typed = Binder(scope).formula(
                    text if scope.has(text) else text[: len(text)] if not named.explicit else _head(text),
                    f"columns[{index}]",
                )
                made = output(scope, typed, named.name, text)
                outputs.append(made)
                scope.schema, was = put(scope.schema, made.column)
                replaced += [was] if was else []
        issues.done()
        return CheckedDerive(
            step=self, before=before, after=scope.schema, outputs=tuple(outputs), replaced=tuple(replaced), same_rows=True,
            watches=tuple(scope.watches), guards=tuple(scope.guards), uses_order=scope.uses_order,
        )  # fmt: skip


def _head(text: str) -> str:
    from qa.plan.formula import split_as

    return split_as(text)[0]


def put(schema: Schema, column: Column) -> tuple[Schema, str | None]:
    """The schema with a column added, or in the place of the one of its name."""
    for index, old in enumerate(schema.columns):
        if old.name.casefold() == column.name.casefold():
            columns = (*schema.columns[:index], column, *schema.columns[index + 1 :])
            keys = tuple(key for key in schema.keys if old.id not in key)
            return replace(schema, columns=columns, keys=keys), old.name
    return replace(schema, columns=(*schema.columns, column)), None


@dataclass(frozen=True, kw_only=True)
class CheckedDerive(CheckedStep):
    step: Derive
    outputs: Sequence[Output]
    replaced: Sequence[str]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        formulas = [o.typed for o in self.outputs]
        derived = with_outputs(self.ready(frame, *formulas), self.outputs, lower)
        return derived.drop(POSITION) if uses_position(*formulas) else derived

    def counted_on(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        """The rows with the new columns: a later formula sees the earlier ones."""
        return with_outputs(self.ready(frame, *(o.typed for o in self.outputs)), self.outputs, lower)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        formulas = [o.typed for o in self.outputs]
        derived = sql_outputs(self.sql_ready(source, lower, *formulas), self.outputs, lower)
        return without(derived, [POSITION] if uses_position(*formulas) else [])

    def describe(self) -> str:
        return f"compute {worded([o.text for o in self.outputs])}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return f"{worded(list(self.replaced))} replaced in place" if self.replaced else ""
