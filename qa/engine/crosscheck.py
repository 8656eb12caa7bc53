"""Two engines, one plan: the results compared with tolerance."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import polars as pl

from qa.engine.polars_engine import tidy
from qa.engine.result import Check
from qa.engine.sql_engine import Stored, run_sql, statement
from qa.plan.check import CheckedPlan
from qa.plan.functions.aggregates import NoTwin

RELATIVE = 1e-7
"""Less than n against n - 1 makes of a million rows; more than the last digits of a p-value."""
NOTHING = 1e-15
"""What rounding leaves of zero: a correlation of -9.6e-17 is one of 0."""
NAME = "second engine"


def crosscheck(plan: CheckedPlan, part: int, frame: pl.DataFrame, tables: Mapping[str, Stored], rows: int) -> Check:
    """Runs a part's SQL twin in DuckDB and compares at most `rows` rows with the frame that Polars gave."""
    try:
        twin = run_sql(statement(plan, part), tables, limit=rows)
    except NoTwin as reason:
        return Check(NAME, None, f"Not cross-checked: {reason}.")
    except duckdb.OutOfMemoryException:
        return Check(NAME, None, "Not cross-checked: the second engine ran out of memory.")
    except duckdb.Error as error:
        return Check(NAME, None, f"Not cross-checked: the second engine could not run it ({type(error).__name__}).")
    difference = differs(frame, twin)
    if difference:
        return Check(NAME, False, difference)
    return Check(NAME, True, f"DuckDB gives the same {frame.height:,} rows.")


def differs(left: pl.DataFrame, right: pl.DataFrame) -> str | None:
    """Where two results differ, in words; None when they agree within tolerance."""
    if left.width != right.width:
        return f"{left.width} columns against {right.width}."
    if left.height != right.height:
        return f"{left.height:,} rows against {right.height:,}."
    left = _comparable(left)
    right = _as(left, _comparable(right.rename(dict(zip(right.columns, left.columns, strict=True)))))
    found = _first_difference(left, right)
    if found is None:
        return None
    again = _first_difference(_canonical(left), _canonical(right))
    return None if again is None else again


def _comparable(frame: pl.DataFrame) -> pl.DataFrame:
    # DuckDB hands its 128-bit whole numbers over as decimals without places.
    frame = frame.with_columns(
        pl.col(c).cast(pl.Int128) for c, d in frame.schema.items() if isinstance(d, pl.Decimal) and d.scale == 0
    )
    changes = []
    for column, dtype in tidy(frame).schema.items():
        if isinstance(dtype, pl.Datetime):
            changes.append(
                pl.col(column).dt.convert_time_zone("UTC").dt.replace_time_zone(None).cast(pl.Datetime("us"))
                if dtype.time_zone
                else pl.col(column).cast(pl.Datetime("us"))
            )
        elif isinstance(dtype, pl.Duration):
            changes.append(pl.col(column).dt.total_microseconds())
        elif isinstance(dtype, pl.Decimal):
            changes.append(pl.col(column).cast(pl.Float64))
    return tidy(frame).with_columns(changes)


def _as(like: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with whole numbers as doubles where the other side has doubles, and the like."""
    changes = []
    for column, dtype in like.schema.items():
        mine = frame.schema[column]
        if mine == dtype:
            continue
        numeric = dtype.is_numeric() and mine.is_numeric()
        both_time = dtype == pl.Datetime("us") and mine == pl.Date
        nothing = frame[column].null_count() == frame.height
        if (
            numeric
            or both_time
            or nothing
            or (dtype == pl.String and mine.is_integer())
            or (dtype.is_float() and mine == pl.String)
            or (dtype == pl.Date and isinstance(mine, pl.Datetime))
        ):
            changes.append(pl.col(column).cast(dtype, strict=False))
    return frame.with_columns(changes)


def _canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in an order of their own, for results whose order rests on nearly equal numbers."""
    keys = [c for c, d in frame.schema.items() if not d.is_float() and not d.is_nested()]
    floats = [pl.col(c).round_sig_figs(6) for c, d in frame.schema.items() if d.is_float()]
    return frame.sort([*(pl.col(k) for k in keys), *floats]) if keys or floats else frame


def _first_difference(left: pl.DataFrame, right: pl.DataFrame) -> str | None:
    for column in left.columns:
        a, b = left[column], right[column]
        if a.dtype != b.dtype and a.null_count() != a.len():
            return f"{column!r} is {a.dtype} here and {b.dtype} there."
        if a.dtype == pl.Null or a.null_count() == a.len() == b.null_count():
            continue
        if a.dtype.is_float():
            scale = max(float(a.abs().max() or 0), float(b.abs().max() or 0))  # type: ignore[arg-type]
            near = (
                (a - b).abs()
                <= RELATIVE * pl.select(pl.max_horizontal(pl.lit(a.abs()), pl.lit(b.abs()))).to_series()
                + 1e-12 * scale
                + NOTHING
            ) | (a.is_null() & b.is_null())
            wrong = ~near.fill_null(False)
        else:
            wrong = ~a.eq_missing(b)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            return f"row {row + 1} of {column!r} is {a[row]!r} here and {b[row]!r} there."
    return None
