"""Reads a column's words as dates, datetimes and times of day: many spellings, proven day order, zones."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

import polars as pl

from qa.data import zones
from qa.data.extremes import largest, smallest
from qa.data.months import MONTHS, WEEKDAYS
from qa.data.reading import Hints, Reading
from qa.data.reversal import as_kind
from qa.data.table import Assumption
from qa.data.words import Words
from qa.types import Kind

_MONTH = r"(?P<month>[a-z]{3,10})\.?"
_TIME = (
    r"(?:(?:t|[ ,]+(?:at |um |à )?)\s*(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?:uhr|h)?\s*(?P<zone>z|utc|gmt|[a-z]{2,4}t|(?:utc|gmt)?[-+]\d{1,2}(?::?\d{2})?)?(?: ?\[[a-z_/]+\])?)?$"
)
_WEEKDAY = rf"^(?:(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})\.?,?\s+)?"
# Each shape takes year, month and day out of a word; `first`/`middle` wait for the order of the column.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("year first", _WEEKDAY + r"(?P<year>\d{4})\s*[-/.]\s*(?P<month>\d{1,2})\s*[-/.]\s*(?P<day>\d{1,2})" + _TIME),
    ("year, month name", _WEEKDAY + r"(?P<year>\d{4})[-/ ]" + _MONTH + r"[-/ ](?P<day>\d{1,2})" + _TIME),
    (
        "compact",
        r"^(?P<year>(?:1[5-9]|2[01])\d{2})(?P<month>\d{2})(?P<day>\d{2})(?:t?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<zone>z|[-+]\d{4})?)?$",
    ),
    (
        "day, month name",
        _WEEKDAY
        + r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.|er)?[-/. ]*(?:of |de |d')?"
        + _MONTH
        + r"[-/., ]*(?:de |del )?'?(?P<year>\d{4}|\d{2})"
        + _TIME,
    ),
    (
        "month name, day",
        _WEEKDAY + _MONTH + r"[-/. ]*(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,| |-|/)\s*(?P<year>\d{4})" + _TIME,
    ),
    (
        "month name, day, time, year",
        _WEEKDAY
        + _MONTH
        + r" +(?P<day>\d{1,2}) (?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?: (?P<zone>[a-z]{3,4}))? (?P<year>\d{4})$",
    ),
    (
        "numeric",
        _WEEKDAY
        + r"(?P<first>\d{1,2})\s*(?P<mark>[-/.])\s*(?P<middle>\d{1,2})\s*[-/.]\s*(?P<year>\d{4}|'?\d{2})"
        + _TIME,
    ),
    ("month name and year", r"^" + _MONTH + r"[-/., ]*'?(?P<year>\d{4})$"),
    ("month name and short year", r"^" + _MONTH + r"(?:[-/]| ?')(?P<year>\d{2})$"),
    ("year and month", r"^(?P<year>(?:1[5-9]|2[01])\d{2})[-/](?P<month>\d{1,2})$"),
    ("month and year", r"^(?P<month>\d{1,2})[-/](?P<year>(?:1[5-9]|2[01])\d{2})$"),
)
_PARTS = ("year", "month", "day", "first", "middle", "mark", "hour", "minute", "second", "fraction", "half", "zone")
_MONTH_ONLY = ("month name and year", "month name and short year", "year and month", "month and year")
LAST_SHORT_YEAR = 68
_BIRTH = re.compile(r"birth|born|\bdob\b|geburt|geboren|naissance|nacimiento|nascita|nascimento", re.IGNORECASE)
_DAY_PART = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?\s*(?P<half>[ap]\.?m\.?)?"
)


@dataclass(frozen=True)
class _Order:
    """The order of day and month in a column: who says so, and what hangs on it."""

    dayfirst: bool
    known: str
    assumption: Assumption | None = None


def moment(words: Words, hints: Hints, *, name: str, rows_in_order: pl.Series | None = None) -> Reading | None:
    """The words as dates, or as datetimes when any of them has a time; None when none of them is a date.

    `rows_in_order` is the column row by row: when nothing else tells day from month, rows sorted by date do.
    """
    parts = _parts(words)
    if parts["shape"].null_count() == len(parts):
        return None
    order = _order(parts, words, hints, name, rows_in_order)
    pivot = _pivot(parts, name)
    frame = _calendar(parts, order.dayfirst, pivot)
    day = _dates(frame)
    if day.null_count() == len(day):
        return None
    notes = [order.assumption] if order.assumption else []
    notes += _year_notes(frame, words, name, pivot) + _month_notes(parts, day, words, name)
    shapes = _shapes_said(parts, day, words)
    proven = order.dayfirst if order.known == "proven" else None
    unproven = "dayfirst" if order.known in ("supposed", "table") else None
    if not (frame["hour"].is_not_null() & day.is_not_null()).any():
        return Reading(
            Kind.DATE,
            day,
            f"dates ({shapes}){_order_said(order)}",
            assumptions=tuple(notes),
            dayfirst=proven,
            unproven=unproven,
        )
    values, zone, zone_notes = _moments(frame, day, words, name)
    if zone is None and (values.dt.time().drop_nulls() == dt.time(0)).all():
        return Reading(
            Kind.DATE,
            day,
            f"dates, all at midnight ({shapes}){_order_said(order)}",
            assumptions=tuple(notes),
            dayfirst=proven,
            unproven=unproven,
        )
    return Reading(
        Kind.DATETIME,
        values,
        f"dates with times ({shapes}){_order_said(order)}{f', zone {zone}' if zone else ''}",
        zone=zone,
        assumptions=tuple(notes + zone_notes),
        dayfirst=proven,
        unproven=unproven,
    )


def iso(words: Words) -> Reading | None:
    """The words as dates or naive datetimes when every one of them is ISO text in one form; a short cut of `moment`."""
    first = words.clean.head(1)
    if len(first) == 0 or not first.str.contains(r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2})?$").all():
        return None
    length = int(first.str.len_bytes()[0])
    if not (words.clean.str.len_bytes() == length).all():
        return None
    if length == 10:
        days = words.clean.str.to_date("%Y-%m-%d", strict=False)
        return Reading(Kind.DATE, days, f"dates ({words.values[0]!r})") if days.null_count() == 0 else None
    moments = words.clean.str.to_datetime(f"%Y-%m-%d{first[0][10]}%H:%M:%S", strict=False, time_unit="us")
    if moments.null_count() or (moments.dt.time() == dt.time(0)).all():
        return None
    return Reading(Kind.DATETIME, moments, f"dates with times ({words.values[0]!r})")


def _parts(words: Words) -> pl.DataFrame:
    """Each word's year, month, day, time and zone as texts, with the shape it was found in."""
    east = words.lower.str.replace(r"^(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日일])?", "$1-$2-$3")
    text = east.str.replace(r"^(\d{4}-\d{1,2})-$", "$1").str.normalize("NFKD").str.replace_all(r"\p{M}", "")
    result = pl.DataFrame({"text": text, "rows": words.counts}).with_row_index("at")
    found: list[pl.DataFrame] = []
    rest = result
    for shape, pattern in _SHAPES:
        if rest.height == 0:
            break
        names = re.findall(r"\?P<(\w+)>", pattern)
        taken = rest.with_columns(rest["text"].str.extract_groups(pattern).struct.unnest().select(names))
        hit = taken["year"].is_not_null()
        if "month" in names and _MONTH in pattern:
            hit = hit & taken["month"].is_in(list(MONTHS))
        matched = taken.filter(hit)
        if matched.height:
            columns = [pl.col(part) if part in names else pl.lit(None, pl.String).alias(part) for part in _PARTS]
            found.append(matched.select("at", pl.lit(shape).alias("shape"), *columns))
            rest = rest.filter(~hit)
    empty = pl.DataFrame(schema={"at": result.schema["at"], "shape": pl.String, **dict.fromkeys(_PARTS, pl.String)})
    return _without_seasons(result.join(pl.concat([empty, *found]), on="at", how="left", maintain_order="left"))


