"""Plans run by pandas, step by step as they stand: the peer that a compiled plan is measured against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

_CALL = re.compile(r"(?P<name>\w+)\((?P<args>[^()]*)\)")
_NAMES = {"count": "size", "mean": "mean", "sum": "sum", "median": "median", "std": "std", "max": "max", "min": "min"}


def executed(reply: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of a plan's first part. Knows the steps that the benchmark asks for."""
    part = reply["parts"][0]
    frame = frames[part["source"]]
    for step in part["steps"]:
        frame = _STEPS[step["op"]](frame, step, frames)
    return frame


def _summarize(frame: pd.DataFrame, step: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    by = list(step["by"])
    groups: Any = frame.groupby(by, sort=True, dropna=False, observed=True) if by else None
    columns: dict[str, Any] = {}
    for metric in step["metrics"]:
        formula, _, name = metric.rpartition(" as ")
        columns[name] = _metric(formula, frame, groups, by)
    return (
        pd.DataFrame(columns).reset_index() if by else pd.DataFrame({name: [value] for name, value in columns.items()})
    )


def _metric(formula: str, frame: pd.DataFrame, groups: Any, by: list[str]) -> Any:
    """A formula of aggregates: each is computed, then the arithmetic between them."""
    values: dict[str, Any] = {}

    def put(match: re.Match[str]) -> str:
        values[f"a{len(values)}"] = _aggregate(
            match["name"], [a.strip() for a in match["args"].split(",") if a.strip()], frame, groups, by
        )
        return f"a{len(values) - 1}"

    rest = _CALL.sub(put, formula).replace("^", "**")
    return eval(rest, {"__builtins__": {}}, values)


def _aggregate(name: str, args: list[str], frame: pd.DataFrame, groups: Any, by: list[str]) -> Any:
    if name == "corr":
        if groups is None:
            return frame[args[0]].corr(frame[args[1]])
        return groups[args].corr().xs(args[0], level=-1)[args[1]]
    if name == "count":
        return len(frame) if groups is None else groups.size()
    held = frame[args[0]] if groups is None else groups[args[0]]
    return getattr(held, _NAMES[name])()


def _limit(frame: pd.DataFrame, step: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    keys = [text.removesuffix(" desc") for text in step["order"]]
    ordered = frame.sort_values(keys, ascending=[not text.endswith(" desc") for text in step["order"]], kind="stable")
    return ordered.groupby(step["by"], sort=False).head(step["n"]) if step.get("by") else ordered.head(step["n"])


def _join(frame: pd.DataFrame, step: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return frame.merge(frames[step["table"]], on=list(step["on"]), how=step["how"])


def _filter(frame: pd.DataFrame, step: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return frame.query(step["where"])


def _select(frame: pd.DataFrame, step: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    return frame[list(step["columns"])]


_STEPS = {"summarize": _summarize, "limit": _limit, "join": _join, "filter": _filter, "select": _select}
