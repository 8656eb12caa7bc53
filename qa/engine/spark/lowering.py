"""The SQL twin as Spark SQL: what DuckDB's functions and types are called there, and how they are made where they lack."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from qa.engine.spark.formats import java_output, java_pattern
from qa.plan.functions.sqltools import BIGINT, call, number, text, when

Sql = Any
NTZ = exp.DataType.build("TIMESTAMPNTZ")
DECIMAL = exp.DataType.build("DECIMAL(38, 0)")


def lowered(node: exp.Expression) -> Sql:
    """A tree of the SQL engine as one for Spark; the given tree stays as it is."""
    return _lower(node.copy())


def _lower(node: Any) -> Any:
    if isinstance(node, exp.Filter | exp.Window):
        return _wrapped(node)
    _lower_below(node)
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        rule = CALLS.get(name) or AGGREGATES.get(name)
        return rule(*node.expressions) if rule else node
    rule = NODES.get(type(node)) or ORDERED.get(type(node))
    return rule(node) if rule else node


def _lower_below(node: exp.Expression) -> None:
    for key, child in list(node.args.items()):
        if isinstance(child, exp.Expression):
            node.set(key, _lower(child))
        elif isinstance(child, list):
            node.set(key, [_lower(item) if isinstance(item, exp.Expression) else item for item in child])


# ---- aggregates under FILTER and OVER ----------------------------------------------------------------


def _wrapped(node: exp.Expression) -> Sql:
    """FILTER and OVER belong to the aggregates that a rule makes, not to the work around them."""
    wrappers: list[exp.Expression] = []
    inner: Any = node
    while isinstance(inner, exp.Filter | exp.Window):
        wrappers.append(inner)
        inner = inner.this
    value = _lower(inner)
    for wrapper in reversed(wrappers):
        value = _each(value, _wrapper(wrapper))
    return value


def _wrapper(like: exp.Expression) -> Callable[[Any], Any]:
    if isinstance(like, exp.Filter):
        condition = _lower(like.expression.this)
        return lambda agg: exp.Filter(this=agg, expression=exp.Where(this=condition.copy()))
    parts = {key: like.args.get(key) for key in ("partition_by", "order", "spec")}
    keys = [_lower(key) for key in parts["partition_by"] or []]
    order = _lower(parts["order"]) if parts["order"] is not None else None

    def over(agg: Any) -> Any:
        window = exp.Window(this=agg, partition_by=[key.copy() for key in keys])
        if order is not None:
            window.set("order", order.copy())
        elif isinstance(agg, exp.RowNumber) or _name(agg) in NUMBERING:
            window.set("order", exp.Order(expressions=[number(1)]))
        if parts["spec"] is not None:
            window.set("spec", parts["spec"].copy())
        if isinstance(agg, exp.RowNumber) or _name(agg) in COUNTED:
            return exp.Cast(this=window, to=BIGINT.copy())
        return _distinct_over(window)

    return over


COUNTED = frozenset({"row_number", "rank", "dense_rank", "ntile"})
"""Window functions that give whole numbers of 32 bits."""

NUMBERING = frozenset({"row_number", "rank", "dense_rank", "ntile", "lag", "lead", "percent_rank"})


def _distinct_over(window: exp.Window) -> Sql:
    """Spark counts no different values over a window; the size of their set is the same."""
    filtered = window.this
    count = filtered.this if isinstance(filtered, exp.Filter) else filtered
    if isinstance(count, exp.Count) and isinstance(count.this, exp.Distinct):
        values = call("collect_set", count.this.expressions[0].copy())
        window.set("this", exp.Filter(this=values, expression=filtered.expression) if filtered is not count else values)
        return exp.Cast(this=call("size", window), to=BIGINT.copy())
    return window


MADE_OF = frozenset({
    "collect_list", "collect_set", "percentile", "any_value", "min_by", "max_by", "mode", "first_value", "regr_slope", "regr_intercept", "regr_r2",
    "covar_samp", "skewness", "kurtosis", "try_sum", "bool_or", "bool_and", *NUMBERING,
})  # fmt: skip
"""Aggregates of Spark that sqlglot has no class for."""


def _name(node: Any) -> str:
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else ""


def _each(value: Any, wrap: Callable[[Any], Any]) -> Any:
    """Wraps the outermost aggregates of a tree."""
    known = (exp.AggFunc, exp.Window, exp.Filter, exp.IgnoreNulls, exp.RowNumber)
    if isinstance(value, known) or _name(value) in MADE_OF:
        return wrap(value)
    for key, child in list(value.args.items()):
        if isinstance(child, exp.Expression):
            value.set(key, _each(child, wrap))
        elif isinstance(child, list):
            value.set(key, [_each(item, wrap) if isinstance(item, exp.Expression) else item for item in child])
    return value


# ---- patterns ------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> Any:
    return sqlglot.parse_one(pattern, dialect="spark")


def made(pattern: str, *args: Any) -> Sql:
    """A Spark expression written with `:a`, `:b`… for the arguments."""
    given = dict(zip("abcdef", args, strict=False))

    def put(node: exp.Expression) -> exp.Expression:
        return exp.Paren(this=given[node.name].copy()) if isinstance(node, exp.Placeholder) else node

    result: Sql = _parsed(pattern).copy().transform(put)
    return exp.Paren(this=result)


def _as(pattern: str) -> Callable[..., Sql]:
    return lambda *args: made(pattern, *args)


def _renamed(name: str) -> Callable[..., Sql]:
    return lambda *args: call(name, *args)


def _literal(node: Any) -> str:
    while isinstance(node, exp.Paren):
        node = node.this
    assert isinstance(node, exp.Literal)
    return str(node.this)


# ---- calls ---------------------------------------------------------------------------------------------

_DATE_PARTS = {"isodow": "(weekday(:a) + 1)", "week": "weekofyear(:a)"}


def _date_part(part: Any, moment: Any) -> Sql:
    field = _literal(part)
    return made(_DATE_PARTS.get(field, f"{field}(:a)"), moment)


_BETWEEN = {
    "day": "datediff(:b, :a)",
    "week": "datediff(trunc(:b, 'WEEK'), trunc(:a, 'WEEK')) DIV 7",
    "month": "(year(:b) * 12 + month(:b)) - (year(:a) * 12 + month(:a))",
    "quarter": "(year(:b) * 4 + quarter(:b)) - (year(:a) * 4 + quarter(:a))",
    "year": "year(:b) - year(:a)",
}


def _date_diff(unit: Any, start: Any, end: Any) -> Sql:
    return exp.Cast(this=made(_BETWEEN[_literal(unit)], start, end), to=BIGINT.copy())


def _date_trunc(unit: Any, moment: Any) -> Sql:
    return exp.Cast(this=call("date_trunc", text(_literal(unit).upper()), moment), to=NTZ.copy())


def _timezone(zone: Any, moment: Any) -> Sql:
    """A wall clock as a moment, or a moment as a wall clock, as DuckDB decides by the argument's type."""
    inner = moment
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if (isinstance(inner, exp.Cast) and inner.to.this is NTZ.this) or _name(inner) == "to_naive":
        return made("to_utc_timestamp(CAST(:a AS TIMESTAMP), :b)", moment, zone)
    return exp.Cast(this=made("from_utc_timestamp(:a, :b)", moment, zone), to=NTZ.copy())


