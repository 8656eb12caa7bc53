"""FROM and WHERE as join and filter steps. Inner joins are put in the order in which each is a look-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

from qa.plan.formula import quoted_name
from qa.plan.from_sql.scope import Field, Names, Relation, cannot
from qa.types import Kind

if TYPE_CHECKING:
    from qa.plan.from_sql.query import Pipe, Select


@dataclass(frozen=True)
class Link:
    """`left.a = right.b` between two relations."""

    left: Relation
    a: Field
    right: Relation
    b: Field

    def turned(self) -> Link:
        return Link(self.right, self.b, self.left, self.a)


def joined(select: Select, joins: Sequence[exp.Expr], where: exp.Expr | None) -> tuple[Pipe, list[str]]:
    """The pipeline of FROM, and the conditions of WHERE that are left as formulas."""
    from qa.plan.from_sql.query import Pipe, _conjuncts

    names, relations = select.names, select.names.relations
    conditions = _conjuncts(where) if where is not None else []
    outer = [(join, relation) for join, relation in zip(joins, relations[1:], strict=True) if _how(join) != "inner"]
    inner = [relations[0], *(r for j, r in zip(joins, relations[1:], strict=True) if _how(j) == "inner")]
    links: list[Link] = []
    for join, relation in zip(joins, relations[1:], strict=True):
        if _how(join) != "inner":
            continue
        for condition in [
            *_using(join, relation, relations),
            *(_conjuncts(join.args["on"]) if join.args.get("on") is not None else []),
        ]:
            link = _link(condition, names, inner)
            (links.append(link) if link is not None else conditions.append(condition))
    conditions = [condition for condition in conditions if not _always(condition)]
    if len(inner) > 1:
        for condition in list(conditions):
            link = _link(condition, names, inner)
            if link is not None and not _connected(link, links):
                links.append(link)
                conditions.remove(condition)
    order = _order(inner, links, _added(select))
    pipe = Pipe(order[0].table)
    order[0].owner = order[0].table
    _fresh_owners(order)
    done = [order[0]]
    for relation in order[1:]:
        _attach(
            pipe,
            names,
            relation,
            [_facing(link, relation) for link in links if _touches(link, relation, done)],
            "inner",
        )
        done.append(relation)
    for join, relation in outer:
        _outer(select, pipe, join, relation, done)
        done.append(relation)
    return pipe, [text for condition in conditions for text in [_condition(select, pipe, condition)] if text]


def _condition(select: Select, pipe: Pipe, condition: exp.Expr) -> str | None:
    """A condition as a formula; EXISTS becomes a semi or anti join instead."""
    negated = isinstance(condition, exp.Not)
    inner = condition.this if negated else condition
    if isinstance(inner, exp.Exists):
        _exists(select, pipe, inner.this, "anti" if negated else "semi")
        return None
    return select.terms(condition)


def _exists(select: Select, pipe: Pipe, query: Any, how: str) -> None:
    """EXISTS with equalities to the outer query: the sub-query without them, joined on them."""
    from qa.plan.from_sql.query import Select as Inner
    from qa.plan.from_sql.query import _conjuncts

    query = query.copy()
    where = query.args.get("where")
    inner_names = Inner(select.translator, query).names
    pairs, rest = [], []
    for condition in _conjuncts(where.this) if where is not None else []:
        sides = [condition.this, condition.expression] if isinstance(condition, exp.EQ) else []
        found = [inner_names.find(s) if isinstance(s, exp.Column) else None for s in sides]
        outside = [
            select.names.find(s) if isinstance(s, exp.Column) and f is None else None
            for s, f in zip(sides, found, strict=True)
        ]
        if len(sides) == 2 and any(found) and any(outside):
            pairs.append((sides[0], sides[1]) if found[0] else (sides[1], sides[0]))
        else:
            rest.append(condition)
    if not pairs:
        cannot("EXISTS without an equality to the outer query.", "Compare a count instead.")
    query.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    query.set("expressions", [exp.alias_(inner.copy(), f"key_{i}") for i, (inner, _) in enumerate(pairs, 1)])
    let = select.translator.let(select.translator.query(query), "exists")
    on = [f"{select.terms(outer)} = key_{i}" for i, (_, outer) in enumerate(pairs, 1)]
    pipe.steps.append({"op": "join", "table": let, "how": how, "on": on})


def _how(join: exp.Expr) -> str:
    side, kind = (join.args.get("side") or "").lower(), (join.args.get("kind") or "").lower()
    if side in ("left", "right", "full"):
        return side
    if kind in ("semi", "anti"):
        cannot(f"{kind.upper()} JOIN is not read.", "Write IN or EXISTS.")
    return "inner"


def _using(join: exp.Expr, relation: Relation, relations: Sequence[Relation]) -> list[exp.Expr]:
    names = [identifier.name for identifier in join.args.get("using") or []]
    if (join.args.get("method") or "").lower() == "natural":
        before = relations[: relations.index(relation)]
        names = [f.name for f in relation.fields if any(r.field(f.name) is not None for r in before)]
    found: list[exp.Expr] = []
    for name in names:
        left = next((r for r in relations if r is not relation and r.field(name) is not None), None)
        if left is None:
            cannot(f"USING names {name!r}, which only one side has.")
        found.append(exp.EQ(this=exp.column(name, table=left.alias), expression=exp.column(name, table=relation.alias)))
    return found


def _link(condition: exp.Expr, names: Names, inner: Sequence[Relation]) -> Link | None:
    if isinstance(condition, exp.Paren):
        return _link(condition.this, names, inner)
    if not isinstance(condition, exp.EQ) or not (
        isinstance(condition.this, exp.Column) and isinstance(condition.expression, exp.Column)
    ):
        return None
    a, b = names.find(condition.this), names.find(condition.expression)
    if a is None or b is None or a[0] is b[0] or a[0] not in inner or b[0] not in inner:
        return None
    return Link(a[0], a[1], b[0], b[1])


def _connected(link: Link, links: Sequence[Link]) -> bool:
    """True when the two relations already hang together, so that the condition is a filter."""
    seen, waiting = [link.left], [link.left]
    while waiting:
        at = waiting.pop()
        for other in links:
            for x, y in ((other.left, other.right), (other.right, other.left)):
                if x is at and y not in seen:
                    seen.append(y)
                    waiting.append(y)
    return link.right in seen and False


ADDED = (exp.Sum, exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Median)
"""Aggregates that count a value as often as a join repeats it."""


def _order(inner: Sequence[Relation], links: Sequence[Link], added: Sequence[Relation]) -> list[Relation]:
    """The order of inner joins that has the fewest steps whose right key is not unique.

    Where another table repeats the rows of one that is summed, that one comes first, so that the plan's own guard sees
    it: started from the other side the same join would be a look-up, which says nothing.
    """
    ways = [_from(start, inner, links) for start in inner]
    for relation, (loose, order) in zip(inner, ways, strict=True):
        if loose and relation in added:
            return order
    return min(ways, key=lambda way: way[0])[1]


def _from(start: Relation, inner: Sequence[Relation], links: Sequence[Link]) -> tuple[int, list[Relation]]:
    order, loose, rest = [start], 0, [r for r in inner if r is not start]
    while rest:
        chosen = min(rest, key=lambda r: _rank(r, order, links))
        loose += _rank(chosen, order, links)
        order.append(chosen)
        rest.remove(chosen)
    return loose, order


def _added(select: Select) -> list[Relation]:
    """The tables that a sum, a mean or the like is taken of alone."""
    found = []
    for aggregate in select.node.find_all(*ADDED):
        if aggregate.parent_select is not select.node or isinstance(aggregate.parent, exp.Window):
            continue
        sides = [side[0] for column in aggregate.find_all(exp.Column) if (side := select.names.find(column))]
        if sides and all(side is sides[0] for side in sides):
            found.append(sides[0])
    return found


def _rank(relation: Relation, done: Sequence[Relation], links: Sequence[Link]) -> int:
    """0 for a look-up, 1 for a join on a key that repeats, 5 for no key at all."""
    facing = [_facing(link, relation) for link in links if _touches(link, relation, done)]
    if not facing:
        return 5
    return 0 if any(link.b.unique for link in facing) else 1


def _touches(link: Link, relation: Relation, done: Sequence[Relation]) -> bool:
    return (link.right is relation and link.left in done) or (link.left is relation and link.right in done)


def _facing(link: Link, relation: Relation) -> Link:
    return link if link.right is relation else link.turned()


def _fresh_owners(order: Sequence[Relation]) -> None:
    taken: list[str] = []
    for relation in order:
        owner, count = relation.table, 2
        while owner.casefold() in taken:
            owner, count = f"{relation.table}_{count}", count + 1
        relation.owner = owner
        taken.append(owner.casefold())


def _attach(pipe: Pipe, names: Names, relation: Relation, links: Sequence[Link], how: str) -> None:
    """One join step; the right key's name then means the left key."""
    step: dict[str, Any] = {"op": "join", "table": relation.table, "how": how if links else "cross"}
    if relation.owner != relation.table:
        step["as"] = relation.owner
    if links:
        step["on"] = [_on(names, link) for link in links]
        if not any(link.b.unique for link in links):
            step["expect"] = "many_to_many"
    pipe.steps.append(step)
    for link in links:
        relation.renamed[link.b.name] = names.text(link.left, link.a)


