"""What is counted beside a result on the cluster, in one statement: rows of each step, watches and guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from sqlglot import exp

from qa.engine.ledger import lets_read
from qa.engine.result import Ledger
from qa.engine.spark.statement import SparkEngine
from qa.engine.spark.tallies import tied, unmatched
from qa.errors import Issue, PlanError
from qa.plan.check import CheckedPipeline
from qa.plan.functions.sqltools import BIGINT, cast
from qa.plan.sql_terms import name
from qa.plan.steps.join import CheckedJoin
from qa.plan.steps.limit import CheckedLimit
from qa.plan.steps.step import sql_outputs
from qa.plan.steps.summarize import CheckedSummarize
from qa.plan.steps.window import CheckedWindow
from qa.plan.typed import Guard, Output, Typed, Watch, Windowed, walk

_N = "n"


@dataclass(frozen=True)
class Told:
    """The counts of one pipeline."""

    total: int | None
    rows: dict[int, int]
    warnings: tuple[str, ...] = ()

    def ledger(self, pipeline: CheckedPipeline, total: int) -> tuple[Ledger, ...]:
        """Rows into and out of each step."""
        known = {**self.rows, len(pipeline.steps): total}
        return tuple(
            Ledger(
                place + 1,
                step.step.op,
                known.get(place),
                known.get(place + 1),
                step.note(known.get(place), known.get(place + 1)),
            )
            for place, step in enumerate(pipeline.steps)
        )


@dataclass
class Counts:
    """Gathers the counts of a pipeline and of the lets that it rests on."""

    engine: SparkEngine
    pipeline: CheckedPipeline
    selects: dict[str, exp.Select] = field(default_factory=dict)
    watched: dict[str, Watch | Guard] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tables = self.engine.prefixes(self.pipeline)
        for place, table in enumerate(tables[:-1]):
            self.add(f"rows{place}", exp.select(exp.Count(this=exp.Star())).from_(table.copy()))
        self._beside(self.pipeline.steps, tables, "")
        for let in lets_read(self.engine.lets, self.pipeline):
            inner = self.engine.lets[let]
            self._beside(inner.steps, self.engine.prefixes(inner), f"In {let}: ")

    def add(self, key: str, select: exp.Select) -> None:
        self.selects[key] = select

    def told(self, fetch: Callable[[exp.Select], pl.DataFrame]) -> Told:
        """The counts, and the warnings that they give. Raises PlanError when a fatal guard is true."""
        if not self.selects:
            return Told(None, {})
        row = fetch(
            exp.select(*(exp.alias_(exp.Subquery(this=one), key, quoted=True) for key, one in self.selects.items()))
        )
        found = {key: int(row[key].item() or 0) for key in self.selects}
        true = [(item, found[key]) for key, item in self.watched.items() if found[key]]
        fatal = [
            Issue(item.code, "", item.message.format(n=f"{n:,}"), item.hint) for item, n in true if isinstance(item, Guard) and item.fatal
        ]  # fmt: skip
        if fatal:
            raise PlanError(fatal)
        rows = {int(key.removeprefix("rows")): n for key, n in found.items() if key.startswith("rows")}
        return Told(found.get("total"), rows, tuple(item.message.format(n=f"{n:,}") for item, n in true))

    def _beside(self, steps: Sequence[Any], tables: Sequence[exp.Table], prefix: str) -> None:
        for step, table in zip(steps, tables, strict=False):
            for item, select in self._of(step, table):
                key = f"w{len(self.watched)}"
                self.watched[key] = replace(item, message=f"{prefix}{item.message}") if prefix else item
                self.add(key, select)

    def _of(self, step: Any, table: exp.Table) -> Iterator[tuple[Watch | Guard, exp.Select]]:
        """Each watch and guard of a step with a select of one count, on the rows entering it."""
        for piece in (step.inner,) if hasattr(step, "inner") else getattr(step, "pieces", ()):
            rows = table
            for one in piece:
                yield from self._of(one, rows)
                rows = self.engine.named(one.sql(rows, self.engine), one.step.op)
        yield from self._watches(step, table)
        yield from self._guards(step, table)

    def _watches(self, step: Any, table: exp.Table) -> Iterator[tuple[Watch, exp.Select]]:
        match step:
            case CheckedLimit():
                yield from tied(step, table, self.engine)
                return
            case CheckedJoin():
                yield from unmatched(step, table, self.engine)
                return
        plain = [w for w in step.watches if not (isinstance(step, CheckedWindow) and _windowed(w.condition))]
        if plain:
            ready = self._entering(step, table, [watch.condition for watch in plain])
            for watch in plain:
                yield (
                    watch,
                    self._sum(exp.select(exp.alias_(self.engine.terms(watch.condition), _N)).from_(ready.copy())),
                )

    def _guards(self, step: Any, table: exp.Table) -> Iterator[tuple[Guard, exp.Select]]:
        if not step.guards:
            return
        keys: list[exp.Expression] = []
        terms: Any = self.engine.terms
        ready = self._entering(step, table, [])
        if isinstance(step, CheckedSummarize):
            coarser = step.coarser()
            if coarser:
                more = [exp.alias_(self.engine.terms(node), id, quoted=True) for node, id in coarser.items()]
                ready = self.engine.named(exp.select(exp.Star(), *more).from_(ready), "coarser")
            terms, keys = replace(terms, hoisted=coarser), [name(key.column.id) for key in step.keys]
        for guard in step.guards:
            select = exp.select(exp.alias_(terms(guard.condition), _N)).from_(ready.copy())
            yield guard, self._sum(select.group_by(*(key.copy() for key in keys)) if keys else select)

    def _entering(self, step: Any, table: exp.Table, conditions: Sequence[Typed]) -> exp.Table:
        """The rows entering a step, with the columns that its conditions may read beside them."""
        engine = self.engine
        first: Sequence[Output] = ()
        if isinstance(step, CheckedSummarize):
            first = [key for key in step.keys if key.computed]
        elif isinstance(step, CheckedWindow):
            first = step.first
        ready = step.sql_ready(
            sql_outputs(table, first, engine), engine, *(o.typed for o in getattr(step, "outputs", ())), *conditions
        )
        if isinstance(step, CheckedWindow):
            return sql_outputs(ready, step.outputs, engine, step.sql_terms(engine))
        return sql_outputs(ready, getattr(step, "outputs", ()), engine)

    def _sum(self, inner: exp.Select) -> exp.Select:
        rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("c")))
        return exp.select(exp.Sum(this=cast(exp.column(_N), BIGINT))).from_(rows)


def _windowed(typed: Typed) -> bool:
    return any(isinstance(node, Windowed) for node in walk(typed))
