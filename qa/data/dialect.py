"""How a text is cut into records and cells: delimiter, quote and escape, found from the text itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from qa.data.cells import kind_of
from qa.data.cutting import Dialect, cut, modal_width
from qa.data.mend import closed
from qa.errors import LimitExceeded

SAMPLE = 1 << 16
SAMPLE_ROWS = 300
USUAL = {",": 1.0, ";": 1.0, "\t": 1.0, "|": 0.98, ":": 0.6, " ": 0.55, "^": 0.85, "~": 0.85, "#": 0.6, "&": 0.6,
         "\x1f": 0.95, "\x01": 0.95}  # fmt: skip
STRANGE = 0.5
SEVERAL_SIGNS = 0.97
SURE = ",;\t|"
CELL = "\ue001"
"""Stands for a quoted cell."""
RUN = re.compile(r"\S {2,}\S")
SEP_LINE = re.compile(r"\A\ufeff?[\"']?sep=(.{1,4}?)[\"']?[,;\t ]*(?:\r\n|\r|\n)", re.IGNORECASE)


def sep_line(text: str) -> str | None:
    """The delimiter that a first line `sep=;` names, or None."""
    found = SEP_LINE.match(text[:64])
    return found[1] if found else None


def sniff(text: str, *, delimiter: str | None = None, quote: str | None = None) -> Dialect:
    """The dialect that makes the head of the text most table-like; what is given is kept."""
    sample = _without_comments(_sample(text))
    marks = [delimiter] if delimiter is not None else _delimiters(sample)
    candidates = [_finish(sample, Dialect(mark, given)) for mark in marks for given in _quotes(sample, quote)]
    candidates += [
        replace(dialect, runs=True) for dialect in candidates if dialect.delimiter == " " and RUN.search(sample)
    ]
    scored = [(_score(sample, dialect), -rank, dialect) for rank, dialect in enumerate(candidates)]
    best, _, dialect = max(scored, default=(0.0, 0, Dialect(None, '"' if quote is None else quote or None)))
    if delimiter is None and best <= _single_score(sample):
        return _finish(sample, Dialect(None, _lone_quote(sample) if quote is None else quote or None))
    return dialect


def _lone_quote(sample: str) -> str:
    """The quote of a single column: the single one only when it wraps half of the lines."""
    lines = [line.strip() for line in sample.splitlines()[:SAMPLE_ROWS] if line.strip()]
    wrapped = sum(len(line) > 1 and line[0] == line[-1] == "'" for line in lines)
    return "'" if lines and wrapped * 2 >= len(lines) else '"'


def _without_comments(sample: str) -> str:
    """The sample less its lines that open with `#`, unless nothing else is there."""
    lines = sample.splitlines(keepends=True)
    plain = [line for line in lines if not line.startswith("#")]
    return "".join(plain) if len(plain) < len(lines) and any(line.strip() for line in plain) else sample


def _sample(text: str) -> str:
    if len(text) <= SAMPLE:
        return text
    cut_at = max(text.rfind("\n", 0, SAMPLE), text.rfind("\r", 0, SAMPLE))
    return text[: cut_at + 1] if cut_at > 0 else text[:SAMPLE]


def _delimiters(sample: str) -> list[str]:
    """The four usual delimiters on sight; any other sign only when it stands on nearly every one of some lines."""
    lines = [line for line in sample.splitlines()[:100] if line.strip()]
    enough = max(0.8 * len(lines), 2)
    signs = Counter(char for line in lines for char in set(line) if char in USUAL or _may_part(char))
    runs = Counter(run for line in lines for run in set(SEVERAL.findall(line)))
    marks = [
        mark for mark in USUAL if mark in signs and (mark in SURE or (signs[mark] >= 0.6 * enough and len(lines) > 1))
    ]
    marks += [char for char, count in signs.items() if char not in USUAL and count >= enough]
    return marks + [run for run, count in runs.items() if count >= enough]


def _may_part(char: str) -> bool:
    return (
        char not in USUAL
        and not char.isalnum()
        and char not in "\"'._-/\\()[]{}<>+%$€£@*=?! \u00a0"
        and char.isprintable()
    )


SEVERAL = re.compile(r"[|:;~^#$&@!%*=+]{2,4}|(?<=\S) [|;:] (?=\S)")


def _quotes(sample: str, quote: str | None) -> list[str | None]:
    if quote is not None:
        return [quote or None]
    return ['"', "'"] if "'" in sample else ['"']


def _finish(sample: str, dialect: Dialect) -> Dialect:
    mark, quote = dialect.delimiter, dialect.quote
    if mark is None or len(mark) > 1:
        return replace(dialect, escape=_escape(sample, dialect))
    return replace(
        dialect, escape=_escape(sample, dialect), skip_space=mark not in " \t" and _spaced(sample, mark, quote)
    )


def _spaced(sample: str, mark: str, quote: str | None) -> bool:
    """Blanks belong to the delimiter: they stand between it and a quote, or after nearly every one of it."""
    sign = re.escape(quote) if quote else None
    plain = re.sub(f"{sign}(?:[^{sign}]|{sign}{sign})*{sign}", CELL, sample) if sign else sample
    if re.search(f"{re.escape(mark)} +{CELL}", plain):
        return True
    inner = re.findall(rf"{re.escape(mark)}(?![\r\n]|\Z)( ?)", plain)
    return len(inner) > 2 and sum(map(bool, inner)) >= 0.95 * len(inner)


def _escape(sample: str, dialect: Dialect) -> str | None:
    """Backslash when it stands before a quote that is not the end of a quoted cell."""
    if not dialect.quote:
        return None
    quote = re.escape(dialect.quote)
    mark = re.escape(dialect.symbol)
    inside = len(re.findall(rf"\\{quote}(?!\s*(?:{mark}|[\r\n]|\Z))|\\{quote}{quote}", sample))
    return "\\" if inside else None


# --- how table-like a cutting is ---------------------------------------------------------------------------------

WORTH = {
    "empty": 0.6,
    "number": 1.0,
    "date": 1.0,
    "time": 1.0,
    "address": 1.0,
    "word": 0.9,
    "text": 0.75,
    "odd": 0.25,
    "torn": 0.0,
}


def _whole(sample: str, dialect: Dialect) -> list[list[str]]:
    return closed(cut(sample, dialect)).rows


def _score(sample: str, dialect: Dialect) -> float:
    try:
        rows = _whole(sample, dialect)[:SAMPLE_ROWS]
    except LimitExceeded:
        return 0.0
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = modal_width([row for row in rows if len(row) > 1])
    if width < 2:
        return 0.0
    mark = dialect.delimiter or ""
    prior = (SEVERAL_SIGNS if len(mark) > 1 else USUAL.get(mark, STRANGE)) * (1 - 1 / (width + 1))
    return float(_evenness(rows, width, dialect) ** 1.5 * _typing(rows, width) * prior * _quoting(sample, dialect))


def _single_score(sample: str) -> float:
    cells = [line for line in sample.splitlines()[:SAMPLE_ROWS] if line.strip()]
    known = sum(WORTH[kind_of(cell)] for cell in cells) / max(len(cells), 1)
    return 0.35 * known if known > 0.7 else 0.05


def _evenness(rows: list[list[str]], width: int, dialect: Dialect) -> float:
    """1 when every record has the same number of cells; short ones cost less than long ones, but not where blanks part words."""
    same = sum(len(row) == width for row in rows)
    lone = sum(len(row) == 1 for row in rows)
    other = sum((len(row) > width) == (dialect.delimiter == " ") for row in rows if len(row) not in (1, width))
    return (same + 0.3 * other + 0.15 * lone) / len(rows)


def _typing(rows: list[list[str]], width: int) -> float:
    """The mean worth of the cells, column by column, times how much each column is of one kind."""
    body = [row for row in rows if len(row) == width]
    columns = list(zip(*body, strict=True))[:60]
    total = 0.0
    for column in columns:
        kinds = Counter(map(kind_of, column))
        worth = sum(WORTH[kind] * count for kind, count in kinds.items()) / len(column)
        filled = {kind: count for kind, count in kinds.items() if kind != "empty"}
        alike = max(filled.values()) / sum(filled.values()) if filled else 0.7
        total += worth * (0.6 + 0.4 * alike)
    return total / len(columns)


def _quoting(sample: str, dialect: Dialect) -> float:
    """More than 1 when cells are wrapped in this quote, less when another quote wraps them."""
    mark = re.escape(dialect.symbol if dialect.delimiter != " " else " ")
    if dialect.delimiter is not None and len(dialect.delimiter) > 1:
        mark = re.escape(dialect.delimiter)

    def wrapped(quote: str) -> int:
        """Cells that stand in these quotes whole."""
        return len(
            re.findall(
                rf"(?:^|{mark}) *{quote}(?:[^{quote}]|{quote}{quote})*{quote} *(?=\r?$|{mark})", sample, re.MULTILINE
            )
        )

    mine = wrapped(dialect.quote) if dialect.quote else 0
    other = wrapped("'" if dialect.quote == '"' else '"')
    if dialect.quote == "'" and mine <= max(other, 1):
        return 0.8
    return (1.1 if mine else 1.0) * (0.8 if other > mine + 1 else 1.0)