def _without_seasons(parts: pl.DataFrame) -> pl.DataFrame:
    """`2010-11, 2011-12` are seasons, not months, when the second number always follows the first."""
    months = parts.filter(pl.col("shape") == "year and month")
    following = (months["year"].cast(pl.Int64) + 1) % 100 == months["month"].cast(pl.Int64)
    if months.height == 0 or not following.all():
        return parts
    season = pl.col("shape") == "year and month"
    return parts.with_columns(
        pl.when(season).then(None).otherwise(pl.col(part)).alias(part) for part in ("shape", *_PARTS)
    )


def _order(parts: pl.DataFrame, words: Words, hints: Hints, name: str, rows: pl.Series | None) -> _Order:
    """Which of two small numbers is the day: told, proven by a number past 12, shown by sorted rows or the table, or supposed."""
    numeric = parts.filter(pl.col("first").is_not_null()).with_columns(pl.col("first", "middle").cast(pl.Int64))
    if numeric.height == 0:
        return _Order(True, "none")
    if hints.told_dayfirst and hints.dayfirst is not None:
        return _Order(hints.dayfirst, "told")
    day_first = int(numeric.filter((pl.col("first") > 12) & (pl.col("middle") <= 12))["rows"].sum())
    month_first = int(numeric.filter((pl.col("middle") > 12) & (pl.col("first") <= 12))["rows"].sum())
    either = numeric.filter((pl.col("first") <= 12) & (pl.col("middle") <= 12) & (pl.col("first") != pl.col("middle")))
    open_rows = int(either["rows"].sum())
    if day_first and month_first:
        dayfirst = day_first >= month_first
        text = f"{name!r} mixes day-first ({day_first:,} cells) and month-first dates ({month_first:,}); {open_rows:,} cells could be either and were read {_first(dayfirst)}."
        return _Order(
            dayfirst,
            "mixed",
            Assumption(code="mixed_day_order", column=name, damage=3, message=text, reversal=_reversal(dayfirst)),
        )
    if day_first or month_first:
        return _Order(day_first > 0, "proven")
    if not open_rows:
        return _Order(hints.dayfirst if hints.dayfirst is not None else True, "none")
    return _supposed(numeric, either, open_rows, words, hints, name, rows)


