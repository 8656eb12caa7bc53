"""What a question over several tables asks for: rows with conditions and relations, and what is shown of them."""

from __future__ import annotations

from dataclasses import dataclass, field


class NotRead(Exception):
    """The words do not hold together as a question over these tables."""


@dataclass(frozen=True)
class Attr:
    """A column of a table."""

    table: str
    column: str


@dataclass
class Phrase:
    """Rows of a table: conditions on its own columns, relations to other rows, the first by a column."""

    table: str
    conditions: list[str] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    top: tuple[str, str] | None = None
    """(column, asc or desc)"""
    each: bool = False
    first: int = 1
    """how many share the top"""

    @property
    def plain(self) -> bool:
        return not (self.conditions or self.relations or self.top)


@dataclass
class Relation:
    """How rows of one phrase relate to another: `how` is some, none, counted (op, number) or most (asc or desc)."""

    phrase: Phrase
    how: str = "some"
    op: str = ""
    number: float = 0.0


@dataclass
class Request:
    """What is asked. `attrs` in the order said; a count or an aggregate beside them is by their rows."""

    main: Phrase
    attrs: list[Attr] = field(default_factory=list)
    counted: Phrase | None = None
    measure: tuple[str, Attr] | None = None
    others: list[Phrase] = field(default_factory=list)
    order: tuple[Attr, str] | None = None
    keys: list[Attr] = field(default_factory=list)
    """what a measure is grouped by"""
    distinct: bool = False
