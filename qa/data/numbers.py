"""Reads a column's words as numbers: decimal and thousands style, currency, percent, units, negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from qa.data.affixes import Affix, affix
from qa.data.extremes import largest, share, smallest
from qa.data.reading import Hints, Reading
from qa.data.reversal import as_kind
from qa.data.table import Assumption
from qa.data.words import Words
from qa.types import Kind, Role

_SHAPE = (
    r"^(?P<before>[^\d]*?)(?P<core>\d(?:[\d.,'’ ]*\d)?|[.,]\d+)(?P<dot>[.,]?)"
    r"(?P<power>(?:[eE][-+]?\d{1,3}|\s?[x×*]\s?10\^[-+]?\d{1,3})?)(?P<after>\D*?[23]?)$"
)
_MOST_AFFIXES = 400
_DIGITS_OF_INT64 = 18
_LONE = 0.25
"""With a unit in fewer of its numbers a column is one of bare numbers."""

# A style per core; the first pattern that fits decides. `?` styles need the rest of the column.
_STYLES: tuple[tuple[str, str], ...] = (
    ("whole", r"^\d+$"),
    ("dot?", r"^[1-9]\d{0,2}\.\d{3}$"),
    ("comma?", r"^[1-9]\d{0,2},\d{3}$"),
    ("dot", r"^\d*\.\d+$"),
    ("comma", r"^\d*,\d+$"),
    ("dot", r"^[1-9]\d{0,2}(,\d{3})+\.\d+$"),
    ("comma", r"^[1-9]\d{0,2}(\.\d{3})+,\d+$"),
    ("dot", r"^[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$"),  # 12,34,567.00
    ("dot group", r"^[1-9]\d{0,2}(,\d{3}){2,}$"),
    ("comma group", r"^[1-9]\d{0,2}(\.\d{3}){2,}$"),
    ("whole", r"^\d{1,3}( \d{3})+$"),
    ("dot", r"^\d{1,3}( \d{3})+\.\d+$"),
    ("comma", r"^\d{1,3}( \d{3})+,\d+$"),
    ("whole", r"^\d{1,3}('\d{3})+$"),
    ("dot", r"^\d{1,3}('\d{3})+\.\d+$"),
    ("comma", r"^\d{1,3}('\d{3})+,\d+$"),
    ("whole", r"^[1-9]\d?( \d{2})+ \d{3}$"),
)


@dataclass(frozen=True)
class _Taken:
    """The words taken apart: one row a word; `key` joins prefix and suffix."""

    frame: pl.DataFrame
    affixes: dict[str, Affix | None]


def number(words: Words, hints: Hints, *, name: str) -> Reading | None:
    """The words as numbers, or None when they are not numbers at all. Words that do not fit are missing."""
    taken = _taken_apart(words)
    if taken is None:
        return None
    frame = taken.frame.with_columns(_style(pl.col("core")).alias("style"), words.counts.alias("rows"))
    mark, marked_by, assumptions = _decimal_mark(frame, words, hints, name)
    affixes, unit_notes, facts = _one_unit(taken, words, name)
    if facts is None:
        return None
    value = _value(frame, affixes, mark)
    whole = _whole(frame, affixes, mark)
    values = value.cast(pl.Int64, strict=False) if whole and _fits(value) else value
    if whole and values.dtype == pl.Int64:
        values = _exact(frame, affixes, mark)
    about = words.weight(
        frame["key"].is_in([key for key, meaning in affixes.items() if meaning and meaning.about]).fill_null(False)
    )
    notes = list(assumptions) + unit_notes + _magnitude_notes(words, values, frame, affixes, name)
    if about:
        notes.append(
            Assumption(
                code="about_numbers",
                column=name,
                damage=2,
                message=f"{about:,} cells of {name!r} say 'about' or '~'; the number alone was taken.",
                reversal=as_kind(name, "text"),
            )
        )
    proven = mark if marked_by == "proven" else None
    return Reading(
        kind=Kind.INTEGER if values.dtype == pl.Int64 else Kind.NUMBER,
        values=values,
        why=_why(facts, mark, marked_by),
        role=facts.role,
        unit=facts.unit,
        assumptions=tuple(notes),
        decimal=proven,
        unproven="decimal" if marked_by in ("supposed", "table") else None,
    )


def _magnitude_notes(
    words: Words, values: pl.Series, frame: pl.DataFrame, affixes: dict[str, Affix | None], name: str
) -> list[Assumption]:
    scaled = frame["key"].is_in([key for key, a in affixes.items() if a and a.magnitude]).fill_null(False)
    scaled = scaled & values.is_not_null()
    if not scaled.any():
        return []
    at = int(scaled.arg_true()[0])
    return [
        Assumption(
            code="magnitudes",
            column=name,
            damage=2,
            reversal=as_kind(name, "text"),
            message=f"Letters for thousands, millions or billions in {name!r} were multiplied out: "
            f"{words.values[at]!r} was read as {values[at]:,.10g} ({words.weight(scaled):,} cells).",
        )
    ]


def _taken_apart(words: Words) -> _Taken | None:
    parts = words.clean.str.extract_groups(_SHAPE).struct.unnest()
    parts = parts.with_columns(pl.concat_str("before", pl.lit("\t"), "dot", "after").alias("key"))
    keys = parts["key"].drop_nulls().unique()
    if len(keys) == 0 or len(keys) > _MOST_AFFIXES:
        return None
    affixes = {key: affix(*key.split("\t", 1)) for key in keys.sort().to_list()}
    understood = [key for key, meaning in affixes.items() if meaning is not None]
    if not understood:
        return None
    return _Taken(parts, affixes)


def _style(core: pl.Expr) -> pl.Expr:
    style: Any = pl.when(core.is_null()).then(pl.lit(None, pl.String))
    for name, pattern in _STYLES:
        style = style.when(core.str.contains(pattern)).then(pl.lit(name))
    named: pl.Expr = style.otherwise(pl.lit("unlike"))
    return named


def _decimal_mark(frame: pl.DataFrame, words: Words, hints: Hints, name: str) -> tuple[str, str, list[Assumption]]:
    """The decimal mark of the column, how it is known, and what had to be supposed."""
    rows = dict(frame.group_by("style").agg(pl.col("rows").sum()).iter_rows())
    dots, commas = (sum(rows.get(f"{mark}{kind}", 0) for kind in ("", " group")) for mark in ("dot", "comma"))
    open_dot, open_comma = rows.get("dot?", 0), rows.get("comma?", 0)
    if hints.told_decimal and hints.decimal:
        return hints.decimal, "told", []
    if dots and commas:
        mark = "." if dots >= commas else ","
        count = open_dot + open_comma
        unclear = f" and {count:,} unclear ones with a decimal {_spoken(mark)}" if count else ""
        mixed = Assumption(
            code="mixed_decimals",
            column=name,
            damage=3,
            reversal=f"--decimal '{',' if mark == '.' else '.'}'",
            message=f"{name!r} mixes decimal points ({dots:,} cells) and decimal commas ({commas:,}); each clear cell was read "
            f"in its own style{unclear}.",
        )
        return mark, "mixed", [mixed]
    if dots or commas:
        return ("." if dots else ","), "proven", []
    if not (open_dot or open_comma):
        return hints.decimal or ".", "whole", []
    if hints.decimal:
        mark, why = hints.decimal, f"because {hints.decimal_why}" if hints.decimal_why else "like the rest of the table"
        how = "table"
    else:
        # With nothing to go by, one comma before three digits groups thousands and one point before three is a decimal point.
        mark, why, how = ".", "for want of evidence", "supposed"
    if how == "table" and mark == ".":
        return mark, how, []
    example = words.values.filter(frame["style"].is_in(["dot?", "comma?"]))[0]
    clean = words.clean.filter(frame["style"].is_in(["dot?", "comma?"]))[0]
    read = _read_alone(clean, mark)
    other = _read_alone(clean, "," if mark == "." else ".")
    if how == "table" or open_dot or open_comma:
        damage = 1 if mark == "." and not open_dot else 2
        message = f"{example!r} in {name!r} was read as {read:,.10g}, {why}; with a decimal {_spoken(',' if mark == '.' else '.')} it would be {other:,.10g} ({open_dot + open_comma:,} cells)."
        return (
            mark,
            how,
            [
                Assumption(
                    code="decimal_mark",
                    column=name,
                    damage=damage,
                    message=message,
                    reversal=f"--decimal '{',' if mark == '.' else '.'}'",
                )
            ],
        )
    return mark, how, []


def _read_alone(text: str, mark: str) -> float:
    digits = "".join(c for c in text if c.isdigit() or c in ".,")
    return float(digits.replace("," if mark == "." else ".", "").replace(mark, "."))


def _spoken(mark: str) -> str:
    return "point" if mark == "." else "comma"


def _digits(core: pl.Expr, mark: str) -> pl.Expr:
    """The core as `1234.56`, by its own style where that is clear, else by the column's mark."""
    style = pl.col("style")
    comma = style.is_in(["comma", "comma group"]) | (style.str.ends_with("?") & pl.lit(mark == ","))
    bare = core.str.replace_all("[ ']", "")
    return (
        pl.when(style.is_null() | (style == "unlike"))
        .then(pl.lit(None, pl.String))
        .when(comma)
        .then(bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True))
        .otherwise(bare.str.replace_all(",", "", literal=True))
    )


