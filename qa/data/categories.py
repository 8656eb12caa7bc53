"""Finds the spellings that mean one category: case, spaces, dots, abbreviations, typing slips."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl
from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from qa.data.abbreviations import STANDS_FOR

MOST_WORDS = 5_000
MOST_COMPARED = 400
REPEATED = 0.5
"""A column with more categories for its rows than this holds names, which may differ by case alone."""
_SMALL_WORDS = frozenset({"and", "of", "the", "for", "&", "de", "la", "und"})
_DASHES = str.maketrans({"‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'", "“": '"', "”": '"'})
_SPACES = re.compile(r"\s+")
_DOTTED = re.compile(r"^(?:\w\.)+\w?\.?$")
_CODES = re.compile(
    r"country|iso|code|currency|lang|locale|state|province|grade|class|ticker|symbol|airport|carrier|airline|station",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Variants:
    """Spelling -> the spelling it stands for. `certain` may be applied, `offered` is for a person to decide."""

    certain: dict[str, str]
    offered: dict[str, str]
    because: dict[str, str]
    """spelling -> the rule that found it"""


NONE = Variants({}, {}, {})


@dataclass
class _Group:
    """All spellings with one folded form."""

    key: str
    spellings: dict[str, int]

    @property
    def rows(self) -> int:
        return sum(self.spellings.values())

    @property
    def shown(self) -> str:
        return _shown(self.spellings)


def variants(values: pl.Series, counts: pl.Series, *, name: str) -> Variants:
    """The category variants among the distinct texts of a column. A column of (nearly) unique texts has none."""
    rows = int(counts.sum() or 0)
    if not 2 <= len(values) <= MOST_WORDS or rows < 4:
        return NONE
    groups: dict[str, _Group] = {}
    for value, count in zip(values.to_list(), counts.to_list(), strict=True):
        groups.setdefault(_fold(value), _Group(_fold(value), {})).spellings[value] = count
    certain: dict[str, str] = {}
    because: dict[str, str] = {}
    for group in groups.values():
        for spelling in group.spellings:
            if spelling != group.shown:
                certain[spelling], because[spelling] = group.shown, "case, spaces or dots"
    offered: dict[str, str] = {}
    for key, (target, rule, sure) in _abbreviated(groups, name).items():
        into = certain if sure else offered
        for spelling in groups[key].spellings:
            into[spelling], because[spelling] = groups[target].shown, rule
    for key, (target, rule) in _slips(groups, set(certain) | set(offered)).items():
        offered[groups[key].shown], because[groups[key].shown] = groups[target].shown, rule
    certain = _resolved(certain)
    if len({certain.get(value, value) for value in values}) > REPEATED * rows:
        return NONE
    return Variants(certain, offered, because)


def _fold(text: str) -> str:
    plain = _SPACES.sub(" ", unicodedata.normalize("NFKC", text).translate(_DASHES)).strip().casefold()
    if _DOTTED.match(plain):
        return plain.replace(".", "")
    return plain.rstrip(".") or plain


def _unaccented(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _shown(spellings: dict[str, int]) -> str:
    """The spelling to keep: the usual one, but a capitalised form before all-lower or all-upper when it is not rare."""
    total = sum(spellings.values())

    def grade(entry: tuple[str, int]) -> tuple[bool, bool, int, str]:
        spelling, count = entry
        mixed = spelling[:1].isupper() and not spelling.isupper() if len(spelling) > 1 else spelling.isupper()
        return (
            spelling == _SPACES.sub(" ", spelling).strip() and not spelling.endswith("."),
            mixed and count >= 0.1 * total,
            count,
            spelling,
        )

    return max(spellings.items(), key=grade)[0]


def _resolved(certain: dict[str, str]) -> dict[str, str]:
    """Follow chains (`eng` -> `Eng` -> `Engineering`) to their end."""
    result = {}
    for spelling in certain:
        target, seen = certain[spelling], {spelling}
        while target in certain and target not in seen:
            seen.add(target)
            target = certain[target]
        if target != spelling:
            result[spelling] = target
    return result


def _abbreviated(groups: dict[str, _Group], name: str) -> dict[str, tuple[str, str, bool]]:
    """Short form -> (long form, rule, certain). Only a short form with exactly one possible long form counts."""
    found: dict[str, tuple[str, str, bool]] = {}
    coded = _CODES.search(name) is not None
    letters = {key for key in groups if len(key) == 1 and key.isalpha()}
    for key, group in groups.items():
        entry = _known(key, groups) or (None if coded else _initials(key, group, groups) or _prefix(key, group, groups))
        if entry is not None:
            found[key] = entry
    singles = {key for key in letters if key in found}
    if letters and singles != letters:
        # A lone letter without a long form shows that the letters are a system of their own (grades A, B, C).
        found = {key: entry for key, entry in found.items() if key not in letters}
    elif len(letters) == 1 and (key := next(iter(letters))) in found and found[key][1] != "usual abbreviation":
        found[key] = (*found[key][:2], False)
    return {key: entry for key, entry in found.items() if entry[0] not in found}


def _known(key: str, groups: dict[str, _Group]) -> tuple[str, str, bool] | None:
    targets = [target for target in STANDS_FOR.get(key.rstrip("."), ()) if target in groups]
    if len(targets) != 1:
        return None
    if len(key) == 1 and any(len(other) > 1 and other != targets[0] and other.startswith(key) for other in groups):
        return None
    return targets[0], "usual abbreviation", True


def _initials(key: str, group: _Group, groups: dict[str, _Group]) -> tuple[str, str, bool] | None:
    if not (2 <= len(key) <= 6 and key.isalpha()):
        return None
    upper = all(spelling.replace(".", "").isupper() for spelling in group.spellings)
    targets = [other for other in groups if other != key and key in _acronyms(other)]
    if len(targets) != 1:
        return None
    dotted = any("." in spelling for spelling in group.spellings)
    rivals = [other for other in groups if other not in (key, targets[0]) and other.startswith(key)]
    return targets[0], "initials", upper and not rivals and (len(key) >= 3 or dotted)


def _acronyms(text: str) -> set[str]:
    words = re.findall(r"[^\W_]+|&", text)
    if len(words) < 2:
        return set()
    main = [word[0] for word in words if word not in _SMALL_WORDS]
    return {"".join(word[0] for word in words if word != "&"), "".join(main)} if len(main) > 1 else set()


def _prefix(key: str, group: _Group, groups: dict[str, _Group]) -> tuple[str, str, bool] | None:
    if not key.replace(" ", "").isalpha() or len(key) > 6:
        return None
    longer = [other for other in groups if other != key and other.startswith(key)]
    dotted = any(spelling.endswith(".") for spelling in group.spellings)
    if len(longer) == 1 and len(key) <= 0.65 * len(longer[0]):
        if not longer[0][len(key)].isalpha():
            return None
        return (longer[0], "beginning of the word", dotted or len(key) == 1) if dotted or len(key) <= 3 else None
    if not longer and len(key) >= 3 and not set(key) & set("aeiou"):
        skeletons = [
            other for other in groups if other[:1] == key[0] and len(other) > len(key) + 2 and _within(key, other)
        ]
        if len(skeletons) == 1:
            return skeletons[0], "consonants of the word", dotted
    return None


def _within(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


def _slips(groups: dict[str, _Group], done: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Spellings that differ from a much more frequent one by accents, separators or a slip of a letter."""
    known = set(done)
    found: dict[str, tuple[str, str]] = {}
    plain: dict[str, list[str]] = {}
    for key in groups:
        plain.setdefault(re.sub(r"[\s_\-./]+", "", _unaccented(key)), []).append(key)
    for same in plain.values():
        if len(same) > 1 and len(min(same)) > 1:
            best = max(same, key=lambda key: groups[key].rows)
            found |= {key: (best, "accents or separators") for key in same if key != best}
    keys = [key for key in groups if len(key) >= 5 and not any(c.isdigit() for c in key)]
    if len(keys) > MOST_COMPARED:
        return found
    for key in keys:
        if key in found or groups[key].shown in known:
            continue
        allowed = 1 if len(key) < 10 else 2
        near = process.extract(
            key,
            [other for other in keys if other != key],
            scorer=DamerauLevenshtein.distance,
            score_cutoff=allowed,
            limit=2,
        )
        likely = [
            other
            for other, _, _ in near
            if groups[key].rows <= 0.2 * groups[other].rows and other not in found and not key.startswith(other)
        ]
        if len(likely) == 1:
            found[key] = (likely[0], "one letter apart")
    return found
