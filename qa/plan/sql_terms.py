"""Typed formulas as SQL trees over engine names. Never by pasting text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from qa.plan.functions.aggregates import edge_keys
from qa.plan.functions.sqltools import DATE, DOUBLE, HUGEINT, Sql, call, cast, number, text, when
from qa.plan.functions.table import Call
from qa.plan.polars_terms import function_of
from qa.plan.typed import Aggregate, Apply, Const, Members, Ref, Scalar, Typed, Windowed
from qa.types import Order


def name(id: str) -> exp.Column:
    return exp.column(id, quoted=True)


def let_table(let: str) -> exp.Table:
    """The table expression that holds a let's rows."""
    return (
        exp.to_table(f"let_{let}", quoted=True)
        if let.isidentifier()
        else exp.Table(this=exp.to_identifier(f"let_{let}", quoted=True))
    )


def ordered(order: tuple[Order, ...]) -> list[exp.Ordered]:
    return [exp.Ordered(this=name(key.id), desc=key.descending, nulls_first=key.nulls_first) for key in order]


@dataclass
class SqlTerms:
    """Lowers typed formulas. Inside a summarize `hoisted` holds columns computed before it."""

    hoisted: Mapping[Typed, str] = field(default_factory=dict)
    window: Callable[[Windowed, tuple[Any, ...], dict[str, Any]], Sql] | None = None

    def __call__(self, typed: Typed) -> Sql:
        match typed:
            case Ref(column=column):
                return name(column.id)
            case Const():
                return constant(typed)
            case Scalar(let=let, column=column):
                return exp.Subquery(this=exp.select(exp.Min(this=name(column.id))).from_(let_table(let)))
            case Members():
                return self.members(typed)
            case Apply():
                function = function_of(typed.function)
                return self.lower(function, typed.args, tuple(self(arg) for arg in typed.args), dict(typed.options))
            case Aggregate():
                return self.aggregate(typed)
            case Windowed():
                return self.windowed(typed)
        raise TypeError(typed)

    def lower(
        self, function: Any, typed_args: tuple[Typed, ...], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Sql:
        result: Sql = (
            function.sql(Call(typed_args, options), *args, **options)
            if function.typed
            else function.sql(*args, **options)
        )
        return result

    def members(self, members: Members) -> Sql:
        value = self(members.value)
        if members.let is not None:
            assert members.column is not None
            column = name(members.column.id)
            inner = (
                exp.select(column)
                .from_(let_table(members.let))
                .where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())))
            )
            found = exp.In(this=value, query=exp.Subquery(this=inner))
            return when(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), found)
        if not members.items:
            return when(exp.Not(this=exp.Is(this=value, expression=exp.Null())), exp.false())
        return exp.Paren(this=exp.In(this=value, expressions=[constant(item) for item in members.items]))

    def aggregate(self, typed: Aggregate) -> Sql:
        if typed in self.hoisted:
            return call("any_value", name(self.hoisted[typed]))
        function = function_of(typed.function)
        if typed.by is not None and typed.function in ("first", "last"):
            return self.edge(typed)
        if typed.by is not None and typed.function in ("arg_max", "arg_min"):
            return self.extreme(typed)
        args = tuple(self(arg) for arg in typed.args)
        if function.ordered and typed.order:
            args = (exp.Order(this=args[0], expressions=ordered(typed.order)), *args[1:])
        value = self.lower(function, typed.args, args, dict(typed.options))
        conditions: list[Sql] = [] if typed.where is None else [self(typed.where)]
        if function.ordered or typed.function in ("first", "last"):
            conditions += [exp.Not(this=exp.Is(this=self(arg), expression=exp.Null())) for arg in typed.args]
        elif typed.function in ("arg_max", "arg_min"):
            conditions.append(exp.Not(this=exp.Is(this=self(typed.args[1]), expression=exp.Null())))
        return _over(_filtered(value, conditions), None if typed.by is None else [self(ref) for ref in typed.by])

    def edge(self, typed: Aggregate) -> Sql:
        """The first or last value over a partition: a window function, since filters do not reach those."""
        value = self(typed.args[0]) if typed.where is None else when(self(typed.where), self(typed.args[0]))
        kind = exp.FirstValue if typed.function == "first" else exp.LastValue
        whole = exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING"
        )
        order = exp.Order(expressions=ordered(typed.order)) if typed.order else None
        return exp.Window(
            this=exp.IgnoreNulls(this=kind(this=value)),
            partition_by=[self(ref) for ref in typed.by or ()],
            order=order,
            spec=whole,
        )

    def extreme(self, typed: Aggregate) -> Sql:
        """The value of the largest or smallest row of a partition, likewise."""
        value, by = (self(arg) for arg in typed.args)
        if typed.where is not None:
            by = when(self(typed.where), by)
        value = when(exp.Not(this=exp.Is(this=by.copy(), expression=exp.Null())), value)
        keys = edge_keys(value, by, typed.function == "arg_max")
        return exp.Window(
            this=exp.FirstValue(this=value.copy()),
            partition_by=[self(ref) for ref in typed.by or ()],
            order=exp.Order(expressions=keys) if keys else None,
        )

    def windowed(self, typed: Windowed) -> Sql:
        if typed.function == "row_index":
            return name("n0")
        assert self.window is not None
        return self.window(typed, tuple(self(arg) for arg in typed.args), dict(typed.options))


