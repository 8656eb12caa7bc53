"""Writes a request over several tables as a plan: semi and anti joins for what is related, look-ups for what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qa.planner.offline import formula as write
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.several.graph import Graph, Hop
from qa.planner.offline.several.items import identity
from qa.planner.offline.several.request import Attr, NotRead, Phrase, Relation, Request
from qa.planner.offline.text import header_words
from qa.types import Kind

Step = dict[str, Any]


class Writer:
    """One request, written with as many lets as its relations need."""

    def __init__(self, request: Request, graph: Graph, lex: Lexicon) -> None:
        self.request, self.graph, self.lex = request, graph, lex
        self.lets: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.best: tuple[int, str] | None = None
        """how many of the counted are shown, and from which end"""

    def reply(self, title: str) -> dict[str, Any]:
        """The plan. Raises NotRead where the tables do not allow what is asked."""
        request = self.request
        if request.main.first > 1:
            self.ranked()
        if request.counted is not None and (request.counted is not request.main or request.attrs):
            source, steps = self.counts()
        elif request.counted is not None:
            source, steps = self.counted()
        elif request.measure is not None:
            source, steps = self.measured()
        else:
            source, steps = self.listed()
        part = {
            "title": title,
            "reading": "; ".join(dict.fromkeys(self.notes)) or None,
            "source": source,
            "steps": steps,
            "show": None,
            "chart": None,
        }
        return {"reply": "plan", "lets": self.lets, "parts": [part]}

    def ranked(self) -> None:
        """`the three airlines with the most flights`: counted for each, and the first few shown with their numbers."""
        main = self.request.main
        most = [relation for relation in main.relations if relation.how == "most"]
        if len(most) != 1 or self.request.counted or self.request.order:
            raise NotRead(main.table)
        main.relations.remove(most[0])
        self.request.counted, self.best = most[0].phrase, (main.first, most[0].op)

    # rows
    def let(self, source: str, steps: Sequence[Step]) -> str:
        """A named table of these steps; the source itself when there are none."""
        if not steps:
            return source
        name, n = f"{source}_in_question", 1
        taken = {table.lower() for table in self.graph.tables} | {str(let["name"]).lower() for let in self.lets}
        while name.lower() in taken:
            n += 1
            name = f"{source}_in_question_{n}"
        self.lets.append({"name": name, "source": source, "steps": list(steps)})
        return name

    def narrowed(self, phrase: Phrase) -> list[Step]:
        """The steps that keep the rows a phrase means."""
        steps: list[Step] = []
        if phrase.conditions:
            steps.append({"op": "filter", "where": write.all_of(phrase.conditions)})
        for relation in phrase.relations:
            steps += self.related(phrase, relation)
        if phrase.top:
            column, way = phrase.top
            order = f"{write.name(column)} {way}"
            steps.append({"op": "limit", "n": 1, "order": [order], "ties": "keep"})
        return steps

    def related(self, phrase: Phrase, relation: Relation) -> list[Step]:
        if relation.how in ("count", "most"):
            return self.numbered(phrase, relation)
        way = self.way(phrase.table, relation.phrase.table)
        how = "anti" if relation.how == "none" else "semi"
        inner = self.narrowed(relation.phrase)
        if how == "semi" and not inner and not way[0].many and len(way) == 1:
            return [{"op": "filter", "where": f"{write.name(way[0].pairs[0][0])} is not null"}] if relation.phrase.each is False else []  # fmt: skip
        held = self.let(relation.phrase.table, inner)
        for hop in reversed(way[1:]):
            held = self.let(hop.start, [joined(hop, held, "semi")])
        return [joined(way[0], held, how)]

    def way(self, start: str, end: str) -> tuple[Hop, ...]:
        way = self.graph.way(start, end)
        if not way:
            raise NotRead(f"{start} and {end}")
        return way

    # counts
    def per(self, start: str, other: Phrase) -> tuple[str, list[Step], list[tuple[str, str]]]:
        """The rows to count for each row of a table: (source, steps, (column there, key here))."""
        way = self.way(start, other.table)
        out = [hop for hop in way if hop.many]
        if not out:
            raise NotRead(f"one {other.table} for each {start}")
        fact = out[-1].end
        look = way[len(out) :]
        steps = self.narrowed(other) if fact == other.table else []
        if look and self.narrowed_at_all(other):
            steps = self.related(Phrase(fact), Relation(other))
        kept: set[str] = set()
        for hop in reversed(out[1:]):
            wanted = [here for here, _ in self.turned(out[out.index(hop) - 1]).pairs]
            if kept & set(wanted) or set(wanted) & {c.name for c in self.graph.tables[fact].columns}:
                raise NotRead(fact)
            kept |= set(wanted)
            steps.append(joined(self.turned(hop), hop.start, "inner", wanted))
        return fact, steps, [(here, there) for here, there in self.turned(out[0]).pairs]

    def narrowed_at_all(self, phrase: Phrase) -> bool:
        return not phrase.plain

    def turned(self, hop: Hop) -> Hop:
        return Hop(hop.end, hop.start, tuple((b, a) for a, b in hop.pairs), not hop.many)

    def numbered(self, phrase: Phrase, relation: Relation) -> list[Step]:
        """`at least three friends`, `the most concerts`: counted by key, and the keys kept."""
        source, steps, keys = self.per(phrase.table, relation.phrase)
        by = [write.name(here) for here, _ in keys]
        steps = [*steps, self.known(keys), {"op": "summarize", "by": by, "metrics": ["count() as times"]}]
        if relation.how == "count":
            if relation.op in ("<", "<=") or (relation.op == "==" and relation.number == 0):
                raise NotRead("fewer")
            steps.append({"op": "filter", "where": f"times {relation.op} {write.number(relation.number)}"})
        else:
            if relation.number == 0 and self.others_hold(phrase):
                steps.insert(len(steps) - 2, self.only(phrase, keys))
            ties = "keep" if phrase.first == 1 else "cut"
            steps.append({"op": "limit", "n": phrase.first, "order": [f"times {relation.op}"], "ties": ties})
            if relation.op == "asc":
                self.notes.append(f"among those with any {relation.phrase.table}")
        held = self.let(source, steps)
        hop = Hop(phrase.table, held, tuple((there, here) for here, there in keys), True)
        return [joined(hop, held, "semi")]

    def others_hold(self, phrase: Phrase) -> bool:
        return bool(phrase.conditions or len(phrase.relations) > 1)

    def only(self, phrase: Phrase, keys: Sequence[tuple[str, str]]) -> Step:
        """Keeps the rows of those that the other words mean, so that the most is the most among them."""
        rest = [r for r in phrase.relations if r.how not in ("count", "most")]
        steps = self.narrowed(Phrase(phrase.table, phrase.conditions, rest))
        return joined(Hop("", phrase.table, tuple(keys), False), self.let(phrase.table, steps), "semi")

    def known(self, keys: Sequence[tuple[str, str]]) -> Step:
        return {"op": "filter", "where": write.all_of([f"{write.name(here)} is not null" for here, _ in keys])}

    def counted(self) -> tuple[str, list[Step]]:
        """`How many …`."""
        phrase = self.request.main
        self.linked([])
        return phrase.table, [*self.narrowed(phrase), {"op": "summarize", "by": [], "metrics": ["count() as rows"]}]

    def counts(self) -> tuple[str, list[Step]]:
        """`the name of each stadium and the number of concerts`: rows counted by key, then the key's columns shown."""
        request, counted = self.request, self.request.counted
        assert counted is not None
        main = request.main
        if main is counted:
            raise NotRead("each")
        if any(attr.table != main.table for attr in request.attrs) or any(
            p.table != counted.table for p in request.others
        ):
            raise NotRead("?")
        attrs = [a.column for a in request.attrs] or self.called(main.table)
        source, steps, keys = self.per(main.table, counted)
        back = [(there, here) for here, there in keys]
        counter = f"number of {' '.join(header_words(counted.table))}"
        steps += [
            self.known(keys),
            {
                "op": "summarize",
                "by": [write.name(here) for here, _ in keys],
                "metrics": [f"count() as {write.name(counter)}"],
            },
        ]
        shown = [a for a in attrs if a not in {there for there, _ in back}]
        held = self.let(main.table, self.narrowed(main))
        hop = Hop(source, held, tuple((here, there) for here, there in keys), False)
        steps.append(joined(hop, held, "inner", shown))
        names = [self.key_shown(a, back) for a in attrs]
        if request.order:
            first, way = request.order
            steps.append({"op": "sort", "order": [f"{self.key_shown(first.column, back)} {way}"]})
        if self.best:
            n, way = self.best
            steps.append({"op": "limit", "n": n, "order": [f"{write.name(counter)} {way}"], "ties": "cut"})
        self.notes.append(f"{main.table} without any are left out")
        return source, [*steps, {"op": "select", "columns": [*names, write.name(counter)]}]

    def key_shown(self, column: str, back: Sequence[tuple[str, str]]) -> str:
        return write.name(dict(back).get(column, column))

    def called(self, table: str) -> list[str]:
        names = identity(self.graph.tables[table], self.graph, self.lex)
        if len(names) != 1:
            raise NotRead(table)
        return names

    # figures and lists
    def measured(self) -> tuple[str, list[Step]]:
        """`the average age of the dogs that …`, `the total amount by category`."""
        request = self.request
        assert request.measure is not None
        function, attr = request.measure
        column = self.graph.tables[attr.table].column(attr.column)
        if request.attrs or (not column.kind.numeric and function not in ("min", "max")) or column.kind is Kind.BOOLEAN:
            raise NotRead(attr.column)
        self.linked([attr, *request.keys])
        name = f"{function} {attr.column}"
        steps = self.rooted(attr.table)
        for key in request.keys:
            steps += self.looked_up(attr.table, key.table, [key.column], steps)
        by = [self.shown(key, attr.table, steps) for key in request.keys]
        metric = f"{function}({write.name(attr.column)}) as {write.name(name)}"
        return attr.table, [*steps, {"op": "summarize", "by": by, "metrics": [metric]}]

    def shown(self, attr: Attr, root: str, steps: Sequence[Step]) -> str:
        """A column as a formula writes it after the joins so far."""
        name = write.name(attr.column)
        return f"{attr.table}.{name}" if self.clash(attr, root, steps) else name

    def linked(self, attrs: Sequence[Attr]) -> None:
        """Refuses phrases that nothing is shown of and nothing ties to the rest."""
        shown = {attr.table for attr in attrs}
        for phrase in self.request.others:
            if phrase.table not in shown and not phrase.plain:
                raise NotRead(phrase.table)

    def rooted(self, root: str) -> list[Step]:
        """The steps on the root that keep what every phrase means."""
        steps: list[Step] = []
        for phrase in [self.request.main, *self.request.others]:
            if phrase.table == root:
                steps += self.narrowed(phrase)
            elif not phrase.plain:
                steps += self.related(Phrase(root), Relation(phrase))
                if any(hop.many for hop in self.way(root, phrase.table)):
                    raise NotRead(phrase.table)
        return steps

    def listed(self) -> tuple[str, list[Step]]:
        """Columns of one table, or of several joined where each row looks the others up."""
        request = self.request
        attrs = request.attrs
        if not attrs:
            attrs = [Attr(request.main.table, column) for column in self.called(request.main.table)]
        self.linked(attrs)
        root = self.root({attr.table for attr in attrs} | {request.main.table})
        steps = self.rooted(root)
        names = [attr.column for attr in attrs]
        for table in dict.fromkeys(attr.table for attr in attrs):
            steps += self.looked_up(root, table, [attr.column for attr in attrs if attr.table == table], steps)
        shown = [self.shown(attr, root, steps) for attr in attrs]
        if len(set(names)) < len(names) and len(set(shown)) < len(shown):
            raise NotRead(names[0])
        if request.order:
            first, way = request.order
            if first not in attrs and first.table != root:
                raise NotRead(first.column)
            at = shown[attrs.index(first)] if first in attrs else write.name(first.column)
            steps.append({"op": "sort", "order": [f"{at} {way}"]})
        if request.distinct:
            steps.append({"op": "distinct", "columns": shown})
        return root, [*steps, {"op": "select", "columns": shown}]

    def root(self, tables: set[str]) -> str:
        """The table whose rows look up every other: the main one, or the one that ties them."""
        main = self.request.main.table
        if all(self.graph.look_up(main, table) is not None for table in tables):
            return main
        others = tables - {main}
        if len(others) != 1:
            raise NotRead("several tables")
        way = self.way(main, next(iter(others)))
        fact = [hop for hop in way if hop.many][-1].end
        if any(self.graph.look_up(fact, table) is None for table in tables):
            raise NotRead(fact)
        return fact

    def looked_up(self, root: str, table: str, columns: Sequence[str], done: Sequence[Step]) -> list[Step]:
        way = self.graph.look_up(root, table)
        if way is None:
            raise NotRead(table)
        steps: list[Step] = []
        for place, hop in enumerate(way):
            onward = [here for here, _ in way[place + 1].pairs] if place + 1 < len(way) else list(columns)
            keys = {there for _, there in hop.pairs}
            onward = [c for c in dict.fromkeys(onward) if c not in keys]
            already = [s for s in done if s.get("table") == hop.end and s.get("how") in ("inner", "left")]
            if already:
                raise NotRead(table)
            steps.append(joined(hop, hop.end, "inner", onward))
        if steps:
            self.notes.append(f"{root} without a row in {table} are left out")
        return steps

    def clash(self, attr: Attr, root: str, steps: Sequence[Step]) -> bool:
        there = [root, *(step["table"] for step in steps if step["op"] == "join" and step["how"] in ("inner", "left"))]
        held = 0
        for table in there:
            shown = [s["columns"] for s in steps if s["op"] == "join" and s["table"] == table and s["how"] == "inner"]
            names = shown[0] if shown else [write.name(c.name) for c in self.graph.tables[table].columns]
            held += write.name(attr.column) in names
        return held > 1


def joined(hop: Hop, table: str, how: str, columns: Sequence[str] | None = None) -> Step:
    """A join step along a hop; `table` stands for its end."""
    on = [write.name(a) if a == b else f"{write.name(a)} = {write.name(b)}" for a, b in hop.pairs]
    step: Step = {"op": "join", "table": table, "how": how, "on": on}
    if how == "inner":
        step |= {"expect": "many_to_one", "columns": [write.name(c) for c in columns or ()]}
    return step
