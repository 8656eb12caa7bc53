"""Reads a column's words as lengths of time, and whole numbers as moments counted from 1970."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from qa.data.extremes import largest, smallest
from qa.data.reading import Reading
from qa.data.reversal import as_kind
from qa.data.table import Assumption
from qa.data.words import Words
from qa.types import Kind

_NAMED = re.compile(
    r"duration|elapsed|runtime|run time|length|lap\b|laptime|lap time|time spent|hours worked|uptime|downtime|dauer|handle time|wait",
    re.IGNORECASE,
)
_SHORT_THINGS = re.compile(r"lap|track|song|pace|split|call", re.IGNORECASE)
_CLOCK = r"^(?P<minus>-)?(?:(?P<days>\d+)\s*(?:d|days?|tage)?[ ,.]+)?(?P<a>\d+):(?P<b>\d{2})(?::(?P<c>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?$"
_SPELLED = (
    r"^(?P<minus>-)?(?:(?P<weeks>\d+)\s*(?:w|wks?|weeks?)[ ,]*)?(?:(?P<days>\d+)\s*(?:d|days?)[ ,]*)?(?:(?P<hours>\d+)\s*(?:h|hrs?|hours?|std)\.?[ ,]*(?:and )?)?"
    r"(?:(?P<minutes>\d+)\s*(?:m|mins?|minutes?)\.?[ ,]*(?:and )?)?(?:(?P<seconds>\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?)\.?)?$"
)
_ISO = r"^(?P<minus>-)?p(?:(?P<weeks>\d+)w)?(?:(?P<days>\d+)d)?(?:t(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+(?:\.\d+)?)s)?)?$"
_WHEN = re.compile(
    r"(^|[^a-z])(ts|time|timestamp|epoch|unix|date|datetime|created|updated|modified|when|start|started|end|ended|begin|seen|login|logged|expires?|expiry|at|on|utc|opened|closed|posted|published|sent|received|occurred|recorded)([^a-z]|$)"
    r"|[a-z](At|On|Time|Date|Timestamp|TS)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SCALES = (
    ("seconds", 1, "s"),
    ("milliseconds", 1_000, "ms"),
    ("microseconds", 1_000_000, "us"),
    ("nanoseconds", 1_000_000_000, "ns"),
)
_FROM, _TO = 631_152_000, 4_102_444_800  # 1990 to 2100


def says_when(name: str) -> bool:
    """Does a column's name speak of a moment?"""
    return _WHEN.search(_CAMEL.sub("_", name)) is not None


def duration(words: Words, *, name: str) -> Reading | None:
    """The words as lengths of time: `1:23:45` of a column named so or past 24 hours, `2 h 5 min`, `PT1H30M`, `3 days 04:05:06`."""
    clock = words.lower.str.extract_groups(_CLOCK).struct.unnest()
    is_clock = clock["a"].is_not_null()
    if is_clock.any():
        big = largest(clock["a"].cast(pl.Int64)) or 0
        if not (clock["days"].is_not_null().any() or _NAMED.search(name) or big > 23):
            return None
        return _clocked(clock, words, name)
    for pattern in (_SPELLED, _ISO):
        parts = words.lower.str.extract_groups(pattern).struct.unnest()
        filled = parts.select(
            pl.any_horizontal(pl.col("weeks", "days", "hours", "minutes", "seconds").is_not_null())
        ).to_series()
        if filled.any():
            values = parts.select(
                pl.when(filled).then(
                    _sign()
                    * pl.duration(
                        weeks=_whole("weeks"),
                        days=_whole("days"),
                        hours=_whole("hours"),
                        minutes=_whole("minutes"),
                        microseconds=(pl.col("seconds").cast(pl.Float64).fill_null(0) * 1e6).round().cast(pl.Int64),
                    )
                )
            ).to_series()
            return Reading(Kind.DURATION, values, "lengths of time")
    return None


