"""Put records right that the dialect alone cuts wrongly: stray quotes, another delimiter, cells run together or torn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qa.data.cells import TYPED, kind_of
from qa.data.cutting import Dialect, Records, cut, loose, modal_width

MENDABLE = 0.1
"""Of more than this share of wrong records the fault is not in the records."""

TRIES = 2_000_000
"""Cells that may be looked at for mending, over all rows."""

OTHER_MARKS = ("\t", ";", "|", ",", " ")


@dataclass(frozen=True)
class Mended:
    """The records after mending, and (record, what was done) for each one touched."""

    rows: list[list[str]]
    repairs: tuple[tuple[int, str], ...] = ()


def closed(records: Records) -> Records:
    """The records with stray quotes read as ordinary characters.

    A quote is stray when it is never closed, or when the lines it swallows are records of the usual width by themselves.
    """
    suspects = list(_suspects(records))
    if not suspects:
        return records
    rows: list[list[str]] = []
    starts: list[int] = []
    done = 0
    for record, pieces in suspects:
        rows += records.rows[done:record]
        starts += records.starts[done:record]
        rows += pieces
        starts += range(records.starts[record], records.starts[record] + len(pieces))
        done = record + 1
    rows += records.rows[done:]
    starts += records.starts[done:]
    return replace(records, rows=rows, starts=starts)


def _suspects(records: Records) -> Iterator[tuple[int, list[list[str]]]]:
    quote = records.dialect.quote
    if not quote or len(records.starts) == len(records.lines):
        return
    usual = modal_width(records.rows)
    for record, row in enumerate(records.rows):
        lines = records.raw(record)
        if len(lines) < 2:
            continue
        ends_open = record == len(records.rows) - 1 and _is_open("".join(lines), records.dialect)
        if len(row) == usual and not ends_open:
            continue
        pieces = [loose(line, records.dialect) for line in lines]
        if ends_open or sum(len(piece) == usual for piece in pieces) * 2 > len(pieces):
            yield record, pieces


def _is_open(text: str, dialect: Dialect) -> bool:
    if dialect.escape:
        text = text.replace(dialect.escape * 2, "").replace(dialect.escape + (dialect.quote or ""), "")
    return text.count(dialect.quote or '"') % 2 == 1


def mend(records: Records) -> Mended:
    """Records of another width than the rest, when they are few: cut anew, or their cells moved to where they fit."""
    rows = records.rows
    usual = modal_width(rows)
    wrong = [at for at, row in enumerate(rows) if row and len(row) != usual and any(cell.strip() for cell in row)]
    live = sum(1 for row in rows if row)
    blanks = records.dialect.delimiter == " "
    if usual < 3 or not wrong or len(wrong) > max((0.9 if blanks else MENDABLE) * live, 1):
        return Mended(rows)
    columns = column_kinds(rows, usual)
    result = list(rows)
    repairs: list[tuple[int, str]] = []
    for at in wrong[: TRIES // (usual * max(len(columns), 1)) + 1]:
        found = _cut_anew(records, at, usual, columns) or moved(rows[at], usual, columns, records.dialect)
        if found is not None:
            result[at], how = found
            repairs.append((at, how))
    return Mended(result, tuple(repairs))


def column_kinds(rows: Sequence[Sequence[str]], usual: int) -> dict[int, str]:
    """The kind of each column that nearly always holds one and the same kind of value."""
    body = [row for row in rows if len(row) == usual]
    step = max(len(body) // 300, 1)
    result: dict[int, str] = {}
    for column, cells in enumerate(zip(*body[::step], strict=True)):
        kinds = Counter(kind for kind in map(kind_of, cells) if kind != "empty")
        if kinds:
            kind, count = kinds.most_common(1)[0]
            if kind in TYPED and count >= 0.9 * kinds.total():
                result[column] = kind
    return result


def _fit(row: Sequence[str], columns: dict[int, str]) -> int:
    """How many of the typed columns get a cell of their kind, less those that get another."""
    kinds = {column: kind_of(row[column]) if column < len(row) else "empty" for column in columns}
    return sum((kinds[column] == kind) - (kinds[column] not in (kind, "empty")) for column, kind in columns.items())


def _cut_anew(records: Records, at: int, usual: int, columns: dict[int, str]) -> tuple[list[str], str] | None:
    """The record under forgiving quotes or another delimiter, when that gives the usual cells with the usual kinds."""
    lines = records.raw(at)
    if len(lines) != 1 or not columns:
        return None
    plain = _fit(records.rows[at], columns)
    for row in (loose(lines[0], records.dialect), *_less_a_quote(lines[0], records.dialect)):
        if len(row) == usual and (_fit(row, columns) > plain or _is_header(row, at, records, columns)):
            return row, "a stray quote was read as a character"
    for mark in OTHER_MARKS:
        if mark == records.dialect.delimiter or mark not in lines[0]:
            continue
        other = Dialect(mark, records.dialect.quote, records.dialect.escape)
        row = next(iter(cut(lines[0], other).rows), [])
        if mark == " " and len(row) > usual and (again := moved(row, usual, columns, other)):
            row = again[0]
        if len(row) == usual and (_fit(row, columns) >= 0.7 * len(columns) or _is_header(row, at, records, columns)):
            return row, f"the row is parted by {mark!r}"
    return None


STRAY = "\ue001"
"""Stands for a quote that is read as an ordinary character."""


def _less_a_quote(line: str, dialect: Dialect) -> Iterator[list[str]]:
    """The line with each one of its quotes in turn read as a character, when their number is odd and small."""
    quote = dialect.quote or "\0"
    places = [at for at, char in enumerate(line) if char == quote]
    if len(places) % 2 == 0 or len(places) > 99 or len(line) > 10_000:
        return
    for at in places:
        rows = cut(line[:at] + STRAY + line[at + 1 :], dialect).rows
        if len(rows) == 1:
            yield [cell.replace(STRAY, quote) for cell in rows[0]]


def _is_header(row: list[str], at: int, records: Records, columns: dict[int, str]) -> bool:
    """Distinct names at the very top, right over a record of values."""
    below = records.rows[at + 1] if at + 1 < len(records.rows) else []
    names = {cell.strip().casefold() for cell in row}
    named = "" not in names and len(names) == len(row) and not any(kind_of(cell) in TYPED for cell in row)
    return named and not any(records.rows[:at]) and _fit(below, columns) >= 0.7 * len(columns)


def moved(row: list[str], usual: int, columns: dict[int, str], dialect: Dialect) -> tuple[list[str], str] | None:
    """Cells moved so that every typed column gets its kind: a torn cell joined, or a missing one left empty."""
    if not columns or abs(len(row) - usual) > (12 if dialect.delimiter == " " else 3) or len(row) < 2:
        return None
    plain = (row + [""] * usual)[:usual]
    surplus = len(row) - usual
    if surplus > 0 and not any(cell.strip() for cell in row[usual:]):
        return None
    tries = list(_joined(row, surplus, dialect) if surplus > 0 else _spread(row, -surplus))
    best = max(_fit(other, columns) for other in tries)
    if best <= _fit(plain, columns) or best < 0.6 * len(columns):
        return None
    best_row = next(other for other in tries if _fit(other, columns) == best)
    return (
        best_row,
        "a cell that held the delimiter was put together" if surplus > 0 else "a missing cell was left empty",
    )


def _joined(row: list[str], surplus: int, dialect: Dialect) -> Iterator[list[str]]:
    for at in range(len(row) - surplus):
        pieces = row[at : at + surplus + 1]
        apart = dialect.delimiter == " " or all(piece.strip() for piece in pieces)
        whole = dialect.joint.join(pieces) if apart else "".join(pieces)
        yield [*row[:at], whole, *row[at + surplus + 1 :]]


def _spread(row: list[str], missing: int) -> Iterator[list[str]]:
    for at in range(len(row), 0, -1):
        yield [*row[:at], *[""] * missing, *row[at:]]
