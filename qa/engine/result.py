"""What running one part of a plan gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qa.plan.check import CheckedPart


@dataclass(frozen=True)
class Ledger:
    """Rows into and out of a step; None where they were not counted."""

    step: int
    op: str
    rows_in: int | None
    rows_out: int | None
    note: str


@dataclass(frozen=True)
class Check:
    """One thing verified; `passed` None means it was not run, and `detail` says why."""

    name: str
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class PartResult:
    """The rows of one part under display names, at most the cap, with everything counted beside them.

    `support`: `rows` used in all, `missing_skipped` a metric, `group_rows` and `group_values` lists in row order.
    """

    frame: pl.DataFrame
    checked: CheckedPart
    total_rows: int
    truncated: bool
    ledger: tuple[Ledger, ...] = ()
    support: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    sql: str = ""
    polars: str = ""
    ms: float = 0.0
