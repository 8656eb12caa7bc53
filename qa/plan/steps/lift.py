"""Aggregates and windows inside one another: the inner one becomes a column of its own first."""

from __future__ import annotations

from dataclasses import replace

from qa.plan.scope import Scope
from qa.plan.typed import Aggregate, Apply, Members, Output, Ref, Typed, Windowed, column_of, facets_of


def lifted(scope: Scope, typed: Typed) -> tuple[list[Output], Typed]:
    """Hidden columns to compute beforehand, and the formula that reads them. Neither engine nests windows."""
    hidden: list[Output] = []
    return hidden, _rewritten(scope, typed, hidden, inside=False)


def _rewritten(scope: Scope, typed: Typed, hidden: list[Output], *, inside: bool) -> Typed:
    match typed:
        case Aggregate() | Windowed():
            inner = _parts(scope, typed, hidden, inside=True)
            if not inside:
                return inner
            id = scope.world.ids.fresh()
            column = column_of(inner, id, id)
            hidden.append(Output(inner, column))
            return Ref(facets_of(column), column)
        case Apply() | Members():
            return _parts(scope, typed, hidden, inside=inside)
        case _:
            return typed


def _parts(scope: Scope, typed: Typed, hidden: list[Output], *, inside: bool) -> Typed:
    def of(part: Typed) -> Typed:
        return _rewritten(scope, part, hidden, inside=inside)

    match typed:
        case Aggregate():
            return replace(
                typed, args=tuple(of(arg) for arg in typed.args), where=None if typed.where is None else of(typed.where)
            )
        case Windowed() | Apply():
            return replace(typed, args=tuple(of(arg) for arg in typed.args))
        case Members():
            return replace(typed, value=of(typed.value))
    return typed
