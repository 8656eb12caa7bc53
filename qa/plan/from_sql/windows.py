"""Window functions of a select list as window steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from qa.plan.from_sql.scope import cannot
from qa.plan.from_sql.terms import AGGREGATES
from qa.types import Kind

if TYPE_CHECKING:
    from qa.plan.from_sql.query import Pipe, Select

RANKS = {"rank": "rank()", "dense_rank": "dense_rank()", "row_number": "row_number()", "percent_rank": "percent_rank()"}
FRAMED = {"sum": "sum", "mean": "mean", "min": "min", "max": "max", "count": "count", "std": "std"}


def window_steps(select: Select, pipe: Pipe, items: Sequence[tuple[exp.Expr, str | None]]) -> None:
    """A window step for each window expression; afterwards its SQL stands for the new column."""
    order = select.node.args.get("order")
    clauses = [item for item, _ in items] + ([order] if order is not None else [])
    for window in {node.sql(): node for clause in clauses for node in clause.find_all(exp.Window)}.values():
        by = [select.terms(key) for key in window.args.get("partition_by") or []]
        keys = [
            _key(select, key)
            for key in (window.args["order"].expressions if window.args.get("order") is not None else [])
        ]
        formula = _formula(select, window, bool(keys))
        name = select.fresh(formula)
        pipe.steps.append({"op": "window", "by": by, "order": keys or None, "columns": [f"{formula} as {name}"]})
        select.names.computed[window.sql()] = name
        select.names.kinds[name] = Kind.NUMBER


def _key(select: Select, key: exp.Expr) -> str:
    text = select.terms(key.this if isinstance(key, exp.Ordered) else key)
    return f"{text} desc" if isinstance(key, exp.Ordered) and key.args.get("desc") else f"{text} asc nulls first"


def _formula(select: Select, window: exp.Window, has_order: bool) -> str:
    function: Any = window.this
    name = type(function).key if not isinstance(function, exp.Anonymous) else str(function.this).lower()
    name = {
        "rownumber": "row_number",
        "denserank": "dense_rank",
        "percentrank": "percent_rank",
        "firstvalue": "first",
        "lastvalue": "last",
    }.get(name, name)
    if name in RANKS:
        return RANKS[name]
    if name == "ntile":
        argument = function.this if not isinstance(function, exp.Anonymous) else function.expressions[0]
        return f"ntile({select.terms(argument)})"
    if name in ("lag", "lead"):
        offset = function.args.get("offset")
        return f"{name}({select.terms(function.this)}, {offset.name if offset is not None else 1})"
    if name in ("first", "last"):
        return f"{name}({select.terms(function.this)})"
    aggregate = "count" if isinstance(function, exp.Count) else AGGREGATES.get(type(function))
    if aggregate is None:
        cannot(f"The window function {name} has no counterpart.")
    star = isinstance(function, exp.Count) and isinstance(function.this, exp.Star)
    argument = "" if star else select.terms(function.this)
    return _framed(aggregate, argument, window.args.get("spec"), has_order)


def _framed(aggregate: str, argument: str, spec: exp.Expr | None, has_order: bool) -> str:
    if not has_order:
        return f"{aggregate}({argument})"
    if aggregate not in FRAMED:
        cannot(f"{aggregate} over an order has no counterpart.")
    if spec is None or (spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") == "CURRENT ROW"):
        return f"running_{aggregate}({argument})"
    start, end = spec.args.get("start"), spec.args.get("end")
    if isinstance(start, exp.Literal) and end in ("CURRENT ROW", None) and spec.args.get("start_side") == "PRECEDING":
        return f"rolling_{aggregate}({argument}, rows={int(start.name) + 1})"
    if start == "UNBOUNDED" and end == "UNBOUNDED":
        return f"{aggregate}({argument})"
    cannot(
        "This window frame has no counterpart.", "Frames run from n rows before, or from the start, to the current row."
    )
