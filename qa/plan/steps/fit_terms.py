"""What a fit adds up: the terms of its predictors, and the cases whose value it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qa.plan import formula as f
from qa.plan.bind import Binder
from qa.plan.formula import quoted_name, quoted_text
from qa.plan.scope import Scope
from qa.plan.steps.pivot import displayed
from qa.plan.typed import Aggregate, Facets, Ref, Typed
from qa.types import Kind

LEVELS = 20
"""Values that a text predictor may have."""


@dataclass(frozen=True)
class Term:
    """One summand of the line: its name, its formula, the predictor that it comes from and, of a text, the value."""

    name: str
    formula: str
    predictor: str
    level: Any = None


Terms = Sequence[Term]


def terms_of(scope: Scope, predictors: Sequence[str]) -> list[Term]:
    """The terms beside the intercept: a number is one, true or false is one, a text one a value but the first."""
    found: list[Term] = []
    for index, text in enumerate(predictors):
        where = f"predictors[{index}]"
        typed = Binder(scope).formula(text, where)
        formula = quoted_name(text) if scope.has(text) else text
        if typed.kind is not None and typed.kind.numeric:
            found.append(Term(text, formula, text))
        elif typed.kind is Kind.BOOLEAN:
            found.append(Term(f"{text} = true", f"number({formula})", text))
        elif isinstance(typed, Ref) and typed.kind is Kind.TEXT:
            found += [
                Term(f"{text} = {displayed(value)}", f"if({formula} == {quoted_text(value)}, 1, 0)", text, value)
                for value in _levels(scope, typed, text)
            ]
        else:
            scope.refuse(
                "wrong_kind",
                f"{text!r} is no predictor that a line can use.",
                "Use numbers, text columns or true/false.",
                where,
            )
    return found


def _levels(scope: Scope, typed: Ref, text: str) -> list[Any]:
    if scope.world.probe is None or scope.current is None:
        scope.refuse(
            "bad_option",
            f"The values of {text!r} are not known.",
            "Derive number(x == 'value') first.",
            "predictors",
        )
    values = scope.world.probe.distinct(scope.current, typed.column.id, LEVELS + 2, scope.world.lets) or []
    known = sorted(value for value in values if value is not None)
    if len(known) > LEVELS:
        scope.refuse(
            "too_big", f"{text!r} has more than {LEVELS} values.", "Group them first with case or if.", "predictors"
        )
    if known:
        scope.world.note(f"{text}: effects are against {known[0]!r}.")
    return known[1:]


# ---- cases -------------------------------------------------------------------------------------


def case_of(scope: Scope, predictors: Sequence[str], text: str, where: str) -> dict[str, Any]:
    """The value of each predictor that a case such as `size = 120 and kind = 'flat'` states."""
    stated: dict[str, Any] = {}
    for node in _stated(f.parse(text)):
        match node:
            case f.Call(function="==", args=(left, f.Literal(value))) if value is not None:
                stated[f.format(left)] = value
            case _:
                scope.refuse(
                    "bad_option",
                    f"{text!r} does not state a case.",
                    "Write a value for each predictor: size = 120 and kind = 'flat'.",
                    where,
                )
    names = {f.format(_written(scope, predictor)): predictor for predictor in predictors}
    wrong = [*(name for name in stated if name not in names), *(name for name in names if name not in stated)]
    if wrong:
        scope.refuse(
            "bad_option",
            f"A case states each predictor once; {wrong[0]!r} is {'no predictor' if wrong[0] in stated else 'not stated'}.",
            f"The predictors are {', '.join(predictors)}.",
            where,
        )
    case = {predictor: stated[name] for name, predictor in names.items()}
    for predictor, value in case.items():
        _fits(scope, predictor, value, where)
    return case


def _stated(node: f.Node) -> list[f.Node]:
    if isinstance(node, f.Call) and node.function == "and":
        return [part for arg in node.args for part in _stated(arg)]
    return [node]


def _written(scope: Scope, predictor: str) -> f.Node:
    return f.Name(predictor) if scope.has(predictor) else f.parse(predictor)


def _fits(scope: Scope, predictor: str, value: Any, where: str) -> None:
    """The value is of the predictor's kind; a text is one of its values; a number beyond the data is noted."""
    typed = Binder(scope).formula(predictor, where)
    wanted: Any = {Kind.TEXT: str, Kind.BOOLEAN: bool}.get(typed.kind or Kind.NUMBER, int | float)
    if not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool)):
        scope.refuse("kinds_differ", f"{predictor!r} holds {typed.kind}, not {value!r}.", "", where)
    if scope.world.probe is None or scope.current is None:
        return
    if isinstance(typed, Ref) and typed.kind is Kind.TEXT:
        values = scope.world.probe.distinct(scope.current, typed.column.id, LEVELS + 2, scope.world.lets) or []
        if value not in values:
            known = ", ".join(repr(item) for item in values if item is not None)
            scope.refuse("no_such_value", f"{predictor!r} is never {value!r}.", f"Its values are {known}.", where)
    elif typed.kind is not Kind.BOOLEAN:
        number = Facets(Kind.NUMBER, True)
        ends: list[Typed] = [Aggregate(number, end, (typed,), by=None) for end in ("min", "max")]
        low, high = scope.world.probe.values(scope.current, ends, scope.world.lets)
        if low is not None and not low <= value <= high:
            scope.world.note(
                f"{predictor} = {value} lies outside the data ({low} to {high}): the line is drawn on beyond them."
            )


def point_of(terms: Terms, case: Mapping[str, Any]) -> list[float]:
    """What each term is in a case."""
    values = []
    for term in terms:
        value = case[term.predictor]
        values.append(float(value == term.level) if isinstance(value, str) else float(value))
    return values


def as_formula(value: Any) -> str:
    """A stated value as a formula."""
    return f.format(f.Literal(value))
