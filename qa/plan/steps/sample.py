"""The sample step: some rows by chance, the same ones for the same seed on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.step import (
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    numbered,
    sql_outputs,
    with_outputs,
    worded,
)
from qa.plan.steps.summarize import check_keys
from qa.plan.typed import Output

PRIME = 2_147_483_647
"""Products of two numbers below it fit 64 bits, so both engines compute the same hash."""


class Sample(Step):
    """Keep n rows, or a fraction, chosen by chance; of each group with `by`. The same seed gives the same rows, in their order."""

    op: Literal["sample"]
    n: int | None = Field(default=None, ge=0, description="how many rows")
    fraction: float | None = Field(default=None, ge=0, le=1, description="which share of the rows")
    by: list[str] | None = Field(default=None, description="sample each group")
    seed: int | None = Field(default=None, description="another seed gives other rows")
    words: ClassVar = ("sample", "random", "some examples")
    examples: ClassVar = (
        StepExample({"op": "sample", "n": 2, "seed": 1}, {"x": [1, 2, 3, 4, 5]}, ["x"], [[3], [5]]),
        StepExample(
            {"op": "sample", "fraction": 0.5, "by": ["g"]},
            {"g": ["a", "a", "b", "b"], "x": [1, 2, 3, 4]},
            ["g", "x"],
            [["a", 2], ["b", 3]],
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        if (self.n is None) == (self.fraction is None):
            scope.refuse("bad_step", "sample takes either n or fraction.", "Give one of them.")
        issues = Issues()
        keys = check_keys(scope, self.by or [], issues)
        issues.done()
        most = self.n if self.n is not None and not keys else scope.schema.most_rows
        after = replace(
            scope.schema,
            most_rows=most if scope.schema.most_rows is None or most is None else min(most, scope.schema.most_rows),
        )
        return CheckedSample(
            step=self,
            before=scope.schema,
            after=after,
            first=[k for k in keys if k.computed],
            by=[k.column.id for k in keys],
            uses_order=True,
        )


@dataclass(frozen=True, kw_only=True)
class CheckedSample(CheckedStep):
    step: Sample
    first: Sequence[Output]
    by: Sequence[str]

    def mixed(self, place: Any, whole: Any, divided: Any) -> Any:
        """A hash of a row's number. `whole` makes a number a term, `divided` gives the rest of a division."""
        seed = (self.step.seed or 0) % 1_000_003
        value = divided(place * whole(48_271) + whole(seed * 1_009 + 12_345))
        for shift in (7_919, 104_729, 15_485_863):
            value = divided(value * value + whole(shift))
        return value

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        frame = numbered(with_outputs(frame, self.first, lower), self.before.order, "p")
        chance = self.mixed(pl.col("p"), lambda n: pl.lit(n, dtype=pl.Int64), lambda v: v % PRIME)
        by = [pl.col(id) for id in self.by]
        frame = frame.with_columns(chance.alias("q")).sort("q", "p")
        place, size = pl.int_range(1, pl.len() + 1, dtype=pl.Int64), pl.len().cast(pl.Float64)
        kept = (
            place <= self.step.n
            if self.step.n is not None
            else place.cast(pl.Float64) <= (size * (self.step.fraction or 0.0) + 0.5).floor()
        )
        chosen = frame.with_columns((kept.over(by) if by else kept).alias("k")).filter(pl.col("k"))
        return chosen.drop(["p", "q", "k", *(o.column.id for o in self.first)])

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        source = sql_outputs(source, self.first, lower)
        number = exp.Window(
            this=exp.RowNumber(), order=exp.Order(expressions=ordered(self.before.order)) if self.before.order else None
        )
        numbered_ = lower.named(exp.select(exp.Star(), exp.alias_(number, "p", quoted=True)).from_(source), "numbered")
        chance = self.mixed(
            _Term(name("p")),
            lambda n: _Term(exp.Literal.number(str(n))),
            lambda v: _Term(exp.Mod(this=exp.Paren(this=v.node), expression=exp.Literal.number(str(PRIME)))),
        )
        mixed = lower.named(exp.select(exp.Star(), exp.alias_(chance.node, "q", quoted=True)).from_(numbered_), "mixed")
        by = [name(id) for id in self.by]
        order = exp.Order(expressions=[exp.Ordered(this=name("q")), exp.Ordered(this=name("p"))])
        place = exp.Window(this=exp.RowNumber(), partition_by=by, order=order)
        size = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[key.copy() for key in by])
        placed = lower.named(
            exp.select(exp.Star(), exp.alias_(place, "k", quoted=True), exp.alias_(size, "s", quoted=True)).from_(
                mixed
            ),
            "placed",
        )
        share = exp.Floor(
            this=exp.Add(
                this=exp.Mul(this=name("s"), expression=exp.Literal.number(repr(float(self.step.fraction or 0)))),
                expression=exp.Literal.number("0.5"),
            )
        )
        most = exp.Literal.number(str(self.step.n)) if self.step.n is not None else share
        gone = [name(id) for id in ("p", "q", "k", "s", *(o.column.id for o in self.first))]
        return exp.select(exp.Star(except_=gone)).from_(placed).where(exp.LTE(this=name("k"), expression=most))

    def describe(self) -> str:
        size = f"{self.step.n:,} rows" if self.step.n is not None else f"{self.step.fraction:.0%} of the rows"
        return f"take {size}{f' of each {worded(self.step.by)}' if self.step.by else ''} by chance (seed {self.step.seed or 0})"


@dataclass(frozen=True)
class _Term:
    """SQL that adds and multiplies like a number."""

    node: exp.Expression

    def __add__(self, other: _Term) -> _Term:
        return _Term(exp.Paren(this=exp.Add(this=self.node.copy(), expression=other.node.copy())))

    def __mul__(self, other: _Term) -> _Term:
        return _Term(exp.Paren(this=exp.Mul(this=self.node.copy(), expression=other.node.copy())))
