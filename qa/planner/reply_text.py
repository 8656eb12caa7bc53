"""Find the one JSON object that a model's text holds, and refuse text that holds none, two or a broken one.

Fences, chatter and reasoning blocks around the object are passed over; nothing inside it is ever mended.
"""

from __future__ import annotations

import json
import re
from typing import Any

from qa.errors import Issue, PlanError

THINKING: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis", "<|end|>"),
)
"""Opening and closing marks of reasoning that is not part of the reply, lower case."""

_MARK = re.compile("|".join(re.escape(mark) for pair in THINKING for mark in pair) + r"|\{", re.IGNORECASE)
_CLOSES = dict(THINKING)
_CLOSERS = frozenset(_CLOSES.values())
_OBJECT_START = re.compile(r"\{\s*[\"}]")

_PROBLEMS = {
    "empty_reply": ("the reply is empty", "Answer with one JSON object."),
    "no_json": ("the reply holds no JSON object", "Answer with one JSON object and nothing else."),
    "broken_json": ("the JSON of the reply is broken or cut off", "Answer with one complete JSON object."),
    "two_replies": ("the reply holds several different JSON objects", "Answer with exactly one JSON object."),
    "repeated_key": ("an object of the reply names a field twice", "Name every field once."),
}


def extract(text: str | None) -> dict[str, Any]:
    """The single JSON object in `text`.

    Missing or blank text, no object, a broken or cut object, or several different objects each raise
    `PlanError` with the code that says so. The same object given twice counts as one.
    """
    if text is None or not text.strip("\ufeff \t\r\n\v\f\u200b"):
        raise _problem("empty_reply")
    whole = text.strip("\ufeff \t\r\n\v\f\u200b")
    found = _objects(whole)
    replies = [item for item in found if "reply" in item] or [item for item in found if item]
    if not replies:
        raise _problem("no_json")
    if any(other != replies[0] for other in replies[1:]):
        raise _problem("two_replies")
    return replies[0]


def _objects(text: str) -> list[dict[str, Any]]:
    """Every complete object at the top level of the text, reasoning left out."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)
    lowered = text.lower() if len(text.lower()) == len(text) else text
    at = 0
    while (mark := _MARK.search(text, at)) is not None:
        word = mark.group().lower()
        if word in _CLOSES:
            end = lowered.find(_CLOSES[word], mark.end())
            if end < 0:
                break
            at = end + len(_CLOSES[word])
        elif word in _CLOSERS:
            # some chat templates leave the opening mark out: all before the closing one was reasoning
            found.clear()
            at = mark.end()
        elif _OBJECT_START.match(text, mark.start()):
            value, at = _decode(decoder, text, mark.start())
            found.append(value)
        else:
            at = mark.end()
    return found


def _decode(decoder: json.JSONDecoder, text: str, at: int) -> tuple[dict[str, Any], int]:
    try:
        return decoder.raw_decode(text, at)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _problem("broken_json") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _problem("repeated_key")
    return made


def _no_constant(name: str) -> Any:
    raise json.JSONDecodeError(f"{name} is not JSON", "", 0)


def _problem(code: str) -> PlanError:
    message, hint = _PROBLEMS[code]
    return PlanError(Issue(code, "", message, hint))
