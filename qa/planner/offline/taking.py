"""Sorts the words between the conditions by the part they play, one function a letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from qa.planner.offline import formula as write
from qa.planner.offline.core import Asked, Grounds, NotRead, skip
from qa.planner.offline.nodes import Node
from qa.planner.offline.predicates import MIRROR, measured_column, turned
from qa.planner.offline.text import header_words
from qa.types import Kind

MOSTLY = frozenset({"most", "the most", "fewest", "least", "the least"})


class Taking(Grounds):
    """Takes what belongs to each word; a word that belongs to nothing refuses the reading."""

    def _asked(self, row: list[Node]) -> Asked:
        asked = Asked()
        at = 0
        while at < len(row):
            step = self._take.get(row[at].letter)
            at = step(self, row, at, asked) if step else at + 1
        return asked

    # one function a letter: takes what belongs to it, gives the next place
    def _take_column(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.targets.append(row[at])
        return at + 1

    def _take_wh(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.wh.append(row[at].op)
        return at + 1

    def _take_row(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.rows = True
        return at + 1

    def _take_distinct(self, row: list[Node], at: int, asked: Asked) -> int:
        """`the average price for different brands` is an average of each brand."""
        led = at and row[at - 1].letter in "ph"
        if led and asked.metrics and at + 1 < len(row) and row[at + 1].letter == "C" and not asked.counts:
            asked.keys.append(row[at + 1])
            return at + 2
        asked.distinct = True
        return at + 1

    def _take_count(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = skip(row, at + 1, "ol")
        if nxt < len(row) and row[nxt].letter in "GS":
            return nxt
        distinct = nxt < len(row) and row[nxt].letter == "u"
        nxt = skip(row, nxt + 1, "ol") if distinct else nxt
        if nxt < len(row) and row[nxt].letter == "C":
            asked.counts.append((distinct, row[nxt]))
            asked.subject = nxt + 1 < len(row) and row[nxt + 1].letter == "h"
            asked.said_total = "total" in row[at].word or (
                row[at].word.startswith("number") and at > 0 and row[at - 1].letter == "s"
            )
            end = nxt + 1
            while distinct and end + 1 < len(row) and row[end].letter in "&," and row[end + 1].letter == "C":
                asked.counts.append((True, row[end + 1]))
                end += 2
            return end
        if nxt < len(row) and row[nxt].letter == "@":
            raise NotRead(row[nxt].text)
        between = [n for n in row[at + 1 : nxt] if n.letter == "l"]
        if any(n.word in self.lex.row_nouns for n in between):
            raise NotRead(*[n.text for n in between])
        asked.counts.append((distinct, None))
        if nxt < len(row) and row[nxt].letter == "n":
            asked.rows = True
            after = skip(row, nxt + 1, "n")
            if (
                after < len(row)
                and row[after].letter == "C"
                and self._numeric(row[after])
                and row[after].columns[0][1] >= 0.6
            ):
                asked.counts[-1] = (distinct, row[after])
                return after + 1
            return after
        return at + 1

    def _take_aggregate(self, row: list[Node], at: int, asked: Asked) -> int:
        functions = [row[at].op]
        nxt = at + 1
        while nxt < len(row) and row[nxt].letter in ",&":
            after = skip(row, nxt, ",&")
            if after >= len(row) or row[after].letter not in "GS":
                break
            functions.append(row[after].op)
            nxt = after + 1
        nxt = skip(row, nxt, "okuln" if nxt < len(row) and row[nxt].letter == "k" else "ou")
        columns, end = self._column_list(row, nxt)
        for place, node in enumerate(columns[1:], 1):
            if self._is_text(node):
                columns, end = columns[:place], self.row_place(row, columns[place])
                break
        if not columns:
            asked.metrics += [(fn, None) for fn in functions]
            return max(at + 1, nxt if nxt > at + 1 and row[nxt - 1].letter == "G" else at + 1)
        asked.metrics += [(fn, node) for node in columns for fn in functions]
        return end

    def row_place(self, row: list[Node], node: Node) -> int:
        return next(n for n, other in enumerate(row) if other is node)

    def _column_list(self, row: list[Node], at: int, over: str = "") -> tuple[list[Node], int]:
        """The columns that are listed from a place on, and the place behind; `over` are letters between them to pass."""
        found: list[Node] = []
        while at < len(row) and row[at].letter == "C":
            found.append(row[at])
            nxt = skip(row, at + 1, ",&")
            passed = skip(row, nxt, over) if nxt > at + 1 else nxt
            nxt = passed if passed < len(row) and self._measures(row[passed]) else nxt
            if nxt > at + 1 and nxt < len(row) and row[nxt].letter == "C":
                at = nxt
            else:
                return found, at + 1
        return found, at

    def _take_super(self, row: list[Node], at: int, asked: Asked) -> int:
        direction = row[at].op
        self._number_before(row, at, asked)
        nxt = skip(row, at + 1, "o")
        if nxt < len(row) and row[nxt].letter == "#" and asked.limit is None:
            asked.limit = int(row[nxt].numbers[0])
            nxt = skip(row, nxt + 1, "o")
        if nxt < len(row) and row[nxt].letter == "G":
            after = skip(row, nxt + 1, "oku")
            if after < len(row) and row[after].letter == "C":
                asked.supers.append((direction, row[nxt].op, row[after]))
                return after + 1
            asked.supers.append((direction, row[nxt].op, None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "k":
            after = skip(row, nxt + 1, "o")
            if after < len(row) and row[after].letter == "C" and self._measures(row[after]):
                asked.supers.append((direction, "column", row[after]))
                return after + 1
            asked.supers.append(
                (direction, "count", row[after] if after < len(row) and row[after].letter == "C" else None)
            )
            return after + 1 if after < len(row) and row[after].letter in "Cnl" else after
        if nxt < len(row) and row[nxt].letter == "C" and self.is_id(self.linker.column(row[nxt].columns[0][0])):
            if row[at].word not in MOSTLY and "number" not in row[at].word:
                raise NotRead(row[nxt].text)
            asked.supers.append((direction, "count", None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "C":
            rate = nxt + 1 < len(row) and row[nxt + 1].link.tag("RATE") is not None and row[nxt + 1].letter == "%"
            asked.supers.append((direction, "rate" if rate else "column", row[nxt]))
            return nxt + 1 + rate
        if nxt + 1 < len(row) and row[nxt].letter == "l" and row[nxt + 1].letter == "C" and self._numeric(row[nxt + 1]):
            nxt += 1
            asked.supers.append((direction, "column", row[nxt]))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter in "nl":
            asked.supers.append((direction, "count", None))
            return nxt + 1
        if nxt < len(row) and row[nxt].letter == "@":
            raise NotRead(row[nxt].text)
        asked.supers.append((direction, "open", None))
        return at + 1

    def _take_adjective(self, row: list[Node], at: int, asked: Asked) -> int:
        said = row[at].link.tag("SUPOF") or ""
        direction, groups = self.lex.superlatives[tuple(said.split())][0], self.lex.superlatives[tuple(said.split())][1]
        self._number_before(row, at, asked)
        nxt = at + 1
        if nxt < len(row) and row[nxt].letter == "#" and asked.limit is None:
            asked.limit = int(row[nxt].numbers[0])
            nxt += 1
        if nxt < len(row) and row[nxt].letter == "C" and self._about(row[nxt], groups):
            asked.value = True
            if turned(self.lex, groups, self.linker.column(row[nxt].columns[0][0])):
                direction = MIRROR[direction]
            asked.supers.append((direction, "column", row[nxt]))
            return nxt + 1
        id = measured_column(self.index, self.lex, groups)
        if id is None:
            raise NotRead(row[at].text)
        if turned(self.lex, groups, self.linker.column(id)):
            direction = MIRROR[direction]
        unit = nxt
        while unit < len(row) and row[unit].letter != "p":
            unit += 1
        if unit + 1 < len(row) and row[unit + 1].letter == "C" and row[unit + 1].columns[0][0] == id:
            asked.value = True
        self.query.notes.append(
            f"{said} = {'highest' if direction == 'max' else 'lowest'} {self.linker.column(id).name}"
        )
        asked.supers.append((direction, "column", Node("C", row[at].links, columns=((id, 0.9),))))
        return nxt

    def _about(self, node: Node, groups: Sequence[Sequence[str]]) -> bool:
        """True when a column is what the adjective measures: `heaviest whole weight`, `earliest year`."""
        column = self.linker.column(node.columns[0][0])
        wanted = {self.lex.root(w) for group in groups for word in group for w in word.split()}
        named = {self.lex.root(w) for w in header_words(column.name)}
        return column.kind is not Kind.TEXT and bool(wanted & named)

    def _take_top(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.top = True
        nxt = at + 1
        if nxt < len(row) and row[nxt].letter == "#":
            asked.limit = int(row[nxt].numbers[0])
            nxt += 1
        asked.supers.append((row[at].op, "top", None))
        return nxt

    def _number_before(self, row: list[Node], at: int, asked: Asked) -> None:
        if at and row[at - 1].letter == "#" and asked.limit is None:
            asked.limit = int(row[at - 1].numbers[0])

    def _take_limit(self, row: list[Node], at: int, asked: Asked) -> int:
        return at + 1

    def _take_sort(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.sort = True
        return at + 1

    def _take_each(self, row: list[Node], at: int, asked: Asked) -> int:
        if row[at].letter == "y" and self._passive(row, at):
            return at + 1
        if at + 1 < len(row) and row[at + 1].letter == "@" and (at + 2 == len(row) or row[at + 2].letter != "C"):
            raise NotRead(row[at + 1].text)
        nxt = skip(row, at + 1, "oxulhek@" if row[at].letter != "y" else "oxulk")
        if asked.sort and nxt < len(row) and row[nxt].letter == "C":
            asked.sort = False
            asked.orders.append((row[nxt], "asc"))
            return nxt + 1
        if row[at].letter == "y" and asked.top and nxt < len(row) and row[nxt].letter in "GS":
            return nxt
        if nxt + 2 < len(row) and row[nxt].letter == "C" and row[nxt + 1].letter == "W" and row[nxt + 2].letter == "N":
            asked.keys.append(self._banded(row[nxt], row[nxt + 2]))
            return nxt + 3
        if nxt < len(row) and row[nxt].letter == "C" and nxt + 1 < len(row) and row[nxt + 1].letter == "5":
            asked.keys.append(self._quartered(row[nxt]))
            return nxt + 2
        if nxt < len(row) and row[nxt].letter == "C":
            columns, end = self._column_list(row, nxt, over="k")
            asked.keys += columns
            return end
        if nxt < len(row) and row[nxt].letter == "g":
            asked.keys.append(row[nxt])
            return nxt + 1
        if nxt + 2 < len(row) and row[nxt].letter in "nl" and row[nxt + 1].letter == "o" and row[nxt + 2].letter == "C":
            asked.keys.append(row[nxt + 2])
            return nxt + 3
        if nxt < len(row) and row[nxt].letter == "n":
            if row[at].letter == "y":
                raise NotRead(row[nxt].text)
            asked.each_row = True
            return nxt + 1
        if row[at].letter == "y":
            raise NotRead(row[at].text)
        asked.each_row = True
        return at + 1

    def _banded(self, node: Node, width: Node) -> Node:
        """`by age in bands of 10`."""
        column, size = self.measurable(node), write.number(width.link.number or 1.0)
        return Node("K", node.links, op=f"bin({self.name(column)}, width={size})", columns=node.columns)

    def _quartered(self, node: Node) -> Node:
        """`by height quartiles`."""
        return Node("K", node.links, op=f"quantile_bin({self.name(self.measurable(node))}, 4)", columns=node.columns)

    def _take_rank(self, row: list[Node], at: int, asked: Asked) -> int:
        """`the 90th percentile of amount`."""
        after = skip(row, at + 2, "o")
        if at + 1 < len(row) and row[at + 1].letter == "6" and after < len(row) and row[after].letter == "C":
            asked.metrics.append((f"quantile:{(row[at].link.number or 0) / 100:g}", row[after]))
            return after + 1
        raise NotRead(row[at].text)

    def _passive(self, row: list[Node], at: int) -> bool:
        """True for `won by all teams`: the word before is what they did."""
        place = row[at].link.first - 1
        word = self.linker.folded[place] if place >= 0 else ""
        return word.endswith(("ed", "wn", "ten")) or self.lex.irregular.get(word) in (
            "win",
            "make",
            "give",
            "hold",
            "take",
            "sell",
            "write",
            "pay",
            "choose",
            "lead",
            "fly",
            "draw",
            "spend",
        )

    def _take_order(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = skip(row, at + 1, "nlkopbu")
        if nxt < len(row) and row[nxt].letter == "C":
            direction = row[at].op
            end = nxt + 1
            look = skip(row, end, ",pb")
            if look < len(row) and row[look].letter == "d":
                direction, end = row[look].op, look + 1
            asked.orders.append((row[nxt], direction))
            return end
        if nxt < len(row) and row[nxt].letter == "d":
            after = skip(row, nxt + 1, "op")
            if after < len(row) and row[after].letter == "C":
                asked.orders.append((row[after], row[nxt].op))
                return after + 1
        raise NotRead(row[at].text)

    def _take_direction(self, row: list[Node], at: int, asked: Asked) -> int:
        if asked.orders:
            asked.orders[-1] = (asked.orders[-1][0], row[at].op)
            return at + 1
        if row[at].word.endswith("first"):
            asked.first = row[at].op
            return at + 1
        nxt = skip(row, at + 1, "oy")
        if nxt < len(row) and row[nxt].letter == "C":
            asked.orders.append((row[nxt], row[at].op))
            return nxt + 1
        raise NotRead(row[at].text)

    def _take_alpha(self, row: list[Node], at: int, asked: Asked) -> int:
        nxt = skip(row, at + 1, "oyp")
        if nxt < len(row) and row[nxt].letter == "C":
            asked.orders.append((row[nxt], "asc"))
            return nxt + 1
        asked.orders.append((None, "asc"))
        return at + 1

    def _take_trend(self, row: list[Node], at: int, asked: Asked) -> int:
        asked.trend = True
        return at + 1

    def _take_grain(self, row: list[Node], at: int, asked: Asked) -> int:
        before = row[at - 1].letter if at else ""
        if row[at].word.endswith(("ly", "annual")):
            asked.keys.append(row[at])
            return at + 1
        if before in ("w", "p", "S") or (before == "" and asked.wh):
            asked.targets.append(row[at])
            return at + 1
        raise NotRead(row[at].text)

    def _refuse(self, row: list[Node], at: int, asked: Asked) -> int:
        raise NotRead(row[at].text)

    _take: ClassVar[dict[str, Callable[[Any, list[Node], int, Asked], int]]] = {
        "C": _take_column, "w": _take_wh, "n": _take_row, "u": _take_distinct, "k": _take_count, "G": _take_aggregate,
        "S": _take_super, "Z": _take_adjective, "t": _take_top, "N": _refuse, "e": _take_each, "y": _take_each,
        "x": _take_each, "#": _take_limit, "^": _take_sort,
        "r": _take_order, "d": _take_direction, "L": _take_alpha, "f": _take_trend, "g": _take_grain, "O": _take_rank,
        "/": _refuse, "c": _refuse, "H": _refuse, "-": _refuse, "5": _refuse, "6": _refuse, "*": _refuse,
        "P": _refuse, "1": _refuse, "W": _refuse, "j": _refuse, "R": _refuse, "B": _refuse, "m": _refuse, ">": _refuse,
        "A": _refuse, "!": _refuse, "Y": _refuse, "v": _refuse, "q": _refuse, "T": _refuse, "%": _refuse, "0": _refuse, "E": _refuse, "X": _refuse, "$": _refuse,
        "9": _refuse,
    }  # fmt: skip
