"""What stands before and after the digits of a number: sign, currency, percent, magnitude, unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qa.data.months import MONTHS
from qa.data.units import MAGNITUDES, PLAIN_MAGNITUDES, Unit, currency, unit

_ABOUT = re.compile(
    r"^(about|approximately|approx\.?|circa|ca\.?|c\.|around|roughly|nearly|almost|est\.?|~|≈|\+/-|±)\s*", re.IGNORECASE
)
_MINUS = re.compile(r"^minus\s+", re.IGNORECASE)
_CODE_LETTERS = re.compile(r"(^|[^A-Za-z])(dm|ft|kr|rs|kc)$", re.IGNORECASE)
_WHOLE_AMOUNT = frozenset({".", ".-", ",-", ".–", ",–", ".--", ",--"})
"""What may follow an amount without cents: `12.-`, `12,-`."""
_PERCENT = {"%": 1.0, "percent": 1.0, "pct": 1.0, "pct.": 1.0, "per cent": 1.0, "prozent": 1.0, "p.c.": 1.0, "‰": 0.1}


@dataclass(frozen=True)
class Affix:
    """The meaning of a prefix and a suffix. `word` is a unit we know nothing of; `magnitude` may still be a unit."""

    sign: int = 1
    about: bool = False
    currency: str | None = None
    percent: bool = False
    scale: float = 1.0
    magnitude: str | None = None
    unit: Unit | None = None
    word: str | None = None

    @property
    def bare(self) -> bool:
        return (
            self.currency is None
            and not self.percent
            and self.unit is None
            and self.word is None
            and self.magnitude is None
        )


def affix(before: str, after: str) -> Affix | None:
    """Read a prefix and a suffix, or None when they are not those of a number."""
    if _CODE_LETTERS.search(before):
        return None  # `DM101` and `RS5` name things; `DM 101` is an amount
    before, after = before.strip(), after.strip()
    about = _ABOUT.match(before)
    if about:
        before = before[about.end() :].strip()
    sign, before, after = _signed(_MINUS.sub("-", before), after)
    if sign is None:
        return None
    money = None
    if before:
        money = currency(before)
        if money is None:
            return None
    tail = _suffix(after, money)
    if tail is None or (money and tail.currency and tail.currency != money):
        return None
    return Affix(
        sign, about is not None, money or tail.currency, tail.percent, tail.scale, tail.magnitude, tail.unit, tail.word
    )


def _signed(before: str, after: str) -> tuple[int | None, str, str]:
    """Take the sign off: `-`, `+`, `(12)`, `12-`, `($12)`, `$-12`, `-$12`; None when the marks do not match."""
    sign = 1
    opened = before.startswith("(") or (before.endswith("(") and len(before) > 1)
    if opened != after.endswith(")"):
        return None, before, after
    if opened:
        sign, before, after = -1, before.strip("( "), after[:-1].strip()
    for mark, value in (("-", -1), ("+", 1)):
        if before.startswith(mark) or before.endswith(mark):
            if opened and mark == "-":
                # (-5) stands in parentheses and has a minus: one negative, said twice.
                value = 1
            sign, before = sign * value, before.strip(f"{mark} ")
            break
    if after in _WHOLE_AMOUNT:
        return sign, before, ""
    if after.endswith("-") and not opened and sign == 1:
        sign, after = -1, after[:-1].strip()
    return sign, before, after


def _suffix(after: str, money: str | None) -> Affix | None:
    word = after.strip()
    if not word:
        return Affix()
    if (percent := _PERCENT.get(word.casefold())) is not None:
        return Affix(percent=True, scale=percent)
    code = currency(word)
    if code is not None and word.casefold() not in ("ft", "fr.", "rs"):
        return Affix(currency=code)
    if (factor := MAGNITUDES.get(word.casefold())) is not None and (
        money or word.casefold() in PLAIN_MAGNITUDES or word in ("M", "B")
    ):
        return Affix(scale=factor, magnitude=word)
    first, _, rest = word.partition(" ")
    if rest and (factor := MAGNITUDES.get(first.casefold())) is not None and (code := currency(rest.strip())):
        return Affix(scale=factor, magnitude=first, currency=code)
    if (
        first[1:]
        and (factor := MAGNITUDES.get(first[0].casefold())) is not None
        and (code := currency(word[1:].strip()))
        and not word[1:].isalpha()
    ):
        return Affix(scale=factor, magnitude=word[0], currency=code)
    if (known := unit(word)) is not None:
        return Affix(unit=known)
    if code is not None:
        return Affix(currency=code)
    if word.casefold().split()[0].strip(".") in MONTHS:
        return None  # `9 June` is a day, not nine of something
    if re.fullmatch(r"[^\W\d_][^\W\d_ ./²³-]*([ ./-][^\W\d_]+){0,2}[.²³]?", word) and len(word) <= 24:
        return Affix(word=word.casefold())
    return None
