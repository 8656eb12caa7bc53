"""Decides what a text column holds, over all of its distinct texts, and reads them as that."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from qa.data.booleans import FALSE, TRUE, boolean
from qa.data.dates import iso, moment, time_of_day
from qa.data.durations import duration, epoch, says_when
from qa.data.extremes import largest, smallest
from qa.data.identifiers import POWER, cut_ids, names_things, why_text
from qa.data.numbers import number, rival_units
from qa.data.reading import Hints, Reading
from qa.data.reversal import as_kind
from qa.data.table import Assumption
from qa.data.words import Words, errors, missing_in_text, missing_in_values, quoted
from qa.errors import Issue, LoadError
from qa.types import Kind, Role

MANY = 20_000
"""Above this many distinct texts a random sample is tried first, to rule readers out."""
SAMPLE = 5_000
RULED_OUT = 0.5
"""A reader that reads less than this share of a random sample cannot reach what is asked of the whole column."""
ASKED = 0.75
WITH_DIGITS = 0.05
MOSTLY = 0.5
"""From this share of numbers or dates on, a column that stays text says so."""
_NAMES_PEOPLE = re.compile(r"name|surname|nachname|\bnom\b|apellido|cognome", re.IGNORECASE)
_SERIAL = re.compile(r"(^|[^a-z])(date|datum|fecha)([^a-z]|$)|[a-z]Date$", re.IGNORECASE)


@dataclass(frozen=True)
class Decision:
    """What a column is. `reading` stands beside `words`; `missing` marks the words that mean missing.

    `unreadable` marks words that are not of the kind, which are missing now and reported.
    """

    words: Words
    reading: Reading
    missing: pl.Series
    unreadable: pl.Series


def decide(
    words: Words,
    hints: Hints,
    *,
    name: str,
    told: str | None = None,
    missing: tuple[str, ...] = (),
    rows: pl.Series | None = None,
) -> Decision:
    """The kind of a column and its words read as that kind.

    `told` is a kind a person named (see ReadOptions.as_kinds), `missing` cell texts that mean missing here,
    `rows` the column row by row, for evidence that lies in the order of rows.
    """
    if told is not None:
        return _told(words, hints, name, told, missing, rows)
    gone = missing_in_values(words, missing)
    core_mask = ~(gone | errors(words))
    core = words.keep(core_mask)
    if len(core) == 0 or not (reading := _first_accepted(core, hints, name, rows)):
        return _text(words, core, name, missing)
    return _spread(words, core_mask, gone, reading)


def _first_accepted(core: Words, hints: Hints, name: str, rows: pl.Series | None) -> Reading | None:
    if (reading := boolean(core, name=name)) or (reading := iso(core)):
        return reading
    if not core.clean.str.contains(r"\d").any():
        return None
    likely = _likely(core, hints, name)
    if (
        says_when(name)
        and core.clean.str.contains(r"^\d{9,19}$").all()
        and (reading := epoch(core.clean.cast(pl.Int64, strict=False), name=name))
    ):
        return reading
    if number in likely and why_text(core, name=name) is None:
        reading = number(core, hints, name=name)
        if reading is not None and _accepted(core, reading):
            return _moment_in_numbers(core, reading, hints, name)
    if (
        moment in likely
        and (reading := moment(core, hints, name=name, rows_in_order=rows))
        and _accepted(core, reading, dates=True)
    ):
        return reading
    if duration in likely and (reading := duration(core, name=name)) and _accepted(core, reading):
        return reading
    if time_of_day in likely and (reading := time_of_day(core, name=name)) and _accepted(core, reading):
        return reading
    return None


def _likely(core: Words, hints: Hints, name: str) -> set[Callable[..., Reading | None]]:
    """The readers that a random sample does not rule out; all of them for a column of few words."""
    readers: set[Callable[..., Reading | None]] = {number, moment, duration, time_of_day}
    if len(core) <= MANY:
        return readers
    some = pl.DataFrame({"value": core.values, "count": core.counts}).sample(SAMPLE, seed=0)
    sample = Words(some["value"], some["count"])
    kept: set[Callable[..., Reading | None]] = set()
    for reader in readers:
        reading = reader(sample, hints, name=name) if reader in (number, moment) else reader(sample, name=name)
        if reading is not None and sample.weight(reading.readable) >= RULED_OUT * sample.rows:
            kept.add(reader)
    return kept


def _accepted(core: Words, reading: Reading, dates: bool = False) -> bool:
    """Enough of the column is of the kind, and what is not looks like a remark rather than a code."""
    bad = ~reading.readable
    count = int(bad.sum())
    if count == 0:
        return True
    bad_rows = core.weight(bad)
    coded = bad & core.clean.str.contains(r"\d")
    few_coded = core.weight(coded) <= (0.1 if dates else WITH_DIGITS) * core.rows or (
        int(coded.sum()) == 1 and len(core) >= 8
    )
    return core.rows - bad_rows >= ASKED * core.rows and count <= max(2, 0.1 * len(core)) and few_coded


def _moment_in_numbers(core: Words, reading: Reading, hints: Hints, name: str) -> Reading:
    """Numbers that are moments after all: `20240107`, seconds since 1970, a spreadsheet's days since 1900."""
    if reading.unit is not None or reading.role is not None or not reading.readable.all():
        return reading
    if reading.kind is not Kind.INTEGER:
        return epoch(reading.values, name=name) or _serial(reading, name) or _as_powers(core, reading, name)
    compact = core.clean.str.contains(r"^((1[5-9]|2[01])\d{6}|(19|20)\d{6}([01]\d|2[0-3])[0-5]\d[0-5]\d)$")
    if compact.all() and (says_when(name) or len(core) >= 3):
        days = moment(core, hints, name=name)
        if days is not None and days.readable.all():
            example = core.clean[0]
            note = Assumption(
                code="compact_dates",
                column=name,
                damage=2,
                reversal=as_kind(name, "integer"),
                message=f"Whole numbers in {name!r} are all dates of {len(example)} digits: {example} was read as {days.values[0]}.",
            )
            return replace(days, assumptions=(*days.assumptions, note))
    return epoch(reading.values, name=name) or _serial(reading, name) or _as_powers(core, reading, name)


