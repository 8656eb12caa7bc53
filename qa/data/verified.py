"""Questions that a person has verified: found again by their words, saved, and re-checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from qa.data.semantics import Semantics, VerifiedQuestion
from qa.plan.scope import folded

FILLERS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "can",
        "could",
        "did",
        "do",
        "does",
        "give",
        "i",
        "in",
        "is",
        "me",
        "of",
        "on",
        "our",
        "please",
        "show",
        "tell",
        "that",
        "the",
        "there",
        "this",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "whats",
        "which",
        "with",
        "you",
    ]
)
"""Words that do not change what is asked. Words such as not, by, per, over, than, each, or from do and are not here."""
SAME_WORDS = {
    "avg": "average",
    "mean": "average",
    "highest": "top",
    "largest": "top",
    "biggest": "top",
    "lowest": "bottom",
}


@dataclass(frozen=True)
class Verified:
    """A verified question that fits. `exact` is true when it was asked in the same words."""

    table: str
    question: VerifiedQuestion
    exact: bool


def verified_match(question: str, known: Mapping[str, Semantics]) -> Verified | None:
    """The verified question that asks the same, or None. `known` are semantic files by table.

    The same: the same words in the same order but for case, accents, punctuation and fillers; numbers must be equal.
    When two with different plans fit equally well, none does.
    """
    for exact, key in ((True, _letters), (False, _gist)):
        asked = key(question)
        fits = [
            Verified(table, saved, exact)
            for table, semantics in known.items()
            for saved in semantics.questions
            if key(saved.question) == asked
        ]
        if asked and fits:
            return fits[0] if all(fit.question.plan == fits[0].question.plan for fit in fits) else None
    return None


def with_question(
    semantics: Semantics, question: str, plan: Mapping[str, Any], *, by: str | None = None, on: str | None = None
) -> Semantics:
    """The semantic file with a verified question; one in the same words is replaced."""
    saved = VerifiedQuestion(question=question, plan=dict(plan), by=by, on=on)
    others = tuple(old for old in semantics.questions if _letters(old.question) != _letters(question))
    return semantics.model_copy(update={"questions": (*others, saved)})


def without_question(semantics: Semantics, question: str) -> Semantics:
    """The semantic file without the verified question in these words."""
    return semantics.model_copy(
        update={"questions": tuple(old for old in semantics.questions if _letters(old.question) != _letters(question))}
    )


def _letters(text: str) -> tuple[str, ...]:
    return tuple(_words(text))


def _gist(text: str) -> tuple[str, ...]:
    return tuple(_singular(SAME_WORDS.get(word, word)) for word in _words(text) if word not in FILLERS)


def _words(text: str) -> Iterable[str]:
    """What stands between spaces, without punctuation around it and commas of thousands: `C++`, `-5` and `$3` stay."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", folded(text)).replace("_", " ")
    return [word for part in plain.split() if (word := part.strip(",.?!;:\"'()"))]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
