"""Means, shares and correlations that rest on few rows are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qa.engine.ledger import lets_read
from qa.engine.polars_engine import PolarsEngine, needs_row
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.steps.summarize import CheckedSummarize
from qa.plan.typed import Aggregate, Output, walk

AVERAGED = frozenset({
    "mean", "median", "std", "var", "std_pop", "var_pop", "quantile", "iqr", "share_of_rows", "weighted_mean", "skew", "skew_pop",
    "kurtosis", "kurtosis_pop", "ci_low", "ci_high",
})  # fmt: skip
PAIRED = frozenset({"corr", "cov", "slope", "intercept", "r2"})
FEW, FEW_PAIRS = 5, 10
"""Rows below which a mean, or a relation between two columns, says little."""


def few_rows(
    engine: PolarsEngine, plan: CheckedPlan, part: CheckedPart, shown: pl.DataFrame, support: dict[str, Any]
) -> list[str]:
    """A sentence for each metric of the result, or of a summary that it rests on, whose groups have few rows.

    `support` is that of the rows handed out (`group_rows`, `group_values`), empty when it did not ride along.
    """
    found: list[str] = []
    riding = _last_summary(part.pipeline) if support else None
    for name in lets_read(plan.lets, part.pipeline):
        found += [f"In {name}: {text}" for text in _counted(engine, plan.lets[name], None)]
    found += _counted(engine, part.pipeline, riding)
    if riding is not None:
        grouped = bool(riding.keys)
        for metric, least in _wanted(riding):
            rows = support["group_values"].get(metric.column.name, support["group_rows"])
            found += told(Groups.of(rows, least), metric.column.name, least, grouped)
    found += _pairs(part, shown)
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Groups:
    """How many groups there are, how many of them have few rows, and the fewest and most rows of one."""

    count: int
    few: int
    smallest: int
    largest: int

    @staticmethod
    def of(rows: Sequence[int | None], least: int) -> Groups:
        known = [n for n in rows if n]
        few = sum(n < least for n in known)
        return Groups(sum(n is not None for n in rows), few, min(known, default=0), max(known, default=0))


def told(groups: Groups, name: str, least: int, grouped: bool) -> list[str]:
    """What to say when some of the groups behind a metric have fewer than `least` rows."""
    if not groups.few:
        return []
    if not grouped:
        return [f"{name} rests on {_rows(groups.smallest)} only."]
    if groups.largest == 1:
        return [f"Each group has one row, so {name} is no more than that row's value."]
    which = f"{groups.few:,} of {groups.count:,} groups rest" if groups.count > 1 else "The group rests"
    return [f"{name}: {which} on fewer than {least} rows, the smallest on {groups.smallest}."]


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"


def _last_summary(pipeline: CheckedPipeline) -> CheckedSummarize | None:
    return next((step for step in reversed(pipeline.steps) if isinstance(step, CheckedSummarize)), None)


def _wanted(step: CheckedSummarize) -> list[tuple[Output, int]]:
    """The metrics that average or relate, with the rows that they need."""
    found = []
    for metric in step.metrics:
        names = {node.function for node in walk(metric.typed) if isinstance(node, Aggregate) and node.where is None}
        least = FEW_PAIRS if names & PAIRED else FEW if names & AVERAGED else 0
        if least:
            found.append((metric, least))
    return found


def _counted(engine: PolarsEngine, pipeline: CheckedPipeline, riding: CheckedSummarize | None) -> list[str]:
    """The same for summaries whose support did not reach the result: their groups are counted."""
    found: list[str] = []
    waiting = [
        (index, step, wanted)
        for index, step in enumerate(pipeline.steps)
        if isinstance(step, CheckedSummarize) and step is not riding and (wanted := _wanted(step))
    ]
    if not waiting:
        return []
    frames = engine.prefixes(pipeline, needs_row(pipeline))
    for index, step, wanted in waiting:
        values = {metric: id for metric, id, _ in step.support}
        for metric, least in wanted:
            held = pl.col(values.get(metric.column.name, step.rows_id))
            size = held.filter(held > 0)
            counted = [held.count(), (size < least).sum(), size.min(), size.max()]
            rows = frames[index + 1].select([expr.alias(f"n{place}") for place, expr in enumerate(counted)])
            groups, few, smallest, largest = rows.collect(engine=engine.engine).row(0)
            found += told(Groups(groups, few, smallest or 0, largest or 0), metric.column.name, least, bool(step.keys))
    return found


def _pairs(part: CheckedPart, shown: pl.DataFrame) -> list[str]:
    """A correlation, test or fit whose `n` is small."""
    if not part.pipeline.steps or part.pipeline.steps[-1].step.op not in ("correlate", "test", "fit"):
        return []
    had = {column.id for column in part.pipeline.steps[-1].before}
    place = next((i for i, column in enumerate(part.shown) if column.name == "n" and column.id not in had), None)
    if place is None or not shown.height:
        return []
    counts = [n for n in shown[f"s{place}"].drop_nulls().to_list() if n < FEW_PAIRS]
    what = {"correlate": "correlation", "test": "test", "fit": "fit"}[part.pipeline.steps[-1].step.op]
    if not counts:
        return []
    if shown.height == 1:
        return [f"The {what} rests on {_rows(int(counts[0]))} only."]
    return [
        f"{len(counts)} of {shown.height} {what}s rest on fewer than {FEW_PAIRS} rows, the smallest on {int(min(counts))}."
    ]
