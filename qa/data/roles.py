"""Says what a column is for, from its name and values; nothing where the signs are weak."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from qa.data.extremes import largest, share
from qa.data.identifiers import named_id, named_postal, names_things
from qa.data.units import CODES
from qa.types import Kind, Role

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_YEAR = re.compile(r"\b(year|yr|jahr|année|annee|año|ano|anno|jaar|season|年)\b|year$", re.IGNORECASE)
_PERCENT = re.compile(r"\b(percent|percentage|pct|prozent)\b|%", re.IGNORECASE)
_FRACTION = re.compile(r"\b(share|fraction|proportion|probability)$", re.IGNORECASE)
_RATE = re.compile(r"\b(rate|ratio)$|\b(per|percap|avg|average|mean|median)\b", re.IGNORECASE)
_PAID_RATE = re.compile(r"\b(hourly|daily|pay|room|day|base) rate$", re.IGNORECASE)
_BALANCE = re.compile(r"\b(balance|saldo)$", re.IGNORECASE)
_COUNT = re.compile(
    r"^(n|num|no of|number of|count of|count|#)\b|\b(count|counts|qty|quantity|quantities|headcount|anzahl|menge|units sold|units)$",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\b(price|cost|costs|revenue|sales|salary|income|amount|wage|wages|fee|fees|budget|spend|turnover|umsatz|preis|profit|payment|total|fare)\b",
    re.IGNORECASE,
)
_GEO = re.compile(
    r"\b(country|countries|state|province|region|county|city|town|continent|nation|land|stadt|pays|ville|metro|lat|latitude|lon|lng|long|longitude|fips|geo|borough|district)\b",
    re.IGNORECASE,
)
_NOT_GEO = re.compile(r"\b(type|capital|state of|status|statement|id|count|population|area|number)\b", re.IGNORECASE)
_TEXTUAL = re.compile(
    r"\b(name|title|description|comment|comments|note|notes|address|text|review|summary|email|url|subject|message)\b",
    re.IGNORECASE,
)
_TAGS = re.compile(
    r"\b(tags?|labels?|keywords?|genres?|categories|skills|topics|languages|ingredients|features|interests|hobbies|amenities)\b",
    re.IGNORECASE,
)
SEPARATORS = (";", "|", ",")
CATEGORY_MOST = 1_000


@dataclass(frozen=True)
class Facts:
    """What the decision needs of a column: non-missing cells, distinct values, its smallest and largest number."""

    count: int
    distinct: int
    low: float | None = None
    high: float | None = None
    counting_up: bool = False
    """whole numbers without a gap, each once, from 0 or 1 on"""


def role(name: str, kind: Kind, facts: Facts, some: pl.Series | None = None) -> tuple[Role | None, str | None]:
    """The role and unit of a column whose values said nothing themselves. `some` are sample texts of a text column."""
    said = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").strip()
    if kind is Kind.TEXT:
        return _text_role(name, said, facts, some)
    if not kind.numeric:
        return None, None
    return _number_role(name, said, kind, facts)


def _number_role(name: str, said: str, kind: Kind, facts: Facts) -> tuple[Role | None, str | None]:
    whole = kind is Kind.INTEGER
    low, high = facts.low, facts.high
    if low is None or high is None:
        return None, None
    if whole and (_YEAR.search(said) and low >= 1000 and high <= 2200):
        return Role.YEAR, None
    if whole and names_things(name) and not _COUNT.search(said):
        return Role.ID, None
    if whole and facts.counting_up and facts.count > 3 and low in (0, 1):
        return Role.ID, None
    if _PERCENT.search(said):
        return Role.PERCENT, "fraction" if low >= -1.5 and high <= 1.5 and not whole else "percent"
    if _FRACTION.search(said) and low >= 0 and high <= 1 and not whole:
        return Role.PERCENT, "fraction"
    if _RATE.search(said) and not _PAID_RATE.search(said):
        return Role.RATE, None
    if _BALANCE.search(said):
        return Role.BALANCE, _currency_named(name)
    if (_MONEY.search(said)) and (code := _currency_named(name)):
        return Role.CURRENCY, code
    if whole and low >= 0 and _COUNT.search(said):
        return Role.COUNT, None
    return (
        (Role.GEO, None)
        if re.search(r"\b(lat|latitude|lon|lng|longitude)\b", said, re.IGNORECASE)
        and abs(low) <= 180
        and abs(high) <= 180
        else (None, None)
    )


def _currency_named(name: str) -> str | None:
    """The currency that a header states: `price_usd`, `Sales [€]`, `Amount ($)`."""
    for sign, code in (("€", "EUR"), ("£", "GBP"), ("$", "USD"), ("¥", "JPY"), ("₹", "INR")):
        if sign in name:
            return code
    words = re.findall(r"[A-Za-z]{3}", _CAMEL.sub("_", name).replace("_", " "))
    found = [
        word.upper()
        for word in re.findall(r"\b[A-Za-z]{3}\b", name.replace("_", " "))
        if word.upper() in CODES and word.upper() not in ("ALL", "TRY", "TOP")
    ]
    return found[0] if words and found else None


def _text_role(name: str, said: str, facts: Facts, some: pl.Series | None) -> tuple[Role | None, str | None]:
    if facts.count == 0:
        return None, None
    separator = tag_separator(some, said) if some is not None and len(some) else None
    if separator:
        return Role.TAG_LIST, separator
    if named_postal(name) or (_GEO.search(said) and not _NOT_GEO.search(said)):
        return Role.GEO, None
    if named_id(name):
        return Role.ID, None
    if _TEXTUAL.search(said):
        return None, None
    if facts.distinct == facts.count and facts.count > 5 and some is not None and _code_like(some):
        return Role.ID, None
    if facts.distinct <= CATEGORY_MOST and facts.count >= 2 * facts.distinct:
        return Role.CATEGORY, None
    return None, None


def is_geo_code(name: str) -> bool:
    """Is a column of codes one of places (postal codes)?"""
    return named_postal(name)


def _code_like(some: pl.Series) -> bool:
    """Short texts with digits and without spaces."""
    return bool(
        share(some.str.contains(r"\d")) > 0.9
        and not some.str.contains(r"\s").any()
        and (largest(some.str.len_chars()) or 0) <= 40
    )


def tag_separator(some: pl.Series, said: str) -> str | None:
    """The mark between the items of a list of tags, or None. Items are short, few and come back in many cells."""
    if some.str.contains(r"^\s*[\[{]").all():
        return None
    for separator in SEPARATORS:
        parted = some.str.split(separator)
        lengths = parted.list.len()
        several = share(lengths > 1)
        if several < (0.2 if _TAGS.search(said) else 0.4):
            continue
        items = parted.explode(empty_as_null=True).str.strip_chars().drop_nulls()
        items = items.filter(items != "")
        vocabulary = items.n_unique()
        short = bool(
            (items.str.len_chars().quantile(0.95) or 0) <= 30
            and (items.str.count_matches(r"\s").quantile(0.95) or 0) <= 2
        )
        repeated = vocabulary <= 0.34 * len(items)
        varied = lengths.n_unique() > 1
        known_name = _TAGS.search(said) is not None
        if short and (known_name or (repeated and varied and separator != ",")):
            return separator
        if (
            separator == ","
            and short
            and repeated
            and varied
            and not some.str.contains(r"\d").any()
            and share(lengths == 1) > 0.05
        ):
            return separator
    return None
