"""Questions about a table with the plans that answer them, each checked before it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qa.data.table import ColumnProfile, Profile
from qa.errors import QAError
from qa.mcp_server.desk import Desk
from qa.planner.columns import written
from qa.types import Kind, Role

NOT_MEASURES = frozenset({Role.ID, Role.YEAR, Role.GEO, Role.CATEGORY})


def examples(desk: Desk, name: str) -> dict[str, Any]:
    """Verified questions first, then some made from the columns."""
    tables = desk.open()
    table = desk.named(tables, name)
    known = tables.semantics.get(table.name)
    verified = [{"question": q.question, "plan": q.plan, "verified": True} for q in known.questions] if known else []
    made = [{"question": question, "plan": plan, "verified": False} for question, plan in _made(table.profile)]
    fitting = []
    for example in [*verified, *made]:
        try:
            desk.checked(tables, example["plan"])  # type: ignore[arg-type]
        except QAError:
            continue
        fitting.append(example)
    return {"table": table.name, "examples": fitting}


def _made(profile: Profile) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = profile.columns
    group = next((c for c in columns if c.kind is Kind.TEXT and 2 <= c.distinct <= 60 and c.role is not Role.ID), None)
    date = next((c for c in columns if c.kind in (Kind.DATE, Kind.DATETIME) and c.distinct > 5), None)
    measure = next((c for c in columns if c.kind.numeric and c.role not in NOT_MEASURES and c.distinct > 2), None)
    yield "How many rows are there?", _plan(profile, "rows", {"op": "summarize", "metrics": ["count() as rows"]})
    if group:
        steps = [_by([written(group.name)], ["count() as rows"]), {"op": "sort", "order": ["rows desc"]}]
        yield f"How many rows for each {_words(group)}?", _plan(profile, f"rows by {_words(group)}", *steps)
    if group and measure:
        steps = [
            _by([written(group.name)], [f"mean({written(measure.name)}) as average"]),
            {"op": "limit", "n": 5, "order": ["average desc"], "ties": "keep"},
        ]
        title = f"top 5 {_words(group)} by average {_words(measure)}"
        yield f"Which 5 {_words(group)} have the highest average {_words(measure)}?", _plan(profile, title, *steps)
    if date and measure:
        step = _by([f"month({written(date.name)}) as month"], [f"mean({written(measure.name)}) as average"])
        title = f"average {_words(measure)} by month"
        yield f"What is the average {_words(measure)} in each month of the year?", _plan(profile, title, step)


def _by(keys: list[str], metrics: list[str]) -> dict[str, Any]:
    return {"op": "summarize", "by": keys, "metrics": metrics}


def _plan(profile: Profile, title: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"reply": "plan", "lets": [], "parts": [{"title": title, "source": profile.name, "steps": list(steps)}]}


def _words(column: ColumnProfile) -> str:
    return " ".join(column.name.replace("_", " ").split())
