"""The limit step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.polars_terms import order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.step import (
    CheckedStep,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    appended,
    order_keys,
    sql_outputs,
    with_outputs,
    worded,
)
from qa.plan.steps.summarize import check_keys
from qa.plan.typed import Const, Facets, Output, Ref, Watch, walk
from qa.types import NUMERIC, ROW, Kind, Order

_TIED = Watch(
    "{n} more rows tie with the last one shown and are left out.",
    Const(Facets(Kind.BOOLEAN, False), False),
    warning=True,
)

NARROW = 4
"""Columns beside the group's that are carried through a sort within groups; with more, fewer rows are sorted instead."""
FEW = 1_000
"""A cut at more rows than this is not worth looking for."""
KEEPING = frozenset({"filter", "derive", "select", "rename", "sort"})
"""Steps that leave the rows where they are."""
SIZED = NUMERIC | {Kind.DATE, Kind.DATETIME, Kind.TIME, Kind.DURATION}


class Limit(Step):
    """Keep the first n rows of an order, or of each group with `by`.

    `ties: cut` gives exactly n and says when it splits a tie; `ties: keep` keeps all that equal the last.
    """

    op: Literal["limit"]
    n: int = Field(ge=0, le=10_000_000)
    order: list[str] | None = Field(default=None, description="sort keys; null keeps the order")
    by: list[str] | None = Field(default=None, description="n rows for each of these keys")
    offset: int | None = Field(default=None, ge=0, description="rows to skip first")
    from_: Literal["start", "end"] | None = Field(default=None, alias="from")
    ties: Literal["cut", "keep"] | None = None
    words: ClassVar = ("top", "first", "highest", "largest", "most", "bottom", "lowest", "last")
    examples: ClassVar = (
        StepExample({"op": "limit", "n": 2, "order": ["x desc"]}, {"x": [1, 3, 2, None]}, ["x"], [[3], [2]]),
        StepExample(
            {"op": "limit", "n": 1, "order": ["x desc"], "ties": "keep"},
            {"k": ["a", "b", "c"], "x": [3, 1, 3]},
            ["k", "x"],
            [["a", 3], ["c", 3]],
        ),
        StepExample(
            {"op": "limit", "n": 1, "order": ["x desc"], "by": ["g"]},
            {"g": ["a", "b", "a"], "x": [1, 2, 3]},
            ["g", "x"],
            [["a", 3], ["b", 2]],
        ),
        StepExample({"op": "limit", "n": 2, "offset": 1}, {"x": [5, 6, 7, 8]}, ["x"], [[6], [7]]),
        StepExample({"op": "limit", "n": 2, "from": "end"}, {"x": [5, 6, 7, 8]}, ["x"], [[7], [8]]),
    )

    def check(self, scope: Scope) -> CheckedStep:
        from qa.plan.steps.step import Issues

        issues = Issues()
        outputs, keys = order_keys(scope, Binder(scope), self.order or [])
        groups = check_keys(scope, self.by or [], issues)
        issues.done()
        by = tuple(Order(group.column.id) for group in groups)
        full = appended(keys, scope.schema.order)
        after = replace(
            scope.schema, order=appended(by, full), one_row=scope.schema.one_row or (self.n <= 1 and not self.by and self.ties != "keep"),
            most_rows=self.n if not self.by and self.ties != "keep" else scope.schema.most_rows,
        )  # fmt: skip
        return CheckedLimit(
            step=self, before=scope.schema, after=after, outputs=(*outputs, *(g for g in groups if g.computed)), keys=keys, full=full,
            file_order=in_file_order(scope), by=tuple(group.column.id for group in groups), by_names=tuple(group.column.name for group in groups), uses_order=True,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CheckedLimit(CheckedStep):
    step: Limit
    outputs: Sequence[Output]
    keys: tuple[Order, ...]
    full: tuple[Order, ...]
    by: tuple[str, ...]
    by_names: tuple[str, ...]
    file_order: bool
    """the rows come one after the other as they lie in the file"""

    @property
    def window(self) -> tuple[int, int]:
        """First and last position kept, counted from 1."""
        offset = self.step.offset or 0
        return offset + 1, offset + self.step.n

    def walked(self) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
        """The sort keys and the full order, turned around when counting from the end."""
        if self.step.from_ != "end":
            return self.keys, self.full
        return tuple(_turned(key) for key in self.keys), tuple(_turned(key) for key in self.full)

    def placed(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        """Rows with their place `p` in their group and the place `q` of the first row equal on the sort keys."""
        keys, full = self.walked()
        frame = self.near_the_top(with_outputs(frame, self.outputs, lower))
        frame = frame.sort(**order_arguments(full)) if full else frame
        by = [pl.col(id) for id in self.by]
        place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        frame = frame.with_columns((place.over(by) if by else place).alias("p"))
        tied = [*by, *(pl.col(key.id) for key in keys)]
        return frame.with_columns((pl.col("p").min().over(tied) if keys else pl.col("p")).alias("q"))

    def unused(self, following: CheckedStep | None) -> list[str]:
        if following is None or following.step.op != "select" or getattr(following, "outputs", None):
            return []
        kept = {column.id for column in following.after} | {key.id for key in self.after.order} | set(self.by)
        computed = {node.column.id for output in self.outputs for node in walk(output.typed) if isinstance(node, Ref)}
        return [column.id for column in self.before if column.id not in kept | computed]

    def within_groups(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Each group sorted for itself, its rows carried along as one struct. A group has its rows in the file's order,
        which a stable sort keeps among equals."""
        keys, full = self.walked()
        rows = pl.struct(pl.exclude(self.by))
        stable = full[len(keys) :] == (Order(ROW),)
        first = rows.sort_by(**order_arguments(keys if stable else full), maintain_order=stable)
        cut = frame.group_by(self.by).agg(first.slice(self.window[0] - 1, self.step.n).alias("p"))
        return cut.explode("p", empty_as_null=False).unnest("p")

    def near_the_top(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Without most rows that cannot be among the first of their group, so that few are sorted (3 times faster)."""
        _, high = self.window
        key = self.walked()[0][0] if self.keys else None
        known = {column.id: column.kind for column in (*self.before, *(output.column for output in self.outputs))}
        if key is None or not self.by or key.nulls_first or not 0 < high <= FEW or known.get(key.id) not in SIZED:
            return frame
        value = pl.col(key.id)
        last = value.top_k(high).min() if key.descending else value.bottom_k(high).max()
        cut = pl.when(value.count() >= high).then(last).over([pl.col(id) for id in self.by])
        return frame.filter(cut.is_null() | (value >= cut if key.descending else value <= cut))

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        low, high = self.window
        if not self.by and self.step.ties != "keep":
            _, full = self.walked()
            frame = with_outputs(frame, self.outputs, lower)
            return (frame.sort(**order_arguments(full)) if full else frame).slice(low - 1, self.step.n)
        if self.by and self.keys and self.step.ties != "keep" and self.file_order:
            frame = with_outputs(frame, self.outputs, lower)
            if isinstance(frame, pl.LazyFrame) and 0 < len(frame.collect_schema()) - len(self.by) <= NARROW:
                return self.within_groups(frame)
        last = pl.col("q" if self.step.ties == "keep" else "p")
        return self.placed(frame, lower).filter((pl.col("p") >= low) & (last <= high)).drop("p", "q")

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        keys, full = self.walked()
        source = sql_outputs(source, self.outputs, lower)
        low, high = self.window
        by = [name(id) for id in self.by]
        place = exp.Window(
            this=exp.RowNumber(), partition_by=by, order=exp.Order(expressions=ordered(full)) if full else None
        )
        rank = exp.Window(
            this=exp.Anonymous(this="rank", expressions=[]),
            partition_by=[key.copy() for key in by],
            order=exp.Order(expressions=ordered(keys)),
        )
        places = [exp.alias_(place, "p", quoted=True), exp.alias_(rank if keys else place.copy(), "q", quoted=True)]
        marked = lower.named(exp.select(exp.Star(), *places).from_(source), "placed")
        last = name("q" if self.step.ties == "keep" else "p")
        kept = exp.And(
            this=exp.GTE(this=name("p"), expression=exp.Literal.number(low)),
            expression=exp.LTE(this=last, expression=exp.Literal.number(high)),
        )
        return exp.select(exp.Star(except_=[name("p"), name("q")])).from_(marked).where(kept)

    def tallies(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        if self.step.ties == "keep" or not self.keys:
            return []
        _, high = self.window
        if not self.by:
            return [(_TIED, self.tied_at_the_cut(with_outputs(frame, self.outputs, lower), high))]
        split = (pl.col("p") > high) & (pl.col("q") <= high)
        return [(_TIED, self.placed(frame, lower).select(split.sum().cast(pl.Int64).alias("n")))]

    def tied_at_the_cut(self, frame: pl.LazyFrame, high: int) -> pl.LazyFrame:
        """How many rows after the cut equal the last before it. Only the first rows are sorted, however many there are."""
        keys, _ = self.walked()
        ids = [key.id for key in keys]
        first = frame.select(ids).sort(**order_arguments(keys)).head(high)
        last = first.slice(high - 1, 1)
        like = [
            rows.join(last, on=ids, how="semi", nulls_equal=True).select(pl.len().cast(pl.Int64).alias(n))
            for rows, n in ((frame.select(ids), "all"), (first, "shown"))
        ]
        return pl.concat(like, how="horizontal").select((pl.col("all") - pl.col("shown")).alias("n"))

    def describe(self) -> str:
        which = "last" if self.step.from_ == "end" else "first"
        keys = f" by {worded(self.step.order)}" if self.step.order else ""
        groups = f" of each {worded(self.by_names)}" if self.by_names else ""
        skipped = f", after skipping {self.step.offset}" if self.step.offset else ""
        ties = ", and all that equal the last" if self.step.ties == "keep" else ""
        return f"keep the {which} {self.step.n}{groups}{keys}{skipped}{ties}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return f"the {'last' if self.step.from_ == 'end' else 'first'} {self.step.n} kept"


def in_file_order(scope: Scope) -> bool:
    """True when every step so far kept the rows as a table has them."""
    current = scope.current
    return current is not None and current.let is None and all(step.step.op in KEEPING for step in current.steps)


def _turned(key: Order) -> Order:
    return Order(key.id, not key.descending, not key.nulls_first)
