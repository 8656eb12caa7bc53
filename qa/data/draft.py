"""A first semantic file by rules: what the reader found, and what names and values prove besides, blank where unsure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from qa.data.semantics import ROLE_KINDS, ColumnSemantics, Semantics
from qa.data.table import ColumnProfile, Table
from qa.types import NUMERIC, Column, Kind, Role

SHORT_WORDS = {
    "acct": "account", "addr": "address", "amt": "amount", "arr": "arrival", "avg": "average", "bal": "balance", "cat": "category",
    "cnt": "count", "cust": "customer", "dep": "departure", "dept": "department", "desc": "description", "dest": "destination",
    "dist": "distance", "dob": "date of birth", "emp": "employee", "fname": "first name", "freq": "frequency", "hrs": "hours",
    "id": "number", "inv": "inventory", "lat": "latitude", "lname": "last name", "loc": "location", "lon": "longitude",
    "lng": "longitude", "mfr": "manufacturer", "mgr": "manager", "mins": "minutes", "msa": "metro", "nbr": "number", "no": "number",
    "num": "number", "ord": "order", "orig": "origin", "pct": "percent", "percap": "per capita", "pop": "population", "prod": "product", "qty": "quantity",
    "rev": "revenue", "sal": "salary", "sched": "scheduled", "sku": "product number", "stdev": "standard deviation", "temp": "temperature",
    "tel": "telephone", "tx": "transaction", "txn": "transaction", "uom": "unit of measure", "vol": "volume", "wt": "weight",
    "yr": "year", "zip": "postal code",
}  # fmt: skip

UNITS = {
    "kg": "kg", "kgs": "kg", "kilograms": "kg", "g": "g", "grams": "g", "lb": "lb", "lbs": "lb", "pounds": "lb", "oz": "oz", "km": "km",
    "kilometers": "km", "m": "m", "meters": "m", "cm": "cm", "mm": "mm", "mi": "miles", "miles": "miles", "ft": "ft", "feet": "ft",
    "sqft": "sq ft", "sqm": "m²", "seconds": "seconds", "sec": "seconds", "secs": "seconds", "ms": "ms", "minutes": "minutes",
    "mins": "minutes", "hours": "hours", "hrs": "hours", "days": "days", "weeks": "weeks", "months": "months", "years": "years",
    "mph": "mph", "kph": "km/h", "kmh": "km/h", "celsius": "°C", "fahrenheit": "°F", "kwh": "kWh", "mwh": "MWh", "watts": "W", "bytes": "bytes",
    "kb": "kB", "mb": "MB", "gb": "GB", "liters": "l", "litres": "l", "ml": "ml", "calories": "kcal", "kcal": "kcal",
}  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """What the rules look at: the column, its statistics, the words of its name, and whether the table has a date."""

    column: Column
    facts: ColumnProfile
    words: tuple[str, ...]
    dated: bool

    @property
    def last(self) -> str:
        return self.words[-1] if self.words else ""

    def says(self, *words: str) -> bool:
        return any(word in self.words for word in words)

    def between(self, low: float, high: float) -> bool:
        """Whether every value lies there."""
        known = isinstance(self.facts.low, int | float) and isinstance(self.facts.high, int | float)
        return known and low <= self.facts.low and self.facts.high <= high

    @property
    def whole(self) -> bool:
        return self.column.kind is Kind.INTEGER


def _is_id(e: Evidence) -> bool:
    named = e.last in (
        "id",
        "uuid",
        "guid",
        "key",
        "sku",
        "isbn",
        "ean",
        "ssn",
        "zip",
        "phone",
        "postcode",
        "iban",
        "vin",
        "tailnum",
    )
    numbered = e.last in ("number", "no", "nr", "num", "code") and (e.facts.unique or e.column.kind is Kind.TEXT)
    return (named or numbered) and e.column.kind in (Kind.TEXT, Kind.INTEGER)


def _is_year(e: Evidence) -> bool:
    return e.whole and e.says("year", "yr", "yyyy", "built", "founded", "vintage") and e.between(1000, 2200)


def _is_percent(e: Evidence) -> bool:
    plainly = e.says("pct", "percent", "percentage") or "%" in e.column.name
    likely = e.says("share", "fraction", "proportion", "ratio", "discount")
    return e.column.kind in NUMERIC and ((plainly and e.between(-100, 100)) or (likely and e.between(0, 1)))


def _is_balance(e: Evidence) -> bool:
    """A stock that is there at a moment: it must not be added up over time, so it only matters in a dated table."""
    said = e.says(
        "inventory",
        "stock",
        "balance",
        "headcount",
        "population",
        "subscribers",
        "outstanding",
        "holdings",
        "backlog",
        "capacity",
    )
    return said and e.dated and e.column.kind in NUMERIC


def _is_count(e: Evidence) -> bool:
    said = e.last in ("count", "cnt", "qty", "quantity") or (
        bool(e.words) and e.words[0] in ("n", "num", "count", "number") and len(e.words) > 1
    )
    return said and e.whole and isinstance(e.facts.low, int) and e.facts.low >= 0


def _is_rate(e: Evidence) -> bool:
    said = e.says("rate", "ratio", "average", "avg", "mean", "median", "per", "index", "score", "rating")
    return said and e.column.kind in NUMERIC


def _is_geo(e: Evidence) -> bool:
    place = e.last in (
        "country",
        "state",
        "city",
        "county",
        "province",
        "continent",
        "municipality",
        "prefecture",
        "latitude",
        "longitude",
        "lat",
        "lon",
        "lng",
    )
    coded = (
        len(e.words) > 1
        and e.words[-2] in ("country", "state", "county", "province")
        and e.last in ("code", "name", "abbr")
    )
    spot = e.last not in ("lat", "lon", "lng", "latitude", "longitude") or e.between(-180, 180)
    return (place or coded) and spot and e.column.kind in (Kind.TEXT, Kind.NUMBER)


def _is_category(e: Evidence) -> bool:
    return e.column.kind is Kind.TEXT and 2 <= e.facts.distinct <= 50 and e.facts.distinct * 4 <= e.facts.count


RULES: tuple[tuple[Role, Callable[[Evidence], bool]], ...] = (
    (Role.YEAR, _is_year),
    (Role.GEO, _is_geo),
    (Role.ID, _is_id),
    (Role.PERCENT, _is_percent),
    (Role.BALANCE, _is_balance),
    (Role.COUNT, _is_count),
    (Role.RATE, _is_rate),
    (Role.CATEGORY, _is_category),
)
"""Tried in this order after what the reader found; the first that fits is taken."""


def draft(table: Table) -> Semantics:
    """A semantic file for the table by rules, for a person to complete. Unsure is left blank; no cell is quoted."""
    dates = [column for column in table.columns if column.kind.temporal]
    columns = {column.name: _draft(table, column, dated=bool(dates)) for column in table.columns}
    default = dates[0].name if len(dates) == 1 else next((d.name for d in dates if d.name.casefold() == "date"), None)
    return Semantics(table=table.name, default_date=default, columns=columns)


def name_words(name: str) -> tuple[str, ...]:
    """`unitPrice_USD` → unit, price, usd."""
    split = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(word.casefold() for word in re.findall(r"[^\W_]+|%", split))


def _draft(table: Table, column: Column, *, dated: bool) -> ColumnSemantics:
    facts = table.profile.column(column.name)
    words = name_words(column.name)
    delimiter = column.unit if column.role is Role.TAG_LIST else None
    evidence = Evidence(column, facts, words, dated)
    role = column.role or next((role for role, fits in RULES if fits(evidence)), None)
    if role and column.kind not in ROLE_KINDS[role]:
        role = None
    return ColumnSemantics(
        role=role,
        unit=None if delimiter else column.unit or _unit(evidence, role),
        synonyms=facts.synonyms or _synonyms(column.name, words),
        delimiter=delimiter,
    )


def _unit(e: Evidence, role: Role | None) -> str | None:
    if role is Role.PERCENT:
        return "fraction" if e.between(0, 1) else "percent"
    measures = e.column.kind in NUMERIC and role not in (Role.ID, Role.YEAR, Role.CURRENCY, Role.GEO)
    found = (
        [UNITS[word] for word in e.words[-1:] + e.words[:1] if word in UNITS] if measures and len(e.words) > 1 else []
    )
    return found[0] if found else None


def _synonyms(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The name in whole words, when it is written in short ones: `dep_delay` is also departure delay."""
    spelled = " ".join(SHORT_WORDS.get(word, word) for word in words)
    return (
        (spelled,)
        if any(word in SHORT_WORDS for word in words) and spelled != " ".join(words) and words[-1:] != ("id",)
        else ()
    )
