"""Arithmetic, comparison and boolean operators, and the conditional functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.sqltools import (
    BIGINT,
    DOUBLE,
    HUGEINT,
    Sql,
    both,
    call,
    cast,
    is_null,
    not_null,
    null_if_zero,
    when,
)
from qa.plan.functions.table import Call, Example, Function, row
from qa.plan.typed import Const, Facets
from qa.types import Kind, Role

INT128 = (-(2**127), 2**127 - 1)


# ---- arithmetic ------------------------------------------------------------------------------


def whole(low: int, high: int, nullable: bool, **extra: Any) -> Facets:
    """A whole number with its bounds; past 128 bits it is refused."""
    if low < INT128[0] or high > INT128[1]:
        raise PlanError(
            Issue("overflow", "", "This whole number can grow past 128 bits.", "Use number(x) to compute with doubles.")
        )
    return Facets(Kind.INTEGER, nullable, low, high, **extra)


def bounds(facets: Facets) -> tuple[int, int]:
    low, high = facets.low, facets.high
    return (int(low) if low is not None else -(2**63), int(high) if high is not None else 2**63 - 1)


def _numeric(
    symbol: str, combine: Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]
) -> Callable[[Call], Facets]:
    def gives(call: Call) -> Facets:
        left, right = call.args[0].facets, call.args[1].facets
        kinds = {left.kind, right.kind}
        role, unit = _kept_role(symbol, left, right)
        if Kind.TEXT in kinds and symbol == "+":
            raise PlanError(Issue("wrong_kind", "", "+ adds numbers, not text.", "Use concat(a, b) to join text."))
        if kinds <= {Kind.INTEGER}:
            low, high = combine(bounds(left), bounds(right))
            return whole(low, high, call.nullable, role=role, unit=unit)
        if kinds <= {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}:
            return Facets(Kind.NUMBER, call.nullable, role=role, unit=unit)
        return _temporal(symbol, left, right, call.nullable)

    return gives


def _kept_role(symbol: str, left: Facets, right: Facets) -> tuple[Role | None, str | None]:
    """Money plus money of one currency is money; money times a plain number is money."""
    if (
        symbol in "+-"
        and left.role == right.role
        and left.unit == right.unit
        and left.role in (Role.CURRENCY, Role.COUNT)
    ):
        return left.role, left.unit
    if symbol == "*" and Role.CURRENCY in (left.role, right.role) and left.role != right.role:
        money = left if left.role is Role.CURRENCY else right
        return money.role, money.unit
    return None, None


def _temporal(symbol: str, left: Facets, right: Facets, nullable: bool) -> Facets:
    match symbol, left.kind, right.kind:
        case "+" | "-", Kind.DATETIME, Kind.DURATION:
            return Facets(Kind.DATETIME, nullable, zone=left.zone)
        case "+" | "-", Kind.DURATION, Kind.DURATION:
            return Facets(Kind.DURATION, nullable)
        case "-", (Kind.DATE | Kind.DATETIME), (Kind.DATE | Kind.DATETIME):
            raise PlanError(Issue("wrong_kind", "", "- does not subtract dates.", "Use date_diff(start, end, 'day')."))
        case "+" | "-", (Kind.DATE | Kind.DATETIME), Kind.INTEGER:
            raise PlanError(Issue("wrong_kind", "", f"{symbol} does not move dates.", "Use add(d, n, 'day')."))
    names = [kind.value if kind else "null" for kind in (left.kind, right.kind)]
    raise PlanError(
        Issue("wrong_kind", "", f"{symbol} cannot take {names[0]} and {names[1]}.", "It takes two numbers.")
    )


def _sum_bounds(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]


def _difference_bounds(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] - b[1], a[1] - b[0]


def _product_bounds(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _wide(call: Call) -> bool:
    """The exact result of two whole numbers may pass 64 bits, so both are widened first."""
    kinds = {arg.kind for arg in call.args}
    if kinds != {Kind.INTEGER}:
        return False
    corners = _product_bounds(bounds(call.args[0].facets), bounds(call.args[1].facets))
    sums = _sum_bounds(bounds(call.args[0].facets), bounds(call.args[1].facets))
    difference = _difference_bounds(bounds(call.args[0].facets), bounds(call.args[1].facets))
    return min(*corners, *sums, *difference) < -(2**63) or max(*corners, *sums, *difference) > 2**63 - 1


def _operand(call: Call, index: int, value: pl.Expr) -> pl.Expr:
    if call.args[index].kind is Kind.DECIMAL:
        return value.cast(pl.Float64)
    return value.cast(pl.Int128) if _wide(call) else value


def _sql_operand(call: Call, index: int, value: Sql) -> Sql:
    if call.args[index].kind is Kind.DECIMAL or (
        call.args[index].kind is Kind.INTEGER and Kind.NUMBER in {a.kind for a in call.args}
    ):
        return cast(value, DOUBLE)
    if (call.args[0].kind, call.args[index].kind) == (Kind.DATETIME, Kind.DURATION):
        return exp.Anonymous(this="to_microseconds", expressions=[value])
    return cast(value, HUGEINT) if _wide(call) else value


def _arithmetic(
    symbol: str,
    polars: Callable[[Any, Any], Any],
    sql: type[exp.Binary],
    combine: Any,
    doc: str,
    examples: tuple[Example, ...],
    words: tuple[str, ...],
) -> Function:
    return row(
        symbol, "a: any, b: any", _numeric(symbol, combine),
        lambda call, a, b: polars(_operand(call, 0, a), _operand(call, 1, b)),
        lambda call, a, b: both(sql, _sql_operand(call, 0, a), _sql_operand(call, 1, b)),
        doc, examples=examples, words=words, typed=True, operator=True,
    )  # fmt: skip


def _is_zero(value: Any) -> bool:
    return isinstance(value, Const) and isinstance(value.value, int | float) and value.value == 0


def _constant(call: Call, index: int) -> bool:
    return isinstance(call.args[index], Const) and not _is_zero(call.args[index])


def _divide_gives(call: Call) -> Facets:
    left, right = call.args[0].facets, call.args[1].facets
    if left.kind is Kind.DURATION and right.kind is Kind.DURATION:
        return Facets(Kind.NUMBER, True)
    if not {left.kind, right.kind} <= {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}:
        return _temporal("/", left, right, True)
    same = left.role is Role.CURRENCY and right.role is not Role.CURRENCY
    return Facets(
        Kind.NUMBER,
        call.nullable or not _constant(call, 1),
        role=left.role if same else None,
        unit=left.unit if same else None,
    )


def _divide(call: Call, a: pl.Expr, b: pl.Expr) -> pl.Expr:
    if call.args[0].kind is Kind.DURATION:
        a, b = a.dt.total_microseconds(), b.dt.total_microseconds()
    top, bottom = a.cast(pl.Float64), b.cast(pl.Float64)
    return top / bottom if _constant(call, 1) else pl.when(bottom != 0).then(top / bottom)


def _sql_divide(call: Call, a: Sql, b: Sql) -> Sql:
    if call.args[0].kind is Kind.DURATION:
        a, b = exp.Anonymous(this="epoch_us", expressions=[a]), exp.Anonymous(this="epoch_us", expressions=[b])
    bottom = cast(b, DOUBLE)
    return both(exp.Div, cast(a, DOUBLE), bottom if _constant(call, 1) else null_if_zero(bottom))


def _floor_gives(call: Call) -> Facets:
    left, right = call.args[0].facets, call.args[1].facets
    if {left.kind, right.kind} <= {Kind.INTEGER}:
        low, high = bounds(left)
        reach = max(abs(low), abs(high)) + 1
        return whole(-reach, reach, True)
    if not {left.kind, right.kind} <= {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}:
        return _temporal("//", left, right, True)
    return Facets(Kind.NUMBER, True)


def _modulo_gives(call: Call) -> Facets:
    left, right = call.args[0].facets, call.args[1].facets
    if {left.kind, right.kind} <= {Kind.INTEGER}:
        low, high = bounds(right)
        reach = max(abs(low), abs(high))
        return whole(-reach, reach, True)
    if not {left.kind, right.kind} <= {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}:
        return _temporal("%", left, right, True)
    return Facets(Kind.NUMBER, True)


def _integers(call: Call) -> bool:
    return {arg.kind for arg in call.args} == {Kind.INTEGER}


def _floor_divide(call: Call, a: pl.Expr, b: pl.Expr) -> pl.Expr:
    if _integers(call):
        return pl.when(b != 0).then(a // b)
    return _divide(call, a, b).floor()


def _modulo(call: Call, a: pl.Expr, b: pl.Expr) -> pl.Expr:
    if _integers(call):
        return pl.when(b != 0).then(a - (a // b) * b)
    top, bottom = a.cast(pl.Float64), b.cast(pl.Float64)
    return pl.when(bottom != 0).then(top - (top / bottom).floor() * bottom)


def _sql_modulo(call: Call, a: Sql, b: Sql) -> Sql:
    if _integers(call):
        once = both(exp.Add, both(exp.Mod, a, null_if_zero(b)), b.copy())
        return both(exp.Mod, once, null_if_zero(b.copy()))
    top, bottom = cast(a, DOUBLE), null_if_zero(cast(b, DOUBLE))
    return both(exp.Sub, top, both(exp.Mul, exp.Floor(this=both(exp.Div, top.copy(), bottom.copy())), bottom.copy()))


def _sql_floor_divide(call: Call, a: Sql, b: Sql) -> Sql:
    if _integers(call):
        exact = both(exp.Sub, a, _sql_modulo(call, a.copy(), b.copy()))
        return both(exp.IntDiv, exact, null_if_zero(b.copy()))
    return exp.Floor(this=both(exp.Div, cast(a, DOUBLE), null_if_zero(cast(b, DOUBLE))))


def _power(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    value = a.cast(pl.Float64).pow(b.cast(pl.Float64))
    return pl.when(value.is_finite()).then(value)


def sql_power(a: Sql, b: Sql) -> Sql:
    value = exp.Pow(this=cast(a, DOUBLE), expression=cast(b, DOUBLE))
    safe = when(
        exp.And(
            this=both(exp.EQ, cast(a.copy(), DOUBLE), exp.Literal.number("0")),
            expression=both(exp.LT, cast(b.copy(), DOUBLE), exp.Literal.number("0")),
        ),
        exp.Null(),
    )
    undefined = both(exp.LT, cast(a.copy(), DOUBLE), exp.Literal.number("0"))
    fraction = both(exp.NEQ, exp.Floor(this=cast(b.copy(), DOUBLE)), cast(b.copy(), DOUBLE))
    safe.append("ifs", exp.If(this=exp.And(this=undefined, expression=fraction), true=exp.Null()))
    safe.set("default", when(call("isfinite", value), value.copy()))
    return safe


def _negate_gives(call: Call) -> Facets:
    low, high = bounds(call.first)
    if call.first.kind is Kind.INTEGER:
        return whole(-high, -low, call.nullable, role=call.first.role, unit=call.first.unit)
    return Facets(
        call.first.kind if call.first.kind is not Kind.DECIMAL else Kind.NUMBER,
        call.nullable,
        role=call.first.role,
        unit=call.first.unit,
    )


def _negate(call: Call, a: pl.Expr) -> pl.Expr:
    if _overflows(call):
        # Polars cannot negate 128-bit numbers, but it subtracts them.
        return pl.lit(0, dtype=pl.Int128) - a.cast(pl.Int128)
    return -(a.cast(pl.Float64) if call.first.kind is Kind.DECIMAL else a)


def _overflows(call: Call) -> bool:
    return call.first.kind is Kind.INTEGER and bounds(call.first)[0] == -(2**63)


ARITHMETIC = (
    _arithmetic("+", operator.add, exp.Add, _sum_bounds, "Adds.", (Example("1 + 2", [3]),), ("plus", "added to")),
    _arithmetic("-", operator.sub, exp.Sub, _difference_bounds, "Subtracts.", (Example("5 - 2", [3]),), ("minus", "less", "difference between")),
    _arithmetic("*", operator.mul, exp.Mul, _product_bounds, "Multiplies.", (Example("4 * 2", [8]),), ("times", "multiplied by")),
    row(
        "/", "a: any, b: any", _divide_gives, _divide, _sql_divide, "Divides exactly; whole numbers give a number.",
        missing="Missing in, missing out; division by zero is missing, and counted.",
        examples=(Example("3 / 2", [1.5]), Example("3 / x", [3.0, None, None], {"x": [1, 0, None]})),
        words=("divided by", "per", "ratio of", "over"), typed=True, operator=True,
    ),
    row(
        "//", "a: numeric, b: numeric", _floor_gives, _floor_divide, _sql_floor_divide, "Divides and rounds down.",
        missing="Missing in, missing out; division by zero is missing.",
        examples=(Example("7 // 2", [3]), Example("x // 2", [-4, 3], {"x": [-7, 7]}), Example("-7.5 // 2", [-4.0])), typed=True, operator=True,
    ),
    row(
        "%", "a: numeric, b: numeric", _modulo_gives, _modulo, _sql_modulo, "The rest of a division; it has the divisor's sign.",
        missing="Missing in, missing out; division by zero is missing.",
        examples=(Example("x % 3", [2, 1], {"x": [-7, 7]}), Example("7 % -3", [-2])), typed=True, operator=True,
    ),
    row(
        "^", "a: numeric, b: numeric", lambda call: Facets(Kind.NUMBER, True), _power, sql_power, "Raises to a power.",
        missing="Missing in, missing out; what is no finite number is missing.",
        examples=(Example("2 ^ 10", [1024.0]), Example("2^3^2", [512.0]), Example("-2^2", [-4.0])), operator=True,
    ),
    row("neg", "a: numeric", _negate_gives, _negate,
        lambda call, a: exp.Neg(this=exp.Paren(this=cast(a, HUGEINT) if _overflows(call) else a)), "Changes the sign.",
        examples=(Example("-x", [-3, 2, None], {"x": [3, -2, None]}),), typed=True, operator=True),
)  # fmt: skip


# ---- comparison ------------------------------------------------------------------------------


def _comparison(
    symbol: str,
    polars: Callable[[Any, Any], Any],
    sql: type[exp.Binary],
    doc: str,
    examples: tuple[Example, ...],
    words: tuple[str, ...],
) -> Function:
    return row(
        symbol, "a: any, b: any", Kind.BOOLEAN, lambda a, b: polars(a, b), lambda a, b: both(sql, a, b), doc,
        missing="A comparison with missing is missing.", examples=examples, words=words, operator=True, codes=symbol in ("==", "!="),
    )  # fmt: skip


_X = {"x": [1, 2, None]}
COMPARISONS = (
    _comparison("==", operator.eq, exp.EQ, "Equal. Text is matched to the column's values (LANGUAGE 5.10).", (Example("x == 2", [False, True, None], _X),), ("is", "equals", "equal to")),
    _comparison("!=", operator.ne, exp.NEQ, "Not equal; rows with missing are left out, and counted.", (Example("x != 2", [True, False, None], _X),), ("is not", "not equal to", "other than")),
    _comparison("<", operator.lt, exp.LT, "Less than.", (Example("x < 2", [True, False, None], _X),), ("less than", "under", "below", "before")),
    _comparison("<=", operator.le, exp.LTE, "At most.", (Example("x <= 1", [True, False, None], _X),), ("at most", "up to", "no more than")),
    _comparison(">", operator.gt, exp.GT, "More than.", (Example("x > 1", [False, True, None], _X),), ("more than", "over", "above", "after")),
    _comparison(">=", operator.ge, exp.GTE, "At least.", (Example("x >= 2", [False, True, None], _X),), ("at least", "or more", "no less than")),
    row(
        "between", "x: any, low: any, high: any", Kind.BOOLEAN, lambda x, low, high: (x >= low) & (x <= high),
        lambda x, low, high: exp.Paren(this=exp.Between(this=x, low=low, high=high)), "From low to high, both included.",
        missing="A comparison with missing is missing.", examples=(Example("x between 1 and 2", [True, True, None, False], {"x": [1, 2, None, 3]}),),
        words=("between", "from … to"), operator=True,
    ),
    row("is null", "x: any", lambda call: Facets(Kind.BOOLEAN, False), lambda x: x.is_null(), is_null, "True where the value is missing.",
        missing="Never missing.", examples=(Example("x is null", [False, False, True], _X),), words=("missing", "empty", "blank", "unknown"), operator=True, codes=True),
    row("is not null", "x: any", lambda call: Facets(Kind.BOOLEAN, False), lambda x: x.is_not_null(), not_null, "True where there is a value.",
        missing="Never missing.", examples=(Example("x is not null", [True, True, False], _X),), words=("present", "known", "given"), operator=True, codes=True),
)  # fmt: skip

_T = {"a": [True, False, None]}
BOOLEAN_OPERATORS = (
    row("and", "a: boolean, b: boolean", Kind.BOOLEAN, lambda a, b: a & b, lambda a, b: both(exp.And, a, b), "True when both are.",
        missing="False and missing is false; true and missing is missing.", examples=(Example("a and true", [True, False, None], _T), Example("a and false", [False, False, False], _T)),
        words=("and",), operator=True),
    row("or", "a: boolean, b: boolean", Kind.BOOLEAN, lambda a, b: a | b, lambda a, b: both(exp.Or, a, b), "True when one is.",
        missing="True or missing is true; false or missing is missing.", examples=(Example("a or true", [True, True, True], _T), Example("a or false", [True, False, None], _T)),
        words=("or",), operator=True),
    row("not", "a: boolean", Kind.BOOLEAN, lambda a: ~a, lambda a: exp.Not(this=exp.Paren(this=a)), "True when it is false.",
        examples=(Example("not a", [False, True, None], _T),), words=("not", "no"), operator=True),
)  # fmt: skip


# ---- conditionals ----------------------------------------------------------------------------


def common(facets: list[Facets], nullable: bool) -> Facets:
    """What values of several branches have in common; a bare null fits any."""
    known = [f for f in facets if f.kind is not None]
    if not known:
        return Facets(None, True)
    kinds = {f.kind for f in known}
    first = known[0]
    role = first.role if all((f.role, f.unit) == (first.role, first.unit) for f in known) else None
    extra: dict[str, Any] = {"role": role, "unit": first.unit if role else None}
    if kinds == {Kind.INTEGER}:
        return Facets(
            Kind.INTEGER, nullable, min(bounds(f)[0] for f in known), max(bounds(f)[1] for f in known), **extra
        )
    if kinds <= {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}:
        return Facets(Kind.NUMBER, nullable, **extra)
    if kinds == {Kind.DATE, Kind.DATETIME} and not any(f.zone for f in known):
        return Facets(Kind.DATETIME, nullable)
    if kinds == {Kind.DATETIME} and len({f.zone for f in known}) > 1:
        raise PlanError(
            Issue("kinds_differ", "", "The branches hold times of different zones.", "Use date(x), or one zone.")
        )
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.value for kind in kinds if kind))
        raise PlanError(
            Issue(
                "kinds_differ",
                "",
                f"The branches hold different kinds: {names}.",
                "Make them one kind, with text(x) or number(x).",
            )
        )
    return Facets(first.kind, nullable, zone=first.zone, **extra)


def alike(kind: Kind | None, values: tuple[Any, ...], args: tuple[Any, ...]) -> list[pl.Expr]:
    """Branch values as one Polars type."""
    to: Any = {Kind.NUMBER: pl.Float64, Kind.DATETIME: pl.Datetime("us"), Kind.TEXT: pl.String}.get(kind or Kind.TEXT)
    return [
        value.cast(to)
        if to is not None and not (kind is Kind.DATETIME and arg.kind in (Kind.DATETIME, None))
        else value
        for value, arg in zip(values, args, strict=True)
    ]


def sql_alike(kind: Kind | None, values: tuple[Sql, ...], args: tuple[Any, ...]) -> list[Sql]:
    return [
        cast(value, DOUBLE) if kind is Kind.NUMBER and arg.kind is not Kind.NUMBER else value
        for value, arg in zip(values, args, strict=True)
    ]


def branches(call: Call) -> tuple[list[int], list[int]]:
    """The places of conditions and of values in `case`'s arguments; a last odd one is the else."""
    pairs = len(call.args) // 2
    conditions = [2 * i for i in range(pairs)]
    values = [2 * i + 1 for i in range(pairs)] + ([len(call.args) - 1] if len(call.args) % 2 else [])
    return conditions, values


