"""Small JSON objects as URL-safe text and back, strict about everything that comes from outside."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any, NoReturn

from qa.errors import Issue, LimitExceeded, PlanError

VERSION = "q1"

MOST_BYTES = 200_000
"""Bytes a token may unfold to."""

MOST_DEPTH = 40

# Phrases that most plans hold: they make a link shorter. Changing one letter needs a new VERSION.
_PHRASES = (
    b'"ties":"keep""how":"inner""method":"pearson""expect":"many_to_one""op":"window""op":"join""on":["op":"derive",'
    b'"columns":["op":"select","op":"sort","order":[" asc"]} desc"]}{"op":"limit","n":10,"order":["by":[],"metrics":['
    b'count() as sum(mean(median(max(min(count_distinct({"op":"filter","where":" == \'" and  is not null"}'
    b'{"op":"summarize","by":["","metrics":["chart":{"kind":"bar","x":"","y":[""],"color":null}"show":null,"chart":null'
    b'}]}"steps":["reading":"","source":"{"digests":{"":"","names":{},"reply":{"lets":[],"parts":[{"title":"'
    b'"],"reply":"plan"},"result_hash":"'
)


def pack(content: Mapping[str, Any], *, most: int, what: str) -> str:
    """The object as URL-safe text of at most `most` characters; raises LimitExceeded when it would be longer."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    raw = text.encode("utf-8")
    squeezed = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY, _PHRASES)
    data = squeezed.compress(raw) + squeezed.flush()
    token = VERSION + base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
    if len(token) > most or len(raw) > MOST_BYTES:
        raise LimitExceeded(
            Issue(
                "link_too_long",
                what,
                f"The {what} would be {len(token):,} characters long; at most {most:,} fit.",
                "Download it as a file instead.",
            )
        )
    return token


def unpack(token: str, *, most: int, what: str) -> dict[str, Any]:
    """The object inside a token; raises PlanError in plain words for anything that `pack` did not make."""
    if not isinstance(token, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", token, re.ASCII):
        broken(what, "it holds characters that no link has")
    if len(token) > most:
        broken(what, f"it is longer than {most:,} characters")
    if not token.startswith(VERSION):
        broken(what, "it was made by another version")
    body = token[len(VERSION) :]
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        broken(what, "it is cut or changed")
    return read_json(_inflate(data, what), what)


def _inflate(data: bytes, what: str) -> bytes:
    unfolding = zlib.decompressobj(15, zdict=_PHRASES)
    try:
        raw = unfolding.decompress(data, MOST_BYTES + 1)
    except zlib.error:
        broken(what, "it is cut or changed")
    if len(raw) > MOST_BYTES:
        broken(what, f"it unfolds to more than {MOST_BYTES:,} bytes")
    if not unfolding.eof or unfolding.unused_data:
        broken(what, "it is cut or changed")
    return raw


def read_json(raw: bytes, what: str, most: int = MOST_BYTES) -> dict[str, Any]:
    """A JSON object from bytes: UTF-8, no repeated key, no NaN, bounded in size and depth. Else PlanError."""
    if len(raw) > most:
        broken(what, f"it holds more than {most:,} bytes")
    try:
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        broken(what, "it does not hold what such a link or file holds")
    if not isinstance(content, dict) or _deeper(content, MOST_DEPTH):
        broken(what, "it does not hold what such a link or file holds")
    return content


def broken(what: str, why: str) -> NoReturn:
    """Refuse something from outside, without quoting it."""
    raise PlanError(Issue("bad_link", what, f"This {what} cannot be read: {why}.", "Ask for it to be sent again."))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is repeated")
    return made


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _deeper(value: Any, left: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_deeper(item, left - 1) for item in inside)
