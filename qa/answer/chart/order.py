"""The order categories have by nature: months, weekdays, quarters, sizes, levels and buckets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.shape import read

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

_CYCLES: tuple[tuple[str, ...], ...] = (
    tuple(_MONTHS),
    tuple(month[:3] for month in _MONTHS),
    tuple(_DAYS),
    tuple(day[:3] for day in _DAYS),
    tuple(day[:2] for day in _DAYS),
    ("spring", "summer", "autumn", "winter"),
    ("spring", "summer", "fall", "winter"),
    ("morning", "noon", "afternoon", "evening", "night"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("extra small", "small", "medium", "large", "extra large"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high", "critical"),
    ("very bad", "bad", "poor", "fair", "average", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("none", "primary", "secondary", "bachelor", "master", "doctorate"),
    ("first", "second", "third", "fourth", "fifth"),
)

_SPELLINGS = {"sept": "sep", "tues": "tue", "thur": "thu", "thurs": "thu", "weds": "wed", "fal": "fall"}

_QUARTER = re.compile(r"^(?:(?P<before>\d{4})[\s-]*)?Q(?P<quarter>[1-4])(?:[\s-]*(?P<after>\d{4}))?$", re.IGNORECASE)
_NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_BUCKET = re.compile(
    rf"^\s*(?P<open>[\[(]|<=?|≤|>=?|≥|under|below|less than|up to|over|above|more than)?\s*[$€£]?(?P<low>{_NUMBER})\s*[%kKmM]?"
    rf"(?:\s*(?:,|-|–|—|to|\.\.)\s*[$€£]?(?P<high>{_NUMBER})\s*[%kKmM]?)?\s*(?P<close>[\])]|\+|and over|or more|and above)?\s*$",
    re.IGNORECASE,
)
_BELOW = frozenset({"<", "<=", "≤", "under", "below", "less than", "up to"})
_ABOVE = frozenset({">", ">=", "≥", "over", "above", "more than"})


def natural(values: Sequence[str]) -> dict[str, float] | None:
    """The rank of each text in its natural order, or None when the texts have none. Needs two texts at least."""
    texts = list(dict.fromkeys(values))
    if len(texts) < 2:
        return None
    return next((ranks for rule in _RULES if (ranks := rule(texts)) is not None), None)


def _cycle(texts: Sequence[str]) -> dict[str, float] | None:
    folded = {text: _fold(text) for text in texts}
    for cycle in _CYCLES:
        if all(name in cycle for name in folded.values()):
            return {text: float(cycle.index(name)) for text, name in folded.items()}
    return None


def _fold(text: str) -> str:
    name = text.strip().rstrip(".").lower()
    return _SPELLINGS.get(name, name)


def _quarters(texts: Sequence[str]) -> dict[str, float] | None:
    ranks = {}
    for text in texts:
        match = _QUARTER.match(text.strip())
        if match is None:
            return None
        year = match["before"] or match["after"] or "0"
        ranks[text] = int(year) * 4.0 + int(match["quarter"])
    return ranks


def _buckets(texts: Sequence[str]) -> dict[str, float] | None:
    ranks = {}
    ranged = False
    for text in texts:
        match = _BUCKET.match(text)
        if match is None:
            return None
        word = (match["open"] or "").lower()
        ranged = ranged or bool(match["high"] or word or match["close"])
        low = _figure(match["low"])
        ranks[text] = (
            low - 1e-9 * (1 + abs(low)) if word in _BELOW else low + 1e-9 * (1 + abs(low)) if word in _ABOVE else low
        )
    # Bare digits may be codes: only ranges have an order by nature.
    return ranks if ranged else None


def _figure(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


_RULES: tuple[Callable[[Sequence[str]], dict[str, float] | None], ...] = (_cycle, _quarters, _buckets)


def ranks_of(column: pl.Series) -> Mapping[Any, float] | None:
    """The natural rank of a text column's values (missing last), or None."""
    if column.dtype not in (pl.String, pl.Categorical) and not isinstance(column.dtype, pl.Enum):
        return None
    texts = column.drop_nulls().unique(maintain_order=True).head(500).cast(pl.String).to_list()
    return natural(texts) if len(texts) < 500 else None


def arrange(table: pl.DataFrame, columns: Sequence[AnswerColumn], plan: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of a whole result in the order people expect when the plan did not rank them: months, weekdays and
    buckets by nature rather than by the alphabet. Table and chart then agree. Never call it on a cut table."""
    rows = arrangement(table, columns, plan)
    return table if rows is None else table[rows]


def arrangement(table: pl.DataFrame, columns: Sequence[AnswerColumn], plan: Mapping[str, Any]) -> pl.Series | None:
    """The row numbers in the order that `arrange` gives, or None when the rows stay as they are."""
    shape = read(plan, columns)
    if shape.limit or not shape.grouped or not shape.keys:
        return None
    asked = dict(shape.order)
    if shape.order and not set(asked) <= set(shape.keys):
        return None
    sorters: list[pl.Series] = []
    found = False
    for key in shape.keys:
        ranks = ranks_of(table[key])
        found = found or ranks is not None
        values = (
            table[key]
            if ranks is None
            else table[key].cast(pl.String).replace_strict(ranks, default=None, return_dtype=pl.Float64)
        )
        sorters.append(values.alias(f"k{len(sorters)}"))
    if not found:
        return None
    names = [sorter.name for sorter in sorters]
    position = (
        pl.DataFrame(sorters)
        .with_row_index("row")
        .sort(names, descending=[asked.get(key, False) for key in shape.keys], nulls_last=True, maintain_order=True)
    )
    return position["row"]
