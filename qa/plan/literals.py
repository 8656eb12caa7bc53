"""Literals against columns: text proven on the whole column, ISO text read as dates."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import Any

from qa.plan.scope import Scope, folded, nearest
from qa.plan.typed import Apply, Const, Facets, Ref, Typed
from qa.types import Column, Kind


def constant(value: Any) -> Const:
    """A Python value as a typed constant."""
    kind: Kind | None
    match value:
        case None:
            kind = None
        case bool():
            kind = Kind.BOOLEAN
        case int():
            return Const(Facets(Kind.INTEGER, False, value, value), value)
        case float():
            kind = Kind.NUMBER
        case dt.datetime():
            kind = Kind.DATETIME
        case dt.date():
            kind = Kind.DATE
        case dt.time():
            kind = Kind.TIME
        case _:
            kind = Kind.TEXT
    return Const(Facets(kind, value is None), value)


def as_moment(text: str) -> dt.date | dt.datetime | None:
    """The date or datetime that ISO text spells."""
    clean = text.strip().replace("T", " ").rstrip("Z")
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", clean):
            return dt.date.fromisoformat(clean)
        if re.fullmatch(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2}(\.\d+)?)?", clean):
            return dt.datetime.fromisoformat(clean)
    except ValueError:
        return None
    return None


def written_moment(function: str, value: Any) -> dt.date | dt.datetime | None:
    """What date('2024-03-01') or datetime('2024-03-01 10:00') means; None for what is not ISO text."""
    moment = as_moment(value) if isinstance(value, str) else None
    if moment is None:
        return None
    at = moment if isinstance(moment, dt.datetime) else dt.datetime.combine(moment, dt.time())
    return at if function == "datetime" else at.date()


def together(scope: Scope, left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Two sides of a comparison as one kind: ISO text becomes a date, a bare date reads a datetime's day."""
    if isinstance(right, Const) and not isinstance(left, Const):
        return _with_constant(scope, left, right)
    if isinstance(left, Const) and not isinstance(right, Const):
        right, left = _with_constant(scope, right, left)
        return left, right
    return _dates_alike(left, right)


def _with_constant(scope: Scope, side: Typed, const: Const) -> tuple[Typed, Typed]:
    if side.kind in (Kind.DATE, Kind.DATETIME) and const.kind is Kind.TEXT:
        moment = as_moment(const.value)
        if moment is None:
            scope.refuse(
                "kinds_differ",
                f"{const.value!r} is compared with a {side.kind} but is no date.",
                "Write dates as '2024-03-01', or use in_period(d, '2024-03').",
            )
        const = constant(moment)
    if side.kind is Kind.TIME and const.kind is Kind.TEXT:
        try:
            const = constant(dt.time.fromisoformat(const.value))
        except ValueError:
            scope.refuse(
                "kinds_differ", f"{const.value!r} is compared with a time but is none.", "Write times as '14:30'."
            )
    if side.kind is Kind.DATETIME and const.kind is Kind.DATE:
        return Apply(Facets(Kind.DATE, side.facets.nullable), "date", (side,)), const
    if side.kind is Kind.DATE and const.kind is Kind.DATETIME:
        return Apply(Facets(Kind.DATETIME, side.facets.nullable), "datetime", (side,)), const
    if side.kind is Kind.DATETIME and const.kind is Kind.DATETIME and side.facets.zone:
        const = replace(const, facets=replace(const.facets, zone=side.facets.zone))
    return side, const


def _dates_alike(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    match left.kind, right.kind:
        case Kind.DATE, Kind.DATETIME:
            return left, Apply(Facets(Kind.DATE, right.facets.nullable), "date", (right,))
        case Kind.DATETIME, Kind.DATE:
            return Apply(Facets(Kind.DATE, left.facets.nullable), "date", (left,)), right
    return left, right


def require_alike(scope: Scope, left: Typed, right: Typed) -> None:
    """Comparing different kinds is an issue with the cast that fixes it."""
    a, b = left.kind, right.kind
    if a is b is Kind.DATETIME and bool(left.facets.zone) != bool(right.facets.zone):
        scope.refuse(
            "kinds_differ",
            "This compares a time of a zone with a time of none.",
            "Compare their date(x), or write the time in quotes.",
        )
    if a is None or b is None or a == b or (a.numeric and b.numeric):
        return
    scope.refuse("kinds_differ", f"This compares {_a(a)} with {_a(b)}.", _cast_hint(left, right))


def _a(kind: Kind) -> str:
    return f"{'an' if kind.value[0] in 'aeiou' else 'a'} {kind.value}"


def _cast_hint(left: Typed, right: Typed) -> str:
    from qa.plan.formula import quoted_name

    for side, other in ((left, right), (right, left)):
        if isinstance(side, Ref):
            name = quoted_name(side.column.name)
            if side.kind is Kind.TEXT and other.kind is not None and other.kind.numeric:
                return f"Use number({name}), or put the value in quotes."
            if side.kind is Kind.BOOLEAN:
                return f"{side.column.name!r} is true or false: write {name} or not {name}."
            if side.kind is not None and side.kind.numeric and other.kind is Kind.TEXT:
                return f"{side.column.name!r} holds numbers: write the value without quotes, or use text({name})."
    return "Make them one kind with number(x), text(x) or date(x)."


def proven(scope: Scope, column: Column, value: str) -> tuple[list[str], bool]:
    """The cells that a text literal stands for, and whether they are cells as they stand (LANGUAGE 5.10).

    Exactly equal cells, if any; else all cells equal after folding; else the spellings that the load
    report grouped under it; else an issue with the nearest three. A computed column cannot be proven.
    """
    source = _source_of(scope, column)
    if source is None or column.origin is None:
        return [value], False
    cells = source.distinct(column.origin[1])
    grouped = source.variants(column.origin[1])
    exact = _contains(cells, value)
    alike = [] if exact else [cell for cell in cells if folded(cell) == folded(value)]
    base = [value] if exact else alike
    wanted = {folded(cell) for cell in (*base, value)} | {folded(grouped[cell]) for cell in base if cell in grouped}
    more = [
        cell
        for cell, stands_for in grouped.items()
        if (folded(stands_for) in wanted or folded(cell) in wanted) and _contains(cells, cell) and cell not in base
    ]
    found = [*base, *more]
    if not found:
        near = nearest(value, cells)
        hint = (
            f"The nearest are {', '.join(repr(cell) for cell in near)}."
            if near
            else "Look at the column's values on the Data page."
        )
        scope.refuse("no_such_value", f"No cell of {column.name!r} is {value!r}.", hint, candidates=near)
    if not exact or more:
        shown = ", ".join(f"`{cell}`" for cell in found[:6])
        scope.world.note(f"`{value}` read as {shown} in {column.name}.")
    return found, True


def _contains(cells: Any, value: str) -> bool:
    from bisect import bisect_left

    at = bisect_left(cells, value)
    return at < len(cells) and cells[at] == value


def _source_of(scope: Scope, column: Column) -> Any:
    return scope.world.sources.get(column.origin[0]) if column.origin else None
