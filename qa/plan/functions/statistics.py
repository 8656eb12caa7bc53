"""Aggregates of statistics: moments, fits of a line, weighted means and intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.aggregates import spread
from qa.plan.functions.sqltools import DOUBLE, Sql, both, call, cast, finite, not_null, null_if_zero, number, when
from qa.plan.functions.table import Call, Example, Function, aggregate
from qa.plan.typed import Facets
from qa.types import Kind

_X: dict[str, list[Any]] = {"x": [1.0, 2.0, 4.0, 9.0, None]}
_XY: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, None], "y": [2.0, 4.0, 7.0, 1.0]}


def _plain(call: Call) -> Facets:
    return Facets(Kind.NUMBER, True)


def _pair(x: pl.Expr, y: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Both columns as doubles, on the rows where neither is missing."""
    known = x.is_not_null() & y.is_not_null()
    return x.filter(known).cast(pl.Float64), y.filter(known).cast(pl.Float64)


def _sql_pair(x: Sql, y: Sql) -> tuple[Sql, Sql]:
    known = exp.And(this=not_null(x.copy()), expression=not_null(y.copy()))
    return when(known, cast(x.copy(), DOUBLE)), when(known.copy(), cast(y.copy(), DOUBLE))


def _moment(polars: Callable[[pl.Expr], pl.Expr], sql: Callable[[Sql], Sql], least: int) -> tuple[Any, Any]:
    """A central moment, missing for too few values and where they do not vary."""

    def lower(x: pl.Expr) -> pl.Expr:
        value = x.cast(pl.Float64)
        result = polars(value)
        return pl.when((x.count() >= least) & (value.min() != value.max()) & result.is_finite()).then(result)

    def lower_sql(x: Sql) -> Sql:
        value = cast(x, DOUBLE)
        varied = both(exp.NEQ, exp.Min(this=value.copy()), exp.Max(this=value.copy()))
        enough = both(exp.GTE, exp.Count(this=value.copy()), number(least))
        return when(exp.And(this=enough, expression=varied), finite(sql(value)))

    return lower, lower_sql


def _sql_skew_pop(x: Sql) -> Sql:
    """The plain third moment from the adjusted one that SQL has."""
    n = cast(exp.Count(this=x.copy()), DOUBLE)
    root = exp.Sqrt(this=both(exp.Mul, n, both(exp.Sub, n.copy(), number(1))))
    return both(exp.Div, both(exp.Mul, call("skewness", x), both(exp.Sub, n.copy(), number(2))), root)


_SKEW = _moment(lambda x: x.skew(bias=False), lambda x: call("skewness", x), 3)
_SKEW_POP = _moment(lambda x: x.skew(bias=True), _sql_skew_pop, 3)
_KURTOSIS = _moment(lambda x: x.kurtosis(fisher=True, bias=False), lambda x: call("kurtosis", x), 4)
_KURTOSIS_POP = _moment(lambda x: x.kurtosis(fisher=True, bias=True), lambda x: call("kurtosis_pop", x), 4)


def _iqr(x: pl.Expr) -> pl.Expr:
    value = x.cast(pl.Float64)
    return value.quantile(0.75, interpolation="linear") - value.quantile(0.25, interpolation="linear")


def _sql_iqr(x: Sql) -> Sql:
    upper, lower = (call("quantile_cont", cast(x.copy(), DOUBLE), number(q)) for q in (0.75, 0.25))
    return both(exp.Sub, upper, lower)


def _product(x: pl.Expr) -> pl.Expr:
    value = x.cast(pl.Float64).product()
    return pl.when((x.count() > 0) & value.is_finite()).then(value)


def _weighted(x: pl.Expr, w: pl.Expr) -> pl.Expr:
    value, weight = _pair(x, w)
    total = weight.sum()
    return pl.when((weight.len() > 0) & (total != 0)).then((value * weight).sum() / total)


def _sql_weighted(x: Sql, w: Sql) -> Sql:
    value, weight = _sql_pair(x, w)
    return both(exp.Div, exp.Sum(this=both(exp.Mul, value, weight)), null_if_zero(exp.Sum(this=weight.copy())))


