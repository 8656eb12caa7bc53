"""Writes names, literals and conditions as formulas of the plan language."""

from __future__ import annotations

from collections.abc import Sequence

from qa.plan.formula import quoted_name, quoted_text

name = quoted_name
"""A column name as a formula writes it."""


def literal(value: object) -> str:
    """A value as a formula writes it; text is quoted, quotes inside are doubled."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number(float(value))
    return quoted_text(str(value))


def number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def equals(column: str, values: Sequence[object], negated: bool = False) -> str:
    """`column` holds one of the values, or none of them."""
    if len(values) == 1:
        return f"{column} {'!=' if negated else '=='} {literal(values[0])}"
    inside = ", ".join(literal(value) for value in values)
    return f"{column} {'not in' if negated else 'in'} [{inside}]"


def all_of(conditions: Sequence[str]) -> str:
    """Conditions that must all hold."""
    if len(conditions) == 1:
        return conditions[0]
    return " and ".join(f"({c})" if _loose(c) else c for c in conditions)


def any_of(conditions: Sequence[str]) -> str:
    return " or ".join(f"({c})" if " or " in c else c for c in conditions)


def _loose(condition: str) -> bool:
    return " or " in condition
