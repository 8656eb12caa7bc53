"""Joins columns, comparisons and values that stand together into conditions on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qa.planner.offline import formula as write
from qa.planner.offline.dates import Period
from qa.planner.offline.index import TableIndex
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.link import Linker, is_year
from qa.planner.offline.nodes import Filter, Node
from qa.planner.offline.text import header_words, quoted_spans, tight
from qa.types import Column, Kind, Role

FLIP = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}
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


class Conditions:
    """Reads the conditions of one cover; `run` gives the row of nodes with conditions folded into `F` nodes."""

    def __init__(self, linker: Linker, lex: Lexicon) -> None:
        self.linker, self.index, self.lex = linker, linker.index, lex
        self.targets: set[str] = set()

    def run(self, row: list[Node]) -> list[Node]:
        for step in (self._limits, self._contains, self._number_lists, self._quantities, self._value_lists, self._relative, self._columns_compared,
                     self._averages, self._edge, self._missing, self._attach_all, self._having, self._known, self._measured, self._truths, self._alone, self._either):  # fmt: skip
            row = step(row)
        return row

    def column(self, id: str) -> Column:
        return self.linker.column(id)

    def name(self, id: str) -> str:
        return self.linker.written(id)

    # `top 5`, `five lightest`: a number of rows, not a value
    def _limits(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for at, node in enumerate(row):
            if (
                (node.letter == "N" and at and row[at - 1].letter in "t")
                or (
                    node.letter == "N"
                    and at + 1 < len(row)
                    and row[at + 1].letter in "SZR"
                    and not node.numbers
                    and node.link.number != 1
                )
                or (
                    node.letter == "N"
                    and at
                    and row[at - 1].letter in "SR"
                    and (at < 2 or row[at - 2].letter in "iwsbpo")
                    and at + 1 < len(row)
                    and row[at + 1].letter in "Cn"
                )
            ):
                node = Node("#", node.links, numbers=(node.link.number or 0.0,))
            out.append(node)
        return out

    # text search
    def _contains(self, row: list[Node]) -> list[Node]:
        for at, node in enumerate(row):
            if node.letter != "~":
                continue
            spans = [s for s in quoted_spans(self.linker.question) if s[0] >= self.linker.toks[node.link.last].end]
            if not spans:
                continue
            a, b = spans[0]
            text = self.linker.question[a:b].strip()
            inside = [n for n, t in enumerate(self.linker.toks) if t.start >= a and t.end <= b]
            end = at + 1
            while end < len(row) and row[end].link.first <= (inside[-1] if inside else node.link.last):
                end += 1
            start, column = at, None
            if at and row[at - 1].letter == "C":
                start, column = at - 1, row[at - 1]
            elif at > 1 and row[at - 1].letter in "hbpln" and row[at - 2].letter == "C":
                start, column = at - 2, row[at - 2]
            elif end + 1 < len(row) and row[end].letter == "p" and row[end + 1].letter == "C":
                column, end = row[end + 1], end + 2
            choices = (
                [(id, s) for id, s in column.columns if self.column(id).kind is Kind.TEXT] if column else self._texts()
            )
            if not choices:
                continue
            word = {"STARTS": "starts_with", "ENDS": "ends_with"}.get(node.link.tags[0], "contains")
            negated = start > 0 and row[start - 1].letter == "!"
            alternatives = []
            for id, sure in choices:
                text_formula = f"{word}({self.name(id)}, {write.literal(text)})"
                text_formula = f"not {text_formula}" if negated else text_formula
                alternatives.append([Filter(text_formula, (id,), node.text, (text,), "contains", sure)])
            start -= negated
            return [*row[:start], _made("F", row[start:end], alternatives), *self._contains(row[end:])]
        return row

    def _texts(self) -> list[tuple[str, float]]:
        return [(c.id, 1.0) for c in self.index.columns if c.kind is Kind.TEXT]

    # numbers
    def _number_lists(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        at = 0
        while at < len(row):
            node = row[at]
            if node.letter == "N" and out and out[-1].letter == "|" and len(out) > 1 and out[-2].letter == "N":
                first = out[-2]
                first.links = (*first.links, node.link)
                first.numbers = (*(first.numbers or (first.link.number or 0.0,)), node.link.number or 0.0)
                out.pop()
            else:
                out.append(node)
            at += 1
        return out

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
            return Node("Q", _links(row[at : at + 4]), op="between-dates"), at + 4
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
        return (_made("F", used, made), at + len(used)) if made else None

    def _q(self, used: Sequence[Node], op: str, number: Node) -> Node:
        return Node(
            "Q",
            _links(used),
            op=op,
            numbers=number.numbers or ((number.link.number if number.link.number is not None else 0.0),),
        )

    # lists of values
    def _value_lists(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for node in row:
            joins = 0
            while joins < len(out) and out[-1 - joins].letter in ",&|":
                joins += 1
            left = out[-1 - joins] if joins and joins < len(out) else None
            if node.letter == "V" and left is not None and left.letter == "V":
                common = self._common(left, node)
                words = {n.letter for n in out[-joins:]}
                if common and (words & {"&", "|"} or len(common) == 1):
                    merged = Node("V", (*left.links, node.link), op="or" if "|" in words else "and")
                    merged.links = (
                        replace(left.link, values=common),
                        *(replace(x, values=()) for x in (*left.links[1:], node.link)),
                    )
                    merged.parts = (*(left.parts or (left.link,)), node.link)
                    del out[-1 - joins :]
                    out.append(merged)
                    continue
            out.append(node)
        return out

    def _common(self, left: Node, right: Node) -> tuple[tuple[str, tuple[str, ...]], ...]:
        ids = {id for id, _ in left.link.values} & {id for id, _ in right.link.values}
        return tuple(
            (id, (*left.link.cells(id), *right.link.cells(id))) for id in [i for i, _ in left.link.values] if id in ids
        )

    # relative periods
    def _relative(self, row: list[Node]) -> list[Node]:
        dates = [c for c in self.index.columns if c.kind.temporal]
        for at, node in enumerate(row):
            if node.letter != "j" or len(dates) != 1:
                continue
            shape = "".join(n.letter for n in row[at : at + 3])
            word = "last" if node.op == "last" else "this"
            if shape.startswith("jNg"):
                n, grain, end = int(row[at + 1].link.number or 0), row[at + 2].op, at + 3
                said = f"{word} {n} {grain}s"
            elif shape.startswith("jg") and at and row[at - 1].letter == "p":
                grain, end = row[at + 1].op, at + 2
                said = f"{word} {grain}"
            else:
                continue
            start = at - 1 if at and row[at - 1].letter == "p" else at
            made = Filter(f"in_period({write.name(dates[0].name)}, {write.literal(said)})", (dates[0].id,), said)
            return [*row[:start], _made("F", row[start:end], [[made]]), *row[end:]]
        return row

    # column against column, average, missing
    def _columns_compared(self, row: list[Node]) -> list[Node]:
        for at in range(len(row)):
            shape = "".join(n.letter for n in row[at : at + 4])
            for pattern in ("C>C", "Cb>C", "Ch>C"):
                if shape.startswith(pattern):
                    left, right, op = row[at], row[at + len(pattern) - 1], row[at + len(pattern) - 2].op
                    a, b = left.columns[0][0], right.columns[0][0]
                    if a != b and self.column(a).kind.numeric and self.column(b).kind.numeric:
                        made = Filter(f"{self.name(a)} {op} {self.name(b)}", (a, b), "compared")
                        return [*row[:at], _made("F", row[at : at + len(pattern)], [[made]]), *row[at + len(pattern) :]]
        return row

    def _averages(self, row: list[Node]) -> list[Node]:
        row = self._plain_averages(row)
        for at, node in enumerate(row):
            if node.letter != "M":
                continue
            head = node.link.tags[0]
            fn = "median" if "MEDIAN" in head else "mean"
            op = "<" if head.startswith("BELOW") else ">"
            start, end, id = at, at + 1, None
            if at and row[at - 1].letter == "z":
                id = self._measure(row[at - 1].link.tag("CMPOF") or "", self.lex.comparatives)
                op = self.lex.comparatives[tuple((row[at - 1].link.tag("CMPOF") or "").split())][0]
                start = at - 1
            else:
                left = at - 1
                while left >= 0 and row[left].letter in "bh":
                    left -= 1
                if left >= 0 and row[left].letter == "C" and self.column(row[left].columns[0][0]).kind.numeric:
                    id, start = row[left].columns[0][0], left
            if end < len(row) and row[end].letter == "C" and self.column(row[end].columns[0][0]).kind.numeric:
                right = row[end].columns[0][0]
                if id is None or id == right:
                    id, end = right, end + 1
            if id is None:
                continue
            made = Filter(f"{self.name(id)} {op} {fn}({self.name(id)})", (id,), node.text)
            return [*row[:start], _made("F", row[start:end], [[made]]), *self._averages(row[end:])]
        return row

    # `how many orders have a refund`
    def _known(self, row: list[Node]) -> list[Node]:
        letters = "".join(n.letter for n in row)
        if letters.endswith("hC") and "k" in letters and "n" in letters[letters.index("k") :]:
            id = row[-1].columns[0][0]
            if (
                len(row[-1].columns) == 1
                and row[-1].columns[0][1] >= 0.85
                and self.column(id).nullable
                and id not in self.index.yes
            ):
                made = Filter(f"{self.name(id)} is not null", (id,), row[-1].text, op="known")
                return [*row[:-2], _made("F", row[-2:], [[made]])]
        return row

    def _plain_averages(self, row: list[Node]) -> list[Node]:
        """`above the dataset's average`."""
        out: list[Node] = []
        for node in row:
            back = len(out) - 1
            while back >= 0 and out[back].letter == "b":
                back -= 1
            over = out[back] if back >= 0 else None
            if (
                node.letter == "G"
                and node.op in ("mean", "median")
                and over is not None
                and over.link.tag("CMP") in (">", "<")
            ):
                head = {("mean", ">"): "AVERAGEOF", ("mean", "<"): "BELOWAVERAGE", ("median", ">"): "MEDIANOF"}.get(
                    (node.op, over.link.tag("CMP") or "")
                )
                if head:
                    del out[back:]
                    out.append(Node("M", (replace(node.link, tags=(head,)),)))
                    continue
            out.append(node)
        return out

    # `from the earliest year`
    def _edge(self, row: list[Node]) -> list[Node]:
        for at in range(len(row) - 2):
            if row[at].letter == "p" and row[at + 1].letter in "ZS" and row[at + 2].letter == "C":
                column = self.column(row[at + 2].columns[0][0])
                said = row[at + 1].link.tag("SUPOF")
                direction = self.lex.superlatives[tuple(said.split())][0] if said else row[at + 1].op
                dated = column.kind.temporal or column.role is Role.YEAR
                if dated and any(n.letter in "Cn" for n in row[:at]):
                    name = self.name(column.id)
                    made = Filter(f"{name} == {direction}({name})", (column.id,), row[at + 1].text, op="edge")
                    return [*row[:at], _made("F", row[at : at + 3], [[made]]), *row[at + 3 :]]
        return row

    def _missing(self, row: list[Node]) -> list[Node]:
        for at, node in enumerate(row):
            if node.letter != "0" or (at and row[at - 1].letter == "k"):
                continue
            known = node.link.tag("KNOWN") is not None
            left = at - 1
            while left >= 0 and row[left].letter in "bhpe":
                left -= 1
            right = at + 1
            while right < len(row) and row[right].letter in "po":
                right += 1
            place = (
                right
                if right < len(row) and row[right].letter == "C"
                else left
                if left >= 0 and row[left].letter == "C"
                else None
            )
            if place is None:
                continue
            ids = row[place].columns
            made = [
                [Filter(f"{self.name(id)} is {'not ' if known else ''}null", (id,), node.text, rank=s)] for id, s in ids
            ]
            start, end = min(place, at), max(place, at) + 1
            return [*row[:start], _made("F", row[start:end], made), *row[end:]]
        return row

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
        made = _made("F", row[start:end], alternatives)
        made.op = node.op
        return start, end, made

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
        if node.letter not in "NQ" or not is_year(value) or not at or row[at - 1].letter != "p":
            return False
        return bool(self._year_columns())

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
        least = 0.66 if value.letter in "NQ" else 0.0
        return [
            (id, sure)
            for id, sure in column.columns
            if sure >= least and self.condition(self.column(id), value, False, sure)
        ]

    def _bare(self, row: list[Node], at: int) -> tuple[int, int, Node] | None:
        node = row[at]
        ids: list[tuple[str, float]] = [(id, 0.9) for id, _ in node.link.values] if node.letter in "VNO" else []
        if node.letter == "D" and node.link.period:
            dates = [c for c in self.index.columns if c.kind.temporal]
            ids = [(c.id, 0.9) for c in dates] or [(id, 0.9) for id, _ in node.link.values]
        if node.letter in "NQ":
            value = node.numbers[0] if node.numbers else node.link.number
            placed = (
                (at > 0 and row[at - 1].letter in "pgl") or node.letter == "Q" or (at and row[at - 1].letter in "gp")
            )
            if is_year(value) and placed:
                ids = self._year_columns() or ids
        if not ids:
            return None
        start, negated = _negation(row, at, at)
        alternatives = [[made] for id, sure in ids if (made := self.condition(self.column(id), node, negated, sure))]
        made = _made("F", row[start : at + 1], alternatives)
        made.op = node.op
        return (start, at + 1, made) if alternatives else None

    def _year_columns(self) -> list[tuple[str, float]]:
        named = [c for c in self.index.columns if c.role is Role.YEAR or self._says_year(c)]
        exact = [c for c in named if header_words(c.name) == ["year"]]
        dates = [c for c in self.index.columns if c.kind.temporal]
        chosen = exact or [c for c in named if c.kind.numeric] or dates or named
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
            return Filter(
                write.equals(self.linker.written(column.id), cells, negated),
                (column.id,),
                node.text,
                tuple(cells),
                "!=" if negated else "=",
                sure,
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

    # `grades with at least 4 students`
    def _having(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for node in row:
            if node.letter == "n" and out and out[-1].letter == "Q" and out[-1].op in FLIP:
                quantity = out.pop()
                out.append(Node("J", (*quantity.links, node.link), op=quantity.op, numbers=quantity.numbers))
            else:
                out.append(node)
        return out

    # `older than 30`
    def _measured(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        at = 0
        while at < len(row):
            node = row[at]
            said = node.link.tag("CMPOF") if node.letter == "z" else None
            nxt = at + 1
            if said is not None and nxt < len(row) and row[nxt].letter == "2":
                nxt += 1
            if said is not None and nxt < len(row) and row[nxt].letter == "N":
                op = self.lex.comparatives[tuple(said.split())][0]
                id = self._measure(said, self.lex.comparatives)
                if id:
                    value = Node(
                        "N" if op == "=" else "Q",
                        row[nxt].links,
                        op=op,
                        numbers=row[nxt].numbers or (row[nxt].link.number or 0.0,),
                    )
                    made = self.condition(self.column(id), value, False, 0.9)
                    end = nxt + 1
                    if end < len(row) and row[end].letter == "g":
                        end += 1
                    start = at
                    while out and out[-1].letter == "C" and out[-1].columns[0][0] == id:
                        out.pop()
                    if made:
                        out.append(_made("F", row[start:end], [[made]]))
                        at = end
                        continue
            out.append(node)
            at += 1
        return out

    def _measure(self, said: str, table: object) -> str | None:
        """The column that an adjective is about: `oldest` asks for an age."""
        row = table[tuple(said.split())]  # type: ignore[index]
        return measured_column(self.index, self.lex, row[1])

    # columns that answer yes or no
    def _truths(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for at, node in enumerate(row):
            if node.letter == "C":
                pairs = [(id, s) for id, s in node.columns if id in self.index.yes and s >= 0.68]
                if len(pairs) == 1 and len(node.columns) == 1 and self._predicative(row, at):
                    negated = bool(out) and out[-1].letter == "!"
                    if negated:
                        out.pop()
                    negated = negated != (node.link.tag("NEG") is not None)
                    out.append(_made("F", [node], [[self.truth(pairs[0][0], not negated, node.text)]]))
                    continue
            out.append(node)
        return out

    # nobody with them
    def _alone(self, row: list[Node]) -> list[Node]:
        for at, node in enumerate(row):
            if node.letter != "1":
                continue
            with_them = [
                c for c in self.index.columns
                if c.kind is Kind.INTEGER
                and ({self.lex.lemma(w) for w in header_words(c.name)} | {"".join(header_words(c.name))}) & self.lex.companions
            ]  # fmt: skip
            if with_them:
                formula = " + ".join(self.name(c.id) for c in with_them) + " == 0"
                made = Filter(
                    formula, tuple(c.id for c in with_them), node.text, op="derived", note=f"{node.text} = {formula}"
                )
                return [*row[:at], _made("F", [node], [[made]]), *row[at + 1 :]]
        return row

    # `after 2013 or before 2008`, `from France and Germany`
    def _either(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for node in row:
            joined = len(out) > 1 and out[-1].letter in "|&" and out[-2].letter == "F" and node.letter == "F"
            if joined and len(node.filters) == len(out[-2].filters) == 1:
                a, b = out[-2].filters[0], node.filters[0]
                alone = len(a) == len(b) == 1 and set(a[0].columns) == set(b[0].columns)
                same = alone and a[0].op == b[0].op and a[0].op in ("=", "is")
                if out[-1].letter == "|" or same:
                    both = Filter(
                        write.any_of([write.all_of([f.formula for f in a]), write.all_of([f.formula for f in b])]),
                        (*a[0].columns, *b[0].columns),
                        f"{a[0].said} or {b[0].said}",
                        (*a[0].values, *b[0].values),
                        "=" if same else "or",
                        min(a[0].rank, b[0].rank),
                        sides=((a[0].formula, a[0].said), (b[0].formula, b[0].said)) if same else (),
                    )
                    made = _made("F", [out[-2], node], [[both]])
                    made.op = "or" if out[-1].letter == "|" else "and"
                    del out[-2:]
                    out.append(made)
                    continue
            out.append(node)
        return out

    def truth(self, id: str, holds: bool, said: str) -> Filter:
        """The condition that a yes/no column is yes (or no)."""
        yes, no = self.index.yes[id]
        name = self.name(id)
        if isinstance(yes, bool):
            formula = name if holds else f"not {name}"
        elif no is None and not holds:
            formula = f"{name} is null"
        else:
            formula = f"{name} == {write.literal(yes if holds else no)}"
        return Filter(formula, (id,), said, (holds,), "is", 1.0)

    def _predicative(self, row: list[Node], at: int) -> bool:
        before = row[at - 1].letter if at else ""
        after = row[at + 1].letter if at + 1 < len(row) else ""
        node_is_name = row[at].word == self.column(row[at].columns[0][0]).name.lower()
        target = before in ("w", "s", "k", ",", "&") or (before == "b" and at > 1 and row[at - 2].letter == "w")
        if (
            target
            and (before != "k" or node_is_name)
            and not (before in ("&", ",") and any(n.letter == "F" for n in row[:at]))
        ):
            return False
        grouped = (before in "eyxwr" and before != "") or (before in "&," and any(n.letter in "ey" for n in row[:at]))
        if at + 1 < len(row) and row[at + 1].link.tag("RATE") is not None:
            return False
        return not (grouped or (before in "GSH" and before != "") or (after in "b>VNQ" and after != ""))


def measured_column(index: TableIndex, lex: Lexicon, groups: Sequence[Sequence[str]]) -> str | None:
    """The one column whose name holds a measure word; earlier words and groups win."""
    for group in groups:
        for word in group:
            want = [lex.root(w) for w in word.split()]
            hits = [
                c.id for c in index.columns
                if c.kind is not Kind.TEXT and any(all(w in name.roots for w in want) and name.sure > 0.8 for name in index.names[c.id])
            ]  # fmt: skip
            if hits:
                exact = [id for id in hits if any(list(name.roots) == want for name in index.names[id])]
                if len(exact) == 1:
                    return exact[0]
                if len(hits) == 1:
                    return hits[0]
                return None
    return None


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


def _links(used: Sequence[Node]) -> tuple:  # type: ignore[type-arg]
    return tuple(link for node in used for link in node.links)


def _made(letter: str, used: Sequence[Node], alternatives: list[list[Filter]]) -> Node:
    return Node(letter, _links(used), filters=alternatives)


def text_key(value: str) -> str:
    return tight(value)
