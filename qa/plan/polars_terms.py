"""Typed formulas as Polars expressions over engine names."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qa.plan.functions import FUNCTIONS, WINDOWED
from qa.plan.functions.aggregates import INTERNAL
from qa.plan.functions.table import Call, Function
from qa.plan.typed import Aggregate, Apply, Const, Members, Ref, Scalar, Typed, Windowed
from qa.types import Kind, Order

TYPES: dict[Kind, Any] = {
    Kind.BOOLEAN: pl.Boolean, Kind.INTEGER: pl.Int64, Kind.NUMBER: pl.Float64, Kind.TEXT: pl.String, Kind.DATE: pl.Date,
    Kind.DATETIME: pl.Datetime("us"), Kind.TIME: pl.Time, Kind.DURATION: pl.Duration("us"), Kind.LIST: pl.List(pl.String),
}  # fmt: skip
"""The Polars type of each kind in a canonical table; decimals keep their own."""

_INTERNAL = {row.name: row for row in INTERNAL}

LetFrames = Callable[[str], pl.DataFrame]


def function_of(name: str, windowed: bool = False) -> Function:
    return (WINDOWED.get(name) if windowed else None) or FUNCTIONS.get(name) or WINDOWED.get(name) or _INTERNAL[name]


@dataclass
class PolarsTerms:
    """Lowers typed formulas. `lets` gives the collected rows of a let; `grouped` says that expressions stand
    inside `group_by().agg()`, where `hoisted` holds columns computed before it."""

    lets: LetFrames
    grouped: bool = False
    hoisted: Mapping[Typed, str] = field(default_factory=dict)
    window: Callable[[Windowed, tuple[Any, ...], dict[str, Any]], pl.Expr] | None = None

    def __call__(self, typed: Typed) -> pl.Expr:
        match typed:
            case Ref(column=column):
                return pl.col(column.id)
            case Const():
                return self.constant(typed)
            case Scalar(let=let, column=column):
                frame = self.lets(let)
                return pl.lit(
                    frame[column.id][0] if frame.height else None,
                    dtype=frame.schema[column.id]
                    if frame.schema[column.id] not in (pl.Categorical, pl.Enum)
                    else pl.String,
                )
            case Members():
                return self.members(typed)
            case Apply():
                return self.apply(typed)
            case Aggregate():
                return self.aggregate(typed)
            case Windowed():
                return self.windowed(typed)
        raise TypeError(typed)

    def plain(self, typed: Typed) -> pl.Expr:
        """The expression with dictionary-coded text as text."""
        expr = self(typed)
        return expr.cast(pl.String) if typed.kind is Kind.TEXT and isinstance(typed, Ref | Aggregate | Scalar) else expr

    def constant(self, const: Const) -> pl.Expr:
        if const.value is None:
            return pl.lit(None)
        if isinstance(const.value, dt.datetime):
            moment = pl.lit(const.value, dtype=pl.Datetime("us"))
            return (
                moment.dt.replace_time_zone(const.facets.zone, ambiguous="earliest", non_existent="null")
                if const.facets.zone
                else moment
            )
        if const.kind is Kind.INTEGER:
            return (
                pl.lit(const.value, dtype=pl.Int64)
                if abs(const.value) < 2**63
                else pl.lit(const.value, dtype=pl.Int128)
            )
        return pl.lit(const.value)

    def members(self, members: Members) -> pl.Expr:
        found = self.among(members)
        return found if self.by_row(members.value) else found.first()  # a column of one row is no scalar to Polars

    def among(self, members: Members) -> pl.Expr:
        if members.let is not None:
            assert members.column is not None
            items = self.lets(members.let)[members.column.id].drop_nulls().unique()
            if members.value.kind is Kind.TEXT:
                items = items.cast(pl.String)
            value = self.plain(members.value)
            if members.value.kind in (Kind.INTEGER, Kind.NUMBER) and members.column.kind is not members.value.kind:
                value, items = value.cast(pl.Float64), items.cast(pl.Float64)
            return value.is_in(items.implode() if hasattr(items, "implode") else items)
        if members.exact and len(members.items) <= 8:
            value, first, *rest = self(members.value), *members.items
            found = value == self.constant(first)
            for item in rest:
                found = found | (value == self.constant(item))
            return found
        value = self.plain(members.value)
        if not members.items:
            return pl.when(value.is_not_null()).then(False)
        kind = members.value.kind
        if kind in (Kind.INTEGER, Kind.NUMBER):
            whole = kind is Kind.INTEGER and all(isinstance(item.value, int) for item in members.items)
            target: Any = pl.Int64 if whole else pl.Float64
            return value.cast(target).is_in(pl.Series([item.value for item in members.items], dtype=target).implode())
        values = [item.value for item in members.items]
        return value.is_in(pl.Series(values, dtype=TYPES.get(kind or Kind.TEXT)).implode())

    def apply(self, typed: Apply) -> pl.Expr:
        function = function_of(typed.function)
        if typed.function in ("==", "!=") and _proven(typed):
            args = tuple(self(arg) for arg in typed.args)
        else:
            coded = function.codes and typed.function not in ("==", "!=")
            args = tuple(self(arg) if coded else self.plain(arg) for arg in typed.args)
        return self.lower(function, typed.args, args, dict(typed.options))

    def lower(
        self,
        function: Function,
        typed_args: tuple[Typed, ...],
        args: tuple[Any, ...],
        options: dict[str, Any],
        certain: bool = False,
    ) -> pl.Expr:
        if function.typed:
            return function.polars(Call(typed_args, {**options, "certain": certain}), *args, **options)
        return function.polars(*args, **options)

    def aggregate(self, typed: Aggregate) -> pl.Expr:
        if typed in self.hoisted:
            return pl.col(self.hoisted[typed]).first()
        function = function_of(typed.function)
        args = tuple(self.in_rows(arg, self(arg) if function.codes else self.plain(arg)) for arg in typed.args)
        if function.ordered and typed.order:
            args = tuple(arg.sort_by(**order_arguments(typed.order)) for arg in args)
        where = None if typed.where is None else self.in_rows(typed.where, self(typed.where))
        if where is not None and function.ordered and typed.order:
            where = where.sort_by(**order_arguments(typed.order))
        if where is not None and not args:
            value = where.sum().cast(pl.Int64)
        else:
            if where is not None:
                args = tuple(arg.filter(where) for arg in args)
            certain = (
                where is None
                and (self.grouped or bool(typed.by))
                and not any(arg.facets.nullable for arg in typed.args)
            )
            value = self.lower(function, typed.args, args, dict(typed.options), certain)
        if not typed.by:
            return value
        return value.over([self(ref) for ref in typed.by])

    def in_rows(self, typed: Typed, value: pl.Expr) -> pl.Expr:
        """A value that is the same for all rows, once for each of them: `sum(2)` adds as many twos as there are rows."""
        return value if self.by_row(typed) else pl.when(pl.int_range(pl.len()) >= 0).then(value)

    def by_row(self, typed: Typed) -> bool:
        match typed:
            case Ref() | Windowed():
                return True
            case Aggregate():
                return bool(typed.by) and typed not in self.hoisted
        return any(self.by_row(child) for child in typed.children)

    def windowed(self, typed: Windowed) -> pl.Expr:
        if typed.function == "row_index":
            return pl.col("n0")
        assert self.window is not None
        args = tuple(self.in_rows(arg, self.plain(arg)) for arg in typed.args)
        return self.window(typed, args, dict(typed.options))


def _proven(typed: Apply) -> bool:
    """A text comparison that coded text stands: the literal is one of its values."""
    left, right = typed.args
    return isinstance(left, Ref) and isinstance(right, Const) and (right.exact or right.kind is not Kind.TEXT)


def order_arguments(order: tuple[Order, ...]) -> dict[str, Any]:
    """Sort keys as Polars spells them."""
    return {
        "by": [pl.col(key.id) for key in order],
        "descending": [key.descending for key in order],
        "nulls_last": [not key.nulls_first for key in order],
    }