def _on(names: Names, link: Link) -> str:
    left, right = names.text(link.left, link.a), quoted_name(link.b.name)
    a, b = link.a.kind, link.b.kind
    if a is not None and b is not None and a != b and Kind.TEXT in (a, b):
        left = left if a is Kind.TEXT else f"text({left})"
        right = right if b is Kind.TEXT else f"text({right})"
    return f"{left} = {right}"


def _outer(select: Select, pipe: Pipe, join: exp.Expr, relation: Relation, done: Sequence[Relation]) -> None:
    """LEFT, RIGHT and FULL joins. Conditions on the right side alone filter it first."""
    from qa.plan.from_sql.query import _conjuncts

    how, names = _how(join), select.names
    on = [
        *_using(join, relation, names.relations),
        *(_conjuncts(join.args["on"]) if join.args.get("on") is not None else []),
    ]
    links, right_only = [], []
    for condition in on:
        link = _link(condition, names, [*done, relation])
        if link is not None and _touches(link, relation, done):
            links.append(_facing(link, relation))
        else:
            right_only.append(condition)
    if not links:
        cannot(f"{how.upper()} JOIN needs an equality between the two sides.")
    if how == "right":
        if len(done) != 1 or pipe.steps:
            cannot("RIGHT JOIN after other joins.", "Write it as a LEFT JOIN.")
        _turned(pipe, names, done[0], relation, links)
        return
    keys = _copied_keys(select, relation, links, right_only)
    _attach(pipe, names, relation, links, how)
    if how == "left":
        for link in links:
            relation.renamed.pop(link.b.name, None)
            if link.b.name in keys:
                relation.renamed[link.b.name] = quoted_name(keys[link.b.name])


