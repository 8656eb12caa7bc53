"""Window functions: a value from a row's place among the rows of its partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.aggregates import _sum_gives, share_gives, spread
from qa.plan.functions.operators import bounds, whole
from qa.plan.functions.sqltools import BIGINT, DOUBLE, HUGEINT, Sql, both, call, cast, null_if_zero, number, when
from qa.plan.functions.table import Call, Example, Function, window
from qa.plan.typed import Facets
from qa.types import Kind, Role


@dataclass(frozen=True)
class Place:
    """The partition of a window step on sorted rows, as Polars sees it. `day` is the first sort key as a date."""

    by: Sequence[pl.Expr]
    keys: Sequence[pl.Expr]
    day: pl.Expr | None

    def over(self, value: pl.Expr) -> pl.Expr:
        return value.over(self.by) if self.by else value


@dataclass(frozen=True)
class SqlPlace:
    """The same in SQL: partition, the step's own sort keys, and the full order of the rows."""

    by: Sequence[Sql]
    keys: Sequence[exp.Ordered]
    full: Sequence[exp.Ordered]
    day: Sql | None

    def over(self, value: Sql, order: Sequence[exp.Ordered] | None = None, spec: exp.WindowSpec | None = None) -> Sql:
        keys = self.full if order is None else order
        window_ = exp.Window(
            this=value,
            partition_by=[key.copy() for key in self.by],
            order=exp.Order(expressions=[key.copy() for key in keys]) if keys else None,
        )
        if spec is not None:
            window_.set("spec", spec)
        return window_


def _place() -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64)


def _position(call: Call) -> Facets:
    return Facets(Kind.INTEGER, False, 1, call.most_rows)


def _changed(place: Place) -> pl.Expr:
    """True on the first of the rows that are equal on the sort keys."""
    changed = _place() == 1
    for key in place.keys:
        changed = changed | key.ne_missing(key.shift(1))
    return changed


def _rank(place: Place, call: Call) -> pl.Expr:
    return place.over(pl.when(_changed(place)).then(_place()).forward_fill())


def _percent_rank(place: Place, call: Call) -> pl.Expr:
    rank = pl.when(_changed(place)).then(_place()).forward_fill().cast(pl.Float64)
    size = pl.len().cast(pl.Float64)
    return place.over(pl.when(size > 1).then((rank - 1) / (size - 1)).otherwise(pl.lit(0.0)))