def _read_time(value: Any, form: Any) -> Sql:
    """Text read by a format; what does not fit it is missing."""
    pattern, regex = java_pattern(_literal(form))
    read = made("CAST(try_to_timestamp(:a, :b) AS TIMESTAMP_NTZ)", value, text(pattern))
    return when(call("regexp_like", value.copy(), text(regex)), read)


_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def _try_cast(node: exp.TryCast) -> Sql:
    """Spark also reads `1d` and `1f` in a text as numbers. What is written as a number is none."""
    if node.to.this is not exp.DataType.Type.DOUBLE or not isinstance(node.this, exp.Replace):
        return node
    return when(call("regexp_like", node.this.copy(), text(_NUMBER)), node)


def _format_time(moment: Any, form: Any) -> Sql:
    return call("date_format", moment, text(java_output(_literal(form))))


@lru_cache(maxsize=1)
def _accents() -> tuple[str, str]:
    """Characters with marks, and the same without; combining marks come last and have no partner."""
    plain: dict[str, str] = {}
    marks = []
    for code in range(0x80, 0x20000):
        char = chr(code)
        if unicodedata.combining(char):
            marks.append(char)
        elif not 0xAC00 <= code <= 0xD7A3:
            bare = "".join(c for c in unicodedata.normalize("NFD", char) if not unicodedata.combining(c))
            if len(bare) == 1 and bare != char:
                plain[char] = bare
    return "".join([*plain, *marks]), "".join(plain.values())


def _strip_accents(value: Any) -> Sql:
    marked, bare = _accents()
    return call("translate", value, text(marked), text(bare))


def _get(values: Any, place: Any) -> Sql:
    """An item by its number from 1; missing outside. A most frequent value is an aggregate of Spark's own."""
    histogram = next((n for n in values.find_all(exp.Anonymous) if _name(n) == "map_from_counts"), None)
    if _name(values) == "map_keys" and histogram is not None:
        return call("mode", histogram.expressions[0].copy(), exp.true())
    return made("get(:a, CAST(:b AS INT) - 1)", values, place)


