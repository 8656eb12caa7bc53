"""A plan with one wrong word set right: what an issue points at, replaced by the word that was meant."""

from __future__ import annotations

import copy
import re
from typing import Any

from qa.errors import Issue

PLACE = re.compile(r"(?P<path>[^,]*)(?:, col (?P<column>\d+))?$")
KEY = re.compile(r"(\w+)|\[(\d+)\]")
QUOTED = re.compile(r"'((?:[^'\\]|\\.)+)'")
STEP = "no_such_step"


def mended(draft: dict[str, Any], issue: Issue, meant: str) -> dict[str, Any] | None:
    """A copy of the plan with the issue's word replaced by `meant`; None when the place or the word is not found."""
    place, word = PLACE.match(issue.where), QUOTED.search(issue.message)
    if place is None or word is None:
        return None
    keys: list[int | str] = [int(index) if index else name for name, index in KEY.findall(place["path"])]
    keys += ["op"] if issue.code == STEP else []
    made = copy.deepcopy(draft)
    try:
        holder: Any = made
        for key in keys[:-1]:
            holder = holder[key]
        text = holder[keys[-1]]
        start = int(place["column"]) - 1 if place["column"] else 0
        changed = _replaced(text, word[1], meant, start)
    except (KeyError, IndexError, TypeError):
        return None
    if changed is None:
        return None
    holder[keys[-1]] = changed
    return made


def _replaced(text: str, wrong: str, meant: str, start: int) -> str | None:
    """The word nearest to where the issue points, with its backticks if it has them; text in quotes is left alone."""
    whole = re.compile(rf"`{re.escape(wrong)}`|(?<![\w'`]){re.escape(wrong)}(?![\w'`])")
    found = sorted(whole.finditer(text), key=lambda match: abs(match.start() - start))
    if not found:
        return None
    first = found[0]
    name = meant if re.fullmatch(r"[A-Za-z_]\w*", meant) or text == wrong else f"`{meant}`"
    return text[: first.start()] + name + text[first.end() :]
