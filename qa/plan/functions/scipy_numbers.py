"""SciPy's numbers for a result row: p-values, rank tests, least squares.

A plan's script carries the source of those it needs, so nothing here names another module of this project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

Numbers = list[float | None]


def finite(value: Any) -> float | None:
    number = float(value)
    return number if number == number and abs(number) != float("inf") else None


def tail(distribution: Any, statistic: float, sides: str) -> float:
    if sides == "less":
        return float(distribution.cdf(statistic))
    if sides == "greater":
        return float(distribution.sf(statistic))
    return min(1.0, float(2 * distribution.sf(abs(statistic))))


def t_p(statistic: float, df: float, sides: str) -> float | None:
    from scipy.stats import t

    return finite(tail(t(df), statistic, sides)) if df > 0 else None


def z_p(statistic: float, sides: str) -> float | None:
    from scipy.stats import norm

    return finite(tail(norm(), statistic, sides))


def f_p(statistic: float, df: float, rest: float) -> float | None:
    from scipy.stats import f

    return finite(f.sf(statistic, df, rest)) if df > 0 and rest > 0 else None


def chi2_p(statistic: float, df: float) -> float | None:
    from scipy.stats import chi2

    return finite(chi2.sf(statistic, df)) if df > 0 else None


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
                return finite(result.statistic if what == "statistic" else result.pvalue)
        return finite(found.statistic if what == "statistic" else found.pvalue)


@dataclass(frozen=True)
class LeastSquares:
    """A fitted plane: its coefficients (the intercept first), its design and its residuals."""

    beta: Any
    design: Any
    target: Any
    residual: Any

    @property
    def df(self) -> int:
        n, terms = self.design.shape
        return int(n - terms)

    def error(self, point: Any, more: float = 0.0) -> float:
        """The standard error of a combination of the coefficients; `more` 1 for a new value there."""
        import numpy as np

        inverse = np.linalg.inv(self.design.T @ self.design)
        squares = float(self.residual @ self.residual) / self.df
        return float((squares * (more + point @ inverse @ point)) ** 0.5)


def designed(predictors: list[Numbers], rows: int) -> Any:
    import numpy as np

    return np.column_stack([np.ones(rows), *(np.array(column, dtype=float) for column in predictors)])


def least_squares(target: Numbers, predictors: list[Numbers]) -> LeastSquares | None:
    """None where the rows do not determine the coefficients."""
    import numpy as np

    y = np.array(target, dtype=float)
    if not len(y) or not predictors:
        return None
    design = designed(predictors, len(y))
    n, terms = design.shape
    if n < terms or np.linalg.matrix_rank(design) < terms:
        return None
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ beta
    # What rounding leaves of a perfect fit hangs on the order of the rows: it is nothing.
    nothing = 1e-13 * float((abs(y) + abs(design) @ abs(beta)).max())
    return LeastSquares(beta, design, y, np.where(abs(residual) <= nothing, 0.0, residual))


def quality(target: Any, residual: Any, df: int, what: str) -> float | None:
    """`r2`, `adjusted_r2`, `rmse` or `mae` of what a fit leaves over."""
    n, squares = len(target), float(residual @ residual)
    total = float(((target - target.mean()) ** 2).sum())
    match what:
        case "r2":
            return finite(1 - squares / total) if total > 0 else None
        case "adjusted_r2":
            return finite(1 - (squares / df) / (total / (n - 1))) if total > 0 and df > 0 else None
        case "rmse":
            return finite((squares / n) ** 0.5)
        case _:
            return finite(abs(residual).mean())


def ols(target: Numbers, predictors: list[Numbers], term: float, what: str) -> float | None:
    """One number of a least-squares fit; None where the terms do not determine it.

    `what` is a measure of quality, a number of a coefficient, or `at`, `low LEVEL`, `high LEVEL` with the
    predictors' values: the predicted value there, and the ends that a new value lies between.
    """
    import numpy as np
    from scipy.stats import t

    fit = least_squares(target, predictors)
    if fit is None:
        return None
    index = int(term)
    word, *more = what.split()
    if word in ("r2", "adjusted_r2", "rmse", "mae"):
        return quality(fit.target, fit.residual, fit.df, word)
    level, point = 0.5, np.eye(len(fit.beta))[index]
    if word in ("ci_low", "ci_high"):
        level = float(more[0])
    elif word in ("low", "high"):
        level, point = float(more[0]), np.array([1.0, *map(float, more[1:])])
    elif word == "at":
        point = np.array([1.0, *map(float, more)])
    if word in ("estimate", "at"):
        return finite(point @ fit.beta)
    if fit.df <= 0:
        return None
    error = fit.error(point, 1.0 if word in ("low", "high") else 0.0)
    if word == "std_error":
        return finite(error)
    if word == "p_value":
        return finite(2 * t(fit.df).sf(abs(fit.beta[index]) / error)) if error > 0 else 0.0
    half = float(t.ppf(0.5 + level / 2, fit.df)) * error
    return finite(point @ fit.beta + (half if word in ("ci_high", "high") else -half))


def held_out(
    target: Numbers, predictors: list[Numbers], kept: Numbers, kept_predictors: list[Numbers], what: str
) -> float | None:
    """The quality, on rows that it has not seen, of a fit to others."""
    import numpy as np

    fit = least_squares(target, predictors)
    if fit is None or not kept:
        return None
    y = np.array(kept, dtype=float)
    return None if what == "adjusted_r2" else quality(y, y - designed(kept_predictors, len(y)) @ fit.beta, 0, what)


def rows_of(columns: Any) -> Any:
    """Result rows of several columns; a constant stands in each."""
    height = max((len(column) for column in columns), default=0)
    height = min((len(column) for column in columns if len(column) != 1), default=height)
    return zip(*(column.to_list() * (height if len(column) == 1 else 1) for column in columns), strict=True)


@dataclass(frozen=True)
class EachRow:
    """Calls a function once for each result row with the cells and what is given; a missing cell gives missing."""

    function: Callable[..., Any]
    given: tuple[Any, ...] = ()

    def __call__(self, columns: Any) -> pl.Series:
        found = [
            None if any(cell is None for cell in cells) else self.function(*cells, *self.given)
            for cells in rows_of(columns)
        ]
        return pl.Series(found, dtype=pl.Float64)


def side_by_side(columns: Any) -> pl.Series:
    """Lists of one row beside each other, as a list of lists."""
    return pl.Series([list(row) for row in rows_of(columns)], dtype=pl.List(pl.List(pl.Float64)))
