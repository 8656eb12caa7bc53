"""Conditions that need no value beside a column: averages, missing, yes and no, text search, comparisons of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qa.planner.offline import formula as write
from qa.planner.offline.index import TableIndex
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.link import Linker
from qa.planner.offline.links import is_year
from qa.planner.offline.nodes import FLIP, Filter, Node, condition_of
from qa.planner.offline.text import header_words, quoted_spans
from qa.types import Column, Kind, Role


class Predicates:
    """What conditions are made of, and those that stand on words alone."""

    def __init__(self, linker: Linker, lex: Lexicon) -> None:
        self.linker, self.index, self.lex = linker, linker.index, lex
        self.targets: set[str] = set()

    def column(self, id: str) -> Column:
        return self.linker.column(id)

    def name(self, id: str) -> str:
        return self.linker.written(id)

    # `top 5`, `five lightest`: a number of rows, not a value
    def _limits(self, row: list[Node]) -> list[Node]:
        out: list[Node] = []
        for at, node in enumerate(row):
            if (
                (node.letter == "N" and at and row[at - 1].letter in "tZ")
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
            return [*row[:start], condition_of(row[start:end], alternatives), *self._contains(row[end:])]
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
        dates = self.index.dates
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
            return [*row[:start], condition_of(row[start:end], [[made]]), *row[end:]]
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
                        return [
                            *row[:at],
                            condition_of(row[at : at + len(pattern)], [[made]]),
                            *row[at + len(pattern) :],
                        ]
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
            return [*row[:start], condition_of(row[start:end], [[made]]), *self._averages(row[end:])]
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
                if said and turned(self.lex, self.lex.superlatives[tuple(said.split())][1], column):
                    direction = MIRROR[direction]
                dated = column.kind.temporal or column.role is Role.YEAR
                if dated and any(n.letter in "Cn" for n in row[:at]):
                    name = self.name(column.id)
                    made = Filter(f"{name} == {direction}({name})", (column.id,), row[at + 1].text, op="edge")
                    return [*row[:at], condition_of(row[at : at + 3], [[made]]), *row[at + 3 :]]
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
            return [*row[:start], condition_of(row[start:end], made), *row[end:]]
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
                return [*row[:-2], condition_of(row[-2:], [[made]])]
        return row

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
                other_end = bool(id) and turned(
                    self.lex, self.lex.comparatives[tuple(said.split())][1], self.column(id or "")
                )
                if other_end:
                    op = MIRROR[op]
                if id and not (other_end and not is_year(row[nxt].link.number)):
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
                        out.append(condition_of(row[start:end], [[made]]))
                        at = end
                        continue
            out.append(node)
            at += 1
        return out

    def condition(self, column: Column, node: Node, negated: bool, sure: float) -> Filter | None:
        """The condition that a value, number, quantity or date puts on a column."""
        raise NotImplementedError

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
                    out.append(condition_of([node], [[self.truth(pairs[0][0], not negated, node.text)]]))
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
                return [*row[:at], condition_of([node], [[made]]), *row[at + 1 :]]
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
                    made = condition_of([out[-2], node], [[both]])
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


MIRROR = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "max": "min", "min": "max"}
"""the other way round: who is older has the higher age, but the earlier year of birth"""


def turned(lex: Lexicon, groups: Sequence[Sequence[str]], column: Column) -> bool:
    """True when a column measures an adjective from its other end: only a later group of its words names it."""
    named = {lex.root(word) for word in header_words(column.name)}
    hits = [bool(named & {lex.root(w) for word in group for w in word.split()}) for group in groups]
    return any(hits) and not hits[0]


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
                # of several weights the one that a longer measure word names: `whole weight`
                longer = [other for other in group if word in other.split() and other != word]
                return measured_column(index, lex, [longer]) if longer else None
    return None
