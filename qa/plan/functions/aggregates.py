"""Aggregates: many rows to one value, missing skipped."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.operators import bounds, whole
from qa.plan.functions.sqltools import (
    BIGINT,
    DOUBLE,
    HUGEINT,
    TIMESTAMP,
    Sql,
    both,
    call,
    cast,
    finite,
    not_null,
    number,
    text,
    when,
)
from qa.plan.functions.table import Call, Example, Function, aggregate
from qa.plan.typed import Facets
from qa.types import Kind, Role

MANY = 2**40
"""Rows assumed where no bound is known."""

_N: dict[str, list[Any]] = {"x": [3, 1, None, 2]}
_G: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, None], "y": [2.0, 4.0, 7.0, 1.0]}


def _count(call: Call) -> Facets:
    return Facets(Kind.INTEGER, False, 0, call.most_rows or MANY, role=Role.COUNT)


def _int64(value: pl.Expr) -> pl.Expr:
    return value.cast(pl.Int64)


def _sum_gives(call: Call) -> Facets:
    first, rows = call.first, call.most_rows or MANY
    if first.kind is Kind.BOOLEAN:
        return Facets(Kind.INTEGER, True, 0, rows, role=Role.COUNT)
    if first.kind is Kind.INTEGER:
        low, high = bounds(first)
        return whole(min(low, 0) * rows, max(high, 0) * rows, True, role=_summed_role(first), unit=first.unit)
    return Facets(first.kind, True, role=_summed_role(first), unit=first.unit)


def _summed_role(facets: Facets) -> Role | None:
    return facets.role if facets.role in (Role.CURRENCY, Role.COUNT, Role.PERCENT) else None


def _addend(call: Call, x: pl.Expr) -> pl.Expr:
    match call.first.kind:
        case Kind.BOOLEAN:
            return x.cast(pl.Int64)
        case Kind.INTEGER:
            return x.cast(pl.Int128 if _sum_gives(call).wide else pl.Int64)
        case _:
            return x


def _sum(call: Call, x: pl.Expr) -> pl.Expr:
    # Polars gives 0 for the sum of nothing, SQL NULL. We promise missing.
    total = _addend(call, x).sum()
    return total if call.options.get("certain") else pl.when(x.count() > 0).then(total)


def _sql_sum(call: Call, x: Sql) -> Sql:
    match call.first.kind:
        case Kind.BOOLEAN:
            return cast(exp.Sum(this=cast(x, BIGINT)), BIGINT)
        case Kind.INTEGER:
            wide = _sum_gives(call).wide
            return exp.Sum(this=cast(x, HUGEINT)) if wide else cast(exp.Sum(this=x), BIGINT)
        case Kind.DURATION:
            return cast(exp.Sum(this=x), BIGINT)
        case _:
            return exp.Sum(this=x)


def _mean_gives(call: Call) -> Facets:
    first = call.first
    if first.kind is Kind.BOOLEAN:
        return Facets(Kind.NUMBER, True, role=Role.PERCENT, unit="fraction")
    if first.kind in (Kind.DATE, Kind.DATETIME):
        return Facets(Kind.DATETIME, True, zone=first.zone)
    kept = first.role if first.role in (Role.CURRENCY, Role.PERCENT, Role.RATE, Role.BALANCE) else None
    return Facets(
        Kind.DURATION if first.kind is Kind.DURATION else Kind.NUMBER,
        True,
        role=kept,
        unit=first.unit if kept or first.role is None else None,
    )


def _double(call: Call, x: pl.Expr) -> pl.Expr:
    """The argument as doubles, where its kind needs it."""
    return x.cast(pl.Float64) if call.first.kind in (Kind.BOOLEAN, Kind.DECIMAL) else x


_YEAR_1 = 62_135_596_800_000_000
"""Microseconds from the year 1 to 1970: moments counted from there are never negative, so halves go one way."""


def _mean(call: Call, x: pl.Expr) -> pl.Expr:
    if call.first.kind in (Kind.DATE, Kind.DATETIME):
        moments = x.cast(pl.Datetime("us", call.first.zone)).dt.epoch("us").cast(pl.Int128) + _YEAR_1
        middle = pl.when(x.count() > 0).then(moments.sum() // x.count().cast(pl.Int128)) - _YEAR_1
        return middle.cast(pl.Int64).cast(pl.Datetime("us", call.first.zone))
    return _double(call, x).mean()


def _sql_mean(call_: Call, x: Sql) -> Sql:
    if call_.first.kind in (Kind.DATE, Kind.DATETIME):
        moment = x.copy() if call_.first.zone else cast(x.copy(), TIMESTAMP)
        moments = both(exp.Add, cast(call("epoch_us", moment), HUGEINT), number(_YEAR_1))
        middle = both(exp.IntDiv, exp.Sum(this=moments), exp.Count(this=x.copy()))
        made = call("make_timestamp", cast(both(exp.Sub, middle, number(_YEAR_1)), BIGINT))
        return call("timezone", text("UTC"), made) if call_.first.zone else made
    value = exp.Avg(this=cast(cast(x, BIGINT) if call_.first.kind is Kind.BOOLEAN else x, DOUBLE))
    return cast(value, BIGINT) if call_.first.kind is Kind.DURATION else value


def _same(call: Call) -> Facets:
    first = call.first
    return Facets(first.kind, True, first.low, first.high, first.role, first.unit, first.zone)


def spread(call: Call) -> Facets:
    """A statistic in the unit of its column."""
    first = call.first
    kept = first.role if first.role in (Role.CURRENCY, Role.PERCENT) else None
    return Facets(Kind.NUMBER, True, role=kept, unit=first.unit if kept else None)


def _quantile(call: Call, x: pl.Expr, q: float) -> pl.Expr:
    if not 0 <= q <= 1:
        raise PlanError(
            Issue(
                "bad_option", "", f"quantile takes a share from 0 to 1, not {q}.", "Write 0.25 for the lower quartile."
            )
        )
    return x.cast(pl.Float64).quantile(q, interpolation="linear")


def _sql_quantile(call: Call, x: Sql, q: float) -> Sql:
    return _sql_call("quantile_cont", cast(x, DOUBLE), number(q))


def _sql_call(name: str, *args: Any) -> Sql:
    return call(name, *args)


def _mode(x: pl.Expr) -> pl.Expr:
    return x.drop_nulls().mode().min()


def _sql_mode(x: Sql) -> Sql:
    counts = call("histogram", x)
    position = call("list_position", call("map_values", counts), call("list_max", call("map_values", counts.copy())))
    return call("list_extract", call("map_keys", counts.copy()), position)


def _corr(x: pl.Expr, y: pl.Expr, method: str = "pearson") -> pl.Expr:
    if method not in ("pearson", "spearman"):
        raise PlanError(
            Issue(
                "bad_option",
                "",
                f"corr has no method {method!r}.",
                "Use 'pearson' or 'spearman', or a test step for kendall.",
            )
        )
    both_known = x.is_not_null() & y.is_not_null()
    if method == "spearman":
        x, y = x.filter(both_known), y.filter(both_known)
    value = pl.corr(x.cast(pl.Float64), y.cast(pl.Float64), method=method)  # type: ignore[call-overload]
    return pl.when(value.is_finite()).then(value)


def _sql_corr(x: Sql, y: Sql, method: str = "pearson") -> Sql:
    if method != "pearson":
        raise NoTwin("Spearman's correlation ranks the rows, which one SQL aggregate cannot")
    known = exp.And(this=not_null(x.copy()), expression=not_null(y.copy()))
    alone = both(exp.Or, both(exp.LTE, exp.Count(this=when(known, x.copy())), number(1)), _flat(x, y))
    return when(exp.Not(this=alone), finite(exp.Corr(this=cast(x, DOUBLE), expression=cast(y, DOUBLE))))


def _flat(x: Sql, y: Sql) -> Sql:
    """True when x or y does not vary over the pairs, where a correlation is undefined."""
    known = exp.And(this=not_null(x.copy()), expression=not_null(y.copy()))
    sides = [
        both(exp.EQ, exp.Min(this=when(known.copy(), side.copy())), exp.Max(this=when(known.copy(), side.copy())))
        for side in (x, y)
    ]
    return both(exp.Or, *sides)


class NoTwin(Exception):
    """There is no SQL for this; the cross-check says so and is not run."""


def _arg_max(value: pl.Expr, by: pl.Expr) -> pl.Expr:
    return value.filter(by == by.max()).min()


def _arg_min(value: pl.Expr, by: pl.Expr) -> pl.Expr:
    return value.filter(by == by.min()).min()


def edge_keys(value: Sql, by: Sql, descending: bool) -> list[exp.Ordered]:
    """The order in which the wanted value comes first. DuckDB takes no constant as a key, and none is needed."""
    keys = [
        exp.Ordered(this=by, desc=descending, nulls_first=False),
        exp.Ordered(this=value.copy(), desc=False, nulls_first=False),
    ]
    return [key for key in keys if key.find(exp.Column)]


def _sql_arg(descending: bool) -> Any:
    def lower(value: Sql, by: Sql) -> Sql:
        keys = edge_keys(value, by, descending)
        return exp.First(this=exp.Order(this=value, expressions=keys) if keys else value)

    return lower


def share_gives(call: Call) -> Facets:
    return Facets(Kind.NUMBER, True, role=Role.PERCENT, unit="fraction")


def _distinct(*args: pl.Expr) -> pl.Expr:
    if len(args) == 1:
        return _int64(args[0].drop_nulls().n_unique())
    known = args[0].is_not_null()
    for arg in args[1:]:
        known = known & arg.is_not_null()
    return _int64(pl.struct([arg.alias(f"k{i}") for i, arg in enumerate(args)]).filter(known).n_unique())


def _sql_distinct(*args: Sql) -> Sql:
    if len(args) == 1:
        return exp.Count(this=exp.Distinct(expressions=[args[0]]))
    known: Any = not_null(args[0].copy())
    for arg in args[1:]:
        known = exp.And(this=known, expression=not_null(arg.copy()))
    return exp.Count(this=exp.Distinct(expressions=[when(known, exp.Tuple(expressions=list(args)))]))


FUNCTIONS: tuple[Function, ...] = (
    aggregate("count", "x: any?", _count, lambda x=None: _int64(pl.len() if x is None else x.count()), lambda x=None: exp.Count(this=exp.Star() if x is None else x),
        "count() counts rows, count(x) the values of x.", missing="count(x) skips missing; of nothing it is 0.",
        examples=(Example("count()", 4, _N), Example("count(x)", 3, _N)), words=("how many", "number of", "count", "total number"), codes=True),
    aggregate("count_missing", "x: any", _count, lambda x: _int64(x.null_count()), lambda x: both(exp.Sub, exp.Count(this=exp.Star()), exp.Count(this=x)),
        "Counts missing values.", missing="Counts what is missing.", examples=(Example("count_missing(x)", 1, _N),), words=("how many missing", "missing values", "blanks"), codes=True, exempt=True),
    aggregate("count_distinct", "x: any*", _count, _distinct, _sql_distinct, "Counts different values; of several columns, different combinations.",
        missing="Missing is not a value; a combination with missing is not counted.", examples=(Example("count_distinct(x)", 3, _N), Example("count_distinct(x)", 2, {"x": ["a", "b", "a", None]})),
        words=("how many different", "distinct", "unique", "number of different"), codes=True, exempt=True),
    aggregate("sum", "x: summable", _sum_gives, _sum, _sql_sum, "Adds up.", examples=(Example("sum(x)", 6, _N), Example("sum(x, where=y < 3)", None, {"x": [None, None, 1], "y": [1, 2, 3]})),
        words=("total", "sum", "sum of", "combined", "altogether"), typed=True, sums=True),
    aggregate("mean", "x: averaged", _mean_gives, _mean, _sql_mean, "The average.", examples=(Example("mean(x)", 2.0, _N),), words=("average", "mean", "on average", "avg"), typed=True),
    aggregate("median", "x: numeric", spread, lambda call, x: _quantile(call, x, 0.5), lambda call, x: _sql_quantile(call, x, 0.5), "The middle value, interpolated.",
        examples=(Example("median(x)", 2.0, _N), Example("median(x)", 2.5, {"x": [1, 2, 3, 10]})), words=("median", "middle"), typed=True),
    aggregate("quantile", "x: numeric, q: numeric!", spread, _quantile, _sql_quantile, "The value below which a share q lies, linear between neighbours.",
        examples=(Example("quantile(x, 0.75)", 125.0, {"x": [10, 20, 30, 40, 50, 100, 200, 400]}),), words=("percentile", "quantile", "quartile"), typed=True),
    aggregate("min", "x: ordered", _same, lambda x: x.min(), lambda x: exp.Min(this=x), "The smallest, earliest or alphabetically first value.",
        examples=(Example("min(x)", 1, _N),), words=("minimum", "lowest", "smallest", "least", "earliest", "cheapest", "min"), exempt=True),
    aggregate("max", "x: ordered", _same, lambda x: x.max(), lambda x: exp.Max(this=x), "The largest, latest or alphabetically last value.",
        examples=(Example("max(x)", 3, _N),), words=("maximum", "highest", "largest", "most", "latest", "biggest", "max"), exempt=True),
    aggregate("std", "x: numeric", spread, lambda call, x: _double(call, x).std(ddof=1), lambda call, x: exp.StddevSamp(this=cast(x, DOUBLE)), "Sample standard deviation (n - 1).",
        missing="Missing values are skipped; of fewer than two it is missing.", examples=(Example("std(x)", 1.0, _N),), words=("standard deviation", "std", "spread"), typed=True),
    aggregate("var", "x: numeric", lambda call: Facets(Kind.NUMBER, True), lambda call, x: _double(call, x).var(ddof=1), lambda call, x: exp.Variance(this=cast(x, DOUBLE)), "Sample variance (n - 1).",
        missing="Missing values are skipped; of fewer than two it is missing.", examples=(Example("var(x)", 1.0, _N),), words=("variance",), typed=True),
    aggregate("mode", "x: single", _same, _mode, _sql_mode, "The most frequent value; of several the smallest, with a warning.",
        examples=(Example("mode(x)", "b", {"x": ["b", "a", "b", None, None, None]}), Example("mode(x)", 1, {"x": [2, 1, 2, 1]})), words=("most common", "most frequent", "mode"), exempt=True),
    aggregate("first", "x: any", _same, lambda x: x.drop_nulls().first(), lambda x: exp.First(this=x), "The first value in the order of the rows.",
        examples=(Example("first(x)", 3, _N),), words=("first",), ordered=True, exempt=True),
    aggregate("last", "x: any", _same, lambda x: x.drop_nulls().last(), lambda x: exp.Last(this=x), "The last value in the order of the rows.",
        examples=(Example("last(x)", 2, _N),), words=("last",), ordered=True, exempt=True),
    aggregate("only", "x: single", _same, lambda x: x.min(), lambda x: exp.Min(this=x), "The one value that all rows agree on; several are the issue not_one_value.",
        missing="Missing values are skipped; none gives missing, with a warning.", examples=(Example("only(x, where=y == 2)", "b", {"x": ["a", "b"], "y": [1, 2]}),), exempt=True),
    aggregate("arg_max", "value: single, by: ordered", _same, _arg_max, _sql_arg(True), "The value of the row where `by` is largest; of tied rows the smallest value.",
        missing="Rows with missing `by` are skipped.", examples=(Example("arg_max(x, y)", "c", {"x": ["a", "b", "c"], "y": [1, None, 9]}),), words=("with the highest", "with the most"), exempt=True),
    aggregate("arg_min", "value: single, by: ordered", _same, _arg_min, _sql_arg(False), "The value of the row where `by` is smallest; of tied rows the smallest value.",
        missing="Rows with missing `by` are skipped.", examples=(Example("arg_min(x, y)", "a", {"x": ["a", "b", "c"], "y": [1, None, 9]}),), words=("with the lowest", "with the least"), exempt=True),
    aggregate("corr", "x: numeric, y: numeric; method: text! = 'pearson'", lambda call: Facets(Kind.NUMBER, True), _corr, _sql_corr, "Correlation of two columns, pearson or spearman.",
        missing="Pairs with a missing side are skipped; without variation it is missing.", examples=(Example("corr(x, y)", 0.9933992677987828, _G),), words=("correlation", "correlate", "relationship between", "related")),
    aggregate("share_of_rows", "condition: boolean", share_gives, lambda c: c.cast(pl.Float64).mean(), lambda c: exp.Avg(this=cast(cast(c, BIGINT), DOUBLE)),
        "The fraction of rows where the condition is true.", missing="Rows where the condition is missing are left out, and counted.",
        examples=(Example("share_of_rows(x > 1)", 2 / 3, _N),), words=("percentage of", "percent of", "share of", "proportion", "fraction", "rate")),
    aggregate("any", "condition: boolean", lambda call: Facets(Kind.BOOLEAN, False), lambda c: c.any(ignore_nulls=True), lambda c: exp.Coalesce(this=exp.LogicalOr(this=c), expressions=[exp.false()]),
        "True when one row is.", missing="Missing is skipped; any of nothing is false.", examples=(Example("any(x > 2)", True, _N),), words=("any", "is there"), exempt=True),
    aggregate("all", "condition: boolean", lambda call: Facets(Kind.BOOLEAN, False), lambda c: c.all(ignore_nulls=True), lambda c: exp.Coalesce(this=exp.LogicalAnd(this=c), expressions=[exp.true()]),
        "True when every row is.", missing="Missing is skipped; all of nothing is true.", examples=(Example("all(x > 0)", True, _N),), words=("all", "every"), exempt=True),
    aggregate("string_agg", "x: text, sep: text! = ', '", lambda call: Facets(Kind.TEXT, True), lambda x, sep: pl.when(x.count() > 0).then(x.drop_nulls().str.join(sep)), lambda x, sep: exp.GroupConcat(this=x, separator=text(sep)),
        "The values joined, in the order of the rows.", examples=(Example("string_agg(x, '-')", "b-a", {"x": ["b", None, "a"]}),), words=("list of", "joined"), ordered=True),
)  # fmt: skip

INTERNAL: tuple[Function, ...] = (
    aggregate(
        "mode_count",
        "x: any",
        _count,
        lambda x: _int64(x.drop_nulls().mode().len()),
        lambda x: exp.Count(this=x),
        "How many values are most frequent together.",
        codes=True,
    ),
)
"""Functions that guards use and no formula can name."""