def _value(frame: pl.DataFrame, affixes: dict[str, Affix | None], mark: str) -> pl.Series:
    known = {key: meaning for key, meaning in affixes.items() if meaning is not None}
    factor = pl.col("key").replace_strict(
        list(known), [a.sign * a.scale for a in known.values()], default=None, return_dtype=pl.Float64
    )
    power = pl.col("power").str.replace(r"\s?[x×*]\s?10\^", "e")
    plain = pl.concat_str(_digits(pl.col("core"), mark), power).cast(pl.Float64, strict=False)
    scale = {key: a.unit.factor if a.unit else 1.0 for key, a in known.items()}
    offset = {key: a.unit.offset if a.unit else 0.0 for key, a in known.items()}
    value = plain * factor
    if any(a.scale != int(a.scale) for a in known.values()):
        value = value.round_sig_figs(15)
    if any(f != 1.0 for f in scale.values()) or any(offset.values()):
        value = value * pl.col("key").replace_strict(
            list(known), list(scale.values()), default=None, return_dtype=pl.Float64
        )
        value = value + pl.col("key").replace_strict(
            list(known), list(offset.values()), default=None, return_dtype=pl.Float64
        )
        value = value.round_sig_figs(15)
    return frame.select(pl.when(value.is_finite()).then(value)).to_series()


