"""Tables that lie on a cluster already, and what the order of their rows may be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qa.data.cluster_table import ClusterTable
from qa.engine.polars_engine import needs_row, uses_row
from qa.errors import Issue, PlanError
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan

MEANT = frozenset({"summarize", "derive", "pivot", "window", "filter"})
"""Steps whose values depend on the order, not only which of equal rows are kept."""


def is_remote(tables: Mapping[str, Any]) -> bool:
    """True when a table lies on a cluster."""
    return any(isinstance(table, ClusterTable) for table in tables.values())


def rests_on_order(plan: CheckedPlan, part: CheckedPart, tables: Mapping[str, Any]) -> bool:
    """True when a part shows, cuts or ranks rows by an order that a cluster's table does not have.

    Raises PlanError where values depend on it.
    """
    if not is_remote(tables):
        return False
    pipelines = [*plan.lets.values(), part.pipeline]
    for pipeline in pipelines:
        for step in pipeline.steps:
            first = step.before.order[:1]
            if step.uses_order and uses_row(first) and step.step.op in MEANT and not getattr(step.step, "order", None):
                raise PlanError(
                    Issue(
                        "no_row_order", "", f"{step.step.op} uses the order of the rows, and rows on a cluster have none.",
                        "Sort by a column first, or give the step an order.",
                    )
                )  # fmt: skip
    return any(needs_row(pipeline) for pipeline in _with_reads(pipelines))


def _with_reads(pipelines: list[CheckedPipeline]) -> Iterator[CheckedPipeline]:
    for pipeline in pipelines:
        yield pipeline
        for step in pipeline.steps:
            yield from getattr(step, "reads", ())
