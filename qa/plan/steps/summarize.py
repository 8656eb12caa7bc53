"""The summarize step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.bind import Binder
from qa.plan.formula import parse_named, split_as
from qa.plan.scope import Scope
from qa.plan.sql_terms import name
from qa.plan.steps.step import (
    CheckedStep,
    Issues,
    PolarsLowering,
    SqlLowering,
    Step,
    StepExample,
    output,
    sql_outputs,
    with_outputs,
    worded,
)
from qa.plan.typed import Aggregate, Facets, Guard, Output, Ref, Typed, Watch, Windowed, column_of, facets_of, walk
from qa.types import Column, Kind, Order, Schema


class Summarize(Step):
    """One row for each combination of the keys, with aggregates. `by: []` gives one row for the whole table.

    A missing key is a group of its own. Rows come ordered by the keys.
    """

    op: Literal["summarize"]
    by: list[str] = Field(default=[], description="group keys: columns or 'formula as name'")
    metrics: list[str] = Field(default=[], description="'aggregate formula as name'")
    words: ClassVar = ("by", "per", "for each", "each", "in each", "grouped by", "broken down by")
    examples: ClassVar = (
        StepExample(
            {"op": "summarize", "by": ["g"], "metrics": ["sum(x) as total", "count() as n"]},
            {"g": ["b", "a", None, "a"], "x": [1, 2, 3, None]},
            ["g", "total", "n"],
            [["a", 2, 2], ["b", 1, 1], [None, 3, 1]],
        ),
        StepExample(
            {"op": "summarize", "by": [], "metrics": ["mean(x) as m", "sum(x, where=x > 1) / sum(x) as s"]},
            {"x": [1, 2, 3, None]},
            ["m", "s"],
            [[2.0, 5 / 6]],
        ),
        StepExample(
            {"op": "summarize", "by": ["g"], "metrics": ["sum(x) as t", "t / sum(x, by=[]) as share"]},
            {"g": ["a", "b", "b"], "x": [1, 1, 2]},
            ["g", "t", "share"],
            [["a", 1, 0.25], ["b", 3, 0.75]],
        ),
        StepExample(
            {"op": "summarize", "by": ["x % 2 as odd"], "metrics": ["max(x) as top"]},
            {"x": [1, 2, 3, 4]},
            ["odd", "top"],
            [[0, 4], [1, 3]],
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = check_keys(scope, self.by, issues)
        metrics = check_metrics(scope, self.metrics, keys, issues)
        if not self.by and not self.metrics:
            scope.refuse("empty_step", "summarize needs keys or metrics.", "Write metrics: ['count() as n'].")
        issues.done()
        scope.refuse_repeats([*(k.column.name for k in keys), *(m.column.name for m in metrics)])
        return CheckedSummarize(
            step=self, before=scope.schema, after=grouped_schema(scope, keys, metrics), keys=tuple(keys), metrics=tuple(metrics),
            support=tuple(support_columns(scope, metrics)), rows_id=scope.world.ids.fresh(), watches=tuple(dict.fromkeys((*scope.watches, *scope.left_out))), guards=tuple(scope.guards), uses_order=scope.uses_order,
        )  # fmt: skip


def check_keys(scope: Scope, texts: Sequence[str], issues: Issues) -> list[Output]:
    """The group keys; a plain column keeps its engine name."""
    keys: list[Output] = []
    for index, text in enumerate(texts):
        with issues:
            plain = scope.has(text)
            head, as_name = (text, None) if plain else split_as(text)
            typed = Binder(scope).formula(head, f"by[{index}]")
            if any(isinstance(node, Aggregate) and node.by == () for node in walk(typed)) and not any(
                isinstance(node, Ref) for node in walk(typed)
            ):
                scope.refuse(
                    "wrong_kind",
                    f"{head!r} is one value for the whole table, not a key.",
                    "Group by a column.",
                    f"by[{index}]",
                )
            if isinstance(typed, Ref) and all(typed.column.id != key.column.id for key in keys):
                keys.append(Output(typed, replace(typed.column, name=as_name or typed.column.name), text))
            else:
                made = output(scope, typed, as_name or head, text)
                keys.append(made)
    return keys


def keys_to_derive(scope: Scope, texts: Sequence[str]) -> list[str]:
    """The keys that no column holds yet under the name they will have; a quoted or differently cased name is a column."""
    keys = check_keys(scope, texts, Issues())
    return [key.text for key in keys if not (isinstance(key.typed, Ref) and key.typed.column.name == key.column.name)]


def check_metrics(scope: Scope, texts: Sequence[str], keys: Sequence[Output], issues: Issues) -> list[Output]:
    """The metrics, each seeing the keys and the metrics before it; inside an aggregate the input columns and keys."""
    outer: dict[str, Typed] = {}
    for key in keys:
        outer[key.column.name] = Ref(key_facets(key), key.column)
    by_time = any(is_time(key) for key in keys)
    visible = scope.schema
    for key in keys:
        if key.computed and not any(c.name.casefold() == key.column.name.casefold() for c in visible):
            visible = replace(visible, columns=(*visible.columns, key.column))
    inner = Scope(visible, scope.world, scope.watches, scope.left_out, scope.guards)
    metrics: list[Output] = []
    for index, text in enumerate(texts):
        with issues:
            named = parse_named(text)
            typed = Binder(inner, "metric", dict(outer), by_time, keyed=bool(keys)).formula(
                split_as(text)[0], f"metrics[{index}]"
            )
            made = output(scope, typed, named.name, text)
            metrics.append(made)
            outer[named.name] = typed
    scope.uses_order = scope.uses_order or inner.uses_order
    return metrics


def key_facets(key: Output) -> Facets:
    return facets_of(key.column)


def is_time(key: Output) -> bool:
    return any(isinstance(node, Ref) and node.kind in (Kind.DATE, Kind.DATETIME) for node in walk(key.typed))


def grouped_schema(scope: Scope, keys: Sequence[Output], metrics: Sequence[Output]) -> Schema:
    """Keys then metrics, ordered by the keys, which are unique together."""
    columns: list[Column] = [replace(k.column, unique=len(keys) == 1, repeated=False) for k in keys]
    columns += [replace(column_of(m.typed, m.column.id, m.column.name), repeated=False, owner=None) for m in metrics]
    most = 1 if not keys else scope.schema.most_rows
    return Schema(
        tuple(columns), tuple(Order(k.column.id) for k in keys), one_row=not keys,
        keys=(frozenset(k.column.id for k in keys),), most_rows=most, also=scope.schema.also, lost=scope.schema.lost,
    )  # fmt: skip


def support_columns(scope: Scope, metrics: Sequence[Output]) -> list[tuple[str, str, Typed]]:
    """(metric, hidden column, counted argument) for metrics whose first argument may be missing."""
    found: list[tuple[str, str, Typed]] = []
    for metric in metrics:
        aggregate = next(
            (
                node
                for node in walk(metric.typed)
                if isinstance(node, Aggregate)
                and node.by is None
                and node.args
                and node.function not in ("count_missing",)
            ),
            None,
        )
        if (
            aggregate is not None
            and aggregate.where is None
            and aggregate.args[0].facets.nullable
            and not any(isinstance(node, Aggregate | Windowed) for node in walk(aggregate.args[0]))
        ):
            found.append((metric.column.name, scope.world.ids.fresh(), aggregate.args[0]))
    return found


@dataclass(frozen=True, kw_only=True)
class CheckedSummarize(CheckedStep):
    step: Summarize
    keys: Sequence[Output]
    metrics: Sequence[Output]
    support: Sequence[tuple[str, str, Typed]] = ()
    rows_id: str = "rows"
    shown: Sequence[str] = field(default=())

    def coarser(self) -> dict[Typed, str]:
        """Aggregates over more than the group, each with the column that holds it beforehand."""
        return _over_more([metric.typed for metric in self.metrics])

    @property
    def made(self) -> Sequence[Output]:
        """What has to be computed before rows are grouped."""
        return [key for key in self.keys if key.computed]

    def prepared(self, frame: pl.LazyFrame, lower: PolarsLowering, coarser: dict[Typed, str]) -> pl.LazyFrame:
        frame = with_outputs(frame, self.made, lower)
        return frame.with_columns([lower.terms(node).alias(id) for node, id in coarser.items()]) if coarser else frame

    def terms(self, lower: PolarsLowering) -> object:
        return replace(lower.terms, grouped=bool(self.keys), hoisted=self.coarser())

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        coarser = self.coarser()
        frame = self.prepared(frame, lower, coarser)
        terms = replace(lower.terms, grouped=bool(self.keys), hoisted=coarser)
        values = [terms(metric.typed).alias(metric.column.id) for metric in self.metrics]
        values.append(pl.len().cast(pl.Int64).alias(self.rows_id))
        values += [terms(argument).count().cast(pl.Int64).alias(id) for _, id, argument in self.support]
        if not self.keys:
            return frame.select(values)
        return frame.group_by([pl.col(key.column.id) for key in self.keys]).agg(values)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        source = sql_outputs(source, self.made, lower)
        coarser = self.coarser()
        if coarser:
            more = [exp.alias_(lower.terms(node), id, quoted=True) for node, id in coarser.items()]
            source = lower.named(exp.select(exp.Star(), *more).from_(source), "coarser")
        terms = replace(lower.terms, hoisted=coarser)
        keys = [name(key.column.id) for key in self.keys]
        values = [exp.alias_(terms(metric.typed), metric.column.id, quoted=True) for metric in self.metrics]
        values.append(exp.alias_(exp.Count(this=exp.Star()), self.rows_id, quoted=True))
        select = exp.select(*[key.copy() for key in keys], *values).from_(source)
        return select.group_by(*keys) if keys else select

    def tallies(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        return super().tallies(with_outputs(frame, self.made, lower), lower) if self.watches else []

    def guarded(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Guard, pl.LazyFrame]]:
        if not self.guards:
            return []
        coarser = _over_more([guard.condition for guard in self.guards])
        ready = self.prepared(frame, lower, coarser)
        terms = replace(lower.terms, grouped=bool(self.keys), hoisted=coarser)
        counts = [terms(guard.condition).cast(pl.Int64).alias("n") for guard in self.guards]
        keys = [pl.col(key.column.id) for key in self.keys]
        frames = [
            ready.group_by(keys).agg(count).select(pl.col("n").sum()) if keys else ready.select(count)
            for count in counts
        ]
        return list(zip(self.guards, frames, strict=True))

    def describe(self) -> str:
        metrics = worded([m.text for m in self.metrics])
        if not self.keys:
            return f"take {metrics} over all rows"
        keys = worded([k.column.name for k in self.keys])
        return f"for each {keys} take {metrics}" if self.metrics else f"list each {keys} once"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        return (
            "one row for the whole table"
            if not self.keys
            else f"one row for each {worded([k.column.name for k in self.keys])}"
        )


def _over_more(formulas: Sequence[Typed]) -> dict[Typed, str]:
    wide = dict.fromkeys(
        node for typed in formulas for node in walk(typed) if isinstance(node, Aggregate) and node.by is not None
    )
    return {node: f"h{index}" for index, node in enumerate(wide)}
