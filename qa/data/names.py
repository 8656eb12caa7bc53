"""Display names of columns and identifiers of tables (LANGUAGE 4b.1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

LONGEST = 500
"""Characters of a name that are kept."""
_SPACES = re.compile(r"\s+")
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\x00"))
_NOT_IDENTIFIER = re.compile(r"\W+")


def display_names(headers: Sequence[str | None]) -> list[str]:
    """One name a column, unique ignoring case: trimmed, spaces joined; blank is `column 3`, a repeat `Score (2)`."""
    plain = [tidy(header) or f"column {index + 1}" for index, header in enumerate(headers)]
    taken: set[str] = set()
    # A name that stands alone keeps its spelling; only later repeats are numbered around it.
    spoken_for = {name.casefold() for name in plain}
    return [_unused(name, taken, spoken_for) for name in plain]


def tidy(text: str | None) -> str:
    """A header or cell without edge spaces, line breaks and invisible marks."""
    return _SPACES.sub(" ", (text or "")[: LONGEST * 4].translate(_INVISIBLE)).strip()[:LONGEST]


def _unused(name: str, taken: set[str], spoken_for: set[str]) -> str:
    chosen, count = name, 2
    while chosen.casefold() in taken or (chosen != name and chosen.casefold() in spoken_for):
        chosen, count = f"{name} ({count})", count + 1
    taken.add(chosen.casefold())
    return chosen


def identifier(text: str) -> str:
    """A table name out of a file or sheet name: letters, digits and `_`, not starting with a digit."""
    word = _NOT_IDENTIFIER.sub("_", unicodedata.normalize("NFKC", text)).strip("_")[:60]
    if not word:
        return "table"
    return word if not word[0].isdigit() else f"t_{word}"


def file_stem(path: Path) -> str:
    """The file's name without its endings: `sales.csv.gz` is `sales`."""
    return path.name.split(".")[0] or path.stem


def distinct_identifiers(names: Sequence[str]) -> list[str]:
    """Identifiers for several tables of one file, unique ignoring case."""
    taken: set[str] = set()
    result = []
    for name in map(identifier, names):
        chosen, count = name, 2
        while chosen.casefold() in taken:
            chosen, count = f"{name}_{count}", count + 1
        taken.add(chosen.casefold())
        result.append(chosen)
    return result
