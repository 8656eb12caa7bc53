"""What must hold for any plan that the checker lets through: both engines agree, and the schema told the truth."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qa.answer.cells import json_cell
from qa.data.table import Table
from qa.engine.crosscheck import crosscheck
from qa.engine.result import PartResult
from qa.engine.run import checked_plan, run
from qa.plan.check import CheckedPlan
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import Clock
from qa.types import Column, Kind

CLOCK = Clock(dt.date(2024, 5, 15))
TYPES: dict[Kind, tuple[Any, ...]] = {
    Kind.BOOLEAN: (pl.Boolean,), Kind.INTEGER: (pl.Int64,), Kind.NUMBER: (pl.Float64,), Kind.DECIMAL: (pl.Decimal,), Kind.TEXT: (pl.String,), Kind.DATE: (pl.Date,),
    Kind.DATETIME: (pl.Datetime,), Kind.TIME: (pl.Time,), Kind.DURATION: (pl.Duration,), Kind.LIST: (pl.List,),
}  # fmt: skip


def reply(
    source: str, steps: Sequence[dict[str, Any]], show: Sequence[str] | None = None, lets: Sequence[dict[str, Any]] = ()
) -> PlanReply:
    """A plan of one part."""
    part = {"title": "", "source": source, "steps": list(steps), **({"show": list(show)} if show else {})}
    parsed = parse_reply({"reply": "plan", "lets": list(lets), "parts": [part]})
    assert isinstance(parsed, PlanReply)
    return parsed


def ran(plan: PlanReply, tables: Mapping[str, Table]) -> PartResult:
    """The result of a plan's first part, after both engines agreed and the schema proved true."""
    return agreed(checked_plan(plan, tables, clock=CLOCK), tables)


def agreed(checked: CheckedPlan, tables: Mapping[str, Table], *, code: bool = True) -> PartResult:
    """The same for a plan that is checked already; `code` writes it as SQL and Polars too."""
    result = run(checked, tables, code=code)[0]
    for column, values in zip(result.checked.shown, result.frame.get_columns(), strict=True):
        _holds(column, values)
    _holds_rows(result)
    check = crosscheck(checked, 0, result.frame, tables, 10_000)
    assert check.passed is not False, f"{check.detail}\n{result.sql}\n{result.frame}"
    assert check.passed or "the second engine" not in check.detail, f"{check.detail}\n{result.sql}"
    return result


def rows(result: PartResult) -> list[list[Any]]:
    return [[json_cell(cell) for cell in row] for row in result.frame.iter_rows()]


def _holds(column: Column, values: pl.Series) -> None:
    """A column's kind, bounds, and promise of no missing value."""
    known = values.drop_nulls()
    wide = column.kind is Kind.INTEGER and values.dtype == pl.String
    assert wide or known.is_empty() or values.dtype.base_type() in TYPES[column.kind], (
        f"{column.name} was said to be {column.kind} and is {values.dtype}"
    )
    assert column.nullable or values.null_count() == 0, f"{column.name} was said to be never missing"
    if column.kind is Kind.INTEGER and not wide and not known.is_empty():
        low, high = known.min(), known.max()
        assert column.low is None or low >= column.low, f"{column.name} falls below its bound"  # type: ignore[operator]
        assert column.high is None or high <= column.high, f"{column.name} passes its bound"  # type: ignore[operator]
    if column.unique and not values.dtype.is_nested():
        assert known.n_unique() == known.len(), f"{column.name} was said to be unique"
    if column.zone and isinstance(values.dtype, pl.Datetime):
        assert values.dtype.time_zone == column.zone


def _holds_rows(result: PartResult) -> None:
    schema = result.checked.shown
    if schema.one_row:
        assert result.total_rows <= 1, "at most one row was promised"
    if schema.most_rows is not None:
        assert result.total_rows <= schema.most_rows, (
            f"at most {schema.most_rows} rows were promised, not {result.total_rows}"
        )
    by_id = {column.id: values for column, values in zip(schema, result.frame.get_columns(), strict=True)}
    for key in schema.keys:
        if key and key <= by_id.keys():
            together = pl.DataFrame([by_id[id].alias(id) for id in sorted(key)])
            assert together.n_unique() == together.height, "columns said to be a key are not"


def same(got: Any, wanted: Any) -> bool:
    """Cells alike; numbers within 1e-9."""
    if isinstance(got, list) and isinstance(wanted, list):
        return len(got) == len(wanted) and all(same(a, b) for a, b in zip(got, wanted, strict=True))
    if isinstance(got, float) and isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return abs(got - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return (type(got) is type(wanted) and got == wanted) or (
        isinstance(wanted, float) and isinstance(got, int) and not isinstance(got, bool) and got == wanted
    )
