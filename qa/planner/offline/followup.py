"""Follow-ups that edit the last plan: `only 2023`, `by month instead`, `top 5`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from qa.data.table import Table
from qa.planner.dialogue import Turn


def edited(
    question: str, tables: Sequence[Table], history: Sequence[Turn], today: date | None
) -> dict[str, Any] | None:
    """The last plan as the follow-up changes it, or None when the question stands alone."""
    return None
