"""Tell data rows from the rows that sum them up or comment on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import fmean, median

from qa.data.cells import TYPED, kind_of
from qa.data.headings import Row, filled, usual

COMMENT = re.compile(r"\s*(?:#|//|--|%(?!\s*\d)|\*|!|;)")
NOTE = re.compile(
    r"\s*(?:\*|†|‡|\(?\d\)|\[\d\]|notes?\b|sources?\b|footnote|disclaimer|generated|created|exported|printed|end of|©|\(c\)|quelle|hinweis|anmerkung|stand:|fuente|nota\b|nb\b|n\.b\.|remark|legend|\(?\d+ (?:rows?|records?)\b)",
    re.IGNORECASE,
)  # fmt: skip
TOTAL_WORD = r"(?:total|totals|totaal|totale|totaux|sum|summe|gesamt|gesamtsumme|zwischensumme|insgesamt|subtotal|sub-total|somme|suma|итого|всего|合計|總計|总计|合计|小计|小計|toplam|łącznie|razem)"
HINTS = ("tot", "sum", "gesamt", "som", "итог", "всего", "計", "计", "toplam", "cznie", "razem")
"""One of these is in every word for a total."""
TOTAL = re.compile(
    rf"\s*(?:(?:grand|sub|overall|running|report|column|sum)[\s-]*)?{TOTAL_WORD}\s*(?:general|général|gesamt|sum|amount)?\s*(?:\(.*\))?\s*:?\s*",
    re.IGNORECASE,
)
TOTAL_OF = re.compile(rf".{{0,60}}\b{TOTAL_WORD}\b.{{0,60}}", re.IGNORECASE)
SUMMARY = re.compile(r"\s*(?:average|avg\.?|mean|median|std\.?(?: ?dev\.?)?|count|min(?:imum)?|max(?:imum)?|mittelwert|durchschnitt|moyenne|promedio|media)\s*:?\s*", re.IGNORECASE)  # fmt: skip

LABEL_CELLS = 4
"""A label that says total stands in one of the first cells."""


def footers(rows: Sequence[Row], body: Sequence[int]) -> set[int]:
    """Trailing notes: thin rows under a table of wider ones, set apart by a sign, by words or by a blank row."""
    width = usual(filled(rows[at]) for at in body[:2000])
    result: set[int] = set()
    if width < 2:
        return result
    for place in range(len(body) - 1, max(len(body) - 100, 0), -1):
        row = rows[body[place]]
        count, first = filled(row), next(cell for cell in row if cell.strip())
        apart = body[place] - body[place - 1] > 1
        marked = bool(NOTE.match(first) or COMMENT.match(first)) and kind_of(first) not in TYPED
        thin = count == 1 and bool(row[0].strip()) and (width > 2 or apart or marked)
        if not (thin or (count <= 2 < width and marked)) or TOTAL.fullmatch(first):
            # A blank row parts the notes from the table: everything thin below it is a note.
            break
        result.add(body[place])
    return result


def totals(rows: Sequence[Row], data: Sequence[int]) -> tuple[set[int], tuple[int, ...]]:
    """Rows that sum up others: (those proven so, by arithmetic or by their blank keys at the end; those only called so)."""
    hinted = [at for at in data if _hints("\n".join(rows[at][:LABEL_CELLS]).lower())]
    strict = [at for at in hinted if any(TOTAL.fullmatch(cell) for cell in rows[at][:LABEL_CELLS] if cell)]
    loosely = [
        at
        for at in hinted
        if any(len(cell) < 130 and TOTAL_OF.fullmatch(cell) for cell in rows[at][:LABEL_CELLS] if cell)
    ]
    tail = _summaries(rows, data)
    called = sorted({*strict, *loosely, *data[-1:], *tail})
    if len(called) * 2 > len(data) + 3 or len(data) < 3:
        return set(), tuple(strict)
    arithmetic = _Sums(rows, data, set(called))
    width = usual(filled(rows[at]) for at in data[:2000])
    proven: set[int] = set(tail)
    for at in called:
        blank = filled(rows[at]) < width
        if at in strict or at in loosely:
            if arithmetic.prove(at) or (at in strict and blank and _only_totals_after(at, data, called)):
                proven.add(at)
        elif at not in tail and _no_label(rows[at]) and blank and arithmetic.prove(at):
            proven.add(at)
    return proven, tuple(at for at in strict if at not in proven)


def _hints(text: str) -> bool:
    return any(hint in text for hint in HINTS)


def _only_totals_after(at: int, data: Sequence[int], called: Sequence[int]) -> bool:
    return all(other in called for other in data[-10:] if other >= at) and at >= data[-10:][0]


def _no_label(row: Row) -> bool:
    return not any(cell.strip() and kind_of(cell) != "number" for cell in row)


def _summaries(rows: Sequence[Row], data: Sequence[int]) -> set[int]:
    """Averages and the like at the very end, with their keys blank."""
    width = usual(filled(rows[at]) for at in data[:2000])
    result: set[int] = set()
    for at in reversed(data[-8:]):
        first = next((cell for cell in rows[at] if cell.strip()), "")
        if SUMMARY.fullmatch(first) and (filled(rows[at]) < width or _summarises(rows, data, at, first)):
            result.add(at)
        elif not TOTAL.fullmatch(first):
            break
    return result


def _summarises(rows: Sequence[Row], data: Sequence[int], at: int, label: str) -> bool:
    """Do the numbers of a row called average, median, least, most or count come out of the rows above?"""
    figure = next((figure for words, figure in FIGURES if words.match(label)), None)
    above = [rows[other] for other in data if other < at and not SUMMARY.fullmatch(rows[other][0])]
    if figure is None or len(above) < 2:
        return False
    checked = agreed = 0
    for column, cell in enumerate(rows[at]):
        value = amount(cell) if kind_of(cell) == "number" else None
        values = [found for row in above if column < len(row) and (found := amount(row[column])) is not None]
        if value is None or not values:
            continue
        checked += 1
        agreed += abs(figure(values) - value) <= max(0.006, abs(value) * 0.006)
    return agreed >= 1 and agreed * 2 >= checked


FIGURES: tuple[tuple[re.Pattern[str], Callable[[list[float]], float]], ...] = tuple(
    (re.compile(rf"\s*(?:{words})", re.IGNORECASE), figure)
    for words, figure in (
        ("average|avg|mean|mittelwert|durchschnitt|moyenne|promedio|media(?!n)", fmean),
        ("median", median),
        ("count", len),
        ("min", min),
        ("max", max),
    )
)
"""What a label promises, and how that is worked out."""


class _Sums:
    """Whether numbers of a row are the sums of their columns: since the last total, or over every plain row above."""

    def __init__(self, rows: Sequence[Row], data: Sequence[int], called: set[int]) -> None:
        self.rows, self.called = rows, called
        self.data = data
        self.place = {at: place for place, at in enumerate(data)}
        self.bounds = sorted(self.place[at] for at in called)
        self.running: dict[int, tuple[list[float], list[int]]] = {}

    def prove(self, at: int) -> bool:
        row, place = self.rows[at], self.place[at]
        since = max((bound + 1 for bound in self.bounds if bound < place), default=0)
        checked = agreed = 0
        for column, cell in enumerate(row):
            value = amount(cell) if kind_of(cell) == "number" else None
            if value is None:
                continue
            checked += 1
            agreed += any(self._sums_to(value, column, start, place) for start in {since, 0})
        return agreed >= 1 and agreed * 2 >= checked and self._not_trivial(row)

    def _not_trivial(self, row: Row) -> bool:
        return any(value for cell in row if kind_of(cell) == "number" and (value := amount(cell)))

    def _sums_to(self, value: float, column: int, start: int, place: int) -> bool:
        sums, counts = self._column(column)
        count = counts[place] - counts[start]
        return count >= 2 and abs(sums[place] - sums[start] - value) <= max(0.006 * count, abs(value) * 1e-6)

    def _column(self, column: int) -> tuple[list[float], list[int]]:
        """Running sums and counts of the plain rows of a column, by place."""
        if column not in self.running:
            sums, counts = [0.0], [0]
            for at in self.data:
                row = self.rows[at]
                value = amount(row[column]) if at not in self.called and column < len(row) else None
                sums.append(sums[-1] + (value or 0.0))
                counts.append(counts[-1] + (value is not None))
            self.running[column] = (sums, counts)
        return self.running[column]


NOT_AMOUNT = re.compile(r"[^\d.,()\-]")


def amount(cell: str) -> float | None:
    """The number a cell shows, its decimal sign guessed from the cell alone; None when it shows none."""
    text = NOT_AMOUNT.sub("", cell)
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
