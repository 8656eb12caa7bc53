"""What is odd about a table's data: repeated rows, constant and empty columns, far values, spellings that may be one."""

from __future__ import annotations

import polars as pl

from qa.data.table import ColumnProfile, Facts, Table
from qa.types import Role

MOSTLY_MISSING = 0.5
FAR = 3.0
"""Quartile distances beyond the quartiles from where on a value is far from the others."""
NOT_MEASURED = frozenset({Role.ID, Role.YEAR, Role.GEO})
LOOKED_AT = 5_000_000
"""Rows up to which repeated rows are counted."""
TOLD_BY_REPORT = ("sentinel", "nearly", "rival_units", "cut_ids", "kept_totals")


class Finding(Facts):
    """Something about the data that a reader should know. `weight` 3 may change an answer, 1 is good to know."""

    code: str
    column: str | None
    message: str
    weight: int = 1


def findings(table: Table) -> list[Finding]:
    """Everything odd about a table, the weightiest first. Rows are scanned twice at most; nothing is kept."""
    found = [
        *_repeated(table),
        *(finding for column in table.profile.columns for finding in _of_column(column, table.rows)),
        *_far(table),
        *_spellings(table),
        *(
            Finding(code=note.code, column=note.column, message=note.message, weight=note.damage)
            for note in table.report.assumptions
            if note.code in TOLD_BY_REPORT
        ),
    ]
    return sorted(found, key=lambda finding: -finding.weight)


def _repeated(table: Table) -> list[Finding]:
    """Rows that stand in the table more than once, all cells alike."""
    if not 1 < table.rows <= LOOKED_AT or any(column.unique for column in table.profile.columns):
        return []
    count = table.scan().select(pl.len() - pl.struct(pl.all()).n_unique()).collect().item()
    if not count:
        return []
    message = f"{count:,} of {table.rows:,} rows repeat another row, cell for cell: totals count them again."
    return [Finding(code="repeated_rows", column=None, message=message, weight=3)]


def _of_column(column: ColumnProfile, rows: int) -> list[Finding]:
    name, missing = column.name, column.missing / rows if rows else 0.0
    if rows and column.count == 0:
        return [Finding(code="empty", column=name, message=f"{name!r} holds no value.", weight=2)]
    if rows > 1 and column.distinct == 1 and column.missing == 0:
        return [Finding(code="constant", column=name, message=f"{name!r} holds the same value in every row.")]
    if missing > MOSTLY_MISSING:
        message = f"{name!r} is missing in {missing:.0%} of the rows: averages and shares are of the rest."
        return [Finding(code="mostly_missing", column=name, message=message, weight=2)]
    return []


def _far(table: Table) -> list[Finding]:
    """Numbers far outside the middle half of their column, counted."""
    bounds: dict[str, tuple[str, float, float]] = {}
    for column, facts in zip(table.columns, table.profile.columns, strict=True):
        if not facts.kind.numeric or facts.role in NOT_MEASURED or facts.q25 is None or facts.q75 is None:
            continue
        reach = FAR * (facts.q75 - facts.q25)
        low, high = facts.q25 - reach, facts.q75 + reach
        if reach > 0 and (float(facts.low) < low or float(facts.high) > high):
            bounds[column.id] = (column.name, low, high)
    if not bounds:
        return []
    outside = [
        (~pl.col(id).cast(pl.Float64).is_between(low, high)).sum().alias(id) for id, (_, low, high) in bounds.items()
    ]
    counts = table.scan().select(outside).collect().row(0, named=True)
    facts_of = {column.id: facts for column, facts in zip(table.columns, table.profile.columns, strict=True)}
    return [
        Finding(
            code="far_values",
            column=name,
            message=f"{counts[id]:,} values of {name!r} lie far outside the others, {_sides(facts_of[id], low, high)}.",
            weight=2,
        )
        for id, (name, low, high) in bounds.items()
        if 0 < counts[id] <= 0.05 * table.rows
    ]


def _sides(facts: ColumnProfile, low: float, high: float) -> str:
    """`below -5 or above 70`, the sides on which values lie."""
    below = f"below {low:,.6g} (down to {float(facts.low):,.6g})" if float(facts.low) < low else ""
    above = f"above {high:,.6g} (up to {float(facts.high):,.6g})" if float(facts.high) > high else ""
    return " or ".join(filter(None, (below, above)))


def _spellings(table: Table) -> list[Finding]:
    return [
        Finding(
            code="spellings",
            column=name,
            message=f"Values of {name!r} may mean the same and are counted apart: "
            + ", ".join(f"{one!r} and {other!r}" for one, other in list(pairs.items())[:5])
            + ".",
            weight=3,
        )
        for name, pairs in table.report.offered.items()
    ]
