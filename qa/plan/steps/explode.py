"""The explode step: one row for each item of a cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.functions.sqltools import call, not_null, text, when
from qa.plan.scope import Scope
from qa.plan.sql_terms import name
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, StepExample
from qa.plan.typed import Ref
from qa.types import Column, Kind, Order


class Explode(Step):
    """Make one row for each item of a text such as `red; blue`, or of a list. Items are trimmed, empty ones left out.

    A row without items stays with a missing item, or goes with `empty: drop`.
    """

    op: Literal["explode"]
    column: str = Field(description="the column that holds the items")
    separator: str | None = Field(default=None, description="what stands between items; null for lists")
    empty: Literal["keep", "drop"] | None = Field(default=None, description="rows without items; keep unless given")
    words: ClassVar = ("each tag", "each genre", "split", "individual items")
    examples: ClassVar = (
        StepExample(
            {"op": "explode", "column": "tags", "separator": ";"},
            {"id": [1, 2, 3], "tags": ["red; blue", None, " ;x"]},
            ["id", "tags"],
            [[1, "red"], [1, "blue"], [2, None], [3, "x"]],
        ),
        StepExample(
            {"op": "explode", "column": "tags", "separator": ",", "empty": "drop"},
            {"id": [1, 2], "tags": ["a,b", None]},
            ["id", "tags"],
            [[1, "a"], [1, "b"]],
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        typed = Binder(scope).formula(self.column, "column")
        if not isinstance(typed, Ref) or typed.kind not in (Kind.TEXT, Kind.LIST):
            scope.refuse(
                "wrong_kind",
                f"{self.column!r} is no column of text or lists.",
                "Explode a text column with a separator.",
                "column",
            )
        old = typed.column
        if old.kind is Kind.TEXT and not self.separator:
            scope.refuse(
                "missing_field",
                f"{old.name!r} holds text, so a separator is needed.",
                "Write separator: ','.",
                "separator",
            )
        new = Column(scope.world.ids.fresh(), old.name, Kind.TEXT, nullable=True)
        place = scope.world.ids.fresh()
        columns = tuple(new if c.id == old.id else replace(c, unique=False) for c in scope.schema)
        order = (*(key for key in scope.schema.order if key.id != old.id or old.kind is Kind.TEXT), Order(place))
        after = replace(scope.schema, columns=columns, order=order, keys=(), one_row=False, most_rows=None)
        scope.world.note(f"A row with several {old.name} counts once for each.")
        return CheckedExplode(step=self, before=scope.schema, after=after, old=old, new=new.id, place=place)


@dataclass(frozen=True, kw_only=True)
class CheckedExplode(CheckedStep):
    step: Explode
    old: Column
    new: str
    place: str

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        source = pl.col(self.old.id)
        items = (
            source.cast(pl.String).str.split(self.step.separator or "")
            if self.old.kind is Kind.TEXT
            else source.cast(pl.List(pl.String))
        )
        trimmed = items.list.eval(pl.element().str.strip_chars(" \t\r\n"))
        kept = trimmed.list.eval(pl.element().filter(pl.element().is_not_null() & (pl.element() != "")))
        frame = frame.with_columns(kept.alias(self.new))
        some = pl.col(self.new).list.len() > 0
        if self.step.empty == "drop":
            frame = frame.filter(some)
        else:
            frame = frame.with_columns(
                pl.when(some).then(pl.col(self.new)).otherwise(pl.lit([None], dtype=pl.List(pl.String))).alias(self.new)
            )
        frame = frame.with_columns(pl.int_ranges(0, pl.col(self.new).list.len().cast(pl.Int64)).alias(self.place))
        return frame.explode(self.new, self.place)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        column = name(self.old.id)
        items = call("string_split", column, text(self.step.separator or "")) if self.old.kind is Kind.TEXT else column
        variable = exp.to_identifier("i")
        item = exp.Column(this=variable)
        trimmed = call(
            "list_transform",
            items,
            exp.Lambda(this=exp.Trim(this=item, expression=text(" \t\r\n")), expressions=[variable.copy()]),
        )
        filled = exp.And(this=not_null(item.copy()), expression=exp.NEQ(this=item.copy(), expression=text("")))
        kept = call("list_filter", trimmed, exp.Lambda(this=filled, expressions=[variable.copy()]))
        split = lower.named(exp.select(exp.Star(), exp.alias_(kept, "s0", quoted=True)).from_(source), "split")
        some = exp.GT(
            this=call("coalesce", call("len", name("s0")), exp.Literal.number("0")), expression=exp.Literal.number("0")
        )
        if self.step.empty == "drop":
            split = lower.named(exp.select(exp.Star()).from_(split).where(some), "split")
        count = exp.Greatest(
            this=call("coalesce", call("len", name("s0")), exp.Literal.number("0")),
            expressions=[exp.Literal.number("1")],
        )
        place = call("unnest", call("range", count))
        placed = lower.named(exp.select(exp.Star(), exp.alias_(place, self.place, quoted=True)).from_(split), "placed")
        at = exp.Add(this=name(self.place), expression=exp.Literal.number("1"))
        value = when(some.copy(), call("list_extract", name("s0"), at))
        return exp.select(exp.Star(except_=[name("s0")]), exp.alias_(value, self.new, quoted=True)).from_(placed)

    def describe(self) -> str:
        return f"make one row for each item of {self.old.name}"
