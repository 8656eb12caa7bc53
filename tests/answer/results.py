"""Small results for the answer tests: shown columns, rows and the plan that would make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn, AnswerPart
from qa.types import Kind, Role

FRACTION = {"role": Role.PERCENT, "unit": "fraction"}
DOLLARS = {"role": Role.CURRENCY, "unit": "USD"}


def column(name: str, kind: str = "number", **more: Any) -> AnswerColumn:
    return AnswerColumn(name=name, kind=Kind(kind), **more)


def frame(columns: Sequence[AnswerColumn], *values: Sequence[Any]) -> pl.DataFrame:
    return pl.DataFrame({column.name: list(cells) for column, cells in zip(columns, values, strict=True)}, strict=False)


def summarize(by: Sequence[str], *metrics: str) -> dict[str, Any]:
    return {"op": "summarize", "by": list(by), "metrics": list(metrics)}


def plan(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "", "source": "t", "steps": list(steps), **more}


def part(
    columns: Sequence[AnswerColumn], table: pl.DataFrame, steps: Mapping[str, Any] | None = None, **more: Any
) -> AnswerPart:
    given = {"title": "Tips by day", "total_rows": table.height, "plan": steps or plan()} | more
    return AnswerPart(columns=tuple(columns), table=table, **given)
