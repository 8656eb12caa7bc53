"""Jobs of the pool that are for a cluster: the same checks, runs and caps, there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa.data.cluster import ClusterFailed, Tick, cluster
from qa.data.cluster_table import ClusterTable
from qa.engine.result import Check
from qa.engine.spark.probe import MeasuredThere
from qa.engine.spark.run import Run, not_there, run_on
from qa.engine.wire import Job
from qa.errors import Issue, PlanError
from qa.plan.check import check
from qa.plan.functions.aggregates import NoTwin
from qa.plan.plan import PlanReply, parse_reply
from qa.settings import Settings


def address_of(tables: Mapping[str, Any], settings: Settings) -> str | None:
    """The cluster that a job over these tables is for; None for the workers of this machine."""
    there = {table.address for table in tables.values() if isinstance(table, ClusterTable)}
    if settings.engine == "spark" and settings.spark is None:
        raise ClusterFailed(
            Issue("no_cluster", "", "QA_ENGINE is spark and no cluster is named.", "Set QA_SPARK=sc://host:port.")
        )
    if settings.engine == "spark" and settings.spark:
        there.add(settings.spark)
    if len(there) > 1:
        raise ClusterFailed(
            Issue("two_clusters", "", "These tables lie on different clusters.", "Ask of the tables of one cluster.")
        )
    return next(iter(there), None)


def done_there(job: Job, address: str, settings: Settings, tick: Tick | None) -> Any:
    """The value of a job that a cluster does. PlanError, LimitExceeded, ClusterFailed, and whatever `tick` raises."""
    if job.kind == "crosscheck":
        return [Check("second engine", None, "Not cross-checked: the rows lie on a cluster.") for _ in job.frames]
    run = Run(cluster(address), job.tables, settings.query_seconds, settings.spark_send_mb, tick)
    reply = parse_reply(job.reply)
    assert isinstance(reply, PlanReply)
    try:
        plan = check(reply, job.tables, clock=job.clock, probe=MeasuredThere(run), metrics=job.metrics)
    except NoTwin as reason:
        raise PlanError(not_there(str(reason))) from None
    return None if job.kind == "check" else run_on(run, plan, job.rows)
