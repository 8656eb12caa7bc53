"""A look-up whose conditions no row meets is no blank answer: it is told with what there is."""

from __future__ import annotations

from collections.abc import Sequence

from qa.data.table import ColumnProfile, Table
from qa.engine.run import checked_plan, run
from qa.errors import QAError
from qa.plan.plan import PlanReply, parse_reply
from qa.planner.offline import formula as write
from qa.planner.offline.nodes import Filter
from qa.planner.offline.query import Query


def nothing_found(query: Query, tables: Sequence[Table]) -> str | None:
    """Why a look-up of cells finds no row, in a sentence or two; None when it finds some, or is no look-up.

    Counts, totals and lists of whole rows are left alone: "none of 1,153 rows" answers them.
    """
    if not query.filters or not query.columns or query.keys or query.metrics or query.before or _proven(query.filters):
        return None
    everything = write.all_of([f.formula for f in query.filters])
    if _count(query, everything, tables) != 0:
        return None
    empty = [f for f in query.filters if len(query.filters) == 1 or _count(query, f.formula, tables) == 0]
    if not empty:
        return f"No row fits all of {_listed([f.formula for f in query.filters])}, though each fits some row."
    table = next(table for table in tables if table.name == query.source)
    return " ".join(_told(f, table) for f in empty)


def _proven(filters: Sequence[Filter]) -> bool:
    """True for a single cell value: it was found in the column, so a row has it."""
    return len(filters) == 1 and filters[0].op == "=" and all(isinstance(value, str) for value in filters[0].values)


def _count(query: Query, where: str, tables: Sequence[Table]) -> int | None:
    """Rows that fit a condition; None when it cannot be run."""
    by_name = {table.name: table for table in tables}
    derived = [{"op": "derive", "columns": query.derive}] if query.derive else []
    steps = [*derived, {"op": "filter", "where": where}, {"op": "summarize", "by": [], "metrics": ["count() as n"]}]
    part = {"title": "rows", "source": query.source, "steps": steps}
    try:
        reply = parse_reply({"reply": "plan", "lets": [], "parts": [part]})
        assert isinstance(reply, PlanReply)
        return int(run(checked_plan(reply, by_name), by_name, rows=1, ledger=False)[0].frame.item())
    except QAError:
        return None


def _told(f: Filter, table: Table) -> str:
    ids = set(f.columns)
    held = [_held(table.profile.column(column.name)) for column in table.columns if column.id in ids]
    return f"No row has {f.formula}" + (f": {'; '.join(filter(None, held))}." if any(held) else ".")


def _held(profile: ColumnProfile) -> str:
    """What a column holds, so that the next question can ask for it."""
    if profile.low is not None and profile.high is not None and (profile.kind.numeric or profile.kind.temporal):
        low, high = (write.number(end) if isinstance(end, int | float) else end for end in (profile.low, profile.high))
        return f"{profile.name} goes from {low} to {high}"
    shown = [str(value) for value, _ in profile.top[:3]]
    return f"{profile.name} holds {', '.join(map(repr, shown))} …" if shown else ""


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
