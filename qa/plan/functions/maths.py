"""Row functions on numbers."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlglot import exp

from qa.plan.functions.operators import alike, bounds, common, sql_alike, sql_power
from qa.plan.functions.sqltools import BIGINT, DOUBLE, Sql, both, call, cast, finite, number, paren, when
from qa.plan.functions.table import Call, Example, row
from qa.plan.typed import Facets
from qa.types import Kind

_X = {"x": [-1.5, 2.0, None]}


def _like(call: Call) -> Facets:
    first = call.first
    kind = Kind.NUMBER if first.kind is Kind.DECIMAL else first.kind
    return Facets(kind, call.nullable, None, None, first.role, first.unit)


def _abs_gives(call: Call) -> Facets:
    first = call.first
    if first.kind is Kind.INTEGER:
        low, high = bounds(first)
        return Facets(Kind.INTEGER, call.nullable, 0, max(abs(low), abs(high)), first.role, first.unit)
    return _like(call)


def _double(call: Call, x: pl.Expr) -> pl.Expr:
    return x.cast(pl.Float64) if call.first.kind is Kind.DECIMAL else x


def _abs(call: Call, x: pl.Expr) -> pl.Expr:
    wide = call.first.kind is Kind.INTEGER and bounds(call.first)[0] == -(2**63)
    return _double(call, x.cast(pl.Int128) if wide else x).abs()


def _round_gives(call: Call) -> Facets:
    first = call.first
    if first.kind is Kind.INTEGER and call.option("digits", 0) >= 0:
        return Facets(Kind.INTEGER, call.nullable, first.low, first.high, first.role, first.unit)
    return Facets(Kind.NUMBER, call.nullable, None, None, first.role, first.unit)


_HAIR = 2.0**-51


def _round(call: Call, x: pl.Expr, digits: int = 0) -> pl.Expr:
    """Half away from zero on the shortest decimal form: 2.675 is taken as 2.675, not as the double below it."""
    if _round_gives(call).kind is Kind.INTEGER:
        return x
    scale = 10.0 ** abs(digits)
    value = x.cast(pl.Float64)
    scaled = value.abs() * scale if digits >= 0 else value.abs() / scale
    whole = (scaled + 0.5 + scaled * _HAIR).floor()
    rounded = (whole / scale if digits >= 0 else whole * scale) * value.sign()
    return pl.when(scaled < 2.0**52).then(rounded).otherwise(value)


def _sql_round(call: Call, x: Sql, digits: int = 0) -> Sql:
    if _round_gives(call).kind is Kind.INTEGER:
        return x
    scale, value = number(10.0 ** abs(digits)), cast(x, DOUBLE)
    scaled = both(exp.Mul if digits >= 0 else exp.Div, exp.Abs(this=value), scale)
    lifted = both(exp.Add, both(exp.Add, scaled, number(0.5)), both(exp.Mul, scaled.copy(), number(_HAIR)))
    whole = exp.Floor(this=lifted)
    rounded = both(exp.Mul, both(exp.Div if digits >= 0 else exp.Mul, whole, scale.copy()), exp.Sign(this=value.copy()))
    return when(both(exp.LT, scaled.copy(), number(2.0**52)), rounded, value.copy())


def _to_whole(name: str) -> tuple[Any, Any]:
    def polars(call: Call, x: pl.Expr) -> pl.Expr:
        return x if call.first.kind is Kind.INTEGER else getattr(_double(call, x), name)()

    def sql(call: Call, x: Sql) -> Sql:
        kind: Any = {"floor": exp.Floor, "ceil": exp.Ceil}[name]
        return x if call.first.kind is Kind.INTEGER else kind(this=cast(x, DOUBLE))

    return polars, sql


def _only_finite(x: pl.Expr) -> pl.Expr:
    return pl.when(x.is_finite()).then(x)


def _guarded(polars: Any, sql: Any, defined: type[exp.Binary] | None = None) -> tuple[Any, Any]:
    """Missing outside the function's domain, on both engines."""

    def lower(x: pl.Expr) -> pl.Expr:
        return _only_finite(polars(x.cast(pl.Float64)))

    def lower_sql(x: Sql) -> Sql:
        value = cast(x, DOUBLE)
        safe = value if defined is None else when(defined(this=value, expression=number(0)), value.copy())
        return finite(sql(safe))

    return lower, lower_sql


_SQRT = _guarded(lambda x: x.sqrt(), lambda x: exp.Sqrt(this=x), exp.GTE)
_EXP = _guarded(lambda x: x.exp(), lambda x: exp.Exp(this=when(both(exp.LT, x, number(709.7)), x.copy())))
_LN = _guarded(lambda x: x.log(), lambda x: exp.Ln(this=x), exp.GT)
_LOG10 = _guarded(lambda x: x.log10(), lambda x: call("log10", x), exp.GT)


def _maybe(call: Call) -> Facets:
    return Facets(Kind.NUMBER, True)