def _clocked(clock: pl.DataFrame, words: Words, name: str) -> Reading:
    three = clock["c"].is_not_null()
    two = clock["a"].is_not_null() & ~three
    short = bool(two.any()) and (bool(three.any()) or _SHORT_THINGS.search(name) is not None)
    micros = pl.col("fraction").str.slice(0, 6).str.pad_end(6, "0").cast(pl.Int64).fill_null(0)
    long_form = pl.duration(
        days=_whole("days"), hours=_whole("a"), minutes=_whole("b"), seconds=_whole("c"), microseconds=micros
    )
    short_form = pl.duration(days=_whole("days"), minutes=_whole("a"), seconds=_whole("b"))
    value = (
        pl.when(pl.col("a").is_null())
        .then(None)
        .when(pl.col("c").is_null() & short)
        .then(short_form)
        .otherwise(long_form)
    )
    values = clock.select(_sign() * value).to_series()
    notes: tuple[Assumption, ...] = ()
    if two.any():
        read, other = ("minutes:seconds", "hours:minutes") if short else ("hours:minutes", "minutes:seconds")
        notes = (
            Assumption(
                code="clock_parts",
                column=name,
                damage=3,
                reversal=as_kind(name, "text"),
                message=f"{words.values.filter(two)[0]!r} in {name!r} was read as {read}; it could be {other} ({words.weight(two):,} cells).",
            ),
        )
    return Reading(Kind.DURATION, values, "lengths of time", assumptions=notes)


def _whole(part: str) -> pl.Expr:
    return pl.col(part).cast(pl.Int64, strict=False).fill_null(0)


def _sign() -> pl.Expr:
    return pl.when(pl.col("minus").is_not_null()).then(-1).otherwise(1)


def epoch(values: pl.Series, *, name: str) -> Reading | None:
    """Numbers as moments since 1970, when the name speaks of a moment and all of them lie in 1990-2100."""
    if not says_when(name) or values.dtype not in (pl.Int64, pl.Float64):
        return None
    low, high = smallest(values), largest(values)
    for label, scale, short in _SCALES:
        if low is not None and high is not None and _FROM * scale <= low and high <= _TO * scale:
            micros = values * (1_000_000 // scale) if scale <= 1_000_000 else values // 1_000
            moments = (micros.round(0).cast(pl.Int64) if values.dtype == pl.Float64 else micros).cast(
                pl.Datetime("us", "UTC")
            )
            example = values.drop_nulls()[0]
            seen = moments.drop_nulls()[0].isoformat()
            note = Assumption(
                code="epoch",
                column=name,
                damage=2,
                reversal=as_kind(name, "integer"),
                message=f"Numbers in {name!r} were read as {label} since 1970 in UTC: {example} is {seen}.",
            )
            return Reading(
                Kind.DATETIME, moments, f"{label} since 1970 ({short}), zone UTC", zone="UTC", assumptions=(note,)
            )
    return _mixed_epoch(values, name) if values.dtype == pl.Int64 else None


def _mixed_epoch(values: pl.Series, name: str) -> Reading | None:
    """Seconds and finer counts mixed in one column: each number by its own size."""
    scale: Any = pl.when(False).then(pl.lit(None, pl.Int64))
    for _, each, _ in _SCALES[:3]:
        scale = scale.when(pl.col("v").is_between(_FROM * each, _TO * each)).then(pl.lit(each, pl.Int64))
    scaled = values.alias("v").to_frame().select("v", scale.otherwise(None).alias("scale"))
    if scaled.height == 0 or scaled["scale"].null_count():
        return None
    said = [label for label, each, _ in _SCALES if (scaled["scale"] == each).any()]
    note = Assumption(
        code="epoch",
        column=name,
        damage=3,
        reversal=as_kind(name, "integer"),
        message=f"Numbers in {name!r} mix {' and '.join(said)} since 1970 in UTC; each was read by its own size.",
    )
    moments = scaled.select((pl.col("v") * (1_000_000 // pl.col("scale"))).cast(pl.Datetime("us", "UTC"))).to_series()
    return Reading(
        Kind.DATETIME, moments, f"{' and '.join(said)} since 1970, zone UTC", zone="UTC", assumptions=(note,)
    )
