"""Random steps over the columns that enter them. Every step of the language has a maker here; a test says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qa.plan import formula as f
from qa.types import NUMERIC, Column, Kind, Schema
from tests.property.choices import Choices
from tests.property.formulas import Formulas, Impossible, reference

GROUPED = frozenset(Kind) - {Kind.LIST}
TESTS: dict[str, tuple[int, bool]] = {
    "student_t": (1, True), "welch_t": (1, True), "mann_whitney": (1, True), "anova": (1, True), "kruskal": (1, True), "paired_t": (2, False), "one_sample_t": (1, False),
    "pearson": (2, False), "spearman": (2, False), "kendall": (2, False), "chi_square": (2, False), "shapiro": (1, False), "ks_normal": (1, False), "dagostino": (1, False),
    "anderson": (1, False), "proportion": (1, True),
}  # fmt: skip
"""How many columns each kind of test takes, and whether it compares groups."""


@dataclass(frozen=True)
class Place:
    """Where a step stands: the columns entering it, the tables and lets that it may read."""

    choose: Choices
    schema: Schema
    others: Mapping[str, Schema]
    scalars: Sequence[tuple[str, Column]] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.schema.columns

    @property
    def formulas(self) -> Formulas:
        return Formulas(self.choose, self.columns, self.scalars)

    def of(self, *kinds: Kind) -> list[Column]:
        """The columns of these kinds; Impossible when there is none."""
        found = [column for column in self.columns if column.kind in kinds]
        if not found:
            raise Impossible("column")
        return found

    def name(self, column: Column) -> str:
        return f.format(reference(column, self.columns, self.choose))

    def names(self, least: int, most: int, kinds: frozenset[Kind] = frozenset(Kind)) -> list[str]:
        fitting = [column for column in self.columns if column.kind in kinds]
        found = self.choose.some(fitting, least, most)
        if len(found) < least:
            raise Impossible("columns")
        return [self.name(column) for column in found]

    def keys(self, most: int = 2) -> list[str]:
        """Group keys: mostly columns, now and then a formula with a name."""
        found = self.names(0, most, GROUPED)
        if self.choose.one_in(4) and most:
            kind = self.choose.pick(["integer", "text", "boolean", "date"])
            found = [*found[: most - 1], f"{f.format(self.formulas.row(kind, 1, bare=True))} as key"]
        return found

    def order(self, least: int = 1) -> list[str]:
        keys = self.names(least, 2, GROUPED)
        if self.choose.one_in(6):
            keys = [f.format(self.formulas.row(self.choose.pick(["integer", "number", "text"]), 1))]
        return [key + self.choose.pick(["", " desc", " desc nulls first", " nulls first"]) for key in keys]


Maker = Callable[[Place], dict[str, Any]]


def _named(place: Place, make: Callable[[], f.Node], prefix: str, most: int) -> list[str]:
    return [f"{f.format(make())} as {prefix}{i}" for i in range(1 + place.choose.below(most))]


def _filter(place: Place) -> dict[str, Any]:
    formulas, choose = place.formulas, place.choose
    condition = formulas.shaped("row", "boolean", 1 + choose.below(2), bare=True)
    if not any(isinstance(node, f.Name) for node in f.walk(condition)):
        raise Impossible("a condition on a column")
    if choose.one_in(3):
        condition = f.Call(choose.pick(["and", "or"]), (condition, formulas.row("boolean", 1)))
    return {"where": f.format(condition)}


def _derive(place: Place) -> dict[str, Any]:
    columns = _named(place, place.formulas.any, "new ".strip(), 2)
    if place.choose.one_in(5):
        replaced = place.choose.pick(place.columns).name
        columns.append(f"{f.format(place.formulas.any(1))} as {f.quoted_name(replaced)}")
    return {"columns": columns}


def _summarize(place: Place) -> dict[str, Any]:
    keys = place.keys()
    named = [key.partition(" as ")[2] or place_name(key) for key in keys]
    least = 0 if keys else 1
    count = least + place.choose.below(4 - least)
    return {"by": keys, "metrics": [f"{f.format(place.formulas.metric(named))} as m{i}" for i in range(count)]}


def place_name(key: str) -> str:
    """The bare name of a key written as a reference."""
    node = f.parse(key)
    return node.name if isinstance(node, f.Name) else key


def _sort(place: Place) -> dict[str, Any]:
    return {"order": place.order()}


def _limit(place: Place) -> dict[str, Any]:
    choose = place.choose
    more = choose.maybe(
        2, order=place.order, by=lambda: place.names(1, 2, GROUPED), ties=lambda: choose.pick(["cut", "keep"])
    )
    more |= choose.maybe(4, offset=lambda: 1 + choose.below(2))
    more |= {"from": choose.pick(["start", "end"])} if choose.one_in(3) else {}
    return {"n": choose.below(5), **more}


def _select(place: Place) -> dict[str, Any]:
    choose = place.choose
    if choose.one_in(2) and len(place.columns) > 1:
        return {"drop": place.names(1, min(2, len(place.columns) - 1))}
    return {
        "columns": [
            *place.names(1, 4),
            *(_named(place, lambda: place.formulas.any(1), "s", 1) if choose.one_in(3) else []),
        ]
    }


def _window(place: Place) -> dict[str, Any]:
    more = {"order": place.order()} if not place.choose.one_in(5) else {}
    return {"by": place.keys(1), **more, "columns": _named(place, place.formulas.windowed, "w", 3)}


def _join(place: Place) -> dict[str, Any]:
    choose = place.choose
    table = choose.pick(list(place.others))
    right = place.others[table].columns
    how = choose.pick(["inner", "left", "full", "semi", "anti", "inner", "left", "cross", "asof"])
    step: dict[str, Any] = {"table": table, "how": how}
    if choose.one_in(2) or any(column.owner == table for column in place.columns):
        step["as"] = "o"
    if how == "cross":
        return step
    pairs = [(a, b) for a in place.columns for b in right if _alike(a, b)]
    if how == "asof":
        timed = [pair for pair in pairs if pair[0].kind in (Kind.DATE, Kind.DATETIME, Kind.INTEGER, Kind.NUMBER)]
        if not timed:
            raise Impossible("asof")
        a, b = choose.pick(timed)
        within = "40 days" if a.kind in (Kind.DATE, Kind.DATETIME) else "2"
        step |= {
            "nearest": f"{place.name(a)} {choose.pick(['>=', '>', '<=', '<'])} {f.quoted_name(b.name)}"
        } | choose.maybe(2, within=lambda: within)
        pairs = [pair for pair in pairs if pair[0] is not a and pair[1] is not b]
        step["on"] = [_on(place, *pair) for pair in choose.some(pairs, 0, 1)]
        return step
    if not pairs:
        raise Impossible("join")
    step["on"] = [_on(place, *pair) for pair in choose.some(pairs, 1, 2)]
    if not choose.one_in(4):
        step["expect"] = "many_to_many"
    if choose.one_in(4):
        step["columns"] = [f.quoted_name(column.name) for column in choose.some(right, 1, 2)]
    return step


def _alike(a: Column, b: Column) -> bool:
    return a.kind is b.kind is not Kind.LIST or {a.kind, b.kind} == {Kind.INTEGER, Kind.NUMBER}


def _on(place: Place, a: Column, b: Column) -> str:
    left, right = place.name(a), f.quoted_name(b.name)
    if a.kind is Kind.TEXT and place.choose.one_in(4):
        left = f"lower({left})"
    if left == right and place.choose.one_in(2):
        return left
    return f"{left} = {right}"


def _union(place: Place) -> dict[str, Any]:
    how = place.choose.pick(["all", "distinct", "intersect", "except"])
    tables = place.choose.some(list(place.others), 1, 2)
    if how in ("intersect", "except"):
        same = [name for name, schema in place.others.items() if set(schema.names) == set(place.schema.names)]
        tables = same[:1] or tables
    return {"tables": tables, "how": how, **(place.choose.maybe(3, label=lambda: "from") if how == "all" else {})}


def _pivot(place: Place) -> dict[str, Any]:
    choose = place.choose
    column = choose.pick(place.of(Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.NUMBER))
    more = choose.maybe(3, sort=lambda: choose.pick(["name", "first_seen"]))
    if choose.one_in(3) and column.kind in (Kind.TEXT, Kind.INTEGER):
        more["values_in"] = ["a", "u", "b"] if column.kind is Kind.TEXT else [1, 2, 7]
    return {
        "by": place.keys(1),
        "names_from": place.name(column),
        "values": _named(place, lambda: place.formulas.metric([]), "v", 2),
        **more,
    }


def _unpivot(place: Place) -> dict[str, Any]:
    kind = place.choose.pick(sorted({column.kind for column in place.columns}))
    kinds = NUMERIC if kind in NUMERIC else frozenset({kind})
    turned = place.choose.some([column for column in place.columns if column.kind in kinds], 1, 3)
    kept = place.choose.some([column for column in place.columns if column not in turned], 0, 2)
    more = {} if place.choose.one_in(2) else {"names_to": "which", "values_to": "held"}
    return {"columns": [place.name(c) for c in turned], "keep": [place.name(c) for c in kept], **more}


def _explode(place: Place) -> dict[str, Any]:
    column = place.choose.pick(place.of(Kind.TEXT, Kind.LIST))
    separator = {"separator": place.choose.pick([" ", "a", ";"])} if column.kind is Kind.TEXT else {}
    return {
        "column": place.name(column),
        **separator,
        **place.choose.maybe(3, empty=lambda: place.choose.pick(["keep", "drop"])),
    }


def _fill_gaps(place: Place) -> dict[str, Any]:
    choose = place.choose
    column = choose.pick(place.of(Kind.DATE, Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATETIME))
    every = {
        Kind.DATE: ["1 month", "7 days", "1 year", "1 week"],
        Kind.DATETIME: ["1 month", "1 day"],
        Kind.INTEGER: ["1", "5"],
    }.get(column.kind)
    fill = choose.pick(["none", "zero", "previous", "linear"])
    step: dict[str, Any] = {"column": place.name(column), "fill": fill}
    if every:
        step["every"] = choose.pick(every)
    filled = [c for c in place.columns if c is not column and (c.kind in NUMERIC or fill in ("none", "previous"))]
    grouped = choose.some([c for c in place.columns if c is not column and c.kind in GROUPED], 0, 1)
    return step | {
        "by": [place.name(c) for c in grouped],
        "columns": [place.name(c) for c in choose.some([c for c in filled if c not in grouped], 0, 2)],
    }


def _sample(place: Place) -> dict[str, Any]:
    choose = place.choose
    size: dict[str, Any] = (
        {"n": choose.below(4)} if choose.one_in(2) else {"fraction": choose.pick([0.5, 0.1, 0.0, 1.0])}
    )
    return {**size, "seed": choose.below(5), **choose.maybe(3, by=lambda: place.names(1, 1, GROUPED))}


def _correlate(place: Place) -> dict[str, Any]:
    choose = place.choose
    more = choose.maybe(
        3,
        method=lambda: choose.pick(["pearson", "spearman", "kendall"]),
        by=lambda: place.names(1, 1, GROUPED),
        shape=lambda: choose.pick(["long", "matrix"]),
    )
    if choose.one_in(4):
        more["against"] = place.names(1, 1, NUMERIC)[0]
    return {"columns": place.names(2, 3, NUMERIC) if not choose.one_in(4) else None, **more}


def _describe(place: Place) -> dict[str, Any]:
    return {
        "columns": None if place.choose.one_in(3) else place.names(1, 3),
        **place.choose.maybe(4, by=lambda: place.names(1, 1, GROUPED)),
    }


def _test(place: Place) -> dict[str, Any]:
    choose = place.choose
    kind = choose.pick(list(TESTS))
    wanted, grouped = TESTS[kind]
    kinds = {"chi_square": GROUPED, "proportion": frozenset({Kind.BOOLEAN})}.get(kind, NUMERIC)
    step: dict[str, Any] = {"kind": kind, "columns": place.names(wanted, wanted, kinds)}
    if grouped and not (kind == "proportion" and choose.one_in(2)):
        step["group"] = place.names(1, 1, frozenset({Kind.TEXT, Kind.BOOLEAN, Kind.INTEGER}))[0]
    elif kind in ("one_sample_t", "proportion"):
        step["mu"] = 0.5
    return step | choose.maybe(
        4,
        by=lambda: place.names(1, 1, GROUPED),
        alternative=lambda: choose.pick(["less", "greater"]),
        alpha=lambda: 0.1,
    )


def _fit(place: Place) -> dict[str, Any]:
    choose = place.choose
    target = place.choose.pick(place.of(*NUMERIC))
    others = [c for c in place.columns if c is not target and c.kind in NUMERIC | {Kind.TEXT, Kind.BOOLEAN}]
    if not others:
        raise Impossible("predictors")
    more = choose.maybe(4, by=lambda: place.names(1, 1, GROUPED), level=lambda: 0.9)
    return {
        "target": place.name(target),
        "predictors": [place.name(c) for c in choose.some(others, 1, 2)],
        "output": choose.pick(["coefficients", "quality", "predictions"]),
        **more,
    }


def _rename(place: Place) -> dict[str, Any]:
    return {
        "columns": [
            f"{place.name(column)} as renamed{i}" for i, column in enumerate(place.choose.some(place.columns, 1, 2))
        ]
    }


def _distinct(place: Place) -> dict[str, Any]:
    return {"columns": place.names(0, 2, GROUPED)}


MAKERS: dict[str, Maker] = {
    "filter": _filter, "derive": _derive, "summarize": _summarize, "window": _window, "sort": _sort, "limit": _limit, "select": _select, "rename": _rename, "distinct": _distinct,
    "join": _join, "union": _union, "pivot": _pivot, "unpivot": _unpivot, "explode": _explode, "fill_gaps": _fill_gaps, "sample": _sample, "correlate": _correlate,
    "describe": _describe, "test": _test, "fit": _fit,
}  # fmt: skip
LIKELY = ["filter", "derive", "summarize", "window", "limit", "join"]
"""Steps drawn half the time: they hold most of the formulas."""


def random_step(place: Place) -> dict[str, Any]:
    """One step; Impossible when the columns do not allow the one that was drawn."""
    op = place.choose.pick(LIKELY if place.choose.one_in(2) else list(MAKERS))
    return {"op": op, **MAKERS[op](place)}


__all__ = ["MAKERS", "Place", "random_step"]
