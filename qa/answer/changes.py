"""What moved between two answers of the same plan: in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qa.answer.answer import Answer, AnswerColumn, AnswerPart
from qa.answer.formats import MISSING, joined, number, percent, plain, plural, show, words
from qa.answer.shape import Shape, read
from qa.answer.telling import Result, exact, the
from qa.types import Role

NEAR = 1e-9
"""Two doubles this close, relative to the larger, are the same value."""

NAMED = 3

STATE = "what"
"""The column of a change table that says `moved`, `new`, `gone` or `same`."""


@dataclass(frozen=True)
class Change:
    """What moved in one part. `table` has the keys, each value before and after, its change, and `what`; it is None
    where rows have no keys to be matched by."""

    words: tuple[str, ...]
    table: pl.DataFrame | None = None
    moved: int = 0
    new: int = 0
    gone: int = 0

    @property
    def same(self) -> bool:
        return not (self.moved or self.new or self.gone)


def answers(before: Answer, after: Answer) -> tuple[Change, ...]:
    """One change a part, for two answers of the same plan; one that says why where they cannot be compared."""
    if before.status != "answered" or after.status != "answered":
        return (Change((f"Before: {before.status}. Now: {after.status}.",), moved=int(before.status != after.status)),)
    if len(before.parts) != len(after.parts):
        return (Change((f"{plural(len(before.parts), 'part')} before, {len(after.parts)} now.",), moved=1),)
    return tuple(compare(old, new) for old, new in zip(before.parts, after.parts, strict=True))


def compare(before: AnswerPart, after: AnswerPart) -> Change:
    """What moved from `before` to `after`, matched by the plan's keys. Missing to missing is no change."""
    shape = read(after.plan, after.columns)
    if before.table.columns != after.table.columns:
        return Change(_columns_words(before.table.columns, after.table.columns), moved=1)
    change = _matched(before, after, shape)
    if before.table.height < before.total_rows or after.table.height < after.total_rows:
        cut = "Only the rows that the tables hold were compared."
        return Change((*change.words, cut), change.table, change.moved, change.new, change.gone)
    return change