def _split(value: Any, separator: Any) -> Sql:
    escaped = "".join(
        c if c.isalnum() or c == " " else "\\" + c if c in r"\.[]{}()*+-?^$|/&~#<>=!," else c
        for c in _literal(separator)
    )
    return call("split", value, text(escaped), number(-1))


def _regexp_extract(value: Any, regex: Any, group: Any | None = None) -> Sql:
    return call("regexp_extract", value, regex, group if group is not None else number(0))


def _regexp_all(value: Any, regex: Any, group: Any | None = None) -> Sql:
    return call("regexp_extract_all", value, regex, group if group is not None else number(0))


def _regexp_replace(value: Any, regex: Any, by: Any, *_: Any) -> Sql:
    return call("regexp_replace", value, regex, by)


def _range(*args: Any) -> Sql:
    low, high = (number(0), args[0]) if len(args) == 1 else args
    return made("sequence(CAST(:a AS BIGINT), CAST(:b AS BIGINT) - 1)", low, high)


def _interval(unit: str) -> Callable[..., Sql]:
    return _as({
        "months": "make_ym_interval(0, :a)", "years": "make_ym_interval(:a, 0)", "weeks": "make_dt_interval(7 * :a)", "days": "make_dt_interval(:a)",
        "hours": "make_dt_interval(0, :a)", "minutes": "make_dt_interval(0, 0, :a)", "seconds": "make_dt_interval(0, 0, 0, :a)",
    }[unit])  # fmt: skip


CALLS: dict[str, Callable[..., Sql]] = {
    "isfinite": _as("abs(:a) < double('infinity')"),
    "date_part": _date_part, "date_diff": _date_diff, "date_trunc": _date_trunc, "timezone": _timezone,
    "epoch_us": _as("unix_micros(CAST(:a AS TIMESTAMP))"), "make_timestamp": lambda x: call("to_naive", x),
    "try_strptime": _read_time, "strftime": _format_time,
    "strip_accents": _strip_accents,
    "contains": _renamed("contains"), "starts_with": _renamed("startswith"), "ends_with": _renamed("endswith"),
    "regexp_matches": _renamed("regexp_like"), "regexp_extract": _regexp_extract, "regexp_extract_all": _regexp_all, "regexp_replace": _regexp_replace,
    "string_split": _split, "split_part": _renamed("split_part"),
    "list_extract": _get, "len": _as("CAST(size(:a) AS BIGINT)"), "list_filter": _renamed("filter"), "list_transform": _renamed("transform"),
    "map_values": _renamed("map_values"), "map_keys": _renamed("map_keys"), "list_max": _renamed("array_max"), "list_position": _renamed("array_position"),
    "unnest": _renamed("explode"), "generate_series": _renamed("sequence"), "range": _range,
    "trunc": _as("CASE WHEN abs(:a) >= 9e15 THEN :a WHEN :a < 0 THEN CAST(ceil(:a) AS DOUBLE) ELSE CAST(floor(:a) AS DOUBLE) END"),
    **{f"to_{unit}": _interval(unit) for unit in ("years", "months", "weeks", "days", "hours", "minutes", "seconds")},
}  # fmt: skip

AGGREGATES: dict[str, Callable[..., Sql]] = {
    "quantile_cont": _renamed("percentile"), "histogram": lambda x: call("map_from_counts", x),
    "any_value": lambda x: call("any_value", x, exp.true()), "list": _renamed("collect_list"),
    "mode_count": _as("CASE WHEN mode(:a, true) <> mode() WITHIN GROUP (ORDER BY :a DESC) THEN 2 ELSE count(:a) - count(:a) + 1 END"),
    "product": _as("aggregate(collect_list(:a), double(1), (x, y) -> x * y)"),
    "skewness": _as("skewness(:a) * sqrt(count(:a) * (count(:a) - 1)) / nullif(count(:a) - 2, 0)"),
    "kurtosis_pop": _as("kurtosis(:a)"),
    "kurtosis": _as("((count(:a) + 1) * kurtosis(:a) + 6) * (count(:a) - 1) / nullif((count(:a) - 2) * (count(:a) - 3), 0)"),
    "bool_and": _renamed("bool_and"), "bool_or": _renamed("bool_or"),
}  # fmt: skip


# ---- ordered aggregates --------------------------------------------------------------------------------


def _sorted(ordered: Any) -> tuple[Any, bool]:
    """The values of an aggregate in its order, as a list; and whether there was an order."""
    if not isinstance(ordered, exp.Order):
        return call("collect_list", ordered), False
    fields = [exp.alias_(ordered.this.copy(), "v")]
    fields += [exp.alias_(key.this.copy(), f"k{place}") for place, key in enumerate(ordered.expressions)]
    rows = call("collect_list", call("struct", *fields))
    compared = " ".join(_compared(place, key) for place, key in enumerate(ordered.expressions))
    pattern = f"array_sort(:a, (l, r) -> CASE {compared} ELSE 0 END)"
    return made(f"transform({pattern}, s -> s.v)", rows), True


