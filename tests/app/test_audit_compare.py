"""Two audit records side by side: what is said to be the same, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from qa.ui.audit_compare import verdicts

STEP = {"op": "summarize", "by": [], "metrics": ["count() as rows"]}
REPLY = {"reply": "plan", "lets": [], "parts": [{"title": "t", "source": "s", "steps": [STEP]}]}
BODY: dict[str, Any] = {"question": "q", "digests": {"s": "a" * 12}, "reply": REPLY, "result_hash": "b" * 32}
OTHER_PLAN = {"reply": "plan", "lets": [], "parts": [{"title": "t", "source": "s", "steps": []}]}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        pytest.param({}, [True, True, True, True], id="the same in all"),
        pytest.param({"question": "other"}, [False, True, True, True], id="another wording"),
        pytest.param({"digests": {"s": "c" * 12}}, [True, False, True, True], id="newer data, same result"),
        pytest.param({"reply": OTHER_PLAN}, [True, True, False, True], id="another plan, same result"),
        pytest.param({"result_hash": "d" * 32}, [True, True, True, False], id="another result"),
        pytest.param({"result_hash": None}, [True, True, True, None], id="no result"),
        pytest.param({"reply": None}, [True, True, None], id="no plan"),
    ],
)
def test_what_two_records_have_in_common(change: dict[str, Any], wanted: list[bool | None]) -> None:
    assert [same for same, _ in verdicts(BODY, BODY | change)] == wanted


def test_nulls_in_a_plan_are_no_difference() -> None:
    part = REPLY["parts"][0] | {"show": None, "chart": None}  # type: ignore[index, operator]
    assert verdicts(BODY, BODY | {"reply": REPLY | {"parts": [part]}})[2][0] is True
