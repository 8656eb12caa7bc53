"""A catalog of fifty tables stays within the prompt, and what each of ten questions over several tables needs is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa.data.gather import gather
from qa.data.table import Table
from qa.planner import payload
from tests.planner.tables import table

ROOT = Path(__file__).parents[2]
TEN = {
    case["question"]: case
    for case in map(json.loads, (ROOT / "tests/golden/several_tables.jsonl").read_text(encoding="utf-8").splitlines())
}
NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "which three airlines flew the most flights": {"flights": ("carrier",), "airlines": ("carrier", "name")},
    "how many flights were flown by planes that are not in the register": {
        "flights": ("tailnum",),
        "planes": ("tailnum",),
    },
    "average departure delay by engine type of the plane": {
        "flights": ("tailnum", "dep_delay"),
        "planes": ("tailnum", "engine"),
    },
    "how many airports saw no flight from New York": {"airports": ("faa",), "flights": ("dest",)},
    "how many flights left in an hour with rain by origin": {
        "flights": ("origin", "time_hour"),
        "weather": ("origin", "time_hour", "precip"),
    },
    "average temperature at the last observation before departure for flights to Seattle": {
        "flights": ("origin", "dest", "time_hour"),
        "weather": ("origin", "time_hour", "temp"),
    },
    "total amount by product category": {"order_lines": ("sku", "amount"), "products": ("sku", "category")},
    "revenue by customer segment, orders without a known customer apart": {
        "order_lines": ("order_id", "amount"),
        "orders": ("order_id", "customer_id"),
        "customers": ("customer_id", "segment"),
    },
    "which customers never ordered": {"customers": ("customer_id",), "orders": ("customer_id",)},
    "shipping is counted once an order: total shipping, and lines, by channel": {
        "order_lines": ("order_id",),
        "orders": ("order_id", "shipping", "channel"),
    },
}
MEASURES = ("index", "level", "share", "count", "rate", "delta", "floor", "peak")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    """Fifty tables: the sample flights and shop among made ones of forty columns each."""
    folder = tmp_path_factory.mktemp("catalog")
    samples = [t for name in ("flights", "shop") for t in gather([ROOT / "sample_data" / name]).by_name.values()]
    crowd: list[Table] = []
    for n in range(50 - len(samples)):
        columns: dict[str, list[Any]] = {f"{MEASURES[c % 8]}_{n}_{c}": [1.0, 2.0, 3.5] for c in range(38)}
        named = {f"survey_{n}_id": [1, 2, 3], "date": ["2024-01-01", "2024-01-02", "2024-01-03"]}
        crowd.append(table(folder, f"survey_{n}", named | columns))
    assert all(len(t.columns) == 40 for t in crowd)
    return [*crowd[:20], *samples, *crowd[20:]]


def blocks(content: str) -> dict[str, str]:
    """The text of each table in the prompt, by its name."""
    found: dict[str, str] = {}
    for piece in content.split("\ntable ")[1:]:
        found[piece.split(" ", 1)[0].split("\n", 1)[0].strip("`:(,")] = piece
    return found


def test_the_ten_are_the_golden_ones() -> None:
    assert set(NEEDED) == set(TEN)


@pytest.mark.parametrize("privacy", ["names", "profile", "samples"])
@pytest.mark.parametrize("question", NEEDED)
def test_fifty_tables_leave_room_for_what_the_question_needs(catalog: list[Table], question: str, privacy: Any) -> None:
    assert len(catalog) == 50
    built = payload.build(question, catalog, privacy=privacy)
    assert built.tokens < 6000
    there = blocks(built.messages[1]["content"])
    missing = [
        f"{name}.{column}"
        for name, columns in NEEDED[question].items()
        for column in columns
        if f"\n- {column}: " not in there.get(name, "")
    ]
    assert not missing
