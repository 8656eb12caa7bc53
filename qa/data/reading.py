"""What a reader of values gives back: the parsed words of a column, why, and what it assumed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from qa.data.table import Assumption
from qa.types import Kind, Role


@dataclass(frozen=True)
class Hints:
    """What the rest of the table says about how its author writes; None where nothing is proven.

    `decimal` is the decimal mark, `dayfirst` the order of day and month, `why` the evidence in words.
    """

    decimal: str | None = None
    dayfirst: bool | None = None
    decimal_why: str = ""
    dayfirst_why: str = ""
    told_decimal: bool = False
    told_dayfirst: bool = False


@dataclass(frozen=True)
class Reading:
    """A column's words as one kind. `values` stands beside the words: missing where a word is not of the kind.

    `proves` is what the column shows beyond doubt about its author's habits (`decimal` a mark, `dayfirst` an order);
    `unproven` names the habit this reading had to suppose.
    """

    kind: Kind
    values: pl.Series
    why: str
    role: Role | None = None
    unit: str | None = None
    zone: str | None = None
    assumptions: tuple[Assumption, ...] = ()
    decimal: str | None = None
    dayfirst: bool | None = None
    unproven: str | None = None

    @property
    def readable(self) -> pl.Series:
        return self.values.is_not_null()
