"""Turns columns of text into columns of kinds, and writes down what was assumed on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from qa.data.categories import NONE, Variants, variants
from qa.data.durations import says_when
from qa.data.extremes import largest, smallest
from qa.data.identifiers import LONGEST_NUMBER, POWER, named_code
from qa.data.names import display_names
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.reading import Hints, Reading
from qa.data.reversal import as_kind
from qa.data.sentinels import sentinel
from qa.data.table import Assumption, Unreadable
from qa.data.units import unit
from qa.data.values import Decision, decide
from qa.data.words import Words, quoted
from qa.types import Kind, Role

EXAMPLES = 10
PLAIN_FROM = 200
"""Columns this long are first tried as plain numbers, which needs no list of their distinct texts."""
SHOWN = 8


@dataclass(frozen=True)
class Typed:
    """A column with its kind, and the report on how it came to it."""

    values: pl.Series
    kind: Kind
    why: str
    role: Role | None = None
    unit: str | None = None
    zone: str | None = None
    null_words: dict[str, int] = field(default_factory=dict)
    unreadable: Unreadable | None = None
    assumptions: tuple[Assumption, ...] = ()
    variants: dict[str, str] = field(default_factory=dict)
    offered: dict[str, str] = field(default_factory=dict)


def typed(raw: Raw, options: ReadOptions) -> list[Typed]:
    """Every column of a table of text as the kind it holds."""
    return typed_text(raw, options, range(raw.frame.width))


def typed_text(raw: Raw, options: ReadOptions, which: Sequence[int]) -> list[Typed]:
    """The named columns (by position) of a table, read from text."""
    all_names = display_names(raw.headers)
    names = [all_names[index] for index in which]
    columns = [raw.frame[f"c{index}"] for index in which]
    told = {name.casefold(): kind for name, kind in options.as_kinds.items()}
    missing = {name.casefold(): words for name, words in options.missing.items()}
    everywhere = missing.pop("", ())
    hints = Hints(
        options.decimal,
        options.dayfirst,
        told_decimal=options.decimal is not None,
        told_dayfirst=options.dayfirst is not None,
    )

    def decided(column: pl.Series, name: str, hints: Hints) -> Decision:
        key = name.casefold()
        decision = decide(
            Words.of(column),
            hints,
            name=name,
            told=told.get(key),
            missing=(*missing.get(key, ()), *everywhere),
            rows=_small(column),
        )
        return decision if raw.states == "nothing" or key in told else restrained(decision, name, raw.states)

    firsts = [
        _plain(column, name, raw, options) or decided(column, name, hints)
        for column, name in zip(columns, names, strict=True)
    ]
    hints = learned(
        hints,
        [(name, one.reading if isinstance(one, Decision) else one) for name, one in zip(names, firsts, strict=True)],
    )
    result = []
    for index, column, name, one in zip(which, columns, names, firsts, strict=True):
        if isinstance(one, Reading):
            column_typed = Typed(
                one.values.alias(column.name), one.kind, one.why, assumptions=sentinel(one.values, one.kind, name)
            )
        else:
            if one.reading.unproven and _would_help(one.reading.unproven, hints):
                one = decided(column, name, hints)
            column_typed = _applied(raw, column, name, one, options, told.get(name.casefold()))
        result.append(_with_unit_row(raw, index, column_typed))
    return result


def _as_string(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.String else column.cast(pl.String)


def restrained(decision: Decision, name: str, states: str) -> Decision:
    """What a typed file calls text is another kind only when every cell is plainly so and not a bare whole number."""
    reading = decision.reading
    if reading.kind is Kind.TEXT:
        return decision if states == "loosely" else _verbatim(decision)
    bare = reading.kind is Kind.INTEGER and reading.role is None and reading.unit is None
    two_words = reading.kind is Kind.BOOLEAN and not reading.assumptions
    if (
        not bare
        and not two_words
        and not decision.unreadable.any()
        and (states == "loosely" or not decision.missing.any())
    ):
        note = Assumption(
            code="text_read_as",
            column=name,
            damage=2,
            reversal=as_kind(name, "text"),
            message=f"The file calls {name!r} text; its cells were read as {reading.kind.value}s.",
        )
        return replace(decision, reading=replace(reading, assumptions=(note, *reading.assumptions)))
    kept = _verbatim(decision)
    if two_words:
        return kept
    note = Assumption(
        code="text_kept",
        column=name,
        damage=1,
        reversal=as_kind(name, reading.kind.value),
        message=f"{name!r} is text, as the file says; its cells could be read as {reading.kind.value}s.",
    )
    return replace(kept, reading=replace(kept.reading, assumptions=(note,)))


def _verbatim(decision: Decision) -> Decision:
    none = pl.Series([False] * len(decision.words), dtype=pl.Boolean)
    return replace(
        decision,
        reading=Reading(Kind.TEXT, decision.words.values, "text, as the file says"),
        missing=none,
        unreadable=none,
    )


def _small(column: pl.Series) -> pl.Series | None:
    return _as_string(column) if len(column) <= 1_000_000 else None


def _would_help(unproven: str, hints: Hints) -> bool:
    return (hints.decimal if unproven == "decimal" else hints.dayfirst) is not None


def learned(hints: Hints, readings: Iterable[tuple[str, Reading]]) -> Hints:
    """What the columns prove about the table's author, added to what was told."""
    marks: dict[str, list[str]] = {}
    orders: dict[bool, list[str]] = {}
    for name, reading in readings:
        if reading.decimal:
            marks.setdefault(reading.decimal, []).append(name)
        if reading.dayfirst is not None:
            orders.setdefault(reading.dayfirst, []).append(name)
    if not hints.told_decimal and len(marks) == 1:
        mark, columns = next(iter(marks.items()))
        hints = replace(
            hints, decimal=mark, decimal_why=f"{columns[0]!r} proves decimal {'points' if mark == '.' else 'commas'}"
        )
    if not hints.told_dayfirst and len(orders) == 1:
        order, columns = next(iter(orders.items()))
        hints = replace(
            hints, dayfirst=order, dayfirst_why=f"{columns[0]!r} proves {'day' if order else 'month'} first"
        )
    return hints


