"""Prove that a big file is regular, byte for byte, so that Polars may read it; say where the proof ends."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

CHUNK = 1 << 20
STEP = 1 << 14
"""Bytes between the record starts that are remembered, at the least."""
LONGEST = 1 << 26
"""A record longer than this is not regular."""

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

LF, CR, NUL = 10, 13, 0


@dataclass(frozen=True)
class Stretch:
    """The regular records from the start of the body on: how many, and the byte where they end.

    `tail` and `tail_records` mark a record start shortly before that end, so that the last records can be read
    with care. `blanks_quoted` says that some cell is an empty pair of quotes.
    """

    records: int
    end: int
    tail_records: int
    tail: int
    blanks_quoted: bool


@dataclass
class _Found:
    records: int = 0
    blanks_quoted: bool = False


def measure(path: Path, start: int, *, delimiter: str, quote: str | None, width: int, tail: int = 1 << 16) -> Stretch:
    """Follow the records from byte `start` while each has `width` cells, well-formed quotes and valid UTF-8.

    Constant memory. A record counts only when its line end is in the file; the last line without one is left out.
    """
    size = path.stat().st_size
    mark, sign = ord(delimiter), ord(quote) if quote else -1
    found = _Found()
    at, rest = start, b""
    marks: list[tuple[int, int]] = [(start, 0)]
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(CHUNK):
            held = rest + block
            ends, whole = _regular(held, mark, sign, width, found)
            marks += [(at + int(ends[place]) + 1, found.records + int(place) + 1) for place in _spaced(ends)]
            found.records += len(ends)
            at += int(ends[-1]) + 1 if len(ends) else 0
            rest = held[int(ends[-1]) + 1 :] if len(ends) else held
            if not whole or len(rest) > LONGEST:
                break
    return _stretch(path, size, at, marks, found, tail)


def _spaced(ends: Places) -> Places:
    """Which of the record ends to remember: the first after each step of bytes."""
    if not len(ends):
        return ends
    return np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + 1, STEP)))


def _stretch(path: Path, size: int, end: int, marks: list[tuple[int, int]], found: _Found, tail: int) -> Stretch:
    """Step back from the end to a record start at least `tail` bytes before the end of the file."""
    bound = min(end, size - tail)
    at, records = max((mark for mark in marks if mark[0] <= max(bound, marks[0][0])), default=marks[0])
    return Stretch(found.records, end, records, at, found.blanks_quoted)


def _regular(held: bytes, mark: int, sign: int, width: int, found: _Found) -> tuple[Places, bool]:
    """Where the regular records at the front of the bytes end, and whether nothing irregular was met."""
    data = np.frombuffer(held, np.uint8)
    inside = _inside(data, sign)
    ends = np.flatnonzero(_outside(data == LF, inside))
    if not len(ends):
        return ends, True
    last = int(ends[-1]) + 1
    data, inside = data[:last], None if inside is None else inside[:last]
    marks = np.flatnonzero(_outside(data == mark, inside))
    records = _even_records(marks, ends, width)
    records = min(records, _plain_records(data, held[:last], ends, inside))
    if inside is not None:
        records = min(records, _quoted_records(data, inside, ends, mark, sign))
        found.blanks_quoted = found.blanks_quoted or _has_blank_quotes(data, inside, sign)
    return ends[:records], records == len(ends)


def _inside(data: Bytes, sign: int) -> npt.NDArray[np.bool_] | None:
    """Which bytes stand between an odd quote and the next one; None when there is no quote at all."""
    quotes = data == sign if sign >= 0 else None
    if quotes is None or not quotes.any():
        return None
    return (np.cumsum(quotes, dtype=np.uint8) & 1).astype(bool)


def _outside(hits: npt.NDArray[np.bool_], inside: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
    return hits if inside is None else hits & ~inside


def _even_records(marks: Places, ends: Places, width: int) -> int:
    """How many records at the front have exactly width - 1 delimiters."""
    if len(marks) == len(ends) * (width - 1):
        if width == 1:
            return len(ends)
        table = marks.reshape(len(ends), width - 1)
        if (table[:, -1] < ends).all() and (table[1:, 0] > ends[:-1]).all():
            return len(ends)
    counts = np.diff(np.searchsorted(marks, ends), prepend=0)
    wrong = np.flatnonzero(counts != width - 1)
    return int(wrong[0]) if len(wrong) else len(ends)


def _plain_records(data: Bytes, held: bytes, ends: Places, inside: npt.NDArray[np.bool_] | None) -> int:
    """How many records at the front hold no NUL, no stray CR, no blank line and no byte that is not UTF-8."""
    bad = [np.flatnonzero(data == NUL)[:1]]
    returns = np.flatnonzero(_outside(data == CR, inside))
    bad.append(returns[data[returns + 1] != LF][:1] if len(returns) else returns)
    starts = np.concatenate(([0], ends[:-1] + 1))
    blank = (ends == starts) | ((ends == starts + 1) & (data[starts] == CR))
    bad.append(starts[np.flatnonzero(blank)[:1]])
    if (data >= 0x80).any():
        try:
            codecs.utf_8_decode(held, "strict", True)
        except UnicodeDecodeError as error:
            bad.append(np.array([error.start]))
    first = min((int(places[0]) for places in bad if len(places)), default=len(data))
    return int(np.searchsorted(ends, first))


def _quoted_records(data: Bytes, inside: npt.NDArray[np.bool_], ends: Places, mark: int, sign: int) -> int:
    """How many records at the front have quotes only around whole cells, or doubled inside them."""
    places = np.flatnonzero(data == sign)
    opens = places[inside[places]]
    closes = places[~inside[places]]
    before = np.where(opens > 0, data[np.maximum(opens - 1, 0)], LF)
    after = data[np.minimum(closes + 1, len(data) - 1)]
    badly_open = opens[(before != mark) & (before != LF) & (before != sign)]
    badly_closed = closes[(after != mark) & (after != LF) & (after != CR) & (after != sign)]
    first = min([*(int(at) for at in badly_open[:1]), *(int(at) for at in badly_closed[:1]), len(data)])
    return int(np.searchsorted(ends, first))


def _has_blank_quotes(data: Bytes, inside: npt.NDArray[np.bool_], sign: int) -> bool:
    places = np.flatnonzero(data == sign)
    opens = places[inside[places]]
    return bool((data[np.minimum(opens + 1, len(data) - 1)] == sign).any())
