"""Any valid plan over any table gives the same rows on both engines, and the schema said what they would be."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, event, given, seed, settings

from qa.data.table import Table
from qa.errors import PlanError
from qa.plan.steps import STEPS
from tests.agreement import agreed
from tests.property.plans import PLANS_A_CASE, Drawn, cases, shown
from tests.property.steps import MAKERS

RUNS = int(os.environ.get("PLANS", "2000"))
"""Plans a run; more with PLANS=100000, others with SEED=7."""
SEED = os.environ.get("SEED")


@pytest.mark.timeout(900 + RUNS)
@settings(
    max_examples=-(-RUNS // PLANS_A_CASE),
    derandomize=SEED is None,
    database=None,
    # A failure prints plan and data, which says more than the minutes that shrinking takes.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@(seed(int(SEED)) if SEED else lambda test: test)
@given(cases())
def test_both_engines_agree_on_any_valid_plan(case: tuple[dict[str, Table], list[Drawn]]) -> None:
    tables, plans = case
    for number, plan in enumerate(plans):
        assert all(issue.message for error in plan.refused for issue in error.issues)
        try:
            agreed(plan.checked, tables, code=number == 0)
        except PlanError as error:
            event(f"refused by the data: {error.issues[0].code}")
        except Exception as error:
            raise AssertionError(f"{error}\n\n{plan.written()}\n\n{shown(tables)}") from error


def test_every_step_is_tried() -> None:
    assert set(MAKERS) == set(STEPS)
