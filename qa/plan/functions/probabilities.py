"""Probabilities of test statistics, and rank statistics of whole columns: SciPy's numbers on both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from sqlglot import exp

from qa.plan.functions.sqltools import DOUBLE, VARCHAR, Sql, call, cast, text
from qa.plan.functions.table import Call, Example, Function, aggregate, row
from qa.plan.typed import Facets
from qa.types import Kind

Numbers = list[float | None]


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if number == number and abs(number) != float("inf") else None


def _tail(distribution: Any, statistic: float, sides: str) -> float:
    if sides == "less":
        return float(distribution.cdf(statistic))
    if sides == "greater":
        return float(distribution.sf(statistic))
    return min(1.0, float(2 * distribution.sf(abs(statistic))))


def t_p(statistic: float, df: float, sides: str) -> float | None:
    from scipy.stats import t

    return _finite(_tail(t(df), statistic, sides)) if df > 0 else None


def z_p(statistic: float, sides: str) -> float | None:
    from scipy.stats import norm

    return _finite(_tail(norm(), statistic, sides))


def f_p(statistic: float, df: float, rest: float) -> float | None:
    from scipy.stats import f

    return _finite(f.sf(statistic, df, rest)) if df > 0 and rest > 0 else None


def chi2_p(statistic: float, df: float) -> float | None:
    from scipy.stats import chi2

    return _finite(chi2.sf(statistic, df)) if df > 0 else None


def rank_test(values: Numbers, others: list[Any], kind: str, sides: str, what: str) -> float | None:
    """`what` is `statistic` or `p` of a test on one column, on two, or on one with groups."""
    import warnings

    from scipy import stats

    x = [float(v) for v in values if v is not None]
    way = sides.replace("_", "-")
    if len(x) < (3 if kind == "shapiro" else 8 if kind == "dagostino" else 2) or min(x) == max(x):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match kind:
            case "spearman" | "kendall":
                y = [float(v) for v in others]
                if min(y) == max(y):
                    return None
                found = (
                    stats.spearmanr(x, y, alternative=way)
                    if kind == "spearman"
                    else stats.kendalltau(x, y, alternative=way)
                )
            case "mann_whitney" | "kruskal":
                groups = [[v for v, g in zip(x, others, strict=True) if g == name] for name in sorted(set(others))]
                if len(groups) < 2:
                    return None
                found = (
                    stats.mannwhitneyu(groups[0], groups[1], alternative=way)
                    if kind == "mann_whitney"
                    else stats.kruskal(*groups)
                )
            case "shapiro":
                found = stats.shapiro(sorted(x))
            case "dagostino":
                found = stats.normaltest(sorted(x))
            case "ks_normal":
                ordered = sorted(x)
                mean = sum(ordered) / len(x)
                spread = (sum((v - mean) ** 2 for v in ordered) / (len(x) - 1)) ** 0.5
                found = stats.kstest(ordered, "norm", args=(mean, spread))
            case _:
                result = stats.anderson(sorted(x), dist="norm", method="interpolate")
                return _finite(result.statistic if what == "statistic" else result.pvalue)
        return _finite(found.statistic if what == "statistic" else found.pvalue)


def ols(target: Numbers, predictors: list[Numbers], term: float, what: str) -> float | None:
    """One number of a least-squares fit; None where the terms do not determine it."""
    import numpy as np
    from scipy.stats import t

    y = np.array(target, dtype=float)
    if not len(y) or not predictors:
        return None
    design = np.column_stack([np.ones(len(y)), *(np.array(column, dtype=float) for column in predictors)])
    n, terms = design.shape
    if n < terms or np.linalg.matrix_rank(design) < terms:
        return None
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ beta
    squares, total, df, index = float(residual @ residual), float(((y - y.mean()) ** 2).sum()), n - terms, int(term)
    match what.split():
        case ["r2"]:
            return _finite(1 - squares / total) if total > 0 else None
        case ["adjusted_r2"]:
            return _finite(1 - (squares / df) / (total / (n - 1))) if total > 0 and df > 0 else None
        case ["rmse"]:
            return _finite((squares / n) ** 0.5)
        case ["mae"]:
            return _finite(np.abs(residual).mean())
        case ["estimate"]:
            return _finite(beta[index])
    if df <= 0:
        return None
    error = float((squares / df * np.linalg.inv(design.T @ design)[index, index]) ** 0.5)
    match what.split():
        case ["std_error"]:
            return _finite(error)
        case ["p_value"]:
            return _finite(2 * t(df).sf(abs(beta[index]) / error)) if error > 0 else 0.0
        case [end, level]:
            half = float(t.ppf(0.5 + float(level) / 2, df)) * error
            return _finite(beta[index] + (half if end == "ci_high" else -half))
    return None


UDFS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "qa_t_p": (t_p, ["DOUBLE", "DOUBLE", "VARCHAR"]),
    "qa_z_p": (z_p, ["DOUBLE", "VARCHAR"]),
    "qa_f_p": (f_p, ["DOUBLE", "DOUBLE", "DOUBLE"]),
    "qa_chi2_p": (chi2_p, ["DOUBLE", "DOUBLE"]),
    "qa_rank_numbers": (rank_test, ["DOUBLE[]", "DOUBLE[]", "VARCHAR", "VARCHAR", "VARCHAR"]),
    "qa_ols": (ols, ["DOUBLE[]", "DOUBLE[][]", "DOUBLE", "VARCHAR"]),
    "qa_rank_texts": (rank_test, ["DOUBLE[]", "VARCHAR[]", "VARCHAR", "VARCHAR", "VARCHAR"]),
}
"""Functions that DuckDB borrows from Python for these; each gives a DOUBLE."""


def _rows(columns: Any) -> Any:
    """Result rows of several columns; a constant stands in each."""
    height = max((len(column) for column in columns), default=0)
    height = min((len(column) for column in columns if len(column) != 1), default=height)
    return zip(*(column.to_list() * (height if len(column) == 1 else 1) for column in columns), strict=True)


def _mapped(function: Callable[..., Any], count: int) -> Callable[..., pl.Expr]:
    """A Polars expression that calls a function once for each result row, never for each data row."""

    def lower(*args: Any, **options: Any) -> pl.Expr:
        given = list(options.values())

        def over(columns: Any) -> pl.Series:
            found = [
                None if any(cell is None for cell in cells_) else function(*cells_, *given) for cells_ in _rows(columns)
            ]
            return pl.Series(found, dtype=pl.Float64)

        return pl.map_batches(list(args[:count]), over, return_dtype=pl.Float64)

    return lower


def _borrowed(name: str) -> Callable[..., Sql]:
    return lambda *args, **options: call(
        name, *(cast(arg, DOUBLE) for arg in args), *(text(str(value)) for value in options.values())
    )


def _listed(call_: Call, x: pl.Expr) -> pl.Expr:
    wanted = pl.String if call_.option("as_text", False) else pl.Float64
    return pl.when(x.count() > 0).then(x.cast(wanted).drop_nulls().implode())


def _sql_listed(call_: Call, x: Sql, as_text: bool = False) -> Sql:
    return call("list", cast(x, VARCHAR if as_text else DOUBLE))


def _rank_sql(values: Sql, others: Sql, kind: str, sides: str, what: str) -> Sql:
    grouped = kind in ("mann_whitney", "kruskal")
    return call("qa_rank_texts" if grouped else "qa_rank_numbers", values, others, text(kind), text(sides), text(what))


def _packed(*lists: pl.Expr) -> pl.Expr:
    def over(columns: Any) -> pl.Series:
        return pl.Series([list(row) for row in _rows(columns)], dtype=pl.List(pl.List(pl.Float64)))

    return pl.map_batches(list(lists), over, return_dtype=pl.List(pl.List(pl.Float64)))


_MISSING = "Missing in, missing out."
FUNCTIONS: tuple[Function, ...] = (
    row("_t_p", "t: numeric, df: numeric; sides: text! = 'two_sided'", lambda c: Facets(Kind.NUMBER, True), _mapped(t_p, 2), _borrowed("qa_t_p"), "The p-value of Student's t.", missing=_MISSING, examples=(Example("_t_p(x, 10)", [0.07338803477074037, None], {"x": [2.0, None]}),)),
    row("_z_p", "z: numeric; sides: text! = 'two_sided'", lambda c: Facets(Kind.NUMBER, True), _mapped(z_p, 1), _borrowed("qa_z_p"), "The p-value of a standard normal z.", missing=_MISSING, examples=(Example("_z_p(x)", [1.0, None], {"x": [0.0, None]}),)),
    row("_f_p", "f: numeric, df: numeric, rest: numeric", lambda c: Facets(Kind.NUMBER, True), _mapped(f_p, 3), _borrowed("qa_f_p"), "The p-value of F.", missing=_MISSING, examples=(Example("_f_p(x, 2, 10)", [1.0, None], {"x": [0.0, None]}),)),
    row("_chi2_p", "x: numeric, df: numeric", lambda c: Facets(Kind.NUMBER, True), _mapped(chi2_p, 2), _borrowed("qa_chi2_p"), "The p-value of chi-square.", missing=_MISSING, examples=(Example("_chi2_p(x, 3)", [1.0, None], {"x": [0.0, None]}),)),
    row("_rank_test", "x: any, y: any, kind: text!, sides: text!, what: text!", lambda c: Facets(Kind.NUMBER, True), _mapped(rank_test, 2), _rank_sql, "A rank test of collected columns.", missing=_MISSING,
        examples=(Example("r", 1.0, {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 9.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a", "_list(y) as b"]}, {"op": "derive", "columns": ["_rank_test(a, b, 'spearman', 'two_sided', 'statistic') as r"]})),)),
    row("_pack", "x: any*", lambda c: Facets(Kind.LIST, True), _packed, lambda *lists: exp.Array(expressions=list(lists)), "Lists side by side.", missing=_MISSING,
        examples=(Example("r", 1, {"x": [1.0, 2.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a"]}, {"op": "derive", "columns": ["length(_pack(a)) as r"]})),)),
    row("_ols", "y: any, x: any, term: numeric, what: text!", lambda c: Facets(Kind.NUMBER, True), _mapped(ols, 3), lambda y, x, term, what: call("qa_ols", y, x, cast(term, DOUBLE), text(what)), "A number of a least-squares fit.", missing=_MISSING,
        examples=(Example("r", 2.0, {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(y) as b", "_list(x) as a"]}, {"op": "derive", "columns": ["_ols(b, _pack(a), 1, 'estimate') as r"]})),)),
    aggregate("_list", "x: any; as_text: boolean! = false", lambda c: Facets(Kind.LIST, True), lambda call, x, as_text=False: _listed(call, x), lambda call, x, as_text=False: exp.Filter(this=_sql_listed(call, x, as_text), expression=exp.Where(this=exp.Not(this=exp.Is(this=x.copy(), expression=exp.Null())))), "All values, as a list.", typed=True,
        examples=(Example("r", 2, {"x": [1.0, None, 2.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a"]}, {"op": "derive", "columns": ["length(a) as r"]})),)),
)  # fmt: skip
"""Their names open with `_`: the steps use them, the language does not teach them."""
