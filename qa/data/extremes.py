"""The smallest, largest and mean cell of a column, as plain Python values of the column's own kind."""

from __future__ import annotations

from typing import Any

import polars as pl


def smallest(column: pl.Series) -> Any:
    """The smallest cell; None when all are missing."""
    return column.min()


def largest(column: pl.Series) -> Any:
    """The largest cell; None when all are missing."""
    return column.max()


def share(marks: pl.Series) -> float:
    """The share of true among the non-missing marks; 0 when there are none."""
    mean: Any = marks.mean()
    return float(mean or 0.0)
