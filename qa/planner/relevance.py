"""Score which columns a question is about, by words alone and on this machine only."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from qa.data.table import ColumnProfile, Table
from qa.types import Kind, Role

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_COMMON = """
a an the of in on at to for by with and or is are was were be been do does did how what which who whom whose where when why
many much there their them they it its this that these those each every per all any some than then show list give me find
tell i we you have has had from as into over under between among about most least more less
"""
_STOP = frozenset(_COMMON.split())
_ALIKE: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "price cost amount charge fee fare value",
        "revenue sale turnover income earning",
        "quantity qty count unit number volume",
        "date day time month year when period quarter week",
        "name title label who",
        "id code key identifier number no",
        "country nation state region province area",
        "city town place location where venue",
        "person people customer client user passenger employee member player",
        "salary wage pay compensation earning income",
        "age old young born birth year",
        "gender sex male female man woman men women",
        "percent percentage share rate ratio proportion pct",
        "score point rating grade mark result",
        "weight mass heavy kg",
        "height tall length long size",
        "temperature temp hot cold warm",
        "distance far mile km",
        "duration time long minute hour second",
        "average mean avg",
        "total sum overall",
        "listing inventory stock",
        "delay late",
    )
)
"""Words that may stand for one another in a column's name."""


@dataclass(frozen=True)
class Score:
    """How much a column seems to be meant. `named` is by its words, `total` adds what is kept in any case."""

    named: float
    total: float


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without case, accents, plural and common verb endings."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    for ending, instead in (
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("ing", ""),
        ("ed", ""),
    ):
        if plain.endswith(ending) and len(plain) - len(ending) >= 3:
            return plain[: -len(ending)] + instead
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain


def words(text: str) -> list[str]:
    """The stems of a text or an identifier: `unitPrice_2023` gives unit, price, 2023."""
    return [stem(word) for word in _WORD.findall(text)]


def squashed(text: str) -> str:
    """Letters and digits alone, without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if c.isalnum())


def scores(questions: Sequence[str], tables: Sequence[Table]) -> dict[tuple[str, str], Score]:
    """A score for every (table, column name). The first question is the one being asked, later ones count less."""
    profiles = {(table.name, column.name): column for table in tables for column in table.profile.columns}
    tokens = {place: _column_words(column) for place, column in profiles.items()}
    spread = Counter(word for found in tokens.values() for word in found)
    weight = {word: math.log(1 + len(tokens) / count) for word, count in spread.items()}
    highest = max(weight.values(), default=1.0) or 1.0
    named: dict[tuple[str, str], float] = dict.fromkeys(tokens, 0.0)
    for fade, question in zip((1.0, 0.5, 0.3, 0.2), questions, strict=False):
        near = _near(question, weight)
        flat = squashed(question)
        padded = f" {' '.join(words(question))} "
        for place, found in tokens.items():
            hit = sum(weight[word] / highest * near.get(word, 0.0) for word in found)
            cover = sum(near.get(word, 0.0) for word in found) / max(1, len(found))
            name = squashed(place[1])
            whole = 1.5 if len(name) > 2 and name in flat else 0.0
            value = 1.0 if _holds_value(profiles[place], padded) else 0.0
            named[place] = max(named[place], fade * (hit + 0.5 * cover + whole + value))
    return {place: Score(score, score + _kept_anyway(profiles[place])) for place, score in named.items()}


def table_scores(
    questions: Sequence[str], tables: Sequence[Table], columns: dict[tuple[str, str], Score]
) -> dict[str, float]:
    """A score for every table: its name in the question, its best columns, and a little for their number."""
    asked = {word for question in questions[:2] for word in words(question)}
    made: dict[str, float] = {}
    for table in tables:
        best = sorted((columns[table.name, column.name].named for column in table.columns), reverse=True)[:4]
        called = [{word for word in words(text) if word not in _STOP} for text in (table.name, *table.profile.synonyms)]
        by_name = 1.5 * max(len(names & asked) / max(1, len(names)) for names in called)
        made[table.name] = by_name + sum(best) / 2 + (best[0] if best else 0.0)
    return made


def _column_words(column: ColumnProfile) -> set[str]:
    texts: Iterable[str] = (column.name, *column.synonyms)
    return {word for text in texts for word in words(text)}


def _near(question: str, vocabulary: dict[str, float]) -> dict[str, float]:
    """How near each word of the columns is to some word of the question: 1 is the same."""
    asked = [word for word in words(question) if word not in _STOP]
    near = {word: 1.0 for word in asked if word in vocabulary}
    alike = {other for word in asked for group in _ALIKE if word in group for other in group}
    for word in alike:
        if word in vocabulary:
            near.setdefault(word, 0.45)
    letters = [word for word in vocabulary if len(word) > 3 and word.isalpha()]
    for word in asked:
        if len(word) < 4 or not word.isalpha():
            continue
        for other in letters:
            if other.startswith(word) or (word.startswith(other) and len(other) > 4):
                near[other] = max(near.get(other, 0.0), 0.7)
        for other, ratio, _ in process.extract(word, letters, scorer=fuzz.ratio, score_cutoff=84, limit=5):
            near[other] = max(near.get(other, 0.0), 0.6 * ratio / 100)
    return near


def _holds_value(column: ColumnProfile, padded_question: str) -> bool:
    if column.kind is not Kind.TEXT:
        return False
    for value, _ in column.top:
        folded = " ".join(words(str(value)))
        if len(folded) > 1 and folded not in _STOP and f" {folded} " in padded_question:
            return True
    return False


def _kept_anyway(column: ColumnProfile) -> float:
    """Dates, ids and groupings stay before columns that nothing speaks for."""
    if column.kind.temporal or column.role is Role.YEAR:
        return 0.3
    if column.role is Role.ID or column.unique:
        return 0.2
    return 0.1 if column.role in (Role.CATEGORY, Role.GEO) or column.kind is Kind.BOOLEAN else 0.0
