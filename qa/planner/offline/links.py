"""A link: a stretch of the question and its meaning."""

from __future__ import annotations

from dataclasses import dataclass

from qa.planner.offline.dates import YEARS, Period


@dataclass(frozen=True)
class Link:
    """A stretch of words and its meaning.

    `kind` is column, value, number, date, word (with `tags`), ignored, light, row or unknown.
    `columns` are (id, how sure), `values` are (column id, cell texts).
    """

    kind: str
    first: int
    last: int
    score: float
    text: str
    tags: tuple[str, ...] = ()
    columns: tuple[tuple[str, float], ...] = ()
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    number: float | None = None
    plain: float | None = None
    percent: bool = False
    period: Period | None = None
    weak: bool = False
    quoted: bool = False

    def tag(self, name: str) -> str | None:
        """The argument of a tag (`>=` of `CMP:>=`), an empty text for a bare one, None when it is not there."""
        for tag in self.tags:
            head, _, argument = tag.partition(":")
            if head == name:
                return argument
        return None

    def cells(self, column_id: str) -> tuple[str, ...]:
        return next((cells for id, cells in self.values if id == column_id), ())


def is_year(number: float | None) -> bool:
    """True for a whole number that people would take for a year."""
    return number is not None and number == int(number) and int(number) in YEARS