def _case_gives(call: Call) -> Facets:
    conditions, values = branches(call)
    for index in conditions:
        if call.args[index].kind not in (Kind.BOOLEAN, None):
            raise PlanError(
                Issue("wrong_kind", "", "A condition must be true or false.", "Write a comparison such as x > 0.")
            )
    open_ended = len(call.args) % 2 == 0
    nullable = open_ended or any(call.args[i].facets.nullable for i in (*conditions, *values))
    return common([call.args[i].facets for i in values], nullable)


def _case(call: Call, *args: pl.Expr) -> pl.Expr:
    conditions, values = branches(call)
    kind = _case_gives(call).kind
    lowered = dict(
        zip(values, alike(kind, tuple(args[i] for i in values), tuple(call.args[i] for i in values)), strict=True)
    )
    result = lowered[len(args) - 1] if len(args) % 2 else pl.lit(None)
    for index in reversed(conditions):
        test = args[index]
        result = pl.when(test).then(lowered[index + 1]).when(test.is_null()).then(None).otherwise(result)
    return result


def _sql_case(call: Call, *args: Sql) -> Sql:
    conditions, values = branches(call)
    kind = _case_gives(call).kind
    lowered = dict(
        zip(values, sql_alike(kind, tuple(args[i] for i in values), tuple(call.args[i] for i in values)), strict=True)
    )
    ifs: list[exp.If] = []
    for index in conditions:
        ifs.append(exp.If(this=args[index].copy(), true=lowered[index + 1]))
        if call.args[index].facets.nullable:
            ifs.append(exp.If(this=is_null(args[index]), true=exp.Null()))
    return exp.Case(ifs=ifs, default=lowered[len(args) - 1] if len(args) % 2 else None)


