"""From rows to what is drawn: labels, order, folding into Other, thinning, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.order import ranks_of
from qa.answer.chart.sight import CATEGORIES, SERIES, Field
from qa.answer.chart.spec import ChartSpec
from qa.answer.formats import number, show, words

MARKS = 10_000
"""Marks that are drawn; more rows are thinned, and that is said."""

ORDERED_CATEGORIES = 60


@dataclass(frozen=True)
class Categories:
    """The categories of an axis or of a legend: what each row belongs to, in drawn order."""

    labels: pl.Series
    order: tuple[str, ...]
    other: str | None = None
    note: str | None = None

    @property
    def drawn(self) -> tuple[str, ...]:
        return (*self.order, self.other) if self.other else self.order


def texts_of(values: pl.Series, column: AnswerColumn, grain: str | None = None) -> pl.Series:
    """Each value as the text of its category; a missing one reads "(no …)", and never collides with a real text."""
    if values.dtype == pl.String or isinstance(values.dtype, (pl.Enum, pl.Categorical)):
        texts = values.cast(pl.String)
    else:
        distinct = values.unique(maintain_order=True)
        shown = [None if value is None else _category(value, column, grain) for value in distinct.to_list()]
        texts = pl.DataFrame([values.alias("v")]).join(
            pl.DataFrame({"v": distinct, "t": pl.Series(shown, dtype=pl.String)}),
            on="v",
            how="left",
            maintain_order="left",
            nulls_equal=True,
        )["t"]
    missing = f"(no {words(column.name)})"
    while (texts == missing).any():
        missing += "\u00a0"
    return texts.fill_null(missing).alias("label")


def _category(value: Any, column: AnswerColumn, grain: str | None) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return show(value, column, grain=grain)


def categories(
    spec: ChartSpec, field: Field, sizes: pl.Series, total_rows: int, *, most: int = CATEGORIES, series: bool = False
) -> Categories:
    """The categories of a column, at most `most` of them: the rest goes to Other where sums make sense, else it is
    left out and counted. `sizes` are the values that decide which are the largest."""
    labels = texts_of(field.values, field.column, spec.grain if field.name == spec.x else None)
    weights = pl.DataFrame({"label": labels, "size": sizes.cast(pl.Float64).abs()})
    order = _ordered(spec, field, labels, keep_table=spec.ranked and not series)
    allowed = ORDERED_CATEGORIES if field.is_ordered and not spec.ranked and not series else most
    if len(order) <= allowed:
        return Categories(labels, tuple(order))
    cut = total_rows > field.values.len()
    folds = spec.additive and not cut
    room = most - 1 if folds else most
    if spec.ranked and not series:
        kept, way = order[:room], "first"
    else:
        totals = weights.group_by("label", maintain_order=True).agg(pl.col("size").sum())
        kept, way = totals.sort("size", descending=True, maintain_order=True)["label"].head(room).to_list(), "largest"
    left = len(order) - len(kept)
    scope = f" in the table (the result has {number(total_rows)} rows)" if cut else ""
    if not folds:
        note = f"The {len(kept)} {way} of {number(len(order))} {_plural(field.name)}{scope}; the others are not drawn."
        return Categories(labels, tuple(kept), None, note)
    other = f"Other ({number(left)})"
    while other in set(order):
        other += "\u00a0"
    folded = (
        pl.Series("label", labels.is_in(kept))
        .to_frame()
        .select(pl.when(pl.col("label")).then(labels).otherwise(pl.lit(other)).alias("label"))["label"]
    )
    note = f"The {len(kept)} {way} of {number(len(order))} {_plural(field.name)} are drawn one by one; the other {number(left)} are summed in Other."
    return Categories(folded, tuple(kept), other, note)


def _plural(name: str) -> str:
    text = words(name)
    return f"values of {text}"


def _ordered(spec: ChartSpec, field: Field, labels: pl.Series, *, keep_table: bool) -> list[str]:
    """Distinct labels: as ranked by the plan, else by nature, else by number or time, else as in the table."""
    order: list[str] = labels.unique(maintain_order=True).to_list()
    if keep_table:
        return order
    ranks: Mapping[Any, float] | None = ranks_of(field.values)
    if ranks is not None:
        known = ranks
        return sorted(order, key=lambda label: known.get(label, float("inf")))
    if field.column.kind.numeric or field.column.kind.temporal or field.is_iso or field.spells_years:
        by_value = pl.DataFrame([field.values.alias("v"), labels]).sort("v", nulls_last=True, maintain_order=True)
        return by_value["label"].unique(maintain_order=True).to_list()
    return order


def array(values: pl.Series) -> np.ndarray[Any, Any]:
    """Numbers for a trace; missing is NaN, which draws nothing. Whole numbers stay whole where JavaScript can hold them."""
    if values.dtype.is_integer() and not values.null_count() and values.len():
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if low >= -(2**31) and high < 2**31:
            return values.cast(pl.Int64).to_numpy()
    return values.cast(pl.Float64).fill_nan(None).to_numpy().astype(np.float64)


def times(values: pl.Series, grain: str | None = None) -> list[Any]:
    """Moments as ISO text for a date axis (months as `2024-01`); years and numbers stay numbers."""
    if isinstance(values.dtype, pl.Datetime):
        local = values.dt.replace_time_zone(None)
        return local.dt.to_string("%Y-%m-%dT%H:%M:%S%.f").to_list()
    if values.dtype == pl.Date:
        return values.dt.to_string("%Y-%m" if grain == "month" else "%Y-%m-%d").to_list()
    if values.dtype.is_numeric():
        return values.to_list()
    return values.cast(pl.String).to_list()


def spread(
    labels: pl.Series, split: pl.Series, values: pl.Series, rows: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Values as one column per series over the drawn rows; what falls into Other is summed."""
    long = pl.DataFrame(
        {"x": labels, "c": split, "v": values.cast(pl.Float64) if not values.dtype.is_integer() else values}
    )
    summed = long.group_by("x", "c", maintain_order=True).agg(
        pl.when(pl.col("v").count() > 0).then(pl.col("v").sum()).otherwise(None).alias("v")
    )
    base = pl.DataFrame({"x": list(rows)}, schema={"x": pl.String})
    for position, name in enumerate(columns):
        part = summed.filter(pl.col("c") == name).select("x", pl.col("v").alias(f"s{position}"))
        base = base.join(part, on="x", how="left", maintain_order="left")
    return base


def thinned(table: pl.DataFrame, most: int = MARKS) -> tuple[pl.DataFrame, str | None]:
    """Every n-th row, so that at most `most` are drawn."""
    if table.height <= most:
        return table, None
    step = -(-table.height // most)
    kept = table.gather_every(step)
    return kept, f"One row in {number(step)} of {number(table.height)} is drawn."


def repeated_names(labels: pl.Series) -> tuple[pl.Series, bool]:
    """Rows of one name get a number, so that each keeps its own bar."""
    frame = pl.DataFrame([labels.alias("label")]).with_columns(pl.int_range(pl.len()).over("label").alias("nth"))
    if not (frame["nth"] > 0).any():
        return labels, False
    told = frame.select(
        pl.when(pl.col("nth") > 0)
        .then(pl.format("{} ({})", "label", pl.col("nth") + 1))
        .otherwise("label")
        .alias("label")
    )["label"]
    return (told, True) if told.n_unique() == told.len() else (labels, False)


__all__ = [
    "CATEGORIES",
    "MARKS",
    "SERIES",
    "Categories",
    "array",
    "categories",
    "repeated_names",
    "spread",
    "texts_of",
    "thinned",
    "times",
]