def _products(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    return ((x - x.mean()) * (y - y.mean())).sum()


def _cov(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    a, b = _pair(x, y)
    return pl.when(a.len() > 1).then(_products(a, b) / (a.len().cast(pl.Float64) - 1))


def _slope(y: pl.Expr, x: pl.Expr) -> pl.Expr:
    b, a = _pair(y, x)
    return pl.when(a.min() != a.max()).then(_products(a, b) / _products(a, a))


def _intercept(y: pl.Expr, x: pl.Expr) -> pl.Expr:
    b, a = _pair(y, x)
    return pl.when(a.min() != a.max()).then(b.mean() - _products(a, b) / _products(a, a) * a.mean())


def _r2(y: pl.Expr, x: pl.Expr) -> pl.Expr:
    b, a = _pair(y, x)
    varied = (a.min() != a.max()) & (b.min() != b.max())
    return pl.when(varied).then(_products(a, b).pow(2) / (_products(a, a) * _products(b, b)))


def _regression(name: str, *, both_vary: bool = False) -> Callable[[Sql, Sql], Sql]:
    def sql(y: Sql, x: Sql) -> Sql:
        b, a = _sql_pair(y, x)
        varied: Sql = both(exp.NEQ, exp.Min(this=a.copy()), exp.Max(this=a.copy()))
        if both_vary:
            varied = exp.And(this=varied, expression=both(exp.NEQ, exp.Min(this=b.copy()), exp.Max(this=b.copy())))
        return when(varied, finite(call(name, b, a)))

    return sql


# ---- intervals ---------------------------------------------------------------------------------

_LISTED = 60
"""Degrees of freedom for which Student's quantile is listed; above, its series in 1/df is exact to ten places."""


@lru_cache(maxsize=16)
def t_quantiles(level: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Student's two-sided quantile for 1 to 60 degrees of freedom, and the terms of its series beyond."""
    from scipy.stats import norm, t

    if not 0 < level < 1:
        raise PlanError(Issue("bad_option", "", f"A level lies between 0 and 1, not {level}.", "Write level=0.95."))
    p = 0.5 + level / 2
    z = float(norm.ppf(p))
    series = (
        z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )  # fmt: skip
    return tuple(float(value) for value in t.ppf(p, range(1, _LISTED + 1))), series


def _t(df: pl.Expr, level: float) -> pl.Expr:
    listed, series = t_quantiles(level)
    inverse = 1 / df.cast(pl.Float64)
    beyond = pl.lit(0.0)
    for term in reversed(series):
        beyond = beyond * inverse + term
    result = beyond
    for index in range(len(listed), 0, -1):
        result = pl.when(df == index).then(pl.lit(listed[index - 1])).otherwise(result)
    return result


def _sql_t(df: Sql, level: float) -> Sql:
    listed, series = t_quantiles(level)
    inverse = both(exp.Div, cast(number(1), DOUBLE), cast(df.copy(), DOUBLE))
    beyond: Sql = number(0.0)
    for term in reversed(series):
        beyond = both(exp.Add, both(exp.Mul, beyond, inverse.copy()), cast(number(term), DOUBLE))
    values = exp.Array(expressions=[cast(number(value), DOUBLE) for value in listed])
    return when(both(exp.LTE, df.copy(), number(_LISTED)), call("list_extract", values, df.copy()), beyond)


def _bound(sign: int) -> tuple[Any, Any]:
    def polars(call: Call, x: pl.Expr, level: float = 0.95) -> pl.Expr:
        value, n = x.cast(pl.Float64), x.count().cast(pl.Int64)
        half = _t(n - 1, level) * value.std(ddof=1) / n.cast(pl.Float64).sqrt()
        return pl.when(n > 1).then(value.mean() + sign * half)

    def sql(call_: Call, x: Sql, level: float = 0.95) -> Sql:
        value, n = cast(x, DOUBLE), exp.Count(this=x.copy())
        df = both(exp.Sub, n, number(1))
        half = both(
            exp.Div,
            both(exp.Mul, _sql_t(df, level), exp.StddevSamp(this=value.copy())),
            exp.Sqrt(this=cast(n.copy(), DOUBLE)),
        )
        kind = exp.Add if sign > 0 else exp.Sub
        return when(both(exp.GT, n.copy(), number(1)), both(kind, exp.Avg(this=value), half))

    return polars, sql


_PAIRS = "Pairs with a missing side are skipped"
_FEW = "Missing values are skipped; missing for too few values or where they do not vary."

FUNCTIONS: tuple[Function, ...] = (
    aggregate("std_pop", "x: numeric", spread, lambda x: x.cast(pl.Float64).std(ddof=0), lambda x: exp.StddevPop(this=cast(x, DOUBLE)), "Population standard deviation (n).", examples=(Example("std_pop(x)", 3.082207001484488, _X),), words=("population standard deviation",)),
    aggregate("var_pop", "x: numeric", _plain, lambda x: x.cast(pl.Float64).var(ddof=0), lambda x: exp.VariancePop(this=cast(x, DOUBLE)), "Population variance (n).", examples=(Example("var_pop(x)", 9.5, _X),), words=("population variance",)),
    aggregate("iqr", "x: numeric", spread, _iqr, _sql_iqr, "The upper quartile less the lower one.", examples=(Example("iqr(x)", 3.5, _X),), words=("interquartile range",)),
    aggregate("product", "x: numeric", _plain, _product, lambda x: finite(call("product", cast(x, DOUBLE))), "All values multiplied.", examples=(Example("product(x)", 72.0, _X),), words=("product of",)),
    aggregate("weighted_mean", "x: numeric, w: numeric", spread, _weighted, _sql_weighted, "The mean of x, each value counted w times.", missing=f"{_PAIRS}; of nothing, or a zero weight in all, it is missing.", examples=(Example("weighted_mean(y, x)", (2 + 8 + 21) / 6, _XY),), words=("weighted average",)),
    aggregate("cov", "x: numeric, y: numeric", _plain, _cov, lambda x, y: call("covar_samp", *_sql_pair(x, y)), "Sample covariance.", missing=f"{_PAIRS}; of fewer than two it is missing.", examples=(Example("cov(x, y)", 2.5, _XY),), words=("covariance",)),
    aggregate("skew", "x: numeric", _plain, *_SKEW, "Skewness, adjusted for a sample.", missing=_FEW, examples=(Example("skew(x)", 1.3309377322476705, _X),), words=("skewness", "skew")),
    aggregate("skew_pop", "x: numeric", _plain, *_SKEW_POP, "Skewness of a whole population.", missing=_FEW, examples=(Example("skew_pop(x)", 0.7684172579878226, _X),)),
    aggregate("kurtosis", "x: numeric", _plain, *_KURTOSIS, "Excess kurtosis, adjusted for a sample.", missing=_FEW, examples=(Example("kurtosis(x)", 1.5, _X),), words=("kurtosis",)),
    aggregate("kurtosis_pop", "x: numeric", _plain, *_KURTOSIS_POP, "Excess kurtosis of a whole population.", missing=_FEW, examples=(Example("kurtosis_pop(x)", -1.0, _X),)),
    aggregate("slope", "y: numeric, x: numeric", _plain, _slope, _regression("regr_slope"), "The slope of the least-squares line of y on x.", missing=f"{_PAIRS}; missing where x does not vary.", examples=(Example("slope(y, x)", 2.5, _XY),), words=("trend", "slope", "per unit of")),
    aggregate("intercept", "y: numeric, x: numeric", _plain, _intercept, _regression("regr_intercept"), "Where the least-squares line of y on x starts, at x = 0.", missing=f"{_PAIRS}; missing where x does not vary.", examples=(Example("intercept(y, x)", -2 / 3, _XY),), words=("intercept",)),
    aggregate("r2", "y: numeric, x: numeric", _plain, _r2, _regression("regr_r2", both_vary=True), "The share of y's variance that the line on x explains.", missing=f"{_PAIRS}; missing where either does not vary.", examples=(Example("r2(y, x)", 0.9868421052631579, _XY),), words=("r squared", "explained")),
    aggregate("ci_low", "x: numeric; level: numeric! = 0.95", spread, *_bound(-1), "The lower end of the confidence interval of the mean, by Student's t.", missing="Missing values are skipped; of fewer than two it is missing.", examples=(Example("ci_low(x)", -1.663204705733679, _X),), words=("confidence interval",), typed=True),
    aggregate("ci_high", "x: numeric; level: numeric! = 0.95", spread, *_bound(1), "The upper end of the confidence interval of the mean, by Student's t.", missing="Missing values are skipped; of fewer than two it is missing.", examples=(Example("ci_high(x)", 9.66320470573368, _X),), words=("confidence interval",), typed=True),
)  # fmt: skip
