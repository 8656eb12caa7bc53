"""When a plan looks for a value that no cell holds, ask which near one is meant - here, so that no cell leaves."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from qa.errors import Issue
from qa.plan.plan import PlanReply, as_json

_SAID = re.compile(r"^No cell of (?P<column>'[^']*'|\"[^\"]*\") is (?P<value>.+)\.$")


def question_back(reply: PlanReply, issues: Sequence[Issue]) -> dict[str, Any] | None:
    """A clarify reply whose options are the plan with each near value in place of the one that is nowhere.

    None when anything else is wrong with the plan, when no value is near, or when the plan has lets, which an
    option cannot carry.
    """
    wrong = {issue.message: issue for issue in issues}
    if len(wrong) != 1 or reply.lets:
        return None
    issue = next(iter(wrong.values()))
    said = _SAID.match(issue.message)
    if issue.code != "no_such_value" or said is None or not issue.candidates:
        return None
    try:
        column, value = ast.literal_eval(said["column"]), ast.literal_eval(said["value"])
    except (ValueError, SyntaxError):
        return None
    parts = as_json(reply)["parts"]
    options = [{"label": near, "parts": _replaced(parts, value, near)} for near in issue.candidates[:3]]
    return {
        "reply": "clarify",
        "question": f"No cell of {column} is {value!r}. Which one do you mean?",
        "options": options,
    }


def _replaced(value: Any, old: str, new: str) -> Any:
    """The parts with one text literal replaced by another, wherever a formula holds it."""
    match value:
        case dict():
            return {key: _replaced(item, old, new) for key, item in value.items()}
        case list():
            return [_replaced(item, old, new) for item in value]
        case str():
            spelled = [
                f"'{old.replace(quote, quote * 2)}'" if quote == "'" else f'"{old.replace(quote, quote * 2)}"'
                for quote in "'\""
            ]
            written = f"'{new.replace(chr(39), chr(39) * 2)}'"
            return value.replace(spelled[0], written).replace(spelled[1], written)
    return value
