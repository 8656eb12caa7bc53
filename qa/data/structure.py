"""Where the table is among the records: preamble, header rows, units, totals, footers, and other tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from qa.data.beside import COMMENT, footers, totals
from qa.data.cells import TYPED, kind_of
from qa.data.headings import (
    BODY_ROWS,
    Row,
    filled,
    join_names,
    names_above,
    names_below,
    reach,
    same_cells,
    strength,
    units_row,
    usual,
    valued_columns,
    words_only,
)

HEAD_ROWS = 60
"""How far down a header is looked for."""

LOOKS = 1000
"""How many rows are looked at closely for the start of another table: ragged text offers endless candidates."""


@dataclass(frozen=True)
class Block:
    """One table inside a file, by record positions from 0: header rows, maybe units, then body up to `end` (excluded).

    `weak` says that nothing but distinct names spoke for the header.
    """

    start: int
    header: tuple[int, ...]
    units: int | None
    end: int
    weak: bool = False

    @property
    def body(self) -> int:
        return max((*self.header, -1 if self.units is None else self.units, self.start - 1)) + 1


@dataclass(frozen=True)
class Layout:
    """The table of a file and everything beside it. Positions count records from 0."""

    block: Block
    width: int
    headers: tuple[str, ...]
    units: tuple[str, ...] | None
    body: tuple[int, ...]
    totals: tuple[int, ...] = ()
    skipped: dict[int, str] = field(default_factory=dict)
    """position -> why it is not data"""
    others: tuple[Block, ...] = ()
    called_total: tuple[int, ...] = ()
    """records that are called total and were kept as data"""
    names_short: int = 0
    """how many cells the usual record has beyond the header"""
    index_column: bool = False
    """the first column had no header cell of its own: the header was one cell short"""

    @property
    def header_found(self) -> bool:
        return bool(self.block.header)


def find_table(
    rows: Sequence[Row], *, header: int | None = None, table: int | None = None, summing: str = "drop"
) -> Layout:
    """The layout of the records. `header` is a row number from 1, or 0 for no header; `table` picks the n-th table;
    `summing` says what becomes of rows that sum up others: `drop` those proven so, `all` that are called so, or `keep` them."""
    if header is not None:
        return _lay_out(rows, _given(rows, header), (), set(), summing)
    comments = _comments(rows) | _rules(rows)
    live = [at for at, row in enumerate(rows) if at not in comments and filled(row)]
    if not live:
        return Layout(Block(0, (), None, 0), 0, (), None, (), skipped=dict.fromkeys(comments, "comment"))
    starts = [live[0], *_restarts(rows, live)]
    ends = [*starts[1:], live[-1] + 1]
    blocks = [_block(rows, start, end, comments) for start, end in zip(starts, ends, strict=True)]
    chosen = blocks[min(table, len(blocks)) - 1] if table else _largest(rows, blocks)
    return _lay_out(rows, chosen, tuple(block for block in blocks if block is not chosen), comments, summing)


def _given(rows: Sequence[Row], header: int) -> Block:
    if header > 0:
        return Block(header - 1, (header - 1,), None, len(rows))
    first = next((at for at, row in enumerate(rows) if filled(row)), 0)
    return Block(first, (), None, len(rows))


def _comments(rows: Sequence[Row]) -> set[int]:
    """Leading lines that a comment sign opens; the last of them is kept when it is the header itself."""
    found: list[int] = []
    below: list[Row] = []
    for at, row in enumerate(rows[:500]):
        if not filled(row):
            continue
        if below or not COMMENT.match(row[0]):
            below.append(row)
        else:
            found.append(at)
    if not below or not found:
        return set()
    last = rows[found[-1]]
    names_columns = len(last) == len(below[0]) and (len(last) > 1 or len(found) == 1)
    if names_columns and strength(last, below) > 0.5:
        found.pop()
    return set(found)


RULE = re.compile(r"[-=+:|_ ]*[-=]{2}[-=+:|_ ]*")


def _rules(rows: Sequence[Row]) -> set[int]:
    """Drawn lines: `+---+---+` anywhere, `---,---` right under the first row."""
    live = list(islice((at for at, row in enumerate(rows) if filled(row)), 3))
    return {
        at
        for at, row in enumerate(rows)
        if row
        and row[0][:1] in ("-", "=", "+", "|", ":", " ", "")
        and RULE.fullmatch("|".join(row))
        and ("+-" in "".join(row) or at in live[:2])
        and len(live) > 2
    }


def _remarks(rows: Sequence[Row], body: Sequence[int], comments: set[int]) -> set[int]:
    """Lone cells among the data that open with the sign of the comments above."""
    signs = tuple({rows[at][0].lstrip()[0] for at in comments if COMMENT.match(rows[at][0])} - {"-"})
    return {at for at in body if signs and rows[at][0].lstrip().startswith(signs) and filled(rows[at]) == 1}


# --- several tables ----------------------------------------------------------------------------------------------


def _restarts(rows: Sequence[Row], live: list[int]) -> list[int]:
    """Positions where another table begins: a header over rows unlike those before it."""
    result: list[int] = []
    current = looks = 0
    for place in range(2, len(live) - 1):
        row, before = rows[live[place]], rows[live[place - 1]]
        if place - current < 2 or not words_only(row) or filled(row) < 2:
            continue
        titled = filled(before) == 1 and place - current > 2 and live[place - 1] - live[place - 2] > 1
        gap = titled or live[place] - live[place - 1] > 1
        other = len(row) != len(before) or reach(row) != reach(before)
        if not (gap or other or _over_values(rows, live, place)):
            continue
        looks += 1
        if looks > LOOKS:
            break
        if same_cells(row, _heading(rows, live[current : min(place, current + HEAD_ROWS)])):
            new = _again(rows, live, current, place)
        else:
            new = _begins(rows, live, current, place, gap)
        if new:
            result.append(live[place])
            current = place
    return result


def _again(rows: Sequence[Row], live: list[int], current: int, place: int) -> bool:
    """The whole table stands in the file a second time, cell for cell, and ends there or begins once more."""
    count = place - current
    after = place + count
    ends = after == len(live) or (after < len(live) and rows[live[after]] == rows[live[place]])
    return count > 2 and ends and all(rows[live[current + at]] == rows[live[place + at]] for at in range(count))


def _heading(rows: Sequence[Row], live: list[int]) -> list[str]:
    head = _header_row(rows, live[:HEAD_ROWS])
    return [cell.strip() for cell in rows[live[0] if head is None else head]]


def _over_values(rows: Sequence[Row], live: list[int], place: int) -> bool:
    """Distinct words in at least two columns that hold values right above and right below."""
    row = rows[live[place]]
    names = [cell.strip().casefold() for cell in row if cell.strip()]
    if len(set(names)) < len(names) or len(names) < 2:
        return False
    above, below = rows[live[place - 1]], rows[live[place + 1]]
    return sum(_is_value(above, at) and _is_value(below, at) and bool(cell.strip()) for at, cell in enumerate(row)) >= 2


def _is_value(row: Row, at: int) -> bool:
    return at < len(row) and kind_of(row[at]) in TYPED


def _begins(rows: Sequence[Row], live: list[int], current: int, place: int, gap: bool) -> bool:
    row = rows[live[place]]
    after = [rows[at] for at in live[place + 1 : place + 31]]
    above = [rows[at] for at in live[max(current + 1, place - 30) : place]]
    pairs = sum(filled(other) <= 2 and other[0].rstrip().endswith(":") for other in above)
    if len(after) < 2 or not above or pairs * 2 >= len(above) or strength(row, after) <= 0:
        return False
    alike = sum(len(other) == len(row) or reach(other) == reach(row) for other in after[:10])
    if alike < 0.8 * len(after[:10]):
        return False
    long, far = _common(map(len, above)), _common(map(reach, above))
    unlike = len(row) != long or (len(row) == long and reach(row) != far)
    data = [other for other in above if not words_only(other)]
    values = sum(bool(row[at].strip()) for at in valued_columns(data) & valued_columns(after) if at < len(row))
    return unlike or values >= 2 or (gap and values >= 1)


def _common(counts: Iterable[int]) -> int:
    return Counter(counts).most_common(1)[0][0]


def _largest(rows: Sequence[Row], blocks: list[Block]) -> Block:
    """The table with most filled cells; an earlier one unless a later one is half as large again."""
    best, most = blocks[0], -1.0
    for block in blocks:
        size = sum(filled(row) for row in rows[block.body : block.end])
        if most < 0 or size > most * 1.5:
            best, most = block, size
    return best


def _block(rows: Sequence[Row], start: int, end: int, comments: set[int]) -> Block:
    live = [at for at in range(start, min(end, start + 2000)) if filled(rows[at]) and at not in comments]
    head = _header_row(rows, live)
    if head is None:
        return Block(_first_full(rows, live) if live else start, (), None, end)
    header = (*names_above(rows, head, start), head, *(() if head + 1 in comments else names_below(rows, head, end)))
    below = [rows[at] for at in live if at > header[-1]][:BODY_ROWS]
    return Block(start, header, units_row(rows, header[-1] + 1, end), end, weak=strength(rows[head], below) == 0.5)


# --- the header --------------------------------------------------------------------------------------------------


def _header_row(rows: Sequence[Row], live: list[int]) -> int | None:
    """Position of the header among the live records, or None when the first full record is data."""
    if not live:
        return None
    first = _first_full(rows, live)
    below = [rows[at] for at in live if at > first][:BODY_ROWS]
    if not below:
        return first if words_only(rows[first]) else None
    return first if strength(rows[first], below) > 0 else None


def _first_full(rows: Sequence[Row], live: list[int]) -> int:
    """The first record that belongs to the table: what stands above it is a title, a date, a `key: value` line."""
    sample = live[: HEAD_ROWS * 5]
    full = usual(filled(rows[at]) for at in sample)
    far = usual(reach(rows[at]) for at in sample)
    broad = _common(map(reach, (rows[at] for at in sample)))
    for place, at in enumerate(live[:HEAD_ROWS]):
        if place == len(live) - 1:
            break
        if reach(rows[at]) > broad and _better_below(rows, live, place, broad):
            continue
        if filled(rows[at]) >= max(full, 2) or not _above(rows, live, place, full, far):
            return at
    return live[0]


def _better_below(rows: Sequence[Row], live: list[int], place: int, broad: int) -> bool:
    """The record is wider than the table and the next one is its header: a title with the delimiter in it."""
    below = [rows[at] for at in live[place + 1 : place + HEAD_ROWS]]
    return len(below) > 2 and reach(below[0]) == broad and words_only(below[0]) and strength(below[0], below[1:]) > 0


def _above(rows: Sequence[Row], live: list[int], place: int, full: int, far: int) -> bool:
    """The record is no part of the table: thin, and wider records or a blank row follow before the table."""
    row = rows[live[place]]
    count, wide = filled(row), reach(row)
    first = next(cell for cell in row if cell.strip())
    head = live[place : place + HEAD_ROWS]
    if count == 1 and (full > 2 or (far > 2 and wide == 1) or (count < full and not row[0].strip())):
        return True
    if count <= 2 and first.rstrip().endswith(":") and (full > 2 or far > 2):
        return True
    body = next((at for at in head[1:] if filled(rows[at]) >= full), None)
    if body is None or count >= full:
        return False
    gap = next((low for high, low in pairwise(head) if low - high > 1), None)
    if count == 1 < full and (gap is not None and gap <= body):
        return True
    below = [rows[at] for at in head if at > body]
    if gap is not None and gap <= body and count < 0.75 * full:
        return bool(below)
    return count == 1 < full and words_only(rows[body]) and strength(rows[body], below) > 0.5


# --- what is not data --------------------------------------------------------------------------------------------


def _lay_out(rows: Sequence[Row], block: Block, others: tuple[Block, ...], comments: set[int], summing: str) -> Layout:
    skipped = dict.fromkeys(comments, "comment")
    for other in others:
        skipped |= {at: "another table" for at in range(other.start, other.end) if filled(rows[at])}
    first = min(block.header, default=block.body)
    skipped |= {at: "above the table" for at in range(first) if at not in skipped and filled(rows[at])}
    body = [at for at in range(block.body, block.end) if at not in skipped and filled(rows[at])]
    heading = [cell.strip() for cell in rows[block.header[-1]]] if block.header else None
    skipped |= dict.fromkeys(_remarks(rows, body, comments), "comment")
    skipped |= {at: "header repeated" for at in body if heading and same_cells(rows[at], heading)}
    skipped |= dict.fromkeys(footers(rows, [at for at in body if at not in skipped]), "below the table")
    data = [at for at in body if at not in skipped]
    summed, called = totals(rows, data)
    if summing != "drop":
        summed, called = (summed | set(called), ()) if summing == "all" else (set(), ())
    skipped |= dict.fromkeys(summed, "total of the rows above")
    data = [at for at in data if at not in summed]
    names = _without_gap([list(rows[at]) for at in block.header], rows, data)
    index_column = _index_column(names, rows, data)
    if index_column:
        names = [["", *row] for row in names]
    width = _width(names, rows, data)
    units = None if block.units is None else tuple((list(rows[block.units]) + [""] * width)[:width])
    return Layout(
        block=block,
        width=width,
        headers=join_names(names, width),
        units=units,
        body=tuple(data),
        totals=tuple(sorted(summed)),
        skipped=dict(sorted(skipped.items())),
        others=others,
        called_total=called,
        names_short=_common(len(rows[at]) for at in data) - width if names and data else 0,
        index_column=index_column,
    )


def _without_gap(names: list[list[str]], rows: Sequence[Row], data: list[int]) -> list[list[str]]:
    """The header less its one blank name, when every record has just one cell less than the header."""
    if len(names) != 1 or len(data) < 3:
        return names
    blank = [at for at, name in enumerate(names[0]) if not name.strip()]
    if len(blank) != 1 or any(len(rows[at]) != len(names[0]) - 1 for at in data):
        return names
    return [[name for at, name in enumerate(names[0]) if at != blank[0]]]


def _width(names: list[list[str]], rows: Sequence[Row], data: list[int]) -> int:
    """The cells of the header; more when a quarter of the rows reach further, or the usual cells without a header."""
    if not names:
        widths = Counter(len(rows[at]) for at in data)
        enough = [
            width
            for width in widths
            if sum(count for other, count in widths.items() if other >= width) >= 0.1 * len(data)
        ]
        return max(enough, default=0)
    header = max(len(row) for row in names)
    beyond = Counter(reach(rows[at]) for at in data if reach(rows[at]) > header)
    least = max(0.25 * len(data), 1 if len(data) > 2 else 0)
    enough = [width for width in beyond if sum(count for other, count in beyond.items() if other >= width) > least]
    return max(enough, default=header)


def _index_column(names: list[list[str]], rows: Sequence[Row], data: list[int]) -> bool:
    """The header is one cell short on the left: every row has one more filled cell, and the first ones are row names."""
    if len(names) != 1 or len(data) < 2 or not all(cell.strip() for cell in names[0]):
        return False
    head = len(names[0])
    sample = [rows[at] for at in data[:BODY_ROWS]]
    if not all(len(row) == head + 1 and row[-1].strip() for row in sample):
        return False
    first = [row[0].strip() for row in sample]
    if len(set(first)) < len(first):
        return False
    counted = first in ([str(at) for at in range(len(first))], [str(at + 1) for at in range(len(first))])
    return counted or strength(["", *names[0]], sample) > strength(names[0], sample)
