"""Filter formulas as words for a sentence: `sex == 'Female'` reads "sex is Female"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence

from qa.answer.formats import joined, number, plain, words

_NAME = r"(?P<name>\w+(?:\.\w+)?|`[^`]+`)"
_LITERAL = r"(?P<value>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|-?\d[\d_.]*(?:e-?\d+)?)"
_ITEMS = r"(?P<items>[\[(](?:[^\[\]()'\"]|'(?:[^']|'')*'|\"[^\"]*\")*[\])])"
_PART = rf"(?P<part>year|quarter|month|week|day|hour)\({_NAME}\)"
_ITEM = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|(-?[\d.]+)")

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(f"^{pattern}$", re.IGNORECASE), wording)
    for pattern, wording in (
        (rf"{_NAME}\s*={{1,2}}\s*{_LITERAL}", "{name} is {value}"),
        (rf"{_NAME}\s*(?:!=|<>)\s*{_LITERAL}", "{name} is not {value}"),
        (rf"{_NAME}\s*>=\s*{_LITERAL}", "{name} is at least {value}"),
        (rf"{_NAME}\s*<=\s*{_LITERAL}", "{name} is at most {value}"),
        (rf"{_NAME}\s*>\s*{_LITERAL}", "{name} is above {value}"),
        (rf"{_NAME}\s*<\s*{_LITERAL}", "{name} is below {value}"),
        (rf"{_NAME}\s+in\s+{_ITEMS}", "{name} is {items}"),
        (rf"{_NAME}\s+not\s+in\s+{_ITEMS}", "{name} is not {items}"),
        (
            rf"{_NAME}\s+between\s+{_LITERAL}\s+and\s+{_LITERAL.replace('value', 'upper')}",
            "{name} is from {value} to {upper}",
        ),
        (rf"{_NAME}\s+is\s+null", "{name} is missing"),
        (rf"{_NAME}\s+is\s+not\s+null", "{name} is known"),
        (rf"contains\({_NAME},\s*{_LITERAL}\)", "{name} contains {value}"),
        (rf"starts_with\({_NAME},\s*{_LITERAL}\)", "{name} starts with {value}"),
        (rf"ends_with\({_NAME},\s*{_LITERAL}\)", "{name} ends with {value}"),
        (rf"in_period\({_NAME},\s*{_LITERAL}\)", "{name} is in {value}"),
        (rf"{_PART}\s*={{1,2}}\s*{_LITERAL}", "the {part} of {name} is {value}"),
        (rf"{_PART}\s*(?:!=|<>)\s*{_LITERAL}", "the {part} of {name} is not {value}"),
        (rf"{_PART}\s*>=\s*{_LITERAL}", "the {part} of {name} is {value} or later"),
        (rf"{_PART}\s*<=\s*{_LITERAL}", "the {part} of {name} is {value} or earlier"),
        (rf"{_PART}\s*>\s*{_LITERAL}", "the {part} of {name} is after {value}"),
        (rf"{_PART}\s*<\s*{_LITERAL}", "the {part} of {name} is before {value}"),
        (rf"date\({_NAME}\)\s*={{1,2}}\s*{_LITERAL}", "{name} is on {value}"),
        (_NAME, "{name} is yes"),
        (rf"not\s+{_NAME}", "{name} is no"),
    )
)

_MONTHS = {str(number): calendar.month_name[number] for number in range(1, 13)}

_DATE = re.compile(r"^['\"]\d{4}-\d{2}(-\d{2})?")

_IN_TIME = {
    "{name} is at least {value}": "{name} is {value} or later",
    "{name} is at most {value}": "{name} is {value} or earlier",
    "{name} is above {value}": "{name} is after {value}",
    "{name} is below {value}": "{name} is before {value}",
}
"""The same comparisons, said of dates."""

LONGEST = 160
"""Characters of conditions that a sentence carries; past it the sentence says how many there are."""


def where(conditions: Sequence[str]) -> str:
    """The row filters as one opening clause ("Where sex is Female, "), or "" without any."""
    clauses = [clause for condition in conditions if condition.strip() for clause in _clauses(condition)]
    if not clauses:
        return ""
    text = f"Where {joined(clauses)}, "
    return text if len(text) <= LONGEST else f"Where all {len(clauses)} conditions hold, "


def _clauses(condition: str) -> list[str]:
    pieces = _split(condition.strip())
    said = [_say(piece) for piece in pieces]
    return [clause for clause in said if clause] if all(said) else [plain(condition, 400)]


def _split(condition: str) -> list[str]:
    """The conjuncts of `a and b`; the whole when it holds `or`, `not (…)` or `between … and …`."""
    quiet = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`", lambda text: "_" * len(text[0]), condition)
    if re.search(r"\bor\b|\bbetween\b|\bcase\b|\bnot\s*\(", quiet, re.IGNORECASE):
        return [condition]
    pieces, start, depth = [], 0, 0
    for match in re.finditer(r"[(\[]|[)\]]|\band\b", quiet, re.IGNORECASE):
        depth += (match[0] in "([") - (match[0] in ")]")
        if depth == 0 and match[0].lower() == "and":
            pieces.append(condition[start : match.start()].strip())
            start = match.end()
    return [*pieces, condition[start:].strip()]


def _say(piece: str) -> str | None:
    for pattern, wording in _PATTERNS:
        if match := pattern.match(piece):
            found = match.groupdict()
            wording = _IN_TIME.get(wording, wording) if _DATE.match(found.get("value") or "") else wording
            part, value = found.get("part"), _literal(found.get("value"))
            return wording.format(
                name=words(found["name"].rpartition(".")[2].strip("`")),
                part=part,
                value=_MONTHS.get(value, value) if part == "month" else value,
                upper=_literal(found.get("upper")),
                items=_items(found.get("items")),
            )
    return None


def _literal(text: str | None) -> str:
    if text is None:
        return ""
    quote = text[0]
    if quote not in "'\"":
        # Four digits may be a year; more are easier to read in threes.
        return number(int(text)) if re.fullmatch(r"-?\d{5,18}", text) else text
    return plain(text[1:-1].replace(quote * 2, quote)) or "(blank)"


def _items(text: str | None) -> str:
    if text is None:
        return ""
    found = [_literal(match[0]) for match in _ITEM.finditer(text)]
    return joined(found, "or") if len(found) <= 6 else f"one of {len(found)} values"
