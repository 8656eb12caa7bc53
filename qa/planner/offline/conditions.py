"""Joins columns, comparisons and values that stand together into conditions on rows."""

from __future__ import annotations

from collections.abc import Sequence

from qa.planner.offline import formula as write
from qa.planner.offline.dates import Period
from qa.planner.offline.links import is_year
from qa.planner.offline.nodes import FLIP, Filter, Node, condition_of, links_of
from qa.planner.offline.predicates import Predicates
from qa.planner.offline.text import header_words
from qa.types import Column, Kind, Role

STRONG = frozenset("bo")
PATH = frozenset("bohpaln!T&@")
CLOSE = frozenset("boh!")
MOSTLY_YEAR = (
    "year",
    "season",
    "founded",
    "established",
    "built",
    "elected",
    "released",
    "opened",
    "born",
    "joined",
    "inducted",
)


class Conditions(Predicates):
    """Reads the conditions of one cover; `run` gives the row of nodes with conditions folded into `F` nodes."""

    def run(self, row: list[Node]) -> list[Node]:
        for step in (self._limits, self._contains, self._number_lists, self._quantities, self._value_lists, self._relative, self._columns_compared,
                     self._averages, self._edge, self._missing, self._attach_all, self._having, self._known, self._measured, self._truths, self._alone, self._either):  # fmt: skip
            row = step(row)
        return row

    def _quantities(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        at = 0
        self._row = row
        while at < len(row):
            taken = self._quantity(row, at)
            if taken:
                out.append(taken[0])
                at = taken[1]
            else:
                out.append(row[at])
                at += 1
        return out

    def _quantity(self, row: list[Node], at: int) -> tuple[Node, int] | None:
        shape = "".join(n.letter for n in row[at : at + 5])
        if shape.startswith(">CN") and self.column(row[at + 1].columns[0][0]).kind.numeric:
            return self._over(row[at : at + 3], row[at + 1], row[at].op, row[at + 2])
        if shape.startswith(">C2N") and self.column(row[at + 1].columns[0][0]).kind.numeric:
            return self._over(row[at : at + 4], row[at + 1], row[at].op, row[at + 3])
        if shape.startswith("!>N"):
            return self._q(row[at : at + 3], FLIP[row[at + 1].op], row[at + 2]), at + 3
        if shape.startswith(">N"):
            return self._q(row[at : at + 2], row[at].op, row[at + 1]), at + 2
        if shape.startswith("Nm"):
            return self._q(row[at : at + 2], row[at + 1].op or ">=", row[at]), at + 2
        if shape.startswith(("BN&N", "BNTN", "pNTN")) and (shape[0] == "B" or is_year(row[at + 1].link.number)):
            node = self._q(row[at : at + 4], "between", row[at + 1])
            node.numbers = (row[at + 1].link.number or 0.0, row[at + 3].link.number or 0.0)
            return node, at + 4
        if shape.startswith(("BD&D", "BDTD", "pDTD")):
            return Node("Q", links_of(row[at : at + 4]), op="between-dates"), at + 4
        if shape.startswith(("AN", "AD")):
            before = row[at].link.tag("BEFORE") is not None
            word = row[at].word
            op = "<" if before else ">=" if word in ("since", "starting from", "from") else ">"
            node = self._q(row[at : at + 2], op, row[at + 1])
            if row[at + 1].letter == "D":
                node.op = f"{op}date"
            return node, at + 2
        return None

    def _over(self, used: list[Node], column: Node, op: str, number: Node) -> tuple[Node, int] | None:
        """`under age 30`: the column stands between the comparison and its number."""
        value = self._q(used, op, number)
        at = self._row.index(used[0])
        made = [[f] for id, sure in column.columns if (f := self.condition(self.column(id), value, False, sure))]
        return (condition_of(used, made), at + len(used)) if made else None

    def _q(self, used: Sequence[Node], op: str, number: Node) -> Node:
        return Node(
            "Q",
            links_of(used),
            op=op,
            numbers=number.numbers or ((number.link.number if number.link.number is not None else 0.0),),
        )

    # values and numbers with their columns
    def _attach_all(self, row: list[Node]) -> list[Node]:
        for strong_only in (True, False):
            at = 0
            while at < len(row):
                if row[at].letter in "VNQDO":
                    taken = self._attach(row, at, strong_only)
                    if taken:
                        start, end, node = taken
                        row = [*row[:start], node, *row[end:]]
                        at = start
                at += 1
        return row

    def _attach(self, row: list[Node], at: int, strong_only: bool) -> tuple[int, int, Node] | None:
        left, right = self._left(row, at), self._right(row, at)
        node = row[at]
        numeric = node.letter in "NQO"
        pick: tuple[int, int, list[tuple[str, float]]] | None = None
        if left and right:
            rival = {i for i, _ in left[0]} != {i for i, _ in right[0]}
            if not numeric and rival and left[2] in ("", "o", "b") and right[2] in ("", "b"):
                return None
            prefer_right = (
                (numeric and right[2] == "" and left[2] not in ("", "b", "o", "bo"))
                or (right[2] in ("a",) and left[2] not in ("b", "", "o"))
                or (not numeric and right[2] in ("a", "ba"))
                or (right[2] == "b" and left[2] not in ("b", "", "o"))
            )
            pick = (at, right[1], right[0]) if prefer_right else (left[1], at + 1, left[0])
            same = {i for i, _ in left[0]} & {i for i, _ in right[0]}
            if same:
                pick = (left[1], right[1], [(i, s) for i, s in left[0] if i in same])
        elif left:
            if numeric and self._unfit_right(row, at) and left[2] not in ("", "b", "o", "bo"):
                return None
            pick = (left[1], at + 1, left[0])
        elif right:
            pick = (at, right[1], right[0])
        if node.letter == "Q" and at + 1 < len(row) and row[at + 1].letter == "n" and (left is None or "h" in left[2]):
            return None
        if pick is None:
            return None if strong_only else self._bare(row, at)
        start, end, ids = pick
        path = left[2] if left and start < at else ""
        if strong_only and start < at and not set(path) <= CLOSE:
            return None
        if numeric and start < at and not set(path) <= STRONG:
            ids = [(id, sure) for id, sure in ids if not self._beyond(self.column(id), node)]
        start, negated = _negation(row, start, at)
        alternatives = [[made] for id, sure in ids if (made := self.condition(self.column(id), node, negated, sure))]
        if not alternatives:
            return None
        condition = condition_of(row[start:end], alternatives)
        condition.op = node.op
        return start, end, condition

    def _unfit_right(self, row: list[Node], at: int) -> bool:
        """`75,000 in attendance` where attendance holds text: the number must not go elsewhere."""
        after = row[at + 1 : at + 3]
        place = next((n for n in after if n.letter not in "p"), None)
        return place is not None and place.letter == "C" and (after[0].letter == "C" or row[at].letter == "Q")

    def _left(self, row: list[Node], at: int) -> tuple[list[tuple[str, float]], int, str] | None:
        place, path = at - 1, ""
        over = PATH if row[at].letter not in "NO" else PATH - {"l", "n"}
        while place >= 0 and row[place].letter in over and len(path) < 4:
            if row[place].letter == "&" and at - place > 1:
                return None
            path = row[place].letter + path
            place -= 1
        if place < 0 or row[place].letter != "C" or "&" in path:
            return None
        if self._year_elsewhere(row, at) and not self._yearlike(row[place]):
            return None
        fits = self._fitting(row[place], row[at])
        return (fits, place, path.replace("!", "")) if fits else None

    def _year_elsewhere(self, row: list[Node], at: int) -> bool:
        """True for `in 1945` where a year column can take it, and not the word before."""
        node = row[at]
        value = node.numbers[0] if node.numbers else node.link.number
        if node.letter not in "NQ" or not is_year(value):
            return False
        if any(link.tag(head) is not None for link in node.links[:1] for head in ("AFTER", "BEFORE")):
            return True  # `since 2023` is a time, whatever number stands before it
        return bool(at) and row[at - 1].letter == "p" and bool(self._year_columns())

    def _right(self, row: list[Node], at: int) -> tuple[list[tuple[str, float]], int, str] | None:
        place, path = at + 1, ""
        allowed = "abpo"
        while place < len(row) and row[place].letter in allowed and len(path) < 2:
            path += row[place].letter
            place += 1
        if place >= len(row) or row[place].letter != "C":
            return None
        if path not in ("", "a", "b", "ba", "p", "o") or (path in ("p", "o") and row[at].letter not in "NQ"):
            return None
        if path in ("p", "o") and row[place].columns[0][1] < 0.8:
            return None
        if path == "b" and place + 1 < len(row) and row[place + 1].letter in "VNQD":
            return None
        if path == "" and place + 1 < len(row) and row[place + 1].letter in "b>" and row[at].letter not in "V":
            return None
        fits = self._fitting(row[place], row[at])
        return (fits, place + 1, path) if fits else None

    def _fitting(self, column: Node, value: Node) -> list[tuple[str, float]]:
        number = value.numbers[0] if value.numbers else value.link.number
        born = is_year(number) and self._yearlike(column)  # `born before 1960`
        least = 0.66 if value.letter in "NQ" and not born else 0.0
        return [
            (id, sure)
            for id, sure in column.columns
            if sure >= least and self.condition(self.column(id), value, False, sure)
        ]

    def _bare(self, row: list[Node], at: int) -> tuple[int, int, Node] | None:
        node = row[at]
        ids: list[tuple[str, float]] = [(id, 0.9) for id, _ in node.link.values] if node.letter in "VNO" else []
        if node.letter == "D" and node.link.period:
            ids = [(c.id, 0.9) for c in self.index.dates] or [(id, 0.9) for id, _ in node.link.values]
        if node.letter in "NQ":
            value = node.numbers[0] if node.numbers else node.link.number
            before = row[at - 1].letter if at else ""
            placed = (
                node.letter == "Q" or (before in "pgl!" and before != "") or all(n.letter in "wp" for n in row[:at])
            )
            if is_year(value) and placed:
                ids = self._year_columns() or ids
        if not ids:
            return None
        start, negated = _negation(row, at, at)
        alternatives = [[made] for id, sure in ids if (made := self.condition(self.column(id), node, negated, sure))]
        condition = condition_of(row[start : at + 1], alternatives)
        condition.op = node.op
        return (start, at + 1, condition) if alternatives else None

    def _year_columns(self) -> list[tuple[str, float]]:
        named = [c for c in self.index.columns if c.role is Role.YEAR or self._says_year(c)]
        exact = [c for c in named if header_words(c.name) == ["year"]]
        default = self.index.dates if self.index.table.profile.default_date else []
        chosen = exact or default or [c for c in named if c.kind.numeric] or self.index.dates or named
        return [(c.id, 0.85) for c in chosen]

    def _beyond(self, column: Column, node: Node) -> bool:
        """True when a number lies far outside everything the column holds, so that another column was meant."""
        value = node.numbers[0] if node.numbers else node.link.number
        profile = next((p for p in self.index.table.profile.columns if p.name == column.name), None)
        if (
            profile is None
            or value is None
            or not isinstance(profile.low, (int, float))
            or not isinstance(profile.high, (int, float))
        ):
            return False
        span = max(1.0, float(profile.high) - float(profile.low))
        return not profile.low - span <= value <= profile.high + span

    def _yearlike(self, node: Node) -> bool:
        column = self.column(node.columns[0][0])
        return column.kind.temporal or column.role is Role.YEAR or self._says_year(column)

    def _says_year(self, column: Column) -> bool:
        return column.kind is Kind.INTEGER and any(w in MOSTLY_YEAR for w in header_words(column.name)[:2])

    def condition(self, column: Column, node: Node, negated: bool, sure: float) -> Filter | None:
        """The condition that a value, number, quantity or date puts on a column; None when it does not fit its kind."""
        if node.letter == "V" or (node.letter in "NOD" and column.kind is Kind.TEXT):
            cells = [c for link in node.links for c in link.cells(column.id)]
            cells = list(dict.fromkeys(cells))
            if not cells:
                return None
            said = "" if len(cells) > 1 or node.text.strip() == cells[0] else f"`{node.text}` read as `{cells[0]}`"
            return Filter(
                write.equals(self.linker.written(column.id), cells, negated),
                (column.id,),
                node.text,
                tuple(cells),
                "!=" if negated else "=",
                sure,
                said,
                sides=tuple(
                    (write.equals(self.linker.written(column.id), part.cells(column.id)), part.text)
                    for part in node.parts
                ),
            )
        if node.letter == "D":
            return self._on_date(column, node.link.period, "==", negated, node, sure)
        if node.letter == "Q" and node.op.endswith("date"):
            return self._on_date(column, node.links[-1].period, node.op[:-4], negated, node, sure)
        if node.letter == "Q" and node.op == "between-dates":
            periods = [link.period for link in node.links if link.period]
            if column.kind.temporal and len(periods) == 2 and periods[0].iso and periods[1].iso:
                formula = f"{self.linker.written(column.id)} between '{periods[0].iso}' and '{periods[1].iso}'"
                return Filter(formula, (column.id,), node.text, op="between", rank=sure)
            return None
        return self._on_number(column, node, negated, sure)

    def _on_number(self, column: Column, node: Node, negated: bool, sure: float) -> Filter | None:
        if node.letter == "O" and not node.text[0].isdigit():
            return None
        values = list(node.numbers) or ([node.link.number] if node.link.number is not None else [])
        if not values:
            return None
        if self._misplaced(column, node, values):
            return None
        name = self.linker.written(column.id)
        if column.kind.temporal:
            if not all(is_year(v) for v in values):
                return None
            name = f"year({name})"
        elif not column.kind.numeric:
            return None
        link = next((link for link in node.links if link.number is not None), node.link)
        words = header_words(column.name)
        if (
            link.plain is not None
            and link.plain != link.number
            and any(w.rstrip("s") in ("million", "thousand", "billion", "mil") for w in words)
        ):
            values = [link.plain]
        if column.role is Role.PERCENT and not link.percent and any(v > 100 for v in values):
            return None
        if link.percent and column.role is Role.PERCENT and column.unit == "fraction":
            values = [v / 100 for v in values]
        op = node.op if node.letter == "Q" else "=="
        if op == "between":
            formula = f"{name} between {write.number(values[0])} and {write.number(values[1])}"
            return Filter(f"not ({formula})" if negated else formula, (column.id,), node.text, tuple(values), op, sure)
        if op == "==":
            return Filter(
                write.equals(name, values, negated),
                (column.id,),
                node.text,
                tuple(values),
                "!=" if negated else "=",
                sure,
            )
        op = FLIP[op] if negated else op
        return Filter(f"{name} {op} {write.number(values[0])}", (column.id,), node.text, tuple(values), op, sure)

    def _misplaced(self, column: Column, node: Node, values: list[float]) -> bool:
        """A year that belongs to the column's own name, or that lies outside everything the column holds."""
        words = header_words(column.name)
        if any(write.number(v) in words for v in values):
            return True
        profile = next((p for p in self.index.table.profile.columns if p.name == column.name), None)
        if profile is None or profile.low is None or profile.high is None or not column.kind.numeric:
            return False
        equal = node.letter != "Q" or node.op in ("==", "between")
        return equal and all(is_year(v) and not profile.low <= v <= profile.high for v in values)

    def _on_date(
        self, column: Column, period: Period | None, op: str, negated: bool, node: Node, sure: float
    ) -> Filter | None:
        if not column.kind.temporal or period is None:
            return None
        name = self.linker.written(column.id)
        if period.iso:
            side = name if column.kind is Kind.DATE else f"date({name})"
            op = FLIP[op] if negated else op
            return Filter(f"{side} {op} '{period.iso}'", (column.id,), node.text, (period.iso,), op, sure)
        if op != "==":
            if period.year and period.month:
                first = f"{period.year:04}-{period.month:02}-01"
                nxt = f"{period.year + period.month // 12:04}-{period.month % 12 + 1:02}-01"
                formula = {"<": f"{name} < '{first}'", ">": f"{name} >= '{nxt}'", ">=": f"{name} >= '{first}'"}.get(op)
                return Filter(formula, (column.id,), node.text, op=op, rank=sure) if formula else None
            return None
        parts = [
            f"{unit}({name}) == {value}"
            for unit, value in (("year", period.year), ("month", period.month), ("day", period.day))
            if value
        ]
        formula = " and ".join(parts)
        return Filter(
            f"not ({formula})" if negated else formula, (column.id,), node.text, op="!=" if negated else "=", rank=sure
        )


def _negation(row: Sequence[Node], start: int, at: int) -> tuple[int, bool]:
    inside = any(node.letter == "!" for node in row[start:at])
    if inside:
        return start, True
    back = start - 1
    while back >= 0 and row[back].letter in "bhp" and start - back < 3:
        back -= 1
    if back >= 0 and row[back].letter == "!":
        return back, True
    return start, False