def _ntile(place: Place, call: Call, n: int) -> pl.Expr:
    if n < 1:
        raise PlanError(Issue("bad_option", "", "ntile needs at least one group.", "Write ntile(4)."))
    index, size = _place() - 1, pl.len().cast(pl.Int64)
    small, longer = size // n, size % n
    edge = longer * (small + 1)
    tail = pl.when(small > 0).then((index - edge) // pl.max_horizontal([small, pl.lit(1, dtype=pl.Int64)]))
    return place.over(pl.when(index < edge).then(index // (small + 1) + 1).otherwise(longer + tail + 1))


def _ranked(name: str) -> Callable[..., Sql]:
    return lambda place, call_: place.over(call(name), place.keys)


def _neighbour(sign: int) -> tuple[Any, Any]:
    def polars(place: Place, call: Call, x: pl.Expr, n: int = 1) -> pl.Expr:
        return place.over(x.shift(sign * _steps(n)))

    def sql(place: SqlPlace, call_: Call, x: Sql, n: int = 1) -> Sql:
        return place.over(call("lag" if sign > 0 else "lead", x, number(_steps(n))))

    return polars, sql


def _steps(n: int) -> int:
    if n < 1:
        raise PlanError(
            Issue(
                "bad_option",
                "",
                "The distance counts rows from 1.",
                "Use lag(x, 1) for the row before and lead(x, 1) for the row after.",
            )
        )
    return n


def _same(call: Call) -> Facets:
    first = call.first
    return Facets(first.kind, True, first.low, first.high, first.role, first.unit, first.zone)


# ---- running -----------------------------------------------------------------------------------

_SO_FAR = {"kind": "ROWS", "start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}


def _addend(call: Call, x: pl.Expr) -> pl.Expr:
    match call.first.kind:
        case Kind.BOOLEAN:
            return x.cast(pl.Int64)
        case Kind.INTEGER:
            return x.cast(pl.Int128) if _sum_gives(call).wide else x
        case Kind.DECIMAL:
            return x.cast(pl.Float64)
        case _:
            return x


def _running_sum(place: Place, call: Call, x: pl.Expr) -> pl.Expr:
    value = _addend(call, x)
    return place.over(pl.when(x.cum_count() > 0).then(value.fill_null(strategy="zero").cum_sum()))


def _sql_addend(call_: Call, x: Sql) -> Sql:
    match call_.first.kind:
        case Kind.BOOLEAN:
            return cast(x, BIGINT)
        case Kind.INTEGER:
            return cast(x, HUGEINT)
        case _:
            return cast(x, DOUBLE)


def _whole_again(call_: Call, value: Sql) -> Sql:
    facets = _sum_gives(call_)
    return cast(value, BIGINT) if facets.kind is Kind.INTEGER and not facets.wide else value


def _sql_running_sum(place: SqlPlace, call_: Call, x: Sql) -> Sql:
    return _whole_again(call_, place.over(exp.Sum(this=_sql_addend(call_, x)), spec=exp.WindowSpec(**_SO_FAR)))


def _running_sum_gives(call: Call) -> Facets:
    gives = _sum_gives(call)
    return Facets(Kind.NUMBER, True, role=gives.role, unit=gives.unit) if gives.kind is Kind.DECIMAL else gives


def _running_mean(place: Place, call: Call, x: pl.Expr) -> pl.Expr:
    value = x.cast(pl.Float64)
    return place.over(pl.when(x.cum_count() > 0).then(value.fill_null(0.0).cum_sum() / x.cum_count()))


def _extreme(name: str) -> tuple[Any, Any]:
    def polars(place: Place, call: Call, x: pl.Expr) -> pl.Expr:
        return place.over(getattr(x, f"cum_{name}")().forward_fill())

    def sql(place: SqlPlace, call_: Call, x: Sql) -> Sql:
        kind = exp.Min if name == "min" else exp.Max
        return place.over(kind(this=x), spec=exp.WindowSpec(**_SO_FAR))

    return polars, sql


def _running_count(place: Place, call: Call, x: pl.Expr | None = None) -> pl.Expr:
    return place.over(_place() if x is None else x.cum_count().cast(pl.Int64))


def _sql_running_count(place: SqlPlace, call_: Call, x: Sql | None = None) -> Sql:
    return place.over(exp.Count(this=exp.Star() if x is None else x), spec=exp.WindowSpec(**_SO_FAR))


# ---- rolling -----------------------------------------------------------------------------------


def _width(rows: int | None, days: int | None) -> int:
    width = rows if rows is not None else days
    if (rows is None) == (days is None) or width is None or width < 1:
        raise PlanError(
            Issue(
                "bad_option",
                "",
                "A rolling window needs either rows or days, at least 1.",
                "Write rolling_mean(x, rows=7) or rolling_mean(x, days=7).",
            )
        )
    return width


def _needs_day(place: Any) -> None:
    if place.day is None:
        raise PlanError(
            Issue(
                "needs_order",
                "",
                "A window of days needs a date to go by.",
                "Give the step order: ['date'], or use rows=7.",
            )
        )


_FAR = pl.date(1, 1, 1)


def _rolling(name: str) -> Callable[..., pl.Expr]:
    def polars(
        place: Place, call: Call, x: pl.Expr, rows: int | None = None, days: int | None = None, complete: bool = False
    ) -> pl.Expr:
        width = _width(rows, days)
        value = x.cast(pl.Float64) if _rolling_gives(name)(call).kind is Kind.NUMBER else x
        if name == "count":
            value = x.is_not_null().cast(pl.Int64)
        method = "sum" if name == "count" else name
        least = 2 if name == "std" else 1
        if days is None:
            result = getattr(value, f"rolling_{method}")(window_size=width, min_samples=min(least, width))
            full = _place() >= width
        else:
            _needs_day(place)
            assert place.day is not None
            day = place.day.fill_null(_FAR)
            result = getattr(value, f"rolling_{method}_by")(
                day, window_size=f"{width}d", min_samples=least, closed="right"
            )
            full = (place.day - place.day.min()).dt.total_days() >= width - 1
            result = pl.when(place.day.is_not_null()).then(result)
        if name == "std" and width == 1:
            result = pl.when(pl.lit(False)).then(result)
        return place.over(pl.when(full).then(result) if complete else result)

    return polars


def _sql_rolling(name: str) -> Callable[..., Sql]:
    kinds: dict[str, Any] = {
        "sum": exp.Sum,
        "mean": exp.Avg,
        "min": exp.Min,
        "max": exp.Max,
        "std": exp.StddevSamp,
        "count": exp.Count,
    }

    def sql(
        place: SqlPlace, call_: Call, x: Sql, rows: int | None = None, days: int | None = None, complete: bool = False
    ) -> Sql:
        width = _width(rows, days)
        gives = _rolling_gives(name)(call_)
        value = cast(x, DOUBLE) if gives.kind is Kind.NUMBER else x
        inner = kinds[name](this=value)
        if days is None:
            spec = exp.WindowSpec(kind="ROWS", start=number(width - 1), start_side="PRECEDING", end="CURRENT ROW")
            result, full = place.over(inner, spec=spec), both(exp.GTE, place.over(exp.RowNumber()), number(width))
        else:
            _needs_day(place)
            assert place.day is not None
            order = [exp.Ordered(this=place.day.copy(), nulls_first=False)]
            spec = exp.WindowSpec(
                kind="RANGE",
                start=exp.Interval(this=exp.Literal.string(str(width - 1)), unit=exp.Var(this="DAY")),
                start_side="PRECEDING",
                end="CURRENT ROW",
            )
            first = exp.Window(this=exp.Min(this=place.day.copy()), partition_by=[key.copy() for key in place.by])
            full = both(
                exp.GTE, call("date_diff", exp.Literal.string("day"), first, place.day.copy()), number(width - 1)
            )
            known = exp.Not(this=exp.Is(this=place.day.copy(), expression=exp.Null()))
            result = when(known, place.over(inner, order, spec))
        result = cast(result, BIGINT) if gives.kind is Kind.INTEGER and name in ("sum", "count") else result
        return when(full, result) if complete else result

    return sql


def _rolling_gives(name: str) -> Callable[[Call], Facets]:
    def gives(call: Call) -> Facets:
        if name == "count":
            return Facets(Kind.INTEGER, True, 0, call.most_rows, role=Role.COUNT)
        if name in ("mean", "std"):
            return spread(call)
        if name == "sum":
            total = _sum_gives(call)
            return (
                Facets(Kind.NUMBER, True, role=total.role, unit=total.unit)
                if total.wide or total.kind is Kind.DECIMAL
                else total
            )
        first = _same(call)
        return Facets(Kind.NUMBER, True, role=first.role, unit=first.unit) if first.kind is Kind.DECIMAL else first

    return gives


# ---- change and share --------------------------------------------------------------------------


def _change_gives(call: Call) -> Facets:
    first = call.first
    role = {"role": first.role, "unit": first.unit} if first.role in (Role.CURRENCY, Role.COUNT) else {}
    if first.kind is Kind.INTEGER:
        low, high = bounds(first)
        return whole(low - high, high - low, True, **role)
    return Facets(Kind.NUMBER, True, **role)  # type: ignore[arg-type]


def _change(place: Place, call: Call, x: pl.Expr, n: int = 1) -> pl.Expr:
    wide = _change_gives(call).wide
    value = x.cast(pl.Int128) if wide else x.cast(pl.Float64) if call.first.kind is Kind.DECIMAL else x
    return place.over(value - value.shift(_steps(n)))


def _sql_change(place: SqlPlace, call_: Call, x: Sql, n: int = 1) -> Sql:
    value = (
        cast(x, HUGEINT)
        if _change_gives(call_).wide
        else cast(x, DOUBLE)
        if call_.first.kind is not Kind.INTEGER
        else x
    )
    return both(exp.Sub, value, place.over(call("lag", value.copy(), number(_steps(n)))))


def _pct_change(place: Place, call: Call, x: pl.Expr, n: int = 1) -> pl.Expr:
    value = x.cast(pl.Float64)
    before = value.shift(_steps(n))
    return place.over(pl.when(before != 0).then((value - before) / before))


def _sql_pct_change(place: SqlPlace, call_: Call, x: Sql, n: int = 1) -> Sql:
    value = cast(x, DOUBLE)
    before = place.over(call("lag", value.copy(), number(_steps(n))))
    return both(exp.Div, both(exp.Sub, value, before), null_if_zero(before.copy()))


def _share(place: Place, call: Call, x: pl.Expr) -> pl.Expr:
    value = x.cast(pl.Float64)
    total = value.sum()
    return place.over(pl.when(total != 0).then(value / total))


def _sql_share(place: SqlPlace, call_: Call, x: Sql) -> Sql:
    value = cast(x, DOUBLE)
    total = exp.Window(this=exp.Sum(this=value.copy()), partition_by=[key.copy() for key in place.by])
    return both(exp.Div, value, null_if_zero(total))


_X: dict[str, list[Any]] = {"x": [3, 1, None, 2]}
_D: dict[str, list[Any]] = {"d": ["2024-01-01", "2024-01-02", "2024-01-09", None], "x": [1, 2, 4, 8]}


def _by(formula: str, order: list[str] | None = None, by: list[str] | None = None) -> tuple[dict[str, Any], ...]:
    return ({"op": "window", "by": by or [], "order": order or [], "columns": [f"{formula} as r"]},)


_RANKS = "Missing sort keys come last, as in any sort; missing values are ranked too."
_SKIPS = "Missing values are skipped; missing while there is no value yet."
RANKING = frozenset({"rank", "dense_rank", "percent_rank", "ntile"})
"""Functions that mean nothing without a sort key of their own."""

FUNCTIONS: tuple[Function, ...] = (
    window("rank", "", _position, _rank, _ranked("rank"), "The place in the step's order; equal rows share the best place, and places after them are skipped.", missing=_RANKS,
        examples=(Example("rank()", [1, 1, 3, 4], {"x": [5, 5, 2, None]}, _by("rank()", ["x desc"])),), words=("rank", "ranked", "position")),
    window("dense_rank", "", _position, lambda place, call: place.over(_changed(place).cast(pl.Int64).cum_sum()), _ranked("dense_rank"), "The place in the step's order without gaps after ties.", missing=_RANKS,
        examples=(Example("dense_rank()", [1, 1, 2], {"x": [5, 5, 2]}, _by("dense_rank()", ["x desc"])),), words=("dense rank",)),
    window("row_number", "", _position, lambda place, call: place.over(_place()), lambda place, call_: place.over(exp.RowNumber()), "The row's number in its partition, counted from 1; ties in the order of the rows.", missing="Never missing.",
        examples=(Example("row_number()", [3, 1, 4, 2], _X, _by("row_number()", ["x"])),), words=("row number", "numbered")),
    window("percent_rank", "", lambda call: Facets(Kind.NUMBER, False, role=Role.PERCENT, unit="fraction"), _percent_rank, _ranked("percent_rank"), "The fraction of the other rows that come before: 0 for the first, 1 for the last.", missing=_RANKS,
        examples=(Example("percent_rank()", [0.0, 0.5, 1.0], {"x": [1, 2, 3]}, _by("percent_rank()", ["x"])),), words=("percentile rank",)),
    window("ntile", "n: integer!", lambda call: Facets(Kind.INTEGER, False, 1, call.option("n")), _ntile, lambda place, call_, n: place.over(call("ntile", number(n)), place.full), "Which of n equally long runs of rows the row falls in, counted from 1.", missing=_RANKS,
        examples=(Example("ntile(2)", [1, 1, 2], {"x": [1, 2, 3]}, _by("ntile(2)", ["x"])),), words=("quartile group", "decile", "quintile")),
    window("lag", "x: any, n: integer! = 1", _same, *_neighbour(1), "The value n rows before.", missing="Missing where there is no such row, or its value is missing.",
        examples=(Example("lag(x)", [None, 3, 1, None], _X),), words=("previous", "prior", "the … before")),
    window("lead", "x: any, n: integer! = 1", _same, *_neighbour(-1), "The value n rows after.", missing="Missing where there is no such row, or its value is missing.",
        examples=(Example("lead(x)", [1, None, 2, None], _X),), words=("next", "following")),
    window("running_sum", "x: summable", _running_sum_gives, _running_sum, _sql_running_sum, "The sum of this row and all before it.", missing=_SKIPS,
        examples=(Example("running_sum(x)", [3, 4, 4, 6], _X),), words=("running total", "cumulative", "so far", "year to date"), sums=True),
    window("running_mean", "x: numeric", spread, _running_mean, lambda place, call_, x: place.over(exp.Avg(this=cast(x, DOUBLE)), spec=exp.WindowSpec(**_SO_FAR)), "The mean of this row and all before it.", missing=_SKIPS,
        examples=(Example("running_mean(x)", [3.0, 2.0, 2.0, 2.0], _X),), words=("running average",)),
    window("running_min", "x: ordered", _same, *_extreme("min"), "The smallest value so far.", missing=_SKIPS, examples=(Example("running_min(x)", [3, 1, 1, 1], _X),), words=("lowest so far",)),
    window("running_max", "x: ordered", _same, *_extreme("max"), "The largest value so far.", missing=_SKIPS, examples=(Example("running_max(x)", [3, 3, 3, 3], _X),), words=("highest so far", "record")),
    window("running_count", "x: any?", lambda call: Facets(Kind.INTEGER, False, 0, call.most_rows, role=Role.COUNT), _running_count, _sql_running_count, "The number of rows so far, or of values of x.", missing="running_count(x) skips missing.",
        examples=(Example("running_count(x)", [1, 2, 2, 3], _X),), words=("running count",)),
    *(
        window(f"rolling_{name}", f"x: {accepts}; rows: integer!, days: integer!, complete: boolean! = false", _rolling_gives(name), _rolling(name), _sql_rolling(name),
            f"The {what} over the last rows, this one included, or over the last days up to this row's day; complete=true gives missing until the window is full.", missing="Missing values are skipped; with days=, a missing date gives missing.",
            examples=(Example(f"rolling_{name}(x, rows=2)", by_rows, _X), Example(f"rolling_{name}(x, days=7)", by_days, _D, _by(f"rolling_{name}(x, days=7)", ["d"]))), words=words, sums=name == "sum")
        for name, accepts, what, by_rows, by_days, words in (
            ("sum", "numeric", "sum", [3, 4, 1, 2], [1, 3, 4, None], ("rolling sum", "moving total")),
            ("mean", "numeric", "mean", [3.0, 2.0, 1.0, 2.0], [1.0, 1.5, 4.0, None], ("moving average", "rolling average")),
            ("min", "numeric", "smallest value", [3, 1, 1, 2], [1, 1, 4, None], ("rolling minimum",)),
            ("max", "numeric", "largest value", [3, 3, 1, 2], [1, 2, 4, None], ("rolling maximum",)),
            ("std", "numeric", "sample standard deviation", [None, 2.0**0.5, None, None], [None, 0.5**0.5, None, None], ("rolling volatility",)),
            ("count", "any", "number of values", [1, 2, 1, 1], [1, 2, 1, None], ("rolling count",)),
        )
    ),
    window("change", "x: numeric, n: integer! = 1", _change_gives, _change, _sql_change, "x less its value n rows before.", missing="Missing where either value is.",
        examples=(Example("change(x)", [None, -2, None, None], _X),), words=("change", "difference from the previous", "month over month", "growth")),
    window("pct_change", "x: numeric, n: integer! = 1", share_gives, _pct_change, _sql_pct_change, "The change since n rows before, as a fraction of that value.", missing="Missing where either value is, or the earlier one is zero.",
        examples=(Example("pct_change(x)", [None, -2 / 3, None, None], _X),), words=("percent change", "growth rate", "year over year")),
    window("share", "x: numeric", share_gives, _share, _sql_share, "x as a fraction of its sum over the partition.", missing="Missing in, missing out; of a zero sum it is missing.",
        examples=(Example("share(x)", [0.5, 1 / 6, None, 1 / 3], _X),), words=("share of the total", "percent of total", "contribution"), sums=True),
)  # fmt: skip