def _supposed(
    numeric: pl.DataFrame,
    either: pl.DataFrame,
    open_rows: int,
    words: Words,
    hints: Hints,
    name: str,
    rows: pl.Series | None,
) -> _Order:
    example = words.values[int(either["at"][0])]
    readings = {}
    for dayfirst in (True, False):
        day, month = ("first", "middle") if dayfirst else ("middle", "first")
        one = either.head(1).select(
            pl.concat_str(
                _year(pl.col("year"), LAST_SHORT_YEAR).cast(pl.String),
                pl.col(month).cast(pl.String).str.zfill(2),
                pl.col(day).cast(pl.String).str.zfill(2),
                separator="-",
            )
        )
        readings[dayfirst] = one.item()
    sorted_as = _sorted_as(numeric, words, rows)
    if sorted_as is not None:
        dayfirst, known, why, damage = sorted_as, "sorted", "because only so the rows are in date order", 2
    elif hints.dayfirst is not None:
        dayfirst, known, why, damage = hints.dayfirst, "table", f"because {hints.dayfirst_why}", 3
    else:
        dayfirst, known, why, damage = True, "supposed", "but no cell proves it", 3
    text = (
        f"{example!r} in {name!r} was read {_first(dayfirst)} as {readings[dayfirst]}, {why}; {_first(not dayfirst)} it would be "
        f"{readings[not dayfirst]}. {open_rows:,} of {words.rows:,} dates would change."
    )
    return _Order(
        dayfirst,
        known,
        Assumption(code="ambiguous_day_order", column=name, damage=damage, message=text, reversal=_reversal(dayfirst)),
    )


def _sorted_as(numeric: pl.DataFrame, words: Words, rows: pl.Series | None) -> bool | None:
    """True or False when the rows run in date order (up or down) under exactly one reading."""
    if rows is None or numeric.height < 8:
        return None
    in_order = {}
    for dayfirst in (True, False):
        day, month = ("first", "middle") if dayfirst else ("middle", "first")
        key = numeric.select(
            words.values.gather(numeric["at"]).alias("word"),
            (_year(pl.col("year"), LAST_SHORT_YEAR) * 10_000 + pl.col(month) * 100 + pl.col(day)).alias("key"),
        )
        run = (
            rows.alias("word")
            .to_frame()
            .lazy()
            .join(key.lazy(), on="word", how="left", maintain_order="left")
            .collect()["key"]
            .drop_nulls()
        )
        in_order[dayfirst] = run.is_sorted() or run.is_sorted(descending=True)
    if in_order[True] == in_order[False]:
        return None
    return in_order[True]


def _first(dayfirst: bool) -> str:
    return "day first" if dayfirst else "month first"


def _reversal(dayfirst: bool) -> str:
    return f"--dayfirst {'no' if dayfirst else 'yes'}"


def _order_said(order: _Order) -> str:
    if order.known == "none":
        return ""
    how = {
        "told": "as told",
        "proven": "proven by a number past 12",
        "mixed": "by the majority",
        "sorted": "by the order of the rows",
        "table": "as elsewhere in the table",
        "supposed": "supposed",
    }[order.known]
    return f", {_first(order.dayfirst)}, {how}"


