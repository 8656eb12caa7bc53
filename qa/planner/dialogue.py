"""The earlier turns of a conversation, as much of them as the privacy level lets a model see."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from qa.planner.relevance import squashed

WITHHELD = "value withheld"
"""What stands in an earlier plan for text that came from a cell and not from the user."""

_TEXT = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_FORMULAS = frozenset(
    {"where", "columns", "metrics", "by", "order", "on", "nearest", "values", "show", "against", "column", "group"}
)
_PLAIN = frozenset({"values_in"})
_PROSE = frozenset({"title", "reading"})
_FIXED = frozenset({"op", "reply", "how", "kind", "method", "shape", "ties", "from", "expect"})


@dataclass(frozen=True)
class Turn:
    """One earlier question, the reply (plan JSON) that answered it, and how it was read. Never its result."""

    question: str
    reply: dict[str, Any]
    reading: str | None = None


def rendered(
    history: Sequence[Turn], question: str, *, values: bool, hidden: Collection[str] = (), turns: int = 4
) -> list[str]:
    """The last turns, oldest first, each as a question and its plan in JSON.

    Unless `values`, text in a plan stays only where the user typed the same words; what came from a cell
    is withheld. A plan that names a `hidden` column is left out.
    """
    asked = [turn.question for turn in history] + [question]
    lines = []
    for turn in history[-turns:]:
        plan = turn.reply if values else without_cells(turn.reply, asked)
        text = json.dumps(_bare(plan), ensure_ascii=False, separators=(",", ":"))
        shown = "(plan withheld)" if _names_one_of(text, hidden) else text
        lines.append(f"Q: {' '.join(turn.question.split())}\nPlan: {shown}")
    return lines


def without_cells(reply: dict[str, Any], asked: Sequence[str]) -> dict[str, Any]:
    """The plan with every text literal that is not in the user's own words withheld, and its prose left out."""
    joined = "\n".join(asked)
    withheld: set[str] = set()

    def literal(quoted: str) -> str:
        inside = quoted[1:-1]
        typed = re.search(rf"(?<!\w){re.escape(inside)}(?!\w)", joined, re.IGNORECASE)
        if typed is not None:
            return f"'{typed.group()}'"
        if not any(letter.isalnum() for letter in inside):
            return quoted
        withheld.add(inside)
        return f"'{WITHHELD}'"

    def text(value: str, field: str | None) -> str:
        if field in _PLAIN:
            return literal(f"'{value}'")[1:-1]
        return _TEXT.sub(lambda found: literal(found.group()), value) if field in _FORMULAS else value

    stripped: dict[str, Any] = _mapped(reply, text)
    names = _spelling(withheld)
    return (
        _mapped(stripped, lambda value, field: value if field in _FIXED else names.sub("withheld", value))
        if names
        else stripped
    )


def _spelling(withheld: Collection[str]) -> re.Pattern[str] | None:
    """What matches a computed name that spells a withheld value, such as `canary_x_sales` for `CANARY-X`."""
    spelled = [
        "[\\W_]?".join(map(re.escape, re.findall(r"[^\W_]+", value))) for value in withheld if len(squashed(value)) > 1
    ]
    return (
        re.compile("|".join(sorted(filter(None, spelled), key=len, reverse=True)), re.IGNORECASE) if spelled else None
    )


def _mapped(value: Any, change: Callable[[str, str | None], str], field: str | None = None) -> Any:
    """The plan with every text in it changed and its prose left out."""
    match value:
        case dict():
            return {key: _mapped(item, change, key) for key, item in value.items() if key not in _PROSE}
        case list():
            return [_mapped(item, change, field) for item in value]
        case str():
            return change(value, field)
    return value


def _bare(value: Any) -> Any:
    """The plan without the fields that say nothing."""
    match value:
        case dict():
            return {key: _bare(item) for key, item in value.items() if item not in (None, [], "", {})}
        case list():
            return [_bare(item) for item in value]
    return value


def _names_one_of(text: str, hidden: Collection[str]) -> bool:
    return any(name.casefold() in text.casefold() for name in hidden)
