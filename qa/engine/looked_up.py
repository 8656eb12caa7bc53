"""Sums of what a look-up brought are told: each value is added once for every row that looks it up."""

from __future__ import annotations

from collections.abc import Mapping

from qa.engine.ledger import lets_read
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.steps.join import CheckedJoin
from qa.plan.steps.summarize import CheckedSummarize
from qa.plan.typed import Aggregate, Ref, Typed, walk

LOOK_UPS = frozenset({"left", "inner"})


def looked_up_sums(plan: CheckedPlan, part: CheckedPart) -> list[str]:
    """A sentence for each sum over nothing but columns of a table that was looked up by a key that repeats.

    A look-up repeats no row, so such a sum is no fan-out; but an order's shipping added over the lines of the order
    counts once a line. Sums over rows of the looked-up table itself need the plan to start there.
    """
    pipelines = [*(plan.lets[name] for name in lets_read(plan.lets, part.pipeline)), part.pipeline]
    return list(dict.fromkeys(text for pipeline in pipelines for text in _told(pipeline)))


def _told(pipeline: CheckedPipeline) -> list[str]:
    brought: dict[str, str] = {}
    found: list[str] = []
    for step in pipeline.steps:
        if isinstance(step, CheckedJoin) and step.step.how in LOOK_UPS and _repeats(step):
            brought |= {new: step.owner for _, new in step.kept}
        if isinstance(step, CheckedSummarize):
            for metric in step.metrics:
                for node in walk(metric.typed):
                    if (
                        isinstance(node, Aggregate)
                        and node.function == "sum"
                        and (named := _all_brought(node, brought))
                    ):
                        columns, owner = named
                        found.append(
                            f"{metric.column.name} adds {columns} of {owner} once for each row of {pipeline.source}, "
                            f"not once for each row of {owner}."
                        )
            brought = {}
    return found


def _repeats(step: CheckedJoin) -> bool:
    """True when rows may look up the same row: no left key is unique."""
    return not any(isinstance(pair.left, Ref) and pair.left.column.unique for pair in step.keys.pairs)


def _all_brought(node: Typed, brought: Mapping[str, str]) -> tuple[str, str] | None:
    """(column names, table) when every column below came from one look-up."""
    columns = [below.column for below in walk(node) if isinstance(below, Ref)]
    owners = {brought.get(column.id) for column in columns}
    owner = next(iter(owners)) if len(owners) == 1 else None
    return (" and ".join(dict.fromkeys(column.name for column in columns)), owner) if owner else None
