"""The window step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.formula import parse_named, split_as
from qa.plan.functions import WINDOWED
from qa.plan.functions.sqltools import DATE, cast, sql_local
from qa.plan.functions.table import Call
from qa.plan.functions.windows import RANKING, Place, SqlPlace
from qa.plan.polars_terms import PolarsTerms, order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import SqlTerms, name, ordered
from qa.plan.steps.derive import put
from qa.plan.steps.lift import lifted
from qa.plan.steps.step import (
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    appended,
    order_keys,
    output,
    sql_outputs,
    star,
    with_outputs,
    worded,
)
from qa.plan.steps.summarize import check_keys
from qa.plan.typed import Const, Facets, Output, Ref, Typed, Watch, Windowed, facets_of, walk
from qa.types import Column, Kind, Order

_FROM_ZERO = Watch("{n} changes start from zero and give missing.", Const(Facets(Kind.BOOLEAN, False), False))


class Window(Step):
    """Add columns that need an order or the other rows of a partition: ranks, running and rolling values, the row before.

    `by` are the partitions, `order` the order inside them; without it rows keep the order they have. An aggregate is
    over the partition. A later formula sees the earlier ones.
    """

    op: Literal["window"]
    by: list[str] | None = Field(default=None, description="partition keys")
    order: list[str] | None = Field(default=None, description="sort keys inside a partition")
    columns: list[str] = Field(description="'rank() as place', 'running_sum(x) as total'", min_length=1)
    words: ClassVar = ("running", "cumulative", "moving average", "rank", "compared with the previous", "change from")
    examples: ClassVar = (
        StepExample({"op": "window", "by": ["g"], "order": ["d"], "columns": ["running_sum(x) as total", "x - lag(x) as step"]}, {"g": ["a", "b", "a"], "d": [2, 1, 1], "x": [10, 5, 3]},
            ["g", "d", "x", "total", "step"], [["a", 2, 10, 13, 7], ["b", 1, 5, 5, None], ["a", 1, 3, 3, None]]),
        StepExample({"op": "window", "order": ["x desc"], "columns": ["rank() as place", "x / sum(x) as share", "running_sum(share) as reached"]}, {"x": [1, 6, 3]},
            ["x", "place", "share", "reached"], [[1, 3, 0.1, 1.0], [6, 1, 0.6, 0.6], [3, 2, 0.3, 0.9]]),
        StepExample({"op": "window", "by": ["g"], "columns": ["x - mean(x) as away", "first(x) as start"]}, {"g": ["a", "a", "b"], "x": [1, 3, 4]}, ["g", "x", "away", "start"], [["a", 1, -1.0, 1], ["a", 3, 1.0, 1], ["b", 4, 0.0, 4]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        before, issues = scope.schema, Issues()
        groups = check_keys(scope, self.by or [], issues)
        key_outputs, keys = order_keys(scope, Binder(scope), self.order or [])
        issues.done()
        first = [*(g for g in groups if g.computed), *key_outputs]
        refs = tuple(Ref(facets_of(g.column), g.column) for g in groups)
        scope.numbers_rows = True
        outputs, replaced = self.computed(scope, refs, keys, issues)
        issues.done()
        known = {column.id: column for column in (*before.columns, *(o.column for o in first))}
        return CheckedWindow(
            step=self, before=before, after=scope.schema, first=first, by=[ref.column.id for ref in refs], keys=keys, full=appended(keys, before.order),
            lead=known.get(keys[0].id) if keys else None, outputs=outputs, replaced=replaced, same_rows=True, watches=tuple(scope.watches), guards=tuple(scope.guards), uses_order=True,
        )  # fmt: skip

    def computed(
        self, scope: Scope, refs: tuple[Ref, ...], keys: tuple[Order, ...], issues: Issues
    ) -> tuple[list[Output], list[str]]:
        full, outputs, replaced = appended(keys, scope.schema.order), [], []
        for index, text in enumerate(self.columns):
            with issues:
                head, as_name = split_as(text)
                typed = Binder(scope, "window", ordered_by=full, partition=refs).formula(head, f"columns[{index}]")
                self.order_given(scope, typed, f"columns[{index}]")
                hidden, typed = lifted(scope, typed)
                made = output(scope, typed, as_name or parse_named(text).name, text)
                outputs += [*hidden, made]
                scope.schema, was = put(scope.schema, made.column)
                replaced += [was] if was else []
        return outputs, replaced

    def order_given(self, scope: Scope, typed: Typed, where: str) -> None:
        for node in walk(typed):
            if isinstance(node, Windowed) and node.function in RANKING and not self.order:
                scope.refuse(
                    "needs_order", f"{node.function} needs an order.", "Give the step order: ['x desc'].", where
                )


@dataclass(frozen=True, kw_only=True)
class CheckedWindow(CheckedStep):
    """`first` are keys to compute, `lead` the first sort key, `outputs` the columns with what they need before them."""

    step: Window
    first: Sequence[Output]
    by: Sequence[str]
    keys: tuple[Order, ...]
    full: tuple[Order, ...]
    lead: Column | None
    outputs: Sequence[Output]
    replaced: Sequence[str]

    @property
    def days(self) -> bool:
        return self.lead is not None and self.lead.kind in (Kind.DATE, Kind.DATETIME)

    @property
    def hidden(self) -> list[str]:
        shown = {column.id for column in self.after}
        made = [output.column.id for output in (*self.first, *self.outputs)]
        return [id for id in made if id not in shown]

    def polars_terms(self, lower: PolarsLowering) -> PolarsTerms:
        day = None
        if self.days and self.lead is not None:
            day = pl.col(self.lead.id).dt.date() if self.lead.kind is Kind.DATETIME else pl.col(self.lead.id)
        place = Place([pl.col(id) for id in self.by], [pl.col(key.id) for key in self.keys], day)

        def lowered(typed: Windowed, args: tuple[Any, ...], options: dict[str, Any]) -> pl.Expr:
            result: pl.Expr = WINDOWED[typed.function].polars(
                place, Call(typed.args, options, self.before.most_rows), *args, **options
            )
            return result

        return replace(lower.terms, window=lowered)

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        return self.counted_on(frame, lower).drop([*self.hidden, "n0"], strict=False)

    def counted_on(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        """The rows with the keys and the new columns: a later formula sees the earlier ones."""
        frame = with_outputs(frame, self.first, lower)
        frame = self.ready(frame, *(o.typed for o in self.outputs))
        frame = frame.sort(**order_arguments(self.full)) if self.full else frame
        return with_outputs(frame, self.outputs, lower, self.polars_terms(lower))

    def sql_terms(self, lower: SqlLowering) -> SqlTerms:
        day = (
            None
            if self.lead is None or not self.days
            else cast(sql_local(facets_of(self.lead), name(self.lead.id)), DATE)
        )
        place = SqlPlace([name(id) for id in self.by], ordered(self.keys), ordered(self.full), day)

        def lowered(typed: Windowed, args: tuple[Any, ...], options: dict[str, Any]) -> exp.Expression:
            result: exp.Expression = WINDOWED[typed.function].sql(
                place, Call(typed.args, options, self.before.most_rows), *args, **options
            )
            return result

        return replace(lower.terms, window=lowered)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        source = sql_outputs(source, self.first, lower)
        source = self.sql_ready(source, lower, *(o.typed for o in self.outputs))
        return star(sql_outputs(source, self.outputs, lower, self.sql_terms(lower)))

    def tallies(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[Any]:
        plain = [
            watch for watch in self.watches if not any(isinstance(node, Windowed) for node in walk(watch.condition))
        ]
        found = super(CheckedWindow, replace(self, watches=tuple(plain))).tallies(frame, lower) if plain else []
        grown = [
            n for o in self.outputs for n in walk(o.typed) if isinstance(n, Windowed) and n.function == "pct_change"
        ]
        if grown:
            terms, rows = self.polars_terms(lower), self.counted_on(frame, lower)
            zero = [terms(replace(node, function="lag")) == 0 for node in grown]
            from_zero = pl.any_horizontal(zero).sum().cast(pl.Int64).alias("n")
            found.append((_FROM_ZERO, rows.select(from_zero)))
        return found

    def describe(self) -> str:
        within = f" within each {worded(self.step.by)}" if self.step.by else ""
        order = f", in the order of {worded(self.step.order)}" if self.step.order else ""
        return f"compute {worded([o.text for o in self.outputs if o.text])}{within}{order}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return f"{worded(list(self.replaced))} replaced in place" if self.replaced else ""
