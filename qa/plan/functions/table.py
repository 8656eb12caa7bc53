"""What a row of the function table is: a function's name, signature, kinds, meaning and two lowerings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from sqlglot import expressions as exp

from qa.plan.typed import Facets, Typed
from qa.types import NUMERIC, Kind

KINDS: dict[str, frozenset[Kind] | None] = {
    "any": None,
    "numeric": NUMERIC,
    "summable": NUMERIC | {Kind.BOOLEAN, Kind.DURATION},
    "averaged": NUMERIC | {Kind.BOOLEAN, Kind.DURATION, Kind.DATE, Kind.DATETIME},
    "integer": frozenset({Kind.INTEGER}),
    "text": frozenset({Kind.TEXT}),
    "boolean": frozenset({Kind.BOOLEAN}),
    "day": frozenset({Kind.DATE, Kind.DATETIME}),
    "clock": frozenset({Kind.DATETIME, Kind.TIME}),
    "seconds": frozenset({Kind.TIME, Kind.DURATION}),
    "ordered": frozenset(set(Kind) - {Kind.LIST, Kind.BOOLEAN}),
    "scalar": NUMERIC | {Kind.BOOLEAN, Kind.TEXT},
    "spelled": frozenset(set(Kind) - {Kind.LIST, Kind.DURATION}),
    "yearly": NUMERIC | {Kind.DATE, Kind.DATETIME},
    "single": frozenset(set(Kind) - {Kind.LIST}),
    "sized": frozenset({Kind.TEXT, Kind.LIST}),
    "countable": frozenset(set(Kind)),
}
"""What a parameter accepts, by the word its signature uses."""


@dataclass(frozen=True)
class Param:
    """One parameter. `literal`: a constant written in the formula, handed over as a Python value."""

    name: str
    accepts: str
    literal: bool = False
    optional: bool = False
    many: bool = False
    default: Any = None

    @property
    def kinds(self) -> frozenset[Kind] | None:
        return KINDS[self.accepts]


@dataclass(frozen=True)
class Example:
    """A formula with its value. `data` are the columns of a small table; a row function's value is a list,
    one a row; an aggregate's is a single value."""

    formula: str
    value: Any
    data: dict[str, list[Any]] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    """the steps that give it as `r`, where the usual one for its family does not"""


Gives = Callable[["Call"], Facets]


@dataclass(frozen=True)
class Call:
    """A function's bound arguments, as `gives` and the lowerings that need kinds see them."""

    args: tuple[Typed, ...]
    options: dict[str, Any]
    most_rows: int | None = None

    @property
    def first(self) -> Facets:
        return self.args[0].facets

    @property
    def nullable(self) -> bool:
        return any(arg.facets.nullable for arg in self.args)

    def option(self, name: str, default: Any = None) -> Any:
        value = self.options.get(name)
        return default if value is None else value


@dataclass(frozen=True)
class Function:
    """One function. `signature` is what people read: `round(x, digits=0)`.

    `gives` says the facets of the result. `polars` and `sql` take the lowered arguments in order and the
    literal options by name; with `typed` they take the Call first. `codes` says that dictionary-coded text
    may be passed as it is. `words` are the plain words that ask for it.
    """

    name: str
    family: Literal["row", "aggregate", "window"]
    params: tuple[Param, ...]
    options: tuple[Param, ...]
    gives: Gives
    polars: Callable[..., pl.Expr]
    sql: Callable[..., exp.Expression]
    doc: str
    missing: str
    examples: tuple[Example, ...] = ()
    words: tuple[str, ...] = ()
    typed: bool = False
    codes: bool = False
    operator: bool = False
    ordered: bool = False
    exempt: bool = False
    """an aggregate that a repeated column cannot falsify (min, max, count_distinct…)"""
    sums: bool = False
    """an aggregate that adds values up, refused on roles that do not add"""

    @property
    def signature(self) -> str:
        shown = [
            f"{p.name}{', …' if p.many else ''}" + ("" if not p.optional else f"={_shown(p.default)}")
            for p in self.params
        ]
        shown += [f"{p.name}={_shown(p.default)}" for p in self.options]
        return f"{self.name}({', '.join(shown)})"


def _shown(default: Any) -> str:
    return "…" if default is None else repr(default) if isinstance(default, str) else str(default).lower()


def params(signature: str) -> tuple[tuple[Param, ...], tuple[Param, ...]]:
    """Reads `x: numeric, digits: integer! = 0; match_case: boolean! = false`.

    `!` a literal, `?` optional, `*` any number; after `;` come the parameters given by keyword.
    """
    positional, _, keyword = signature.partition(";")
    return _params(positional), tuple(Param(**{**vars(p), "optional": True}) for p in _params(keyword))


def _params(text: str) -> tuple[Param, ...]:
    return tuple(_param(piece) for piece in re.findall(r"(?:'[^']*'|[^,'])+", text) if piece.strip())


def _param(text: str) -> Param:
    match = re.fullmatch(r"\s*(\w+)\s*:\s*(\w+)([!?*]*)\s*(?:=\s*(.+?))?\s*", text)
    if match is None:
        raise ValueError(f"not a parameter: {text!r}")
    name, accepts, marks, default = match.groups()
    value = None if default is None else _literal(default)
    return Param(name, accepts, "!" in marks, "?" in marks or default is not None, "*" in marks, value)


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return text.strip("'")


def fixed(kind: Kind, **facets: Any) -> Gives:
    """A result of one kind, missing when an argument is."""
    return lambda call: Facets(kind, call.nullable, **facets)


def always(kind: Kind, **facets: Any) -> Gives:
    """A result of one kind that is never missing."""
    return lambda call: Facets(kind, False, **facets)


def maybe(kind: Kind, **facets: Any) -> Gives:
    """A result of one kind that may be missing whatever the arguments are."""
    return lambda call: Facets(kind, True, **facets)


def row(
    name: str, signature: str, gives: Gives | Kind, polars: Callable[..., pl.Expr], sql: Callable[..., exp.Expression], doc: str, *,
    missing: str = "Missing in, missing out.", examples: tuple[Example, ...] = (), words: tuple[str, ...] = (), **flags: Any,
) -> Function:  # fmt: skip
    """A row function."""
    result = fixed(gives) if isinstance(gives, Kind) else gives
    return Function(name, "row", *params(signature), result, polars, sql, doc, missing, examples, words, **flags)


def aggregate(
    name: str, signature: str, gives: Gives | Kind, polars: Callable[..., pl.Expr], sql: Callable[..., exp.Expression], doc: str, *,
    missing: str = "Missing values are skipped; of nothing it is missing.", examples: tuple[Example, ...] = (), words: tuple[str, ...] = (), **flags: Any,
) -> Function:  # fmt: skip
    """An aggregate; every aggregate also takes `where=` and `by=`."""
    result = maybe(gives) if isinstance(gives, Kind) else gives
    return Function(name, "aggregate", *params(signature), result, polars, sql, doc, missing, examples, words, **flags)


def window(
    name: str, signature: str, gives: Gives | Kind, polars: Callable[..., pl.Expr], sql: Callable[..., exp.Expression], doc: str, *,
    missing: str, examples: tuple[Example, ...] = (), words: tuple[str, ...] = (), **flags: Any,
) -> Function:  # fmt: skip
    """A window function, for `window` steps."""
    result = maybe(gives) if isinstance(gives, Kind) else gives
    return Function(name, "window", *params(signature), result, polars, sql, doc, missing, examples, words, **flags)
