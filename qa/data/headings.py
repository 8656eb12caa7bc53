"""Tell rows of names from rows of values: header rows, group names above them, units below them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from qa.data.cells import TYPED, kind_of

Row = Sequence[str]

UNIT = re.compile(
    r"\s*(?:[\[(]\s*[^\[\]()]{0,16}\s*[\])]|[%‰°€$£¥]|°\s?[CFK]|(?:k|M|G|m|c|d|µ|u|n|h)?(?:m|g|l|L|s|W|Wh|V|A|Hz|Pa|J|N|K|B|b|bar|mol)(?:[²³23]|\^-?\d)?(?:\s?/\s?(?:k|m|c)?(?:m|g|l|L|s|h|d|a|km|mol)(?:[²³23]|\^\d)?)?"
    r"|km/h|mph|kn|min|sec|hours?|days?|years?|months?|hrs?|lbs?|oz|ft|in|mi|yd|ppm|ppb|psi|rpm|dB|USD|EUR|GBP|CHF|JPY|pcs|Stk|mm Hg|hPa|deg|degrees|percent|count|units?|none|-|unitless|mg/dl|kcal|kWh|[YMDHS]{1,4}(?:[-/.: ][YMDHS]{1,4}){1,2}|[ymdhs]{1,4}(?:[-/.: ][ymdhs]{1,4}){1,2})\s*"
)  # fmt: skip
PERIOD = re.compile(
    r"(?:19|20)\d{2}|(?:19|20)\d{2}\s?[-/]\s?\d{2,4}|(?:Q[1-4]|H[12]|W\d{1,2})\b.*"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ]\d{2,4}|(?:19|20)\d{2}[-/]\d{1,2}",
    re.IGNORECASE,
)

BODY_ROWS = 200
"""Rows under a header that are looked at."""


def filled(row: Row) -> int:
    """How many cells of a record hold something."""
    return len(row) - list(row).count("") - sum(map(str.isspace, row))


def reach(row: Row) -> int:
    """The position of the last filled cell, counted from 1."""
    return max((at for at, cell in enumerate(row, 1) if cell and not cell.isspace()), default=0)


def same_cells(row: Row, names: Sequence[str]) -> bool:
    """The row holds just these trimmed texts."""
    return len(row) == len(names) and all(cell.strip() == name for cell, name in zip(row, names, strict=True))


def usual(counts: Iterable[int]) -> int:
    """The middle of the counts that are not 0, leaning to the larger ones."""
    some = sorted(count for count in counts if count)
    return some[int(len(some) * 0.6)] if some else 0


def words_only(row: Row) -> bool:
    """Something is in the row and no cell has the shape of a value."""
    found = False
    for cell in row:
        if cell and not cell.isspace():
            if kind_of(cell) in TYPED:
                return False
            found = True
    return found


def strength(row: Row, below: Sequence[Row]) -> float:
    """Votes of the columns: for a header where names stand over values, against where the cell is one more value.

    Above 0 the row reads as a header; 0.5 means there was nothing to go by but distinct names.
    """
    names = [cell.strip() for cell in row]
    some = [name for name in names if name]
    if not some:
        return -1.0
    below = [other for other in below if not same_cells(other, names)]
    if _numbered(names) and not all(_numbered([cell.strip() for cell in other]) for other in below[:1]):
        return 2.0
    votes = sum(
        _vote(name, [other[at].strip() for other in below[:BODY_ROWS] if at < len(other) and other[at].strip()])
        for at, name in enumerate(names)
    )
    if votes == 0 and len({name.casefold() for name in some}) == len(some) and words_only(row):
        return 0.5
    return votes


def _numbered(names: list[str]) -> bool:
    """0, 1, 2, … over the columns, as an export without names writes them."""
    own = names[1:] if names and not names[0] else names
    return len(own) >= 3 and own in ([str(at) for at in range(len(own))], [str(at + 1) for at in range(len(own))])


def _vote(name: str, body: list[str]) -> float:
    mine = kind_of(name)
    if not body or mine == "empty":
        return 0.0
    kinds = Counter(map(kind_of, body))
    kind, count = kinds.most_common(1)[0]
    if kind in TYPED and count >= 0.7 * kinds.total():
        if mine not in TYPED:
            return 1.0
        return (
            0.3
            if PERIOD.fullmatch(name.rstrip("% ")) and not all(PERIOD.fullmatch(other) for other in body[:20])
            else -1.5
        )
    if mine in TYPED:
        return 0.2 if PERIOD.fullmatch(name) else -0.7
    if name in body:
        return 0.0 if all(other == name for other in body) else -0.6
    return _vote_on_text(name, body)


def _vote_on_text(name: str, body: list[str]) -> float:
    """Text over text: where the cells are of one length or full of digits, a name of another shape stands out."""
    one_length = len(body) >= 3 and len({len(other) for other in body}) == 1
    digits = sum(any(char.isdigit() for char in other) for other in body) / len(body)
    if not one_length and digits <= 0.8:
        return 0.0
    alike = sum(shape(other) == shape(name) for other in body[:50]) / len(body[:50])
    weight = 0.4 if one_length else 0.3
    if one_length and len(name) != len(body[0]):
        return weight
    return -weight if alike > 0.2 else weight


def shape(text: str) -> str:
    """The pattern of a text: runs of letters as `a`, runs of digits as `9`, the rest as it is."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", " ".join(text.split())))


