"""Runs a checked plan: rows, ledger, support and warnings, in this process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from qa.engine.few_rows import few_rows
from qa.engine.incomplete import incomplete_periods
from qa.engine.ledger import counted, support_of
from qa.engine.looked_up import looked_up_sums
from qa.engine.polars_code import NoScript, script
from qa.engine.polars_engine import PolarsEngine, in_order, needs_row, needs_row_inside, part_frame, tidy, uses_row
from qa.engine.result import PartResult
from qa.engine.sql_code import readable_sql
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan, check
from qa.plan.functions.aggregates import NoTwin
from qa.plan.plan import PlanReply
from qa.plan.scope import Clock
from qa.plan.typed import Typed

if TYPE_CHECKING:
    from qa.data.table import Table

ROWS_SHOWN = 10_000
Lets = Mapping[str, CheckedPipeline]


class Measured:
    """Measures join keys, row counts and values on the data, for the checker."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def most_per_key(self, pipeline: CheckedPipeline, keys: Sequence[str], lets: Lets) -> int | None:
        engine = PolarsEngine(lets, self.tables)
        columns = [pl.col(key) for key in dict.fromkeys(keys)]
        known = engine.pipeline(pipeline).select(columns).drop_nulls()
        counts = known.group_by(columns).agg(pl.len().alias("n"))
        return int(counts.select(pl.col("n").max()).collect(engine=engine.engine).item() or 0)

    def rows(self, pipeline: CheckedPipeline, lets: Lets) -> int | None:
        engine = PolarsEngine(lets, self.tables)
        return int(engine.pipeline(pipeline).select(pl.len()).collect(engine=engine.engine).item())

    def distinct(self, pipeline: CheckedPipeline, column: str, most: int, lets: Lets) -> list[Any] | None:
        engine = PolarsEngine(lets, self.tables)
        frame = in_order(
            engine.frame(pipeline, needs_row_inside(pipeline) or uses_row(pipeline.schema.order)), pipeline.schema
        )
        values = (
            frame.select(pl.col(column))
            .unique(maintain_order=True)
            .head(most)
            .collect(engine=engine.engine)
            .to_series()
        )
        return (values.cast(pl.String) if values.dtype in (pl.Categorical, pl.Enum) else values).to_list()

    def values(self, pipeline: CheckedPipeline, aggregates: Sequence[Typed], lets: Lets) -> tuple[Any, ...]:
        engine = PolarsEngine(lets, self.tables)
        terms = [engine.terms(typed).alias(f"v{place}") for place, typed in enumerate(aggregates)]
        return engine.pipeline(pipeline).select(terms).collect(engine=engine.engine).row(0)


def checked_plan(
    reply: PlanReply, tables: Mapping[str, Table], clock: Clock | None = None, metrics: Mapping[str, str] | None = None
) -> CheckedPlan:
    """The plan checked against tables, join keys measured on their rows."""
    return check(reply, tables, clock=clock, probe=Measured(tables), metrics=metrics)


def run(
    plan: CheckedPlan, tables: Mapping[str, Table], *, rows: int = ROWS_SHOWN, ledger: bool = True, code: bool = True
) -> list[PartResult]:
    """The result of each part. `rows` caps what is handed out; `total_rows` counts all; `code` writes it as SQL and Polars.

    Raises PlanError when a guard finds the data contradicting the plan (`not_one_value`).
    """
    used = used_tables(plan)
    scanned = {name: table for name, table in tables.items() if name in used}
    return [_part(plan, index, part, scanned, rows, ledger, code) for index, part in enumerate(plan.parts)]


def used_tables(plan: CheckedPlan) -> set[str]:
    """The source tables that a plan reads."""
    found: set[str] = set()

    def visit(pipeline: CheckedPipeline) -> None:
        if pipeline.let is None:
            found.add(pipeline.source)
        for step in pipeline.steps:
            for other in getattr(step, "reads", ()):
                visit(other)

    for pipeline in (*plan.lets.values(), *(part.pipeline for part in plan.parts)):
        visit(pipeline)
    return found


def _part(
    plan: CheckedPlan, index: int, part: CheckedPart, tables: Mapping[str, Any], rows: int, ledger: bool, code: bool
) -> PartResult:
    started = time.perf_counter()
    engine = PolarsEngine(plan.lets, tables)
    whole = part_frame(engine, part)
    columns = [pl.col(column.id).alias(f"s{place}") for place, column in enumerate(part.shown)]
    support = support_of(part.pipeline)
    beside = [pl.col(id) for id in support.hidden] if support else []
    shown = whole.select([*columns, *beside]).head(rows + 1).collect(engine=engine.engine)
    truncated = shown.height > rows
    total = shown.height
    if truncated:
        total = int(whole.select(pl.len()).collect(engine=engine.engine).item())
        shown = shown.head(rows)
    held = support.read(shown) if support else {}
    cells = shown.select([f"s{place}" for place in range(len(columns))])
    frame = tidy(cells)
    frame = frame.rename({f"s{place}": header for place, header in enumerate(part.headers)})
    elapsed = (time.perf_counter() - started) * 1000
    found = counted(engine, part.pipeline, needs_row(part.pipeline), total) if ledger else None
    warnings = [*found.warnings, *incomplete_periods(engine, plan, part, cells, not truncated), *few_rows(engine, plan, part, cells, held)] if found else []  # fmt: skip
    return PartResult(
        frame=frame, checked=part, total_rows=total, truncated=truncated, ledger=found.ledger if found else (),
        support=held, notes=(*part.notes, *looked_up_sums(plan, part)), warnings=tuple(warnings),
        sql=_sql(plan, index) if code else "", polars=_polars(plan, index) if code else "", ms=elapsed,
    )  # fmt: skip


def _sql(plan: CheckedPlan, index: int) -> str:
    try:
        return readable_sql(plan, index)
    except NoTwin as reason:
        return f"-- no SQL for this plan: {reason}"


def _polars(plan: CheckedPlan, index: int) -> str:
    try:
        return script(plan, index)
    except NoScript as reason:
        return f"# no script for this plan: {reason}"
