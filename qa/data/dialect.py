"""How a text is cut into records and cells: delimiter, quote and escape, found from the text itself."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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


def cut(text: str, dialect: Dialect) -> list[list[str]]:
    """Every record as its cells, in order; a blank line is an empty list, so list position + 1 is the row number.

    Lines end in CR, LF or CRLF, mixed as they please. A quote that is never closed, or that swallows lines which
    are whole records by themselves, is read as an ordinary character.
    """
    lines = list(_lines(text, dialect))
    rows, spans = _read(lines, dialect)
    return _reopened(rows, spans, lines, dialect)


def _lines(text: str, dialect: Dialect) -> Iterator[str]:
    if dialect.runs:
        text = _part_at_blanks(text, dialect)
    elif dialect.delimiter is not None and len(dialect.delimiter) > 1:
        text = text.replace(dialect.delimiter, INNER)
    return iter(io.StringIO(text, newline=""))


def _part_at_blanks(text: str, dialect: Dialect) -> str:
    quote = re.escape(dialect.quote or '"')
    token = re.compile(f"({quote}(?:[^{quote}\r\n]|{quote}{quote})*{quote})|[ \t]+")
    stripped = re.sub(r"(?m)^[ \t]+|[ \t]+(?=\r?$)", "", text)
    return token.sub(lambda match: match[1] or INNER, stripped)


def _symbol(dialect: Dialect) -> str:
    if dialect.delimiter is None:
        return INNER
    return INNER if dialect.runs or len(dialect.delimiter) > 1 else dialect.delimiter


def _reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    csv.field_size_limit(CELL_CHARACTERS)
    return csv.reader(
        lines,
        delimiter=_symbol(dialect),
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        doublequote=True,
        escapechar=dialect.escape,
        skipinitialspace=dialect.skip_space,
    )


def _read(lines: list[str], dialect: Dialect) -> tuple[list[list[str]], list[tuple[int, int, int]]]:
    """The records, and (record, first line, line after) of each that spans several lines."""
    rows: list[list[str]] = []
    spans: list[tuple[int, int, int]] = []
    reader = _reader(lines, dialect)
    at = 0
    try:
        for row in reader:
            after = reader.line_num  # type: ignore[attr-defined]
            if after - at > 1:
                spans.append((len(rows), at, after))
            at = after
            rows.append(row)
    except csv.Error as error:
        raise LimitExceeded(
            Issue(
                "cell_too_long",
                f"row {len(rows) + 1}",
                f"A cell has more than {CELL_CHARACTERS:,} characters.",
                "Check the quotes in the file.",
            )
        ) from error
    if _symbol(dialect) == INNER:
        whole = dialect.delimiter if dialect.delimiter and not dialect.runs else " "
        rows = [[cell.replace(INNER, whole) if INNER in cell else cell for cell in row] for row in rows]
    return rows, spans


def _reopened(
    rows: list[list[str]], spans: list[tuple[int, int, int]], lines: list[str], dialect: Dialect
) -> list[list[str]]:
    """Records with a newline inside, put right where the newline came from a stray quote."""
    if not spans:
        return rows
    usual = modal_width(rows)
    result: list[list[str]] = []
    done = 0
    for record, first, after in spans:
        result.extend(rows[done:record])
        row = rows[record]
        ends_open = after == len(lines) and _is_open("".join(lines[first:after]), dialect)
        apart = [loose(line, dialect) for line in lines[first:after]] if len(row) != usual or ends_open else []
        whole = sum(len(piece) == usual for piece in apart)
        result.extend(apart if apart and (ends_open or whole * 2 > len(apart)) else [row])
        done = record + 1
    result.extend(rows[done:])
    return result


def _is_open(record: str, dialect: Dialect) -> bool:
    text = record.replace(dialect.escape + (dialect.quote or ""), "") if dialect.escape else record
    return text.count(dialect.quote or '"') % 2 == 1


def loose(line: str, dialect: Dialect) -> list[str]:
    """One line cut with forgiving quotes: a quote closes a cell only before a delimiter or the end of the line."""
    body = line.rstrip("\r\n")
    if not body:
        return []
    symbol = _symbol(dialect)
    if not dialect.quote:
        return body.split(symbol)
    quote, mark = re.escape(dialect.quote), re.escape(symbol)
    pattern = re.compile(f"(?:^|{mark}) ?{quote}(.*?){quote}(?=$|{mark})|(?:^|{mark})([^{mark}]*)")
    cells = [
        match[1].replace(dialect.quote * 2, dialect.quote) if match[1] is not None else match[2]
        for match in pattern.finditer(body)
    ]
    whole = dialect.delimiter if dialect.delimiter and not dialect.runs else " "
    return [cell.replace(INNER, whole) for cell in cells]


def modal_width(rows: Sequence[Sequence[str]]) -> int:
    """The most frequent number of cells of a record that is not blank; of two equally frequent ones the larger."""
    widths = Counter(len(row) for row in rows if row)
    return max(widths, key=lambda width: (widths[width], width)) if widths else 0


# --- finding the dialect -----------------------------------------------------------------------------------------

SAMPLE = 1 << 16
SAMPLE_ROWS = 300
USUAL = {",": 1.0, ";": 1.0, "\t": 1.0, "|": 0.98, ":": 0.6, " ": 0.55, "^": 0.85, "~": 0.85, "#": 0.6, "&": 0.6}
STRANGE = 0.5
SEP_LINE = re.compile(r"\A\ufeff?[\"']?sep=(.{1,4}?)[\"']?[,;\t ]*(?:\r\n|\r|\n)", re.IGNORECASE)


def sep_line(text: str) -> str | None:
    """The delimiter that a first line `sep=;` names, or None."""
    found = SEP_LINE.match(text[:64])
    return found[1] if found else None


def sniff(text: str, *, delimiter: str | None = None, quote: str | None = None) -> Dialect:
    """The dialect that makes the head of the text most table-like; what is given is kept."""
    sample = _sample(text)
    if delimiter is not None:
        candidates = [Dialect(delimiter, given) for given in _quotes(sample, quote)]
    else:
        candidates = [Dialect(mark, given) for mark in _delimiters(sample) for given in _quotes(sample, quote)] or [
            Dialect(None, quote or '"')
        ]
    best = max(candidates, key=lambda dialect: _score(sample, dialect))
    if delimiter is None and _score(sample, best) <= _single_score(sample):
        best = Dialect(None, best.quote)
    return _finish(sample, best)


def _sample(text: str) -> str:
    if len(text) <= SAMPLE:
        return text
    cut_at = max(text.rfind("\n", 0, SAMPLE), text.rfind("\r", 0, SAMPLE))
    return text[: cut_at + 1] if cut_at > 0 else text[:SAMPLE]


def _delimiters(sample: str) -> list[str]:
    marks = [mark for mark in USUAL if mark in sample]
    lines = [line for line in sample.splitlines()[:100] if line.strip()]
    strange = Counter(char for line in lines for char in set(line) if _may_part(char))
    marks += [char for char, count in strange.items() if count >= 0.8 * len(lines) and len(lines) > 1]
    several = Counter(run for line in lines for run in set(SEVERAL.findall(line)))
    marks += [run for run, count in several.items() if count >= 0.9 * len(lines) and len(lines) > 1]
    return marks


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
    return [mark for mark in ('"', "'") if mark in sample] or ['"']


def _finish(sample: str, dialect: Dialect) -> Dialect:
    mark, quote = dialect.delimiter, dialect.quote
    if mark is None or len(mark) > 1:
        return replace(dialect, escape=_escape(sample, dialect))
    if mark == " " and re.search(r"\S {2,}\S", sample):
        return replace(dialect, runs=True)
    spaced = mark not in " \t" and quote is not None and re.search(f"{re.escape(mark)} +{re.escape(quote)}", sample)
    return replace(dialect, escape=_escape(sample, dialect), skip_space=bool(spaced))


def _escape(sample: str, dialect: Dialect) -> str | None:
    """Backslash when it stands before a quote that is not the end of a quoted cell."""
    if not dialect.quote:
        return None
    quote = re.escape(dialect.quote)
    mark = re.escape(_symbol(dialect))
    inside = len(re.findall(rf"\\{quote}(?!\s*(?:{mark}|[\r\n]|\Z))|\\{quote}{quote}", sample))
    return "\\" if inside else None


# --- how table-like a cutting is ---------------------------------------------------------------------------------

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("empty", re.compile(r"\s*|-+|n/?a|null|none|nan|\?", re.IGNORECASE)),
    ("number", re.compile(r"\s*[-+(]?\s*[$€£¥]?\s*[-+]?(?:\d+|\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+|\d*)(?:[.,]?\d+)(?:e[-+]?\d+)?\s*[%$€£¥)]?\s*", re.IGNORECASE)),
    ("date", re.compile(r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ](?:\d{1,2}|[a-z]{3,9})[-/. ]\d{2,4})(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]m)?\s*(?:Z|[-+]\d{2}:?\d{2})?)?\s*", re.IGNORECASE)),
    ("time", re.compile(r"\s*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]m)?\s*", re.IGNORECASE)),
    ("address", re.compile(r"\s*(?:https?://|ftp://|www\.|mailto:)\S+\s*|[\w.+-]+@[\w-]+\.[\w.-]+|(?:\d{1,3}\.){3}\d{1,3}", re.IGNORECASE)),
    ("word", re.compile(r"[\w][\w.\-/]*")),
    ("text", re.compile(r"[^\s,;|\t~^\"][^,;|\t~^\"]*[^\s,;|\t~^\":]")),
)  # fmt: skip
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


def kind_of(cell: str) -> str:
    """The rough shape of a cell: empty, number, date, time, address, word, text, odd, or torn by a stray quote."""
    head = cell[:300]
    for name, pattern in KINDS:
        if pattern.fullmatch(head):
            return name
    return "torn" if TORN.search(head) else "odd"


TORN = re.compile(r"^\s*[\"'](?!.*[\"'])|^[^\"']*[\"']\s*$", re.DOTALL)


def _score(sample: str, dialect: Dialect) -> float:
    if dialect.delimiter == " ":
        dialect = replace(dialect, runs=bool(re.search(r"\S {2,}\S", sample)))
    try:
        rows = [row for row in cut(sample, replace(dialect, escape=_escape(sample, dialect)))[:SAMPLE_ROWS] if row]
    except LimitExceeded:
        return 0.0
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = modal_width([row for row in rows if len(row) > 1])
    if width < 2:
        return 0.0
    return (
        _evenness(rows, width)
        * _typing(rows, width)
        * (1 - 1 / (width + 1))
        * USUAL.get(dialect.delimiter or "", STRANGE)
        * _quoting(sample, dialect)
    )


def _single_score(sample: str) -> float:
    cells = [line for line in sample.splitlines()[:SAMPLE_ROWS] if line.strip()]
    known = sum(WORTH[kind_of(cell)] for cell in cells) / max(len(cells), 1)
    return 0.35 * known if known > 0.7 else 0.05


def _evenness(rows: list[list[str]], width: int) -> float:
    """1 when every record has the same number of cells; short records cost less than long ones."""
    same = sum(len(row) == width for row in rows)
    short = sum(1 < len(row) < width for row in rows)
    lone = sum(len(row) == 1 for row in rows)
    return (same + 0.3 * short + 0.15 * lone) / len(rows)


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
    mark = re.escape(_symbol(dialect) if dialect.delimiter != " " else " ")
    if dialect.delimiter is not None and len(dialect.delimiter) > 1:
        mark = re.escape(dialect.delimiter)

    def wrapped(quote: str) -> int:
        opened = len(re.findall(rf"(?:^|{mark}){quote}(?=[^{mark}\s])", sample, re.MULTILINE))
        closed = len(re.findall(rf"(?<=[^{mark}\s]){quote}(?:\r?$|{mark})", sample, re.MULTILINE))
        return min(opened, closed)

    mine = wrapped(dialect.quote) if dialect.quote else 0
    other = wrapped("'" if dialect.quote == '"' else '"')
    return (
        (1.1 if mine else 1.0) * (0.8 if other > mine else 1.0) * (0.97 if dialect.quote == "'" and not mine else 1.0)
    )
