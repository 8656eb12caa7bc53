"""Related tables seen as one: a table with the columns of the tables it looks up, where the link leaves no choice."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qa.data.relations import Relation, relationships
from qa.data.table import ColumnProfile, Profile, Table
from qa.planner.offline import formula as write
from qa.types import Column

MATCHED = 0.9
"""share of rows that must find their partner, else the link is too weak to use unasked"""
DEEPEST = 2
KEPT = 16


@dataclass(frozen=True)
class Hop:
    """One look-up: `on` as a join step writes it, and the table looked up."""

    table: Table
    on: tuple[str, ...]


class View:
    """A table with the columns of its look-ups. It answers what an index asks of a table."""

    def __init__(self, base: Table, hops: Sequence[Hop]) -> None:
        self.base, self.hops = base, tuple(hops)
        self.name, self.rows = base.name, base.rows
        self.digest = "+".join([base.digest, *(hop.table.digest for hop in hops)])
        self.source: dict[str, tuple[Table, str]] = {c.id: (base, c.id) for c in base.columns}
        columns, taken = list(base.columns), {c.name.lower() for c in base.columns}
        profiles: list[ColumnProfile] = list(base.profile.columns)
        for hop in hops:
            for column in hop.table.columns:
                if column.name.lower() in taken:
                    continue
                taken.add(column.name.lower())
                seen = replace(column, id=f"{hop.table.name}.{column.id}", owner=hop.table.name, unique=False)
                columns.append(seen)
                self.source[seen.id] = (hop.table, column.id)
                profile = next((p for p in hop.table.profile.columns if p.name == column.name), None)
                if profile:
                    profiles.append(profile.model_copy(update={"unique": False}))
        self.columns: tuple[Column, ...] = tuple(columns)
        self.profile = Profile(
            name=base.name,
            digest=self.digest,
            rows=base.rows,
            columns=tuple(profiles),
            default_date=_default_date([base, *(hop.table for hop in hops)]),
        )

    def distinct(self, column_id: str) -> Sequence[str]:
        table, id = self.source[column_id]
        return table.distinct(id)

    def variants(self, column_id: str) -> dict[str, str]:
        table, id = self.source[column_id]
        return table.variants(id)

    def joined(self, steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The join steps that these steps need, nearest first; empty when they stay in the base table."""
        text = repr(steps)
        needed = [any(_named(c, text) for c in self._of(hop)) for hop in self.hops]
        last = max((n for n, need in enumerate(needed) if need), default=-1)
        keep = [need or self._leads(n, needed) for n, need in enumerate(needed)]
        return [
            {
                "op": "join",
                "table": hop.table.name,
                "how": "left",
                "on": list(hop.on),
                "expect": "many_to_one",
                "columns": self._columns(hop),
            }
            for n, hop in enumerate(self.hops[: last + 1])
            if keep[n]
        ]

    def _of(self, hop: Hop) -> list[Column]:
        return [c for c in self.columns if c.owner == hop.table.name and c.id.startswith(hop.table.name + ".")]

    def _columns(self, hop: Hop) -> list[str]:
        return [write.name(c.name) for c in self._of(hop)]

    def _leads(self, place: int, needed: Sequence[bool]) -> bool:
        """True when a later look-up starts from this one's columns."""
        names = {c.name for c in self._of(self.hops[place])}
        later = [hop for n, hop in enumerate(self.hops) if n > place and needed[n]]
        return any(re.split(r"\s*=\s*", key)[0].strip("`") in names for hop in later for key in hop.on)


def _default_date(tables: Sequence[Table]) -> str | None:
    """The date a period is about: of the nearest table that has any, its default or its only one."""
    for table in tables:
        dates = [c.name for c in table.columns if c.kind.temporal]
        if dates:
            return table.profile.default_date or (dates[0] if len(dates) == 1 else None)
    return None


def _named(column: Column, text: str) -> bool:
    return bool(re.search(rf"(?<![\w`]){re.escape(write.name(column.name))}(?![\w`])", text))


_known: OrderedDict[tuple[str, ...], list[Relation]] = OrderedDict()


def views(tables: Sequence[Table]) -> list[View]:
    """Every table that looks others up, with their columns; computed once for a set of tables."""
    if len(tables) < 2:
        return []
    at = tuple(f"{t.name}:{t.digest}" for t in tables)
    if at not in _known:
        _known[at] = relationships(tables)
        while len(_known) > KEPT:
            _known.popitem(last=False)
    links = [r for r in _known[at] if r.cardinality in ("many_to_one", "one_to_one") and r.match_rate >= MATCHED]
    by_name = {t.name: t for t in tables}
    return [View(table, hops) for table in tables if (hops := list(_hops(table.name, links, by_name, {table.name}, 1)))]


def _hops(name: str, links: Sequence[Relation], tables: dict[str, Table], seen: set[str], depth: int) -> Iterator[Hop]:
    if depth > DEEPEST:
        return
    onward: list[str] = []
    for link in links:
        rivals = [other for other in links if other.left == name and other.right == link.right]
        if link.left == name and link.right not in seen and len(rivals) == 1:
            seen.add(link.right)
            onward.append(link.right)
            yield Hop(tables[link.right], tuple(link.on))
    for right in onward:
        yield from _hops(right, links, tables, seen, depth + 1)
