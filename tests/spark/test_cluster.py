"""The contract's plans on a real Spark cluster: every step and function gives the local result there, or is refused by name."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from qa import pipeline
from qa.data.catalog import Catalog
from qa.data.cluster import ClusterFailed, cluster
from qa.data.cluster_table import ClusterTable
from qa.engine.crosscheck import differs
from qa.engine.pool import Pool, Stopped
from qa.engine.result import PartResult
from qa.engine.run import checked_plan, run
from qa.errors import LimitExceeded, LoadError, PlanError, QAError
from qa.plan.functions.table import Example, Function
from qa.plan.plan import PlanReply
from qa.plan.steps import StepExample
from qa.settings import Settings
from tests.agreement import CLOCK, reply
from tests.contract.test_steps_and_functions import (
    FUNCTION_EXAMPLES,
    HOSTILE,
    STEP_EXAMPLES,
    _hostile,
    steps_of,
    tables_of,
)
from tests.tables import table

REFUSED: dict[str, str] = {}
"""The examples that the cluster refuses, with the code of the issue. None is left."""

HOSTILE_CASES = [
    pytest.param(
        case.values[0], list(HOSTILE)[place % len(HOSTILE)], id=f"{case.id}-{list(HOSTILE)[place % len(HOSTILE)]}"
    )
    for place, case in enumerate(STEP_EXAMPLES)
]


@pytest.fixture(scope="module")
def workers(spark_address: str) -> Any:
    pool = Pool(Settings(engine="spark", spark=spark_address, query_seconds=300, workers=1))
    yield pool
    pool.close()


def alike(there: PartResult, here: PartResult) -> None:
    """Rows, types, counts and warnings are those of the local engine."""
    assert differs(here.frame, there.frame) is None
    assert there.frame.schema == here.frame.schema
    assert (there.total_rows, there.truncated, there.support) == (here.total_rows, here.truncated, here.support)
    assert set(there.warnings) == set(here.warnings)
    assert [(row.rows_in, row.rows_out) for row in there.ledger] == [(row.rows_in, row.rows_out) for row in here.ledger]


def compared(plan: PlanReply, tables: Mapping[str, Any], workers: Pool, name: str) -> None:
    try:
        here = run(checked_plan(plan, tables, clock=CLOCK), tables)[0]
    except QAError as error:
        with pytest.raises(type(error)) as refused:
            workers.run(plan, tables, clock=CLOCK)
        assert {issue.code for issue in refused.value.issues} == {issue.code for issue in error.issues}
        return
    if name in REFUSED:
        with pytest.raises(QAError) as told:
            workers.run(plan, tables, clock=CLOCK)
        assert REFUSED[name] in {issue.code for issue in told.value.issues}
        return
    alike(workers.run(plan, tables, clock=CLOCK)[0], here)


@pytest.mark.parametrize("example", STEP_EXAMPLES)
def test_a_step_gives_the_local_result(example: StepExample, workers: Pool, request: pytest.FixtureRequest) -> None:
    compared(reply("t", [example.step]), tables_of(example.data, example.tables), workers, request.node.callspec.id)


@pytest.mark.parametrize(("function", "example"), FUNCTION_EXAMPLES)
def test_a_function_gives_the_local_result(function: Function, example: Example, workers: Pool) -> None:
    plan = reply("t", steps_of(function, example), show=["r"])
    compared(plan, tables_of(example.data), workers, example.formula)


@pytest.mark.parametrize(("example", "change"), HOSTILE_CASES)
def test_a_step_agrees_on_hostile_frames(example: StepExample, change: str, workers: Pool) -> None:
    tables = {
        "t": table("t", _hostile(example.data, change)),
        **{name: table(name, columns) for name, columns in (example.tables or {}).items()},
    }
    compared(reply("t", [copy.deepcopy(example.step)]), tables, workers, "")


SALES = {
    "region": ["north", "south", None, "north", "east"], "amount": [10.5, 2.0, 3.25, None, 7.0], "day": ["2024-01-05", "2024-02-01", "2024-02-09", None, "2024-03-31"],
    "n": [1, 2, 3, 4, 5],
}  # fmt: skip


def test_more_rows_than_the_cap_are_counted_and_cut(workers: Pool) -> None:
    tables = {"t": table("t", {"x": list(range(500))})}
    (result,) = workers.run(reply("t", [{"op": "sort", "order": ["x desc"]}]), tables, rows=10)
    assert (result.frame["x"].to_list(), result.total_rows, result.truncated) == (list(range(499, 489, -1)), 500, True)


def test_an_answer_from_the_cluster_is_cross_checked_here(workers: Pool) -> None:
    plan = reply("t", [{"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total"]}])
    answer = pipeline.run_plan(plan, [table("t", SALES)], settings=workers.settings, pool=workers, record=False)
    assert answer.status == "answered", answer.reason
    assert [check.passed for check in answer.parts[0].checks] == [True]


SLOW: list[dict[str, Any]] = [
    {"op": "join", "table": "u", "how": "cross"},
    {"op": "window", "by": ["x"], "order": ["y"], "columns": ["running_sum(y * 2) as a"]},
    {"op": "window", "by": ["y"], "order": ["x"], "columns": ["running_sum(a) as b"]},
    {"op": "summarize", "by": ["x"], "metrics": ["max(b) as m", "count_distinct(a) as n"]},
    {"op": "summarize", "by": [], "metrics": ["max(m) as s"]},
]


def slow_tables(rows: int = 4400) -> dict[str, Any]:
    return {name: table(name, {column: list(range(rows))}) for name, column in (("t", "x"), ("u", "y"))}


def test_a_plan_past_its_time_is_stopped_on_the_cluster(spark_address: str) -> None:
    pool = Pool(Settings(engine="spark", spark=spark_address, query_seconds=12, workers=1))
    with pytest.raises(LimitExceeded, match="longer than 12 seconds on the cluster"):
        pool.run(reply("t", SLOW), slow_tables())
    nothing_runs(spark_address)


def test_stop_ends_the_query_on_the_cluster(spark_address: str, workers: Pool) -> None:
    timer = threading.Event()
    threading.Timer(8, timer.set).start()

    def tick() -> None:
        if timer.is_set():
            raise Stopped

    with pytest.raises(Stopped):
        workers.run(reply("t", SLOW), slow_tables(), tick=tick)
    nothing_runs(spark_address)


def nothing_runs(address: str) -> None:
    """A stopped query leaves the cluster free: a small one is answered."""
    assert cluster(address).rows("SELECT 1 AS one", 60).item() == 1


def test_tables_of_the_cluster_are_asked_where_they_lie(spark_address: str) -> None:
    here = table("sales", SALES)
    there = cluster(spark_address)
    view = there.view(here, 100)
    names = ", ".join(f"{column.id} AS {column.name}" for column in here.columns)
    there.rows(f"CREATE OR REPLACE TEMP VIEW sales AS SELECT {names} FROM {view}", 60)
    (remote,) = Catalog([f"{spark_address}/sales"]).tables()
    assert isinstance(remote, ClusterTable)
    assert (remote.rows, [column.name for column in remote.columns]) == (5, list(SALES))
    pool = Pool(Settings(query_seconds=120, workers=1))
    try:
        for steps in PLANS:
            wanted = run(checked_plan(reply("sales", steps), {"sales": here}, clock=CLOCK), {"sales": here})[0]
            (result,) = pool.run(reply("sales", steps), {"sales": remote}, clock=CLOCK)
            assert differs(wanted.frame, result.frame) is None
        answer = pipeline.run_plan(reply("sales", PLANS[0]), [remote], pool=pool, record=False)
        assert [check.detail for check in answer.parts[0].checks] == ["Not cross-checked: the rows lie on a cluster."]
        with pytest.raises(PlanError, match="rows on a cluster have none"):
            pool.run(
                reply("sales", [{"op": "summarize", "by": [], "metrics": ["first(amount) as f"]}]), {"sales": remote}
            )
        with pytest.raises(LoadError, match="not copied here"):
            remote.scan()
    finally:
        pool.close()


PLANS: Sequence[list[dict[str, Any]]] = (
    [{"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total", "count() as n"]}],
    [{"op": "filter", "where": "region == 'NORTH'"}, {"op": "sort", "order": ["n"]}],
    [{"op": "limit", "n": 2, "order": ["amount desc"]}],
    [{"op": "summarize", "by": ["trunc(day, 'month') as month"], "metrics": ["median(amount) as m"]}],
)


def test_what_is_too_big_to_send_is_refused(spark_address: str) -> None:
    pool = Pool(Settings(engine="spark", spark=spark_address, spark_send_mb=0, workers=1))
    with pytest.raises(ClusterFailed, match="at most 0 MB are sent"):
        pool.run(reply("t", []), {"t": table("t", {"x": pl.Series(range(10))})})