def _coalesce(call: Call, *args: pl.Expr) -> pl.Expr:
    return pl.coalesce(alike(_coalesce_gives(call).kind, args, call.args))


def _coalesce_gives(call: Call) -> Facets:
    return common([arg.facets for arg in call.args], all(arg.facets.nullable for arg in call.args))


def _null_if_gives(call: Call) -> Facets:
    left, right = call.first, call.args[1].facets
    if left.kind is not right.kind or left.zone != right.zone:
        common([left, right], True)
    return Facets(left.kind, True, left.low, left.high, left.role, left.unit, left.zone)


CONDITIONALS = (
    row("if", "condition: boolean, then: any, otherwise: any?", _case_gives, _case, _sql_case, "One value where the condition is true, another where it is false.",
        missing="A missing condition gives missing, and is counted; coalesce(condition, false) says otherwise.",
        examples=(Example("if(x > 1, 'big', 'small')", ["small", "big", None], _X),), words=("if",), typed=True),
    row("case", "condition: any*", _case_gives, _case, _sql_case, "The value of the first true condition: case when a then x when b then y else z end.",
        missing="A missing condition gives missing.", examples=(Example("case when x > 1 then 'big' when x == 1 then 'one' end", ["one", "big", None], _X),), typed=True),
    row("coalesce", "x: any*", _coalesce_gives, _coalesce, lambda call, *args: exp.Coalesce(this=sql_alike(_coalesce_gives(call).kind, args, call.args)[0], expressions=sql_alike(_coalesce_gives(call).kind, args, call.args)[1:]),
        "The first value that is not missing.", missing="Missing only when all are.", examples=(Example("coalesce(x, 0)", [1, 2, 0], _X),), words=("or else", "filled with"), typed=True),
    row("null_if", "x: single, y: single", _null_if_gives, lambda x, y: pl.when(x != y).then(x).when(y.is_null()).then(x), lambda x, y: exp.Nullif(this=x, expression=y),
        "Missing where x equals y, else x.", examples=(Example("null_if(x, 2)", [1, None, None], _X),)),
    row("row_index", "", lambda call: Facets(Kind.INTEGER, False), lambda: pl.col("n0"), lambda: exp.column("n0", quoted=True), "The row's number in the order of the rows, counted from 1.",
        missing="Never missing.", examples=(Example("row_index()", [1, 2, 3], _X),), words=("row number",)),
)  # fmt: skip

FUNCTIONS = (*ARITHMETIC, *COMPARISONS, *BOOLEAN_OPERATORS, *CONDITIONALS)
__all__ = ["BIGINT", "FUNCTIONS", "bounds", "common", "reduce", "whole"]
