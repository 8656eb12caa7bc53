"""Operators and functions that need more than a table row: comparisons, membership, periods, row numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from qa.plan import formula as f
from qa.plan.literals import constant, proven, require_alike, together
from qa.plan.periods import is_relative, period
from qa.plan.scales import on_scale
from qa.plan.scope import Scope
from qa.plan.typed import Apply, Const, Facets, Members, Ref, Typed, Windowed, facets_of
from qa.plan.watches import left_out
from qa.types import Kind

if TYPE_CHECKING:
    from qa.plan.bind import Binder


def kind_words(typed: Typed) -> str:
    return "nothing" if typed.kind is None else f"{typed.kind}"


def _comparison(binder: Binder, node: f.Call) -> Typed:
    left, right = together(binder.scope, *(binder.bind(arg) for arg in node.args))
    if left.kind is None or right.kind is None:
        binder.scope.refuse(
            "null_comparison", "A comparison with null is never true.", "Write x is null or x is not null."
        )
    require_alike(binder.scope, left, right)
    if Kind.LIST in (left.kind, right.kind) and node.function not in ("==", "!="):
        binder.scope.refuse("wrong_kind", "Lists have no order.", "Compare length(x), or explode the list first.")
    on_scale(binder.scope, left, right)
    on_scale(binder.scope, right, left)
    if node.function in ("==", "!=") and Kind.TEXT in (left.kind, right.kind):
        return _text_equality(binder, node.function, left, right)
    facets = Facets(Kind.BOOLEAN, left.facets.nullable or right.facets.nullable)
    typed = Apply(facets, node.function, (left, right))
    if node.function == "!=":
        _count_left_out(binder, left, right)
    return typed


def _text_equality(binder: Binder, operator: str, left: Typed, right: Typed) -> Typed:
    if isinstance(left, Const) and isinstance(right, Ref):
        left, right = right, left
    facets = Facets(Kind.BOOLEAN, left.facets.nullable or right.facets.nullable)
    if operator == "!=":
        _count_left_out(binder, left, right)
    if not (isinstance(left, Ref) and isinstance(right, Const)):
        return Apply(facets, operator, (left, right))
    cells, exact = proven(binder.scope, left.column, right.value)
    if len(cells) == 1:
        return Apply(facets, operator, (left, replace(right, value=cells[0], exact=exact)))
    members = Members(facets, left, tuple(replace(right, value=cell, exact=exact) for cell in cells), exact=exact)
    return members if operator == "==" else Apply(facets, "not", (members,))


def _count_left_out(binder: Binder, *sides: Typed) -> None:
    for side in sides:
        if isinstance(side, Ref) and side.facets.nullable:
            binder.scope.left_out.append(left_out(side))


def _between(binder: Binder, node: f.Call) -> Typed:
    x, low, high = (binder.bind(arg) for arg in node.args)
    x1, low = together(binder.scope, x, low)
    x2, high = together(binder.scope, x, high)
    for side, limit in ((x1, low), (x2, high)):
        require_alike(binder.scope, side, limit)
        on_scale(binder.scope, side, limit)
    if x.kind is Kind.LIST:
        binder.scope.refuse("wrong_kind", "Lists have no order.", "Compare length(x), or explode the list first.")
    nullable = any(t.facets.nullable for t in (x, low, high))
    if x1 == x2:
        return Apply(Facets(Kind.BOOLEAN, nullable), "between", (x1, low, high))
    return both_true(
        Apply(Facets(Kind.BOOLEAN, nullable), ">=", (x1, low)), Apply(Facets(Kind.BOOLEAN, nullable), "<=", (x2, high))
    )


def both_true(left: Typed, right: Typed) -> Typed:
    return Apply(Facets(Kind.BOOLEAN, left.facets.nullable or right.facets.nullable), "and", (left, right))


def _in(binder: Binder, node: f.Call) -> Typed:
    value, group = binder.bind(node.args[0]), node.args[1]
    negated = node.function == "not in"
    if isinstance(group, f.Name):
        typed: Typed = _in_let(binder, value, group)
    else:
        typed = _in_list(binder, value, group)
    if negated:
        _count_left_out(binder, value)
        return Apply(typed.facets, "not", (typed,))
    return typed


def _in_let(binder: Binder, value: Typed, name: f.Name) -> Typed:
    lets = binder.scope.world.lets
    if name.owner is None or name.owner not in lets:
        binder.scope.refuse(
            "no_such_let",
            f"After `in` stands a list or let.column; {f.format(name)!r} is neither.",
            "Write x in ['a', 'b'], or define a let and write x in let.column.",
        )
    column = Scope(lets[name.owner].schema, binder.scope.world).column(name.name)
    other = Ref(facets_of(column), column)
    require_alike(binder.scope, value, other)
    return Members(Facets(Kind.BOOLEAN, value.facets.nullable), value, let=name.owner, column=column)


def _in_list(binder: Binder, value: Typed, group: f.Node) -> Typed:
    nodes = group.items if isinstance(group, f.Items) else (group,)
    items: list[Const] = []
    exact = True
    for node in nodes:
        left, item = together(binder.scope, value, binder.bind(node))
        if not isinstance(item, Const) or item.kind is None:
            binder.scope.refuse(
                "not_a_literal",
                "The list after `in` holds written-out values only.",
                "Write x in ['a', 'b'], or join comparisons with or.",
            )
        value = left if left != value and len(nodes) >= 1 else value
        require_alike(binder.scope, value, item)
        on_scale(binder.scope, value, item)
        cells, proof = (
            proven(binder.scope, value.column, item.value)
            if isinstance(value, Ref) and item.kind is Kind.TEXT
            else ([item.value], False)
        )
        exact = exact and proof
        items += [replace(item, value=cell, exact=proof) for cell in cells]
    return Members(
        Facets(Kind.BOOLEAN, value.facets.nullable), value, tuple(dict.fromkeys(items)), exact=exact and bool(items)
    )


def _today(binder: Binder, node: f.Call) -> Typed:
    if node.args:
        binder.scope.refuse("wrong_arguments", "today takes no arguments.", "Write today().")
    return constant(_note_today(binder))


def _note_today(binder: Binder) -> dt.date:
    clock = binder.scope.world.clock
    binder.scope.world.note(f"Today is {clock.today.isoformat()} ({clock.zone}).")
    return clock.today


def _in_period(binder: Binder, node: f.Call) -> Typed:
    if len(node.args) != 2 or not isinstance(node.args[1], f.Literal) or not isinstance(node.args[1].value, str):
        binder.scope.refuse(
            "wrong_arguments",
            "in_period takes a date column and a period in quotes.",
            "Write in_period(d, 'last 3 months') or in_period(d, '2024-03').",
        )
    value = binder.bind(node.args[0])
    if value.kind not in (Kind.DATE, Kind.DATETIME):
        binder.scope.refuse("wrong_kind", f"in_period cannot take {kind_words(value)}.", "Give it a date column.")
    text = node.args[1].value
    start, end = period(text, binder.scope.world.clock)
    if is_relative(text):
        _note_today(binder)
    binder.scope.world.note(f"'{text}' read as {start.isoformat()} to {end.isoformat()}.")
    x, low = together(binder.scope, value, constant(start))
    _, high = together(binder.scope, value, constant(end))
    return Apply(Facets(Kind.BOOLEAN, value.facets.nullable), "between", (x, low, high))


def _row_index(binder: Binder, node: f.Call) -> Typed:
    binder.scope.uses_order = True
    if not binder.scope.numbers_rows or node.args:
        binder.scope.refuse(
            "wrong_arguments",
            "row_index() numbers rows; it stands in derive or filter.",
            "Derive row_index() as n first.",
        )
    return Windowed(Facets(Kind.INTEGER, False, 1, binder.scope.schema.most_rows), "row_index", ())


SPECIAL: dict[str, Callable[[Binder, f.Call], Typed]] = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _comparison),
    "between": _between, "in": _in, "not in": _in, "today": _today, "in_period": _in_period, "row_index": _row_index,
}  # fmt: skip
