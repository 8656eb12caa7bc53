"""Percentages against numbers: a comparison on another scale than the column's is told before it runs."""

from __future__ import annotations

from typing import Any

from qa.plan.formula import quoted_name
from qa.plan.scope import Scope
from qa.plan.typed import Aggregate, Apply, Const, Facets, Ref, Typed, facets_of
from qa.types import Column, Kind, Role

FAR = 10
"""Times the whole from which a computed fraction is taken for a mistaken percentage."""


def on_scale(scope: Scope, side: Typed, *others: Typed) -> None:
    """Checks numbers that a percentage is compared with against its scale and its values (LANGUAGE 5.7).

    A number that only another scale could mean is the issue `outside_scale`; one that could be meant is noted.
    """
    if side.facets.role is not Role.PERCENT or side.facets.unit not in ("fraction", "percent"):
        return
    numbers = [other.value for other in others if isinstance(other, Const) and other.kind and other.kind.numeric]
    check = _fraction if side.facets.unit == "fraction" else _percent
    for number in numbers:
        check(scope, side, number)


def _fraction(scope: Scope, side: Typed, number: Any) -> None:
    if abs(number) <= 1:
        return
    ends = _ends(scope, side)
    if ends is not None and ends[0] <= number <= ends[1]:
        return
    if ends is None and abs(number) < FAR:
        scope.world.note(f"{_named(side)} is a fraction: {number} means {number * 100:g} %.")
        return
    span = f"its values go from {_short(ends[0])} to {_short(ends[1])}" if ends else "1 is the whole"
    scope.refuse(
        "outside_scale",
        f"{_named(side)} is a fraction: {span}, and {number} would be {number * 100:g} %.",
        f"Write {_short(number / 100)} for {number} %. To mean {number} itself, compare number({_formula(side)}).",
    )


def _percent(scope: Scope, side: Typed, number: Any) -> None:
    if not 0 < abs(number) < 1:
        return
    ends = _ends(scope, side)
    if ends is None or 0 < ends[2] < 1:
        scope.world.note(f"{_named(side)} is in percent: {number} means {number} %, not {number * 100:g} %.")
        return
    scope.refuse(
        "outside_scale",
        f"{_named(side)} is in percent: its values go from {_short(ends[0])} to {_short(ends[1])}, "
        f"none between 0 and 1, and {number} would be {number} %.",
        f"Write {number * 100:g} for {number * 100:g} %. To mean {number} itself, compare number({_formula(side)}).",
    )


def _ends(scope: Scope, side: Typed) -> tuple[float, float, float] | None:
    """The least and the greatest value of a loaded column, and the least size of one that is not 0."""
    if not isinstance(side, Ref) or side.column.origin is None or scope.world.probe is None:
        return None
    table, id = side.column.origin
    pipeline = scope.pipeline(table)
    column = next((c for c in pipeline.start if c.origin == (table, id)), None)
    if column is None:
        return None
    low, high, least = scope.world.probe.values(pipeline, _measures(column), scope.world.lets)
    return None if low is None else (float(low), float(high), float(least or 0))


def _measures(column: Column) -> list[Typed]:
    ref, number = Ref(facets_of(column), column), Facets(Kind.NUMBER, True)
    size = Apply(number, "abs", (ref,))
    zero = Const(Facets(Kind.INTEGER, False, 0, 0), 0)
    other = Apply(Facets(Kind.BOOLEAN, True), "!=", (ref, zero))
    return [
        Aggregate(number, "min", (ref,), by=None),
        Aggregate(number, "max", (ref,), by=None),
        Aggregate(number, "min", (size,), where=other, by=None),
    ]


def _named(side: Typed) -> str:
    return repr(side.column.name) if isinstance(side, Ref) else "This"


def _formula(side: Typed) -> str:
    return quoted_name(side.column.name) if isinstance(side, Ref) else "…"


def _short(number: float) -> str:
    return f"{number:.4g}"
