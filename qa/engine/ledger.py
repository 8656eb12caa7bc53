"""The row ledger: rows in and out of each step, what was counted on the way, and the support of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import polars as pl
from pydantic import BaseModel

from qa.engine.polars_engine import Engine, PolarsEngine, needs_row
from qa.engine.result import Ledger
from qa.errors import Issue, PlanError
from qa.plan.check import CheckedPipeline
from qa.plan.steps.join import CheckedJoin
from qa.plan.steps.step import CheckedStep
from qa.plan.steps.summarize import CheckedSummarize
from qa.plan.typed import Aggregate, Guard, Members, Ref, Scalar, Watch
from qa.types import Column, Schema

CARRYING = frozenset({"filter", "derive", "sort", "limit", "select", "rename", "window"})
"""Steps through which a summary's support columns ride along."""


@dataclass(frozen=True)
class Counted:
    """The ledger of one pipeline, and the warnings its counts gave."""

    ledger: tuple[Ledger, ...]
    warnings: tuple[str, ...]


def counted(engine: PolarsEngine, pipeline: CheckedPipeline, rows: bool, total: int) -> Counted:
    """Counts what is not known beforehand in one go. `total` is the number of rows after the last step.

    Raises PlanError when a fatal guard is true.
    """
    frames = engine.prefixes(pipeline, rows)
    known = _known(engine, pipeline, total)
    wanted = [index for index, count in enumerate(known) if count is None]
    lengths = [frames[index].select(pl.len().cast(pl.Int64).alias("n")) for index in wanted]
    tallies, guards = _watched(engine, pipeline, frames)
    for let in lets_read(engine.lets, pipeline):
        inner = engine.lets[let]
        watched, guarded = _watched(engine, inner, engine.prefixes(inner, needs_row(inner)))
        tallies += [(replace(watch, message=f"In {let}: {watch.message}"), frame) for watch, frame in watched]
        guards += [(replace(guard, message=f"In {let}: {guard.message}"), frame) for guard, frame in guarded]
    values = _collected([*lengths, *(frame for _, frame in tallies), *(frame for _, frame in guards)], engine.engine)
    for index, value in zip(wanted, values, strict=False):
        known[index] = value
    rest = values[len(wanted) :]
    warnings = [*_told(tallies, rest), *_guarded(guards, rest[len(tallies) :])]
    ledger = [_row(index, step, known[index], known[index + 1]) for index, step in enumerate(pipeline.steps)]
    return Counted(tuple(ledger), tuple(dict.fromkeys(warnings)))


def _watched(
    engine: PolarsEngine, pipeline: CheckedPipeline, frames: Sequence[pl.LazyFrame]
) -> tuple[list[tuple[Watch, pl.LazyFrame]], list[tuple[Guard, pl.LazyFrame]]]:
    steps = list(zip(pipeline.steps, frames, strict=False))
    tallies = [pair for step, frame in steps for pair in step.tallies(frame, engine)]
    for index, (step, frame) in enumerate(steps):
        if isinstance(step, CheckedJoin):
            tallies += step.amounts(frame, engine, _summed(step.before, pipeline.steps[index + 1 :]))
    return tallies, [pair for step, frame in steps for pair in step.guarded(frame, engine)]


def _summed(schema: Schema, later: Sequence[CheckedStep]) -> list[Column]:
    """The columns of a table whose plain sum a later step takes."""
    sums = {
        metric.typed.args[0].column.id
        for step in later
        if isinstance(step, CheckedSummarize)
        for metric in step.metrics
        if isinstance(metric.typed, Aggregate)
        and metric.typed.function == "sum"
        and metric.typed.where is None
        and isinstance(metric.typed.args[0], Ref)
    }
    return [column for column in schema if column.id in sums]


