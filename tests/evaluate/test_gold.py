"""A record's own chart query becomes a plan: bins are written out, and empty bins are zero where the chart shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qa import pipeline
from qa.answer.cells import json_rows
from qa.evaluate.gold import gold_reply, plain_tables

VISITS = "day,guests\n2024-03-04 10:00:00,2\n2024-03-05 11:30:00,3\n2024-03-11 09:00:00,4\n2021-01-02 08:00:00,1\n"
WEEK = [["Mon", 2], ["Tue", 1], ["Wed", 0], ["Thur", 0], ["Fri", 0], ["Sat", 1], ["Sun", 0]]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("Visualize BAR SELECT day , COUNT(day) FROM t BIN day BY WEEKDAY", WEEK),
        ("Visualize BAR SELECT day , COUNT(day) FROM t BIN day BY MONTH", [["Jan", 1], ["Mar", 3]]),
        ("Visualize BAR SELECT day , SUM(guests) FROM t BIN day BY YEAR", [["2021", 1], ["2024", 9]]),
        (
            "Visualize LINE SELECT day , COUNT(day) FROM t ORDER BY day DESC BIN day BY YEAR",
            [[2024, 3], [2023, 0], [2022, 0], [2021, 1]],
        ),
        ("Visualize BAR SELECT day , COUNT(day) FROM t WHERE guests > 2 BIN day BY WEEKDAY", [["Mon", 1], ["Tue", 1], *([[n, 0] for n, _ in WEEK[2:]])]),
    ],
)  # fmt: skip
def test_a_binned_chart_query(query: str, rows: list[list[Any]], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(VISITS)
    tables = plain_tables("t", tmp_path / "t.csv", tmp_path / "cache")
    answer = pipeline.run_plan(gold_reply({"gold_query": query}, tables), tables, record=False)
    assert answer.status == "answered", answer.reason
    assert json_rows(answer.parts[0].table) == rows
