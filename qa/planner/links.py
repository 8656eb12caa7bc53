"""How the tables of a question hang together, as the lines of a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from qa.data.relations import Relation, relationships
from qa.data.table import Table
from qa.planner.columns import Handles, Sent

MOST_COLUMNS = 120
"""Columns among which links are measured on values; of more tables, those that matter most."""
MOST_SHOWN = 30
_KEPT = 64

_known: dict[tuple[tuple[str, str], ...], list[Relation]] = {}
_KEY = re.compile(r"(?i)(^|_|\s)(id|key|code|num|number|no)$|^id|id$")


def lines(
    tables: Sequence[Table], ranks: Mapping[str, float], levels: Mapping[tuple[str, str], Sent], handles: Handles
) -> list[str]:
    """One line for each link between columns that may be named.

    A link is measured on values only between columns whose statistics may leave, and among the tables of highest
    rank; between others it is read from their names.
    """
    if len(tables) < 2:
        return []
    room = MOST_COLUMNS
    first: set[str] = set()
    for table in sorted(tables, key=lambda table: -ranks[table.name]):
        room -= len(table.columns)
        if room >= 0 or len(first) < 2:
            first.add(table.name)
    chosen = [table for table in tables if table.name in first]
    told = any(level in ("profile", "samples") for level in levels.values())
    measured = [_measured(link, handles) for link in (_links(chosen) if told else ()) if _may(link, levels)]
    named = [] if measured else _named(tables, levels, handles)
    return list(dict.fromkeys([*measured, *named]))[:MOST_SHOWN]


def _links(tables: Sequence[Table]) -> list[Relation]:
    key = tuple((table.name, table.digest) for table in tables)
    if key not in _known:
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)))
        _known[key] = [link for link in relationships(tables) if link.status != "rejected"]
    return _known[key]


def _may(link: Relation, levels: Mapping[tuple[str, str], Sent]) -> bool:
    places = [*((link.left, name) for name in link.left_columns), *((link.right, name) for name in link.right_columns)]
    return all(levels[place] in ("profile", "samples") for place in places)


def _measured(link: Relation, handles: Handles) -> str:
    pairs = [
        f"{link.left}.{handles.formula(link.left, left)} = {link.right}.{handles.formula(link.right, right)}"
        for left, right in zip(link.left_columns, link.right_columns, strict=True)
    ]
    matched = "" if link.match_rate > 0.995 else f", {100 * link.match_rate:.0f}% have a match"
    return f"{' and '.join(pairs)} ({link.cardinality}{matched})"


def _named(tables: Sequence[Table], levels: Mapping[tuple[str, str], Sent], handles: Handles) -> list[str]:
    """Columns of one name and kind in two tables, where the name sounds like a key."""
    found = []
    for place, left in enumerate(tables):
        for right in tables[place + 1 :]:
            others = {column.name.casefold(): column for column in right.columns}
            for column in left.columns:
                other = others.get(column.name.casefold())
                if other is None or other.kind is not column.kind or not _KEY.search(column.name):
                    continue
                if "nothing" not in (levels[left.name, column.name], levels[right.name, other.name]):
                    spelled = handles.formula(left.name, column.name), handles.formula(right.name, other.name)
                    found.append(f"{left.name}.{spelled[0]} = {right.name}.{spelled[1]}")
    return found
