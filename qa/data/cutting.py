"""Cut a text into records and cells by the rules of a dialect."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qa.errors import Issue, LimitExceeded

INNER = "\ue000"
"""Stands for a delimiter of several characters while the text is cut (private use, so no file means anything by it)."""

CELL_CHARACTERS = 16 << 20


@dataclass(frozen=True)
class Dialect:
    """The cutting rules. `delimiter` None means one column; `runs` that any run of blanks parts two cells.

    `escape` is the character before a quote inside a quoted cell; None means the quote is doubled.
    `skip_space` drops blanks after a delimiter.
    """

    delimiter: str | None
    quote: str | None = '"'
    escape: str | None = None
    skip_space: bool = False
    runs: bool = False

    @property
    def symbol(self) -> str:
        """The one character that parts cells once the text is prepared."""
        whole = self.delimiter is not None and len(self.delimiter) == 1 and not self.runs
        return self.delimiter if whole and self.delimiter else INNER

    @property
    def joint(self) -> str:
        """What stands between two cells that belong together after all."""
        return self.delimiter if self.delimiter and not self.runs else " "


@dataclass(frozen=True)
class Records:
    """The records of a text in order, a blank line being an empty one, with the physical lines they came from.

    `starts[i]` is the line that record `i` begins on; the lines are prepared for `dialect.symbol`.
    """

    rows: list[list[str]]
    starts: list[int]
    lines: list[str]
    dialect: Dialect

    def raw(self, record: int) -> list[str]:
        """The physical lines of a record."""
        after = self.starts[record + 1] if record + 1 < len(self.starts) else len(self.lines)
        return self.lines[self.starts[record] : after]


def cut(text: str, dialect: Dialect) -> Records:
    """Every record as its cells. Lines end in CR, LF or CRLF, mixed as they please; quoted cells keep theirs.

    A cell longer than 16 million characters is LimitExceeded.
    """
    lines = list(io.StringIO(prepared(text, dialect), newline=""))
    rows: list[list[str]] = []
    starts: list[int] = []
    reader = _reader(lines, dialect)
    at = 0
    try:
        for row in reader:
            rows.append(row)
            starts.append(at)
            at = reader.line_num  # type: ignore[attr-defined]
    except csv.Error as error:
        raise _too_long(len(rows) + 1) from error
    if dialect.symbol == INNER:
        rows = [[cell.replace(INNER, dialect.joint) if INNER in cell else cell for cell in row] for row in rows]
    return Records(rows, starts, lines, dialect)


def cut_lines(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """Every record of a stream of lines as its cells, one at a time; stray quotes are not looked for."""
    count = 0
    try:
        for row in _reader((prepared(line, dialect) for line in lines), dialect):
            count += 1
            whole = dialect.symbol == INNER
            yield [cell.replace(INNER, dialect.joint) if INNER in cell else cell for cell in row] if whole else row
    except csv.Error as error:
        raise _too_long(count + 1) from error


def _too_long(record: int) -> LimitExceeded:
    message = f"A cell has more than {CELL_CHARACTERS:,} characters."
    return LimitExceeded(Issue("cell_too_long", f"row {record}", message, "Check the quotes in the file."))


def prepared(text: str, dialect: Dialect) -> str:
    """The text with `dialect.symbol` between its cells, and escapes as the csv module understands them."""
    if dialect.runs:
        text = _part_at_blanks(text, dialect)
    elif dialect.symbol == INNER and dialect.delimiter:
        text = text.replace(dialect.delimiter, INNER)
    if dialect.escape:
        # Only a quote or the escape itself is escaped; the csv module would take the sign away before anything.
        text = re.sub(
            f"{re.escape(dialect.escape)}(?![{re.escape((dialect.quote or '') + dialect.escape)}])",
            lambda sign: sign[0] * 2,
            text,
        )
    return text


def _part_at_blanks(text: str, dialect: Dialect) -> str:
    quote = re.escape(dialect.quote or '"')
    token = re.compile(f"({quote}(?:[^{quote}\r\n]|{quote}{quote})*{quote})|[ \t]+")
    stripped = re.sub(r"(?m)^[ \t]+|[ \t]+(?=\r?$)", "", text)
    return token.sub(lambda match: match[1] or INNER, stripped)


def _reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    csv.field_size_limit(CELL_CHARACTERS)
    return csv.reader(
        lines,
        delimiter=dialect.symbol,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        doublequote=True,
        escapechar=dialect.escape,
        skipinitialspace=dialect.skip_space,
    )


def loose(line: str, dialect: Dialect) -> list[str]:
    """One line cut with forgiving quotes: a quote closes a cell only before a delimiter or the end of the line."""
    body = line.rstrip("\r\n")
    if not body:
        return []
    if not dialect.quote:
        return [cell.replace(INNER, dialect.joint) for cell in body.split(dialect.symbol)]
    quote, mark = re.escape(dialect.quote), re.escape(dialect.symbol)
    pattern = re.compile(f"(?:^|{mark}) ?{quote}(.*?){quote}(?=$|{mark})|(?:^|{mark})([^{mark}]*)")
    cells = [
        match[1].replace(dialect.quote * 2, dialect.quote) if match[1] is not None else match[2]
        for match in pattern.finditer(body)
    ]
    return [cell.replace(INNER, dialect.joint) for cell in cells]


def modal_width(rows: Sequence[Sequence[str]]) -> int:
    """The most frequent number of cells of a record that is not blank; of two equally frequent ones the larger."""
    widths = Counter(len(row) for row in rows if row)
    return max(widths, key=lambda width: (widths[width], width)) if widths else 0
