"""Turn an answer into the prediction line that the scorers of question sets read."""

from __future__ import annotations

import re
from typing import Any

from qa.answer.answer import Answer, AnswerPart
from qa.answer.cells import json_rows
from qa.evaluate.frames import frame_rows
from qa.evaluate.spelling import Spelling

_NAMED = re.compile(r"@(\w+)\s*\[")
_GROUPED = {"bar": "Stacked Bar", "line": "Grouping Line", "scatter": "Grouping Scatter"}


def prediction(id: str, answer: Answer, record: dict[str, Any], spelling: Spelling | None = None) -> dict[str, Any]:
    """`id, answer, refused, chart, status, plan` and, where there is no answer, the reason.

    The answer is a list of rows, or `{name: value}` where the record's format asks for named values; a record that
    compares frames gets statistics in the shape of a frame. With a `spelling`, cells that are shown as they stand in
    a table are written as its file spells them.
    """
    answered = answer.status == "answered"
    shaped = _shaped(answer, record, spelling) if answered else None
    line = {
        "id": id,
        "answer": shaped,
        "refused": not answered,
        "chart": _chart(answer),
        "status": answer.status,
        "plan": answer.reply,
    }
    return (
        line
        if answered
        else line | {"reason": answer.reason or answer.question_back, "issues": [str(item) for item in answer.issues]}
    )


def _shaped(answer: Answer, record: dict[str, Any], spelling: Spelling | None) -> Any:
    match record.get("compare"):
        case "named_values":
            return _named(answer, record)
        case "frame":
            framed = [frame_rows(part) for part in answer.parts]
            return framed[0] if len(framed) == 1 and framed[0] is not None else rows(answer, spelling)
        case _:
            return rows(answer, spelling)


def rows(answer: Answer, spelling: Spelling | None = None) -> list[list[Any]]:
    """The rows of every part, one part after the other."""
    return [row for part in answer.parts for row in (spelling.rows(part) if spelling else json_rows(part.table))]


def _named(answer: Answer, record: dict[str, Any]) -> dict[str, Any]:
    """A value for every `@name[…]` of the format: the column or title of that name, else by position."""
    names = list(dict.fromkeys(_NAMED.findall(str(record.get("format", "")))))
    cells = {_flat(name): value for part in answer.parts for name, value in _cells(part)}
    found = {name: cells[_flat(name)] for name in names if _flat(name) in cells}
    loose = [value for part in answer.parts if part.table.height == 1 for value in json_rows(part.table)[0]]
    if not found and len(loose) == len(names):
        found = dict(zip(names, loose, strict=True))
    return found


def _cells(part: AnswerPart) -> list[tuple[str, Any]]:
    """Names with their values: the columns of a one-row part, its title if it has one value, the pairs of a two-column part."""
    table = json_rows(part.table)
    if len(table) == 1:
        named = list(zip(part.table.columns, table[0], strict=True))
        return [*named, (part.title, table[0][-1])] if len(named) == 1 else named
    if part.table.width == 2 and all(isinstance(row[0], str) for row in table):
        return [(row[0], row[1]) for row in table]
    return []


def _flat(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _chart(answer: Answer) -> str | None:
    chart = next((part.chart for part in answer.parts if part.chart), None)
    if chart is None:
        return None
    kind = str(chart.get("kind", ""))
    return _GROUPED[kind] if chart.get("color") and kind in _GROUPED else kind.replace("_", " ").title()
