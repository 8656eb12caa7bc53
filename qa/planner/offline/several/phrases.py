"""Reads what is said of rows: their values, the rows they are related to, how many of those, and which comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qa.planner.offline import formula as write
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.links import is_year
from qa.planner.offline.naming import SMALL
from qa.planner.offline.nodes import FLIP
from qa.planner.offline.several.graph import Graph
from qa.planner.offline.several.items import Item, label
from qa.planner.offline.several.request import Attr, NotRead, Phrase, Relation
from qa.planner.offline.text import header_words, words
from qa.types import Column, Kind, Role

SOFT = "pvbhPwy"
"""what may stand between a thing and what is said of it"""


class Rows:
    """Items over several tables, and the phrases that begin at each."""

    def __init__(self, items: Sequence[Item], graph: Graph, lex: Lexicon) -> None:
        self.items, self.graph, self.lex = list(items), graph, lex
        self.open: list[Phrase] = []
        """the phrases that are being read, the innermost last"""

    # small steps
    def letter(self, at: int) -> str:
        return self.items[at].letter if at < len(self.items) else "$"

    def skip(self, at: int, over: str) -> int:
        while self.letter(at) in over and at < len(self.items):
            at += 1
        return at

    def table_of(self, item: Item) -> str:
        if len(item.tables) != 1:
            raise NotRead(item.text)
        return item.tables[0]

    def column(self, attr: Attr) -> Column:
        return self.graph.tables[attr.table].column(attr.column)

    def attr(self, item: Item, table: str) -> Attr | None:
        """The column an item names in a table; refuses a choice."""
        hits = [(column, sure) for name, column, sure in item.columns if name == table]
        if not hits:
            return None
        best = [column for column, sure in hits if sure >= max(s for _, s in hits) - 0.04]
        if len(best) > 1:
            said = [word for word in words(item.text) if word not in SMALL]
            best = [column for column in best if header_words(column) == said]
        if len(best) != 1:
            raise NotRead(item.text)
        return Attr(table, best[0])

    # rows
    def phrase(self, at: int) -> tuple[Phrase, int]:
        """A table's rows and all that is said of them."""
        each, adjective, values, first = False, None, [], 1
        while self.letter(at) in "eZV" or (self.letter(at) == "N" and self.letter(at + 1) == "E" and first == 1):
            item = self.items[at]
            first = int(item.number or 1) if item.letter == "N" else first
            each = each or item.letter == "e"
            adjective = item if item.letter == "Z" else adjective
            values += [item] if item.letter == "V" else []
            at += 1
        if self.letter(at) != "E":
            raise NotRead(self.items[at].text if at < len(self.items) else "?")
        phrase = Phrase(self.table_of(self.items[at]), each=each, first=first)
        if adjective:
            phrase.top = self.measured(adjective, phrase.table)
        at += 1
        while self.letter(at) == "V":
            values.append(self.items[at])
            at += 1
        for value in values:
            phrase.conditions.append(self.holds(value, [phrase], False))
        end = self.said(at, phrase)
        if first > 1 and not any(relation.how == "most" for relation in phrase.relations):
            raise NotRead(str(first))
        return phrase, end

    def said(self, at: int, phrase: Phrase) -> int:
        """Every restriction that follows a phrase."""
        self.open.append(phrase)
        try:
            while True:
                end = self.restriction(at, phrase)
                if end == at:
                    return at
                at = end
                if (
                    self.letter(at) == "&"
                    and self.letter(at + 1) in "wh!"
                    and self.letter(self.skip(at + 1, SOFT + "!")) in "E>NSVC"
                ):
                    at += 1
        finally:
            self.open.pop()

    def restriction(self, at: int, phrase: Phrase) -> int:
        """One thing said of rows; gives the same place when nothing is."""
        here, negated = at, False
        while self.letter(here) in SOFT + "!" or (
            self.letter(here) == "E" and self.items[here].verb and self.letter(self.skip(here + 1, SOFT)) in "eEZVSN>"
        ):
            negated = negated or self.letter(here) == "!"
            here += 1
        letter = self.letter(here)
        if letter in "EZV" and here > at and self.items[here - 1].text == "'s":
            self.refuse(here)
        if here == at and letter not in "EZ>V":
            return at
        trailing = all(i.letter in "vP" or i.letter in "bh" for i in self.items[at:here])
        if letter in "&.$" or (letter == "e" and self.letter(here + 1) in "$.&h"):
            if negated or here == at or not trailing:
                return at if not negated else self.refuse(at)
            return here
        if letter in "oaD":
            return here if trailing or here == at else self.refuse(here)
        if letter in "KG":
            return at
        if letter == "e" or letter in "EZ":
            return self.related(here, phrase, negated)
        if letter == "V" and self.letter(here + 1) == "E":
            return self.related(here, phrase, negated)
        if letter == "V":
            self.condition(self.items[here], negated)
            return here + 1
        if letter in ">N":
            return self.counted_or_year(here, phrase, negated)
        if letter in "SR" and not negated:
            return self.extreme(here, phrase)
        if letter == "C":
            return self.compared(here, at, negated)
        return at

    def refuse(self, at: int) -> int:
        raise NotRead(self.items[at].text)

    def related(self, at: int, phrase: Phrase, negated: bool) -> int:
        other, end = self.phrase(at)
        if other.table == phrase.table and negated and self.one_relation(other):
            phrase.relations.append(replace(other.relations[0], how="none"))
            return end
        whose = self.items[at - 1].text.lower() == "whose" and any(r.how == "none" for r in other.relations)
        if other.table == phrase.table or whose:
            raise NotRead(other.table)
        phrase.relations.append(Relation(other, "none" if negated else "some"))
        return end

    def one_relation(self, phrase: Phrase) -> bool:
        """True for `except stadiums having a concert`: all that is said is one relation."""
        return (
            len(phrase.relations) == 1 and phrase.relations[0].how == "some" and not (phrase.conditions or phrase.top)
        )

    def quantity(self, at: int) -> tuple[str, float, int] | None:
        """`more than 3`, `3 or more`, `3`: (operator, number, next place)."""
        if self.letter(at) == ">" and self.letter(at + 1) == "N":
            return self.items[at].op, self.items[at + 1].number or 0.0, at + 2
        if self.letter(at) == "N" and self.letter(at + 1) == "m":
            return self.items[at + 1].op, self.items[at].number or 0.0, at + 2
        either = self.letter(at) == "N" and self.letter(at + 1) == "|" and self.letter(at + 2) == ">"
        if either and self.letter(at + 3) != "N":
            # `2014 or after`
            return self.items[at + 2].op.rstrip("=") + "=", self.items[at].number or 0.0, at + 3
        if self.letter(at) == "N":
            return "==", self.items[at].number or 0.0, at + 1
        return None

    def counted_or_year(self, at: int, phrase: Phrase, negated: bool) -> int:
        found = self.quantity(at)
        if found is None:
            raise NotRead(self.items[at].text)
        op, number, end = found
        if self.letter(end) == "E":
            other, end = self.phrase(end)
            if negated or other.table == phrase.table:
                raise NotRead(other.table)
            phrase.relations.append(Relation(other, "count", op, number))
            return end
        if self.letter(end) == "C" and not negated:
            return self.holds_number(self.items[end], op, number, end + 1)
        if not is_year(number):
            raise NotRead(self.items[at].text)
        for holder in reversed(self.open):
            columns = [
                c
                for c in self.graph.tables[holder.table].columns
                if c.role is Role.YEAR or "year" in header_words(c.name)
            ]
            columns = [c for c in columns if c.kind is Kind.INTEGER]
            if len(columns) == 1:
                op = FLIP[op] if negated else op
                holder.conditions.append(f"{write.name(columns[0].name)} {op} {write.number(number)}")
                return end
            if columns:
                break
        raise NotRead(self.items[at].text)

    def holds_number(self, item: Item, op: str, number: float, end: int) -> int:
        for holder in reversed(self.open):
            attr = self.attr(item, holder.table)
            if attr and self.column(attr).kind.numeric:
                holder.conditions.append(f"{write.name(attr.column)} {op} {write.number(number)}")
                return end
        raise NotRead(item.text)

    def extreme(self, at: int, phrase: Phrase) -> int:
        """`with the most concerts`, `with the highest capacity`."""
        way = "desc" if self.items[at].op == "max" else "asc"
        after = self.skip(at + 1, "pK")
        if self.letter(after) == "E":
            other, end = self.phrase(after)
            if other.table == phrase.table:
                raise NotRead(other.table)
            phrase.relations.append(Relation(other, "most", way))
            return end
        if self.letter(after) == "C" and phrase.top is None:
            attr = self.attr(self.items[after], phrase.table)
            if attr and self.column(attr).kind in (Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.DATETIME):
                phrase.top = (attr.column, way)
                return after + 1
        raise NotRead(self.items[at].text)

    def measured(self, item: Item, table: str) -> tuple[str, str]:
        """The column that `youngest` or `largest` is about."""
        direction, groups = self.lex.superlatives[tuple(item.op.split())]
        for place, group in enumerate(groups):
            wanted = {self.lex.root(w) for word in group for w in word.split()}
            hits = [
                c.name
                for c in self.graph.tables[table].columns
                if c.kind is not Kind.TEXT and wanted & {self.lex.root(w) for w in header_words(c.name)}
            ]
            if len(hits) == 1:
                # the oldest has the highest age, but the lowest year
                return hits[0], "desc" if (direction == "max") == (place == 0) else "asc"
            if hits:
                break
        raise NotRead(item.text)

    # conditions
    def compared(self, at: int, start: int, negated: bool) -> int:
        """`whose membership level is 1`, `with tonnage 't'`, `have a grade over 5`."""
        item = self.items[at]
        here = at + 1
        while self.letter(here) in "bp!":
            negated = negated or self.letter(here) == "!"
            here += 1
        holders = [h for h in reversed(self.open) if self.attr(item, h.table)]
        if not holders:
            raise NotRead(item.text)
        attr = self.attr(item, holders[0].table)
        assert attr is not None
        if self.letter(here) == "V":
            holders[0].conditions.append(self.holds(self.items[here], [holders[0]], negated, attr.column))
            return here + 1
        if self.letter(here) == "M":
            op = self.items[here].op
            holders[0].conditions.append(f"{write.name(attr.column)} {op} mean({write.name(attr.column)})")
            return here + 1
        column = self.column(attr)
        if self.letter(here) == "N" and column.kind is Kind.TEXT:
            holders[0].conditions.append(self.holds(self.items[here], [holders[0]], negated, attr.column))
            return here + 1
        found = self.quantity(here)
        if found is None or not column.kind.numeric:
            raise NotRead(item.text)
        op, number, end = found
        holders[0].conditions.append(f"{write.name(attr.column)} {FLIP[op] if negated else op} {write.number(number)}")
        return end

    def condition(self, item: Item, negated: bool) -> None:
        """A value that stands by itself belongs to the nearest rows that hold it."""
        for holder in reversed(self.open):
            if any(table == holder.table for table, *_ in item.values):
                holder.conditions.append(self.holds(item, [holder], negated))
                return
        named = [
            (table, column)
            for table, column, _ in item.values
            if column == label(self.graph.tables[table], self.lex) and self.graph.way(self.open[-1].table, table)
        ]
        if len(named) != 1 or negated:
            raise NotRead(item.text)
        whose = Phrase(named[0][0])
        whose.conditions.append(self.holds(item, [whose], False, named[0][1]))
        self.open[-1].relations.append(Relation(whose))

    def holds(self, item: Item, holders: Sequence[Phrase], negated: bool, column: str | None = None) -> str:
        """The condition that a column of the rows is the value; refuses a choice of columns."""
        hits = [
            (name, cells)
            for table, name, cells in item.values
            if table == holders[0].table and (column is None or name == column)
        ]
        if len(hits) != 1:
            raise NotRead(item.text)
        return write.equals(write.name(hits[0][0]), hits[0][1], negated)
