"""Row functions that change the kind of a value, and buckets."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.sqltools import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    HUGEINT,
    TIMESTAMP,
    Sql,
    both,
    call,
    cast,
    number,
    sql_local,
    text,
    when,
)
from qa.plan.functions.table import Call, Example, row
from qa.plan.functions.texts import as_text, sql_as_text
from qa.plan.typed import Facets
from qa.types import Kind

_FAILS = "Missing in, missing out; what cannot be read is missing."


def _number(call: Call, x: pl.Expr) -> pl.Expr:
    value = x.str.strip_chars().str.replace_all(",", "", literal=True) if call.first.kind is Kind.TEXT else x
    number_ = value.cast(pl.Float64, strict=False)
    return pl.when(number_.is_finite()).then(number_)


def _sql_number(call_: Call, x: Sql) -> Sql:
    if call_.first.kind is Kind.BOOLEAN:
        return cast(cast(x, BIGINT), DOUBLE)
    value = (
        exp.Replace(this=exp.Trim(this=x), expression=text(","), replacement=text(""))
        if call_.first.kind is Kind.TEXT
        else x
    )
    tried = exp.TryCast(this=value, to=DOUBLE.copy())
    return when(call("isfinite", tried), tried.copy())


def _integer_gives(call: Call) -> Facets:
    first = call.first
    known = first.kind is Kind.INTEGER
    return Facets(Kind.INTEGER, True, first.low if known else -(2**63), first.high if known else 2**63 - 1)


def _integer(call: Call, x: pl.Expr) -> pl.Expr:
    if call.first.kind in (Kind.INTEGER, Kind.BOOLEAN):
        return x.cast(pl.Int64)
    value = _number(call, x)
    return pl.when(value.abs() < 2.0**63).then(value).cast(pl.Int64, strict=False)


def _sql_integer(call_: Call, x: Sql) -> Sql:
    if call_.first.kind in (Kind.INTEGER, Kind.BOOLEAN):
        return cast(x, BIGINT)
    value = _sql_number(call_, x)
    return when(
        both(exp.LT, exp.Abs(this=value), number(2.0**63)),
        exp.TryCast(this=call("trunc", value.copy()), to=BIGINT.copy()),
    )


def _date(call: Call, x: pl.Expr, format: str | None = None) -> pl.Expr:
    match call.first.kind:
        case Kind.DATE:
            return x
        case Kind.DATETIME:
            return x.dt.date()
        case Kind.TEXT if format is None:
            return x.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        case Kind.TEXT:
            return x.str.to_date(format, strict=False)
        case _:
            raise PlanError(
                Issue("wrong_kind", "", f"date cannot read {call.first.kind}.", "It reads text and datetimes.")
            )


def _sql_date(call_: Call, x: Sql, format: str | None = None) -> Sql:
    match call_.first.kind:
        case Kind.TEXT if format is None:
            ten = exp.Substring(this=x, start=number(1), length=number(10))
            return cast(call("try_strptime", ten, text("%Y-%m-%d")), DATE)
        case Kind.TEXT:
            return cast(call("try_strptime", x, text(format or "")), DATE)
        case _:
            return cast(sql_local(call_.first, x), DATE)


def _datetime(call: Call, x: pl.Expr, format: str | None = None) -> pl.Expr:
    match call.first.kind:
        case Kind.DATETIME:
            return x
        case Kind.DATE:
            return x.cast(pl.Datetime("us"))
        case Kind.TEXT if format is None:
            plain = x.str.replace("T", " ", literal=True)
            return pl.coalesce(
                plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us"), plain.str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us"),
                plain.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")),
            )  # fmt: skip
        case Kind.TEXT:
            return x.str.to_datetime(format, strict=False, time_unit="us")
        case _:
            raise PlanError(
                Issue("wrong_kind", "", f"datetime cannot read {call.first.kind}.", "It reads text and dates.")
            )


def _sql_datetime(call_: Call, x: Sql, format: str | None = None) -> Sql:
    if call_.first.kind is not Kind.TEXT:
        return x if call_.first.kind is Kind.DATETIME else cast(x, TIMESTAMP)
    plain = exp.Replace(this=x, expression=text("T"), replacement=text(" "))
    formats = [format] if format else ["%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"]
    tries = [call("try_strptime", plain.copy() if format is None else x.copy(), text(f)) for f in formats]
    return tries[0] if len(tries) == 1 else exp.Coalesce(this=tries[0], expressions=tries[1:])


_TRUE, _FALSE = ["true", "t", "yes", "y", "1"], ["false", "f", "no", "n", "0"]


def _boolean(call: Call, x: pl.Expr) -> pl.Expr:
    if call.first.kind is not Kind.TEXT:
        return x.cast(pl.Boolean) if call.first.kind is Kind.BOOLEAN else x != 0
    word = x.str.strip_chars(" ").str.to_lowercase()
    return pl.when(word.is_in(_TRUE)).then(True).when(word.is_in(_FALSE)).then(False)


def _sql_boolean(call_: Call, x: Sql) -> Sql:
    if call_.first.kind is not Kind.TEXT:
        return cast(x, BOOLEAN) if call_.first.kind is Kind.BOOLEAN else both(exp.NEQ, x, number(0))
    word = exp.Lower(this=exp.Trim(this=x))
    case = when(exp.In(this=word, expressions=[text(w) for w in _TRUE]), exp.true())
    case.append("ifs", exp.If(this=exp.In(this=word.copy(), expressions=[text(w) for w in _FALSE]), true=exp.false()))
    return case


def _edges(call: Call, width: Any, edges: Any, count: Any) -> list[float] | None:
    if sum(option is not None for option in (width, edges, count)) != 1:
        raise PlanError(
            Issue(
                "bad_option",
                "",
                "bin takes exactly one of width, edges or count.",
                "Write bin(x, width=10) or bin(x, edges=[0, 18, 65]).",
            )
        )
    if edges is not None and (len(edges) < 2 or any(b <= a for a, b in pairwise(edges))):
        raise PlanError(Issue("bad_option", "", "The edges of bin must rise.", "Write edges=[0, 18, 65, 100]."))
    if width is not None and width <= 0:
        raise PlanError(Issue("bad_option", "", "The width of bin must be above zero.", "Write bin(x, width=10)."))
    return None if edges is None else [float(edge) for edge in edges]


def _labels(edges: list[float], labels: Any) -> list[str]:
    if labels is not None:
        if len(labels) != len(edges) - 1:
            raise PlanError(
                Issue(
                    "bad_option",
                    "",
                    f"{len(edges) - 1} bins need as many labels, not {len(labels)}.",
                    "Give one label a bin.",
                )
            )
        return [str(label) for label in labels]
    return [f"{_plain(a)} to {_plain(b)}" for a, b in pairwise(edges)]


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _bin_gives(call: Call) -> Facets:
    _edges(call, call.option("width"), call.option("edges"), call.option("count"))
    return Facets(Kind.TEXT, True) if call.option("edges") else Facets(Kind.NUMBER, True, unit="bin")


def _inside(low: Any, high: Any, last: bool, closed: str) -> tuple[str, str]:
    if closed not in ("left", "right"):
        raise PlanError(Issue("bad_option", "", "closed is 'left' or 'right'.", "Bins are left-closed by default."))
    if closed == "left":
        return ">=", "<=" if last else "<"
    return ">" if not last else ">=", "<="


def _bin(
    x: pl.Expr,
    width: float | None = None,
    edges: list[float] | None = None,
    count: int | None = None,
    labels: Any = None,
    closed: str = "left",
) -> pl.Expr:
    value = x.cast(pl.Float64)
    if width is not None:
        return (value / width).floor() * width
    if count is not None:
        low, high = value.min(), value.max()
        step = (high - low) / count
        place = pl.min_horizontal([((value - low) / step).floor(), pl.lit(float(count - 1))])
        return pl.when(step > 0).then(low + place * step).otherwise(pl.when(value.is_not_null()).then(low))
    assert edges is not None
    result: Any = None
    pairs = list(zip(pairwise(edges), _labels(edges, labels), strict=True))
    for index, ((low_, high_), label) in enumerate(pairs):
        first_or_last = index == len(pairs) - 1 if closed == "left" else index == 0
        left, right = _inside(low_, high_, first_or_last, closed)
        test = ((value >= low_) if left == ">=" else (value > low_)) & (
            (value <= high_) if right == "<=" else (value < high_)
        )
        result = (pl.when(test) if result is None else result.when(test)).then(pl.lit(label))
    return result.otherwise(None)  # type: ignore[no-any-return]


def _sql_bin(
    x: Sql,
    width: float | None = None,
    edges: list[float] | None = None,
    count: int | None = None,
    labels: Any = None,
    closed: str = "left",
) -> Sql:
    value = cast(x, DOUBLE)
    if width is not None:
        return both(exp.Mul, exp.Floor(this=both(exp.Div, value, number(float(width)))), number(float(width)))
    if count is not None:
        return _sql_equal_bins(value, count)
    assert edges is not None
    case = exp.Case(ifs=[])
    pairs = list(zip(pairwise(edges), _labels(edges, labels), strict=True))
    for index, ((low, high), label) in enumerate(pairs):
        left, right = _inside(low, high, index == len(pairs) - 1 if closed == "left" else index == 0, closed)
        kinds = {">=": exp.GTE, ">": exp.GT, "<=": exp.LTE, "<": exp.LT}
        test = exp.And(
            this=both(kinds[left], value.copy(), number(float(low))),
            expression=both(kinds[right], value.copy(), number(float(high))),
        )
        case.append("ifs", exp.If(this=test, true=text(label)))
    return case


def _sql_equal_bins(value: Sql, count: int) -> Sql:
    low = exp.Window(this=exp.Min(this=value.copy()))
    high = exp.Window(this=exp.Max(this=value.copy()))
    step = both(exp.Div, both(exp.Sub, high, low.copy()), number(float(count)))
    place = exp.Least(
        this=exp.Floor(this=both(exp.Div, both(exp.Sub, value.copy(), low.copy()), step)),
        expressions=[number(float(count - 1))],
    )
    inner = both(exp.Add, low.copy(), both(exp.Mul, place, step.copy()))
    flat = when(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), low.copy())
    return when(both(exp.GT, step.copy(), number(0)), inner, flat)


def _parts(n: int) -> list[float]:
    if not 2 <= n <= 100:
        raise PlanError(
            Issue(
                "bad_option",
                "",
                f"quantile_bin makes 2 to 100 parts, not {n}.",
                "Write quantile_bin(x, 4) for quartiles.",
            )
        )
    return [part / n for part in range(1, n)]


def _quantile_bin(x: pl.Expr, n: int) -> pl.Expr:
    value = x.cast(pl.Float64)
    result: Any = pl.when(value.is_null()).then(None)
    for index, q in enumerate(_parts(n), 1):
        result = result.when(value <= value.quantile(q, interpolation="linear")).then(pl.lit(f"Q{index}"))
    return result.otherwise(pl.lit(f"Q{n}"))  # type: ignore[no-any-return]


def _sql_quantile_bin(x: Sql, n: int) -> Sql:
    value = cast(x, DOUBLE)
    case = exp.Case(
        ifs=[exp.If(this=exp.Is(this=value, expression=exp.Null()), true=exp.Null())], default=text(f"Q{n}")
    )
    for index, q in enumerate(_parts(n), 1):
        cut = exp.Window(this=call("quantile_cont", value.copy(), number(q)))
        case.append("ifs", exp.If(this=both(exp.LTE, value.copy(), cut), true=text(f"Q{index}")))
    return case


def _decade(call: Call, x: pl.Expr) -> pl.Expr:
    year = (
        x.dt.year().cast(pl.Int64)
        if call.first.kind in (Kind.DATE, Kind.DATETIME)
        else x.cast(pl.Float64).floor().cast(pl.Int64)
    )
    return (year // 10) * 10


def _sql_decade(call_: Call, x: Sql) -> Sql:
    year = (
        exp.Extract(this=exp.Var(this="year"), expression=sql_local(call_.first, x))
        if call_.first.kind in (Kind.DATE, Kind.DATETIME)
        else exp.Floor(this=cast(x, DOUBLE))
    )
    return cast(both(exp.Mul, exp.Floor(this=both(exp.Div, cast(year, DOUBLE), number(10.0))), number(10.0)), BIGINT)


def _additive(call: Call) -> Facets:
    return replace(call.first, role=None)


FUNCTIONS = (
    row("additive", "x: numeric", _additive, lambda x: x, lambda x: x, "Says that a percent, rate, id, year or balance may be added up; printed as an assumption.", examples=(Example("additive(x)", [1, None], {"x": [1, None]}),)),
    row("number", "x: scalar", lambda call: Facets(Kind.NUMBER, True), _number, _sql_number, "A number read from text, a boolean or another number; thousands commas are dropped.", missing=_FAILS,
        examples=(Example("number(x)", [1234.5, None, None], {"x": ["1,234.5", "abc", None]}), Example("number(true)", [1.0])), typed=True),
    row("integer", "x: scalar", _integer_gives, _integer, _sql_integer, "A whole number, cut towards zero.", missing=_FAILS, examples=(Example("integer(2.5)", [2]), Example("integer(x)", [-2, None], {"x": ["-2.9", "x"]})), typed=True),
    row("text", "x: spelled", Kind.TEXT, lambda call, x: as_text(call, 0, x), lambda call, x: sql_as_text(call, 0, x), "The value as text.", examples=(Example("text(x)", ["2", "2.5", None], {"x": [2.0, 2.5, None]}), Example("text(1 < 2)", ["true"])), typed=True),
    row("date", "x: any, format: text!?", lambda call: Facets(Kind.DATE, True), _date, _sql_date, "A date, from ISO text, text in a given strftime format, or a datetime.", missing=_FAILS,
        examples=(Example("date('2024-03-01')", ["2024-03-01"]), Example("date(x, '%d.%m.%Y')", ["2024-03-01", None], {"x": ["01.03.2024", "soon"]})), typed=True),
    row("datetime", "x: any, format: text!?", lambda call: Facets(Kind.DATETIME, True, zone=call.first.zone), _datetime, _sql_datetime, "A date with a time, from ISO text, text in a given format, or a date.", missing=_FAILS,
        examples=(Example("datetime('2024-03-01 10:30')", ["2024-03-01T10:30:00"]),), typed=True),
    row("boolean", "x: scalar", lambda call: Facets(Kind.BOOLEAN, True), _boolean, _sql_boolean, "True or false, from yes/no words or a number.", missing=_FAILS, examples=(Example("boolean(x)", [True, False, None], {"x": ["Yes", "0", "maybe"]}),), typed=True),
    row("bin", "x: numeric; width: numeric!, edges: any!, count: integer!, labels: any!, closed: text! = 'left'", _bin_gives, _bin, _sql_bin,
        "Buckets: width gives the lower end, edges a label such as '0 to 18', count equal parts of the range. Left-closed, the last closed on both sides.", missing="Missing in, missing out; outside the edges is missing, and counted.",
        examples=(Example("bin(x, width=10)", [0.0, 10.0, None], {"x": [3.0, 10.0, None]}), Example("bin(x, edges=[0, 18, 65])", ["0 to 18", "18 to 65", "18 to 65", None], {"x": [3.0, 18.0, 65.0, 99.0]})),
        words=("bucket", "band", "bin", "in groups of", "ranges of")),
    row("quantile_bin", "x: numeric, n: integer!", Kind.TEXT, _quantile_bin, _sql_quantile_bin, "Which of n equally filled parts of the values a value lies in: 'Q1' is the lowest. Cut at linear quantiles, right-closed.",
        examples=(Example("quantile_bin(x, 2)", ["Q1", "Q1", "Q2", None], {"x": [1.0, 2.0, 3.0, None]}),), words=("quartile", "quintile", "decile", "tercile")),
    row("decade", "x: yearly", lambda call: Facets(Kind.INTEGER, call.nullable, -300000, 300000), _decade, _sql_decade, "The first year of the decade of a date or a year.", examples=(Example("decade(1987)", [1980]),), words=("decade", "by decade"), typed=True),
)  # fmt: skip
__all__ = ["FUNCTIONS", "HUGEINT"]
