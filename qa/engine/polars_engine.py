"""Checked plans as lazy Polars."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Literal, Protocol

import polars as pl

from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.polars_terms import PolarsTerms, order_arguments
from qa.plan.steps.step import with_outputs
from qa.types import ROW, Order, Schema

Engine = Literal["in-memory", "streaming"]

SMALL = 200_000
"""Rows below which the in-memory engine wins (measured)."""

STRAIGHT = frozenset({"filter", "derive", "select", "rename"})
"""Steps that keep the order of the rows without being told."""


class Scanned(Protocol):
    """A table whose rows can be scanned lazily as engine columns."""

    @property
    def rows(self) -> int: ...
    def scan(self, row_number: str | None = None) -> pl.LazyFrame: ...


class PolarsEngine:
    """Lowers the pipelines of one checked plan over tables; lets that formulas read are collected once."""

    all_rows = False

    def __init__(self, plan_lets: Mapping[str, CheckedPipeline], tables: Mapping[str, Scanned]) -> None:
        self.lets = plan_lets
        self.tables = tables
        self.terms = PolarsTerms(self.let_rows)
        self._let_rows: dict[str, pl.DataFrame] = {}
        self.engine = engine_for(tables)

    def let_rows(self, let: str) -> pl.DataFrame:
        """The collected rows of a let, in its order."""
        if let not in self._let_rows:
            pipeline = self.lets[let]
            frame = ordered_rows(self.frame(pipeline, needs_row(pipeline)), pipeline)
            self._let_rows[let] = frame.collect(engine=self.engine)
        return self._let_rows[let]

    def pipeline(self, pipeline: CheckedPipeline) -> pl.LazyFrame:
        """A pipeline's rows, with the row number where its own order needs it."""
        return self.frame(pipeline, needs_row(pipeline))

    def frame(self, pipeline: CheckedPipeline, rows: bool) -> pl.LazyFrame:
        self.all_rows |= _reads(pipeline)
        return self.prefixes(pipeline, rows)[-1]

    def start(self, pipeline: CheckedPipeline, rows: bool) -> pl.LazyFrame:
        if pipeline.let is not None:
            let = self.lets[pipeline.let]
            return self.frame(let, rows or needs_row_inside(let))
        rows |= self.all_rows
        frame = self.tables[pipeline.source].scan(ROW if rows else None)
        moved = {
            column.origin[1]: column.id for column in pipeline.start if column.origin and column.origin[1] != column.id
        }
        frame = frame.rename(moved) if moved else frame
        return frame.with_columns(pl.col(ROW).cast(pl.Int64)) if rows else frame

    def prefixes(self, pipeline: CheckedPipeline, rows: bool) -> list[pl.LazyFrame]:
        """The frame entering each step, and the one after the last."""
        self.all_rows |= _reads(pipeline)
        frames = [self.start(pipeline, rows)]
        for step, following in zip_longest(pipeline.steps, pipeline.steps[1:]):
            unused = step.unused(following)
            frames.append(step.polars(frames[-1].drop(unused, strict=False) if unused else frames[-1], self))
        return frames


def _reads(pipeline: CheckedPipeline) -> bool:
    """True when a step reads another table. Polars 2.1 mixes up scans of one file with and without a row number, so all have one."""
    return any(getattr(step, "reads", ()) for step in pipeline.steps)


def engine_for(tables: Mapping[str, Scanned]) -> Engine:
    """The Polars engine for tables of this size."""
    return "in-memory" if all(table.rows < SMALL for table in tables.values()) else "streaming"


def needs_row_inside(pipeline: CheckedPipeline) -> bool:
    """True when a step of the pipeline uses an order that comes from the file."""
    return any(step.uses_order and uses_row(step.before.order) for step in pipeline.steps)


def needs_row(pipeline: CheckedPipeline) -> bool:
    """True when the result's order, or a step's, comes from the file and is not kept by itself."""
    return needs_row_inside(pipeline) or (uses_row(pipeline.schema.order) and not straight(pipeline))


def straight(pipeline: CheckedPipeline) -> bool:
    """True when every step keeps the file's order without a sort."""
    return (
        pipeline.let is None
        and pipeline.schema.order == (Order(ROW),)
        and all(step.step.op in STRAIGHT for step in pipeline.steps)
        and not needs_row_inside(pipeline)
    )


def uses_row(order: tuple[Order, ...]) -> bool:
    return any(key.id == ROW for key in order)


def in_order(frame: pl.LazyFrame, schema: Schema) -> pl.LazyFrame:
    return frame.sort(**order_arguments(schema.order)) if schema.order else frame


def ordered_rows(frame: pl.LazyFrame, pipeline: CheckedPipeline) -> pl.LazyFrame:
    """A pipeline's rows in its order; nothing to do where every step kept the file's."""
    return frame if straight(pipeline) else in_order(frame, pipeline.schema)


def part_frame(engine: PolarsEngine, part: CheckedPart) -> pl.LazyFrame:
    """The whole result of a part in its order, as engine columns."""
    frame = engine.frame(part.pipeline, needs_row(part.pipeline))
    frame = with_outputs(frame, part.outputs, engine)
    return ordered_rows(frame, part.pipeline)


def compiled(plan: CheckedPlan, tables: Mapping[str, Scanned], part: int = 0) -> pl.LazyFrame:
    """One part of a plan as a lazy frame under display names; nothing is run."""
    engine = PolarsEngine(plan.lets, tables)
    checked = plan.parts[part]
    return part_frame(engine, checked).select(
        [pl.col(c.id).alias(h) for c, h in zip(checked.shown, checked.headers, strict=True)]
    )


def tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Coded text as text, nothing wider than 64 bits except as decimal text, no NaN or infinity."""
    changes = []
    for name, dtype in frame.schema.items():
        column = pl.col(_literal(name))
        if dtype in (pl.Categorical, pl.Enum):
            changes.append(column.cast(pl.String))
        elif dtype == pl.Int128:
            series = frame[name]
            fits = series.drop_nulls().is_between(-(2**63), 2**63 - 1).all()
            changes.append(column.cast(pl.Int64 if fits else pl.String))
        elif dtype in (pl.UInt32, pl.UInt64, pl.Int32, pl.Int16, pl.Int8, pl.UInt8, pl.UInt16):
            changes.append(column.cast(pl.Int64))
        elif dtype in (pl.Float64, pl.Float32):
            changes.append(pl.when(column.is_finite()).then(column).cast(pl.Float64).alias(name))
        elif dtype == pl.Null:
            changes.append(column.cast(pl.String))
    return frame.with_columns(changes) if changes else frame


def _literal(name: str) -> str:
    """Engine names are plain, so a column name is never a pattern."""
    return name
