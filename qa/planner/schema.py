"""The JSON schema of a reply as it is sent: no longer than a provider makes necessary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from qa.plan.plan import reply_schema
from qa.planner import tokens

WORTH_NAMING = 400
"""Characters from which a piece that occurs twice is written once and referred to."""


@lru_cache(maxsize=2)
def sent(references: bool = False) -> dict[str, Any]:
    """The schema without its descriptions, which the prompt gives already.

    With `references`, for providers that follow them, what occurs several times is defined once; nothing refers to
    itself, so a reader that writes references out comes to the same schema.
    """
    bare: dict[str, Any] = _undescribed(reply_schema())
    if not references:
        return bare
    counts = Counter(text for text in _pieces(bare))
    names = {
        text: f"d{n}" for n, text in enumerate(sorted((t for t, n in counts.items() if n > 1), key=len, reverse=True))
    }
    definitions = {name: _referring(json.loads(text), names, inside=text) for text, name in names.items()}
    made: dict[str, Any] = _referring(bare, names, inside="")
    used = {
        name: definition
        for name, definition in definitions.items()
        if f'"#/$defs/{name}"' in json.dumps([made, definitions])
    }
    return {**made, "$defs": used}


@lru_cache(maxsize=2)
def size(references: bool = False) -> int:
    """The tokens the schema costs, about."""
    return tokens.count(json.dumps(sent(references)))


def _undescribed(schema: Any) -> Any:
    match schema:
        case {"properties": dict() as properties, **rest}:
            kept = {name: _undescribed(inner) for name, inner in properties.items()}
            return {**_undescribed(rest), "properties": kept}
        case dict():
            return {key: _undescribed(item) for key, item in schema.items() if key != "description"}
        case list():
            return [_undescribed(item) for item in schema]
    return schema


def _pieces(value: Any) -> Iterator[str]:
    """Every schema inside another that is long enough to be named, as text."""
    match value:
        case dict():
            text = json.dumps(value)
            if len(text) >= WORTH_NAMING and ("type" in value or "anyOf" in value):
                yield text
            for item in value.values():
                yield from _pieces(item)
        case list():
            for item in value:
                yield from _pieces(item)


def _referring(value: Any, names: dict[str, str], *, inside: str) -> Any:
    match value:
        case dict():
            text = json.dumps(value)
            if text != inside and text in names:
                return {"$ref": f"#/$defs/{names[text]}"}
            return {key: _referring(item, names, inside="") for key, item in value.items()}
        case list():
            return [_referring(item, names, inside="") for item in value]
    return value
