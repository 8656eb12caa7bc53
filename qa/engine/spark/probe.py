"""What the checker measures on data, measured on the cluster: row counts, keys, values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from qa.engine.spark.run import Run
from qa.engine.spark.statement import SparkEngine
from qa.plan.check import CheckedPipeline
from qa.plan.sql_terms import name, ordered
from qa.plan.typed import Typed

Lets = Mapping[str, CheckedPipeline]


class MeasuredThere:
    """The probe of the checker, on a cluster."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def most_per_key(self, pipeline: CheckedPipeline, keys: Sequence[str], lets: Lets) -> int | None:
        engine = self._engine(lets)
        columns: list[Any] = [name(key) for key in dict.fromkeys(keys)]
        known = exp.and_(*(exp.Not(this=exp.Is(this=c.copy(), expression=exp.Null())) for c in columns))
        rows = engine.named(exp.select(*columns).from_(engine.pipeline(pipeline)).where(known), "keyed")
        counts = engine.named(
            exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(rows).group_by(*columns), "counts"
        )
        return int(self._rows(engine, exp.select(exp.Max(this=exp.column("n"))).from_(counts))[0][0] or 0)

    def rows(self, pipeline: CheckedPipeline, lets: Lets) -> int | None:
        engine = self._engine(lets)
        return int(self._rows(engine, exp.select(exp.Count(this=exp.Star())).from_(engine.pipeline(pipeline)))[0][0])

    def distinct(self, pipeline: CheckedPipeline, column: str, most: int, lets: Lets) -> list[Any] | None:
        engine = self._engine(lets)
        source = engine.pipeline(pipeline)
        order = exp.Order(expressions=ordered(pipeline.schema.order)) if pipeline.schema.order else None
        place = exp.Window(this=exp.RowNumber(), order=order)
        placed = engine.named(exp.select(exp.alias_(name(column), "v"), exp.alias_(place, "p")).from_(source), "placed")
        first = exp.alias_(exp.Min(this=exp.column("p")), "p")
        select = exp.select("v", first).from_(placed).group_by("v").order_by("p").limit(most)
        return [value for value, _ in self._rows(engine, select)]

    def values(self, pipeline: CheckedPipeline, aggregates: Sequence[Typed], lets: Lets) -> tuple[Any, ...]:
        engine = self._engine(lets)
        source = engine.pipeline(pipeline)
        terms = [exp.alias_(engine.terms(typed), f"v{place}") for place, typed in enumerate(aggregates)]
        return self._rows(engine, exp.select(*terms).from_(source))[0]

    def _engine(self, lets: Lets) -> SparkEngine:
        return SparkEngine(lets, self.run.tables, self.run.view)

    def _rows(self, engine: SparkEngine, select: exp.Select) -> list[tuple[Any, ...]]:
        return self.run.fetched(engine.statement(select)).rows()