def named_for_text(name: str, options: ReadOptions) -> bool:
    """Must a column be looked at text by text, because of its name or what was told of it?"""
    key = name.casefold()
    told = key in {column.casefold() for column in (*options.as_kinds, *options.missing)} or "" in options.missing
    return told or options.decimal == "," or named_code(name) or says_when(name)


def _plain(column: pl.Series, name: str, raw: Raw, options: ReadOptions) -> Reading | None:
    """A column of bare whole numbers or bare decimals, read without listing its distinct texts."""
    if column.dtype.is_numeric() and not named_for_text(name, options):
        kind = Kind.INTEGER if column.dtype.is_integer() else Kind.NUMBER
        return Reading(
            kind,
            column,
            "numbers" if kind is Kind.INTEGER else "numbers, decimal point",
            decimal="." if column.name in raw.proven else None,
        )
    if (
        raw.states != "nothing"
        or len(column) < PLAIN_FROM
        or column.dtype != pl.String
        or named_for_text(name, options)
    ):
        return None
    return plain_numbers(column)


def plain_numbers(column: pl.Series) -> Reading | None:
    """The column as numbers when every cell is a bare one (`-12`, `3.50`, `1e5`); None at the first doubt."""
    head = column.drop_nulls().head(1_000)
    if len(head) == 0 or not head.str.contains(r"^-?(\d+(\.\d+)?|\.\d+)([eE][-+]?\d+)?$").all():
        return None
    if not head.str.contains(r"[.eE]").any() and (whole := plain_whole(column)) is not None:
        return Reading(Kind.INTEGER, whole, "numbers")
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() != column.null_count() or not number.is_finite().all() or padded(column) or powers(column):
        return None
    proven = proves_point(head) or proves_point(column.drop_nulls())
    return Reading(Kind.NUMBER, number, "numbers, decimal point", decimal=".") if proven else None


def plain_whole(column: pl.Series) -> pl.Series | None:
    """The column as whole numbers of 64 bits, or None when any cell is not a bare one or its digits may be a code."""
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() != column.null_count():
        return None
    low, high = smallest(whole), largest(whole)
    if low is None or high is None:
        return whole
    too_long = max(abs(low), abs(high)) >= 10 ** (LONGEST_NUMBER - 3)
    eight_digits = low >= 15_000_101 and high <= 21_991_231
    return None if too_long or eight_digits or padded(column) or column.str.starts_with("+").any() else whole


def padded(column: pl.Series) -> bool:
    """Is any cell a zero before more digits?"""
    zero = column.str.starts_with("0") | column.str.starts_with("-0")
    return bool(zero.any()) and bool(column.filter(zero).str.contains(r"^-?0\d").any())


def powers(column: pl.Series) -> bool:
    """Is any cell like `1E5`, which may be a code?"""
    lettered = column.filter(column.str.contains_any(["e", "E"]))
    return len(lettered) > 0 and bool(lettered.str.contains(POWER).any())


