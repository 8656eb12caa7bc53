"""The question as a row of typed nodes: what the grammar reads, one letter a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from qa.planner.offline.links import Link

LETTERS = {
    "column": "C", "value": "V", "number": "N", "date": "D", "ordinal": "O", "light": "l", "row": "n",
    "unknown": "?", "expression": "C", "partner": "@", "symbol": ".", "ignored": "i",
}  # fmt: skip
TAG_LETTERS = {
    "WH": "w", "SHOW": "s", "COUNT": "k", "DISTINCT": "u", "BE": "b", "OF": "o", "HAVE": "h", "PREP": "p", "AS": "a",
    "AND": "&", "OR": "|", "COMMA": ",", "NOT": "!", "BETWEEN": "B", "TO": "T", "CMP": ">", "ORMORE": "m", "ORLESS": "m",
    "AFTER": "A", "BEFORE": "A", "BY": "y", "EACH": "e", "COMBO": "x", "ORDER": "r", "DIR": "d", "ALPHA": "L", "AGG": "G",
    "RARE": "R", "SUP": "S", "SUPOF": "Z", "CMPOF": "z", "TOP": "t", "SHARE": "%", "RATE": "%", "RATIO": "/", "CORR": "c",
    "DIST": "H", "DESCRIBE": "E", "DIFF": "-", "COMPARE": "v", "EXIST": "q", "CONTAINS": "~", "STARTS": "~", "ENDS": "~",
    "MISSING": "0", "KNOWN": "0", "TIMES": "*", "MINUS": "*", "OVER": "*", "PLUSOP": "*", "PRODUCT": "P", "ALONE": "1",
    "GRAIN": "g", "TREND": "f", "BANDS": "W", "REL": "j", "THAN": "2", "AVERAGEOF": "M", "BELOWAVERAGE": "M",
    "MEDIANOF": "M", "SORT": "^", "MORE": "Y", "CHART": "s", "BELOWMEDIAN": "M", "QUARTILE": "5", "QUANTILE": "6", "TRUEWORD": "7",
    "PIVOT": "X", "STEP": "$", "AGG2": "9",
}  # fmt: skip
PRIORITY = (
    "SUPOF", "CMPOF", "ORDER", "ALPHA", "DIR", "AVERAGEOF", "BELOWAVERAGE", "MEDIANOF", "BELOWMEDIAN", "TREND", "COUNT", "DIFF",
    "SHARE", "EACH", "CORR", "DIST", "DESCRIBE", "CONTAINS", "STARTS", "ENDS", "KNOWN", "MISSING", "BETWEEN", "ORMORE", "ORLESS",
    "ALONE", "EXIST", "COMPARE", "BANDS", "RARE", "AGG", "SUP", "TOP", "CMP", "AFTER", "BEFORE", "WH", "GRAIN",
)  # fmt: skip


FLIP = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}
ADJACENT = frozenset({"day", "week", "month", "year", "right", "just", "immediately", "game", "one", "directly"})
"""before `before` and `after` these ask for the neighbour, not for everything earlier or later"""


@dataclass
class Filter:
    """A condition on rows. `columns` are the ids it reads, `said` the words it came from."""

    formula: str
    columns: tuple[str, ...]
    said: str
    values: tuple[object, ...] = ()
    op: str = "="
    rank: float = 1.0
    note: str = ""
    sides: tuple[tuple[str, str], ...] = ()
    """(condition, label) of each named value, when several of one column are named"""


@dataclass(eq=False)
class Node:
    """One unit of meaning. `letter` is what the grammar matches; a filter carries its condition."""

    letter: str
    links: tuple[Link, ...]
    op: str = ""
    numbers: tuple[float, ...] = ()
    filters: list[list[Filter]] = field(default_factory=list)
    """alternative sets of conditions, when a value fits several columns"""
    columns: tuple[tuple[str, float], ...] = ()
    parts: tuple[Link, ...] = ()
    """the single values of a list of values"""

    @property
    def link(self) -> Link:
        return self.links[0]

    @property
    def text(self) -> str:
        return " ".join(link.text for link in self.links)

    @property
    def word(self) -> str:
        return self.text.lower()

    def tag(self, head: str) -> str | None:
        return self.link.tag(head)


def nodes(cover: Sequence[Link]) -> list[Node]:
    """The cover as nodes, ignored words left out; a word of several meanings takes the one that fits its place."""
    kept = [link for link in cover if link.kind not in ("ignored", "symbol")]
    kept = [
        link for at, link in enumerate(kept) if not (at and link.text == "-" and kept[at - 1].tag("NOT") is not None)
    ]
    row: list[Node] = []
    for at, link in enumerate(kept):
        if link.kind != "word":
            row.append(Node(LETTERS[link.kind], (link,), columns=link.columns))
            continue
        head = _meaning(kept, at)
        if (
            head in ("AFTER", "BEFORE")
            and at
            and kept[at - 1].last == link.first - 1
            and kept[at - 1].text.lower() in ADJACENT
        ):
            row.append(Node("?", (link,)))
            continue
        argument = link.tag(head) or ""
        row.append(Node(TAG_LETTERS[head], (link,), op=argument if head != "ORLESS" else "<="))
    return row


def _meaning(kept: Sequence[Link], at: int) -> str:
    link = kept[at]
    heads = [tag.partition(":")[0] for tag in link.tags]
    if len(heads) == 1 and heads[0] not in ("CMP", "AFTER", "BEFORE", "TO", "FROMTO"):
        return heads[0]
    before = kept[at - 1] if at else None
    after = kept[at + 1] if at + 1 < len(kept) else None
    numeric = after is not None and after.kind in ("number", "ordinal", "date", "value")
    if after is not None and after.kind == "column" and "CMP" in heads:
        later = kept[at + 2] if at + 2 < len(kept) else None
        counted = later is not None and (later.kind == "number" or later.tag("THAN") is not None)
        numeric = counted or link.text.lower() not in ("over", "under", "above", "below", "beyond")
    if "WH" in heads:
        clause = link.tag("WH") in ("what", "which", "howmuch", "how")
        opening = before is None or (clause and (before.tag("COMMA") is not None or before.tag("AND") is not None))
        opening = (
            opening or before is None or (before.tag("PREP") is not None and at == 1) or before.tag("SHOW") is not None
        )
        return "WH" if opening or "PREP" not in heads else "PREP"
    if "TOP" in heads:
        several = after is not None and (
            after.kind == "number" or (after.kind in ("column", "row") and after.text.lower().endswith("s"))
        )
        return "TOP" if several else "SUP"
    if "TO" in heads and after is not None and after.kind == "value":
        return "PREP"
    if "CMP" in heads and not numeric:
        return "PREP" if link.text.lower() in ("over", "under", "above", "below", "beyond") else "CMP"
    if "FROMTO" in heads or "PREP" in heads:
        rest = [h for h in heads if h not in ("FROMTO", "PREP")]
        return rest[0] if rest and numeric else "PREP"
    for head in PRIORITY:
        if head in heads:
            return head
    return heads[0]


def letters(row: Sequence[Node]) -> str:
    return "".join(node.letter for node in row)


def links_of(used: Sequence[Node]) -> tuple[Link, ...]:
    return tuple(link for node in used for link in node.links)


def condition_of(used: Sequence[Node], alternatives: list[list[Filter]]) -> Node:
    """The node of a condition made from other nodes; each alternative is a set of conditions that hold together."""
    return Node("F", links_of(used), filters=alternatives)