def _exact(frame: pl.DataFrame, affixes: dict[str, Affix | None], mark: str) -> pl.Series:
    """Whole numbers without the detour over doubles, which lose digits past 2^53."""
    known = {key: meaning for key, meaning in affixes.items() if meaning is not None}
    sign = pl.col("key").replace_strict(
        list(known), [a.sign for a in known.values()], default=None, return_dtype=pl.Int64
    )
    return frame.select(_digits(pl.col("core"), mark).cast(pl.Int64, strict=False) * sign).to_series()


def _whole(frame: pl.DataFrame, affixes: dict[str, Affix | None], mark: str) -> bool:
    """Are all readable words written without decimals, powers and conversions?"""
    if any(a and (a.scale != 1.0 or (a.unit and (a.unit.factor != 1.0 or a.unit.offset))) for a in affixes.values()):
        return False
    read = frame.filter(pl.col("key").is_in([key for key, meaning in affixes.items() if meaning is not None]))
    digits = read.select(_digits(pl.col("core"), mark)).to_series()
    return not digits.str.contains(".", literal=True).any() and not (read["power"].str.len_bytes() > 0).any()


def _fits(value: pl.Series) -> bool:
    low, high = smallest(value), largest(value)
    return low is None or bool(max(abs(low), abs(high)) < 10**_DIGITS_OF_INT64)


@dataclass(frozen=True)
class _UnitFacts:
    role: Role | None
    unit: str | None
    why: str


