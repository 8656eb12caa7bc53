"""Row functions on dates and times. Parts and truncation of a zoned time are those of its own zone."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.sqltools import (
    BIGINT,
    DATE,
    DOUBLE,
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
from qa.plan.typed import Facets
from qa.types import Kind, Role

_D = {"d": ["2024-03-31", "2023-12-31", None]}
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
CALENDAR = UNITS[3:]
_EVERY = {
    "second": "1s",
    "minute": "1m",
    "hour": "1h",
    "day": "1d",
    "week": "1w",
    "month": "1mo",
    "quarter": "1q",
    "year": "1y",
}
OFFSET = {
    "second": "s",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
    "month": "mo",
    "quarter": "q",
    "year": "y",
}
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _part(name: str, low: int, high: int, role: Role | None = None) -> tuple[Any, Any, Any]:
    method = {"day": "day", "weekday": "weekday", "week": "week"}.get(name, name)
    field = {"weekday": "isodow"}.get(name, name)

    def gives(call: Call) -> Facets:
        return Facets(Kind.INTEGER, call.nullable, low, high, role)

    def polars(call: Call, d: pl.Expr) -> pl.Expr:
        result: pl.Expr = getattr(d.dt, method)()
        return result.cast(pl.Int64)

    def sql(call_: Call, d: Sql) -> Sql:
        return cast(call("date_part", text(field), sql_local(call_.first, d)), BIGINT)

    return gives, polars, sql


def _named(part: str, names: tuple[str, ...]) -> tuple[Any, Any]:
    def polars(call: Call, d: pl.Expr) -> pl.Expr:
        index: pl.Expr = getattr(d.dt, part)()
        return index.cast(pl.Int64).replace_strict(
            list(range(1, len(names) + 1)), list(names), default=None, return_dtype=pl.String
        )

    def sql(call_: Call, d: Sql) -> Sql:
        index = call("date_part", text("isodow" if part == "weekday" else part), sql_local(call_.first, d))
        return call("list_extract", exp.Array(expressions=[text(name) for name in names]), cast(index, BIGINT))

    return polars, sql


def _unit(unit: str, allowed: tuple[str, ...] = UNITS) -> str:
    word = unit.lower().rstrip("s") if unit.lower() != "s" else unit
    if word not in allowed:
        raise PlanError(
            Issue("bad_option", "", f"There is no unit {unit!r} here.", f"Use {', '.join(allowed)}.", allowed)
        )
    return word


def _trunc_gives(call: Call) -> Facets:
    unit = _unit(call.option("unit"))
    fine = unit in ("second", "minute", "hour") and call.first.kind is Kind.DATETIME
    return Facets(
        Kind.DATETIME if fine else Kind.DATE, call.nullable, unit=unit, zone=call.first.zone if fine else None
    )


def _trunc(call: Call, d: pl.Expr, unit: str, week_start: str = "monday") -> pl.Expr:
    word = _unit(unit)
    if word in CALENDAR or call.first.kind is Kind.DATE:
        day = d.dt.date() if call.first.kind is Kind.DATETIME else d
        if word not in CALENDAR:
            return day
        if word == "week" and week_start == "sunday":
            return day.dt.offset_by("1d").dt.truncate("1w").dt.offset_by("-1d")
        return day.dt.truncate(_EVERY[word])
    return d.dt.truncate(_EVERY[word])


def _sql_trunc(call_: Call, d: Sql, unit: str, week_start: str = "monday") -> Sql:
    word, local = _unit(unit), sql_local(call_.first, d)
    if word in CALENDAR or call_.first.kind is Kind.DATE:
        if word not in CALENDAR:
            return cast(local, DATE)
        day = cast(local, DATE)
        if word == "week" and week_start == "sunday":
            shifted = cast(call("date_trunc", text("week"), both(exp.Add, day, number(1))), DATE)
            return both(exp.Sub, shifted, number(1))
        return cast(call("date_trunc", text(word), day), DATE)
    if call_.first.zone is None:
        return call("date_trunc", text(word), d)
    # The wall clock's rest is taken off the moment itself, so that a repeated hour stays the one it was.
    return both(exp.Sub, d, both(exp.Sub, local, call("date_trunc", text(word), local.copy())))


def _add_gives(call: Call) -> Facets:
    unit = _unit(call.option("unit"))
    timed = call.first.kind is Kind.DATETIME or unit in ("second", "minute", "hour")
    return Facets(Kind.DATETIME if timed else Kind.DATE, call.nullable, zone=call.first.zone)


def _add(call: Call, d: pl.Expr, n: pl.Expr, unit: str) -> pl.Expr:
    word = _unit(unit)
    start = d.cast(pl.Datetime("us")) if _add_gives(call).kind is Kind.DATETIME and call.first.kind is Kind.DATE else d
    step = pl.concat_str([n.cast(pl.Int64).cast(pl.String), pl.lit(OFFSET[word])])
    if call.first.zone is None or word not in CALENDAR:
        return start.dt.offset_by(step)
    # Days and longer move the wall clock. Of a repeated hour it is the second, as in SQL; a skipped one is missing.
    moved = start.dt.replace_time_zone(None).dt.offset_by(step)
    return moved.dt.replace_time_zone(call.first.zone, ambiguous="latest", non_existent="null")


def _sql_add(call_: Call, d: Sql, n: Sql, unit: str) -> Sql:
    word = _unit(unit)
    times = 3 if word == "quarter" else 1
    step = call(
        f"to_{'month' if word == 'quarter' else word}s",
        both(exp.Mul, cast(n, exp.DataType.build("INT")), number(times))
        if times > 1
        else cast(n, exp.DataType.build("INT")),
    )
    if call_.first.zone is not None and word in CALENDAR:
        zone, local = text(call_.first.zone), both(exp.Add, sql_local(call_.first, d), step)
        back = call("timezone", zone, local)
        return when(both(exp.EQ, call("timezone", zone.copy(), back.copy()), local.copy()), back)
    moved = both(exp.Add, d, step)
    return (
        cast(moved, DATE)
        if _add_gives(call_).kind is Kind.DATE
        else moved
        if call_.first.kind is Kind.DATETIME
        else cast(moved, TIMESTAMP)
    )


def _ordinal(d: pl.Expr, unit: str) -> pl.Expr:
    """How many boundaries of a unit lie before a day."""
    year, month = d.dt.year().cast(pl.Int64), d.dt.month().cast(pl.Int64)
    match unit:
        case "year":
            return year
        case "quarter":
            return year * 4 + (month - 1) // 3
        case "month":
            return year * 12 + month
        case "week":
            return (d.dt.truncate("1w").cast(pl.Int32).cast(pl.Int64) + 3) // 7
        case _:
            return d.cast(pl.Int32).cast(pl.Int64)


def _day(call: Call, index: int, d: pl.Expr) -> pl.Expr:
    return d.dt.date() if call.args[index].kind is Kind.DATETIME else d


def _moment(call: Call, index: int, d: pl.Expr) -> pl.Expr:
    if call.args[index].kind is Kind.DATE:
        return d.cast(pl.Datetime("us"))
    return d.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if call.args[index].facets.zone else d


def _date_diff(call: Call, start: pl.Expr, end: pl.Expr, unit: str) -> pl.Expr:
    word = _unit(unit)
    if word in CALENDAR:
        return _ordinal(_day(call, 1, end), word) - _ordinal(_day(call, 0, start), word)
    size = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000}[word]
    elapsed = (_moment(call, 1, end) - _moment(call, 0, start)).dt.total_microseconds()
    return pl.when(elapsed >= 0).then(elapsed // size).otherwise(-((-elapsed) // size))


def _sql_date_diff(call_: Call, start: Sql, end: Sql, unit: str) -> Sql:
    word = _unit(unit)
    if word in CALENDAR:
        days = [cast(sql_local(arg.facets, value), DATE) for arg, value in zip(call_.args, (start, end), strict=True)]
        return call("date_diff", text(word), *days)
    size = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000}[word]
    moments = [
        value if arg.facets.zone else cast(value, TIMESTAMP)
        for arg, value in zip(call_.args, (start, end), strict=True)
    ]
    elapsed = both(exp.Sub, call("epoch_us", moments[1]), call("epoch_us", moments[0]))
    return cast(call("trunc", both(exp.Div, elapsed, cast(number(size), DOUBLE))), BIGINT)


def _seconds(call: Call, x: pl.Expr) -> pl.Expr:
    if call.first.kind is Kind.TIME:
        return x.cast(pl.Int64) / 1e9
    return x.dt.total_microseconds() / 1e6


def _sql_seconds(call_: Call, x: Sql) -> Sql:
    # Durations are whole microseconds on the SQL side.
    if call_.first.kind is Kind.TIME:
        return both(exp.Div, cast(call("epoch_us", x), DOUBLE), number(1e6))
    return both(exp.Div, cast(x, DOUBLE), number(1e6))


def _simple(
    name: str, low: int, high: int, doc: str, value: list[Any], words: tuple[str, ...], role: Role | None = None
) -> Any:
    return row(
        name,
        "d: day",
        *_part(name, low, high, role),
        doc,
        examples=(Example(f"{name}(d)", value, _D),),
        words=words,
        typed=True,
    )


def _clock(name: str, high: int, doc: str, value: int) -> Any:
    return row(
        name,
        "d: clock",
        *_part(name, 0, high),
        doc,
        examples=(Example(f"{name}(datetime('2024-03-01 10:30:05'))", [value]),),
        words=(name,),
        typed=True,
    )


def _bound(*_: Any) -> Any:
    """Never lowered: the binder replaces the call by dates, which need the clock."""
    raise NotImplementedError


FUNCTIONS = (
    _simple("year", -300000, 300000, "The year.", [2024, 2023, None], ("year", "by year", "yearly", "annual"), Role.YEAR),
    _simple("quarter", 1, 4, "The quarter, 1 to 4.", [1, 4, None], ("quarter", "quarterly")),
    _simple("month", 1, 12, "The month, 1 to 12.", [3, 12, None], ("month",)),
    _simple("week", 1, 53, "The ISO week number.", [13, 52, None], ("week number",)),
    _simple("day", 1, 31, "The day of the month.", [31, 31, None], ("day of the month",)),
    _simple("weekday", 1, 7, "The day of the week, Monday 1 to Sunday 7.", [7, 7, None], ("weekday number",)),
    row("month_name", "d: day", Kind.TEXT, *_named("month", MONTHS), "The month's English name.", examples=(Example("month_name(d)", ["March", "December", None], _D),), words=("month name", "calendar month"), typed=True),
    row("weekday_name", "d: day", Kind.TEXT, *_named("weekday", WEEKDAYS), "The weekday's English name.", examples=(Example("weekday_name(d)", ["Sunday", "Sunday", None], _D),), words=("day of the week", "weekday"), typed=True),
    _clock("hour", 23, "The hour, 0 to 23.", 10),
    _clock("minute", 59, "The minute, 0 to 59.", 30),
    _clock("second", 59, "The second, 0 to 59.", 5),
    row("seconds", "x: seconds", Kind.NUMBER, _seconds, _sql_seconds, "A time of day or a duration in seconds.", examples=(Example("seconds(x)", [3605.0, None], {"x": [dt.time(1, 0, 5), None]}),), words=("in seconds",), typed=True),
    row("trunc", "d: day, unit: text!; week_start: text! = 'monday'", _trunc_gives, _trunc, _sql_trunc, "The start of the second, minute, hour, day, week, month, quarter or year.",
        examples=(Example("trunc(d, 'month')", ["2024-03-01", "2023-12-01", None], _D), Example("trunc(d, 'quarter')", ["2024-01-01", "2023-10-01", None], _D), Example("trunc(d, 'week')", ["2024-03-25", "2023-12-25", None], _D), Example("trunc(d, 'week', week_start='sunday')", ["2024-03-31", "2023-12-31", None], _D)),
        words=("by month", "monthly", "per month", "by week", "weekly", "daily"), typed=True),
    row("add", "d: day, n: integer, unit: text!", _add_gives, _add, _sql_add, "A date moved by n units; a day that the month lacks becomes its last.",
        examples=(Example("add(d, 1, 'month')", ["2024-04-30", "2024-01-31", None], _D), Example("add(d, -1, 'day')", ["2024-03-30", "2023-12-30", None], _D)), typed=True),
    row("date_diff", "start: day, end: day, unit: text!", lambda call: Facets(Kind.INTEGER, call.nullable, -(2**62), 2**62), _date_diff, _sql_date_diff,
        "How far from start to end: calendar boundaries crossed for day and larger, whole elapsed units below.",
        examples=(Example("date_diff(d, date('2024-04-01'), 'month')", [1, 4, None], _D), Example("date_diff(d, date('2024-04-01'), 'day')", [1, 92, None], _D), Example("date_diff(datetime('2024-01-01 10:00'), datetime('2024-01-01 12:59'), 'hour')", [2])),
        words=("days between", "time between", "how long", "age in days"), typed=True),
    row("today", "", Kind.DATE, _bound, _bound, "The day the question is asked, in the zone of the settings.", missing="Never missing.", examples=(Example("date_diff(d, today(), 'day')", [45, 136, None], _D),), words=("today", "now")),
    row("in_period", "d: day, period: text!", Kind.BOOLEAN, _bound, _bound, "True for days in a period, read to explicit dates that are printed: 'last 3 months' leaves the current one out, '3 months' takes it in, 'year to date', '2024', '2024-03', '2024 Q2', '2024-01-05 to 2024-02-01'.",
        examples=(Example("in_period(d, '2024 Q1')", [True, False, None], _D), Example("in_period(d, 'last 3 months')", [True, False, None], _D)), words=("in", "during", "last month", "this year")),
)  # fmt: skip