def proves_point(cells: pl.Series) -> bool:
    """Does any cell show that its point is a decimal one (`12.5`, `0.125`)?"""
    point = cells.drop_nulls().filter(cells.drop_nulls().str.contains(".", literal=True))
    return len(point) > 0 and not point.str.contains(r"^-?[1-9]\d{0,2}\.\d{3}$").all()


def _applied(
    raw: Raw, column: pl.Series, name: str, decision: Decision, options: ReadOptions, told: str | None
) -> Typed:
    """A decision on the distinct texts, carried to every row."""
    reading, words = decision.reading, decision.words
    null_words = words.tally(decision.missing, SHOWN)
    unreadable = _unreadable(raw, column, name, decision)
    notes = list(reading.assumptions)
    if null_words:
        notes.append(_null_note(name, reading, null_words))
    if unreadable is not None:
        notes += _unreadable_notes(raw, column, name, reading, unreadable, words.rows)
    if reading.kind is Kind.TEXT:
        return _as_text(raw, column, name, decision, options, told, null_words, notes)
    values = mapped(column, words.values, reading.values)
    notes += sentinel(values, reading.kind, name)
    return Typed(
        values,
        reading.kind,
        reading.why,
        reading.role,
        reading.unit,
        reading.zone,
        null_words,
        unreadable,
        tuple(notes),
    )


def mapped(column: pl.Series, old: pl.Series, new: pl.Series) -> pl.Series:
    """Each cell replaced by what stands beside its text; other cells are missing."""
    if len(old) == 0:
        return pl.Series(column.name, [None] * len(column), dtype=new.dtype)
    lookup = pl.DataFrame({"old": old, "new": new}).lazy()
    return (
        _as_string(column)
        .alias("old")
        .to_frame()
        .lazy()
        .join(lookup, on="old", how="left", maintain_order="left")
        .collect(engine="in-memory")["new"]
        .alias(column.name)
    )


def _as_text(
    raw: Raw,
    column: pl.Series,
    name: str,
    decision: Decision,
    options: ReadOptions,
    told: str | None,
    null_words: dict[str, int],
    notes: list[Assumption],
) -> Typed:
    reading, words = decision.reading, decision.words
    final = reading.values
    trimmed = final.is_not_null() & (final != words.values)
    if (count := words.weight(trimmed.fill_null(False))) and told != "verbatim":
        notes.append(
            Assumption(
                code="spaces_trimmed",
                column=name,
                damage=1,
                reversal=as_kind(name, "verbatim"),
                message=f"Spaces around {count:,} cells of {name!r} were taken off.",
            )
        )
    found = _variants(decision, name, told)
    applied = (
        found.certain
        if options.variants and told not in ("text", "id", "verbatim") and raw.states != "strictly"
        else {}
    )
    offered = {**found.offered, **({} if applied else found.certain)}
    if applied:
        final = final.replace(list(applied), list(applied.values()))
        notes.append(_variant_note(name, found, applied, "variants", "were read as one"))
    if offered:
        notes.append(
            _variant_note(name, found, offered, "possible_variants", "may mean the same; they were kept apart")
        )
    changed = (final.is_null() | (final != words.values)).fill_null(True)
    values = column if not changed.any() else _replaced(column, words.values.filter(changed), final.filter(changed))
    values = (
        _as_string(values).to_frame("v").select(pl.when(pl.col("v").str.strip_chars() != "").then("v")).to_series()
        if words.rows + column.null_count() < len(column)
        else values
    )
    shown = {**_trim_map(words.values.filter(trimmed), final.filter(trimmed)), **applied}
    return Typed(
        values.alias(column.name),
        Kind.TEXT,
        reading.why,
        reading.role,
        reading.unit,
        None,
        null_words,
        None,
        tuple(notes),
        shown,
        offered,
    )


def _replaced(column: pl.Series, old: pl.Series, new: pl.Series) -> pl.Series:
    lookup = pl.DataFrame({"old": old, "new": new, "hit": pl.repeat(True, len(old), eager=True)}).lazy()
    joined = _as_string(column).alias("old").to_frame().lazy().join(lookup, on="old", how="left", maintain_order="left")
    return (
        joined.select(pl.when(pl.col("hit")).then("new").otherwise("old").alias(column.name))
        .collect(engine="in-memory")
        .to_series()
    )


def _trim_map(old: pl.Series, new: pl.Series) -> dict[str, str]:
    return dict(zip(old.head(200).to_list(), new.head(200).to_list(), strict=True)) if len(old) else {}


