"""The select step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.formula import split_as
from qa.plan.scope import Scope
from qa.plan.steps.step import (
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    output,
    sql_outputs,
    star,
    with_outputs,
    worded,
)
from qa.plan.typed import Output, Ref
from qa.types import Column


class Select(Step):
    """Choose columns, in the order given, or drop some. Rows stay as they are."""

    op: Literal["select"]
    columns: list[str] | None = Field(default=None, description="'name' or 'formula as name'")
    drop: list[str] | None = Field(default=None, description="columns to leave out instead")
    words: ClassVar = ("show", "list", "only the columns")
    examples: ClassVar = (
        StepExample({"op": "select", "columns": ["b", "a as first"]}, {"a": [1], "b": [2]}, ["b", "first"], [[2, 1]]),
        StepExample({"op": "select", "drop": ["a"]}, {"a": [1], "b": [2]}, ["b"], [[2]]),
    )

    def check(self, scope: Scope) -> CheckedStep:
        if (self.columns is None) == (self.drop is None):
            scope.refuse("bad_step", "select takes either columns or drop.", "Give one of them.")
        outputs, columns = self.chosen(scope) if self.columns is not None else ((), self.kept(scope))
        if not columns:
            scope.refuse("empty_step", "select leaves no column.", "Choose at least one.")
        scope.refuse_repeats([column.name for column in columns])
        return CheckedSelect(
            step=self,
            before=scope.schema,
            after=replace(scope.schema, columns=tuple(columns)),
            outputs=outputs,
            same_rows=True,
            watches=tuple(scope.watches),
        )

    def chosen(self, scope: Scope) -> tuple[tuple[Output, ...], list[Column]]:
        return choose(scope, self.columns or [], "columns")

    def kept(self, scope: Scope) -> list[Column]:
        issues, gone = Issues(), set()
        for index, text in enumerate(self.drop or []):
            with issues:
                typed = Binder(scope).formula(text, f"drop[{index}]")
                if not isinstance(typed, Ref):
                    scope.refuse(
                        "not_a_column", f"{text!r} is not a column.", "drop takes column names.", f"drop[{index}]"
                    )
                gone.add(typed.column.id)
        issues.done()
        return [column for column in scope.schema if column.id not in gone]


def choose(scope: Scope, texts: Sequence[str], field: str) -> tuple[tuple[Output, ...], list[Column]]:
    """Columns by name or formula, each with its new name."""
    issues = Issues()
    outputs: list[Output] = []
    columns: list[Column] = []
    for index, text in enumerate(texts):
        with issues:
            head, as_name = (text, None) if scope.has(text) else split_as(text)
            typed = Binder(scope).formula(head, f"{field}[{index}]")
            if isinstance(typed, Ref) and all(typed.column.id != column.id for column in columns):
                columns.append(replace(typed.column, name=as_name or typed.column.name))
            else:
                made = output(scope, typed, as_name or head, text)
                outputs.append(made)
                columns.append(made.column)
    issues.done()
    return tuple(outputs), columns


@dataclass(frozen=True, kw_only=True)
class CheckedSelect(CheckedStep):
    """The choice lives in the schema; only computed columns touch the rows."""

    step: Select
    outputs: Sequence[Output]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        return with_outputs(frame, self.outputs, lower)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        return star(sql_outputs(source, self.outputs, lower))

    def describe(self) -> str:
        return f"show {worded(self.step.columns)}" if self.step.columns else f"leave out {worded(self.step.drop or [])}"
