"""Steps that are made of other steps: written in the language itself, so both engines already know them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlglot import exp

from qa.plan.scope import Scope
from qa.plan.sql_terms import name
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, star
from qa.plan.typed import Guard
from qa.types import Column, Order, Schema

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline


class Inner:
    """Checks one inner step after another, each against what the one before gives."""

    def __init__(self, scope: Scope) -> None:
        self.world = scope.world
        self.schema = scope.schema
        self.current = scope.current
        self.steps: list[CheckedStep] = []

    def then(self, step: Step) -> Inner:
        scope = Scope(self.schema, self.world)
        scope.current = self.current
        checked = step.check(scope)
        self.steps.append(checked)
        self.schema = checked.after
        if self.current is not None:
            self.current = replace(self.current, steps=(*self.current.steps, checked))
        return self

    def onward(self) -> Inner:
        """Other steps from here on; these stay as they are."""
        other = copy(self)
        other.steps = []
        return other

    def as_let(self, what: str) -> str:
        """Gives the rows so far a name that later inner steps can read, and returns it."""
        name = f"__{what}{len(self.world.lets)}"
        assert self.current is not None
        self.world.lets[name] = self.current
        return name

    def guarded_by(self, guard: Guard) -> Inner:
        """The last inner step with one more guard on the rows entering it."""
        self.steps[-1] = replace(self.steps[-1], guards=(*self.steps[-1].guards, guard))
        return self


@dataclass(frozen=True, kw_only=True)
class CheckedMacro(CheckedStep):
    """Inner steps in a row."""

    inner: Sequence[CheckedStep]
    told: str = ""

    @property
    def reads(self) -> tuple[CheckedPipeline, ...]:
        """The tables that inner steps read beside the rows."""
        return tuple(other for step in self.inner for other in getattr(step, "reads", ()))

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        for step in self.inner:
            frame = step.polars(frame, lower)
        return frame

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        for step in self.inner:
            source = lower.named(step.sql(source, lower), step.step.op)
        return star(source)

    def guarded(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Guard, pl.LazyFrame]]:
        found: list[tuple[Guard, pl.LazyFrame]] = []
        for step in self.inner:
            found += step.guarded(frame, lower)
            frame = step.polars(frame, lower)
        return found

    def describe(self) -> str:
        return self.told


def macro(step: Step, scope: Scope, inner: Inner, told: str) -> CheckedMacro:
    """The inner steps as one step of the rows that entered it."""
    uses_order = any(one.uses_order for one in inner.steps)
    return CheckedMacro(
        step=step, before=scope.schema, after=inner.schema, inner=inner.steps, told=told, uses_order=uses_order
    )


@dataclass(frozen=True, kw_only=True)
class CheckedStack(CheckedStep):
    """Several pipelines over the same rows, their results under each other; a column that one lacks is missing there."""

    pieces: Sequence[Sequence[CheckedStep]]
    columns: Sequence[Column]
    place: str
    told: str = ""

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        stacked = []
        for index, piece in enumerate(self.pieces):
            rows = frame
            for step in piece:
                rows = step.polars(rows, lower)
            stacked.append(
                rows.select([*self._values(piece[-1].after), pl.lit(index, dtype=pl.Int64).alias(self.place)])
            )
        return pl.concat(stacked)

    def _values(self, schema: Schema) -> list[pl.Expr]:
        from qa.plan.polars_terms import TYPES

        ids = {column.name: column.id for column in schema}
        made = []
        for column in self.columns:
            kind = pl.Datetime("us", column.zone) if column.zone else TYPES[column.kind]
            made.append(
                (pl.col(ids[column.name]).cast(kind) if column.name in ids else pl.lit(None, dtype=kind)).alias(
                    column.id
                )
            )
        return made

    def guarded(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Guard, pl.LazyFrame]]:
        found: list[tuple[Guard, pl.LazyFrame]] = []
        for piece in self.pieces:
            rows = frame
            for step in piece:
                found += step.guarded(rows, lower)
                rows = step.polars(rows, lower)
        return found

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        from qa.plan.steps.union import SQL_TYPES, stacked

        tables = []
        for index, piece in enumerate(self.pieces):
            table = source.copy()
            for step in piece:
                table = lower.named(step.sql(table, lower), step.step.op)
            ids = {column.name: column.id for column in piece[-1].after}
            values: list[Any] = [
                exp.alias_(exp.Cast(this=name(ids[c.name]) if c.name in ids else exp.Null(), to=exp.DataType.build("TIMESTAMPTZ" if c.zone else SQL_TYPES[c.kind])), c.id, quoted=True)
                for c in self.columns
            ]  # fmt: skip
            tables.append(
                lower.named(
                    exp.select(*values, exp.alias_(exp.Literal.number(str(index)), self.place, quoted=True)).from_(
                        table
                    ),
                    "piece",
                )
            )
        return stacked(tables)

    def describe(self) -> str:
        return self.told


def stack(scope: Scope, step: Step, pieces: Sequence[Inner], keys: Sequence[str], told: str) -> CheckedStack:
    """The pipelines one after another, by column name, ordered by the keys and then by piece."""
    from qa.plan.steps.union import common

    named: dict[str, list[Column]] = {}
    for piece in pieces:
        for column in piece.schema:
            named.setdefault(column.name, []).append(column)
    columns = [
        replace(common(scope, found, len(found) == len(pieces)), id=scope.world.ids.fresh(), owner=None, origin=None, unique=False, repeated=False)
        for found in named.values()
    ]  # fmt: skip
    place = scope.world.ids.fresh()
    by = [column.id for column in columns if column.name in keys]
    order = (*(Order(id) for id in by), Order(place))
    most = (
        sum(piece.schema.most_rows or 0 for piece in pieces)
        if all(piece.schema.most_rows is not None for piece in pieces)
        else None
    )
    after = Schema(tuple(columns), order, most_rows=most)
    return CheckedStack(
        step=step,
        before=scope.schema,
        after=after,
        pieces=[piece.steps for piece in pieces],
        columns=columns,
        place=place,
        told=told,
        uses_order=any(one.uses_order for piece in pieces for one in piece.steps),
    )
