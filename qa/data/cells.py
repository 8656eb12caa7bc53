"""The rough shape of a cell's text, as far as finding a table needs it (typing a column is another matter)."""

from __future__ import annotations

import re
from functools import lru_cache

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("empty", re.compile(r"\s*|-+|n/?a|null|none|nan|\?", re.IGNORECASE)),
    ("number", re.compile(r"[-+(]?\s*[$€£¥]?\s*[-+]?(?:\d+|\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+|\d{0,40})(?:[.,]?\d+)(?:e[-+]?\d+)?\s*[%$€£¥)]?", re.IGNORECASE)),
    ("date", re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ](?:\d{1,2}|[a-z]{3,9})[-/. ]\d{2,4})(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]m)?\s*(?:Z|[-+]\d{2}:?\d{2})?)?", re.IGNORECASE)),
    ("time", re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]m)?", re.IGNORECASE)),
    ("address", re.compile(r"(?:https?://|ftp://|www\.|mailto:)\S+|[\w.+-]+@[\w-]+\.[\w.-]+|(?:\d{1,3}\.){3}\d{1,3}", re.IGNORECASE)),
    ("word", re.compile(r"[\w][\w.\-/]*")),
    ("text", re.compile(r"[^\s,;|\t~^\"][^,;|\t~^\"]*[^\s,;|\t~^\":]")),
)  # fmt: skip

TYPED = frozenset({"number", "date", "time", "address"})
"""The shapes that values have and names of columns rarely do."""

TORN = re.compile(r"^[\"'](?!.*[\"'])|^[^\"']*[\"']$", re.DOTALL)


@lru_cache(maxsize=1 << 16)
def kind_of(cell: str) -> str:
    """empty, number, date, time, address, word, text, odd, or torn by a stray quote."""
    head = cell[:200].strip()
    for name, pattern in KINDS:
        if pattern.fullmatch(head):
            return name
    return "torn" if TORN.search(head) else "odd"
