"""Formats of strftime as Java's, and as a regular expression of the text that they read."""

from __future__ import annotations

import re
from typing import NamedTuple

from qa.plan.functions.aggregates import NoTwin


class _Part(NamedTuple):
    """What Java reads and writes for a part, and what the text looks like."""

    read: str
    write: str
    regex: str


_TWO = r"\d{1,2}"
_PARTS = {
    "Y": _Part("yyyy", "yyyy", r"\d{4}"), "y": _Part("yy", "yy", r"\d{2}"), "m": _Part("M", "MM", _TWO), "d": _Part("d", "dd", _TWO), "e": _Part("d", "d", _TWO),
    "H": _Part("H", "HH", _TWO), "I": _Part("h", "hh", _TWO), "M": _Part("m", "mm", _TWO), "S": _Part("s", "ss", _TWO), "f": _Part("SSSSSS", "SSSSSS", r"\d{6}"),
    "p": _Part("a", "a", "[AaPp][Mm]"), "b": _Part("MMM", "MMM", "[A-Za-z]{3}"), "B": _Part("MMMM", "MMMM", "[A-Za-z]+"), "j": _Part("DDD", "DDD", r"\d{3}"),
}  # fmt: skip


def java_pattern(form: str) -> tuple[str, str]:
    """A strftime format as Spark reads it, and what a text must look like to be read by it. Raises NoTwin."""
    pieces = _pieces(form)
    pattern = "".join(piece.read if isinstance(piece, _Part) else _quoted(piece) for piece in pieces)
    regex = "".join(piece.regex if isinstance(piece, _Part) else re.escape(piece) for piece in pieces)
    return pattern, f"^{regex}$"


def java_output(form: str) -> str:
    """A strftime format as Spark writes it. Raises NoTwin."""
    return "".join(piece.write if isinstance(piece, _Part) else _quoted(piece) for piece in _pieces(form))


def _pieces(form: str) -> list[_Part | str]:
    found: list[_Part | str] = []
    for part, other in re.findall(r"%(.)|([^%]+)", form):
        if part and part not in _PARTS:
            raise NoTwin(f"it reads times by %{part}, which the cluster has no form for")
        found.append(_PARTS[part] if part else other)
    return found


def _quoted(text: str) -> str:
    return re.sub(r"[A-Za-z]+", lambda word: f"'{word[0]}'", text)