def _as_powers(core: Words, reading: Reading, name: str) -> Reading:
    """The reading with a note when cells like `1E5`, which may be codes, were read as powers of ten."""
    powers = core.clean.str.contains(POWER)
    if not powers.any():
        return reading
    at = int(powers.arg_true()[0])
    note = Assumption(
        code="powers",
        column=name,
        damage=2,
        reversal=as_kind(name, "id"),
        message=f"{core.values[at]!r} in {name!r} was read as {reading.values[at]:,.10g} ({core.weight(powers):,} cells); codes may look so too.",
    )
    return replace(reading, assumptions=(*reading.assumptions, note))


def _serial(reading: Reading, name: str) -> Reading | None:
    """A spreadsheet's days since 1900 in a column called a date, when all of them lie between 1982 and 2064."""
    low, high = smallest(reading.values), largest(reading.values)
    if _SERIAL.search(name) is None or low is None or high is None or not 30_000 <= low <= high <= 60_000:
        return None
    day = pl.lit(dt.datetime(1899, 12, 30)) + pl.duration(
        microseconds=(pl.col("v").cast(pl.Float64) * 86_400_000_000).round(0).cast(pl.Int64)
    )
    moments = reading.values.alias("v").to_frame().select(day.cast(pl.Datetime("us")).alias("v")).to_series()
    whole = reading.kind is Kind.INTEGER
    note = Assumption(
        code="serial_dates",
        column=name,
        damage=2,
        reversal=as_kind(name, reading.kind.value),
        message=f"Numbers in {name!r} were read as a spreadsheet's days since 1900: {reading.values[0]:g} is {str(moments[0])[:16]}.",
    )
    return Reading(
        Kind.DATE if whole else Kind.DATETIME,
        moments.dt.date() if whole else moments,
        "a spreadsheet's day numbers",
        assumptions=(note,),
    )


