"""Relative and named periods as explicit first and last days."""

from __future__ import annotations

import calendar
import datetime as dt
import re

from qa.errors import Issue, PlanError
from qa.plan.scope import Clock

Period = tuple[dt.date, dt.date]
_MONTHS = {name.lower(): index for index, name in enumerate(calendar.month_name) if name} | {
    name.lower(): index for index, name in enumerate(calendar.month_abbr) if name
}


def start_of(day: dt.date, unit: str, week_start: str = "monday") -> dt.date:
    """The first day of the unit that holds a day."""
    match unit:
        case "day":
            return day
        case "week":
            return day - dt.timedelta(days=(day.weekday() + (week_start == "sunday")) % 7)
        case "month":
            return day.replace(day=1)
        case "quarter":
            return dt.date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
        case _:
            return dt.date(day.year, 1, 1)


def moved(start: dt.date, n: int, unit: str) -> dt.date:
    """The first day of the unit n units on from one that starts a unit."""
    if unit in ("day", "week"):
        return start + dt.timedelta(days=n * (7 if unit == "week" else 1))
    months = n * {"month": 1, "quarter": 3, "year": 12}[unit]
    total = start.year * 12 + start.month - 1 + months
    return dt.date(total // 12, total % 12 + 1, 1)


def period(text: str, clock: Clock) -> Period:
    """The first and last day of a period, both included.

    `last 3 months` leaves out the current one, `3 months` includes it up to its end, `this month` is the
    current one, `month to date` ends today, `next week`, `yesterday`; `2024`, `2024-03`, `2024 Q2`,
    `2024-03-05`, `March 2024`, `2024-01-05 to 2024-02-01` are explicit.
    """
    words = _worded(text)
    found = _explicit(words) or _relative(words, clock)
    if found is None:
        raise PlanError(
            Issue(
                "no_such_period",
                "",
                f"{text!r} is not a period this language reads.",
                "Write 'last 3 months', 'this year', 'month to date', '2024-03', '2024 Q2' or '2024-01-05 to 2024-02-01'.",
            )
        )
    return found


def is_relative(text: str) -> bool:
    """True for a period that means other days on another day: `last month`, not `2024-03`."""
    return _explicit(_worded(text)) is None


def _worded(text: str) -> str:
    return " ".join(text.lower().replace(",", " ").split())


def _explicit(words: str) -> Period | None:
    try:
        if " to " in words and " to date" not in words:
            left, right = (part and _explicit(part.strip()) for part in words.split(" to ", 1))
            return (left[0], right[1]) if left and right else None
        if match := re.fullmatch(r"(\d{4})", words):
            return dt.date(int(words), 1, 1), dt.date(int(words), 12, 31)
        if match := re.fullmatch(r"(\d{4})-(\d{2})", words):
            return _span(dt.date(int(match[1]), int(match[2]), 1), "month")
        if match := re.fullmatch(r"(\d{4})[ -]?q([1-4])", words) or re.fullmatch(r"q([1-4]) (\d{4})", words):
            year, quarter = (match[1], match[2]) if len(match[1]) == 4 else (match[2], match[1])
            return _span(dt.date(int(year), 3 * int(quarter) - 2, 1), "quarter")
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
            day = dt.date.fromisoformat(words)
            return day, day
        if (match := re.fullmatch(r"([a-z]+) (\d{4})", words)) and match[1] in _MONTHS:
            return _span(dt.date(int(match[2]), _MONTHS[match[1]], 1), "month")
    except ValueError:
        return None
    return None


def _span(start: dt.date, unit: str) -> Period:
    return start, moved(start, 1, unit) - dt.timedelta(days=1)


def _relative(words: str, clock: Clock) -> Period | None:
    today = clock.today
    if words in ("today", "yesterday", "tomorrow"):
        day = today + dt.timedelta(days={"today": 0, "yesterday": -1, "tomorrow": 1}[words])
        return day, day
    if match := re.fullmatch(r"(?:this )?(week|month|quarter|year) to date|(w|m|q|y)td", words):
        unit = match[1] or {"w": "week", "m": "month", "q": "quarter", "y": "year"}[match[2]]
        return start_of(today, unit, clock.week_start), today
    match = re.fullmatch(
        r"(?:(last|previous|past|this|current|next) )?(?:(\d+) )?(day|week|month|quarter|year)s?( ago)?", words
    )
    if match is None or not (match[1] or match[2]):
        return None
    which, count, unit = match[1], int(match[2] or 1), match[3]
    start = start_of(today, unit, clock.week_start)
    if match[4]:
        return _until(moved(start, -count, unit), 1, unit)
    match which:
        case "last" | "previous" | "past":
            return _until(moved(start, -count, unit), count, unit)
        case "next":
            return _until(moved(start, 1, unit), count, unit)
        case _:
            return _until(moved(start, 1 - count, unit), count, unit)


def _until(start: dt.date, count: int, unit: str) -> Period:
    return start, moved(start, count, unit) - dt.timedelta(days=1)
