"""Questions with a form of their own: shares, differences, comparisons, correlation, distribution, existence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qa.planner.offline.query import Query

if TYPE_CHECKING:
    from qa.planner.offline.read import Reader


def read(reader: Reader) -> Query | None:
    """The query of a special form, or None when the question has none."""
    return None
