"""Judge a prediction against what a record says is right: values by number or folded text, rows in any column order."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

Verdict = Literal["right", "wrong", "unscored"]

_TRUE_WORDS = {"true": "yes", "false": "no", "1": "yes", "0": "no", "yes": "yes", "no": "no"}
_NOTHING = frozenset({"none", "null", "nan", "nat", "<na>"})
"""how gold answers write a missing value"""
_DIGITS = 6
_MOST_ORDERS = 200


def verdict(answer: Any, record: dict[str, Any]) -> Verdict:
    """Whether the answer is what the record's `expected` or `answer` says; `unscored` when it says nothing."""
    if "expected" in record:
        return "right" if _expected(_rows(answer), record["expected"]) else "wrong"
    if "answer" not in record:
        return "unscored"
    gold = record["answer"]
    match record.get("compare"):
        case "named_values":
            return "right" if _named(answer, gold) else "wrong"
        case "wtq" | "tablebench":
            right = {_key(cell) for row in _rows(answer) for cell in row} == {
                _key(cell) for row in _rows(gold) for cell in row
            }
        case "databench":
            right = _bag([[cell] for row in _rows(answer) for cell in row], 3) == _bag(
                [[cell] for row in _rows(gold) for cell in row], 3
            )
        case _:
            right = _same_table(_rows(answer), _rows(gold), bool(record.get("ordered")))
    return "right" if right else "wrong"


def _rows(value: Any) -> list[list[Any]]:
    if value is None:
        return []
    if isinstance(value, dict):
        return [[name, item] for name, item in value.items()]
    if not isinstance(value, list):
        return [[value]]
    return [list(row) if isinstance(row, list) else [row] for row in value]


def _expected(rows: list[list[Any]], expected: dict[str, Any]) -> bool:
    """A value in the one row (or the first), or a value for each group."""
    tolerance, percent = float(expected.get("tol", 1e-6)), bool(expected.get("percent"))
    groups = expected.get("means") or expected.get("rates")
    if groups and len(rows) >= len(groups):
        return all(
            any(_holds(row, name, value, max(tolerance, 1e-4), percent) for row in rows)
            for name, value in groups.items()
        )
    return bool(rows) and any(_near(cell, expected.get("value"), tolerance, percent) for cell in rows[0])


def _holds(row: Sequence[Any], name: str, value: Any, tolerance: float, percent: bool) -> bool:
    labelled = any(_key(cell) == _key(name) or _word(cell) == _word(name) for cell in row)
    return labelled and any(_near(cell, value, tolerance, percent) for cell in row)


def _word(cell: Any) -> str:
    folded = str(cell).strip().casefold()
    return _TRUE_WORDS.get(folded, folded)


def _near(cell: Any, wanted: Any, tolerance: float, percent: bool) -> bool:
    got, right = _number(cell), _number(wanted)
    if got is None or right is None:
        return _word(cell) == _word(wanted)
    return any(
        abs(got * scale - right) <= max(tolerance, 1e-9 * abs(right)) for scale in ((1.0, 100.0) if percent else (1.0,))
    )


def _named(answer: Any, gold: Any) -> bool:
    """Every named value equal, numbers to the decimals that the label shows."""
    given = answer if isinstance(answer, dict) else {}
    for name, label in {str(pair[0]): pair[1] for pair in gold}.items():
        got, right = _number(given.get(name)), _number(label)
        if got is None or right is None:
            if name not in given or _word(given[name]) != _word(label):
                return False
            continue
        decimals = len(str(label).partition(".")[2])
        if abs(got - right) > 0.5000001 * 10.0**-decimals and not math.isclose(got, right, rel_tol=1e-9):
            return False
    return True


def _same_table(got: list[list[Any]], gold: list[list[Any]], ordered: bool) -> bool:
    """The same rows, as a list or as a bag, for some order of the columns."""
    if not gold or not got:
        return len(gold) == len(got)
    width = len(gold[0])
    if len(got) != len(gold) or any(len(row) != width for row in [*got, *gold]):
        return False
    fits = [
        [
            place
            for place in range(width)
            if _bag([[row[place]] for row in got]) == _bag([[row[column]] for row in gold])
        ]
        for column in range(width)
    ]
    wanted = _list(gold) if ordered else sorted(_list(gold))
    for order in itertools.islice(itertools.product(*fits), _MOST_ORDERS):
        if len(set(order)) == width:
            arranged = _list([[row[place] for place in order] for row in got])
            if (arranged if ordered else sorted(arranged)) == wanted:
                return True
    return False


def _list(rows: list[list[Any]], digits: int = _DIGITS) -> list[str]:
    return ["\x1f".join(_key(cell, digits) for cell in row) for row in rows]


def _bag(rows: list[list[Any]], digits: int = _DIGITS) -> list[str]:
    return sorted(_list(rows, digits))


def _key(cell: Any, digits: int = _DIGITS) -> str:
    """The same text for cells that count as equal."""
    number = _number(cell)
    if number is not None:
        return f"{number:.{digits - 1}e}" if number else "0"
    if cell is None:
        return ""
    plain = " ".join(unicodedata.normalize("NFKC", str(cell)).casefold().split())
    return "" if plain in _NOTHING else re.sub(r"[t ]00:00(:00)?(\.0+)?$", "", plain)


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return float(cell) if math.isfinite(cell) else None
    text = str(cell).strip().replace("−", "-")
    if not re.fullmatch(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?", text) or not re.search(r"\d", text):
        return None
    return float(text.replace(",", ""))
