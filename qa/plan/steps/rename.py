"""The rename step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.formula import split_as
from qa.plan.scope import Scope
from qa.plan.steps.step import CheckedStep, Issues, PolarsLowering, SqlLowering, Step, StepExample, star, worded
from qa.plan.typed import Ref


class Rename(Step):
    """Give columns other names. Rows and order stay as they are."""

    op: Literal["rename"]
    columns: list[str] = Field(description="'old as new'", min_length=1)
    words: ClassVar = ("called", "renamed")
    examples: ClassVar = (
        StepExample({"op": "rename", "columns": ["a as b", "b as a"]}, {"a": [1], "b": [2]}, ["b", "a"], [[1, 2]]),
    )

    def check(self, scope: Scope) -> CheckedStep:
        names: dict[str, str] = {}
        issues = Issues()
        for index, text in enumerate(self.columns):
            with issues:
                old, new = split_as(text)
                typed = Binder(scope).formula(old, f"columns[{index}]")
                if new is None or not isinstance(typed, Ref):
                    scope.refuse(
                        "bad_option", f"{text!r} is not a new name.", "Write 'old as new'.", f"columns[{index}]"
                    )
                names[typed.column.id] = new
        issues.done()
        columns = tuple(replace(c, name=names[c.id]) if c.id in names else c for c in scope.schema)
        scope.refuse_repeats([c.name for c in columns if c.id in names or not c.owner])
        return CheckedRename(
            step=self, before=scope.schema, after=replace(scope.schema, columns=columns), names=names, same_rows=True
        )


@dataclass(frozen=True, kw_only=True)
class CheckedRename(CheckedStep):
    """Names live in the schema alone."""

    step: Rename
    names: Mapping[str, str]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        return frame

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        return star(source)

    def describe(self) -> str:
        return f"rename {worded(self.step.columns)}"
