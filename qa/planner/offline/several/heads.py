"""The grammar of questions over several tables: what is shown, counted or measured, and of which rows."""

from __future__ import annotations

from collections.abc import Sequence

from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.several.graph import Graph
from qa.planner.offline.several.items import Item, identity, label
from qa.planner.offline.several.phrases import SOFT, Rows
from qa.planner.offline.several.request import Attr, NotRead, Phrase, Request

KINDS = frozenset({"type", "kind"})
"""`engine type` is the engine"""

SURE = 0.85
"""how surely a column must be named to be looked up in another table than the one spoken of"""


class Grammar(Rows):
    """Reads items as one request; `NotRead` when an item finds no place."""

    def __init__(self, items: Sequence[Item], graph: Graph, lex: Lexicon) -> None:
        super().__init__(items, graph, lex)
        self.attrs: list[Attr] = []
        self.loose: list[tuple[int, Item]] = []
        """columns whose table is not known yet, with their place among the attributes"""
        self.phrases: list[Phrase] = []
        self.counted: Phrase | None = None
        self.measure: tuple[str, Item] | None = None
        self.order: tuple[Item | None, str] | None = None
        self.each_of: Phrase | None = None
        self.distinct = False
        self.keys: list[Attr] = []

    # the whole
    def read(self) -> Request:
        at = self.heads(0)
        if at < len(self.items):
            raise NotRead(self.items[at].text)
        if not self.phrases and self.measure:
            self.phrases.append(Phrase(self.held_by(self.measure[1])))
        if not self.phrases:
            raise NotRead("?")
        main = self.each_of or self.phrases[0]
        for place, item in self.loose:
            self.attrs[place] = self.placed(item, main)
        request = Request(main, self.attrs, self.counted, distinct=self.distinct, keys=self.keys)
        if self.measure:
            request.measure = (self.measure[0], self.placed(self.measure[1], main))
        seen = [main, self.counted]
        request.others = [p for p in self.phrases if not any(p is s for s in seen)]
        if self.order:
            sorted_by, way = self.order
            first = self.placed(sorted_by, main) if sorted_by else (self.attrs[0] if self.attrs else None)
            if first is None:
                raise NotRead("order")
            request.order = (first, way)
        return request

    def placed(self, item: Item, main: Phrase) -> Attr:
        """A column with no owner said: of the main rows, else of the one table in sight that has it."""
        for phrase in [main, *self.phrases]:
            found = self.attr(item, phrase.table)
            if found:
                return found
        return self.seen_from(item, main.table)

    def seen_from(self, item: Item, table: str) -> Attr:
        """The column an item names in a table, or in the one table that it looks up and that has it."""
        found = self.attr(item, table)
        if found:
            return found
        there = dict.fromkeys(
            name for name, _, sure in item.columns if sure >= SURE and self.graph.look_up(table, name)
        )
        if len(there) != 1 or (table, next(iter(there))) in self.graph.twofold:
            raise NotRead(item.text)
        found = self.attr(item, next(iter(there)))
        assert found is not None
        return found

    def held_by(self, item: Item) -> str:
        """The one table that surely has a column of this name."""
        tables = list(dict.fromkeys(name for name, _, sure in item.columns if sure >= 0.9))
        if len(tables) != 1:
            raise NotRead(item.text)
        return tables[0]

    def heads(self, at: int) -> int:
        """What is asked for, one after the other."""
        while at < len(self.items):
            before = at
            at = self.head(self.skip(at, "&ws.bd" if at == 0 else "&ws.b"))
            if at == before:
                raise NotRead(self.items[at].text if at < len(self.items) else "?")
        return at

    def head(self, at: int) -> int:
        item = self.items[at] if at < len(self.items) else None
        if item is None:
            return at
        if item.letter == "E" and item.verb:
            raise NotRead(item.text)
        match item.letter:
            case "K":
                return self.count(at + 1)
            case "G" | "S" if self.letter(at + 1) == "C" and self.measure is None:
                self.measure = (item.op, self.items[at + 1])
                return self.owner(at + 2, [])
            case "y" | "e" if self.measure is not None and self.letter(self.skip(at + 1, "e")) in "CE":
                return self.grouped(self.skip(at + 1, "e"))
            case "C":
                return self.columns(at)
            case "o" | "a" | "D":
                return self.ordered(at)
            case "P" | "v" | "p" if at and self.letter(at + 1) in "CEPvpK":
                return at + 1
            case "d":
                self.distinct = True
                return at + 1
            case "e" if self.letter(at + 1) in "&.$h" and self.phrases:
                return at + 1 + (self.letter(at + 1) == "h")
            case "E" | "e" | "Z" | "V" | "p" if item.letter != "p" or self.letter(at + 1) in "eEZV":
                return self.entity(self.skip(at, "p"))
            case "N" if self.letter(at + 1) == "E":
                return self.entity(at)
            case "v" | "P" if at + 1 == len(self.items):
                return at + 1
        raise NotRead(item.text)

    def count(self, at: int) -> int:
        at = self.skip(at, "dp")
        if self.counted is not None or self.letter(at) not in "EZV":
            raise NotRead("count")
        phrase, end = self.phrase(at)
        self.counted = phrase
        self.phrases.append(phrase)
        for relation in list(phrase.relations):
            if relation.phrase.each and relation.how == "some":
                phrase.relations.remove(relation)
                self.each_of = self.each_of or self.same(relation.phrase)
        if self.letter(end) == "e" and self.letter(end + 1) in "$.&h" and len(self.phrases) > 1:
            end += 1 + (self.letter(end + 1) == "h")
        elif self.letter(end) == "e" and self.letter(end + 1) in "EZV":
            held, end = self.phrase(end)
            self.each_of = self.joined(held)
        return end

    def same(self, phrase: Phrase) -> Phrase:
        """The phrase of the same rows that was named before, else this one."""
        for earlier in self.phrases:
            if earlier.table == phrase.table and phrase.plain and earlier is not self.counted:
                return earlier
        if phrase not in self.phrases:
            self.phrases.append(phrase)
        return phrase

    def columns(self, at: int) -> int:
        """A list of columns, then whose they are."""
        taken: list[Item] = []
        while self.letter(at) == "C":
            taken.append(self.items[at])
            after = self.skip(at + 1, "&")
            if self.letter(after) != "C":
                at += 1
                break
            if self.letter(after + 1) == "p" or after > at + 1:
                at = after
            else:
                at = after
        return self.owner(at, taken)

    def grouped(self, at: int) -> int:
        """`by product category`, `by engine type of the plane`, `by customer segment`, `by product`."""
        table, end = None, at
        if self.letter(at) == "E":
            table = self.table_of(self.items[at])
            end = self.skip(at + 1, "b") if self.letter(self.skip(at + 1, "b")) == "C" else at + 1
        if self.letter(end) != "C":
            name = label(self.graph.tables[table or ""], self.lex)
            if name is None:
                raise NotRead(self.items[at].text)
            self.keys.append(Attr(table or "", name))
            return end
        column = self.items[end]
        end += 1
        if self.letter(end) == "C" and self.lex.lemma(self.items[end].text.lower()) in KINDS:
            end += 1
        owner = self.skip(end, "p")
        if table is None and owner > end and self.letter(owner) == "E":
            table, end = self.table_of(self.items[owner]), owner + 1
        held = [table] if table else list(dict.fromkeys(name for name, _, sure in column.columns if sure >= 0.9))
        found = [attr for name in held if (attr := self.attr(column, name))]
        if len(found) != 1:
            raise NotRead(column.text)
        self.keys.append(found[0])
        return end

    def owner(self, at: int, taken: list[Item]) -> int:
        """`of the owners …` after columns: the phrase is theirs; else they wait for the main rows."""
        begin = len(self.attrs)
        here = self.skip(at, "pP") if self.letter(at) in "pe" else at
        if (here > at and self.letter(here) in "eEZV") or (self.letter(at) == "e" and self.letter(at + 1) in "EZV"):
            phrase, end = self.phrase(here)
            phrase = self.joined(phrase)
            self.attrs += [self.seen_from(item, phrase.table) for item in taken]
            return end
        for item in taken:
            self.loose.append((len(self.attrs), item))
            self.attrs.append(Attr("", item.text))
        return at if begin <= len(self.attrs) else begin

    def joined(self, phrase: Phrase) -> Phrase:
        """Adds a phrase to the request, or finds it there already."""
        for earlier in self.phrases:
            if earlier.table == phrase.table and phrase.plain:
                return earlier
            if earlier.table == phrase.table and earlier.plain and earlier is not self.counted:
                earlier.conditions, earlier.relations, earlier.top = phrase.conditions, phrase.relations, phrase.top
                return earlier
            if earlier.table == phrase.table:
                raise NotRead(phrase.table)
        self.phrases.append(phrase)
        return phrase

    def entity(self, at: int) -> int:
        """A thing named in the head: `each owner's first name`, `singer names`, or the rows themselves by their label."""
        start = self.skip(at, "e")
        here = start
        if self.letter(here) == "E":
            after = (
                self.skip(here + 1, "b")
                if here + 1 < len(self.items) and self.items[here + 1].text == "'s"
                else here + 1
            )
            if self.letter(after) == "C":
                table = self.table_of(self.items[here])
                if self.attr(self.items[after], table):
                    phrase = self.joined(Phrase(table))
                    end = after
                    while self.letter(end) == "C" and (found := self.attr(self.items[end], table)):
                        self.attrs.append(found)
                        nxt = self.skip(end + 1, "&")
                        if self.letter(nxt) != "C" or not self.attr(self.items[nxt], table):
                            end += 1
                            break
                        end = nxt
                    return self.more(end, phrase)
        phrase, end = self.phrase(at)
        leading = self.letter(at - 1) == "e" or phrase.each or (at and self.letter(at - 1) == "p" and not self.phrases)
        known = any(p.table == phrase.table for p in self.phrases)
        phrase = self.joined(phrase)
        if leading and not known and self.letter(end) == "&":
            self.each_of = phrase
            return end
        shown = [attr for attr in self.attrs if attr.table == phrase.table]
        if not shown and not known and not self.later_columns(end):
            names = identity(self.graph.tables[phrase.table], self.graph, self.lex)
            self.attrs += [Attr(phrase.table, name) for name in names]
        return end

    def later_columns(self, at: int) -> bool:
        """True when a second sentence says which columns are wanted."""
        return any(item.letter == "." for item in self.items[at:]) and any(i.letter == "C" for i in self.items[at:])

    def more(self, at: int, phrase: Phrase) -> int:
        """What is said of a phrase after its columns: `singer names in concerts in 2014`."""
        if self.letter(at) in "pwh!" and self.letter(self.skip(at, SOFT + "!")) in "eEVNCZ>S":
            return self.said(at, phrase)
        return at

    def ordered(self, at: int) -> int:
        letter, way = self.letter(at), self.items[at].op or "asc"
        if letter == "o" and self.letter(at + 1) == "a":
            at, letter = at + 1, "a"
        if letter == "D" or letter == "a" or letter == "o":
            nxt = self.skip(at + 1, "pya")
            if self.letter(nxt) == "E" and self.letter(self.skip(nxt + 1, "b")) == "C":
                nxt = self.skip(nxt + 1, "b")
            if self.letter(nxt) == "C":
                self.order = (self.items[nxt], way)
                after = self.skip(nxt + 1, "p")
                return after + 1 if after > nxt + 1 and self.letter(after) == "E" else nxt + 1
            self.order = (None, way)
            return nxt
        raise NotRead(self.items[at].text)


def read(items: Sequence[Item], graph: Graph, lex: Lexicon) -> Request:
    """The request that the items make. Raises NotRead."""
    return Grammar(items, graph, lex).read()
