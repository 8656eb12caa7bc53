"""Formulas for Spark, where a kind decides: times of day are microseconds there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from qa.plan.functions.aggregates import NoTwin
from qa.plan.functions.sqltools import BIGINT, DOUBLE, both, call, cast, number
from qa.plan.sql_terms import SqlTerms
from qa.plan.typed import Typed
from qa.types import Kind

_SIZE = {"hour": (3_600_000_000, 24), "minute": (60_000_000, 60), "second": (1_000_000, 60)}


@dataclass
class SparkTerms(SqlTerms):
    """The SQL terms, with times of day as whole numbers."""

    def lower(
        self, function: Any, typed_args: tuple[Typed, ...], args: tuple[Any, ...], options: dict[str, Any]
    ) -> exp.Expression:
        if function.name == "mode_count":
            return _modes(args[0])
        timed = any(arg.kind is Kind.TIME for arg in typed_args)
        if timed and function.name == "seconds":
            return both(exp.Div, cast(args[0], DOUBLE), number(1e6))
        if timed and function.name in _SIZE:
            size, turn = _SIZE[function.name]
            return both(exp.Mod, both(exp.IntDiv, args[0], number(size)), cast(number(turn), BIGINT))
        if timed and function.name in ("text", "concat"):
            raise NoTwin("a time of day has no text on the cluster")
        return super().lower(function, typed_args, args, options)


def _modes(value: Any) -> exp.Expression:
    """How many values are most frequent together."""
    return call("mode_count", value)