def _one_unit(
    taken: _Taken, words: Words, name: str
) -> tuple[dict[str, Affix | None], list[Assumption], _UnitFacts | None]:
    """Bring all affixes to one unit, or to None when the column holds things that cannot be added."""
    rows = dict(
        taken.frame.with_columns(words.counts.alias("rows")).group_by("key").agg(pl.col("rows").sum()).iter_rows()
    )
    affixes = dict(taken.affixes)
    total = sum(rows.values())
    tails: dict[str, int] = {}
    for key, meaning in affixes.items():
        if meaning is not None:
            tails[_label(meaning)] = tails.get(_label(meaning), 0) + rows.get(key, 0)
    # A word we do not know is a unit only when nearly every cell has that one word.
    for key, meaning in list(affixes.items()):
        if meaning is not None and meaning.word is not None and tails[_label(meaning)] < 0.8 * total:
            affixes[key] = None
    kept = {key: meaning for key, meaning in affixes.items() if meaning is not None}
    if not kept:
        return affixes, [], None
    affixes, kept = _doubtful_magnitudes(affixes, kept)
    bare = sum(rows.get(key, 0) for key, a in kept.items() if a.bare)
    lone = {key: a for key, a in kept.items() if not a.bare and a.currency is None}
    if bare and sum(rows.get(key, 0) for key in lone) < _LONE * (bare + sum(rows.get(key, 0) for key in lone)):
        # A percent sign or unit in a few cells of bare numbers makes those cells another measure, not the column.
        affixes = {key: None if key in lone else meaning for key, meaning in affixes.items()}
        kept = {key: meaning for key, meaning in kept.items() if key not in lone}
    money = _ranked(kept, rows, lambda a: a.currency)
    percent = sum(rows.get(key, 0) for key, a in kept.items() if a.percent)
    units = _ranked(kept, rows, lambda a: a.unit.sign if a.unit else None)
    other = _ranked(kept, rows, lambda a: a.word)
    sorts = sum(map(bool, (money, percent, units, other)))
    if sorts > 1 or len(money) > 1 or len({a.unit.dimension for a in kept.values() if a.unit}) > 1:
        return _stronger(kept, affixes, rows, total, name, money, percent, units, other)
    if money:
        return (
            affixes,
            _bare_note(name, bare, money[0], words),
            _UnitFacts(Role.CURRENCY, money[0], f"amounts in {money[0]}"),
        )
    if percent and (shares := _shares(taken, kept)):
        return (
            affixes | dict.fromkeys(shares, Affix(scale=100.0)),
            _share_note(name, bare, words, taken, shares),
            _UnitFacts(Role.PERCENT, "percent", "percentages, kept on the scale of 0 to 100"),
        )
    if percent:
        return (
            affixes,
            _bare_note(name, bare, "%", words),
            _UnitFacts(Role.PERCENT, "percent", "percentages, kept on the scale of 0 to 100"),
        )
    if units:
        return _converted(affixes, kept, units, rows, name, bare, words)
    if other:
        return affixes, _bare_note(name, bare, other[0], words), _UnitFacts(None, other[0], f"numbers of {other[0]}")
    return affixes, [], _UnitFacts(None, None, "numbers")


def _shares(taken: _Taken, kept: dict[str, Affix]) -> list[str]:
    """The keys of bare numbers among percentages when they read as shares of 1: broken, none past 1, most percentages past it."""
    core = pl.col("core").str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    frame = taken.frame.select("key", "core", core.alias("value"))
    bare = [key for key, a in kept.items() if a.bare and a.sign == 1]
    lone = frame.filter(pl.col("key").is_in(bare) & (pl.col("value") != 0))
    signed = frame.filter(pl.col("key").is_in([key for key, a in kept.items() if a.percent]))["value"]
    broken = lone["core"].str.contains(r"[.,]")
    if lone.height == 0 or not (lone["value"] <= 1).all() or not broken.any() or share(signed > 1) < 0.5:
        return []
    return bare


def _share_note(name: str, bare: int, words: Words, taken: _Taken, shares: list[str]) -> list[Assumption]:
    at = int(taken.frame["key"].is_in(shares).fill_null(False).arg_true()[0])
    return [
        Assumption(
            code="shares_as_percent",
            column=name,
            damage=3,
            reversal=as_kind(name, "text"),
            message=f"{bare:,} of {words.rows:,} numbers in {name!r} stand without a percent sign among percentages and were read as "
            f"shares of 1: {words.values[at]!r} as {float(taken.frame['core'][at].replace(',', '.')) * 100:.10g} %.",
        )
    ]


def _doubtful_magnitudes(
    affixes: dict[str, Affix | None], kept: dict[str, Affix]
) -> tuple[dict[str, Affix | None], dict[str, Affix]]:
    """A lone `M` or `B` behind all numbers may be millions or any unit: the letter is kept as the unit."""
    letters = {a.magnitude.upper() for a in kept.values() if a.magnitude and a.currency is None}
    if len(letters) != 1 or not letters <= {"M", "B"}:
        return affixes, kept
    changed = {
        key: replace(a, scale=1.0, magnitude=None, word=a.magnitude)
        for key, a in kept.items()
        if a.magnitude and a.currency is None
    }
    return {**affixes, **changed}, {**kept, **changed}


def rival_units(words: Words) -> dict[str, int]:
    """The units of a column that holds several currencies or measures, with their rows; empty for any other column."""
    taken = _taken_apart(words)
    if taken is None:
        return {}
    rows = (
        taken.frame.with_columns(words.counts.alias("rows"))
        .filter(_style(pl.col("core")) != "unlike")
        .group_by("key")
        .agg(pl.col("rows").sum())
    )
    found: dict[str, int] = {}
    for key, count in rows.iter_rows():
        meaning = taken.affixes.get(key) if key is not None else None
        if meaning is not None and (
            sign := meaning.currency or ("%" if meaning.percent else meaning.unit.sign if meaning.unit else None)
        ):
            found[sign] = found.get(sign, 0) + count
    return found if sum(found.values()) >= 0.5 * words.rows else {}


