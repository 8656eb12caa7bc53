"""Random formulas of a wanted kind, made from the functions' own examples: a new function is tried here by itself."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import polars as pl

from qa.errors import PlanError
from qa.plan import formula as f
from qa.plan.bind import Binder
from qa.plan.check import CheckedPipeline
from qa.plan.functions import FUNCTIONS, WINDOWED
from qa.plan.scope import Scope, World
from qa.plan.typed import Facets, facets_of
from qa.types import Column, Kind, Order
from tests.agreement import CLOCK
from tests.property.choices import Choices
from tests.property.data import HOLDINGS
from tests.tables import table

Family = Literal["row", "aggregate", "window"]
Flavour = str
"""A kind, or `zoned` for a datetime with a zone."""

MORE: dict[Family, tuple[str, ...]] = {
    "row": (
        "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ^ 2", "-x", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x between y and y", "x not between y and y",
        "x is null", "x is not null", "x and y", "x or y", "not x", "x in [1, 3]", "x not in [2]", "x in ['a', 'u']", "x not in ['a', 'v']", "x == 'a'", "x == true", "x >= '2024-01-01'",
        "if(x, y, z)", "if(x, y, null)", "case when x then y end", "case when x then y else z end", "coalesce(x, y)", "null_if(x, y)", "greatest(x, y)", "least(x, y)", "clip(x, -5, 5)",
        "case x when 1 then 'one' else 'many' end", "concat(x, '-', y)", "x == 1", "x > 2.5", "x * 0.5", "text(x)", "number(x)", "integer(x)", "date(x)", "datetime(x)", "boolean(x)",
        "date_diff(x, y, 'day')", "date_diff(x, y, 'week')", "date_diff(x, y, 'month')", "date_diff(x, y, 'hour')", "add(x, y, 'day')", "add(x, 1, 'month')", "in_period(x, '2024 Q1')",
        "in_period(x, 'last 3 months')", "in_period(x, '2024')", "trunc(x, 'week')", "trunc(x, 'day')", "trunc(x, 'hour')", "trunc(x, 'quarter')", "trunc(x, 'year')",
        "round(x)", "round(x, 1)", "round(x, -1)", "power(x, y)", "split_part(x, ' ', 1)", "substring(x, 2)", "substring(x, 1, 1)", "length(x)", "row_index()",
    ),
    "aggregate": (
        "count()", "count(x)", "count(where=x)", "sum(x, where=y)", "mean(x, where=y)", "first(x, where=y)", "last(x, where=y)", "max(x, where=y)", "min(x)", "max(x)", "mode(x)", "first(x)", "last(x)",
        "count_distinct(x)", "count_distinct(x, y)", "count_missing(x)", "arg_max(x, y)", "arg_min(x, y)", "sum(x)", "mean(x)", "median(x)", "std(x)", "var(x)", "any(x)", "all(x)",
        "quantile(x, 0.1)", "share_of_rows(x)", "string_agg(x)", "corr(x, y)", "slope(x, y)", "intercept(x, y)", "r2(x, y)", "cov(x, y)", "weighted_mean(x, y)", "skew(x)", "kurtosis(x)",
    ),
    "window": (
        "rank()", "dense_rank()", "row_number()", "percent_rank()", "ntile(3)", "lag(x)", "lag(x, 2)", "lead(x)", "running_sum(x)", "running_mean(x)", "running_min(x)", "running_max(x)", "running_count(x)",
        "running_count()", "rolling_sum(x, rows=3)", "rolling_mean(x, rows=2)", "rolling_max(x, rows=3, complete=true)", "rolling_count(x, rows=2)", "rolling_std(x, rows=4)", "rolling_sum(x, days=40)",
        "rolling_mean(x, days=2, complete=true)", "change(x)", "change(x, 2)", "pct_change(x)", "share(x)", "first(x)", "last(x)",
    ),
}  # fmt: skip
"""Shapes beside the examples, mostly with columns where an example has a constant."""

LITERALS: dict[Flavour, tuple[str, ...]] = {
    "integer": ("2", "0", "1", "-3", "7"), "number": ("0.5", "2.5", "-1.25"), "text": ("'a'", "'u'", "''", "'x y'", "'%'"), "boolean": ("true", "false"),
    "date": ("date('2024-03-31')", "date('2023-12-31')"), "datetime": ("datetime('2024-03-31 01:30:00')",),
}  # fmt: skip


class Impossible(Exception):
    """Nothing of the wanted kind can be made here; the generator tries something else."""


@dataclass(frozen=True)
class Template:
    """A formula whose names stand for formulas of these flavours."""

    node: f.Node
    names: tuple[tuple[str, Flavour], ...]


def flavour(facets: Facets) -> Flavour:
    return "zoned" if facets.zone else str(facets.kind or Kind.TEXT)


@lru_cache(maxsize=1)
def templates() -> dict[Family, dict[Flavour, dict[str, list[Template]]]]:
    """Every shape by what it gives and the function on top, proven to type for each mix of kinds."""
    found: dict[Any, Any] = {
        family: defaultdict(lambda: defaultdict(list)) for family in ("row", "aggregate", "window")
    }
    scope, kinds = _specimens()
    for family, text in _shapes():
        node = f.parse(text)
        names = list(dict.fromkeys(n.name for n in f.walk(node) if isinstance(n, f.Name)))
        if len(names) > 3 or (not names and isinstance(node, f.Call) and node.args):
            continue
        for mix in itertools.product(kinds, repeat=len(names)):
            if len(names) == 3 and mix[1] != mix[2]:
                continue
            chosen = tuple(zip(names, mix, strict=True))
            gives = _gives(
                scope, family, filled(node, {name: f.Name(f"{kind}_{i}") for i, (name, kind) in enumerate(chosen)})
            )
            if gives is not None:
                top = node.function if isinstance(node, f.Call) else "name"
                found[family][gives][top].append(Template(node, chosen))
    return found


def _shapes() -> Iterator[tuple[Family, str]]:
    for function in (*FUNCTIONS.values(), *WINDOWED.values()):
        if not function.name.startswith("_"):
            yield from ((function.family, example.formula) for example in function.examples)
    for family, texts in MORE.items():
        yield from ((family, text) for text in texts)


def _specimens() -> tuple[Scope, list[Flavour]]:
    """A scope with three columns of every flavour."""
    cells = {name: held for name, held in HOLDINGS.items() if name not in ("small", "awkward", "category")}
    names = {"whole": "integer", "double": "number", "cents": "decimal", "word": "text", "truth": "boolean", "day": "date", "moment": "datetime", "tags": "list"}  # fmt: skip
    columns = {}
    for name, held in cells.items():
        column = pl.Series(held.cells, dtype=held.dtype)
        column = column.dt.replace_time_zone("UTC") if held.zoned else column
        columns |= {f"{names.get(name, name)}_{i}": column.head(2) for i in range(3)}
    source = table("specimens", columns)
    world = World({"specimens": source}, CLOCK, None)
    pipeline = CheckedPipeline.of_source(source, "c")
    return Scope(pipeline.schema, world), [names.get(name, name) for name in cells]


def _gives(scope: Scope, family: Family, node: f.Node) -> Flavour | None:
    """The flavour of a formula over the specimens; None when it does not type."""
    day = next(column for column in scope.schema if column.kind is Kind.DATE)
    binder = Binder(scope, "window" if family == "window" else "row", ordered_by=(Order(day.id),))
    try:
        return flavour(binder.bind(node).facets)
    except PlanError as error:
        return "boolean" if error.issues[0].code == "no_such_value" else None


def filled(node: f.Node, values: dict[str, f.Node]) -> f.Node:
    """The formula with its names replaced."""
    match node:
        case f.Name(name, None) if name in values:
            return values[name]
        case f.Items(items):
            return f.Items(tuple(filled(item, values) for item in items))
        case f.Call():
            options = tuple((name, filled(value, values)) for name, value in node.options)
            return f.Call(node.function, tuple(filled(arg, values) for arg in node.args), options)
    return node


def reference(column: Column, columns: Sequence[Column], choose: Choices) -> f.Name:
    """A name that means one column; with its owner where it must be, and now and then elsewhere."""
    alike = sum(other.name.casefold() == column.name.casefold() for other in columns)
    if column.owner and (alike > 1 or choose.one_in(12)):
        return f.Name(column.name, column.owner)
    return f.Name(column.name)


@dataclass(frozen=True)
class Formulas:
    """Makes formulas over the columns entering a step. `scalars` are values of one-row lets."""

    choose: Choices
    columns: Sequence[Column]
    scalars: Sequence[tuple[str, Column]] = field(default=())

    def flavours(self) -> list[Flavour]:
        return sorted({flavour(facets_of(column)) for column in self.columns})

    def leaf(self, kind: Flavour) -> f.Node:
        fitting = [column for column in self.columns if flavour(facets_of(column)) == kind]
        scalars = [pair for pair in self.scalars if flavour(facets_of(pair[1])) == kind]
        if scalars and self.choose.one_in(4):
            let, column = self.choose.pick(scalars)
            return f.Name(column.name, let)
        if fitting and not (kind in LITERALS and self.choose.one_in(8)):
            return reference(self.choose.pick(fitting), self.columns, self.choose)
        if kind in LITERALS:
            return f.parse(self.choose.pick(LITERALS[kind]))
        raise Impossible(kind)

    def row(self, kind: Flavour, depth: int = 2, bare: bool = False) -> f.Node:
        """A row formula; one in ten is an aggregate over all rows or over groups, unless it must be `bare`."""
        if depth == 0 or self.choose.one_in(3):
            return self.leaf(kind)
        if not bare and self.choose.one_in(10):
            return self.over_groups(self.shaped("aggregate", kind, depth, bare=True))
        try:
            return self.shaped("row", kind, depth, bare)
        except Impossible:
            return self.leaf(kind)

    def shaped(self, family: Family, kind: Flavour, depth: int, bare: bool = False) -> f.Node:
        """A function of a family with the wanted kind of result."""
        by_function = templates()[family][kind]
        if not by_function:
            raise Impossible(f"{family} {kind}")
        template = self.choose.pick(by_function[self.choose.pick(list(by_function))])
        values = {name: self.row(wanted, depth - 1, bare) for name, wanted in template.names}
        return filled(template.node, values)

    def over_groups(self, node: f.Node) -> f.Node:
        """An aggregate with `by=`, half the time."""
        if not isinstance(node, f.Call) or not self.choose.one_in(2) or node.function not in FUNCTIONS:
            return node
        keys = [
            reference(c, self.columns, self.choose)
            for c in self.choose.some(self.columns, 0, 2)
            if c.kind is not Kind.LIST
        ]
        return f.Call(node.function, node.args, (*node.options, ("by", f.Items(tuple(keys)))))

    def metric(self, keys: Sequence[str]) -> f.Node:
        """An aggregate; sometimes arithmetic over two, a row function of one, or one over the coarser total."""
        kind = self.choose.pick([k for k, functions in templates()["aggregate"].items() if functions])
        made = self.shaped("aggregate", kind, 2, bare=True)
        match self.choose.below(8):
            case 0:
                other = self.shaped("aggregate", self.choose.pick(["integer", "number"]), 1, bare=True)
                return f.Call(self.choose.pick(["+", "-", "*", "/"]), (made, other))
            case 1:
                functions = templates()["row"]["number"]
                shape = self.choose.pick(functions[self.choose.pick(list(functions))])
                fitting = {name: self.shaped("aggregate", wanted, 1, bare=True) for name, wanted in shape.names}
                return filled(shape.node, fitting)
            case 2 if (
                isinstance(made, f.Call)
                and made.function in FUNCTIONS
                and FUNCTIONS[made.function].family == "aggregate"
            ):
                coarser = tuple(f.Name(key) for key in self.choose.some(keys, 0, 1))
                return f.Call(made.function, made.args, (*made.options, ("by", f.Items(coarser))))
        return made

    def windowed(self) -> f.Node:
        """A window function; sometimes an aggregate over the partition, or arithmetic with one."""
        if self.choose.one_in(5):
            return self.shaped("aggregate", self.choose.pick(["integer", "number"]), 1, bare=True)
        kind = self.choose.pick([k for k, functions in templates()["window"].items() if functions])
        made = self.shaped("window", kind, 1, bare=True)
        if kind in ("integer", "number") and self.choose.one_in(4):
            return f.Call(
                self.choose.pick(["-", "*", "<="]), (self.leaf(self.choose.pick(["integer", "number"])), made)
            )
        return made

    def any(self, depth: int = 2) -> f.Node:
        """A row formula of any kind."""
        return self.row(self.choose.pick([k for k, functions in templates()["row"].items() if functions]), depth)


__all__ = ["Formulas", "Impossible", "Template", "flavour", "reference", "templates"]
