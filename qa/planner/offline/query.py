"""What a question asks for, before it is written as a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qa.planner.offline import formula as write
from qa.planner.offline.nodes import Filter


@dataclass
class Query:
    """One part of a plan in the planner's own terms.

    `keys` and `metrics` are (formula, name); `columns` are formulas to list; `second` aggregates the groups again.
    `show` None shows everything. `limit_by` are the names within which a limit counts.
    """

    source: str
    filters: list[Filter] = field(default_factory=list)
    derive: list[str] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)
    metrics: list[tuple[str, str]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    distinct: bool = False
    having: str | None = None
    order: list[str] = field(default_factory=list)
    limit: int | None = None
    limit_by: list[str] = field(default_factory=list)
    ties: str = "keep"
    second: list[tuple[str, str]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    show: list[str] | None = None
    chart: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    score: float = 0.0
    unused: list[str] = field(default_factory=list)
    rivals: list[Query] = field(default_factory=list)
    """other readings of the same words; they are asked about when their answers differ"""
    before: list[dict[str, Any]] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        return not self.unused


def steps(query: Query) -> list[dict[str, Any]]:
    """The steps that answer the query, in order."""
    done: list[dict[str, Any]] = [*query.before]
    if query.filters:
        done.append({"op": "filter", "where": write.all_of([f.formula for f in query.filters])})
    if query.derive:
        done.append({"op": "derive", "columns": query.derive})
    done += query.steps
    if query.keys or query.metrics:
        done.append(
            {"op": "summarize", "by": [_as(*key) for key in query.keys], "metrics": [_as(*m) for m in query.metrics]}
        )
        if query.having:
            done.append({"op": "filter", "where": query.having})
    if query.second:
        done.append({"op": "summarize", "by": [], "metrics": [_as(*m) for m in query.second]})
    if query.limit is not None:
        step: dict[str, Any] = {"op": "limit", "n": query.limit, "order": query.order or None, "ties": query.ties}
        if query.limit_by:
            step["by"] = query.limit_by
        done.append(step)
    elif query.order:
        done.append({"op": "sort", "order": query.order})
    if query.columns and not (query.keys or query.metrics):
        if query.distinct:
            done.append({"op": "distinct", "columns": query.columns})
        done.append({"op": "select", "columns": query.columns})
    return done


def part(query: Query, title: str) -> dict[str, Any]:
    """The query as one part of a plan."""
    reading = "; ".join(dict.fromkeys(note for note in query.notes if note))
    return {
        "title": title,
        "reading": reading or None,
        "source": query.source,
        "steps": steps(query),
        "show": query.show,
        "chart": query.chart,
    }


def _as(formula: str, name: str) -> str:
    plain = write.name(name)
    return formula if formula == plain else f"{formula} as {plain}"
