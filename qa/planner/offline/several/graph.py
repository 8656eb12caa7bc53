"""How tables lead to one another: look-ups, and their reverse where one row has many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qa.data.relations import Relation, relationships
from qa.data.table import Table
from qa.planner.offline.text import header_words

MATCHED = 0.8
"""share of rows that must find their partner, else the link is too weak to use unasked"""
LONGEST_WAY = 4
KEPT = 16
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Hop:
    """A step from one table to another. `many` is true where a row here has several there."""

    start: str
    end: str
    pairs: Pairs
    many: bool


@dataclass
class Graph:
    """Tables by name and the hops that leave each."""

    tables: dict[str, Table]
    hops: dict[str, list[Hop]] = field(default_factory=dict)
    twofold: set[tuple[str, str]] = field(default_factory=set)
    """pairs of tables with a second link, such as a student and a friend, that is not a hop"""

    def ways(self, start: str, end: str) -> list[tuple[Hop, ...]]:
        """The shortest ways that go out to rows that name the start, and from there by look-ups; nothing else joins safely."""
        found = sorted((way for way in self._from(start, end, (), False)), key=len)
        return [way for way in found if len(way) == len(found[0])]

    def way(self, start: str, end: str) -> tuple[Hop, ...] | None:
        """The one shortest way, or None when there is none or a choice."""
        ways = self.ways(start, end)
        return ways[0] if len(ways) == 1 else None

    def look_up(self, start: str, end: str) -> tuple[Hop, ...] | None:
        """The one way by look-ups alone; empty for a table itself."""
        if start == end:
            return ()
        way = self.way(start, end)
        return way if way is not None and not any(hop.many for hop in way) else None

    def _from(self, at: str, end: str, way: tuple[Hop, ...], down: bool) -> Iterator[tuple[Hop, ...]]:
        if len(way) == LONGEST_WAY:
            return
        seen = {hop.start for hop in way} | {at}
        for hop in self.hops.get(at, ()):
            if hop.end in seen or (hop.many and down):
                continue
            if hop.end == end:
                yield (*way, hop)
            else:
                yield from self._from(hop.end, end, (*way, hop), down or not hop.many)

    def keys(self, table: str) -> set[str]:
        """The columns of a table that look others up."""
        return {here for hop in self.hops.get(table, ()) if not hop.many for here, _ in hop.pairs}

    def bridge(self, table: str) -> bool:
        """True for a table of nothing but keys of other tables."""
        return {c.name for c in self.tables[table].columns} <= self.keys(table)


_known: OrderedDict[tuple[str, ...], Graph] = OrderedDict()


def graph(tables: Sequence[Table]) -> Graph:
    """The graph of these tables; computed once for a set of tables."""
    at = tuple(f"{t.name}:{t.digest}" for t in tables)
    if at not in _known:
        _known[at] = _built(tables)
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return _known[at]


def _built(tables: Sequence[Table]) -> Graph:
    links = [r for r in relationships(tables) if r.cardinality in ("many_to_one", "one_to_one")]
    links = [r for r in links if r.match_rate >= MATCHED or r.status == "confirmed"]
    links = [r for r in links if r.status != "rejected" and not _by_way_of(r, links)]
    others = [r for r in links if _about_the_other(r, links)]
    links = [r for r in links if r not in others]
    made = Graph({table.name: table for table in tables}, twofold={(r.left, r.right) for r in others})
    for link in links:
        pairs = tuple(zip(link.left_columns, link.right_columns, strict=True))
        made.hops.setdefault(link.left, []).append(Hop(link.left, link.right, pairs, False))
        turned = tuple((there, here) for here, there in pairs)
        made.hops.setdefault(link.right, []).append(Hop(link.right, link.left, turned, True))
    return made


def _by_way_of(link: Relation, links: Sequence[Relation]) -> bool:
    """True when both sides only share a key of a third table: two tables of one student's rows."""
    parents = {(r.right, r.right_columns) for r in links if (r.left, r.left_columns) == (link.left, link.left_columns)}
    theirs = {(r.right, r.right_columns) for r in links if (r.left, r.left_columns) == (link.right, link.right_columns)}
    return bool(parents & theirs)


def _about_the_other(link: Relation, links: Sequence[Relation]) -> bool:
    """True for `friend_id` of a table of friends that also says whose friend: its rows belong to the other column."""
    rivals = [r for r in links if (r.left, r.right) == (link.left, link.right) and r is not link]
    return bool(rivals) and _named_after(link) and not any(_named_after(r) for r in rivals)


def _named_after(link: Relation) -> bool:
    stem = header_words(link.left)[-1].rstrip("s")[:4]
    return any(word.startswith(stem) for word in header_words(link.left_columns[0]))