def lets_read(lets: Mapping[str, CheckedPipeline], pipeline: CheckedPipeline) -> list[str]:
    """The lets that a pipeline rests on, directly or through another, each after those that it reads."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in lets and name not in found:
            for inner in _named_lets(lets[name]):
                visit(inner)
            found[name] = None

    for name in _named_lets(pipeline):
        visit(name)
    return list(found)


def _named_lets(pipeline: CheckedPipeline) -> Iterator[str]:
    if pipeline.let is not None:
        yield pipeline.let
    for step in pipeline.steps:
        yield from _mentioned(step)


def _mentioned(value: Any) -> Iterator[str]:
    """The lets named by formulas and tables anywhere in a checked step."""
    match value:
        case Scalar(let=let) | Members(let=str() as let):
            yield let
        case CheckedPipeline():
            yield from _named_lets(value)
        case Schema() | BaseModel():
            return
        case list() | tuple():
            for item in value:
                yield from _mentioned(item)
        case _ if is_dataclass(value):
            for field in fields(value):
                yield from _mentioned(getattr(value, field.name))


def _collected(frames: Sequence[pl.LazyFrame], engine: Engine) -> list[int]:
    """One number a frame: a count, or an amount to two decimals."""
    results = pl.collect_all(frames, engine=engine) if frames else []
    values = [result.item() or 0 for result in results]
    return [value if isinstance(value, int) else round(value, 2) for value in values]


def _known(engine: PolarsEngine, pipeline: CheckedPipeline, total: int) -> list[int | None]:
    """Row counts that follow from the table, the form of the steps, or the result."""
    counts: list[int | None] = [engine.tables[pipeline.source].rows if pipeline.let is None else None]
    for step in pipeline.steps:
        counts.append(
            counts[-1] if step.same_rows else 1 if step.after.one_row and step.step.op == "summarize" else None
        )
    counts[-1] = total
    for index in range(len(pipeline.steps) - 1, -1, -1):
        if pipeline.steps[index].same_rows and counts[index] is None:
            counts[index] = counts[index + 1]
    return counts


def _told(tallies: Sequence[tuple[Watch, pl.LazyFrame]], values: Sequence[int]) -> list[str]:
    return [watch.message.format(n=f"{value:,}") for (watch, _), value in zip(tallies, values, strict=False) if value]


def _guarded(guards: Sequence[tuple[Guard, pl.LazyFrame]], values: Sequence[int]) -> list[str]:
    true = [(guard, value) for (guard, _), value in zip(guards, values, strict=False) if value]
    fatal = [
        Issue(guard.code, "", guard.message.format(n=f"{value:,}"), guard.hint) for guard, value in true if guard.fatal
    ]
    if fatal:
        raise PlanError(fatal)
    return [guard.message.format(n=f"{value:,}") for guard, value in true]


def _row(index: int, step: Any, rows_in: int | None, rows_out: int | None) -> Ledger:
    return Ledger(index + 1, step.step.op, rows_in, rows_out, step.note(rows_in, rows_out))


@dataclass(frozen=True)
class Support:
    """The hidden columns of the last summary: rows of each group, and values used a metric."""

    rows_id: str
    values: tuple[tuple[str, str], ...]

    @property
    def hidden(self) -> list[str]:
        return [self.rows_id, *(id for _, id in self.values)]

    def read(self, shown: pl.DataFrame) -> dict[str, Any]:
        """`group_rows` in row order, `rows` in all shown groups, `missing_skipped` a metric."""
        rows = shown[self.rows_id]
        total = int(rows.sum() or 0)
        values = {metric: shown[id].to_list() for metric, id in self.values}
        skipped = {metric: total - int(shown[id].sum() or 0) for metric, id in self.values}
        return {
            "rows": total,
            "group_rows": rows.to_list(),
            "group_values": values,
            "missing_skipped": {m: n for m, n in skipped.items() if n},
        }


def support_of(pipeline: CheckedPipeline) -> Support | None:
    """The support of the last summarize, when its columns still ride along at the end."""
    for step in reversed(pipeline.steps):
        if isinstance(step, CheckedSummarize):
            return Support(step.rows_id, tuple((metric, id) for metric, id, _ in step.support))
        if step.step.op not in CARRYING:
            return None
    return None
