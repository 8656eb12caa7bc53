"""The function table: every function of the language, one row each, gathered by domain."""

from __future__ import annotations

from qa.plan.functions import (
    aggregates,
    conversions,
    dates,
    maths,
    operators,
    probabilities,
    statistics,
    texts,
    windows,
)
from qa.plan.functions.table import Example, Function

_DOMAINS = (operators, maths, texts, conversions, dates, aggregates, statistics, probabilities)

FUNCTIONS: dict[str, Function] = {function.name: function for domain in _DOMAINS for function in domain.FUNCTIONS}

WINDOWED: dict[str, Function] = {function.name: function for function in windows.FUNCTIONS}
"""Functions that a `window` step reads instead of the row or aggregate of the same name."""


def domains() -> dict[str, tuple[Function, ...]]:
    """The rows of the table by domain, for the reference."""
    return {
        domain.__name__.rpartition(".")[2]: tuple(f for f in domain.FUNCTIONS if not f.name.startswith("_"))
        for domain in (*_DOMAINS, windows)
    }


AGGREGATE_OPTIONS = frozenset({"where", "by"})


def option_names(function: str) -> frozenset[str]:
    """The keywords that a function declares; every aggregate also takes `where` and `by`."""
    names: set[str] = set()
    for row in (FUNCTIONS.get(function), WINDOWED.get(function)):
        if row is not None:
            names |= {option.name for option in row.options}
            names |= {param.name for param in row.params if param.literal}
            names |= AGGREGATE_OPTIONS if row.family == "aggregate" else set()
    return frozenset(names)


__all__ = ["FUNCTIONS", "WINDOWED", "Example", "Function", "option_names"]
