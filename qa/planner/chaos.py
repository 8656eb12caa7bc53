"""Ten ways in which a model's first reply goes wrong, to see how many questions recover from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from qa.planner.attempts import Call, Said


def _with_step(text: str, **fields: Any) -> str:
    """The plan with fields of its first step changed; a reply that is no plan is left alone."""
    plan = json.loads(text)
    for part in plan.get("parts") or []:
        if part.get("steps"):
            part["steps"][0] |= fields
            break
    else:
        plan["unexpected"] = fields
    return json.dumps(plan)


def _with_parts(text: str, **fields: Any) -> str:
    return json.dumps(json.loads(text) | fields)


DAMAGES: dict[str, Callable[[Said], Said]] = {
    "cut off in the middle": lambda said: replace(said, text=said.text[: len(said.text) // 2]),
    "cut off at the limit": lambda said: replace(said, text=said.text[: len(said.text) // 2], finish="length"),
    "empty": lambda said: replace(said, text=""),
    "an apology": lambda said: replace(said, text="I'm sorry, I cannot help with that."),
    "two different plans": lambda said: replace(said, text=f"{_with_step(said.text, op='sort')}\nor\n{said.text}"),
    "only reasoning": lambda said: replace(said, text=f"<think>{said.text}</think>"),
    "a step nobody knows": lambda said: replace(said, text=_with_step(said.text, op="exec")),
    "a field nobody knows": lambda said: replace(said, text=_with_step(said.text, python="import os")),
    "a wrong type": lambda said: replace(said, text=_with_parts(said.text, parts="all of it")),
    "a column nobody knows": lambda said: replace(
        said, text=_with_step(said.text, op="filter", where="no_such_column_of_yours > 1")
    ),
}


def first_reply_wrong(transport: Callable[[Call], Said], way: str) -> Callable[[Call], Said]:
    """The transport with its first reply damaged in the way named (a key of `DAMAGES`); later replies are as they are."""
    damages: Iterator[Callable[[Said], Said]] = iter([DAMAGES[way]])

    def carried(request: Call) -> Said:
        damage = next(damages, None)
        said = transport(request)
        return damage(said) if damage else said

    return carried