def names_above(rows: Sequence[Row], head: int, start: int) -> list[int]:
    """The rows right above a header that name groups of its columns, or the columns it leaves blank."""
    found: list[int] = []
    low = head
    while low - 1 >= start and len(found) < 4 and _names_groups(rows[low - 1], rows[low]):
        low -= 1
        found.insert(0, low)
    return found


def _names_groups(row: Row, below: Row) -> bool:
    if not words_or_periods(row) or ":" in row[0]:
        return False
    names = [cell.strip() for cell in below if cell.strip()]
    gaps = not below[0].strip() and row[0].strip() and filled(row) >= 2
    grouped = filled(row) < len(below) and len(set(names)) < len(names) and (filled(row) >= 2 or not row[0].strip())
    return bool(gaps or grouped)


def words_or_periods(row: Row) -> bool:
    """No cell has the shape of a value, periods such as 2014 or 2013-14 aside."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and all(kind_of(cell) not in TYPED or PERIOD.fullmatch(cell) for cell in cells)


def names_below(rows: Sequence[Row], head: int, end: int) -> list[int]:
    """The rows right under a header row that go on with names: words where the columns below hold values."""
    found: list[int] = []
    at = head + 1
    while at < end - 1 and len(found) < 4 and _goes_on(rows, at, end):
        found.append(at)
        at += 1
    return found


def _goes_on(rows: Sequence[Row], at: int, end: int) -> bool:
    row = rows[at]
    if not words_only(row) or all_units(row) or (_names_all(rows[at - 1], row) and not _adds_words(rows[at - 1], row)):
        return False
    below = [rows[index] for index in range(at + 1, min(end, at + 101)) if filled(rows[index])]
    if len(below) < 2:
        return False
    valued = valued_columns(below)
    over = {
        column for column in valued if column < len(row) and row[column].strip() and kind_of(row[column]) != "empty"
    }
    names = {column for column, cell in enumerate(row) if cell.strip()}
    if names and names <= valued and not row[0].strip():
        return True
    return len(valued) >= 2 and len(over) >= 0.6 * len(valued) and filled(row) >= 2


def _names_all(above: Row, row: Row) -> bool:
    """The row above names every column of this one and no two alike, so that this one has nothing to add."""
    names = [cell.strip().casefold() for cell in above]
    return reach(above) >= reach(row) and all(names[: reach(row)]) and len(set(names)) == len(names)


def _adds_words(above: Row, row: Row) -> bool:
    """Plain words of its own under each name: no digits, no section title over the columns, no name again."""
    cells = [cell.strip() for cell in row if cell.strip()]
    digits = any(char.isdigit() for cell in cells for char in cell)
    again = any(
        cell.strip().casefold() == name.strip().casefold()
        for cell, name in zip(row, above, strict=False)
        if cell.strip()
    )
    return not digits and not again and len(set(cells)) > 1


def valued_columns(body: Sequence[Row]) -> set[int]:
    """The columns whose filled cells nearly all have the shape of a value."""
    result: set[int] = set()
    for column in range(max(map(len, body), default=0)):
        kinds = Counter(kind_of(row[column]) for row in body if column < len(row) and row[column].strip())
        values = sum(kinds[kind] for kind in TYPED)
        if values and values >= 0.8 * (kinds.total() - kinds["empty"]):
            result.add(column)
    return result


def all_units(row: Row) -> bool:
    """Most filled cells are units of measure."""
    cells = [cell for cell in row if cell.strip()]
    return bool(cells) and sum(bool(UNIT.fullmatch(cell)) for cell in cells) >= 0.7 * len(cells)


def units_row(rows: Sequence[Row], at: int, end: int) -> int | None:
    """The row right under the header when it holds units (`kg`, `[m/s]`, `%`) over columns of values."""
    if at >= end - 1 or not all_units(rows[at]) or not words_only(rows[at]):
        return None
    below = [rows[index] for index in range(at + 1, min(end, at + 51)) if filled(rows[index])]
    named = {column for column, cell in enumerate(rows[at]) if cell.strip()}
    again = any(
        column < len(row) and row[column].strip() == rows[at][column].strip() for row in below for column in named
    )
    return at if below and not again and named & valued_columns(below) else None


def join_names(rows: Sequence[Row], width: int) -> tuple[str, ...]:
    """One name a column. Group names above stretch to the right over the blanks beside them."""
    if not rows:
        return ("",) * width
    padded = [(list(row) + [""] * width)[:width] for row in rows]
    if len(padded) == 1:
        return tuple(padded[0])
    for level, upper in enumerate(padded[:-1]):
        carried = ""
        for column, cell in enumerate(upper):
            carried = cell.strip() or carried
            below = any(lower[column].strip() for lower in padded[level + 1 :])
            higher = any(higher[column].strip() for higher in padded[:level])
            if not cell.strip() and carried and below and not (higher and level):
                upper[column] = carried
    stacked = ([part.strip() for part in parts if part.strip()] for parts in zip(*padded, strict=True))
    return tuple(" ".join(dict.fromkeys(parts)) for parts in stacked)
