"""Any valid plan over any table gives the same rows on both engines, and the schema said what they would be."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings

from qa.data.table import Table
from qa.errors import PlanError
from tests.agreement import ran, reply
from tests.property.plans import plans

RUNS = int(os.environ.get("PLANS", "300"))
"""Plans a run; more with PLANS=100000."""


@pytest.mark.timeout(900)
@settings(
    max_examples=RUNS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(plans())
def test_both_engines_agree_on_any_valid_plan(
    case: tuple[dict[str, Table], list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    tables, lets, steps = case
    try:
        plan = reply("big" if lets else "t", steps, lets=lets)
        ran(plan, tables)
    except PlanError as error:
        event(f"refused: {error.issues[0].code}")
        assert all(issue.message for issue in error.issues)
    else:
        event("ran")
