"""Reads a column's words as yes and no in their many spellings."""

from __future__ import annotations

import polars as pl

from qa.data.reading import Reading
from qa.data.reversal import as_kind
from qa.data.table import Assumption
from qa.data.words import Words, quoted
from qa.types import Kind

TRUE = frozenset(
    [
        "yes",
        "y",
        "true",
        "t",
        "1",
        "on",
        "ja",
        "oui",
        "si",
        "sí",
        "sim",
        "da",
        "vrai",
        "wahr",
        "verdadero",
        "vero",
        "да",
        "истина",
        "✓",
        "✔",
        "☑",
        "1.0",
        "true()",
        ".true.",
        ".t.",
        "はい",
        "是",
    ]
)
FALSE = frozenset(
    [
        "no",
        "n",
        "false",
        "f",
        "0",
        "off",
        "nein",
        "non",
        "não",
        "nao",
        "ne",
        "niet",
        "faux",
        "falsch",
        "falso",
        "нет",
        "ложь",
        "✗",
        "✘",
        "☐",
        "✖",
        "0.0",
        "false()",
        ".false.",
        ".f.",
        "いいえ",
        "否",
    ]
)
_DIGITS = frozenset({"0", "1", "0.0", "1.0"})
_SHORT = _DIGITS | frozenset({"y", "n", "t", "f", "on", "off", "si", "da", "ne", "non", "no"})
_MIXED = 3
"""With this many spellings a column is meant as yes/no, so a few other words are unreadable, not a category."""


def boolean(words: Words, *, name: str) -> Reading | None:
    """The words as booleans, or None. Plain 0 and 1 stay numbers, and one-sided short words stay text."""
    lower = words.lower
    yes, no = lower.is_in(list(TRUE)), lower.is_in(list(FALSE))
    known = yes | no
    spellings = set(lower.filter(known).unique())
    if not spellings or spellings <= _DIGITS:
        return None
    if not (yes.any() and no.any()) and spellings <= _SHORT:
        return None
    unknown = words.rows - words.weight(known)
    if unknown and (len(spellings) < _MIXED or unknown > 0.1 * words.rows or int((~known).sum()) > 2):
        return None
    values = pl.DataFrame({"yes": yes, "known": known}).select(pl.when("known").then("yes")).to_series()
    mapping = f"yes: {_spelled(words, yes)}; no: {_spelled(words, no)}"
    mixed = len(spellings) > 2
    notes: tuple[Assumption, ...] = ()
    if mixed:
        notes = (
            Assumption(
                code="boolean_spellings",
                column=name,
                damage=2,
                reversal=as_kind(name, "text"),
                message=f"{name!r} spells yes and no in {len(words.values.filter(known))} ways: {mapping}.",
            ),
        )
    return Reading(Kind.BOOLEAN, values, mapping, assumptions=notes)


def _spelled(words: Words, mask: pl.Series) -> str:
    return quoted(words.tally(mask)) or "none"
