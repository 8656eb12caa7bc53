"""Reads a row of nodes as a question: what is asked, of which groups, in which order, how many."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from qa.planner.offline import formula as write
from qa.planner.offline.conditions import Conditions, measured_column
from qa.planner.offline.expressions import expressions
from qa.planner.offline.index import TableIndex, unique_values
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.link import Link, Linker
from qa.planner.offline.nodes import Filter, Node, letters, nodes
from qa.planner.offline.query import Query
from qa.planner.offline.text import header_words
from qa.types import Column, Kind, Role

ADDITIVE = frozenset({None, Role.CURRENCY, Role.COUNT})
NAMES = {"mean": "mean", "sum": "total", "median": "median", "min": "min", "max": "max", "std": "std", "var": "var", "mode": "mode",
         "iqr": "iqr", "skew": "skew", "kurtosis": "kurtosis"}  # fmt: skip
MOST_ALTERNATIVES = 6
FEW = 25
"""a numeric column with at most this many distinct values is read as categories in a distribution"""
DEFAULT_TOP = 10
MOSTLY = frozenset({"most", "the most", "fewest", "least", "the least"})


class NotRead(Exception):
    """This way of reading the question does not hold together; `words` are what it could not place."""

    def __init__(self, *words: str) -> None:
        super().__init__(", ".join(words))
        self.words = words


@dataclass
class Asked:
    """What the words between the conditions say, by the part they play."""

    targets: list[Node] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)
    metrics: list[tuple[str, Node | None]] = field(default_factory=list)
    supers: list[tuple[str, str, Node | None]] = field(default_factory=list)
    """(max or min, what: column/count/aggregate name, its column)"""
    counts: list[tuple[bool, Node | None]] = field(default_factory=list)
    """(distinct, what is counted)"""
    orders: list[tuple[Node | None, str]] = field(default_factory=list)
    limit: int | None = None
    top: bool = False
    wh: list[str] = field(default_factory=list)
    distinct: bool = False
    each_row: bool = False
    trend: bool = False
    rows: bool = False
    value: bool = False
    sort: bool = False
    subject: bool = False
    first: str = ""
    said_total: bool = False


def readings(linker: Linker, lex: Lexicon, cover: Sequence[Link], score: float) -> list[Query]:
    """Every way to read one cover, each with its score; unread words are on the query."""
    conditions = Conditions(linker, lex)
    row = conditions.run(expressions(linker, nodes(cover)))
    found = []
    choices = [node.filters for node in row if node.letter == "F"]
    for picked in itertools.islice(itertools.product(*choices), MOST_ALTERNATIVES):
        filters = [f for alternative in picked for f in alternative]
        try:
            query = Reader(linker, lex, [replace(node) for node in row], picked, conditions).read()
        except NotRead as refused:
            query = Query(linker.index.table.name, unused=list(refused.words) or ["?"])
        query.score += score + sum(f.rank for f in filters)
        found.append(query)
    return found


class Reader:
    """Reads one row of nodes with one choice of conditions."""

    def __init__(
        self, linker: Linker, lex: Lexicon, row: list[Node], picked: Sequence[list[Filter]], conditions: Conditions
    ) -> None:
        self.linker, self.lex, self.index, self.row = linker, lex, linker.index, row
        self.conditions = conditions
        self.picked = list(picked)
        self.filters = [f for alternative in picked for f in alternative]
        self.query = Query(linker.index.table.name)

    # what things are called
    def column(self, node: Node) -> Column:
        """The one column a node names; refuses when two fit equally well."""
        if len(node.columns) > 1 and node.columns[0][1] - node.columns[1][1] < 0.05:
            raise NotRead(node.text)
        return self.linker.column(node.columns[0][0])

    def name(self, column: Column) -> str:
        """The column as a formula writes it; a derived one is derived first."""
        derived = self.linker.virtual.get(column.id)
        if derived:
            made = f"{derived[1]} as {write.name(column.name)}"
            if made not in self.query.derive:
                self.query.derive.append(made)
        return write.name(column.name)

    # the whole
    def read(self) -> Query:
        from qa.planner.offline import special

        self._refuse_leftovers()
        query = special.read(self)
        if query is None:
            query = self._general()
        query.notes += [f.note for f in self.filters if f.note]
        query.score += sum(s for n in self.row if n.letter == "C" for s in [n.columns[0][1] - 1.0])
        return query

    def _refuse_contradictions(self) -> None:
        """Two different values asked of one column at once: some reading of the sentence went wrong."""
        held: dict[str, set[tuple[object, ...]]] = {}
        for f in self.filters:
            if f.op in ("=", "is") and len(set(f.columns)) == 1:
                held.setdefault(f.columns[0], set()).add(f.values)
        both = (
            "both" in self.linker.folded
            and any(len(f.sides) > 1 for f in self.filters)
            and not any(n.letter in "Gv" for n in self.row)
        )
        if both or any(len(values) > 1 for values in held.values()):
            raise NotRead(*[f.said for f in self.filters])

    def _refuse_leftovers(self) -> None:
        left = [
            n.text
            for n in self.row
            if n.letter in "?VQDM~z" or (n.letter == "0" and not any(m.letter == "k" for m in self.row))
        ]
        if left:
            raise NotRead(*left)

    def _general(self) -> Query:
        self._refuse_contradictions()
        self.row = self._merged(self.row)
        asked = self._asked([n for n in self.row if n.letter != "F"])
        query = self.query
        query.filters = self.filters
        literal_row = any(n.letter == "n" and n.word in ("row", "record", "line") for n in self.row)
        if asked.each_row and (asked.counts or asked.metrics) and not asked.keys and not literal_row:
            raise NotRead("each")
        self._refuse_loose_words(asked)
        for build in (self._groups_having, self._superlative, self._aggregate, self._count, self._rows):
            if build(asked):
                return self._drawn(self.query)
        raise NotRead("?")

    def _drawn(self, query: Query) -> Query:
        """The query with the chart that was asked for."""
        kind = next((n.op for n in self.row if n.letter == "s" and n.link.tag("CHART")), "")
        if kind and kind != "auto" and query.keys and query.metrics:
            query.chart = {"kind": kind, "x": query.keys[0][1], "y": [name for _, name in query.metrics], "color": None}
        return query

    def _refuse_loose_words(self, asked: Asked) -> None:
        """`the name and the director` where only the director is a column: the other was asked for too."""
        for at, node in enumerate(self.row):
            beside = [self.row[n].letter for n in (at - 1, at + 1) if 0 <= n < len(self.row)]
            if node.letter == "l" and node.word in self.lex.attributes and self._changes(at):
                raise NotRead(node.text)
            if node.letter == "l" and any(letter in "&," for letter in beside) and asked.targets:
                joined = at + 2 < len(self.row) and self.row[at + 1].letter in "&," and self.row[at + 2].letter == "C"
                joined = joined or (at >= 2 and self.row[at - 1].letter in "&," and self.row[at - 2].letter == "C")
                if joined:
                    raise NotRead(node.text)

    def _changes(self, at: int) -> bool:
        """True when `name` or `date` stands behind a column that is only partly said: `customer name` is not `customer_id`."""
        before = self.row[at - 1] if at else None
        if before is None or before.letter != "C" or before.link.last != self.row[at].link.first - 1:
            return False
        return before.columns[0][1] < 0.85

    def _groups_having(self, asked: Asked) -> bool:
        """`grades that have at least 4 students`: groups with so many rows."""
        having = [n for n in self.row if n.letter == "J"]
        if not having:
            return False
        targets = [t for t in asked.targets if t.letter == "C"]
        if len(having) != 1 or len(targets) != 1 or asked.metrics or asked.supers or len(asked.counts) > 1:
            raise NotRead(having[0].text)
        column = self.column(targets[0])
        query = self.query
        query.keys, query.metrics = [(self.name(column), column.name)], [("count()", "rows")]
        query.having = f"rows {having[0].op} {write.number(having[0].numbers[0])}"
        query.show = [self.name(column)]
        if asked.counts:
            raise NotRead(having[0].text)
        return True

    def _merged(self, row: list[Node]) -> list[Node]:
        """One node for a column that is named twice in a row: `fuel efficiency (mpg)`."""
        out: list[Node] = []
        for node in row:
            back = len(out) - 1
            while back >= 0 and out[back].letter in "pwlb" and len(out) - back < 4:
                back -= 1
            if node.letter == "C" and back >= 0 and out[back].letter == "C":
                first, second = dict(out[back].columns), dict(node.columns)
                both = [id for id in first if id in second]
                if len(both) == 1 and (first[both[0]] >= 0.6 or second[both[0]] >= 0.6):
                    out[back] = Node("C", out[back].links, columns=((both[0], max(first[both[0]], second[both[0]])),))
                    continue
            out.append(node)
        return out

    def _asked(self, row: list[Node]) -> Asked:
        asked = Asked()
        at = 0
        while at < len(row):
            step = self._take.get(row[at].letter)
            at = step(self, row, at, asked) if step else at + 1
        return asked

    # one function a letter: takes what belongs to it, gives the next place
    def _take_column(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.targets.append(row[at])
        return at + 1

    def _take_wh(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.wh.append(row[at].op)
        return at + 1

    def _take_row(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.rows = True
        return at + 1

    def _take_distinct(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.distinct = True
        return at + 1

    def _take_count(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = _skip(row, at + 1, "ol")
        if nxt < len(row) and row[nxt].letter in "GS":
            return nxt
        distinct = nxt < len(row) and row[nxt].letter == "u"
        nxt = _skip(row, nxt + 1, "ol") if distinct else nxt
        if nxt < len(row) and row[nxt].letter == "C":
            asked.counts.append((distinct, row[nxt]))
            asked.subject = nxt + 1 < len(row) and row[nxt + 1].letter == "h"
            asked.said_total = "total" in row[at].word or (
                row[at].word.startswith("number") and at > 0 and row[at - 1].letter == "s"
            )
            end = nxt + 1
            while distinct and end + 1 < len(row) and row[end].letter in "&," and row[end + 1].letter == "C":
                asked.counts.append((True, row[end + 1]))
                end += 2
            return end
        if nxt < len(row) and row[nxt].letter == "@":
            raise NotRead(row[nxt].text)
        asked.counts.append((distinct, None))
        if nxt < len(row) and row[nxt].letter == "n":
            asked.rows = True
            after = _skip(row, nxt + 1, "n")
            if (
                after < len(row)
                and row[after].letter == "C"
                and self._numeric(row[after])
                and row[after].columns[0][1] >= 0.6
            ):
                asked.counts[-1] = (distinct, row[after])
                return after + 1
            return after
        return at + 1

    def _take_aggregate(self, row: list[Node], at: int, asked: Asked) -> int:
        functions = [row[at].op]
        nxt = at + 1
        while nxt < len(row) and row[nxt].letter in ",&":
            after = _skip(row, nxt, ",&")
            if after >= len(row) or row[after].letter not in "GS":
                break
            functions.append(row[after].op)
            nxt = after + 1
        nxt = _skip(row, nxt, "okuln" if nxt < len(row) and row[nxt].letter == "k" else "ou")
        columns, end = self._column_list(row, nxt)
        for place, node in enumerate(columns[1:], 1):
            if self._is_text(node):
                columns, end = columns[:place], self.row_place(row, columns[place])
                break
        if not columns:
            asked.metrics += [(fn, None) for fn in functions]
            return max(at + 1, nxt if nxt > at + 1 and row[nxt - 1].letter == "G" else at + 1)
        asked.metrics += [(fn, node) for node in columns for fn in functions]
        return end

    def row_place(self, row: list[Node], node: Node) -> int:
        return next(n for n, other in enumerate(row) if other is node)

    def _column_list(self, row: list[Node], at: int) -> tuple[list[Node], int]:
        found: list[Node] = []
        while at < len(row) and row[at].letter == "C":
            found.append(row[at])
            nxt = _skip(row, at + 1, ",&")
            if nxt > at + 1 and nxt < len(row) and row[nxt].letter == "C":
                at = nxt
            else:
                return found, at + 1
        return found, at

    def _take_super(self, row: list[Node], at: int, asked: Asked) -> int:
        direction = row[at].op
        self._number_before(row, at, asked)
        nxt = _skip(row, at + 1, "o")
        if nxt < len(row) and row[nxt].letter == "#" and asked.limit is None:
            asked.limit = int(row[nxt].numbers[0])
            nxt = _skip(row, nxt + 1, "o")
        if nxt < len(row) and row[nxt].letter == "G":
            after = _skip(row, nxt + 1, "oku")
            if after < len(row) and row[after].letter == "C":
                asked.supers.append((direction, row[nxt].op, row[after]))
                return after + 1
            asked.supers.append((direction, row[nxt].op, None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "k":
            after = _skip(row, nxt + 1, "o")
            if after < len(row) and row[after].letter == "C" and self._measures(row[after]):
                asked.supers.append((direction, "column", row[after]))
                return after + 1
            asked.supers.append(
                (direction, "count", row[after] if after < len(row) and row[after].letter == "C" else None)
            )
            return after + 1 if after < len(row) and row[after].letter in "Cnl" else after
        if (
            nxt < len(row)
            and row[nxt].letter == "C"
            and self.is_id(self.linker.column(row[nxt].columns[0][0]))
            and row[at].word in ("most", "the most", "fewest", "least")
        ):
            asked.supers.append((direction, "count", None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "C":
            rate = nxt + 1 < len(row) and row[nxt + 1].link.tag("RATE") is not None and row[nxt + 1].letter == "%"
            asked.supers.append((direction, "rate" if rate else "column", row[nxt]))
            return nxt + 1 + rate
        if nxt + 1 < len(row) and row[nxt].letter == "l" and row[nxt + 1].letter == "C" and self._numeric(row[nxt + 1]):
            nxt += 1
            asked.supers.append((direction, "column", row[nxt]))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter in "nl":
            asked.supers.append((direction, "count", None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "@":
            raise NotRead(row[nxt].text)
        asked.supers.append((direction, "open", None))
        return at + 1

    def _take_adjective(self, row: list[Node], at: int, asked: Asked) -> int:
        said = row[at].link.tag("SUPOF") or ""
        direction, groups = self.lex.superlatives[tuple(said.split())][0], self.lex.superlatives[tuple(said.split())][1]
        self._number_before(row, at, asked)
        nxt = at + 1
        if nxt < len(row) and row[nxt].letter == "C" and self._about(row[nxt], groups):
            asked.value = True
            asked.supers.append((direction, "column", row[nxt]))
            return nxt + 1
        id = measured_column(self.index, self.lex, groups)
        if id is None:
            raise NotRead(row[at].text)
        unit = nxt
        while unit < len(row) and row[unit].letter != "p":
            unit += 1
        if unit + 1 < len(row) and row[unit + 1].letter == "C" and row[unit + 1].columns[0][0] == id:
            asked.value = True
        self.query.notes.append(
            f"{said} = {'highest' if direction == 'max' else 'lowest'} {self.linker.column(id).name}"
        )
        asked.supers.append((direction, "column", Node("C", row[at].links, columns=((id, 0.9),))))
        return nxt

    def _about(self, node: Node, groups: Sequence[Sequence[str]]) -> bool:
        """True when a column is what the adjective measures: `heaviest whole weight`, `earliest year`."""
        column = self.linker.column(node.columns[0][0])
        wanted = {self.lex.root(w) for group in groups for word in group for w in word.split()}
        named = {self.lex.root(w) for w in header_words(column.name)}
        return column.kind is not Kind.TEXT and bool(wanted & named)

    def _take_top(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.top = True
        nxt = at + 1
        if nxt < len(row) and row[nxt].letter == "#":
            asked.limit = int(row[nxt].numbers[0])
            nxt += 1
        asked.supers.append((row[at].op, "top", None))
        return nxt

    def _number_before(self, row: list[Node], at: int, asked: Asked) -> None:
        if at and row[at - 1].letter == "#" and asked.limit is None:
            asked.limit = int(row[at - 1].numbers[0])

    def _take_limit(self, row: list[Node], at: int, asked: Asked) -> int:
        return at + 1

    def _take_sort(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.sort = True
        return at + 1

    def _take_each(self, row: list[Node], at: int, asked: Asked) -> int:
        if row[at].letter == "y" and self._passive(row, at):
            return at + 1
        if at + 1 < len(row) and row[at + 1].letter == "@" and (at + 2 == len(row) or row[at + 2].letter != "C"):
            raise NotRead(row[at + 1].text)
        nxt = _skip(row, at + 1, "oxulhek@" if row[at].letter != "y" else "oxulk")
        if asked.sort and nxt < len(row) and row[nxt].letter == "C":
            asked.sort = False
            asked.orders.append((row[nxt], "asc"))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "C":
            columns, end = self._column_list(row, nxt)
            asked.keys += columns
            return end
        if nxt < len(row) and row[nxt].letter == "g":
            asked.keys.append(row[nxt])
            return nxt + 1
        if nxt + 2 < len(row) and row[nxt].letter in "nl" and row[nxt + 1].letter == "o" and row[nxt + 2].letter == "C":
            asked.keys.append(row[nxt + 2])
            return nxt + 3
        if nxt < len(row) and row[nxt].letter == "n":
            if row[at].letter == "y":
                raise NotRead(row[nxt].text)
            asked.each_row = True
            return nxt + 1
        if row[at].letter == "y":
            raise NotRead(row[at].text)
        asked.each_row = True
        return at + 1

    def _passive(self, row: list[Node], at: int) -> bool:
        """True for `won by all teams`: the word before is what they did."""
        place = row[at].link.first - 1
        word = self.linker.folded[place] if place >= 0 else ""
        return word.endswith(("ed", "wn", "ten")) or self.lex.irregular.get(word) in (
            "win",
            "make",
            "give",
            "hold",
            "take",
            "sell",
            "write",
        )

    def _take_order(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = _skip(row, at + 1, "nlkopbu")
        if nxt < len(row) and row[nxt].letter == "C":
            direction = row[at].op
            end = nxt + 1
            look = _skip(row, end, ",pb")
            if look < len(row) and row[look].letter == "d":
                direction, end = row[look].op, look + 1
            asked.orders.append((row[nxt], direction))
            return end
        if nxt < len(row) and row[nxt].letter == "d":
            after = _skip(row, nxt + 1, "op")
            if after < len(row) and row[after].letter == "C":
                asked.orders.append((row[after], row[nxt].op))
                return after + 1
        raise NotRead(row[at].text)

    def _take_direction(self, row: list[Node], at: int, asked: Asked) -> int:
        if asked.orders:
            asked.orders[-1] = (asked.orders[-1][0], row[at].op)
            return at + 1
        if row[at].word.endswith("first"):
            asked.first = row[at].op
            return at + 1
        nxt = _skip(row, at + 1, "oy")
        if nxt < len(row) and row[nxt].letter == "C":
            asked.orders.append((row[nxt], row[at].op))
            return nxt + 1
        raise NotRead(row[at].text)

    def _take_alpha(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = _skip(row, at + 1, "oyp")
        if nxt < len(row) and row[nxt].letter == "C":
            asked.orders.append((row[nxt], "asc"))
            return nxt + 1
        asked.orders.append((None, "asc"))
        return at + 1

    def _take_trend(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.trend = True
        return at + 1

    def _take_grain(self, row: list[Node], at: int, asked: Asked) -> int:
        before = row[at - 1].letter if at else ""
        if row[at].word.endswith(("ly", "annual")):
            asked.keys.append(row[at])
            return at + 1
        if before in ("w", "p", "S") or (before == "" and asked.wh):
            asked.targets.append(row[at])
            return at + 1
        raise NotRead(row[at].text)

    def _refuse(self, row: list[Node], at: int, asked: Asked) -> int:
        raise NotRead(row[at].text)

    _take = {
        "C": _take_column, "w": _take_wh, "n": _take_row, "u": _take_distinct, "k": _take_count, "G": _take_aggregate,
        "S": _take_super, "Z": _take_adjective, "t": _take_top, "N": _refuse, "e": _take_each, "y": _take_each,
        "x": _take_each, "#": _take_limit, "^": _take_sort,
        "r": _take_order, "d": _take_direction, "L": _take_alpha, "f": _take_trend, "g": _take_grain, "O": _refuse,
        "/": _refuse, "c": _refuse, "H": _refuse, "-": _refuse, "5": _refuse, "6": _refuse, "*": _refuse,
        "P": _refuse, "1": _refuse, "W": _refuse, "j": _refuse, "R": _refuse, "B": _refuse, "m": _refuse, ">": _refuse,
        "A": _refuse, "!": _refuse, "Y": _refuse, "v": _refuse, "q": _refuse, "T": _refuse, "%": _refuse, "0": _refuse, "E": _refuse,
    }  # fmt: skip

    # kinds of columns
    def _numeric(self, node: Node) -> bool:
        return node.letter == "C" and self.linker.column(node.columns[0][0]).kind.numeric

    def _measures(self, node: Node) -> bool:
        return self._numeric(node) and not self.is_id(self.linker.column(node.columns[0][0]))

    def _is_text(self, node: Node) -> bool:
        return self.linker.column(node.columns[0][0]).kind is Kind.TEXT

    def measurable(self, node: Node) -> Column:
        """The numeric column a node names; refuses any other."""
        numeric = [(id, s) for id, s in node.columns if self.linker.column(id).kind.numeric]
        column = self.column(Node(node.letter, node.links, columns=tuple(numeric)) if numeric else node)
        looked_up = column.owner not in (None, self.index.table.name)
        if not column.kind.numeric or self.is_id(column) or looked_up:
            raise NotRead(node.text)
        return column

    def is_id(self, column: Column) -> bool:
        """True for a number that only names things."""
        return column.role is Role.ID or header_words(column.name)[-1:] == ["id"]

    def key(self, node: Node) -> tuple[str, str]:
        """A group key: a column, or a date cut to a grain."""
        if node.letter == "g":
            return self.grain(node.op)
        column = self.column(node)
        if column.kind.temporal:
            said = self.lex.lemma(node.word.split()[-1])
            if said in ("year", "month", "week", "quarter") and said not in header_words(column.name):
                return self.grain(said)
        return (self.name(column), column.name)

    def grain(self, unit: str) -> tuple[str, str]:
        """The one date column cut to years, months, weeks …; an integer year column serves for years."""
        dates = [c for c in self.index.columns if c.kind.temporal]
        named = [c for c in dates if any(n.letter == "C" and n.columns[0][0] == c.id for n in self.row)]
        dates = named if len(named) == 1 else dates
        years = [c for c in self.index.columns if c.role is Role.YEAR]
        if unit in ("year", "decade") and not dates and len(years) == 1:
            name = self.name(years[0])
            return (name, years[0].name) if unit == "year" else (f"{name} // 10 * 10", "decade")
        if len(dates) != 1:
            raise NotRead(unit)
        name = self.name(dates[0])
        formulas = {
            "year": f"year({name})",
            "weekday": f"weekday_name({name})",
            "hour": f"hour({name})",
            "decade": f"year({name}) // 10 * 10",
        }
        formula = formulas.get(unit, f"trunc({name}, '{unit}')")
        taken = {c.name.lower() for c in self.index.columns} - {dates[0].name.lower()}
        return (formula, unit if unit not in taken else f"{unit} of {dates[0].name}")

    # metrics
    def metric(self, function: str, node: Node) -> tuple[str, str]:
        """An aggregate of the column a node names, as (formula, name)."""
        if function in ("min", "max"):
            column = self.column(node)
            if column.kind in (Kind.BOOLEAN, Kind.LIST):
                raise NotRead(node.text)
        else:
            column = self.measurable(node)
        return self.aggregate(function, column)

    def aggregate(self, function: str, column: Column) -> tuple[str, str]:
        name = self.name(column)
        if function == "range":
            return (f"max({name}) - min({name})", f"range of {column.name}")
        if function not in NAMES:
            raise NotRead(function)
        return (f"{function}({name})", f"{NAMES[function]} {column.name}")

    def _rate(self, node: Node) -> tuple[str, str]:
        column = self.linker.column(node.columns[0][0])
        if column.id not in self.index.yes:
            raise NotRead(node.text)
        truth = self.conditions.truth(column.id, True, node.text)
        self.query.notes.append(f"rate = share of rows with {truth.formula}")
        return (f"share_of_rows({truth.formula})", f"{column.name} rate")

    # superlatives
    def _superlative(self, asked: Asked) -> bool:
        if not asked.supers:
            return False
        supers = self._settle(asked)
        if len(supers) != 1:
            return self._extremes(asked, supers)
        direction, what, node = supers[0]
        if asked.metrics:
            raise NotRead(asked.metrics[0][0])
        targets = [t for t in asked.targets if node is None or t.letter != "C" or t.columns[0][0] != node.columns[0][0]]
        mentioned = len(targets) < len(asked.targets)
        if what == "column" and node is not None:
            return self._super_column(asked, direction, node, targets, mentioned)
        keys = asked.keys or targets
        if asked.wh[:1] == ["who"] and any(k.letter != "C" or not self._is_text(k) for k in keys):
            raise NotRead("who")
        if not keys or (asked.keys and targets and len(asked.keys) > 1):
            raise NotRead("?")
        if not asked.keys and len(keys) > 1 and not self._coordinated(keys):
            raise NotRead(keys[-1].text)
        return self._super_groups(asked, direction, what, node, keys)

    def _settle(self, asked: Asked) -> list[tuple[str, str, Node | None]]:
        """Gives `top` and bare `highest` the measure that the other words name."""
        supers = [s for s in asked.supers if s[1] not in ("top", "open")]
        loose = [s for s in asked.supers if s[1] in ("top", "open")]
        if not loose:
            return supers
        if supers:
            return supers
        direction = loose[0][0]
        if asked.metrics and len(asked.metrics) == 1 and asked.metrics[0][1] is not None:
            fn, node = asked.metrics.pop()
            return [(direction, fn, node)]
        if asked.counts and not asked.counts[0][0]:
            asked.counts.pop()
            return [(direction, "count", None)]
        measures = [k for k in asked.keys if k.letter == "C" and self._numeric(k)]
        if loose[0][1] == "top" and len(measures) == 1:
            asked.keys.remove(measures[0])
            return [(direction, "column", measures[0])]
        numeric = [t for t in asked.targets if t.letter == "C" and self._numeric(t)]
        if len(numeric) == 1:
            return [(direction, "column", numeric[0])]
        raise NotRead("top" if asked.top else "?")

    def _extremes(self, asked: Asked, supers: list[tuple[str, str, Node | None]]) -> bool:
        """`the highest and the lowest X`: two numbers."""
        if asked.targets or asked.limit:
            raise NotRead("?")
        asked.metrics += [(d, node) for d, what, node in supers if what == "column"]
        return self._aggregate(asked) if len(asked.metrics) >= len(supers) else False

    def _super_column(self, asked: Asked, direction: str, node: Node, targets: list[Node], mentioned: bool) -> bool:
        column = self.linker.column(node.columns[0][0]) if node.columns else None
        column = self.column(node)
        if column.kind is Kind.TEXT:
            raise NotRead(node.text)
        query = self.query
        way = "desc" if direction == "max" else "asc"
        if asked.value and all(
            t.letter == "C" and unique_values(self.index.table, self.linker.column(t.columns[0][0])) for t in targets
        ):
            return self._super_value(asked, direction, column)
        person = [w for w in asked.wh if w in ("who", "where", "when")]
        if not targets and not asked.keys and person:
            targets = [self._asked_column(person[0], {column.id})]
        if asked.keys:
            return self._super_within(asked, direction, column, targets)
        if not targets or (mentioned and not self._wanted(targets, asked)):
            return self._super_value(asked, direction, column)
        chosen = [self.column(t) if t.letter == "C" else None for t in targets]
        if any(c is None for c in chosen):
            return self._super_groups(asked, direction, self._summary(column), node, targets)
        first = chosen[0]
        assert first is not None
        ranks = {"rank", "position", "place", "standing", "seed", "ranking"} & {
            self.lex.lemma(w) for w in header_words(column.name)
        }
        if ranks and direction in ("max", "min"):
            raise NotRead(node.text)
        most = any(n.letter == "S" and n.word in MOSTLY for n in self.row)
        repeats = not unique_values(self.index.table, first) and (first.kind is Kind.TEXT or first.role is Role.ID)
        if (
            len(chosen) == 1
            and repeats
            and self.additive(column)
            and (asked.limit or 1) == 1
            and not self._grouped(first, column, asked)
        ):
            rival = Reader(self.linker, self.lex, self.row, self.picked, self.conditions)
            rival._super_groups(replace(asked, counts=[]), direction, "sum", node, targets)
            rival.query.filters = rival.filters
            rival.query.notes = [f"total {column.name} of each {first.name}"]
            if most:
                rival.query.score += 0.0
                self.query = rival.query
                return True
            query.rivals.append(rival.query)
            query.notes.append(f"the single row with the {'highest' if direction == 'max' else 'lowest'} {column.name}")
        if len(chosen) == 1 and self._grouped(first, column, asked):
            return self._super_groups(asked, direction, self._summary(column), node, targets)
        query.columns = [self.name(c) for c in chosen if c]
        listed = [t for t in asked.targets if t.letter == "C" and t.columns[0][0] == column.id]
        if (listed and self._coordinated([*targets, *listed])) or (
            asked.top and any(n.letter == "y" for n in self.row)
        ):
            query.columns = list(dict.fromkeys([*query.columns, self.name(column)]))
        query.order, query.limit = [f"{self.name(column)} {way}"], asked.limit or (DEFAULT_TOP if asked.top else 1)
        query.ties = "keep" if query.limit == 1 else "cut"
        query.filters = [*query.filters]
        return True

    def _wanted(self, targets: list[Node], asked: Asked) -> bool:
        return any(not unique_values(self.index.table, self.column(t)) or True for t in targets if t.letter == "C")

    def _super_value(self, asked: Asked, direction: str, column: Column) -> bool:
        query = self.query
        lead = [n for n in self.row if n.letter not in "sF"][:2]
        whose = len(lead) == 2 and lead[0].letter in "wt" and lead[1].letter == "n"
        if whose and not asked.value and (asked.limit or 1) == 1 and not asked.top:
            raise NotRead(lead[1].text)
        if asked.top:
            asked.limit = asked.limit or DEFAULT_TOP
        if (asked.limit or 1) > 1:
            query.columns = [self.name(column)] if asked.value or not asked.rows else []
            query.order, query.limit = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"], asked.limit
            query.ties = "cut"
            return True
        adjective = any(n.letter == "Z" for n in self.row) and not asked.value
        if adjective and any(n.letter == "l" for n in self.row) and not asked.rows:
            raise NotRead("?")
        if adjective and (asked.rows or asked.top) and not any(t for t in asked.targets) and not asked.counts:
            query.order, query.limit = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"], 1
            return True
        query.metrics = [self.aggregate(direction, column)]
        return True

    def _grouped(self, target: Column, measure: Column, asked: Asked) -> bool:
        """True when `top markets by listings` means groups: the target repeats."""
        if target.kind.numeric and target.role not in (Role.ID, Role.YEAR):
            return False
        if unique_values(self.index.table, target):
            return False
        panel = any(c.kind.temporal for c in self.index.columns)
        return (asked.top and panel) or (panel and target.kind is Kind.TEXT)

    def _summary(self, column: Column) -> str:
        """How a measure is taken over the rows of a group when the question does not say."""
        words = header_words(column.name)
        rate = column.role not in ADDITIVE or bool(set(words) & {"median", "mean", "average", "avg", "price", "rate", "share", "ratio", "percent",
                                                                "pct", "inventory", "balance", "index", "score", "rating", "age", "days"})  # fmt: skip
        return "mean" if rate or (column.kind is Kind.NUMBER and not words) else "sum"

    def _super_groups(self, asked: Asked, direction: str, what: str, node: Node | None, keys: list[Node]) -> bool:
        query = self.query
        query.keys = list(dict.fromkeys(self.key(k) for k in keys))
        if what == "count":
            metric = ("count()", "rows")
        elif what == "rate" and node is not None:
            metric = self._rate(node)
        elif node is not None:
            metric = self.metric(what, node)
        else:
            raise NotRead(what)
        query.metrics = [metric]
        query.order = [f"{write.name(metric[1])} {'desc' if direction == 'max' else 'asc'}"]
        query.limit = asked.limit or (DEFAULT_TOP if asked.top else 1)
        query.ties = "keep" if query.limit == 1 else "cut"
        if not (asked.top or query.limit > 1 or asked.counts or asked.metrics):
            query.show = [write.name(name) for _, name in query.keys]
        if what in ("mean", "sum") and not any(n.letter == "G" for n in self.row):
            said = "average" if what == "mean" else "total"
            query.notes.append(f"{node.text if node else ''} of a group = {said} over its rows".strip())
        if asked.counts:
            query.show = None
        return True

    def _super_within(self, asked: Asked, direction: str, column: Column, targets: list[Node]) -> bool:
        query = self.query
        keys = [self.key(k) for k in asked.keys]
        plain = [name for _, name in keys]
        extra = [t for t in targets if t.letter == "C" and self.column(t).name not in plain]
        if not extra:
            query.keys, query.metrics = keys, [self.aggregate(direction, column)]
            return True
        if any(formula != write.name(name) for formula, name in keys):
            raise NotRead("?")
        query.order = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"]
        query.limit, query.limit_by = asked.limit or 1, [f for f, _ in keys]
        query.ties = "keep" if query.limit == 1 else "cut"
        query.columns = [*[f for f, _ in keys], *[self.name(self.column(t)) for t in extra], self.name(column)]
        return True

    # aggregates
    def _aggregate(self, asked: Asked) -> bool:
        if not asked.metrics:
            return False
        query = self.query
        metrics = []
        targets = list(asked.targets)
        for function, node in asked.metrics:
            if node is None and function == "sum" and asked.counts:
                continue
            if node is None and function == "sum" and not targets:
                raise NotRead("total")
            if node is None:
                numeric = [
                    t for t in targets if t.letter == "C" and (self._numeric(t) or function in ("min", "max", "mode"))
                ]
                if not numeric:
                    raise NotRead(function)
                node = numeric[0]
                targets.remove(node)
            if function == "mode":
                return self._mode(asked, node, "desc")
            made = self.metric(function, node)
            if made not in metrics:
                metrics.append(made)
        if not metrics:
            return False
        return self._finish_groups(asked, metrics, targets)

    def _finish_groups(self, asked: Asked, metrics: list[tuple[str, str]], targets: list[Node]) -> bool:
        query = self.query
        keys = list(dict.fromkeys(self.key(k) for k in asked.keys))
        if asked.trend and not keys:
            keys.append(self._time_key())
        keys = keys or self._compared(metrics)
        if asked.counts:
            metrics = [*metrics, ("count()", "rows")] if asked.counts[0][1] is None else metrics
        for target in targets:
            if target.letter != "C":
                raise NotRead(target.text)
            column = self.column(target)
            if (self.name(column), column.name) in keys:
                continue
            if self.stands_for_rows(target):
                continue
            if keys or (not asked.distinct and not self._category(column)):
                raise NotRead(target.text)
            raise NotRead(target.text)
        query.keys, query.metrics = keys, metrics
        self._order_groups(asked)
        return True

    def _compared(self, metrics: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """`the average age of men and women`: the two named values are groups."""
        if any(formula.startswith(("sum(", "count(")) for formula, _ in metrics):
            return []
        keys = []
        for node in self.row:
            if (
                node.letter == "F"
                and node.op == "and"
                and len(node.filters[0]) == 1
                and len(node.filters[0][0].values) > 1
            ):
                column = self.linker.column(node.filters[0][0].columns[0])
                keys.append((self.name(column), column.name))
        return keys

    def _order_groups(self, asked: Asked) -> None:
        """Sorts the groups as the words say; `highest first` is about the last measure."""
        if asked.first:
            self.query.order = [f"{write.name(self.query.metrics[-1][1])} {asked.first}"]
        for node, direction in asked.orders:
            if node is None:
                self.query.order = [f"{write.name(self.query.keys[0][1])} asc"] if self.query.keys else []
                continue
            column = self.column(node)
            names = [n for _, n in self.query.keys if n == column.name] or [
                n for _, n in self.query.metrics if n.endswith(column.name)
            ]
            if not names:
                raise NotRead(node.text)
            self.query.order.append(f"{write.name(names[0])} {direction}")

    def stands_for_rows(self, node: Node) -> bool:
        """`the average age of all singers`, where the word only names what a row is."""
        at = self.row.index(node) if node in self.row else 0
        back = at - 1
        while back >= 0 and self.row[back].letter == "F":
            back -= 1
        before = self.row[back].letter if back >= 0 else ""
        column = self.linker.column(node.columns[0][0])
        rowlike = unique_values(self.index.table, column) or column.role is Role.ID
        return rowlike and before in ("o", "p", "k", "e", "i") and node.text.lower() != column.name.lower()

    def _category(self, column: Column) -> bool:
        return column.kind in (Kind.TEXT, Kind.BOOLEAN)

    def _time_key(self) -> tuple[str, str]:
        years = [c for c in self.index.columns if c.role is Role.YEAR]
        dates = [c for c in self.index.columns if c.kind.temporal]
        if len(years) == 1 and not dates:
            return (self.name(years[0]), years[0].name)
        if len(dates) == 1:
            return (self.name(dates[0]), dates[0].name) if self._month_ends(dates[0]) else self.grain("month")
        raise NotRead("trend")

    def _month_ends(self, column: Column) -> bool:
        profile = next(p for p in self.index.table.profile.columns if p.name == column.name)
        return profile.distinct <= 400 and column.kind is Kind.DATE

    def _mode(self, asked: Asked, node: Node, way: str) -> bool:
        query = self.query
        column = self.column(node)
        query.keys, query.metrics = [(self.name(column), column.name)], [("count()", "rows")]
        query.filters = [*query.filters, Filter(f"{self.name(column)} is not null", (column.id,), node.text)]
        query.order, query.limit = [f"rows {way}"], asked.limit or 1
        query.ties = "keep" if query.limit == 1 else "cut"
        query.show = [self.name(column)] if query.limit == 1 else None
        return True

    # counts
    def _count(self, asked: Asked) -> bool:
        if not asked.counts:
            return False
        query = self.query
        keys = list(dict.fromkeys(self.key(k) for k in asked.keys))
        if asked.trend and not keys:
            keys.append(self._time_key())
        if all(distinct for distinct, _ in asked.counts) and all(n is not None for _, n in asked.counts):
            columns = [self.column(n) for _, n in asked.counts if n]
            query.metrics = [(f"count_distinct({self.name(c)})", f"distinct {c.name}") for c in columns]
            query.keys = keys
            return self._only_known(asked, keys)
        distinct, node = asked.counts[0]
        if node is not None and keys and not distinct and self._measures(node) and not self.stands_for_rows(node):
            column = self.measurable(node)
            if not self.additive(column) or node.columns[0][1] < 0.85:
                raise NotRead(node.text)
            query.notes.append(f"{column.name} added up in each group")
            return self._finish_groups(
                Asked(keys=asked.keys, orders=asked.orders, first=asked.first), [self.aggregate("sum", column)], []
            )
        if node is not None and not keys and self._measures(node) and not self.stands_for_rows(node):
            return self._amount(asked, node)
        query.keys, query.metrics = keys, [("count()", "rows")]
        if node is not None and not distinct:
            column = self.column(node)
            if (
                (self.name(column), column.name) in keys
                or unique_values(self.index.table, column)
                or self._noun_of_rows(column)
            ):
                pass
            elif column.kind is Kind.TEXT:
                once = Query(query.source, filters=list(query.filters), notes=[f"each {column.name} counted once"])
                once.metrics = [(f"count_distinct({self.name(column)})", f"distinct {column.name}")]
                if column.id in {id for f in query.filters for id in f.columns}:
                    raise NotRead(node.text)
                query.rivals.append(once)
                query.notes.append("rows counted")
            else:
                raise NotRead(node.text)
        self._only_known(asked, keys)
        self._order_groups(asked)
        return True

    def _noun_of_rows(self, column: Column) -> bool:
        return column.role is Role.ID

    def _only_known(self, asked: Asked, keys: list[tuple[str, str]]) -> bool:
        for target in asked.targets:
            if target.letter == "g":
                raise NotRead(target.text)
            column = self.column(target)
            if (self.name(column), column.name) in keys:
                continue
            if self.stands_for_rows(target):
                continue
            if (
                not keys
                and any(n.letter == "e" for n in self.row) is False
                and len(asked.targets) == 1
                and self._listed_with_count(target)
            ):
                self.query.keys.append((self.name(column), column.name))
                continue
            raise NotRead(target.text)
        return True

    def _listed_with_count(self, target: Node) -> bool:
        """`Show the citizenship and the number of singers`: the target is the group."""
        at = self.row.index(target)
        return (
            at + 2 < len(self.row)
            and self.row[at + 1].letter == "&"
            and any(n.letter == "k" for n in self.row[at + 1 : at + 4])
        )

    def _amount(self, asked: Asked, node: Node) -> bool:
        """`How many points does X have`: the number itself when one row is meant, else the sum."""
        query = self.query
        column = self.measurable(node)
        if asked.subject or asked.said_total:
            raise NotRead(node.text)
        others = [t for t in asked.targets if t.letter == "C" and not self.stands_for_rows(t)]
        if others:
            raise NotRead(others[0].text)
        if not query.filters:
            total = any(f == "sum" for f, _ in asked.metrics)
            if not total:
                raise NotRead(node.text)
            query.metrics = [self.aggregate("sum", column)]
            return True
        if self.additive(column):
            query.metrics = [self.aggregate("sum", column)]
            query.notes.append(f"{column.name} added up over the rows that match")
        else:
            query.columns = [self.name(column)]
        return True

    def additive(self, column: Column) -> bool:
        words = set(header_words(column.name))
        return (
            self._summary(column) == "sum"
            and column.role in ADDITIVE
            and not words & {"rank", "position", "pick", "no", "number", "#", "year", "round", "week", "per", "id"}
        )

    # rows
    def _rows(self, asked: Asked) -> bool:
        query = self.query
        targets = list(asked.targets)
        if any(node is None for _, node in asked.metrics):
            raise NotRead(asked.metrics[0][0])
        if asked.wh[:1] == ["who"] and any(t.letter == "C" and not self._is_text(t) for t in targets):
            raise NotRead(targets[0].text)
        used = {id for f in query.filters for id in f.columns}
        if asked.wh[:1] in (["who"], ["where"], ["when"]) and targets:
            first = next((n for n, node in enumerate(self.row) if node.letter == "F"), len(self.row))
            if targets[0] in self.row and self.row.index(targets[0]) > first and self.row[0].letter == "w":
                raise NotRead(targets[0].text)
        question = [w for w in asked.wh if w in ("who", "where", "when")]
        if not targets and question:
            targets = [self._asked_column(question[0], used)]
        if (asked.trend or asked.keys) and not asked.orders and self._summed(asked, targets):
            return True
        if asked.trend or asked.first:
            raise NotRead("trend" if asked.trend else "first")
        if not targets and self._asks_person():
            targets = [self._asked_column("who", used)]
        if any(t.letter != "C" for t in targets):
            raise NotRead(targets[0].text)
        if asked.keys and (asked.metrics or not targets):
            targets += [k for k in asked.keys if k.letter == "C"]
        elif asked.keys:
            targets = [*[k for k in asked.keys if k.letter == "C"], *targets]
        if not targets and not asked.rows and not query.filters:
            raise NotRead("?")
        columns = list(dict.fromkeys(self.name(self.column(t)) for t in targets))
        if len(columns) > 1 and not self._coordinated(targets):
            kept = [t for t in targets if not self.stands_for_rows(t)]
            if kept and len(kept) < len(targets) and self._coordinated(kept):
                columns = list(dict.fromkeys(self.name(self.column(t)) for t in kept))
            else:
                raise NotRead(*[t.text for t in targets[1:]])
        query.columns, query.distinct = columns, asked.distinct
        for node, direction in asked.orders:
            if node is None and not columns:
                raise NotRead("alphabetically")
            name = columns[0] if node is None else self.name(self.column(node))
            query.order.append(f"{name} {direction}")
        if not columns and not (self._lists_rows(asked) and (query.filters or query.order)):
            raise NotRead("?")
        return True

    def _summed(self, asked: Asked, targets: list[Node]) -> bool:
        """`new listings by state`, `how has the price changed over time`: a measure without its aggregate."""
        numeric = [t for t in targets if self._measures(t)]
        if len(numeric) != 1 or len(targets) != 1:
            return False
        column = self.measurable(numeric[0])
        function = self._summary(column)
        self.query.notes.append(
            f"{column.name} taken as its {'average' if function == 'mean' else 'total'} in each group"
        )
        asked.targets = []
        return self._finish_groups(asked, [self.aggregate(function, column)], [])

    def _asks_person(self) -> bool:
        """`which player …` where no column is called player: the column of names answers."""
        lead = [n for n in self.row if n.letter not in "eis"][:2]
        if lead and lead[0].word in ("everybody", "everyone", "anybody", "anyone"):
            return True
        if (
            len(lead) < 2
            or lead[0].letter not in "w"
            or lead[1].letter not in "nl"
            or lead[1].word not in self.lex.persons
        ):
            return False
        try:
            self._asked_column("who", {id for f in self.filters for id in f.columns})
        except NotRead:
            return False
        return True

    def _lists_rows(self, asked: Asked) -> bool:
        """True when whole rows are asked for: `which cars have …`, `list the orders over …`."""
        lead = [n for n in self.row if n.letter not in "ei"]
        while lead and lead[0].letter == "s":
            lead = lead[1:]
        if not lead or any(n.letter == "l" for n in self.row[:4]):
            return False
        if lead[0].letter == "w" and lead[0].op in ("which", "what") and len(lead) > 1:
            lead = lead[1:]
        elif lead[0].letter == "w":
            return False
        return lead[0].letter == "n" or (lead[0].letter == "F" and asked.rows)

    def _coordinated(self, targets: list[Node]) -> bool:
        """True when the targets are listed together: `name, country and age`."""
        places = sorted(self.row.index(t) for t in targets if t in self.row)
        for a, b in itertools.pairwise(places):
            between = [n.letter for n in self.row[a + 1 : b]]
            if not set(between) <= set(",&eu") or not between:
                return False
        return True

    def _asked_column(self, question: str, used: set[str]) -> Node:
        """The column that answers who, where or when."""
        wanted = self.lex.asks[question]
        for word in wanted:
            hits = [
                c for c in self.index.columns
                if c.id not in used and word.split()[-1] in [self.lex.lemma(w) for w in header_words(c.name)]
                and (question != "who" or c.kind is Kind.TEXT)
            ]  # fmt: skip
            if len(hits) == 1:
                return Node("C", self.row[0].links, columns=((hits[0].id, 0.8),))
            if len(hits) > 1:
                break
        raise NotRead(question)


def _skip(row: Sequence[Node], at: int, over: str) -> int:
    while at < len(row) and row[at].letter in over:
        at += 1
    return at


def shape(row: Sequence[Node]) -> str:
    return letters(row)


def rows_of(index: TableIndex) -> int:
    return index.table.rows
