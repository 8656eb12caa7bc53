"""A hyphen that joins words is not a minus, and a minus between columns is."""

from __future__ import annotations

from qa.planner import offline
from tests.tables import table

MARKETS = table("markets", {"region": ["a", "b", "c"], "new_listings": [5, 6, 7], "inventory": [10, 20, 30]})


def derived(question: str) -> list[str]:
    reply = offline.plan(question, [MARKETS])
    assert reply["reply"] == "plan", reply
    return [text for step in reply["parts"][0]["steps"] if step["op"] == "derive" for text in step["columns"]]


def test_a_hyphenated_ratio_divides() -> None:
    (formula,) = derived("which regions have the highest new-listings-to-inventory ratio")
    assert formula.startswith("new_listings / inventory as ")


def test_a_minus_between_columns_subtracts() -> None:
    (formula,) = derived("what is the average of new_listings - inventory")
    assert formula.startswith("new_listings - inventory as ")
