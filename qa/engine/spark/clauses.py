"""Clauses that Spark's grammar lacks, written with those that it has: UNION BY NAME and ASOF JOIN."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

Columns = dict[str, list[str]]


def plain(clause: Any, known: Columns) -> Any:
    """A clause of the SQL engine in Spark's grammar. `known` are the columns of the tables and clauses before it."""
    if isinstance(clause, exp.Union) and clause.args.get("by_name"):
        return _by_position(clause, known)
    joins = clause.args.get("joins") or [] if isinstance(clause, exp.Select) else []
    if any(join.method == "ASOF" for join in joins):
        return _nearest(clause, known)
    return clause


def columns_of(select: Any, known: Columns) -> list[str]:
    """The names of the columns that a clause gives, in order."""
    if isinstance(select, exp.Union):
        left, right = (columns_of(side, known) for side in (select.this, select.expression))
        return [*left, *(c for c in right if c not in left)] if select.args.get("by_name") else left
    if isinstance(select, exp.Subquery | exp.Table) and not isinstance(select, exp.Select):
        return known[select.name] if isinstance(select, exp.Table) else columns_of(select.this, known)
    sources = _sources(select, known)
    found: list[str] = []
    for item in select.expressions:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            owner = item.table if isinstance(item, exp.Column) else ""
            gone = {c.name for c in star.args.get("except_") or star.args.get("except") or []}
            names = sources[owner] if owner else [c for columns in sources.values() for c in columns]
            found += [c for c in names if c not in gone]
        else:
            found.append(item.alias_or_name)
    return found


def _sources(select: exp.Select, known: Columns) -> Columns:
    from_ = select.args.get("from_") or select.args.get("from")
    places = [from_.this] if from_ is not None else []
    places += [join.this for join in select.args.get("joins") or []]
    return {place.alias_or_name: columns_of(place, known) for place in places}


def _by_position(union: exp.Union, known: Columns) -> exp.Expression:
    """A UNION ALL BY NAME with its columns written out; a column that one side lacks is missing there."""
    columns = columns_of(union, known)
    sides = []
    for side in (union.this, union.expression):
        side = _by_position(side, known) if isinstance(side, exp.Union) else side.copy()
        there = columns_of(side, known)
        items = [exp.column(c, quoted=True) if c in there else exp.alias_(exp.Null(), c, quoted=True) for c in columns]
        sides.append(
            exp.select(*items).from_(exp.Subquery(this=side, alias=exp.TableAlias(this=exp.to_identifier("u"))))
        )
    return exp.Union(this=sides[0], expression=sides[1], distinct=False)


def _nearest(select: exp.Select, known: Columns) -> exp.Expression:
    """An ASOF join: of all partners of a row on the right side of the inequality, the nearest."""
    columns = columns_of(select, known)
    (join,) = select.args["joins"]
    later = next(node for node in join.args["on"].find_all(exp.GT, exp.GTE, exp.LT, exp.LTE))
    left, right = (select.args.get("from_") or select.args["from"]).this, join.this
    rows = exp.select(exp.Star(), exp.alias_(exp.Anonymous(this="monotonically_increasing_id"), "a0")).from_(
        left.this.copy() if isinstance(left, exp.Alias) else _bare(left)
    )
    nearest = exp.Ordered(this=later.expression.copy(), desc=isinstance(later, exp.GT | exp.GTE), nulls_first=False)
    place = exp.Window(
        this=exp.RowNumber(), partition_by=[exp.column("a0", table="l")], order=exp.Order(expressions=[nearest])
    )
    inner = select.copy()
    for item in inner.expressions:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            gone = star.args.get("except_") or star.args.get("except") or []
            star.set("except_", [*gone, exp.column("a0")])
    inner.set("joins", None)
    inner = inner.select(exp.alias_(place, "a1"))
    inner.set(
        "from_" if "from_" in select.args else "from",
        exp.From(this=exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier("l")))),
    )
    inner = inner.join(exp.Join(this=right.copy(), side="LEFT", on=join.args["on"].copy()))
    return (
        exp.select(*(exp.column(c, quoted=True) for c in columns))
        .from_(exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("n"))))
        .where(exp.EQ(this=exp.column("a1"), expression=exp.Literal.number("1")))
    )


def _bare(table: exp.Table) -> exp.Table:
    table = table.copy()
    table.set("alias", None)
    return table