def _always(condition: exp.Expr) -> bool:
    """A condition that holds whatever the row, such as 1 = 1 or the ON that a join without one is given."""
    if condition.find(exp.Column, exp.Query, exp.Func) is not None:
        return False
    return bool(simplify(condition.copy()) == exp.true())


def _turned(pipe: Pipe, names: Names, left: Relation, right: Relation, links: Sequence[Link]) -> None:
    pipe.source, right.owner, left.owner = right.table, right.table, left.table
    _attach(pipe, names, left, [link.turned() for link in links], "left")


def _copied_keys(
    select: Select, relation: Relation, links: Sequence[Link], right_only: Sequence[exp.Expr]
) -> dict[str, str]:
    """A left join keeps the left key; where the right one is used too, a copy of it is made before the join."""
    used = {
        column.name.casefold()
        for column in select.node.find_all(exp.Column)
        if column.table.casefold() == relation.alias.casefold()
    }
    wanted = [link.b.name for link in links if link.b.name.casefold() in used]
    copies = {name: f"{name} of {relation.alias}" for name in dict.fromkeys(wanted)}
    if not copies and not right_only:
        return {}
    from qa.plan.from_sql.query import Pipe

    side = Pipe(relation.table, shown=[(f.name, f.name, f.kind) for f in relation.fields])
    if right_only:
        alone = type(select.terms)(Names([relation]), select.translator)
        side.steps += [{"op": "filter", "where": alone(condition)} for condition in right_only]
    if copies:
        side.steps.append(
            {"op": "derive", "columns": [f"{quoted_name(name)} as {copy}" for name, copy in copies.items()]}
        )
        side.shown += [(copy, copy, None) for copy in copies.values()]
    let = select.translator.let(side, relation.alias)
    relation.table = relation.owner = let
    return copies
