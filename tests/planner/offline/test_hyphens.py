"""A hyphen that joins words is not a minus, and a minus between columns is."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.catalog import open_tables
from qa.planner import offline


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("which markets have the highest new-listings-to-inventory ratio", "new_listings / for_sale_inventory as "),
        ("what is the new_listings - for_sale_inventory by state", "new_listings - for_sale_inventory as "),
    ],
)
def test_only_a_dash_that_joins_no_words_subtracts(question: str, start: str, samples: Path) -> None:
    reply = offline.plan(question, open_tables(samples / "housing.parquet").tables)
    assert reply["reply"] == "plan", reply
    (formula,) = [text for step in reply["parts"][0]["steps"] if step["op"] == "derive" for text in step["columns"]]
    assert formula.startswith(start)
