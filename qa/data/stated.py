"""Columns whose kind the file itself states (Parquet, Arrow, JSON, databases), brought to the kinds of the product."""

from __future__ import annotations

import polars as pl

from qa.data.columns import Typed, typed_text
from qa.data.durations import epoch
from qa.data.extremes import largest, smallest
from qa.data.names import display_names
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.sentinels import sentinel
from qa.data.table import Assumption
from qa.types import Kind

_INT64_TOP = 2**63 - 1


def stated(raw: Raw, options: ReadOptions) -> list[Typed]:
    """Every column of a table that came with dtypes. Text is looked at once more unless the file is strictly typed."""
    names = display_names(raw.headers)
    told = {name.casefold(): kind for name, kind in options.as_kinds.items()}
    texts = [
        index for index in range(len(names)) if _textual(raw.frame[f"c{index}"], told.get(names[index].casefold()))
    ]
    from_text = dict(zip(texts, typed_text(raw, options, texts), strict=True))
    return [
        from_text[index] if index in from_text else one(raw.frame[f"c{index}"], names[index])
        for index in range(len(names))
    ]


def _textual(column: pl.Series, told: str | None) -> bool:
    return column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null) or (
        told is not None and not column.dtype.is_nested()
    )


def one(column: pl.Series, name: str) -> Typed:
    """A typed column at the product's width: whole numbers 64 bits, doubles, microseconds; NaN and infinity missing."""
    dtype = column.dtype
    if dtype == pl.Boolean:
        return Typed(column, Kind.BOOLEAN, "stated by the file")
    if dtype.is_integer():
        return _whole(column, name)
    if dtype.is_float():
        return _double(column, name)
    if dtype.is_decimal():
        return Typed(column, Kind.DECIMAL, "stated by the file")
    if dtype == pl.Date:
        return Typed(column, Kind.DATE, "stated by the file", assumptions=sentinel(column, Kind.DATE, name))
    if isinstance(dtype, pl.Datetime):
        return _moment(column, name, dtype)
    if dtype == pl.Time:
        return Typed(column, Kind.TIME, "stated by the file")
    if isinstance(dtype, pl.Duration):
        return Typed(column.cast(pl.Duration("us")), Kind.DURATION, "stated by the file")
    if isinstance(dtype, pl.List | pl.Array):
        return _list(column, name)
    return _other(column, name)


def _whole(column: pl.Series, name: str) -> Typed:
    high = largest(column)
    if (
        column.dtype in (pl.UInt64, pl.Int128, pl.UInt128)
        and high is not None
        and (high > _INT64_TOP or smallest(column) < -_INT64_TOP - 1)
    ):
        note = Assumption(
            code="wide_numbers",
            column=name,
            damage=1,
            message=f"Whole numbers in {name!r} pass 64 bits; they are held as exact decimals.",
        )
        return Typed(
            column.cast(pl.Decimal(38, 0)), Kind.DECIMAL, "stated by the file, wider than 64 bits", assumptions=(note,)
        )
    whole = column.cast(pl.Int64)
    if (moments := epoch(whole, name=name)) is not None:
        return Typed(moments.values, Kind.DATETIME, moments.why, zone=moments.zone, assumptions=moments.assumptions)
    return Typed(whole, Kind.INTEGER, "stated by the file", assumptions=sentinel(whole, Kind.INTEGER, name))


def _double(column: pl.Series, name: str) -> Typed:
    double = column.cast(pl.Float64)
    odd = int((~double.is_finite()).sum())
    notes: tuple[Assumption, ...] = ()
    if odd:
        double = double.to_frame("v").select(pl.when(pl.col("v").is_finite()).then("v")).to_series().alias(column.name)
        notes = (
            Assumption(
                code="not_finite",
                column=name,
                damage=1,
                message=f"{odd:,} cells of {name!r} are NaN or infinite; they count as missing.",
            ),
        )
    return Typed(
        double,
        Kind.NUMBER,
        "stated by the file",
        null_words={"NaN or infinity": odd} if odd else {},
        assumptions=(*notes, *sentinel(double, Kind.NUMBER, name)),
    )


def _moment(column: pl.Series, name: str, dtype: pl.Datetime) -> Typed:
    moments = column.cast(pl.Datetime("us", dtype.time_zone))
    notes: tuple[Assumption, ...] = ()
    if dtype.time_unit == "ns" and (count := int((column.dt.epoch("ns") % 1_000 != 0).sum())):
        notes = (
            Assumption(
                code="nanoseconds_cut",
                column=name,
                damage=1,
                message=f"{count:,} times in {name!r} were cut to microseconds.",
            ),
        )
    return Typed(moments, Kind.DATETIME, "stated by the file", zone=dtype.time_zone, assumptions=notes)


def _list(column: pl.Series, name: str) -> Typed:
    inner = column.dtype.inner  # type: ignore[attr-defined]
    items = column.cast(pl.List(inner))
    if inner.is_nested():
        return _other(column, name)
    return Typed(items.cast(pl.List(pl.String)), Kind.LIST, "stated by the file")


def _other(column: pl.Series, name: str) -> Typed:
    """Binary and deeply nested cells as text."""
    if column.dtype == pl.Binary:
        try:
            text, what = column.cast(pl.String), "bytes, read as UTF-8 text"
        except pl.exceptions.PolarsError:
            text, what = column.bin.encode("hex"), "bytes, shown as hexadecimal"
    elif column.dtype.is_nested():
        text, what = (
            column.to_frame("v").select(pl.struct("v").struct.json_encode().str.slice(5).str.head(-1)).to_series(),
            "nested, kept as JSON text",
        )
        text = text.to_frame("v").select(pl.when(column.is_not_null()).then("v")).to_series()
    else:
        text, what = column.cast(pl.String, strict=False), f"{column.dtype}, kept as text"
    note = Assumption(code="kept_as_text", column=name, damage=1, message=f"{name!r} holds {what}.")
    return Typed(text.alias(column.name), Kind.TEXT, what, assumptions=(note,))


def flattened(frame: pl.DataFrame, headers: list[str]) -> tuple[pl.DataFrame, list[str], tuple[Assumption, ...]]:
    """Structs one level out: `address` with `city` inside becomes `address.city`. Deeper levels stay for JSON text."""
    columns: list[pl.Series] = []
    names: list[str] = []
    opened: list[str] = []
    for column, header in zip(frame.get_columns(), headers, strict=True):
        if isinstance(column.dtype, pl.Struct):
            opened.append(header)
            inner = column.struct.unnest()
            columns += inner.get_columns()
            names += [f"{header}.{field}" for field in inner.columns]
        else:
            columns.append(column)
            names.append(header)
    notes: tuple[Assumption, ...] = ()
    if opened:
        notes = (
            Assumption(
                code="flattened",
                column=None,
                damage=1,
                message=f"Nested fields were laid out as columns: {', '.join(opened[:10])}.",
            ),
        )
    return pl.DataFrame([column.alias(f"c{index}") for index, column in enumerate(columns)]), names, notes


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame under internal names."""
    return (
        pl.DataFrame([column.alias(f"c{index}") for index, column in enumerate(frame.get_columns())])
        if frame.width
        else frame
    )


__all__ = ["flattened", "numbered", "one", "stated"]
