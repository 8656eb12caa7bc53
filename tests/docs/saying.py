"""One line of the yardstick: what a peer has, whether this language has it, and the plan that shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Steps = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """Steps on a small table `t`, with the rows they give. `shown` is what the page prints: a formula, or the steps."""

    steps: Steps
    data: dict[str, list[Any]]
    rows: list[list[Any]]
    shown: str
    lets: Steps = ()
    tables: dict[str, dict[str, list[Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """`item` as the peer names it; `says` is has, another way or leaves out; `how` in a few words."""

    item: str
    says: str
    how: str = ""
    plan: Plan | None = None


def has(item: str, how: str = "", plan: Plan | None = None) -> Line:
    return Line(item, "has", how, plan)


def another(item: str, how: str = "", plan: Plan | None = None) -> Line:
    return Line(item, "another way", how, plan)


def leaves(item: str, why: str) -> Line:
    return Line(item, "leaves out", why)


def each(formula: str, data: dict[str, list[Any]], values: list[Any]) -> Plan:
    """A formula of a row: its value in each."""
    return Plan([{"op": "derive", "columns": [f"{formula} as r"]}, {"op": "select", "columns": ["r"]}], data, [[v] for v in values], f"`{formula}`")  # fmt: skip


def whole(formula: str, data: dict[str, list[Any]], value: Any) -> Plan:
    """A metric over all rows."""
    return Plan([{"op": "summarize", "by": [], "metrics": [f"{formula} as r"]}], data, [[value]], f"`{formula}`")


def kept(where: str, data: dict[str, list[Any]], rows: list[list[Any]]) -> Plan:
    """A condition, and the rows that it keeps."""
    return Plan([{"op": "filter", "where": where}], data, rows, f"`{where}`")


def placed(formula: str, data: dict[str, list[Any]], values: list[Any], **step: Any) -> Plan:
    """A column of a window step: its value in each row."""
    window = {"op": "window", **step, "columns": [f"{formula} as r"]}
    return Plan([window, {"op": "select", "columns": ["r"]}], data, [[v] for v in values], _json([{"op": "window", **step, "columns": [formula]}]))  # fmt: skip


def steps(
    *written: dict[str, Any], data: dict[str, list[Any]], rows: list[list[Any]], lets: Steps = (), **tables: Any
) -> Plan:
    """Whole steps, with what they give."""
    return Plan(written, data, rows, _json(written, lets), lets, tables)


def _json(written: Steps, lets: Steps = ()) -> str:
    named = [f"`{let['name']} = {json.dumps(let['steps'], ensure_ascii=False)}`" for let in lets]
    return "; ".join([*named, *(f"`{json.dumps(step, ensure_ascii=False)}`" for step in written)])
