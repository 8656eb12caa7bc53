"""Statistics in the shape of a data frame, for question sets whose gold answers are frames.

The numbers are the answer's own. Only their arrangement follows such sets: several statistics of one column, or one of
several columns, stand below each other under their names, a correlation stands in its matrix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from qa.answer.answer import AnswerPart
from qa.answer.cells import json_rows
from qa.plan.formula import quoted_name

DESCRIBED = {
    "count": "count", "mean": "mean", "std": "std", "min": "min", "q25": "25%", "median": "50%", "q75": "75%", "max": "max",
}  # fmt: skip
"""statistics of `describe` that a frame lists, and how it calls them"""
_CORRELATION = re.compile(r"corr\((?P<a>`(?:[^`]|``)+`|\w+), (?P<b>`(?:[^`]|``)+`|\w+)\)")
_STATISTIC = re.compile(r"(?P<function>min|max|mean|median|std|var|sum)\((?P<column>`(?:[^`]|``)+`|\w+)\)")
_NAME = r"(?: as (?:`(?:[^`]|``)+`|\w+))?"


def frame_rows(part: AnswerPart) -> list[list[Any]] | None:
    """The rows of a part as a frame holds them, or None when they are the same."""
    steps = part.plan.get("steps") or []
    last: Mapping[str, Any] = steps[-1] if steps else {}
    if last.get("op") == "describe":
        return _grouped(part) if last.get("by") else _description(part)
    if last.get("op") != "summarize" or last.get("by") or part.table.height != 1:
        return None
    values, metrics = json_rows(part.table)[0], list(last["metrics"])
    if len(values) != len(metrics):
        return None
    return _matrix(metrics, values) or _statistics(metrics, values)


def _matrix(metrics: list[str], values: list[Any]) -> list[list[Any]] | None:
    found = re.fullmatch(_CORRELATION.pattern + _NAME, metrics[0]) if len(metrics) == 1 else None
    if found is None:
        return None
    return [[_bare(found["a"]), 1.0, values[0]], [_bare(found["b"]), values[0], 1.0]]


def _statistics(metrics: list[str], values: list[Any]) -> list[list[Any]] | None:
    found = [re.fullmatch(_STATISTIC.pattern + _NAME, metric) for metric in metrics]
    named = [match for match in found if match is not None]
    if len(named) < 2 or len(named) < len(metrics):
        return None
    columns, functions = ({match[part] for match in named} for part in ("column", "function"))
    if len(columns) == 1:
        return [[match["function"], value] for match, value in zip(named, values, strict=True)]
    if len(functions) == 1:
        return [[_bare(match["column"]), value] for match, value in zip(named, values, strict=True)]
    return None


def _description(part: AnswerPart) -> list[list[Any]] | None:
    """A statistic a row, a described column beside the other; numbers only, as frames describe them."""
    if not set(DESCRIBED) <= set(part.table.columns) or part.table["mean"].null_count():
        return None
    return [[said, *part.table[name].to_list()] for name, said in DESCRIBED.items()]


def _grouped(part: AnswerPart) -> list[list[Any]] | None:
    """A row a group with the statistics of the one described column."""
    names = list(part.table.columns)
    if "column" not in names or not set(DESCRIBED) <= set(names) or part.table["column"].n_unique() != 1:
        return None
    return json_rows(part.table.select([*names[: names.index("column")], *DESCRIBED]))


def _bare(name: str) -> str:
    bare = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return bare if quoted_name(bare) == name else name
