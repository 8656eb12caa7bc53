"""The words the offline planner knows, read from one data file a language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from qa.plan.functions import FUNCTIONS
from qa.plan.steps import STEPS
from qa.planner.offline.text import fold, words

Phrase = tuple[str, ...]
SAID_FIELDS = frozenset({"columns", "n"})
"""fields of a step that a question fills by naming columns or a number"""
NUMBERS = frozenset({"numeric", "summable", "averaged", "integer"})
"""what an aggregate must accept for its words to be read before a numeric column"""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """One language's word lists, keyed for look-up.

    `phrases` maps the folded words of a phrase to its tags (`CMP:>=`), `particles` are words without a
    meaning of their own, `ignored` are those and fillers, `light` add little beside a linked word, `row_nouns` may stand for a row.
    """

    phrases: Mapping[Phrase, tuple[str, ...]]
    particles: frozenset[str]
    ignored: frozenset[str]
    light: frozenset[str]
    row_nouns: frozenset[str]
    superlatives: Mapping[Phrase, tuple[str, tuple[tuple[str, ...], ...]]]
    comparatives: Mapping[Phrase, tuple[str, tuple[tuple[str, ...], ...]]]
    synonyms: tuple[tuple[str, ...], ...]
    values: Mapping[str, frozenset[str]]
    companions: frozenset[str]
    persons: frozenset[str]
    negations: tuple[str, ...]
    attributes: frozenset[str]
    changing: frozenset[str]
    begins: frozenset[str]
    follows: frozenset[str]
    relations: frozenset[str]
    less_is_better: frozenset[str]
    more_is_better: frozenset[str]
    personal: frozenset[str]
    naming: frozenset[str]
    defines: frozenset[str]
    worth: Mapping[str, frozenset[str]]
    asks: Mapping[str, tuple[str, ...]]
    months: Mapping[str, int]
    ordinals: Mapping[str, int]
    cardinals: Mapping[str, int]
    scales: Mapping[str, float]
    suffixes: tuple[str, ...]
    irregular: Mapping[str, str]
    longest: int

    def lemma(self, word: str) -> str:
        """The word without its plural ending."""
        if word in self.irregular:
            return self.irregular[word]
        if len(word) > 4 and word.endswith("ies"):
            return word[:-3] + "y"
        if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zes")):
            return word[:-2]
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            return word[:-1]
        return word

    def root(self, word: str) -> str:
        """What a word shares with its relatives: `director`, `directed` and `directing` give `direct`."""
        word = self.lemma(word)
        for suffix in self.suffixes:
            if word.endswith(suffix) and len(word) - len(suffix) >= 4:
                word = word[: -len(suffix)]
                break
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]
        return word[:-1] if len(word) > 4 and word[-1] in "ei" else word


@lru_cache(maxsize=8)
def lexicon(language: str = "en") -> Lexicon:
    """The word lists of a language; `LookupError` when there is no file for it."""
    path = Path(__file__).with_name(f"{language}.yaml")
    if not path.is_file():
        raise LookupError(f"no word list for {language!r}")
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    phrases: dict[Phrase, list[str]] = {}
    for tag, spellings in data["phrases"].items():
        for spelling in spellings:
            phrases.setdefault(_key(spelling), []).append(tag)
    plain = {fold(word) for key in ("particles", "fillers") for word in data[key].split()}
    for tag, spelling in _declared():
        if spelling not in plain:
            phrases.setdefault(_key(spelling), [tag])
    months = {name: n + 1 for n, name in enumerate(data["months"])}
    months |= {name: n + 1 for n, name in enumerate(data["month_short"])}
    return Lexicon(
        phrases={key: tuple(tags) for key, tags in phrases.items()},
        particles=frozenset(fold(word) for word in data["particles"].split()),
        ignored=frozenset(fold(word) for key in ("particles", "fillers") for word in data[key].split()),
        light=frozenset(data["light"].split()),
        row_nouns=frozenset(data["row_nouns"].split()),
        superlatives=_measures(data["superlatives"]),
        comparatives=_measures(data["comparatives"]),
        synonyms=tuple(tuple(group) for group in data["synonyms"]),
        values=_groups(data["values"]),
        companions=frozenset(data["companions"]),
        persons=frozenset(data["persons"]),
        negations=tuple(data["negations"]),
        attributes=frozenset(data["attributes"]),
        changing=frozenset(data["changing"].split()),
        begins=frozenset(data["begins"]),
        follows=frozenset(data["follows"]),
        relations=frozenset(data["relations"].split()),
        less_is_better=frozenset(data["less_is_better"].split()),
        more_is_better=frozenset(data["more_is_better"].split()),
        personal=frozenset(data["personal"]),
        naming=frozenset(data["naming"]),
        defines=frozenset(data["defines"]),
        worth={part: frozenset(names) for part, names in data["worth"].items()},
        asks={key: tuple(names) for key, names in data["asks"].items()},
        months=months,
        ordinals=data["ordinals"],
        cardinals=data["cardinals"],
        scales=data["scales"],
        suffixes=tuple(data["suffixes"]),
        irregular=data["irregular"],
        longest=max(len(key) for key in phrases),
    )


def _declared() -> Iterator[tuple[str, str]]:
    """(tag, words) of what the plan language declares words for: aggregates of one and of two numeric columns, and
    steps that say something of columns, by groups where wanted."""
    for function in FUNCTIONS.values():
        needed = [param for param in function.params if not param.optional]
        numeric = all(param.accepts in NUMBERS for param in needed)
        if function.family == "aggregate" and numeric and len(needed) in (1, 2):
            tag = "AGG" if len(needed) == 1 else "AGG2"
            yield from _spelled(f"{tag}:{function.name}", (*function.words, function.name.replace("_", " ")))
    for op, step in STEPS.items():
        required = {name for name, field in step.model_fields.items() if field.is_required()} - {"op"}
        fields = set(step.model_fields)
        if not required and "by" in fields and fields & SAID_FIELDS and "metrics" not in fields:
            yield from _spelled(f"STEP:{op}", step.words)


def _spelled(tag: str, spellings: Iterable[str]) -> Iterator[tuple[str, str]]:
    for spelling in spellings:
        if spelling.replace(" ", "").replace("-", "").isalpha():
            yield tag, spelling


def _key(spelling: str) -> Phrase:
    return tuple(words(spelling))


def _measures(table: dict[str, list[Any]]) -> dict[Phrase, tuple[str, tuple[tuple[str, ...], ...]]]:
    return {_key(word): (row[0], tuple(tuple(names) for names in row[1:])) for word, row in table.items()}


def _groups(groups: list[list[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in groups:
        keys = frozenset(" ".join(words(word)) for word in group)
        for key in keys:
            found[key] = found.get(key, frozenset()) | keys
    return found