def _stronger(
    kept: dict[str, Affix],
    affixes: dict[str, Affix | None],
    rows: dict[str, int],
    total: int,
    name: str,
    money: list[str],
    percent: int,
    units: list[str],
    other: list[str],
) -> tuple[dict[str, Affix | None], list[Assumption], _UnitFacts | None]:
    """Several units in one column: the one that nearly all cells have wins and the rest is unreadable; else no number."""
    by_label: dict[str, int] = {}
    for key, meaning in kept.items():
        if not meaning.bare:
            by_label[_label(meaning)] = by_label.get(_label(meaning), 0) + rows.get(key, 0)
    label, count = max(by_label.items(), key=lambda entry: entry[1])
    if count < 0.95 * sum(by_label.values()):
        return affixes, [], None
    only = {
        key: meaning if meaning is not None and (meaning.bare or _label(meaning) == label) else None
        for key, meaning in affixes.items()
    }
    sample = next(a for a in kept.values() if _label(a) == label)
    role = Role.CURRENCY if sample.currency else Role.PERCENT if sample.percent else None
    sign = sample.currency or ("percent" if sample.percent else sample.unit.sign if sample.unit else sample.word)
    return only, [], _UnitFacts(role, sign, f"nearly all in {sign}; cells in another unit were not read")


def _label(meaning: Affix) -> str:
    """What must agree for two numbers to be added."""
    if meaning.currency:
        return f"currency {meaning.currency}"
    if meaning.percent:
        return "percent"
    if meaning.unit:
        return f"unit {meaning.unit.dimension}"
    return f"word {meaning.word}" if meaning.word else "bare"


def _ranked(kept: dict[str, Affix], rows: dict[str, int], of: Callable[[Affix], str | None]) -> list[str]:
    counts: dict[str, int] = {}
    for key, meaning in kept.items():
        label = of(meaning)
        if label is not None:
            counts[label] = counts.get(label, 0) + rows.get(key, 0)
    return sorted(counts, key=lambda label: -counts[label])


def _converted(
    affixes: dict[str, Affix | None],
    kept: dict[str, Affix],
    units: list[str],
    rows: dict[str, int],
    name: str,
    bare: int,
    words: Words,
) -> tuple[dict[str, Affix | None], list[Assumption], _UnitFacts]:
    """Every unit of one dimension as the most frequent of them."""
    target = next(a.unit for a in kept.values() if a.unit and a.unit.sign == units[0])
    assert target is not None
    result = dict(affixes)
    for key, meaning in kept.items():
        u = meaning.unit
        if u is not None:
            result[key] = replace(
                meaning,
                unit=replace(u, factor=u.factor / target.factor, offset=(u.offset - target.offset) / target.factor),
            )
    notes = _bare_note(name, bare, target.sign, words, damage=3 if len(units) > 1 else 1)
    if len(units) > 1:
        others = ", ".join(units[1:])
        notes.append(
            Assumption(
                code="units_converted",
                column=name,
                damage=2,
                reversal=as_kind(name, "text"),
                message=f"{name!r} holds {', '.join(units)}; {others} was converted to {target.sign}.",
            )
        )
    return result, notes, _UnitFacts(None, target.sign, f"numbers in {target.sign}")


def _bare_note(name: str, bare: int, unit: str, words: Words, damage: int = 1) -> list[Assumption]:
    if not bare:
        return []
    return [
        Assumption(
            code="unit_assumed",
            column=name,
            damage=damage,
            reversal=as_kind(name, "text"),
            message=f"{bare:,} of {words.rows:,} numbers in {name!r} stand without a unit; they were taken as {unit} too.",
        )
    ]


def _why(facts: _UnitFacts, mark: str, marked_by: str) -> str:
    style = {
        "proven": f", decimal {_spoken(mark)}",
        "mixed": ", decimal points and commas mixed",
        "table": f", decimal {_spoken(mark)} as elsewhere in the table",
        "supposed": f", decimal {_spoken(mark)} supposed",
        "told": f", decimal {_spoken(mark)} as told",
        "whole": "",
    }[marked_by]
    return f"{facts.why}{style}"
