"""The schema that is sent says what the reply schema says, in fewer words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qa.plan.plan import reply_schema
from qa.planner import schema


def written_out(value: Any, definitions: dict[str, Any]) -> Any:
    match value:
        case {"$ref": str() as place}:
            return written_out(definitions[place.removeprefix("#/$defs/")], definitions)
        case dict():
            return {key: written_out(item, definitions) for key, item in value.items() if key != "$defs"}
        case list():
            return [written_out(item, definitions) for item in value]
    return value


def test_references_written_out_give_the_same_schema_in_the_same_order() -> None:
    short = schema.sent(references=True)
    assert json.dumps(written_out(short, short["$defs"])) == json.dumps(schema.sent())
    assert schema.size(references=True) < 0.6 * schema.size()


def test_every_definition_is_used_and_none_refers_to_itself() -> None:
    short = schema.sent(references=True)
    for name, definition in short["$defs"].items():
        assert f'"#/$defs/{name}"' in json.dumps({**short, "$defs": {**short["$defs"], name: None}})
        assert f'"#/$defs/{name}"' not in json.dumps(definition)


@pytest.mark.parametrize("references", [False, True])
def test_only_descriptions_are_left_out(references: bool) -> None:
    text = json.dumps(schema.sent(references))
    assert '"description"' not in text
    assert schema.sent()["required"] == reply_schema()["required"]
    assert '"oneOf"' not in text
    assert '"default"' not in text
