"""How a column of an answer is shown: its number format by role and size, its dates, its alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import streamlit as st

from qa.answer.answer import AnswerColumn
from qa.answer.formats import SYMBOLS
from qa.types import Kind, Role


def column_config(columns: Sequence[AnswerColumn], table: pl.DataFrame) -> dict[str, Any]:
    """Streamlit's column configuration for a result table; the values themselves stay as they are."""
    return {column.name: _config(column, table[column.name]) for column in columns if column.name in table.columns}


def _config(column: AnswerColumn, values: pl.Series) -> Any:
    c = st.column_config
    match column.kind:
        case Kind.INTEGER | Kind.NUMBER | Kind.DECIMAL:
            return c.NumberColumn(format=number_format(column, values))
        case Kind.DATE:
            return c.DateColumn(format="YYYY-MM-DD")
        case Kind.DATETIME:
            return c.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss")
        case Kind.BOOLEAN:
            return c.CheckboxColumn()
        case _:
            return c.Column()


def number_format(column: AnswerColumn, values: pl.Series) -> str:
    """A printf or named format: plain for ids and years, a sign for money, percent for fractions, else thousands."""
    places = _places(column, values)
    if column.role in (Role.ID, Role.YEAR):
        return "%d" if places == 0 else "plain"
    if column.role is Role.CURRENCY:
        code = column.unit or ""
        sign = SYMBOLS.get(code.upper(), f"{code} " if code.isalpha() else "")
        return f"{sign}%,.{2 if places != 0 else 0}f"
    if column.role is Role.PERCENT and column.unit != "percent":
        return "percent"
    if column.role is Role.PERCENT:
        return f"%.{2 if places is None else min(places, 2)}f%%"
    if places is None:
        return "scientific"
    return "%,d" if places == 0 else f"%,.{places}f"


def _places(column: AnswerColumn, values: pl.Series) -> int | None:
    """Decimals that show about four leading digits; 0 for whole numbers, None where only powers of ten help."""
    if column.kind is Kind.INTEGER:
        return 0
    size = values.cast(pl.Float64, strict=False).abs()
    biggest = size.max()
    if not isinstance(biggest, float) or bool((size.drop_nulls() == size.drop_nulls().round(0)).all()):
        return 0
    if biggest >= 1000:
        return 2
    if biggest >= 1:
        return 3 if biggest < 100 else 2
    return 4 if biggest >= 0.01 else None
