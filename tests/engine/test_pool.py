"""Workers: limits end a plan, Stop ends it, and the next question is answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from qa.engine.pool import Pool, Stopped
from qa.engine.worker import WARM
from qa.errors import LimitExceeded, PlanError
from qa.plan.plan import PlanReply, parse_reply
from qa.settings import Settings
from tests.tables import table


def plan(*steps: dict[str, Any]) -> PlanReply:
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": list(steps)}]})
    assert isinstance(reply, PlanReply)
    return reply


COUNT = plan({"op": "summarize", "by": [], "metrics": ["count() as n"]})
HUGE_WINDOW = plan(
    {"op": "derive", "columns": ["quantile(x, 0.5, by=x) as q"]},
    {"op": "limit", "n": 5, "order": ["q desc"], "by": ["x"]},
    {"op": "derive", "columns": ["quantile(x, 0.25, by=q) as r"]},
    {"op": "limit", "n": 5, "order": ["r desc"], "by": ["x"]},
)


@pytest.fixture(scope="module")
def big() -> Any:
    return table("t", {"x": pl.Series(range(6_000_000))})


@pytest.fixture
def quick() -> Iterator[Pool]:
    pool = Pool(Settings(query_seconds=2, workers=1))
    yield pool
    pool.close()


def test_a_plan_past_its_time_is_stopped_and_the_next_is_answered(quick: Pool, big: Any) -> None:
    with pytest.raises(LimitExceeded, match="longer than 2 seconds"):
        quick.run(HUGE_WINDOW, {"t": big})
    assert quick.run(COUNT, {"t": big})[0].frame.item() == 6_000_000


def test_a_plan_past_its_memory_is_stopped_and_the_next_is_answered(big: Any) -> None:
    pool = Pool(Settings(query_seconds=60, query_memory_mb=300, workers=1))
    try:
        with pytest.raises(LimitExceeded, match="more than 300 MB"):
            pool.run(HUGE_WINDOW, {"t": big})
        assert pool.run(COUNT, {"t": big})[0].frame.item() == 6_000_000
    finally:
        pool.close()


def test_stop_ends_a_running_plan(big: Any) -> None:
    pool = Pool(Settings(query_seconds=60, workers=1))
    calls = []

    def tick() -> None:
        calls.append(1)
        if len(calls) > 10:
            raise Stopped

    try:
        with pytest.raises(Stopped):
            pool.run(HUGE_WINDOW, {"t": big}, tick=tick)
        assert pool.run(COUNT, {"t": big})[0].frame.item() == 6_000_000
    finally:
        pool.close()


def test_what_a_plan_gets_wrong_comes_back_as_issues(quick: Pool) -> None:
    with pytest.raises(PlanError, match="no column"):
        quick.run(plan({"op": "filter", "where": "nothing > 1"}), {"t": table("t", {"x": [1]})})


def test_both_engines_are_asked_in_the_worker(quick: Pool) -> None:
    tables = {"t": table("t", {"g": ["a", "b", "a"], "x": [1, 2, None]})}
    reply = plan({"op": "summarize", "by": ["g"], "metrics": ["sum(x) as s"]})
    results = quick.run(reply, tables)
    assert [check.passed for check in quick.crosscheck(reply, tables, results)] == [True]


def test_the_plan_that_warms_a_worker_is_a_good_plan() -> None:
    workers = Pool(Settings(workers=1))
    try:
        (result,) = workers.run(plan(*WARM), {"t": table("t", {"k": ["a", "b"], "v": [1.5, 2.5]})})
        assert result.frame.rows() == [("b", 2.5), ("a", 1.5)]
    finally:
        workers.close()