def _columns_words(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    gone = [plain(name) for name in before if name not in after]
    new = [plain(name) for name in after if name not in before]
    told = [f"Columns gone: {joined(gone)}."] if gone else []
    told += [f"New columns: {joined(new)}."] if new else []
    return tuple(told) or ("The columns stand in another order.",)


def _matched(before: AnswerPart, after: AnswerPart, shape: Shape) -> Change:
    if before.table.height == after.table.height == 1 and not shape.keys:
        return _one_row(before, after, shape)
    keys = list(shape.keys)
    if not keys or not _unique(before.table, keys) or not _unique(after.table, keys):
        return _as_bags(before.table, after.table)
    return _by_keys(before, after, shape)


def _unique(table: pl.DataFrame, keys: Sequence[str]) -> bool:
    return table.height == 0 or pl.DataFrame([table[key] for key in keys]).n_unique() == table.height


def _as_bags(before: pl.DataFrame, after: pl.DataFrame) -> Change:
    """Rows without keys: how many are there on one side only."""
    new, gone = _surplus(after, before), _surplus(before, after)
    if not new and not gone:
        return Change((f"Nothing moved: the same {plural(after.height, 'row')}.",))
    told = [f"{plural(new, 'row')} {'is' if new == 1 else 'are'} new."] if new else []
    told += [f"{plural(gone, 'row')} {'is' if gone == 1 else 'are'} gone."] if gone else []
    return Change(tuple(told), None, 0, new, gone)


def _surplus(left: pl.DataFrame, right: pl.DataFrame) -> int:
    """How many rows of `left` are not matched by one of `right`, each counted as often as it stands."""
    names = [f"c{n}" for n in range(left.width)]
    sides = [_comparable(table, names).group_by(names).len() for table in (left, right)]
    both = sides[0].join(sides[1], on=names, how="left", nulls_equal=True, suffix="_right")
    surplus = both["len"].cast(pl.Int64) - both["len_right"].fill_null(0).cast(pl.Int64)
    return int(surplus.clip(0).sum())


def _comparable(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Cells as text that is equal when the values are, under safe names."""
    return pl.DataFrame([_text(column).alias(name) for column, name in zip(table.get_columns(), names, strict=True)])


def _text(column: pl.Series) -> pl.Series:
    if column.dtype.is_float() or column.dtype.is_decimal():
        return column.cast(pl.Float64).round_sig_figs(9).cast(pl.String)
    if column.dtype.is_nested():
        return pl.Series([None if value is None else str(value) for value in column.to_list()], dtype=pl.String)
    return column.cast(pl.String)


# --- one row ---------------------------------------------------------------------------------------------------------


def _one_row(before: AnswerPart, after: AnswerPart, shape: Shape) -> Change:
    told, moved = [], 0
    for column in after.columns:
        old, new = before.table[column.name][0], after.table[column.name][0]
        measure = shape.measure(column.name)
        phrase = measure.phrase if measure else words(column.name)
        if _equal(old, new):
            continue
        moved += 1
        told.append(
            _capital(f"{the(phrase)} went from {show(old, column)} to {show(new, column)}{_by(old, new, column)}.")
        )
    table = _one_row_table(before.table, after.table)
    return Change(tuple(told) or ("Nothing moved.",), table, moved)


def _one_row_table(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "column": after.columns,
            "before": [show(value) for value in before.row(0)],
            "after": [show(value) for value in after.row(0)],
        }
    )


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, (float, int)):
        return old == new or abs(old - new) <= NEAR * max(abs(old), abs(new))
    return bool(old == new)


def _by(old: Any, new: Any, column: AnswerColumn) -> str:
    """By how much, for two numbers."""
    if old is None or new is None or not column.kind.numeric or column.role in (Role.ID, Role.YEAR):
        return ""
    way = "up" if new > old else "down"
    apart = Result(read({}, [column]), {column.name: column}, pl.DataFrame(), 0).gap(
        column.name, min(old, new), max(old, new)
    )
    relative = column.role is not Role.PERCENT and old > 0 and new >= 0
    share = f", {percent(abs(exact(new) - exact(old)) / exact(old))}" if relative else ""
    return f" ({way} {apart}{share})"


# --- rows with keys --------------------------------------------------------------------------------------------------


def _by_keys(before: AnswerPart, after: AnswerPart, shape: Shape) -> Change:
    keys = list(shape.keys)
    rest = [column for column in after.columns if column.name not in keys]
    both = _joined(before.table, after.table, keys, [column.name for column in rest])
    differs = [_differs(both[f"b{n}"], both[f"a{n}"]) for n in range(len(rest))]
    moved = (
        pl.Series([False] * both.height, dtype=pl.Boolean)
        if not differs
        else pl.select(pl.any_horizontal(differs)).to_series()
    )
    new, gone = both["old"].is_null(), both["new"].is_null()
    state = pl.select(
        pl.when(new)
        .then(pl.lit("new"))
        .when(gone)
        .then(pl.lit("gone"))
        .when(moved)
        .then(pl.lit("moved"))
        .otherwise(pl.lit("same"))
    ).to_series()
    table = _table(both, keys, rest, state)
    counts = {name: int((state == name).sum()) for name in ("moved", "new", "gone")}
    told = _words(both, keys, rest, state, after, shape)
    return Change(told, table, counts["moved"], counts["new"], counts["gone"])


def _joined(before: pl.DataFrame, after: pl.DataFrame, keys: Sequence[str], rest: Sequence[str]) -> pl.DataFrame:
    """Both sides on one row a key, the newer order first; `b…` before, `a…` after, `old` and `new` mark presence."""
    ids = [f"k{n}" for n in range(len(keys))]
    sides = []
    for table, mark, letter in ((after, "new", "a"), (before, "old", "b")):
        columns = [_key(table[key], before[key], after[key]).alias(id) for key, id in zip(keys, ids, strict=True)]
        columns += [table[name].alias(f"{letter}{n}") for n, name in enumerate(rest)]
        sides.append(pl.DataFrame([*columns, pl.repeat(1, table.height, dtype=pl.Int8, eager=True).alias(mark)]))
    return sides[0].join(sides[1], on=ids, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")


def _key(column: pl.Series, one: pl.Series, other: pl.Series) -> pl.Series:
    plain_text = isinstance(column.dtype, (pl.Enum, pl.Categorical)) or one.dtype != other.dtype
    return column.cast(pl.String) if plain_text else column


def _differs(old: pl.Series, new: pl.Series) -> pl.Series:
    if old.dtype.is_numeric() and new.dtype.is_numeric():
        a, b = old.cast(pl.Float64), new.cast(pl.Float64)
        largest = pl.select(pl.max_horizontal(a.abs(), b.abs())).to_series()
        apart = ((a - b).abs() > NEAR * largest).fill_null(False)
        return apart | (a.is_null() != b.is_null())
    return _text(old).ne_missing(_text(new))


def _table(both: pl.DataFrame, keys: Sequence[str], rest: Sequence[AnswerColumn], state: pl.Series) -> pl.DataFrame:
    columns = [both[f"k{n}"].alias(name) for n, name in enumerate(keys)]
    for n, column in enumerate(rest):
        old, new = both[f"b{n}"], both[f"a{n}"]
        columns += [old.alias(f"{column.name} before"), new.alias(f"{column.name} after")]
        if column.kind.numeric and old.dtype.is_numeric() and new.dtype.is_numeric():
            columns.append((new.cast(pl.Float64) - old.cast(pl.Float64)).alias(f"{column.name} change"))
    names: dict[str, int] = {}
    unique = []
    for column_values in [*columns, state.alias(STATE)]:
        seen = names.get(column_values.name, 0)
        names[column_values.name] = seen + 1
        unique.append(column_values if not seen else column_values.alias(f"{column_values.name} ({seen + 1})"))
    return pl.DataFrame(unique)


def _words(
    both: pl.DataFrame,
    keys: Sequence[str],
    rest: Sequence[AnswerColumn],
    state: pl.Series,
    after: AnswerPart,
    shape: Shape,
) -> tuple[str, ...]:
    by_name = {column.name: column for column in after.columns}
    labels = pl.DataFrame([both[f"k{n}"].alias(key) for n, key in enumerate(keys)])
    result = Result(shape, by_name, labels, labels.height)
    moved, new, gone = ((state == name).arg_true().to_list() for name in ("moved", "new", "gone"))
    if not (moved or new or gone):
        return (f"Nothing moved: all {plural(both.height, 'row')} are as before.",)
    told = []
    if moved:
        told.append(f"{number(len(moved))} of {plural(both.height, 'row')} moved.")
        told += [
            sentence for row in _largest(both, rest, moved)[:NAMED] if (sentence := _moved(both, rest, row, result))
        ]
    told += [f"{number(len(new))} new: {_some(result, new)}."] if new else []
    told += [f"{number(len(gone))} gone: {_some(result, gone)}."] if gone else []
    return tuple(told)


def _largest(both: pl.DataFrame, rest: Sequence[AnswerColumn], rows: list[int]) -> list[int]:
    """The moved rows, the largest change of the first number first."""
    first = next((n for n, column in enumerate(rest) if column.kind.numeric and both[f"a{n}"].dtype.is_numeric()), None)
    if first is None:
        return rows
    apart = (both[f"a{first}"].cast(pl.Float64) - both[f"b{first}"].cast(pl.Float64)).abs().fill_null(0.0).to_list()
    return sorted(rows, key=lambda row: -apart[row])


def _moved(both: pl.DataFrame, rest: Sequence[AnswerColumn], row: int, result: Result) -> str | None:
    for n, column in enumerate(rest):
        old, new = both[f"b{n}"][row], both[f"a{n}"][row]
        if not _equal(old, new):
            measure = result.shape.measure(column.name)
            phrase = measure.phrase if measure else words(column.name)
            return f"{result.label(row)}: {phrase} {show(old, column)} → {show(new, column)}{_by(old, new, column)}."
    return None


def _some(result: Result, rows: Sequence[int]) -> str:
    named = [result.label(row) for row in rows[:NAMED]]
    return joined(named) if len(rows) <= NAMED else f"{', '.join(named)} and {len(rows) - NAMED} more"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


__all__ = ["MISSING", "Change", "answers", "compare"]
