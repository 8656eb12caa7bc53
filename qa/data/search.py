"""Search over what is at hand: tables, columns, descriptions, other words, and the values of text columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from qa.data.table import Table
from qa.plan.scope import folded
from qa.types import Column, Kind

What = Literal["table", "column", "value"]
VALUES_MOST = 20_000
"""Distinct values of a column that are searched; above that it is prose or ids."""
NEAR = 85


@dataclass(frozen=True)
class Hit:
    """Something that fits the words. `score` is 1 for the whole name; `why` says what it was found by."""

    what: What
    table: str
    column: str | None
    value: str | None
    score: float
    why: str


def search(tables: Sequence[Table], words: str, *, limit: int = 20, values: bool = True) -> list[Hit]:
    """The hits, best first; every word must be found, the start of a word is enough. No words, no hits."""
    wanted = _split(words)
    if not wanted:
        return []
    hits = [hit for table in tables for hit in _hits(table, wanted, values)]
    if not hits:
        hits = [hit for table in tables for hit in _near(table, folded(words))]
    rank = {"table": 0, "column": 1, "value": 2}
    return sorted(hits, key=lambda hit: (-hit.score, rank[hit.what], hit.table, hit.column or "", hit.value or ""))[
        :limit
    ]


def _hits(table: Table, wanted: Sequence[str], values: bool) -> Iterator[Hit]:
    profile = table.profile
    if found := _best(wanted, _said(table.name, profile.description, profile.synonyms)):
        yield Hit("table", table.name, None, None, *found)
    for column in table.columns:
        facts = profile.column(column.name)
        if found := _best(wanted, _said(column.name, facts.description, facts.synonyms)):
            yield Hit("column", table.name, column.name, None, *found)
        if values and _searchable(table, column):
            for value in table.distinct(column.id):
                if found := _best(wanted, [("value", value, 0.9)]):
                    yield Hit("value", table.name, column.name, value, *found)


def _near(table: Table, words: str) -> Iterator[Hit]:
    """Names that are spelled almost like the words, when nothing holds them."""
    named: Iterable[tuple[What, str | None, str]] = [
        ("table", None, table.name),
        *(("column", c.name, c.name) for c in table.columns),
    ]
    for what, column, name in named:
        likeness = fuzz.ratio(words, " ".join(_split(name)))
        if likeness >= NEAR:
            yield Hit(what, table.name, column, None, round(likeness / 200, 3), "almost the same name")


def _searchable(table: Table, column: Column) -> bool:
    facts = table.profile.column(column.name)
    return column.kind is Kind.TEXT and 0 < facts.distinct <= VALUES_MOST


def _said(name: str, description: str | None, synonyms: Sequence[str]) -> list[tuple[str, str, float]]:
    """(what it is, its text, the most it can score)"""
    other = [("another word for it", synonym, 0.95) for synonym in synonyms]
    return [("name", name, 1.0), *other, *([("description", description, 0.6)] if description else [])]


def _best(wanted: Sequence[str], texts: Sequence[tuple[str, str, float]]) -> tuple[float, str] | None:
    """Score and reason of the text that fits best: the share of its words that were asked for, whole ones over starts."""
    found = []
    for why, text, most in texts:
        there = _split(text)
        whole = sum(word in there for word in wanted)
        starts = all(any(word.startswith(start) for word in there) for start in wanted)
        if starts and there:
            share = min(1.0, len(wanted) / len(there))
            found.append((round(most * (0.5 + 0.35 * share + 0.15 * whole / len(wanted)), 3), why))
    return max(found, default=None)


def _split(text: str) -> list[str]:
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.findall(r"[^\W_]+", folded(parted))
