"""Short constructors for the SQL nodes that several function tables share."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from qa.plan.typed import Facets
from qa.types import Kind

Sql = exp.Expression
DOUBLE, BIGINT, HUGEINT, VARCHAR, DATE, TIMESTAMP, BOOLEAN = (
    exp.DataType.build(kind) for kind in ("DOUBLE", "BIGINT", "INT128", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")
)


def cast(value: Any, to: exp.DataType) -> Sql:
    return exp.Cast(this=value, to=to.copy())


def number(value: int | float) -> Sql:
    """A numeric literal; a negative one in brackets of its own."""
    if value < 0:
        return exp.Paren(this=exp.Neg(this=exp.Literal.number(repr(-value))))
    return exp.Literal.number(repr(value))


def text(value: str) -> Sql:
    return exp.Literal.string(value)


def paren(value: Any) -> Sql:
    return (
        exp.Paren(this=value)
        if isinstance(value, exp.Binary | exp.Between | exp.In | exp.Not | exp.Unary | exp.Case)
        else value
    )


def call(name: str, *args: Any) -> Sql:
    """A function that sqlglot has no class for."""
    return exp.Anonymous(this=name, expressions=list(args))


def both(kind: type[exp.Binary], left: Any, right: Any) -> Sql:
    return exp.Paren(this=kind(this=left, expression=right))


def when(condition: Any, then: Any, otherwise: Any | None = None) -> Sql:
    case = exp.Case(ifs=[exp.If(this=condition, true=then)])
    if otherwise is not None:
        case.set("default", otherwise)
    return case


def is_null(value: Any) -> Sql:
    return exp.Paren(this=exp.Is(this=paren(value), expression=exp.Null()))


def not_null(value: Any) -> Sql:
    return exp.Paren(this=exp.Not(this=exp.Is(this=paren(value), expression=exp.Null())))


def compare(kind: type[exp.Binary], left: Any, right: Any) -> Sql:
    return both(kind, left, right)


def null_if_zero(value: Any) -> Sql:
    return exp.Nullif(this=value, expression=exp.Literal.number("0"))


def finite(value: Any) -> Sql:
    """A double that is missing where it is not a finite number."""
    return when(call("isfinite", value), value.copy())


def sql_local(facets: Facets, x: Sql) -> Sql:
    """A zoned time as the wall clock of its zone; anything else as it is."""
    if facets.kind is Kind.DATETIME and facets.zone:
        return call("timezone", text(facets.zone), x)
    return x