def _variants(decision: Decision, name: str, told: str | None) -> Variants:
    reading, words = decision.reading, decision.words
    if reading.role is Role.ID or told in ("id", "verbatim") or len(words) > 20_000:
        return NONE
    counted = (
        pl.DataFrame({"value": reading.values, "count": words.counts})
        .drop_nulls()
        .group_by("value", maintain_order=True)
        .agg(pl.col("count").sum())
    )
    return variants(counted["value"], counted["count"], name=name)


def _variant_note(name: str, found: Variants, mapping: dict[str, str], code: str, what: str) -> Assumption:
    targets: dict[str, list[str]] = {}
    for spelling, target in mapping.items():
        targets.setdefault(target, []).append(spelling)
    said = "; ".join(
        f"{', '.join(map(repr, spellings[:6]))} → {target!r} ({found.because.get(spellings[0], '')})"
        for target, spellings in list(targets.items())[:SHOWN]
    )
    return Assumption(
        code=code,
        column=name,
        damage=2,
        reversal=as_kind(name, "text") if code == "variants" else None,
        message=f"Spellings in {name!r} {what}: {said}.",
    )


def _null_note(name: str, reading: Reading, null_words: dict[str, int]) -> Assumption:
    total = sum(null_words.values())
    return Assumption(
        code="null_words",
        column=name,
        damage=1,
        reversal=as_kind(name, "verbatim"),
        message=f"{total:,} cells of {name!r} say that nothing is known and are missing: {quoted(null_words)}.",
    )


def _unreadable(raw: Raw, column: pl.Series, name: str, decision: Decision) -> Unreadable | None:
    failed = raw.errors.get(column.name, ())
    bad = decision.words.values.filter(decision.unreadable)
    if len(bad) == 0 and not failed:
        return None
    at = (
        _as_string(column).is_in(bad.to_list()).arg_true().head(EXAMPLES)
        if len(bad)
        else pl.Series("at", [], dtype=pl.UInt32)
    )
    examples = [(raw.row_number(index), str(column[index])[:80]) for index in at.to_list()]
    count = decision.words.weight(decision.unreadable) + len(failed)
    return Unreadable(column=name, count=count, examples=tuple([*examples, *failed][:EXAMPLES]))


def _unreadable_notes(
    raw: Raw, column: pl.Series, name: str, reading: Reading, unreadable: Unreadable, rows: int
) -> list[Assumption]:
    """What became of cells that are not of the column's kind, failed formulas apart."""
    notes = []
    failed = raw.errors.get(column.name, ())
    if failed:
        kinds: dict[str, int] = {}
        for _, text in failed:
            kinds[text] = kinds.get(text, 0) + 1
        notes.append(
            Assumption(
                code="formula_errors",
                column=name,
                damage=3,
                message=f"{len(failed):,} cells of {name!r} hold Excel errors ({quoted(kinds)}) and are missing; the first is in row {failed[0][0]}.",
            )
        )
    if count := unreadable.count - len(failed):
        shown = ", ".join(f"{text!r} in row {row}" for row, text in unreadable.examples[:4])
        more = " …" if count > 4 else ""
        notes.append(
            Assumption(
                code="unreadable",
                column=name,
                damage=2 if count <= 0.01 * rows else 3,
                reversal=as_kind(name, "text"),
                message=f"{count:,} of {rows:,} filled cells of {name!r} are no {_noun(reading.kind)} and are missing: {shown}{more}.",
            )
        )
    return notes


def _noun(kind: Kind) -> str:
    return {Kind.BOOLEAN: "yes or no", Kind.DATETIME: "date", Kind.INTEGER: "number", Kind.DECIMAL: "number"}.get(
        kind, kind.value
    )


def _with_unit_row(raw: Raw, index: int, column: Typed) -> Typed:
    """A role or unit that a number format or a row under the header states."""
    if (fact := raw.facts.get(f"c{index}")) and column.kind.numeric and column.role is None and column.unit is None:
        return replace(column, role=fact[0], unit=fact[1], why=f"{column.why}, formatted as {fact[0].value}")
    if column.kind.numeric and column.role is None and column.unit is None:
        column = _with_header_unit(raw.headers[index], column)
    if raw.units is None or not raw.units[index] or column.unit or not column.kind.numeric:
        return column
    return replace(column, unit=raw.units[index].strip("[]() "))


_IN_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]{1,12}?)\s*[\])]\s*$")


def _with_header_unit(header: str, column: Typed) -> Typed:
    """The unit that a header states in brackets: `weight (kg)`, `speed [km/h]`."""
    found = _IN_BRACKETS.search(header)
    known = unit(found[1]) if found else None
    return column if known is None else replace(column, unit=known.sign)
