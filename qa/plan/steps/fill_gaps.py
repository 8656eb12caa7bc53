"""The fill_gaps step: periods or categories without rows get one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.functions.dates import OFFSET
from qa.plan.functions.sqltools import BIGINT, DATE, DOUBLE, both, call, cast, is_null, when
from qa.plan.literals import constant
from qa.plan.polars_terms import order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.select import choose
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, StepExample, appended, worded
from qa.plan.typed import Aggregate, Apply, Facets, Guard, Ref, Typed, facets_of
from qa.types import Column, Kind, Order

MOST = 5_000_000
"""Rows that a completed grid may have."""
_MONTHS = ("month", "quarter", "year")


class FillGaps(Step):
    """Complete a grid: every period from the first to the last, or every category, gets a row in each group.

    The new rows are missing in the other columns, or take zero, the previous value, or a line between neighbours.
    Truncate dates to the unit first. Rows come ordered by the keys and the column.
    """

    op: Literal["fill_gaps"]
    column: str = Field(description="the column of periods or categories")
    every: str | None = Field(
        default=None, description="'1 month', '7 days', '1' for whole numbers; null for categories"
    )
    by: list[str] | None = Field(default=None, description="complete each group")
    columns: list[str] | None = Field(default=None, description="columns to fill; null is all others")
    fill: Literal["none", "zero", "previous", "linear"] | None = Field(default=None, description="none unless given")
    words: ClassVar = ("including months without", "fill gaps", "every month", "even if zero")
    examples: ClassVar = (
        StepExample({"op": "fill_gaps", "column": "m", "every": "1 month", "fill": "zero"}, {"m": ["2024-01-01", "2024-04-01"], "n": [5, 2]}, ["m", "n"], [["2024-01-01", 5], ["2024-02-01", 0], ["2024-03-01", 0], ["2024-04-01", 2]]),
        StepExample({"op": "fill_gaps", "column": "k", "by": ["g"]}, {"g": ["a", "a", "b"], "k": ["u", "v", "v"], "n": [1, 2, 3]}, ["g", "k", "n"], [["a", "u", 1], ["a", "v", 2], ["b", "u", None], ["b", "v", 3]]),
        StepExample({"op": "fill_gaps", "column": "y", "every": "1", "fill": "linear"}, {"y": [2020, 2022, 2023], "x": [1.0, 3.0, 7.0]}, ["y", "x"], [[2020, 1.0], [2021, 2.0], [2022, 3.0], [2023, 7.0]]),
        StepExample({"op": "fill_gaps", "column": "d", "every": "1 day", "fill": "previous"}, {"d": ["2024-01-03", "2024-01-01"], "x": [9, 4]}, ["d", "x"], [["2024-01-01", 4], ["2024-01-02", 4], ["2024-01-03", 9]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        column = self.plain(scope, [self.column], "column")[0]
        by = self.plain(scope, self.by or [], "by")
        taken = {column.id, *(c.id for c in by)}
        filled = (
            [c for c in scope.schema if c.id not in taken]
            if self.columns is None
            else self.plain(scope, self.columns, "columns")
        )
        count, unit = self.step_of(scope, column)
        self.grid_fits(scope, column, by, count, unit)
        fits = [c for c in filled if self.fill == "previous" or c.kind.numeric]
        if self.fill in ("zero", "linear") and self.columns is not None and len(fits) != len(filled):
            scope.refuse(
                "wrong_kind", f"fill {self.fill!r} needs numbers.", "Name numeric columns, or use previous.", "columns"
            )
        filled = fits if self.fill not in (None, "none") else []
        changed = {c.id: self.changed(c) for c in filled}
        columns = tuple(
            c if c.id in taken else changed.get(c.id) or replace(c, nullable=True, origin=None, unique=False)
            for c in scope.schema
        )
        columns = tuple(replace(c, unique=False) for c in columns)
        order = appended(tuple(Order(id) for id in [*(c.id for c in by), column.id]), scope.schema.order)
        after = replace(scope.schema, columns=columns, order=order, keys=(), one_row=False, most_rows=None)
        guards = (
            (self.on_grid(column),) if unit in _MONTHS else (self.small(column, count),) if unit == "number" else ()
        )
        return CheckedFillGaps(
            step=self,
            before=scope.schema,
            after=after,
            column=column,
            by=by,
            filled=filled,
            count=count,
            unit=unit,
            guards=guards,
            uses_order=True,
        )

    def changed(self, column: Column) -> Column:
        nullable = column.nullable or self.fill != "zero"
        kept = replace(column, nullable=nullable, origin=None)
        if self.fill == "linear":
            return replace(kept, kind=Kind.NUMBER, low=None, high=None)
        if self.fill == "zero" and column.low is not None and column.high is not None:
            return replace(kept, low=min(column.low, 0), high=max(column.high, 0))
        return kept

    def plain(self, scope: Scope, texts: Sequence[str], field: str) -> list[Column]:
        outputs, columns = choose(scope, texts, field)
        if outputs:
            scope.refuse("not_a_column", f"{outputs[0].text!r} is not a column.", "Derive it first.", field)
        return columns

    def step_of(self, scope: Scope, column: Column) -> tuple[int, str]:
        """How many of which unit; `category` without `every`, `number` for whole numbers."""
        if self.every is None:
            if self.fill == "linear":
                scope.refuse(
                    "bad_option", "Categories have no line between them.", "Use fill 'zero' or give every.", "fill"
                )
            return 1, "category"
        match = re.fullmatch(r"\s*(\d+)?\s*([a-z]*?)s?\s*", self.every)
        count, unit = (int(match[1] or 1), match[2] or "number") if match else (0, "")
        fits = {Kind.DATE: ("day", "week", *_MONTHS), Kind.DATETIME: tuple(OFFSET), Kind.INTEGER: ("number",)}.get(
            column.kind, ()
        )
        if count < 1 or unit not in fits or column.zone:
            hint = (
                "Derive date(x) or trunc(x, 'month') first."
                if column.kind is Kind.TEXT or column.zone
                else f"Use {', '.join(fits) or 'no every, for categories'}, such as '1 {(fits or ('month',))[0]}'."
            )
            scope.refuse(
                "bad_option",
                f"every {self.every!r} does not fit {column.name!r}, which holds {column.kind}.",
                hint,
                "every",
            )
        return count, unit

    def grid_fits(self, scope: Scope, column: Column, by: Sequence[Column], count: int, unit: str) -> None:
        """Refuses a grid of more than MOST rows, measured on the rows entering the step."""
        if scope.world.probe is None or scope.current is None:
            return
        ref, keys = Ref(facets_of(column), column), tuple(Ref(facets_of(key), key) for key in by)
        integer = Facets(Kind.INTEGER, True)
        wanted: list[Typed] = [Aggregate(integer, "count_distinct", keys, by=None)] if keys else []
        wanted += [Aggregate(ref.facets, end, (ref,), by=None) for end in ("min", "max")]
        wanted.append(Aggregate(integer, "count_distinct", (ref,), by=None))
        *groups, low, high, different = scope.world.probe.values(scope.current, wanted, scope.world.lets)
        points = int(different or 0) if unit == "category" or low is None else _points(low, high, count, unit)
        rows = points * max(int(groups[0] or 0) if groups else 1, 1)
        if rows > MOST:
            where = f" in each of {groups[0]:,} groups" if groups else ""
            scope.refuse(
                "too_big",
                f"The grid would have {rows:,} rows: {points:,} of {column.name}{where}.",
                f"{MOST:,} are the most. Filter first, or take larger steps.",
                "every" if self.every else "by",
            )

    def on_grid(self, column: Column) -> Guard:
        ref = Ref(Facets(column.kind, column.nullable), column)
        day = Apply(Facets(Kind.INTEGER, True), "day", (ref,))
        inside = Apply(Facets(Kind.BOOLEAN, True), "!=", (day, constant(1)))
        any_ = Aggregate(Facets(Kind.BOOLEAN, False), "any", (inside,), by=None)
        return Guard(
            "off_grid",
            f"{column.name} holds days inside a month, so there is no grid of months.",
            f"Derive trunc({column.name}, 'month') and summarize by it first.",
            any_,
        )

    def small(self, column: Column, count: int) -> Guard:
        ref = Ref(facets_of(column), column)
        low, high = (Aggregate(replace(ref.facets, nullable=True), end, (ref,), by=None) for end in ("min", "max"))
        span = Apply(
            Facets(Kind.NUMBER, True),
            "-",
            tuple(Apply(Facets(Kind.NUMBER, True), "number", (end,)) for end in (high, low)),
        )
        far = Apply(Facets(Kind.BOOLEAN, True), ">", (span, constant(float(MOST * count))))
        return Guard(
            "too_big",
            f"From the first to the last {column.name} is more than {MOST:,} steps.",
            "Filter first, or take larger steps.",
            far,
        )


_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2.6e6, "quarter": 7.8e6, "year": 3.1e7}  # fmt: skip


def _points(low: Any, high: Any, count: int, unit: str) -> int:
    """About how many steps lead from the first point to the last."""
    far = high - low
    return int((far if unit == "number" else far.total_seconds() / _SECONDS[unit]) // count) + 1


@dataclass(frozen=True, kw_only=True)
class CheckedFillGaps(CheckedStep):
    step: FillGaps
    column: Column
    by: Sequence[Column]
    filled: Sequence[Column]
    count: int
    unit: str

    @property
    def keys(self) -> list[str]:
        return [*(c.id for c in self.by), self.column.id]

    # ---- Polars ----

    def points(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        point = pl.col(self.column.id)
        if self.unit == "category":
            return frame.select(point).drop_nulls().unique()
        ends = frame.select(point.min().alias("a"), point.max().alias("b")).drop_nulls()
        if self.unit == "number":
            # A guard refuses more than MOST steps; the cut only keeps the engine alive until it is read.
            end = pl.min_horizontal(
                [pl.col("b").cast(pl.Int128), pl.col("a").cast(pl.Int128) + MOST * self.count]
            ).cast(pl.Int64)
            ranges = pl.int_ranges(pl.col("a"), end + 1, self.count, dtype=pl.Int64)
        else:
            every = f"{self.count}{OFFSET[self.unit]}"
            ranges = (
                pl.date_ranges("a", "b", every)
                if self.column.kind is Kind.DATE
                else pl.datetime_ranges("a", "b", every)
            )
        return ends.select(ranges.alias(self.column.id)).explode(self.column.id)

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        points = self.points(frame)
        by = [c.id for c in self.by]
        grid = frame.select([pl.col(id) for id in by]).unique().join(points, how="cross") if by else points
        added = grid.join(frame.select([pl.col(id) for id in self.keys]), on=self.keys, how="anti", nulls_equal=True)
        both_ = pl.concat([frame, added], how="diagonal_relaxed")
        if not self.filled:
            return both_
        both_ = both_.sort(**order_arguments(self.after.order))
        return both_.with_columns([self.value(c).alias(c.id) for c in self.filled])

    def value(self, column: Column) -> pl.Expr:
        value, by = pl.col(column.id), [pl.col(c.id) for c in self.by]
        match self.step.fill:
            case "zero":
                return value.fill_null(0)
            case "previous":
                filled = value.forward_fill()
            case _:
                at, known = self.axis(), value.cast(pl.Float64)
                here = pl.when(value.is_not_null()).then(at)
                low, high, x0, x1 = (
                    known.forward_fill(),
                    known.backward_fill(),
                    here.forward_fill(),
                    here.backward_fill(),
                )
                line = pl.when(x1 != x0).then(low + (high - low) * (at - x0) / (x1 - x0)).otherwise(low)
                filled = pl.when(value.is_not_null()).then(known).when(high.is_not_null()).then(line)
        return filled.over(by) if by else filled

    def axis(self) -> pl.Expr:
        point = pl.col(self.column.id)
        if self.column.kind is Kind.DATE:
            return point.cast(pl.Int32).cast(pl.Float64)
        return (point.dt.epoch("us") if self.column.kind is Kind.DATETIME else point).cast(pl.Float64)

    # ---- SQL ----

    def sql_points(self, source: exp.Table) -> exp.Select:
        point = name(self.column.id)
        known = exp.Not(this=exp.Is(this=point.copy(), expression=exp.Null()))
        if self.unit == "category":
            return exp.select(point).from_(source).where(known).distinct()
        ends = (exp.Min(this=point.copy()), exp.Max(this=point.copy()))
        low, high = (cast(end, BIGINT) for end in ends) if self.unit == "number" else ends
        step: Any = (
            exp.Literal.number(str(self.count))
            if self.unit == "number"
            else exp.Interval(
                this=exp.Literal.string(str(self.count * (3 if self.unit == "quarter" else 1))),
                unit=exp.Var(this="month" if self.unit == "quarter" else self.unit),
            )
        )
        series = call("unnest", call("generate_series", low, high, step))
        inner = exp.select(exp.alias_(series, "s", quoted=True)).from_(source).subquery("g")
        value = cast(name("s"), DATE) if self.column.kind is Kind.DATE else name("s")
        return exp.select(exp.alias_(value, self.column.id, quoted=True)).from_(inner)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        points = lower.named(self.sql_points(source), "points")
        by = [c.id for c in self.by]
        if by:
            groups = lower.named(exp.select(*[name(id) for id in by]).from_(source).distinct(), "groups")
            points = lower.named(exp.select(exp.Star()).from_(groups).join(points, join_type="cross"), "grid")
        alike: list[Any] = [
            exp.NullSafeEQ(
                this=exp.column(id, table="f", quoted=True), expression=exp.column(id, table="g", quoted=True)
            )
            for id in self.keys
        ]
        there = exp.Exists(
            this=exp.select(exp.Literal.number("1"))
            .from_(exp.alias_(source.copy(), "f", table=True))
            .where(reduce(lambda a, b: exp.And(this=a, expression=b), alike))
        )
        added = lower.named(
            exp.select(exp.Star()).from_(exp.alias_(points, "g", table=True)).where(exp.Not(this=there)), "added"
        )
        union = exp.Union(
            this=exp.select(exp.Star()).from_(source.copy()),
            expression=exp.select(exp.Star()).from_(added),
            distinct=False,
            by_name=True,
        )
        if not self.filled:
            return union
        completed = lower.named(union, "completed")
        values = [exp.alias_(self.sql_value(c), c.id, quoted=True) for c in self.filled]
        return exp.select(exp.Star(except_=[name(c.id) for c in self.filled]), *values).from_(completed)

    def sql_value(self, column: Column) -> exp.Expression:
        value = name(column.id)
        match self.step.fill:
            case "zero":
                return exp.Coalesce(this=value, expressions=[exp.Literal.number("0")])
            case "previous":
                return self.reach(value, forward=True)
        at, number = self.sql_axis(), cast(value, DOUBLE)
        here = when(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), at)
        low, high, x0, x1 = (
            self.reach(e.copy(), forward=f) for e, f in ((number, True), (number, False), (here, True), (here, False))
        )
        slope = both(
            exp.Div,
            both(exp.Mul, both(exp.Sub, high, low), both(exp.Sub, at.copy(), x0)),
            exp.Nullif(this=both(exp.Sub, x1, x0.copy()), expression=exp.Literal.number("0")),
        )
        line = when(
            is_null(high.copy()),
            exp.Null(),
            exp.Coalesce(this=both(exp.Add, low.copy(), slope), expressions=[low.copy()]),
        )
        reached = when(is_null(low.copy()), exp.Null(), line)
        return when(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), number.copy(), reached)

    def reach(self, value: exp.Expression, *, forward: bool) -> exp.Expression:
        """The nearest known value before or after, this row included."""
        start, end = ("UNBOUNDED", "CURRENT ROW") if forward else ("CURRENT ROW", "UNBOUNDED")
        spec = exp.WindowSpec(
            kind="ROWS", start=start, end=end, **({"start_side": "PRECEDING"} if forward else {"end_side": "FOLLOWING"})
        )
        found = exp.LastValue(this=value) if forward else exp.FirstValue(this=value)
        order = exp.Order(expressions=ordered(self.after.order))
        return exp.Window(
            this=exp.IgnoreNulls(this=found), partition_by=[name(c.id) for c in self.by], order=order, spec=spec
        )

    def sql_axis(self) -> exp.Expression:
        point = name(self.column.id)
        match self.column.kind:
            case Kind.DATE:
                return cast(
                    call("date_diff", exp.Literal.string("day"), cast(exp.Literal.string("1970-01-01"), DATE), point),
                    DOUBLE,
                )
            case Kind.DATETIME:
                return cast(call("epoch_us", point), DOUBLE)
            case _:
                return cast(point, DOUBLE)

    def guarded(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Guard, pl.LazyFrame]]:
        return [(guard, frame.select(lower.terms(guard.condition).cast(pl.Int64).alias("n"))) for guard in self.guards]

    def describe(self) -> str:
        what = f"every {self.step.every} of {self.column.name}" if self.step.every else f"every {self.column.name}"
        within = f" in each {worded([c.name for c in self.by])}" if self.by else ""
        return f"give {what}{within} a row{f', filled with {self.step.fill}' if self.filled else ''}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return f"{rows_out - rows_in:,} rows added" if rows_in is not None and rows_out is not None else ""
