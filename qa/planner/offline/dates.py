"""Dates and periods as people write them: `May 4, 2009`, `18 may`, `March 2024`, `2024-03-15`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ORDINAL_DAY = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)?$")
YEARS = range(1000, 2200)
ISO = re.compile(r"(?<![\d-])(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?![\d-])")
MONTHS_IN_YEAR, LONGEST_MONTH = 12, 31


@dataclass(frozen=True)
class Period:
    """A day, a month, a day of any year, or a month of any year. Parts that were not said are None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def iso(self) -> str | None:
        if self.year is None or self.month is None or self.day is None:
            return None
        return f"{self.year:04}-{self.month:02}-{self.day:02}"


def periods(folded: Sequence[str], months: Mapping[str, int]) -> list[tuple[int, int, Period]]:
    """(first word, last word, period) for every date that begins at a word; the longest at each place."""
    found: list[tuple[int, int, Period]] = []
    for at in range(len(folded)):
        match = _at(folded, at, months)
        if match:
            found.append((at, *match))
    return found


def _at(folded: Sequence[str], at: int, months: Mapping[str, int]) -> tuple[int, Period] | None:
    word = folded[at]
    glued = re.match(r"^([a-z]{3,9})(\d{1,2})$", word)
    if glued and glued[1] in months and 1 <= int(glued[2]) <= LONGEST_MONTH:
        year, last = _year(folded, at + 1)
        return last, Period(year, months[glued[1]], int(glued[2]))
    if word in months:
        return _month_first(folded, at, months[word])
    day = _day(word)
    if day:
        nxt = at + 1
        if nxt < len(folded) and folded[nxt] == "of":
            nxt += 1
        if nxt < len(folded) and folded[nxt] == "-":
            nxt += 1
        if nxt < len(folded) and folded[nxt] in months:
            year, last = _year(folded, nxt + 1)
            return last, Period(year, months[folded[nxt]], day)
    iso = ISO.fullmatch("".join(folded[at : at + 5])) if word.isdigit() else None
    if iso and int(iso[1]) in YEARS and 1 <= int(iso[2]) <= MONTHS_IN_YEAR and 1 <= int(iso[3] or 1) <= LONGEST_MONTH:
        return at + 4, Period(int(iso[1]), int(iso[2]), int(iso[3]) if iso[3] else None)
    return None


def _month_first(folded: Sequence[str], at: int, month: int) -> tuple[int, Period] | None:
    nxt = at + 1
    if nxt < len(folded) and folded[nxt] == ".":
        nxt += 1
    if nxt < len(folded):
        day = _day(folded[nxt])
        if day:
            year, last = _year(folded, nxt + 1)
            return last, Period(year, month, day)
        if nxt < len(folded) and folded[nxt] == "of":
            nxt += 1
        if nxt < len(folded) and folded[nxt].isdigit() and len(folded[nxt]) == 4 and int(folded[nxt]) in YEARS:
            return nxt, Period(int(folded[nxt]), month)
    return at, Period(None, month)


def _day(word: str) -> int | None:
    match = ORDINAL_DAY.match(word)
    return int(match[1]) if match and 1 <= int(match[1]) <= LONGEST_MONTH else None


def _year(folded: Sequence[str], at: int) -> tuple[int | None, int]:
    skip = at
    if skip < len(folded) and folded[skip] in (",", ".", "-"):
        skip += 1
    if skip < len(folded) and folded[skip].isdigit() and len(folded[skip]) == 4 and int(folded[skip]) in YEARS:
        return int(folded[skip]), skip
    return None, at - 1
