"""Where the table is among the records: preamble, header rows, units, totals, footers, and other tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from qa.data.dialect import kind_of

Row = Sequence[str]

HEAD_ROWS = 60
"""How far down a header is looked for."""


@dataclass(frozen=True)
class Block:
    """One table inside a file, by record positions counted from 0: header rows, then body up to `end` (excluded)."""

    start: int
    header: tuple[int, ...]
    units: int | None
    end: int

    @property
    def body(self) -> int:
        last = max((*self.header, -1 if self.units is None else self.units, self.start - 1))
        return last + 1


@dataclass(frozen=True)
class Layout:
    """The table of a file and everything beside it. Positions count records from 0."""

    block: Block
    width: int
    headers: tuple[str, ...]
    units: tuple[str, ...] | None
    body: tuple[int, ...]
    """positions of the data records"""
    totals: tuple[int, ...] = ()
    skipped: dict[int, str] = field(default_factory=dict)
    """position -> why it is not data"""
    others: tuple[Block, ...] = ()
    kept_totals: tuple[int, ...] = ()
    """records that are called total and were kept as data"""

    @property
    def header_found(self) -> bool:
        return bool(self.block.header)


COMMENT = re.compile(r"\s*(?:#|//|--|%|\*|;|!)")
NOTE = re.compile(
    r"\s*(?:\*|†|‡|\(?\d\)|note|notes|source|sources|footnote|disclaimer|generated|created|exported|©|quelle|hinweis|anmerkung|fuente|nota|nb\b)",
    re.IGNORECASE,
)
TOTAL = re.compile(
    r"\s*(?:(?:grand|sub|overall|running|report|column|sum)[\s-]*)?"
    r"(?:total|totals|totaal|totale|totaux|sum|summe|gesamt|gesamtsumme|zwischensumme|insgesamt|subtotal|somme|suma|итого|всего|合計|总计|合计|小计|小計|toplam|łącznie|razem)"
    r"(?:\s*(?::|general|général|gesamt|of .*|for .*|\(.*\)))?\s*:?\s*",
    re.IGNORECASE,
)  # fmt: skip
UNIT = re.compile(
    r"\s*(?:[\[(]\s*[^\[\]()]{0,16}\s*[\])]|[%‰°€$£¥]|°\s?[CFK]|(?:k|M|G|m|c|d|µ|u|n|h)?(?:m|g|l|L|s|W|Wh|V|A|Hz|Pa|J|N|K|B|b|bar|mol)(?:[²³23]|\^-?\d)?(?:\s?/\s?(?:k|m|c)?(?:m|g|l|L|s|h|d|a|km|mol)(?:[²³23]|\^\d)?)?"
    r"|km/h|mph|kn|min|sec|hours?|days?|years?|months?|hrs?|lbs?|oz|ft|in|mi|yd|ppm|ppb|psi|rpm|dB|USD|EUR|GBP|CHF|JPY|pcs|Stk|mm Hg|hPa|deg|degrees|percent|count|units?|none|-|unitless|mg/dl|kcal|kWh)\s*"
)  # fmt: skip
TYPED = frozenset({"number", "date", "time", "address"})


def filled(row: Row) -> int:
    """How many cells of a record hold something."""
    return sum(1 for cell in row if cell and not cell.isspace())


def find_table(rows: Sequence[Row], *, header: int | None = None, table: int | None = None) -> Layout:
    """The layout of the records. `header` is a row number from 1, or 0 for no header; `table` picks the n-th table."""
    if header is not None:
        return _lay_out(rows, _given_header(rows, header), (), set())
    tops = _comments(rows)
    blocks = _blocks(rows, tops)
    if not blocks:
        return Layout(Block(0, (), None, 0), 0, (), None, (), skipped=dict.fromkeys(tops, "comment"))
    chosen = blocks[min(table, len(blocks)) - 1] if table else _largest(rows, blocks)
    return _lay_out(rows, chosen, tuple(block for block in blocks if block is not chosen), tops)


def _given_header(rows: Sequence[Row], header: int) -> Block:
    if header <= 0:
        first = next((index for index, row in enumerate(rows) if filled(row)), 0)
        return Block(first, (), None, len(rows))
    return Block(header - 1, (header - 1,), None, len(rows))


def _comments(rows: Sequence[Row]) -> set[int]:
    """Leading lines that a comment sign opens, when what follows is wider or they are several."""
    result: set[int] = set()
    for index, row in enumerate(rows[:500]):
        if not filled(row):
            continue
        if not COMMENT.match(row[0]):
            break
        result.add(index)
    later = [row for index, row in enumerate(rows[:500]) if index not in result and filled(row)]
    if not later or not result:
        return set()
    last = rows[max(result)]
    usual = _usual(later)
    # `# energy, n` right above numbers is the header itself, written as a comment.
    if len(last) == len(later[0]) and (usual > 1 or len(result) == 1) and _reads_as_header(last, later):
        result.discard(max(result))
    return result


def _usual(rows: Sequence[Row]) -> int:
    """The number of filled cells that a record of these usually has, leaning to the fuller ones."""
    counts = sorted(filled(row) for row in rows if filled(row))
    return counts[int(len(counts) * 0.6)] if counts else 0


# --- several tables ----------------------------------------------------------------------------------------------


def _blocks(rows: Sequence[Row], tops: set[int]) -> list[Block]:
    """Each table of the file: stretches parted by blank rows or by a change of width under a new header."""
    live = [index for index, row in enumerate(rows) if filled(row) and index not in tops]
    if not live:
        return []
    starts = [live[0], *_restarts(rows, live)]
    ends = [*starts[1:], live[-1] + 1]
    return [_block(rows, start, end, tops) for start, end in zip(starts, ends, strict=True)]


def _restarts(rows: Sequence[Row], live: list[int]) -> list[int]:
    """Positions where another table begins."""
    first = _span_header(rows, live[0], live[-1] + 1)
    heading = [cell.strip() for cell in rows[first]] if first is not None else None
    result: list[int] = []
    current = live[0]
    for before, index in zip(live, live[1:], strict=False):
        row = rows[index]
        if index - current < 2 or (heading is not None and [cell.strip() for cell in row] == heading):
            continue
        gap = index - before > 1
        changed = len(_trimmed(row)) != len(_trimmed(rows[before]))
        if (gap or changed) and filled(row) >= 2 and _begins_table(rows, current, index, live):
            result.append(index)
            current = index
    return result


def _trimmed(row: Row) -> Row:
    last = max((index for index, cell in enumerate(row) if cell.strip()), default=-1)
    return row[: last + 1]


def _begins_table(rows: Sequence[Row], current: int, index: int, live: list[int]) -> bool:
    """A header-like row over at least two records of its own width, unlike the records above it."""
    after = [rows[at] for at in live if at > index][:30]
    above = [rows[at] for at in live if current <= at < index][-30:]
    if len(after) < 2 or len(above) < 2:
        return False
    mine, theirs = len(_trimmed(rows[index])), Counter(len(row) for row in above).most_common(1)[0][0]
    follow = sum(len(row) == len(rows[index]) or len(_trimmed(row)) == mine for row in after[:10])
    other_width = len(rows[index]) != theirs
    padded = len(rows[index]) == theirs and mine != Counter(len(_trimmed(row)) for row in above).most_common(1)[0][0]
    if follow < min(len(after), 10) * 0.8 or not (other_width or padded):
        return False
    return _header_strength(rows[index], after) > 0 and all(
        kind_of(cell) not in TYPED for cell in _trimmed(rows[index])
    )


def _block(rows: Sequence[Row], start: int, end: int, tops: set[int]) -> Block:
    head = _span_header(rows, start, end, tops)
    if head is None:
        return Block(start, (), None, end)
    names = _header_rows(rows, start, head, end, tops)
    units = _units_row(rows, names[-1] + 1, end)
    return Block(start, names, units, end)


def _largest(rows: Sequence[Row], blocks: list[Block]) -> Block:
    """The table with most filled cells; an earlier one unless a later one is half as large again."""
    sizes = [sum(filled(row) for row in rows[block.body : block.end]) for block in blocks]
    best = 0
    for index, size in enumerate(sizes):
        if size > sizes[best] * 1.5:
            best = index
    return blocks[best]


# --- the header --------------------------------------------------------------------------------------------------


def _span_header(rows: Sequence[Row], start: int, end: int, tops: set[int] = frozenset()) -> int | None:  # type: ignore[assignment]
    """Position of the (lowest) header row between start and end, or None when the first full record is data."""
    live = [index for index in range(start, end) if filled(rows[index]) and index not in tops]
    if not live:
        return None
    first = _first_full(rows, live)
    place = live.index(first)
    below = [rows[index] for index in live[place + 1 : place + 201]]
    if not below:
        return first if _words_only(rows[first]) else None
    if _reads_as_header(rows[first], below):
        return first
    return None


def _first_full(rows: Sequence[Row], live: list[int]) -> int:
    """The first record that is as full as the records usually are: what stands above it is a preamble."""
    head = live[:HEAD_ROWS]
    usual = _usual([rows[index] for index in live[: HEAD_ROWS * 5]])
    if usual <= 1:
        return head[0]
    for place, index in enumerate(head[:-1]):
        if filled(rows[index]) >= usual:
            return index
        if not _above_table(rows, head, place, usual):
            return index
    return head[0]


def _above_table(rows: Sequence[Row], head: list[int], place: int, usual: int) -> bool:
    """A title, a `key: value` line, or anything thin with a blank row between it and the table."""
    row = rows[head[place]]
    count = filled(row)
    first = next(cell for cell in row if cell.strip())
    if count == 1 or (count <= 2 and first.rstrip().endswith(":")):
        return usual > 2 or count < usual
    gap = next(
        (below for above, below in zip(head[place:], head[place + 1 :], strict=False) if below - above > 1), None
    )
    full = next((index for index in head[place + 1 :] if filled(rows[index]) >= usual), None)
    if full is not None and gap is not None and gap <= full and count < usual * 0.75:
        return True
    return (
        full == head[min(place + 1, len(head) - 1)]
        and count <= usual * 0.6
        and _words_only(row)
        and _reads_as_header(rows[full], [rows[index] for index in head if index > full])
    )


def _words_only(row: Row) -> bool:
    cells = [cell for cell in row if cell.strip()]
    return bool(cells) and all(kind_of(cell) not in TYPED for cell in cells)


def _reads_as_header(row: Row, below: Sequence[Row]) -> bool:
    return _header_strength(row, below) > 0


YEARISH = re.compile(
    r"\s*(?:(?:19|20)\d{2}|(?:19|20)\d{2}\s?[-/]\s?\d{2,4}|Q[1-4].*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ]\d{2,4})\s*",
    re.IGNORECASE,
)


def _header_strength(row: Row, below: Sequence[Row]) -> float:
    """Votes of the columns: for a header where names stand over values, against where the cell is one more value."""
    votes = 0.0
    cells = [cell.strip() for cell in row]
    for column, cell in enumerate(cells):
        body = [other[column].strip() for other in below if column < len(other) and other[column].strip()]
        votes += _column_vote(cell, body)
    names = [cell for cell in cells if cell]
    if not names:
        return -1.0
    if (
        len({name.casefold() for name in names}) == len(names)
        and votes == 0
        and all(not _valueish(name) for name in names)
    ):
        votes += 0.5
    return votes


def _valueish(cell: str) -> bool:
    return kind_of(cell) in TYPED


def _column_vote(cell: str, body: list[str]) -> float:
    if not body or not cell:
        return 0.0
    kinds = Counter(map(kind_of, body[:100]))
    kind, count = kinds.most_common(1)[0]
    mine = kind_of(cell)
    if mine == "empty":
        return 0.0
    if kind in TYPED and count >= 0.7 * sum(kinds.values()):
        if mine in TYPED:
            return 0.3 if YEARISH.fullmatch(cell) and not all(YEARISH.fullmatch(other) for other in body[:20]) else -1.5
        return 1.0
    if mine in TYPED:
        return 0.2 if YEARISH.fullmatch(cell) else -0.7
    if cell in body:
        return -0.6
    return _text_vote(cell, body)


def _text_vote(cell: str, body: list[str]) -> float:
    """Text over text: codes of one length and shape make a name that differs stand out."""
    lengths = {len(other) for other in body[:100]}
    if len(body) >= 3 and len(lengths) == 1:
        return 0.4 if len(cell) not in lengths else -0.4
    digits = sum(any(char.isdigit() for char in other) for other in body[:100]) / len(body[:100])
    if digits > 0.8:
        return 0.3 if not any(char.isdigit() for char in cell) else -0.3
    return 0.0


def _header_rows(rows: Sequence[Row], start: int, head: int, end: int, tops: set[int]) -> tuple[int, ...]:
    """The header row with the rows that belong to it: group names above, more name rows below."""
    above = head - 1
    names = [head]
    if above >= start and above not in tops and _groups(rows[above], rows[head]):
        names.insert(0, above)
    at = head + 1
    while at < end - 1 and len(names) < 5 and _more_names(rows, head, at, end):
        names.append(at)
        at += 1
    return tuple(names)


def _groups(row: Row, below: Row) -> bool:
    """Group names over repeated or finer names: some cells empty, no values, and not a `key: value` line."""
    count = filled(row)
    if count < 1 or not _words_only(row) or count >= filled(below):
        return False
    names = [cell.strip() for cell in below if cell.strip()]
    repeated = len(set(names)) < len(names)
    return repeated and (count >= 2 or not row[0].strip())


def _more_names(rows: Sequence[Row], head: int, at: int, end: int) -> bool:
    """The row under the header is a second header row: words where the columns below hold values."""
    row = rows[at]
    if not filled(row) or not _words_only(row) or filled(row) < 2:
        return False
    below = [rows[index] for index in range(at + 1, min(end, at + 101)) if filled(rows[index])]
    if len(below) < 2:
        return False
    over, typed = 0, 0
    for column in range(len(row)):
        body = [other[column] for other in below if column < len(other) and other[column].strip()]
        kinds = Counter(map(kind_of, body))
        if body and sum(kinds[kind] for kind in TYPED) >= 0.8 * len(body):
            typed += 1
            over += bool(row[column].strip()) and kind_of(row[column]) not in TYPED | {"empty"}
    return typed >= 1 and over >= max(1, 0.6 * typed) and over + typed > 1 and not _all_units(row)


def _all_units(row: Row) -> bool:
    cells = [cell for cell in row if cell.strip()]
    return bool(cells) and sum(bool(UNIT.fullmatch(cell)) for cell in cells) >= 0.7 * len(cells)


def _units_row(rows: Sequence[Row], at: int, end: int) -> int | None:
    """The row right under the header when it holds units (`kg`, `[m/s]`, `%`) over columns of values."""
    if at >= end - 1 or not _all_units(rows[at]) or not _words_only(rows[at]):
        return None
    below = [rows[index] for index in range(at + 1, min(end, at + 51)) if filled(rows[index])]
    if not below:
        return None
    for column, cell in enumerate(rows[at]):
        body = [other[column] for other in below if column < len(other) and other[column].strip()]
        if cell.strip() and body and any(other.strip() == cell.strip() for other in body):
            return None
    numeric = sum(
        kind_of(other[column]) == "number"
        for other in below[:20]
        for column, cell in enumerate(rows[at])
        if cell.strip() and column < len(other)
    )
    return at if numeric else None


# --- what is not data --------------------------------------------------------------------------------------------


def _lay_out(rows: Sequence[Row], block: Block, others: tuple[Block, ...], tops: set[int]) -> Layout:
    names = [[cell.strip() for cell in rows[index]] for index in block.header]
    body = [index for index in range(block.body, block.end) if filled(rows[index])]
    skipped = dict.fromkeys(tops, "comment")
    first = min(block.header, default=block.body)
    beside = {index for other in others for index in range(other.start, other.end)}
    for index, row in enumerate(rows):
        if index in beside:
            skipped[index] = "another table"
        elif index < first and filled(row) and index not in tops:
            skipped[index] = "above the table"
    feet = _footers(rows, body)
    again = {index for index in body if names and [cell.strip() for cell in rows[index]] == names[-1]}
    skipped |= dict.fromkeys(feet, "below the table") | dict.fromkeys(again, "header repeated")
    data = [index for index in body if index not in skipped]
    totals, kept = _totals(rows, data)
    skipped |= dict.fromkeys(totals, "total of the rows above")
    data = [index for index in data if index not in totals]
    width = max([len(row) for row in (names or [])] + [_body_width(rows, data)])
    return Layout(
        block=block, width=width, headers=_join_headers(names, width), units=_units(rows, block, width),
        body=tuple(data), totals=tuple(sorted(totals)), skipped=dict(sorted(skipped.items())), others=others, kept_totals=tuple(kept),
    )  # fmt: skip


def _body_width(rows: Sequence[Row], data: list[int]) -> int:
    """The cells of the usual record; without one row in ten longer, longer ones are surplus."""
    widths = Counter(len(_trimmed(rows[index])) for index in data)
    total = sum(widths.values())
    enough = [
        width
        for width in widths
        if sum(count for other, count in widths.items() if other >= width) >= max(0.1 * total, 1)
    ]
    return max(enough, default=0)


def _units(rows: Sequence[Row], block: Block, width: int) -> tuple[str, ...] | None:
    if block.units is None:
        return None
    cells = [cell.strip() for cell in rows[block.units]]
    return tuple((cells + [""] * width)[:width])


def _join_headers(names: list[list[str]], width: int) -> tuple[str, ...]:
    """One name a column; group names above stretch to the right over the blanks beside them."""
    if not names:
        return ("",) * width
    padded = [(row + [""] * width)[:width] for row in names]
    for upper, lower in zip(padded[:-1], padded[1:], strict=True):
        carried = ""
        for column, cell in enumerate(upper):
            carried = cell or carried
            if not cell and carried and lower[column] and any(lower):
                upper[column] = carried
    return tuple(" ".join(part for part in parts if part) for parts in zip(*padded, strict=True))


def _footers(rows: Sequence[Row], body: list[int]) -> set[int]:
    """Trailing notes: rows with a cell or two under a table of more, set apart by sign, words or a blank row."""
    usual = _usual([rows[index] for index in body])
    result: set[int] = set()
    if usual < 2:
        return result
    for place in range(len(body) - 1, max(len(body) - 60, 0), -1):
        row = rows[body[place]]
        count = filled(row)
        first = next(cell for cell in row if cell.strip())
        apart = body[place] - body[place - 1] > 1
        thin = count == 1 and (usual > 2 or apart or bool(NOTE.match(first)) or bool(COMMENT.match(first)))
        noted = count <= 2 < usual and bool(NOTE.match(first) or COMMENT.match(first)) and kind_of(first) not in TYPED
        if not (thin or noted) or TOTAL.fullmatch(first):
            break
        result.add(body[place])
    return result


def _totals(rows: Sequence[Row], data: list[int]) -> tuple[set[int], list[int]]:
    """Records called total: (those proven by arithmetic or by their blank keys, those kept as data)."""
    called = [index for index in data if any(TOTAL.fullmatch(cell) for cell in rows[index][:3] if cell)]
    if not called or len(called) * 2 > len(data):
        return set(), called
    proven: set[int] = set()
    kept: list[int] = []
    for index in called:
        blank_keys = sum(not cell.strip() for cell in rows[index]) > 0 and filled(rows[index]) < _usual(
            [rows[at] for at in data]
        )
        at_end = index == data[-1]
        if _adds_up(rows, data, called, index) or (at_end and blank_keys):
            proven.add(index)
        else:
            kept.append(index)
    return proven, kept


PLAIN = re.compile(r"[^\d.,()\-]")


def _amount(cell: str) -> float | None:
    text = PLAIN.sub("", cell)
    if not any(char.isdigit() for char in text):
        return None
    negative = text.startswith("(") or "-" in text
    text = text.strip("()-")
    comma, dot = text.rfind(","), text.rfind(".")
    decimal = "," if comma > dot and len(text) - comma - 1 != 3 else "."
    text = text.replace("." if decimal == "," else ",", "").replace(decimal, ".")
    try:
        return -float(text) if negative else float(text)
    except ValueError:
        return None


def _adds_up(rows: Sequence[Row], data: list[int], called: list[int], index: int) -> bool:
    """Some number of the record is the sum of its column above: since the last total, or over all plain records."""
    place = data.index(index)
    since = max((data.index(other) + 1 for other in called if other < index), default=0)
    stretches = [data[since:place], [at for at in data[:place] if at not in called]]
    for column, cell in enumerate(rows[index]):
        amount = _amount(cell)
        if not amount or kind_of(cell) != "number":
            continue
        for stretch in stretches:
            values = [
                value for at in stretch if column < len(rows[at]) and (value := _amount(rows[at][column])) is not None
            ]
            if len(values) >= 2 and abs(sum(values) - amount) <= max(0.006 * len(values), abs(amount) * 1e-6):
                return True
    return False