def _spread(words: Words, core_mask: pl.Series, gone: pl.Series, reading: Reading) -> Decision:
    """A reading of the core words laid beside all words."""
    at = core_mask.arg_true()
    empty = (
        pl.Series("v", [None], dtype=reading.values.dtype).extend_constant(None, len(words) - 1)
        if len(words)
        else reading.values
    )
    values = empty.scatter(at, reading.values) if len(at) else empty
    whole = replace(reading, values=values)
    return Decision(words, whole, gone, ~gone & values.is_null())


def _text(words: Words, core: Words, name: str, missing: tuple[str, ...]) -> Decision:
    gone = missing_in_text(words, missing, names_people=_NAMES_PEOPLE.search(name) is not None)
    kept = words.keep(~gone)
    why = why_text(kept, name=name)
    role = Role.ID if why else None
    reading = Reading(
        Kind.TEXT,
        words.clean_text().to_frame("v").select(pl.when(~gone).then(pl.col("v"))).to_series(),
        why or ("no values" if len(kept) == 0 else "text"),
        role=role,
    )
    notes = _text_notes(kept, core, name) if why is None else _cut_notes(kept, name)
    return Decision(words, replace(reading, assumptions=notes), gone, pl.Series([False] * len(words), dtype=pl.Boolean))


def _text_notes(kept: Words, core: Words, name: str) -> tuple[Assumption, ...]:
    """Why amounts stayed text: several currencies or units, which must not be added."""
    if len(kept) > MANY or len(core) == 0:
        return ()
    rivals = rival_units(core)
    if len(rivals) < 2:
        return _nearly(core, name)
    return (
        Assumption(
            code="rival_units",
            column=name,
            damage=2,
            reversal=as_kind(name, "number"),
            message=f"{name!r} holds amounts in {quoted(rivals)}; they cannot be added, so the column stays text.",
        ),
    )


def _nearly(core: Words, name: str) -> tuple[Assumption, ...]:
    """A column of which most is numbers or dates, but not enough of it to be read as them."""
    if names_things(name) or words_with_digits(core) < MOSTLY:
        return ()
    for reader, kind in ((number, "number"), (moment, "date")):
        reading = reader(core, Hints(), name=name)
        if reading is None or core.weight(reading.readable) < MOSTLY * core.rows:
            continue
        others = core.tally(~reading.readable, 3)
        return (
            Assumption(
                code="nearly",
                column=name,
                damage=2,
                reversal=as_kind(name, kind),
                message=f"{core.weight(reading.readable):,} of {core.rows:,} cells of {name!r} are {kind}s, but not {quoted(others)}: the column stays text.",
            ),
        )
    return ()


def words_with_digits(core: Words) -> float:
    """The share of the rows whose word has a digit in it."""
    return core.weight(core.clean.str.contains(r"\d")) / max(core.rows, 1)


def _cut_notes(kept: Words, name: str) -> tuple[Assumption, ...]:
    """Ids whose last digits a spreadsheet took away."""
    cut = cut_ids(kept, name)
    if cut is None:
        return ()
    return (
        Assumption(
            code="cut_ids",
            column=name,
            damage=3,
            message=f"{cut!r} in {name!r} is a long number that a spreadsheet shortened: its last digits are lost in the file, "
            "and equal texts may stand for different things.",
        ),
    )


def _told(
    words: Words, hints: Hints, name: str, told: str, missing: tuple[str, ...], rows: pl.Series | None
) -> Decision:
    kind, _, form = told.partition(":")
    if kind == "verbatim":
        none = pl.Series([False] * len(words), dtype=pl.Boolean)
        return Decision(words, Reading(Kind.TEXT, words.values, "as told, exactly as in the file"), none, none)
    if kind in ("text", "id", "category"):
        gone = missing_in_text(words, missing)
        values = words.clean_text().to_frame("v").select(pl.when(~gone).then(pl.col("v"))).to_series()
        role = {"id": Role.ID, "category": Role.CATEGORY}.get(kind)
        return Decision(words, Reading(Kind.TEXT, values, "as told", role=role), gone, gone & False)
    gone = missing_in_values(words, missing)
    core_mask = ~(gone | errors(words))
    core = words.keep(core_mask)
    return _spread(words, core_mask, gone, replace(_read_as(core, hints, name, kind, form, rows), why="as told"))


