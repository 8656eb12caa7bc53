"""SELECT statements as pipelines: relations joined, filtered, summarized, ordered, shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from qa.errors import Issue, PlanError
from qa.plan.formula import quoted_name
from qa.plan.from_sql.joins import joined
from qa.plan.from_sql.scope import Field, Names, Relation, cannot, fields_of, table_named
from qa.plan.from_sql.terms import AGGREGATES, Terms, is_aggregate
from qa.plan.from_sql.windows import window_steps
from qa.types import Kind, Role, Source

StepJson = dict[str, Any]


@dataclass
class Pipe:
    """A pipeline under construction, and the columns that it shows: (name in the plan, header, kind)."""

    source: str
    steps: list[StepJson] = field(default_factory=list)
    shown: list[tuple[str, str, Kind | None]] = field(default_factory=list)
    one_row: bool = False


@dataclass
class Translator:
    """Translates one statement; lets are made on the way, in an order in which each sees the ones before."""

    sources: Mapping[str, Source]
    lets: list[StepJson] = field(default_factory=list)
    let_fields: dict[str, list[Field]] = field(default_factory=dict)
    ctes: dict[str, str] = field(default_factory=dict)

    # ---- lets ----

    def let(self, pipe: Pipe, hint: str = "sub") -> str:
        """Makes a pipeline a let whose columns are exactly what it shows."""
        name = _fresh(hint, {entry["name"] for entry in self.lets} | set(self.sources))
        columns = [quoted_name(n) if n == header else f"{quoted_name(n)} as {header}" for n, header, _ in pipe.shown]
        self.lets.append(
            {"name": name, "source": pipe.source, "steps": [*pipe.steps, {"op": "select", "columns": columns}]}
        )
        self.let_fields[name] = [Field(header, kind) for _, header, kind in pipe.shown]
        return name

    def column_let(self, node: exp.Expr) -> tuple[str, str]:
        """The let and column that `x IN (SELECT …)` reads."""
        pipe = self.query(_unwrapped(node))
        if len(pipe.shown) != 1:
            cannot("IN reads a sub-query of one column.")
        return self.let(pipe), pipe.shown[0][1]

    def let_kind(self, let: str, column: str) -> Kind | None:
        return next((f.kind for f in self.let_fields.get(let, []) if f.name == column), None)

    def scalar_let(self, node: exp.Expr, names: Names) -> str:
        """`let.column` for a sub-query that stands for one value."""
        pipe = self.query(_unwrapped(node))
        if len(pipe.shown) != 1:
            cannot("A sub-query that stands for a value has one column.")
        if not pipe.one_row:
            pipe.steps.append({"op": "limit", "n": 1})
        return f"{self.let(pipe, 'value')}.{quoted_name(pipe.shown[0][1])}"

    def addable(self, argument: str, found: tuple[Relation, Field] | None) -> str:
        """SUM over a column whose role does not add: the SQL says so itself, so additive() says it too."""
        if found is None or found[0].table not in self.sources:
            return argument
        column = next((c for c in self.sources[found[0].table].columns if c.name == found[1].name), None)
        unsummable = column is not None and column.role in (Role.PERCENT, Role.RATE, Role.ID, Role.YEAR, Role.BALANCE)
        return f"additive({argument})" if unsummable else argument

    # ---- queries ----

    def query(self, node: exp.Expr) -> Pipe:
        """The pipeline of a SELECT, a set operation or a query in brackets."""
        if isinstance(node, exp.Subquery):
            return self.query(node.this)
        with_ = node.args.get("with_") or node.args.get("with")
        for cte in with_.expressions if with_ is not None else []:
            self.cte(cte)
        if isinstance(node, exp.SetOperation):
            return self.set_operation(node)
        if isinstance(node, exp.Select):
            return Select(self, node).pipe()
        cannot(f"{type(node).__name__.upper()} is not a query.", "Write a SELECT.")

    def cte(self, cte: exp.Expr) -> None:
        pipe = self.query(cte.this)
        alias = cte.args["alias"]
        columns = [column.name for column in alias.args.get("columns") or []]
        if columns:
            pipe.shown = [(n, new, kind) for (n, _, kind), new in zip(pipe.shown, columns, strict=True)]
        self.ctes[alias.name.casefold()] = self.let(pipe, alias.name)

    def set_operation(self, node: exp.SetOperation) -> Pipe:
        left, right = self.query(node.this), self.query(node.expression)
        if len(left.shown) != len(right.shown):
            cannot("The two sides of a set operation have different numbers of columns.")
        right.shown = [(n, header, kind) for (n, _, kind), (_, header, _) in zip(right.shown, left.shown, strict=True)]
        first, second = self.let(left, "left_side"), self.let(right, "right_side")
        distinct = bool(node.args.get("distinct"))
        how = {exp.Union: "distinct" if distinct else "all", exp.Intersect: "intersect", exp.Except: "except"}[
            type(node)
        ]
        pipe = Pipe(first, [{"op": "union", "tables": [second], "how": how}], [(h, h, k) for _, h, k in left.shown])
        names = Names([Relation(first, first, first, self.let_fields[first])])
        names.aliases = {h.casefold(): h for _, h, _ in pipe.shown}
        order_and_limit(pipe, node, Terms(names, self), {})
        return pipe

    def relation(self, node: exp.Expr, taken: Sequence[str]) -> Relation:
        """A table, CTE or sub-query of FROM as a relation."""
        if isinstance(node, exp.Subquery):
            let = self.let(self.query(node.this), node.alias or "sub")
            return Relation(let, node.alias or let, _fresh_owner(let, taken), self.let_fields[let])
        if not isinstance(node, exp.Table):
            cannot(f"{node.sql()!r} cannot stand in FROM.")
        if node.name.casefold() in self.ctes:
            let = self.ctes[node.name.casefold()]
            return Relation(let, node.alias or node.name, _fresh_owner(let, taken), self.let_fields[let])
        source = table_named(node.name, self.sources)
        return Relation(
            source.name, node.alias or node.name, _fresh_owner(source.name, taken), fields_of(source.columns)
        )


def _unwrapped(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Subquery | exp.Paren) else node


def _fresh(hint: str, taken: set[str]) -> str:
    base = "".join(c if c.isalnum() or c == "_" else "_" for c in hint) or "sub"
    base = base if base[0].isalpha() else f"t_{base}"
    name, count = base, 2
    while name in taken:
        name, count = f"{base}_{count}", count + 1
    return name


def _fresh_owner(table: str, taken: Sequence[str]) -> str:
    name, count = table, 2
    while name in taken:
        name, count = f"{table}_{count}", count + 1
    return name


class Select:
    """One SELECT on its way to a pipeline."""

    def __init__(self, translator: Translator, node: exp.Select) -> None:
        self.translator = translator
        self.node = node
        relations: list[Relation] = []
        from_ = node.args.get("from_") or node.args.get("from")
        tables = [] if from_ is None else [from_.this, *(join.this for join in node.args.get("joins") or [])]
        for table in tables:
            relations.append(translator.relation(table, [r.owner for r in relations]))
        self.names = Names(relations)
        self.terms = Terms(self.names, translator)
        self._made: list[str] = []

    def pipe(self) -> Pipe:
        node = self.node
        if not self.names.relations:
            return self.without_from()
        where = node.args.get("where")
        pipe, rest = joined(self, node.args.get("joins") or [], where.this if where is not None else None)
        for condition in rest:
            pipe.steps.append({"op": "filter", "where": condition})
        items = self.items()
        if (
            node.args.get("group") is not None
            or any(self.has_aggregate(item) for item, _ in items)
            or self.has_aggregate_outside()
        ):
            self.summarize(pipe, items)
        window_steps(self, pipe, items)
        chosen = self.choose(pipe, items)
        if node.args.get("distinct") is not None:
            columns = [quoted_name(n) if n == h else f"{quoted_name(n)} as {h}" for n, h, _ in chosen]
            pipe.steps += [{"op": "select", "columns": columns}, {"op": "distinct", "columns": []}]
            self.only_distinct(chosen, items)
            chosen = [(h, h, k) for _, h, k in chosen]
        order_and_limit(pipe, node, self.terms, self.by_position(chosen))
        pipe.shown = chosen
        return pipe

    def only_distinct(
        self, chosen: Sequence[tuple[str, str, Kind | None]], items: Sequence[tuple[exp.Expr, str | None]]
    ) -> None:
        """After DISTINCT only what is shown can be named: by its SQL, its column, or its alias."""
        headers = {quoted_name(name): header for name, header, _ in chosen}
        shown = {item.sql(): header for (item, _), (_, header, _) in zip(items, chosen, strict=True)}
        order = self.node.args.get("order")
        for column in order.find_all(exp.Column) if order is not None else []:
            found = self.names.find(column)
            if found is not None and self.names.text(*found) in headers:
                shown[column.sql()] = headers[self.names.text(*found)]
        self.names.aliases = {header.casefold(): header for _, header, _ in chosen}
        self.names.relations, self.names.computed = [], shown

    def without_from(self) -> Pipe:
        """Sub-queries computed with: one row, made by counting the last of them."""
        derived: list[str] = []
        shown: list[tuple[str, str, Kind | None]] = []
        for item, alias in self.items():
            text = self.terms(item)
            header = alias or f"value {len(derived) + 1}"
            derived.append(f"{text} as {header}")
            shown.append((header, header, self.terms.kind(item)))
        source = self.translator.lets[-1]["name"] if self.translator.lets else next(iter(self.translator.sources))
        one_row = {"op": "summarize", "by": [], "metrics": ["count() as rows"]}
        return Pipe(source, [one_row, {"op": "derive", "columns": derived}], shown, one_row=True)

    # ---- select list ----

    def items(self) -> list[tuple[exp.Expr, str | None]]:
        """The select list, stars written out, each with its alias."""
        found: list[tuple[exp.Expr, str | None]] = []
        for item in self.node.expressions:
            if isinstance(item, exp.Star):
                found += [(self.reference(r, f), f.name) for r in self.names.relations for f in r.fields]
            elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
                found += [
                    (self.reference(r, f), f.name)
                    for r in self.names.relations
                    if r.alias.casefold() == item.table.casefold()
                    for f in r.fields
                ]
            elif isinstance(item, exp.Alias):
                found.append((item.this, item.alias))
            else:
                found.append((item, None))
        return found

    def reference(self, relation: Relation, found: Field) -> exp.Column:
        return exp.column(found.name, table=relation.alias, quoted=True)

    def has_aggregate(self, node: exp.Expr) -> bool:
        return any(is_aggregate(inner) and not _in_subquery(inner, node) for inner in node.find_all(exp.AggFunc))

    def has_aggregate_outside(self) -> bool:
        clauses = [self.node.args.get("having"), self.node.args.get("order")]
        return any(self.has_aggregate(clause) for clause in clauses if clause is not None)

    def summarize(self, pipe: Pipe, items: Sequence[tuple[exp.Expr, str | None]]) -> None:
        """GROUP BY, the aggregates of every clause, and HAVING."""
        group = self.node.args.get("group")
        aliases = {alias.casefold(): item for item, alias in items if alias}
        keys = [self.key(expression, items, aliases) for expression in (group.expressions if group is not None else [])]
        clauses = [item for item, _ in items] + [
            clause for name in ("having", "order") if (clause := self.node.args.get(name)) is not None
        ]
        having = self.node.args.get("having")
        by, computed, kinds = [], {}, {}
        for key in keys:
            text = self.terms(key)
            name = self.fresh(key.name if isinstance(key, exp.Column) else text)
            by.append(text if text == quoted_name(name) else f"{text} as {name}")
            computed[key.sql()] = name
            if (kind := self.terms.kind(key)) is not None:
                kinds[name] = kind
        metrics = []
        for node in _distinct(self.aggregates(clauses)):
            text = self.terms(node)
            name = self.fresh(text)
            metrics.append(f"{text} as {name}")
            computed[node.sql()] = name
            kinds[name] = self.terms.kind(node) or Kind.NUMBER
        for column in _distinct(self.bare(clauses, computed)):
            text = self.loose(column, self.aggregates(clauses))
            name = self.fresh(column.name)
            metrics.append(f"{text} as {name}")
            computed[column.sql()] = name
            if (kind := self.terms.kind(column)) is not None:
                kinds[name] = kind
        pipe.steps.append({"op": "summarize", "by": by, "metrics": metrics})
        pipe.one_row = not by
        self.names.computed, self.names.kinds = computed | self.same_columns(computed), kinds
        if having is not None:
            for condition in _conjuncts(having.this):
                pipe.steps.append({"op": "filter", "where": self.terms(self.unaliased(condition, aliases))})

    def unaliased(self, node: exp.Expr, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
        def swap(inner: exp.Expr) -> exp.Expr:
            known = isinstance(inner, exp.Column) and not inner.table and self.names.find(inner) is None
            return aliases[inner.name.casefold()].copy() if known and inner.name.casefold() in aliases else inner

        return node.copy().transform(swap)

    def same_columns(self, computed: Mapping[str, str]) -> dict[str, str]:
        """A key reached by another spelling (with or without its table) is the same key."""
        more: dict[str, str] = {}
        targets = {}
        for sql, name in computed.items():
            parsed = sqlglot.parse_one(sql, dialect="sqlite")
            if isinstance(parsed, exp.Column) and (found := self.names.find(parsed)) is not None:
                targets[self.names.text(*found)] = name
        for node in self.node.find_all(exp.Column):
            if _in_subquery(node, self.node):
                continue
            if (found := self.names.find(node)) is not None and self.names.text(*found) in targets:
                more[node.sql()] = targets[self.names.text(*found)]
        return more

    def key(
        self, node: exp.Expr, items: Sequence[tuple[exp.Expr, str | None]], aliases: Mapping[str, exp.Expr]
    ) -> exp.Expr:
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            return items[int(node.name) - 1][0]
        if (
            isinstance(node, exp.Column)
            and not node.table
            and self.names.find(node) is None
            and node.name.casefold() in aliases
        ):
            return aliases[node.name.casefold()]
        return node

    def aggregates(self, clauses: Sequence[exp.Expr]) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        for clause in clauses:
            for node in clause.find_all(exp.AggFunc):
                if (
                    is_aggregate(node)
                    and not _in_subquery(node, clause)
                    and not any(isinstance(parent, exp.AggFunc) for parent in _parents(node, clause))
                ):
                    found.append(node)
        return found

    def bare(self, clauses: Sequence[exp.Expr], computed: Mapping[str, str]) -> list[exp.Column]:
        """Columns outside aggregates and keys: SQLite takes them from some row of the group."""
        known = {**computed, **self.same_columns(computed)}
        found = []
        for clause in clauses:
            for node in clause.find_all(exp.Column):
                inside = any(
                    parent.sql() in known or isinstance(parent, exp.AggFunc)
                    for parent in (node, *_parents(node, clause))
                )
                if not inside and not _in_subquery(node, clause) and self.names.find(node) is not None:
                    found.append(node)
        return found

    def loose(self, column: exp.Column, aggregates: Sequence[exp.Expr]) -> str:
        """A bare column beside one min or max comes from that row; else every row of the group should agree."""
        extremes = [node for node in aggregates if isinstance(node, exp.Max | exp.Min)]
        if len(extremes) == 1:
            name = "arg_max" if isinstance(extremes[0], exp.Max) else "arg_min"
            return f"{name}({self.terms(column)}, {self.terms(extremes[0].this)})"
        return f"first({self.terms(column)})"

    def choose(self, pipe: Pipe, items: Sequence[tuple[exp.Expr, str | None]]) -> list[tuple[str, str, Kind | None]]:
        """Computes what is not a column yet, and lists what is shown."""
        chosen: list[tuple[str, str, Kind | None]] = []
        derived: list[str] = []
        headers: set[str] = set()
        for item, alias in items:
            text, kind = self.terms(item), self.terms.kind(item)
            header = _unique(alias or (item.name if isinstance(item, exp.Column) else text), headers)
            if self.names.computed.get(item.sql()) is not None:
                name = self.names.computed[item.sql()]
            elif isinstance(item, exp.Column) and (text == quoted_name(item.name) or "." not in text):
                name = next(
                    (f.name for r in self.names.relations for f in r.fields if quoted_name(f.name) == text), item.name
                )
            else:
                name = self.fresh(header, beside=[f.name for r in self.names.relations for f in r.fields])
                derived.append(f"{text} as {name}")
            chosen.append((name, header, kind))
            if alias:
                self.names.aliases[alias.casefold()] = name
            if not isinstance(item, exp.Column):
                self.names.computed.setdefault(item.sql(), name)
        if derived:
            pipe.steps.append({"op": "derive", "columns": derived})
        return chosen

    def by_position(self, chosen: Sequence[tuple[str, str, Kind | None]]) -> dict[str, str]:
        return {str(index): quoted_name(name) for index, (name, _, _) in enumerate(chosen, 1)}

    def fresh(self, hint: str, beside: Sequence[str] = ()) -> str:
        """A column name that nothing made so far has, nor anything `beside` it."""
        base = " ".join(hint.replace("`", "").split())
        name, count = base, 2
        used = {value.casefold() for value in (*self._made, *beside)}
        while name.casefold() in used:
            name, count = f"{base} ({count})", count + 1
        self._made.append(name)
        return name


def order_and_limit(pipe: Pipe, node: exp.Expr, terms: Terms, positions: Mapping[str, str]) -> None:
    """ORDER BY, LIMIT and OFFSET; SQL dialects in use put missing first when ascending."""
    order, limit, offset = node.args.get("order"), node.args.get("limit"), node.args.get("offset")
    keys = [_sort_key(key, terms, positions) for key in (order.expressions if order is not None else [])]
    if limit is not None:
        count = limit.expression
        if not isinstance(count, exp.Literal):
            cannot("LIMIT needs a written-out number.")
        step: StepJson = {"op": "limit", "n": int(count.name), "order": keys or None, "ties": "cut"}
        if offset is not None:
            step["offset"] = int(offset.expression.name)
        pipe.steps.append(step)
        pipe.one_row = pipe.one_row or int(count.name) <= 1
    elif keys:
        pipe.steps.append({"op": "sort", "order": keys})


def _sort_key(key: exp.Expr, terms: Terms, positions: Mapping[str, str]) -> str:
    inner = key.this if isinstance(key, exp.Ordered) else key
    text = positions.get(inner.name) if isinstance(inner, exp.Literal) else terms(inner)
    if isinstance(key, exp.Ordered) and key.args.get("desc"):
        return f"{text} desc"
    return f"{text} asc nulls first"


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node]


def _parents(node: exp.Expr, top: exp.Expr) -> list[exp.Expr]:
    found = []
    while node.parent is not None and node is not top:
        node = node.parent
        found.append(node)
        if node is top:
            break
    return found


def _in_subquery(node: exp.Expr, top: exp.Expr) -> bool:
    """True when a select stands between the node and the clause."""
    return any(
        isinstance(parent, exp.Query) and parent is not top
        for parent in _parents(node, top)[: -1 if node is not top else None] or []
    )


def _distinct(nodes: Sequence[Any]) -> list[Any]:
    return list({node.sql(): node for node in nodes}.values())


def _unique(header: str, taken: set[str]) -> str:
    header = " ".join(header.replace("`", "").split())
    name, count = header, 2
    while name.casefold() in taken:
        name, count = f"{header} ({count})", count + 1
    taken.add(name.casefold())
    return name


def translate(sql: str, sources: Mapping[str, Source], dialect: str = "sqlite") -> dict[str, Any]:
    """The plan reply of a SELECT over tables, as JSON data. Raises PlanError naming the clause that cannot be said."""
    try:
        parsed = sqlglot.parse_one(sql, dialect=dialect)
    except ParseError as error:
        detail = error.errors[0] if error.errors else {}
        place = f"line {detail.get('line')}, col {detail.get('col')}" if detail else ""
        raise PlanError(
            Issue("bad_sql", place, "This is not SQL that can be read.", str(detail.get("description") or ""))
        ) from None
    if parsed is None or not isinstance(parsed, exp.Query):
        cannot("Only a SELECT can become a plan.", "Write SELECT … FROM …")
    translator = Translator(sources)
    pipe = translator.query(parsed)
    show = [quoted_name(n) if n == header else f"{quoted_name(n)} as {header}" for n, header, _ in pipe.shown]
    part = {"title": "", "reading": None, "source": pipe.source, "steps": pipe.steps, "show": show, "chart": None}
    return {"reply": "plan", "lets": translator.lets, "parts": [part]}


__all__ = ["AGGREGATES", "Pipe", "Select", "Translator", "translate"]
