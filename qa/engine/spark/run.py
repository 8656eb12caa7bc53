"""Runs a checked plan on a cluster: rows, ledger, support and warnings, as the local engine gives them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from sqlglot import exp

from qa.data.cluster import Cluster, Tick
from qa.engine.few_rows import few_rows
from qa.engine.incomplete import incomplete_periods
from qa.engine.ledger import support_of
from qa.engine.polars_engine import PolarsEngine, tidy
from qa.engine.result import PartResult
from qa.engine.spark.counts import Counts
from qa.engine.spark.remote import is_remote, rests_on_order
from qa.engine.spark.statement import SparkEngine, Statement
from qa.engine.sql_code import readable_sql
from qa.engine.sql_engine import run_over
from qa.errors import Issue, LimitExceeded, PlanError
from qa.plan.check import CheckedPart, CheckedPlan
from qa.plan.functions.aggregates import NoTwin
from qa.types import Column, Kind

if TYPE_CHECKING:
    from qa.data.table import Table

FETCHED_MOST = 1_000_000
"""Rows that are brought here to finish what only SciPy can."""

NO_ORDER = "Rows on a cluster have no order of their own: where this plan uses one, it is that in which the cluster reads them."


@dataclass(frozen=True)
class Run:
    """What a run needs beside the plan: the cluster, the tables, and how long it may take."""

    cluster: Cluster
    tables: Mapping[str, Table]
    seconds: float
    send_mb: int
    tick: Tick | None = None

    def view(self, table: Table) -> str:
        """The name under which the cluster knows a loaded table."""
        return self.cluster.view(table, self.send_mb)

    def fetched(self, statement: Statement) -> pl.DataFrame:
        """The rows of a statement; what only SciPy can do is done here on what the cluster gives."""
        if statement.finish is None:
            return self.cluster.rows(statement.sql, self.seconds, self.tick)
        inputs: dict[str, pl.DataFrame] = {}
        for name, sql in statement.fetched.items():
            inputs[name] = self.cluster.rows(f"{sql} LIMIT {FETCHED_MOST + 1}", self.seconds, self.tick)
            if inputs[name].height > FETCHED_MOST:
                raise LimitExceeded(
                    Issue(
                        "too_big_to_finish", "", f"This plan's statistics rest on more than {FETCHED_MOST:,} rows, which are not brought from the cluster.",
                        "Take a sample or summarize first.",
                    )
                )  # fmt: skip
        return run_over(statement.finish, inputs)


def run_on(run: Run, plan: CheckedPlan, rows: int) -> list[PartResult]:
    """The result of each part; `rows` caps what is handed out. Raises PlanError for what the cluster cannot do
    as the language means it, LimitExceeded, and whatever `tick` raises."""
    return [_part(run, plan, index, part, rows) for index, part in enumerate(plan.parts)]


def _part(run: Run, plan: CheckedPlan, index: int, part: CheckedPart, rows: int) -> PartResult:
    started = time.perf_counter()
    ordered = rests_on_order(plan, part, run.tables)
    support = support_of(part.pipeline)
    try:
        engine = SparkEngine(plan.lets, run.tables, run.view)
        select = engine.part_select(part, support.hidden if support else [])
        shown = run.fetched(engine.statement(select.copy(), rows + 1))
        truncated = shown.height > rows
        counts = Counts(engine, part.pipeline)
        if truncated:
            counts.add(
                "total",
                exp.select(exp.Count(this=exp.Star())).from_(
                    exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier("w")))
                ),
            )
        told = counts.told(lambda one: run.fetched(engine.statement(one)))
    except NoTwin as reason:
        raise PlanError(not_there(str(reason))) from None
    shown = shown.head(rows)
    held = support.read(shown) if support else {}
    cells = tidy(shown.select(_as_kind(column, f"s{place}", shown) for place, column in enumerate(part.shown)))
    total = told.total if truncated and told.total is not None else shown.height
    warnings = [*told.warnings, *_here(run, plan, part, cells, held, not truncated)]
    frame = cells.rename({f"s{place}": header for place, header in enumerate(part.headers)})
    return PartResult(
        frame=frame, checked=part, total_rows=total, truncated=truncated, ledger=told.ledger(part.pipeline, total), support=held,
        notes=(*part.notes, *([NO_ORDER] if ordered else [])), warnings=tuple(dict.fromkeys(warnings)), sql=_sql(plan, index),
        polars="# the rows lie on a cluster" if is_remote(run.tables) else "", ms=(time.perf_counter() - started) * 1000,
    )  # fmt: skip


def not_there(reason: str) -> Issue:
    """A plan that the cluster does not do as the language means it."""
    return Issue(
        "not_on_cluster", "", f"This plan does not run on the cluster: {reason}.", "Use the local engine for it."
    )


_TYPES: dict[Kind, Any] = {
    Kind.BOOLEAN: pl.Boolean, Kind.NUMBER: pl.Float64, Kind.TEXT: pl.String, Kind.DATE: pl.Date,
}  # fmt: skip


def _as_kind(column: Column, id: str, frame: pl.DataFrame) -> pl.Expr:
    """A cell as the local engine would hand it out."""
    value, dtype = pl.col(id), frame.schema[id]
    match column.kind:
        case Kind.INTEGER if isinstance(dtype, pl.Decimal):
            return value.cast(pl.Int128)
        case Kind.TIME if dtype.is_integer():
            return (value * 1000).cast(pl.Time)
        case Kind.DURATION if dtype.is_integer():
            return value.cast(pl.Duration("us"))
        case Kind.DATETIME if isinstance(dtype, pl.Datetime) and column.zone:
            moment = value if dtype.time_zone else value.dt.replace_time_zone("UTC")
            return moment.dt.convert_time_zone(column.zone)
        case Kind.DATETIME if isinstance(dtype, pl.Datetime):
            return value.dt.replace_time_zone(None).cast(pl.Datetime("us"))
        case kind if kind in _TYPES and dtype != _TYPES[kind]:
            return value.cast(_TYPES[kind])
    return value


def _here(
    run: Run, plan: CheckedPlan, part: CheckedPart, cells: pl.DataFrame, held: dict[str, Any], whole: bool
) -> list[str]:
    """Warnings that look at the tables themselves, where they lie here."""
    if is_remote(run.tables):
        return []
    engine = PolarsEngine(plan.lets, run.tables)
    return [*incomplete_periods(engine, plan, part, cells, whole), *few_rows(engine, plan, part, cells, held)]


def _sql(plan: CheckedPlan, index: int) -> str:
    try:
        return readable_sql(plan, index, "spark")
    except NoTwin as reason:
        return f"-- no SQL for this plan: {reason}"
