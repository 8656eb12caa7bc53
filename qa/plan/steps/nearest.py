"""The inequality of an asof join: for each row the one nearest earlier or later row of the other table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlglot import exp

from qa.errors import PlanError
from qa.plan import formula as f
from qa.plan.bind import Binder
from qa.plan.polars_terms import order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.join_keys import Keys, comparable
from qa.plan.steps.step import PolarsLowering, SqlLowering, sql_outputs
from qa.plan.typed import Output, Ref, Typed, column_of
from qa.types import Kind, Order

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline

_MICROSECONDS = {
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": 86400 * 10**6,
    "week": 7 * 86400 * 10**6,
}
_SQL = {">=": exp.GTE, ">": exp.GT, "<=": exp.LTE, "<": exp.LT}


@dataclass(frozen=True)
class Nearest:
    """`left operator right`, the engine names of both sides, and how far apart they may be.

    `within` counts microseconds for days and times, the unit itself for numbers.
    """

    left: Typed
    right: Typed
    operator: str
    left_id: str
    right_id: str
    within: float | None

    @property
    def plain(self) -> bool:
        return isinstance(self.left, Ref)


def bound_nearest(scope: Scope, other: CheckedPipeline, text: str | None, within: str | None) -> Nearest:
    """The typed inequality of an asof join."""
    node = f.parse(text or "")
    if not (isinstance(node, f.Call) and node.function in _SQL):
        scope.refuse(
            "bad_option",
            "nearest compares a column here with one of the other table.",
            "Write nearest: 'order_time >= price_time'.",
            "nearest",
        )
    try:
        left, right = Binder(scope).bind(node.args[0]), Binder(Scope(other.schema, scope.world)).bind(node.args[1])
        left, right = comparable(scope, left, right)
    except PlanError as error:
        raise error.at("nearest") from None
    if left.kind not in (Kind.DATE, Kind.DATETIME, Kind.INTEGER, Kind.NUMBER):
        scope.refuse(
            "wrong_kind",
            "nearest compares dates, times or numbers.",
            "Use an equality in `on` for anything else.",
            "nearest",
        )
    left_id = left.column.id if isinstance(left, Ref) else scope.world.ids.fresh()
    return Nearest(left, right, node.function, left_id, scope.world.ids.fresh(), _within(scope, within, left.kind))


def _within(scope: Scope, text: str | None, kind: Kind) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*?)s?\s*", text)
    timed = kind in (Kind.DATE, Kind.DATETIME)
    if match is None or (timed and match[2] not in _MICROSECONDS) or (not timed and match[2]):
        scope.refuse(
            "bad_option",
            f"{text!r} is not a distance that fits.",
            "Write '2 days', '30 minutes', or a number for numbers.",
            "within",
        )
    return float(match[1]) * (_MICROSECONDS[match[2]] if timed else 1)


def asof(
    near: Nearest, keys: Keys, left: pl.LazyFrame, right: pl.LazyFrame, wanted: Sequence[pl.Expr], taken: Sequence[str], order: tuple[Order, ...],
    lower: PolarsLowering,
) -> pl.LazyFrame:  # fmt: skip
    """Every left row with the nearest right row; of right rows at the same point the last in their order."""
    right = right.with_columns(lower.terms(near.right).alias(near.right_id))
    left = left if near.plain else left.with_columns(lower.terms(near.left).alias(near.left_id))
    known = [pl.col(id).is_not_null() for id in [*keys.right_ids, near.right_id]]
    right = (right.sort(**order_arguments(order)) if order else right).filter(known)
    right = (
        right.unique([*keys.right_ids, near.right_id], keep="last", maintain_order=True)
        .select(*wanted, pl.col(near.right_id))
        .sort(near.right_id)
    )
    findable = pl.all_horizontal([pl.col(id).is_not_null() for id in [*keys.left_ids, near.left_id]])
    by: dict[str, Any] = {"by_left": keys.left_ids, "by_right": keys.right_ids} if keys.pairs else {}
    found = left.filter(findable).sort(near.left_id).join_asof(
        right, left_on=near.left_id, right_on=near.right_id, strategy="backward" if near.operator.startswith(">") else "forward",
        allow_exact_matches=near.operator.endswith("="), coalesce=False, check_sortedness=False, **by,
    )  # fmt: skip
    if near.within is not None:
        close = _distance(near) <= near.within
        found = found.with_columns(pl.when(close).then(pl.col(column)).alias(column) for column in taken)
    both = pl.concat([found, left.filter(~findable)], how="diagonal")
    hidden = [near.right_id, *keys.right_ids, *([] if near.plain else [near.left_id])]
    return both.drop(hidden, strict=False)


def _distance(near: Nearest) -> pl.Expr:
    left, right = pl.col(near.left_id), pl.col(near.right_id)
    if near.left.kind is Kind.DATE:
        return ((left - right).dt.total_days() * _MICROSECONDS["day"]).abs()
    return (
        (left - right).dt.total_microseconds().abs()
        if near.left.kind is Kind.DATETIME
        else (left.cast(pl.Float64) - right.cast(pl.Float64)).abs()
    )


def sql_asof(
    near: Nearest, keys: Keys, left: exp.Table, right: exp.Table, columns: Sequence[exp.Expression], order: tuple[Order, ...], lower: SqlLowering,
) -> exp.Expression:  # fmt: skip
    left = (
        left
        if near.plain
        else sql_outputs(left, [Output(near.left, column_of(near.left, near.left_id, near.left_id))], lower)
    )
    right = sql_outputs(right, [Output(near.right, column_of(near.right, near.right_id, near.right_id))], lower)
    turned = [
        exp.Ordered(this=key.this, desc=not key.args.get("desc"), nulls_first=not key.args.get("nulls_first"))
        for key in ordered(order)
    ]
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[name(id) for id in [*keys.right_ids, near.right_id]],
        order=exp.Order(expressions=turned) if turned else None,
    )
    placed = lower.named(
        exp.select(*columns, name(near.right_id), exp.alias_(place, "p", quoted=True)).from_(right), "placed"
    )
    latest = lower.named(
        exp.select(exp.Star()).from_(placed).where(exp.EQ(this=name("p"), expression=exp.Literal.number("1"))), "latest"
    )
    inequality = _SQL[near.operator](
        this=exp.column(near.left_id, table="l", quoted=True),
        expression=exp.column(near.right_id, table="r", quoted=True),
    )
    condition = exp.And(this=keys.sql_condition("l", "r"), expression=inequality) if keys.pairs else inequality
    gone = [*keys.hidden_left, *([] if near.plain else [near.left_id])]
    ours = exp.Column(
        this=exp.Star(**({"except_": [name(id) for id in gone]} if gone else {})), table=exp.to_identifier("l")
    )
    new_ids = [column.alias_or_name for column in columns if column.alias_or_name not in keys.right_ids]
    theirs = [_close(near, exp.column(id, table="r", quoted=True), id) for id in new_ids]
    join = exp.Join(this=exp.alias_(latest, "r", table=True), method="ASOF", side="LEFT", on=condition)
    return exp.select(ours, *theirs).from_(exp.alias_(left, "l", table=True)).join(join)


def _close(near: Nearest, column: exp.Expression, id: str) -> Any:
    if near.within is None:
        return column
    left: Any
    right: Any
    left, right = (
        exp.column(side, table=table, quoted=True) for side, table in ((near.left_id, "l"), (near.right_id, "r"))
    )
    if near.left.kind in (Kind.DATE, Kind.DATETIME):
        left, right = (
            exp.Anonymous(this="epoch_us", expressions=[exp.Cast(this=side, to=exp.DataType.build("TIMESTAMP"))])
            for side in (left, right)
        )
    distance = exp.Abs(this=exp.Sub(this=left, expression=right))
    close = exp.LTE(this=distance, expression=exp.Literal.number(repr(near.within)))
    return exp.alias_(exp.Case(ifs=[exp.If(this=close, true=column)]), id, quoted=True)
