"""A record's own query as a plan: the tables with the plain types that SQL was written for, and chart queries as SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from qa.data.options import ReadOptions
from qa.data.read import load
from qa.data.table import Table
from qa.plan.formula import quoted_name, split_as
from qa.plan.from_sql import translate
from qa.types import Kind

PLAIN = (Kind.INTEGER, Kind.NUMBER)
DATABASES = (".db", ".sqlite")


def plain_tables(name: str | None, path: Path, cache: Path) -> list[Table]:
    """The tables of a file as a SQL engine without rich types sees them: numbers, and text as it stands."""
    first = load(path, name=name if path.suffix not in DATABASES else None, cache=cache)
    if path.suffix not in DATABASES and len(first) != 1:
        return first
    plain = {c.name for table in first for c in table.columns if c.kind in PLAIN and c.unit is None}
    rich = [c.name for table in first for c in table.columns if c.name not in plain]
    options = ReadOptions(as_kinds=dict.fromkeys(rich, "verbatim"), variants=False)
    return load(path, name=name if len(first) == 1 else None, cache=cache, options=options)


def database(path: Path) -> Path:
    """The database that a set ships for a table in `db/`, named after the table's last two path parts; else the table."""
    parts = re.search(r"([^/]+?)(?:-csv)?/([^/]+)\.csv$", path.as_posix())
    for folder in path.parents:
        found = folder / "db" / f"{parts[1]}_{parts[2]}.db" if parts else folder
        if found.is_file():
            return found
    return path


CHARTED = re.compile(
    r"(?is)^\s*visualize\s+((?:stacked |grouping )?\w+)\s+(select .*?)(?:\s+bin\s+(\w+)\s+by\s+(\w+))?\s*$"
)
DAYS = ("Mon", "Tue", "Wed", "Thur", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Weekdays and months as chart queries name them."""
BINS = {"year": "%Y", "month": "%m", "weekday": "%w"}
"""Units of a chart query's BIN clause, with their strftime format."""
HINTS = {"stacked bar": "stacked_bar", "grouping line": "line", "grouping scatter": "scatter"}


def gold_reply(raw: Mapping[str, Any], tables: Sequence[Table]) -> dict[str, Any]:
    """The plan of a record's query, with the chart that a chart query names. Raises PlanError where it cannot be said."""
    query = str(raw.get("gold_exec") or raw.get("gold_query") or "")
    charted, named = CHARTED.match(query), {table.name: table for table in tables}
    if charted is None:
        return translate(query, named, "sqlite")
    kind, select, column, unit = charted.groups()
    reply = translate(_chart_sql(select, column, unit, kind.lower()), named, "sqlite")
    [part] = reply["parts"]
    part["chart"] = {"kind": HINTS.get(kind.lower(), kind.lower())}
    if kind.lower().startswith("grouping") and part.get("show"):
        head, called = split_as(part["show"][-1])
        part["chart"]["color"] = called or head.strip("`")
    if unit is not None and (unit.lower() == "weekday" or (unit.lower() == "year" and kind.lower() == "line")):
        part["steps"] = [more for step in part["steps"] for more in _with_gaps(step, unit.lower())]
    return reply


def _with_gaps(step: dict[str, Any], unit: str) -> list[dict[str, Any]]:
    """A binned summary with zeros where a bin is empty: every weekday, and every year that a line passes."""
    if step["op"] != "summarize" or len(step["by"]) != 1 or len(step["metrics"]) != 1:
        return [step]
    (label, key), metric = split_as(step["by"][0]), split_as(step["metrics"][0])[1]
    if key is None or metric is None:
        return [step]
    named = quoted_name(metric)
    zeros = {"op": "derive", "columns": [f"coalesce({named}, 0) as {named}"]}
    if unit == "year":
        return [step, {"op": "fill_gaps", "column": key, "every": "1", "columns": [metric], "fill": "zero"}, zeros]
    across = {"op": "pivot", "names_from": label, "values": step["metrics"], "values_in": list(DAYS)}
    return [across, {"op": "unpivot", "columns": list(DAYS), "names_to": key, "values_to": metric}, zeros]


def _chart_sql(query: str, column: str | None, unit: str | None, kind: str) -> str:
    """A chart query as SQL: what it leaves unsaid is written out.

    A selected column beside an aggregate is grouped by; a group key that is not selected is the series, so it is
    shown too, but for a scatter of aggregates, whose points have no name; BIN groups by a part of the date.
    """
    parsed = sqlglot.parse_one(query, dialect="sqlite")
    if not isinstance(parsed, exp.Select):
        return query
    plain = [item for item in parsed.expressions if item.find(exp.AggFunc) is None]
    if column is not None and unit is not None and unit.lower() in BINS:
        part = _bin(column, unit.lower(), kind)
        binned: Any = parsed.transform(
            lambda node: (
                part.copy() if _is_column(node, column) and isinstance(node.parent, exp.Select | exp.Ordered) else node
            )
        )
        return str(binned.group_by(part.copy()).sql(dialect="sqlite"))
    if column is not None:
        return f"{parsed.sql(dialect='sqlite')} BIN {column} BY {unit}"
    group = parsed.args.get("group")
    if group is None and plain and len(plain) < len(parsed.expressions):
        return parsed.group_by(*[item.copy() for item in plain]).sql(dialect="sqlite")
    shown = {item.sql().casefold() for item in parsed.expressions}
    for key in group.expressions if group is not None and (plain or kind != "scatter") else []:
        if key.sql().casefold() not in shown:
            parsed = parsed.select(key.copy())
    return parsed.sql(dialect="sqlite")


def _bin(column: str, unit: str, kind: str) -> exp.Expr:
    """The bin that a row falls in: a year, or the name of a weekday or month. A line's years are numbers."""
    text = exp.TimeToStr(this=exp.column(column), format=exp.Literal.string(BINS[unit]))
    if unit == "year":
        return exp.cast(text, exp.DataType.Type.INT) if kind == "line" else text
    names = (
        {str(n % 7): name for n, name in enumerate(DAYS, start=1)}
        if unit == "weekday"
        else {f"{n:02}": name for n, name in enumerate(MONTHS, start=1)}
    )
    made = exp.Case()
    for value, name in names.items():
        made = made.when(exp.EQ(this=text.copy(), expression=exp.Literal.string(value)), exp.Literal.string(name))
    return made


def _is_column(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Column) and node.name.casefold() == name.casefold()