def _compared(place: int, key: Any) -> str:
    first, then = (1, -1) if key.args.get("desc") else (-1, 1)
    missing = -1 if key.args.get("nulls_first") else 1
    k = f"k{place}"
    return (
        f"WHEN l.{k} IS NULL AND r.{k} IS NOT NULL THEN {missing} WHEN r.{k} IS NULL AND l.{k} IS NOT NULL THEN {-missing} "
        f"WHEN l.{k} < r.{k} THEN {first} WHEN l.{k} > r.{k} THEN {then}"
    )


def _first(node: exp.First) -> Sql:
    values, ordered = _sorted(node.this)
    return made("get(:a, 0)", values) if ordered else made("any_value(:a)", node.this)


def _last(node: exp.Last) -> Sql:
    values, ordered = _sorted(node.this)
    return made("get(:a, size(:a) - 1)", values) if ordered else made("any_value(:a)", node.this)


def _joined(node: exp.GroupConcat) -> Sql:
    values, _ = _sorted(node.this)
    return made("CASE WHEN size(:a) > 0 THEN array_join(:a, :b) END", values, node.args["separator"])


ORDERED: dict[type[exp.Expression], Callable[[Any], Sql]] = {
    exp.First: _first, exp.Last: _last, exp.GroupConcat: _joined,
}  # fmt: skip


# ---- nodes ---------------------------------------------------------------------------------------------


def _divided(node: exp.Div) -> Sql:
    divisor: Any = node.expression
    while isinstance(divisor, exp.Paren | exp.Cast):
        divisor = divisor.this
    if isinstance(divisor, exp.Nullif | exp.Literal):
        return node
    return exp.Div(this=node.this, expression=exp.Nullif(this=node.expression, expression=number(0)))


def _rounded(name: str) -> Callable[[Any], Sql]:
    """Spark gives whole numbers of 64 bits, whatever the double was."""
    return lambda node: made(f"CASE WHEN abs(:a) < 9e15 THEN CAST({name}(:a) AS DOUBLE) ELSE :a END", node.this)


def _cast(node: exp.Cast) -> Sql:
    kind = node.to.this
    if kind is exp.DataType.Type.TIMESTAMP:
        return exp.Cast(this=node.this, to=NTZ.copy())
    if kind is exp.DataType.Type.TIME:
        return _time(node.this)
    if kind is exp.DataType.Type.INT128:
        return exp.Cast(this=node.this, to=DECIMAL.copy())
    if (
        kind is exp.DataType.Type.VARCHAR
        and isinstance(node.this, exp.Cast)
        and node.this.to.this is exp.DataType.Type.DOUBLE
    ):
        return made(_PLAIN, node.this)
    return node


def _time(value: Any) -> Sql:
    """A time of day is the microseconds since midnight."""
    if not isinstance(value, exp.Literal):
        return value
    time = dt.time.fromisoformat(str(value.this))
    return number(((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000 + time.microsecond)


_PLAIN = (
    "CASE WHEN (abs(:a) >= 1e7 AND abs(:a) < 1e15) OR (abs(:a) >= 1e-9 AND abs(:a) < 1e-3) "
    "THEN rtrim('0', CAST(CAST(:a AS DECIMAL(38, 20)) AS STRING)) ELSE CAST(:a AS STRING) END"
)


def _whole_literals(node: exp.Binary) -> Sql:
    """Whole literals have 32 bits in Spark."""
    if all(_is_literal(side) for side in (node.this, node.expression)):
        node.set("this", exp.Cast(this=node.this, to=BIGINT.copy()))
    return node


def _is_literal(node: Any) -> bool:
    while isinstance(node, exp.Paren | exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal) and node.is_int


def _member(node: exp.In) -> Sql:
    """A test against another table's column; Spark takes such a query in WHERE only."""
    query = node.args.get("query")
    if query is None:
        return node
    inner = query.this.copy()
    value = inner.expressions[0]
    inner.set("expressions", [exp.alias_(call("collect_set", value.copy()), "items")])
    return call("array_contains", exp.Subquery(this=inner), node.this)


NODES: dict[type[exp.Expression], Callable[[Any], Sql]] = {
    exp.Div: _divided, exp.Floor: _rounded("floor"), exp.Ceil: _rounded("ceil"), exp.Cast: _cast, exp.TryCast: _try_cast, exp.In: _member,
    exp.Add: _whole_literals, exp.Sub: _whole_literals, exp.Mul: _whole_literals,
    exp.Length: lambda node: exp.Cast(this=node, to=BIGINT.copy()),
}  # fmt: skip