def _power(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return _only_finite(a.cast(pl.Float64).pow(b.cast(pl.Float64)))


def _choice(call: Call) -> Facets:
    return common([arg.facets for arg in call.args], all(arg.facets.nullable for arg in call.args))


def _horizontal(which: str) -> tuple[Any, Any]:
    def polars(call: Call, *args: pl.Expr) -> pl.Expr:
        values = alike(_choice(call).kind, args, call.args)
        return pl.max_horizontal(values) if which == "greatest" else pl.min_horizontal(values)

    def sql(call: Call, *args: Sql) -> Sql:
        values = sql_alike(_choice(call).kind, args, call.args)
        kind = exp.Greatest if which == "greatest" else exp.Least
        return kind(this=values[0], expressions=values[1:], ignore_nulls=True)

    return polars, sql


def _clip(call: Call, x: pl.Expr, low: pl.Expr, high: pl.Expr) -> pl.Expr:
    values = alike(_choice(call).kind, (x, low, high), call.args)
    return pl.when(values[0].is_not_null()).then(
        pl.min_horizontal([pl.max_horizontal([values[0], values[1]]), values[2]])
    )


def _sql_clip(call: Call, x: Sql, low: Sql, high: Sql) -> Sql:
    values = sql_alike(_choice(call).kind, (x, low, high), call.args)
    inner = exp.Greatest(this=values[0], expressions=[values[1]], ignore_nulls=True)
    outer = exp.Least(this=inner, expressions=[values[2]], ignore_nulls=True)
    return when(exp.Not(this=exp.Is(this=paren(values[0].copy()), expression=exp.Null())), outer)


def _clip_gives(call: Call) -> Facets:
    from dataclasses import replace

    return replace(
        common([arg.facets for arg in call.args], call.first.nullable), role=call.first.role, unit=call.first.unit
    )


_FLOOR, _CEIL, _GREATEST, _LEAST = _to_whole("floor"), _to_whole("ceil"), _horizontal("greatest"), _horizontal("least")

FUNCTIONS = (
    row("abs", "x: numeric", _abs_gives, _abs, lambda call, x: exp.Abs(this=x), "The size of a number without its sign.", examples=(Example("abs(x)", [1.5, 2.0, None], _X),), words=("absolute",), typed=True),
    row("round", "x: numeric, digits: integer! = 0", _round_gives, _round, _sql_round, "Rounds half away from zero, on the number as it is written.",
        examples=(Example("round(x, 2)", [2.68, -2.68, 1.01, None], {"x": [2.675, -2.675, 1.005, None]}), Example("round(1250, -2)", [1300.0]), Example("round(2.5)", [3.0])), words=("rounded",), typed=True),
    row("floor", "x: numeric", _like, *_FLOOR, "Rounds down.", examples=(Example("floor(x)", [-2.0, 2.0, None], _X),), words=("rounded down",), typed=True),
    row("ceil", "x: numeric", _like, *_CEIL, "Rounds up.", examples=(Example("ceil(x)", [-1.0, 2.0, None], _X),), words=("rounded up",), typed=True),
    row("sqrt", "x: numeric", _maybe, *_SQRT, "Square root.", missing="Missing in, missing out; of a negative number it is missing.", examples=(Example("sqrt(x)", [None, 2.0**0.5, None], _X),), words=("square root",)),
    row("exp", "x: numeric", _maybe, *_EXP, "e to the power x.", missing="Missing in, missing out; what is no finite number is missing.", examples=(Example("exp(0)", [1.0]), Example("exp(1000)", [None]))),
    row("ln", "x: numeric", _maybe, *_LN, "Natural logarithm.", missing="Missing in, missing out; of zero or less it is missing.", examples=(Example("ln(x)", [None, 0.6931471805599453, None], _X),), words=("natural log", "log")),
    row("log10", "x: numeric", _maybe, *_LOG10, "Logarithm to base 10.", missing="Missing in, missing out; of zero or less it is missing.", examples=(Example("log10(100)", [2.0]),), words=("log base 10",)),
    row("power", "x: numeric, y: numeric", _maybe, _power, sql_power, "x to the power y, as ^.", missing="Missing in, missing out; what is no finite number is missing.",
        examples=(Example("power(2, 3)", [8.0]), Example("power(x, 0.5)", [None, 2.0**0.5, None], _X)), words=("squared", "cubed", "to the power")),
    row("sign", "x: numeric", lambda call: Facets(Kind.INTEGER, call.nullable, -1, 1), lambda call, x: _double(call, x).sign().cast(pl.Int64), lambda call, x: cast(exp.Sign(this=x), BIGINT),
        "-1, 0 or 1.", examples=(Example("sign(x)", [-1, 1, None], _X),), typed=True),
    row("greatest", "x: single*", _choice, *_GREATEST, "The largest of several values in a row.", missing="Missing values are skipped; missing only when all are.", examples=(Example("greatest(x, 0)", [0.0, 2.0, 0.0], _X),), words=("larger of",), typed=True),
    row("least", "x: single*", _choice, *_LEAST, "The smallest of several values in a row.", missing="Missing values are skipped; missing only when all are.", examples=(Example("least(x, 0)", [-1.5, 0.0, 0.0], _X),), words=("smaller of",), typed=True),
    row("clip", "x: numeric, low: numeric, high: numeric", _clip_gives, _clip, _sql_clip, "x held between low and high.", examples=(Example("clip(x, 0, 1)", [0.0, 1.0, None], _X),), typed=True),
)  # fmt: skip
