"""Example questions made from a table's own columns, each one tried on the offline planner before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from qa.data.table import ColumnProfile, Table
from qa.types import Kind, Role

NOT_MEASURES = frozenset({Role.ID, Role.YEAR, Role.GEO, Role.CATEGORY})
LABELS = frozenset({"id", "ids", "key", "code", "rank", "index", "number", "no", "zip", "year", "phone"})
"""words of a column name whose numbers are names of things, whatever its role"""
FIRST_MEASURES = (Role.CURRENCY, Role.COUNT, Role.BALANCE, None, Role.RATE, Role.PERCENT)


def examples(tables: Sequence[Table], answerable: Callable[[str], bool], most: int = 4) -> list[str]:
    """At most `most` questions that `answerable` says can be answered, of different shapes, biggest table first."""
    ordered = sorted(tables, key=lambda table: -table.rows)
    found: dict[str, None] = {}
    for asked in islice((q for table in ordered for q in _candidates(table)), 24):
        question = asked[:1].upper() + asked[1:]
        if question not in found and answerable(question):
            found[question] = None
        if len(found) == most:
            break
    return list(found)


def _candidates(table: Table) -> Iterator[str]:
    """Likely questions, the most telling first. Some will not be answerable; they are tried, not trusted."""
    columns = table.profile.columns
    measures = sorted((c for c in columns if _measure(c)), key=lambda c: FIRST_MEASURES.index(c.role))
    groups = [c for c in columns if _group(c)]
    names = [c for c in columns if c.kind is Kind.TEXT and c.distinct > 20 and c.role is not Role.ID]
    dates = [c for c in columns if c.kind.temporal and c.distinct > 5]
    first, second = (measures * 2)[:2] if measures else (None, None)
    if first and groups:
        yield f"average {words(first)} by {words(groups[0])}"
    if first and names:
        yield f"top 10 {words(names[0])} by average {words(first)}"
        yield f"top 10 {words(names[0])} by {words(first)}"
    if second and dates:
        yield f"average {words(second)} by year" if _spans_years(dates[0]) else f"average {words(second)} by month"
    if first and (edge := round_edge(first)) is not None:
        yield f"how many rows have {words(first)} over {edge}"
    if groups:
        yield f"how many rows per {words(groups[-1])}"
    if first and second and first is not second:
        yield f"correlation between {words(first)} and {words(second)}"
    for measure in measures[:3]:
        yield f"what is the average {words(measure)}"
    yield "how many rows are there"


def words(column: ColumnProfile) -> str:
    """A column's name as a person would say it."""
    return " ".join(column.name.replace("_", " ").split())


def _measure(column: ColumnProfile) -> bool:
    name = set(words(column).casefold().split())
    return column.kind.numeric and column.role not in NOT_MEASURES and column.distinct > 2 and not name & LABELS


def _group(column: ColumnProfile) -> bool:
    return column.kind is Kind.TEXT and 2 <= column.distinct <= 60 and column.role is not Role.ID


def _spans_years(column: ColumnProfile) -> bool:
    low, high = str(column.low or "")[:4], str(column.high or "")[:4]
    return low.isdigit() and high.isdigit() and int(high) - int(low) >= 2


def round_edge(column: ColumnProfile) -> str | None:
    """The upper quartile to one leading digit, as text a person would type; None where there is none."""
    value = column.q75
    if value is None or value <= 0:
        return None
    digits = f"{value:.0e}"
    rounded = float(digits)
    return f"{rounded:,.0f}" if rounded >= 1 else f"{rounded:g}"