def _filtered(value: Sql, conditions: list[Sql]) -> Sql:
    """Every aggregate below the value takes the condition."""
    if not conditions:
        return value
    condition: Any = conditions[0]
    for more in conditions[1:]:
        condition = exp.And(this=exp.Paren(this=condition), expression=exp.Paren(this=more))
    return _each_aggregate(value, lambda agg: exp.Filter(this=agg, expression=exp.Where(this=condition.copy())))


def _over(value: Sql, by: list[Sql] | None) -> Sql:
    if by is None:
        return value
    return _each_aggregate(value, lambda agg: exp.Window(this=agg, partition_by=[key.copy() for key in by]))


AGGREGATE_NAMES = frozenset(
    {
        "quantile_cont",
        "histogram",
        "any_value",
        "string_agg",
        "bool_and",
        "bool_or",
        "arg_max",
        "arg_min",
        "product",
        "list",
        "regr_slope",
        "regr_intercept",
        "regr_r2",
        "skewness",
        "kurtosis",
        "kurtosis_pop",
        "mad",
        "entropy",
    }
)


def _each_aggregate(value: Sql, wrap: Callable[[Sql], Sql]) -> Sql:
    """Wraps the outermost aggregate nodes of a tree; scalar work around them stays outside."""
    if isinstance(value, exp.Window | exp.Filter):
        return wrap(value)
    is_aggregate = isinstance(value, exp.AggFunc) or (
        isinstance(value, exp.Anonymous) and str(value.this).lower() in AGGREGATE_NAMES
    )
    if is_aggregate:
        return wrap(value)
    for key, child in list(value.args.items()):
        if isinstance(child, exp.Expression):
            value.set(key, _each_aggregate(child, wrap))
        elif isinstance(child, list):
            value.set(
                key, [_each_aggregate(item, wrap) if isinstance(item, exp.Expression) else item for item in child]
            )
    return value


def constant(const: Const) -> Sql:
    match const.value:
        case None:
            return exp.Null()
        case bool():
            return exp.true() if const.value else exp.false()
        case int() if abs(const.value) >= 2**63:
            return cast(number(const.value), HUGEINT)
        case int():
            return number(const.value)
        case float():
            return cast(number(const.value), DOUBLE)
        case dt.datetime():
            moment = cast(text(const.value.isoformat(sep=" ")), exp.DataType.build("TIMESTAMP"))
            return call("timezone", text(const.facets.zone), moment) if const.facets.zone else moment
        case dt.date():
            return cast(text(const.value.isoformat()), DATE)
        case dt.time():
            return cast(text(const.value.isoformat()), exp.DataType.build("TIME"))
        case str():
            return text(const.value)
    raise TypeError(const)
