"""The pivot step: values of a column become columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from qa.plan.bind import Binder
from qa.plan.literals import constant
from qa.plan.scope import Scope
from qa.plan.steps.join_schema import with_columns
from qa.plan.steps.step import Issues, Step, StepExample, output, worded
from qa.plan.steps.summarize import CheckedSummarize, check_keys, check_metrics, grouped_schema
from qa.plan.typed import Aggregate, Apply, Const, Facets, Guard, Members, Output, Ref, Typed, facets_of
from qa.types import Column, Kind

MOST = 200
"""Columns that one pivot may make."""


class Pivot(Step):
    """One row for each combination of the keys and one column for each value of a column; metrics fill the cells.

    With several metrics a column is named `metric value`. A cell without rows is missing, a count there 0.
    """

    op: Literal["pivot"]
    by: list[str] = Field(default=[], description="keys, one row each")
    names_from: str = Field(description="its values become columns")
    values: list[str] = Field(description="metrics that fill the cells", min_length=1)
    values_in: list[Any] | None = Field(default=None, description="the values to make columns of; null takes all")
    sort: Literal["name", "first_seen"] | None = Field(
        default=None, description="order of the new columns; name unless given"
    )
    words: ClassVar = ("across", "by … and …", "cross table", "pivot", "columns for each")
    examples: ClassVar = (
        StepExample({"op": "pivot", "by": ["g"], "names_from": "y", "values": ["sum(x) as total"]}, {"g": ["a", "a", "b"], "y": [2024, 2023, 2023], "x": [1, 2, 4]},
            ["g", "2023", "2024"], [["a", 2, 1], ["b", 4, None]]),
        StepExample({"op": "pivot", "by": ["g"], "names_from": "k", "values": ["count() as n", "max(x) as top"], "values_in": ["u", "v"]}, {"g": ["a", "a"], "k": ["u", "w"], "x": [1, 5]},
            ["g", "n u", "n v", "top u", "top v"], [["a", 1, 0, 1, None]]),
        StepExample({"op": "pivot", "by": [], "names_from": "if(x > 2, 'big', 'small')", "values": ["count() as n"], "values_in": ["small", "big", "huge"]}, {"x": [1, 5, 2]}, ["small", "big", "huge"], [[2, 1, 0]]),
        StepExample({"op": "pivot", "by": ["g"], "names_from": "k", "values": ["only(x) as x"]}, {"g": ["a", "a", "b"], "k": ["u", "v", "u"], "x": [1, 5, 7]}, ["g", "u", "v"], [["a", 1, 5], ["b", 7, None]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedPivot:
        issues = Issues()
        keys = check_keys(scope, self.by, issues)
        metrics = check_metrics(scope, self.values, keys, issues)
        issues.done()
        typed = Binder(scope).formula(self.names_from, "names_from")
        names = [] if isinstance(typed, Ref) else [output(scope, typed, self.names_from)]
        column = typed.column if isinstance(typed, Ref) else names[0].column
        values = self.columns_made(scope, column, names)
        if len(values) * len(metrics) > MOST:
            scope.refuse(
                "too_many_columns",
                f"{column.name!r} has {len(values)} values or more; {MOST} columns is the most.",
                "Filter first, name them in values_in, or summarize by it instead.",
                "names_from",
            )
        if not values and not keys:
            scope.refuse(
                "no_values",
                f"No row has a value of {column.name!r}, so there is nothing to make columns of.",
                "Name them in values_in, or look at the filter before.",
                "names_from",
            )
        outputs = [self.cell(scope, metric, column, value, len(metrics) > 1) for metric in metrics for value in values]
        scope.refuse_repeats([*(k.column.name for k in keys), *(o.column.name for o in outputs)], "values")
        first = tuple(o for o in (*keys, *names) if o.computed)
        return CheckedPivot(
            step=self, before=scope.schema, after=grouped_schema(scope, keys, outputs), keys=tuple(keys), metrics=tuple(outputs), first=first, values=values,
            rows_id=scope.world.ids.fresh(), watches=tuple(scope.watches), guards=tuple(_in_cells(scope.guards, column, values)), uses_order=scope.uses_order,
        )  # fmt: skip

    def columns_made(self, scope: Scope, column: Column, names: Sequence[Output]) -> list[Any]:
        """The values that become columns: given, or measured on the rows."""
        if self.values_in is not None:
            typed = [Binder(scope).bind(_literal(value)) for value in self.values_in]
            return [_as_kind(node.value, column.kind) for node in typed if isinstance(node, Const)]
        if scope.world.probe is None or scope.current is None:
            scope.refuse(
                "missing_field",
                "The columns that this makes are not known.",
                "Name the values in values_in.",
                "values_in",
            )
        found = (
            scope.world.probe.distinct(with_columns(scope.current, names), column.id, MOST + 1, scope.world.lets) or []
        )
        if self.sort == "first_seen":
            return found
        return sorted(value for value in found if value is not None) + [None] * (None in found)

    def cell(self, scope: Scope, metric: Output, column: Column, value: Any, several: bool) -> Output:
        name = f"{metric.column.name} {displayed(value)}" if several else displayed(value)
        return output(
            scope,
            _only_where(metric.typed, _is(column, value)),
            name,
            f"{metric.text} where {column.name} is {displayed(value)}",
        )


def _literal(value: Any) -> Any:
    from qa.plan.formula import Literal as Written

    return Written(value)


def _as_kind(value: Any, kind: Kind) -> Any:
    if kind is Kind.DATE and isinstance(value, str):
        return dt.date.fromisoformat(value)
    return float(value) if kind is Kind.NUMBER and isinstance(value, int) else value


def displayed(value: Any) -> str:
    """A value as the name of a column."""
    match value:
        case None:
            return "(missing)"
        case str() if not value.strip():
            return "(empty)" if not value else f"(blank {len(value)})"
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case dt.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)


def _is(column: Column, value: Any) -> Typed:
    ref = Ref(facets_of(column), column)
    if value is None:
        return Apply(Facets(Kind.BOOLEAN, False), "is null", (ref,))
    const = constant(value)
    if isinstance(value, dt.datetime) and column.zone:
        const = replace(const, value=value.replace(tzinfo=None), facets=replace(const.facets, zone=column.zone))
    return Apply(Facets(Kind.BOOLEAN, column.nullable), "==", (ref, const))


def _only_where(typed: Typed, condition: Typed) -> Typed:
    """The formula with every aggregate narrowed to the rows of one value."""
    match typed:
        case Aggregate(where=None):
            return replace(typed, where=condition)
        case Aggregate(where=where) if where is not None:
            return replace(typed, where=Apply(Facets(Kind.BOOLEAN, True), "and", (where, condition)))
        case Apply():
            return replace(typed, args=tuple(_only_where(arg, condition) for arg in typed.args))
        case Members():
            return replace(typed, value=_only_where(typed.value, condition))
    return typed


def _in_cells(guards: Sequence[Guard], column: Column, values: Sequence[Any]) -> list[Guard]:
    """The guards of the metrics, for each cell instead of each row. A cell without rows is missing and no news."""
    wanted = [guard for guard in guards if guard.code != "no_value"] if values else []
    narrowed = [[_only_where(guard.condition, _is(column, value)) for value in values] for guard in wanted]
    return [replace(guard, condition=_either(cells)) for guard, cells in zip(wanted, narrowed, strict=True)]


def _either(conditions: Sequence[Typed]) -> Typed:
    """True when one is; a balanced tree, so that many values stay within the depth of a formula."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return Apply(Facets(Kind.BOOLEAN, False), "or", (_either(conditions[:half]), _either(conditions[half:])))


@dataclass(frozen=True, kw_only=True)
class CheckedPivot(CheckedSummarize):
    """A summary whose metrics are one for each value."""

    step: Pivot  # type: ignore[assignment]
    first: Sequence[Output] = ()
    values: Sequence[Any] = ()

    @property
    def made(self) -> Sequence[Output]:
        return self.first

    def describe(self) -> str:
        rows = f"for each {worded(self.step.by)}, " if self.step.by else ""
        return f"{rows}take {worded(self.step.values)} in a column for each {self.step.names_from}"
