"""The unpivot step: columns become rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.polars_terms import TYPES
from qa.plan.scope import Scope
from qa.plan.sql_terms import name
from qa.plan.steps.select import choose
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, StepExample, worded
from qa.plan.steps.union import SQL_TYPES, common
from qa.types import Column, Kind, Order, Schema


class Unpivot(Step):
    """Turn columns into rows: one row for each column, its name in one column and its value in another.

    Missing values keep their row. The columns must hold one kind; whole numbers and numbers mix.
    """

    op: Literal["unpivot"]
    columns: list[str] | None = Field(default=None, description="columns to turn; null is all but keep")
    keep: list[str] = Field(default=[], description="columns repeated on every row")
    names_to: str = Field(default="name", description="the new column of names")
    values_to: str = Field(default="value", description="the new column of values")
    words: ClassVar = ("one row per column", "long format", "melt")
    examples: ClassVar = (
        StepExample({"op": "unpivot", "columns": None, "keep": ["id"], "names_to": "year", "values_to": "sales"}, {"id": ["a", "b"], "2023": [1, 2], "2024": [3.5, None]},
            ["id", "year", "sales"], [["a", "2023", 1.0], ["a", "2024", 3.5], ["b", "2023", 2.0], ["b", "2024", None]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        kept = self.plain(scope, self.keep, "keep")
        gone = {c.id for c in kept}
        turned = (
            [c for c in scope.schema if c.id not in gone]
            if self.columns is None
            else self.plain(scope, self.columns, "columns")
        )
        if not turned:
            scope.refuse("empty_step", "unpivot turns no column.", "Name the columns.", "columns")
        value = common(scope, turned, everywhere=True)
        names = Column(scope.world.ids.fresh(), self.names_to, Kind.TEXT, nullable=False)
        values = replace(value, id=scope.world.ids.fresh(), name=self.values_to)
        scope.refuse_repeats([*(c.name for c in kept), self.names_to, self.values_to])
        place = scope.world.ids.fresh()
        most = scope.schema.most_rows
        columns = (*(replace(c, unique=False) for c in kept), names, values)
        after = Schema(
            columns,
            (*scope.schema.order, Order(place)),
            scope.schema.hidden,
            most_rows=None if most is None else most * len(turned),
            also=scope.schema.also,
            lost=scope.schema.lost,
        )
        return CheckedUnpivot(
            step=self,
            uses_order=True,
            before=scope.schema,
            after=after,
            kept=kept,
            turned=turned,
            names=names.id,
            values=values,
            place=place,
        )

    def plain(self, scope: Scope, texts: Sequence[str], field: str) -> list[Column]:
        outputs, columns = choose(scope, texts, field)
        if outputs:
            scope.refuse("not_a_column", f"{outputs[0].text!r} is not a column.", "Derive it first.", field)
        return columns


@dataclass(frozen=True, kw_only=True)
class CheckedUnpivot(CheckedStep):
    step: Unpivot
    kept: Sequence[Column]
    turned: Sequence[Column]
    names: str
    values: Column
    place: str

    @property
    def carried(self) -> list[str]:
        """What every row repeats: the kept columns and the order."""
        return list(dict.fromkeys([*(c.id for c in self.kept), *(key.id for key in self.before.order)]))

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        kind = pl.Datetime("us", self.values.zone) if self.values.zone else TYPES[self.values.kind]
        carried = [pl.col(id) for id in self.carried]
        pieces = [
            frame.select([*carried, pl.lit(c.name, dtype=pl.String).alias(self.names), pl.col(c.id).cast(kind).alias(self.values.id), pl.lit(i, dtype=pl.Int64).alias(self.place)])
            for i, c in enumerate(self.turned)
        ]  # fmt: skip
        return pl.concat(pieces)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        kind = exp.DataType.build("TIMESTAMPTZ" if self.values.zone else SQL_TYPES[self.values.kind])
        pieces: list[exp.Expression] = []
        for index, column in enumerate(self.turned):
            named = exp.alias_(exp.Literal.string(column.name), self.names, quoted=True)
            value = exp.alias_(exp.Cast(this=name(column.id), to=kind.copy()), self.values.id, quoted=True)
            place = exp.alias_(exp.Literal.number(str(index)), self.place, quoted=True)
            pieces.append(exp.select(*[name(id) for id in self.carried], named, value, place).from_(source.copy()))
        return reduce(lambda a, b: exp.Union(this=a, expression=b, distinct=False), pieces)

    def describe(self) -> str:
        return (
            f"turn {worded([c.name for c in self.turned])} into rows of {self.step.names_to} and {self.step.values_to}"
        )
