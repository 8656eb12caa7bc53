"""YAML of the semantic file, read narrowly: no aliases, no repeated keys, and `no`, `off` and dates stay text."""

from __future__ import annotations

import re
from typing import Any

import yaml

from qa.errors import Issue, LoadError

LARGEST = 1_000_000


class _Narrow(yaml.SafeLoader):
    """SafeLoader without the parts that surprise people or cost memory."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not read", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool | None):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


# What JSON would read, and nothing else: `no`, `on`, `012`, `1:30` and `2024-01-05` are text.
for _tag, _pattern, _first in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", list("tf")),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)", list("-0123456789")),
):
    _Narrow.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def read_yaml(text: str, file: str) -> dict[str, Any]:
    """The mapping that the text holds. Raises LoadError that names the line of what is wrong."""
    if len(text) > LARGEST:
        raise LoadError(
            Issue("semantics_too_large", file, f"The file is over {LARGEST:,} characters.", "Describe fewer columns.")
        )
    try:
        data = yaml.load(text, _Narrow)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise LoadError(
            Issue("bad_yaml", f"{file}{line}", f"This is not YAML that can be read: {error.problem}.", "")
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise LoadError(Issue("bad_yaml", file, "This is not YAML that can be read.", "")) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise LoadError(
            Issue("bad_semantics", file, "The file does not hold a list of named fields.", "Start with `columns:`.")
        )
    return data


class _Quoted(yaml.SafeDumper):
    """SafeDumper that quotes text with odd line breaks, which PyYAML would write bare and read as a blank."""


def _text(dumper: _Quoted, text: str) -> yaml.Node:
    odd = any(mark < " " or mark in "\x7f\x85\u2028\u2029\ufeff" for mark in text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if odd else None)


_Quoted.add_representer(str, _text)


def write_yaml(data: dict[str, Any]) -> str:
    """YAML text with the fields in their order."""
    text: str = yaml.dump(data, Dumper=_Quoted, sort_keys=False, allow_unicode=True, width=120)
    return text
