"""Reads a row of nodes as a question: what is asked, of which groups, in which order, how many."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from qa.planner.offline import special
from qa.planner.offline.conditions import Conditions
from qa.planner.offline.core import Asked, NotRead
from qa.planner.offline.expressions import expressions
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.link import Linker
from qa.planner.offline.links import Link
from qa.planner.offline.listing import Listing
from qa.planner.offline.nodes import Node, nodes
from qa.planner.offline.query import Query
from qa.planner.offline.superlatives import Superlatives
from qa.planner.offline.taking import Taking

MOST_ALTERNATIVES = 6


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


def _highest_average(row: list[Node]) -> list[Node]:
    """`the maximum average price`: the first of two aggregates in a row is a superlative."""
    for first, second in itertools.pairwise(row):
        if first.letter == second.letter == "G" and first.op in ("max", "min") and second.op not in ("max", "min"):
            first.letter = "S"
    return row


class Reader(Taking, Superlatives, Listing):
    """Reads one row of nodes with one choice of conditions."""

    # the whole
    def read(self) -> Query:
        self._refuse_leftovers()
        pivot = [n for n in self.row if n.letter == "X"]
        self.row = _highest_average([n for n in self.row if n.letter != "X"])
        query = special.read(self)
        if query is None:
            query = self._general()
        if pivot:
            query = special.pivoted(query, pivot[0])
        query.notes += [f.note for f in self.filters if f.note]
        query.score += sum(s for n in self.row if n.letter == "C" for s in [n.columns[0][1] - 1.0])
        return query

    def _refuse_contradictions(self) -> None:
        """Two different values asked of one column at once: some reading of the sentence went wrong."""
        held: dict[str, set[tuple[object, ...]]] = {}
        for f in self.filters:
            if f.op in ("=", "is") and len(set(f.columns)) == 1:
                held.setdefault(f.columns[0], set()).add(f.values)
        pair = any(len(f.sides) > 1 for f in self.filters) or any(n.letter == "@" for n in self.row)
        both = "both" in self.linker.folded and pair and not any(n.letter in "Gv" for n in self.row)
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
        lead = [node for node in self.row if node.letter not in "iF"][:2]
        asked_for = (
            len(lead) == 2 and lead[0].letter == "w" and lead[0].op in ("what", "which") and lead[1].letter == "l"
        )
        if asked_for and lead[1].link.first == lead[0].link.last + 1 and lead[1].word in self.lex.attributes:
            raise NotRead(lead[1].text)
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
        after = self.row[at + 1 : at + 3]
        if (
            len(after) == 2
            and after[0].letter == "o"
            and after[1].letter == "C"
            and self.row[at].word in ("name", "names")
        ):
            return self.is_id(self.linker.column(after[1].columns[0][0]))
        before = self.row[at - 1] if at else None
        if before is None or before.letter != "C" or before.link.last != self.row[at].link.first - 1:
            return False
        return before.columns[0][1] < 0.85

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