def _pivot(parts: pl.DataFrame, name: str) -> int:
    """The last of the two-digit years that is of this century: this year's for births, 30 beside years of the last
    century (nothing then hints at the far future), else 68."""
    if _BIRTH.search(name):
        return dt.date.today().year % 100
    short = parts.filter(pl.col("year").str.strip_chars("'").str.len_bytes() <= 2)["year"].str.strip_chars("'")
    return 30 if (short.cast(pl.Int64, strict=False) > LAST_SHORT_YEAR).any() else LAST_SHORT_YEAR


def _year(text: pl.Expr, pivot: int) -> pl.Expr:
    """Two digits up to the pivot are years of this century."""
    number = text.str.strip_chars("'").cast(pl.Int64, strict=False)
    short = text.str.strip_chars("'").str.len_bytes() <= 2
    return pl.when(short & (number <= pivot)).then(number + 2000).when(short).then(number + 1900).otherwise(number)


def _calendar(parts: pl.DataFrame, dayfirst: bool, pivot: int) -> pl.DataFrame:
    """Whole numbers for year, month, day; a cell whose own numbers prove the other order is read in that."""
    first, middle = pl.col("first").cast(pl.Int64), pl.col("middle").cast(pl.Int64)
    swapped = (middle > 12) if dayfirst else (first <= 12) | (middle > 12)
    swapped = swapped & ~((first > 12) & (middle <= 12))
    numeric = first.is_not_null()
    named = pl.col("month").replace_strict(MONTHS, default=None, return_dtype=pl.Int64)
    month = pl.coalesce(named, pl.col("month").cast(pl.Int64, strict=False))
    return parts.select(
        "at",
        "rows",
        "shape",
        _year(pl.col("year"), pivot).alias("year"),
        (pl.col("year").str.strip_chars("'").str.len_bytes() <= 2).alias("short_year"),
        pl.when(numeric).then(pl.when(swapped).then(first).otherwise(middle)).otherwise(month).alias("month"),
        pl.when(numeric)
        .then(pl.when(swapped).then(middle).otherwise(first))
        .when(pl.col("shape").is_in(_MONTH_ONLY))
        .then(1)
        .otherwise(pl.col("day").cast(pl.Int64, strict=False))
        .alias("day"),
        *_clock(),
        pl.col("zone"),
    )


def _clock() -> list[pl.Expr]:
    half = pl.col("half").str.slice(0, 1)
    hour = pl.col("hour").cast(pl.Int64, strict=False)
    hour = (
        pl.when(half == "p")
        .then(pl.when(hour < 12).then(hour + 12).otherwise(hour))
        .when((half == "a") & (hour == 12))
        .then(0)
        .otherwise(hour)
    )
    return [
        hour.alias("hour"),
        pl.col("minute").cast(pl.Int64, strict=False).alias("minute"),
        pl.col("second").cast(pl.Int64, strict=False).alias("second"),
        pl.col("fraction").str.slice(0, 6).str.pad_end(6, "0").cast(pl.Int64, strict=False).alias("micros"),
    ]


def _dates(frame: pl.DataFrame) -> pl.Series:
    text = pl.concat_str(
        pl.col("year").cast(pl.String).str.zfill(4),
        pl.col("month").cast(pl.String).str.zfill(2),
        pl.col("day").cast(pl.String).str.zfill(2),
        separator="-",
    )
    return frame.select(text.str.to_date("%Y-%m-%d", strict=False)).to_series()