def _read_as(core: Words, hints: Hints, name: str, kind: str, form: str, rows: pl.Series | None) -> Reading:
    match kind:
        case "boolean":
            return _forced_boolean(core)
        case "integer" | "number" | "decimal":
            return _forced_number(core, hints, name, kind)
        case "percent" | "currency":
            reading = _forced_number(core, hints, name, "number")
            return replace(reading, role=Role(kind), unit=reading.unit or ("percent" if kind == "percent" else None))
        case "date" | "datetime":
            return _forced_moment(core, hints, name, kind, form, rows)
        case "time":
            return time_of_day(core, name=name) or _nothing(core, Kind.TIME, pl.Time())
        case "duration":
            return duration(core, name=f"{name} duration") or _nothing(core, Kind.DURATION, pl.Duration("us"))
        case _:
            known = "boolean, integer, number, decimal, text, id, category, verbatim, date, datetime, time, duration, percent, currency"
            raise LoadError(
                Issue("unknown_kind", name, f"{kind!r} is no kind a column can be read as.", f"Use one of {known}.")
            )


def _forced_boolean(core: Words) -> Reading:
    yes, no = core.lower.is_in(list(TRUE)), core.lower.is_in(list(FALSE))
    return Reading(
        Kind.BOOLEAN,
        pl.DataFrame({"y": yes, "n": no}).select(pl.when(pl.col("y") | pl.col("n")).then("y")).to_series(),
        "as told",
    )


def _forced_number(core: Words, hints: Hints, name: str, kind: str) -> Reading:
    reading = number(core, hints, name=name) or _nothing(core, Kind.NUMBER, pl.Float64())
    match kind:
        case "integer":
            whole = reading.values.cast(pl.Float64).round(0) == reading.values.cast(pl.Float64)
            values = (
                reading.values.to_frame("v")
                .select(pl.when(whole).then(pl.col("v")))
                .to_series()
                .cast(pl.Int64, strict=False)
            )
            return replace(reading, kind=Kind.INTEGER, values=values)
        case "decimal":
            return replace(reading, kind=Kind.DECIMAL, values=reading.values.cast(pl.Decimal(38, 9), strict=False))
        case _:
            return replace(reading, kind=Kind.NUMBER, values=reading.values.cast(pl.Float64))


def _forced_moment(core: Words, hints: Hints, name: str, kind: str, form: str, rows: pl.Series | None) -> Reading:
    if form in ("s", "ms", "us", "ns"):
        scale = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}[form]
        count = core.clean.cast(pl.Int64, strict=False)
        moments = (count // 1_000 if form == "ns" else count * scale).cast(pl.Datetime("us", "UTC"))
        reading = Reading(Kind.DATETIME, moments, "as told", zone="UTC")
    elif form:
        try:
            moments = core.clean.str.to_datetime(form, strict=False, time_unit="us")
        except pl.exceptions.PolarsError:
            moments = core.clean.str.to_date(form, strict=False).cast(pl.Datetime("us"))
        reading = Reading(Kind.DATETIME, moments, "as told")
    else:
        reading = moment(core, hints, name=name, rows_in_order=rows) or _nothing(core, Kind.DATE, pl.Date())
    if kind == "date" and reading.kind is Kind.DATETIME:
        return replace(reading, kind=Kind.DATE, values=reading.values.dt.date(), zone=None)
    if kind == "datetime" and reading.kind is Kind.DATE:
        return replace(reading, kind=Kind.DATETIME, values=reading.values.cast(pl.Datetime("us")))
    return reading


def _nothing(core: Words, kind: Kind, dtype: pl.DataType) -> Reading:
    return Reading(kind, pl.Series("v", [None] * len(core), dtype=dtype), "as told")