def _moments(
    frame: pl.DataFrame, day: pl.Series, words: Words, name: str
) -> tuple[pl.Series, str | None, list[Assumption]]:
    midnight = (pl.col("hour") == 24) & (pl.col("minute") == 0) & (pl.col("second").fill_null(0) == 0)
    valid = (
        ((pl.col("hour").fill_null(0) < 24) | midnight)
        & (pl.col("minute").fill_null(0) < 60)
        & (pl.col("second").fill_null(0) < 61)
    )
    clock = pl.duration(
        hours=pl.col("hour").fill_null(0),
        minutes=pl.col("minute").fill_null(0),
        seconds=pl.col("second").fill_null(0),
        microseconds=pl.col("micros").fill_null(0),
    )
    frame = frame.with_columns(day.alias("date")).with_columns(
        pl.when(valid).then(pl.col("date").cast(pl.Datetime("us")) + clock).alias("wall"),
        zones.minutes_east().alias("offset"),
    )
    stated = frame.filter(pl.col("wall").is_not_null() & pl.col("zone").is_not_null())
    notes: list[Assumption] = []
    dated = frame.filter(pl.col("date").is_not_null() & pl.col("hour").is_null())
    if dated.height:
        notes.append(
            Assumption(
                code="dates_at_midnight",
                column=name,
                damage=1,
                reversal=as_kind(name, "date"),
                message=f"{int(dated['rows'].sum()):,} of {words.rows:,} cells in {name!r} have no time; they stand at 00:00.",
            )
        )
    if stated.height == 0:
        return frame["wall"], None, notes
    offsets = stated["offset"].drop_nulls().unique().sort().to_list()
    naive = int(
        frame.filter(pl.col("wall").is_not_null() & pl.col("zone").is_null() & pl.col("hour").is_not_null())[
            "rows"
        ].sum()
    )
    zone = zones.shown_zone(offsets)
    utc = frame.select(
        (pl.col("wall") - pl.duration(minutes=pl.col("offset").fill_null(offsets[0] if len(offsets) == 1 else 0)))
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone(zone)
    ).to_series()
    if zone == "UTC" and offsets != [0]:
        said = ", ".join(zones.offset_said(offset) for offset in offsets[:6])
        notes.append(
            Assumption(
                code="mixed_offsets",
                column=name,
                damage=2,
                reversal=as_kind(name, "text"),
                message=f"Times in {name!r} are {said}; all were brought to UTC, so days and hours are those of UTC.",
            )
        )
    if naive:
        notes.append(
            Assumption(
                code="zone_assumed",
                column=name,
                damage=2,
                reversal=as_kind(name, "text"),
                message=f"{naive:,} times in {name!r} say no zone; they were taken as {zone}.",
            )
        )
    if doubtful := sorted(set(stated["zone"].drop_nulls().unique()) & zones.AMBIGUOUS):
        notes.append(
            Assumption(
                code="zone_name",
                column=name,
                damage=2,
                reversal=as_kind(name, "text"),
                message=f"{', '.join(doubtful).upper()} in {name!r} was read as {', '.join(zones.offset_said(zones.ZONES[z]) for z in doubtful)}.",
            )
        )
    return utc, zone, notes


def _year_notes(frame: pl.DataFrame, words: Words, name: str, pivot: int) -> list[Assumption]:
    short = frame.filter(pl.col("short_year") & pl.col("day").is_not_null())
    if short.height == 0:
        return []
    low, high = smallest(short["year"]), largest(short["year"])
    return [
        Assumption(
            code="two_digit_years",
            column=name,
            damage=2,
            reversal=as_kind(name, "text"),
            message=f"{int(short['rows'].sum()):,} dates in {name!r} have years of two digits; they were read as {low} to {high} (00-{pivot:02d} are 2000s).",
        )
    ]


def _month_notes(parts: pl.DataFrame, day: pl.Series, words: Words, name: str) -> list[Assumption]:
    only = parts["shape"].is_in(_MONTH_ONLY).fill_null(False) & day.is_not_null()
    if not only.any():
        return []
    return [
        Assumption(
            code="months_as_first_day",
            column=name,
            damage=1,
            reversal=as_kind(name, "text"),
            message=f"{words.weight(only):,} cells in {name!r} name a month; they were read as its first day.",
        )
    ]


def _shapes_said(parts: pl.DataFrame, day: pl.Series, words: Words) -> str:
    """The spellings met, with an example each: `'2024-01-05', '05 Jan 2024'`."""
    read = (
        parts.filter(day.is_not_null())
        .group_by("shape")
        .agg(pl.col("at").first(), pl.col("rows").sum())
        .sort("rows", "shape", descending=[True, False])
    )
    return ", ".join(repr(words.values[at]) for at in read["at"].head(6))


def time_of_day(words: Words, *, name: str) -> Reading | None:
    """The words as times of day (`14:05`, `2:05 pm`), or None."""
    parts = words.lower.str.extract_groups(rf"^{_DAY_PART}(?: ?uhr)?$").struct.unnest()
    clock = parts.select(_clock())
    text = clock.select(
        pl.format(
            "{}:{}:{}.{}",
            *(pl.col(part).fill_null(0).cast(pl.String).str.zfill(2) for part in ("hour", "minute", "second")),
            pl.col("micros").fill_null(0).cast(pl.String).str.zfill(6),
        )
    ).to_series()
    values = text.str.to_time("%H:%M:%S%.f", strict=False)
    values = values.to_frame("v").select(pl.when(clock["minute"].is_not_null()).then(pl.col("v"))).to_series()
    if values.null_count() == len(values):
        return None
    return Reading(Kind.TIME, values, "times of day")
