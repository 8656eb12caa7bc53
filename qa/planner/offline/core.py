"""What every part of the grammar needs of a question: its nodes, the columns they name, and how those aggregate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from qa.plan.functions import FUNCTIONS
from qa.planner.offline import formula as write
from qa.planner.offline.conditions import Conditions
from qa.planner.offline.index import TITLES, mostly_unique, unique_values
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.link import Linker
from qa.planner.offline.nodes import Filter, Node
from qa.planner.offline.query import Query
from qa.planner.offline.text import header_words
from qa.types import Column, Kind, Role

ADDITIVE = frozenset({None, Role.CURRENCY, Role.COUNT})
NAMES = {"mean": "mean", "sum": "total", "median": "median", "min": "min", "max": "max", "std": "std", "var": "var", "mode": "mode",
         "iqr": "iqr", "skew": "skew", "kurtosis": "kurtosis"}  # fmt: skip
MEASURED = frozenset({Role.CURRENCY, Role.COUNT, Role.BALANCE, Role.PERCENT, Role.RATE})
MOST_AMOUNTS = 100
"""a measure with more values than this is no group"""
DEFAULT_TOP = 10
PANEL_DATES = 400
"""a date column of at most this many days is drawn as it is; a longer one by month"""


class NotRead(Exception):
    """This way of reading the question does not hold together; `words` are what it could not place."""

    def __init__(self, *words: str) -> None:
        super().__init__(", ".join(words))
        self.words = words


@dataclass
class Asked:
    """What the words between the conditions say, by the part they play."""

    targets: list[Node] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)
    metrics: list[tuple[str, Node | None]] = field(default_factory=list)
    supers: list[tuple[str, str, Node | None]] = field(default_factory=list)
    """(max or min, what: column/count/aggregate name, its column)"""
    counts: list[tuple[bool, Node | None]] = field(default_factory=list)
    """(distinct, what is counted)"""
    orders: list[tuple[Node | None, str]] = field(default_factory=list)
    limit: int | None = None
    top: bool = False
    wh: list[str] = field(default_factory=list)
    distinct: bool = False
    each_row: bool = False
    trend: bool = False
    rows: bool = False
    value: bool = False
    sort: bool = False
    subject: bool = False
    first: str = ""
    said_total: bool = False


class Grounds:
    """One row of nodes with one choice of conditions, and what its words stand for."""

    def __init__(
        self, linker: Linker, lex: Lexicon, row: list[Node], picked: Sequence[list[Filter]], conditions: Conditions
    ) -> None:
        self.linker, self.lex, self.index, self.row = linker, lex, linker.index, row
        self.conditions = conditions
        self.picked = list(picked)
        self.filters = [f for alternative in picked for f in alternative]
        self.query = Query(linker.index.table.name)

    # what things are called
    def column(self, node: Node) -> Column:
        """The one column a node names; refuses when two fit equally well."""
        if len(node.columns) > 1 and node.columns[0][1] - node.columns[1][1] < 0.05:
            raise NotRead(node.text)
        return self.linker.column(node.columns[0][0])

    def name(self, column: Column) -> str:
        """The column as a formula writes it; a derived one is derived first."""
        derived = self.linker.virtual.get(column.id)
        if derived:
            made = f"{derived[1]} as {write.name(column.name)}"
            if made not in self.query.derive:
                self.query.derive.append(made)
        return write.name(column.name)

    # kinds of columns
    def _numeric(self, node: Node) -> bool:
        return node.letter == "C" and self.linker.column(node.columns[0][0]).kind.numeric

    def _measures(self, node: Node) -> bool:
        return self._numeric(node) and not self.is_id(self.linker.column(node.columns[0][0]))

    def _is_text(self, node: Node) -> bool:
        return self.linker.column(node.columns[0][0]).kind is Kind.TEXT

    def measurable(self, node: Node) -> Column:
        """The numeric column a node names; refuses any other."""
        numeric = [(id, s) for id, s in node.columns if self.linker.column(id).kind.numeric]
        column = self.column(Node(node.letter, node.links, columns=tuple(numeric)) if numeric else node)
        looked_up = column.owner not in (None, self.index.table.name)
        if not column.kind.numeric or self.is_id(column) or looked_up:
            raise NotRead(node.text)
        return column

    def is_id(self, column: Column) -> bool:
        """True for a number that only names things."""
        return column.role is Role.ID or header_words(column.name)[-1:] == ["id"]

    def key(self, node: Node) -> tuple[str, str]:
        """A group key: a column, or a date cut to a grain."""
        if node.letter == "g":
            return self.grain(node.op)
        if node.letter == "K":
            return (node.op, f"{self.linker.column(node.columns[0][0]).name} group")
        column = self.column(node)
        amount = column.role in MEASURED or column.kind in (Kind.NUMBER, Kind.DECIMAL)
        if amount and column.role not in (Role.YEAR, Role.ID) and self._many_values(column):
            raise NotRead(node.text)  # a group for every amount there is answers nobody's question
        grain = self.lex.lemma(node.word)
        if (
            grain in ("year", "month")
            and header_words(column.name) != [grain]
            and self.index.table.profile.default_date
        ):
            return self.grain(grain)  # `by year` is the year of the row's own date, not of somebody's birth
        if column.kind.temporal:
            said = self.lex.lemma(node.word.split()[-1])
            grains = ("year", "month", "week", "quarter", *(("day", "hour") if column.kind is Kind.DATETIME else ()))
            if said in grains and said not in header_words(column.name):
                return self.grain(said)
        return (self.name(column), column.name)

    def _many_values(self, column: Column) -> bool:
        profile = next((p for p in self.index.table.profile.columns if p.name == column.name), None)
        return profile is not None and profile.distinct > MOST_AMOUNTS

    def grain(self, unit: str) -> tuple[str, str]:
        """The one date column cut to years, months, weeks …; an integer year column serves for years."""
        every = [c for c in self.index.columns if c.kind.temporal]
        named = [c for c in every if any(n.letter == "C" and n.columns[0][0] == c.id for n in self.row)]
        dates = named if len(named) == 1 else self.index.dates
        if unit == "hour" and not named:
            dates = [c for c in every if c.kind is Kind.DATETIME]
        years = [c for c in self.index.columns if c.role is Role.YEAR]
        if unit in ("year", "decade") and not dates and len(years) == 1:
            name = self.name(years[0])
            return (name, years[0].name) if unit == "year" else (f"{name} // 10 * 10", "decade")
        if len(dates) != 1:
            raise NotRead(unit)
        name = self.name(dates[0])
        formulas = {
            "year": f"year({name})",
            "weekday": f"weekday_name({name})",
            "hour": f"hour({name})",
            "decade": f"year({name}) // 10 * 10",
        }
        formula = formulas.get(unit, f"trunc({name}, '{unit}')")
        if len(every) > 1 and not named:
            self.query.notes.append(f"{unit} of {dates[0].name}")
        taken = {c.name.lower() for c in self.index.columns} - {dates[0].name.lower()}
        return (formula, unit if unit not in taken else f"{unit} of {dates[0].name}")

    def _time_key(self) -> tuple[str, str]:
        years = [c for c in self.index.columns if c.role is Role.YEAR]
        dates = self.index.dates
        if len(years) == 1 and not dates:
            return (self.name(years[0]), years[0].name)
        if len(dates) == 1:
            return (self.name(dates[0]), dates[0].name) if self._month_ends(dates[0]) else self.grain("month")
        raise NotRead("trend")

    def _month_ends(self, column: Column) -> bool:
        profile = next(p for p in self.index.table.profile.columns if p.name == column.name)
        return profile.distinct <= PANEL_DATES and column.kind is Kind.DATE

    # metrics
    def metric(self, function: str, node: Node) -> tuple[str, str]:
        """An aggregate of the column a node names, as (formula, name)."""
        if function in ("min", "max"):
            column = self.column(node)
            if column.kind in (Kind.BOOLEAN, Kind.LIST) or column.owner not in (None, self.index.table.name):
                raise NotRead(node.text)
        else:
            column = self.measurable(node)
        return self.aggregate(function, column)

    def aggregate(self, function: str, column: Column) -> tuple[str, str]:
        name = self.name(column)
        if function == "range":
            return (f"max({name}) - min({name})", f"range of {column.name}")
        if function.startswith("quantile:"):
            q = function.partition(":")[2]
            return (f"quantile({name}, {q})", f"quantile {q} of {column.name}")
        if function not in NAMES and function not in FUNCTIONS:
            raise NotRead(function)
        return (f"{function}({name})", f"{NAMES.get(function, function)} {column.name}")

    def _rate(self, node: Node) -> tuple[str, str]:
        column = self.linker.column(node.columns[0][0])
        if column.id not in self.index.yes:
            raise NotRead(node.text)
        truth = self.conditions.truth(column.id, True, node.text)
        self.query.notes.append(f"rate = share of rows with {truth.formula}")
        return (f"share_of_rows({truth.formula})", f"{column.name} rate")

    def _summary(self, column: Column) -> str:
        """How a measure is taken over the rows of a group when the question does not say."""
        words = header_words(column.name)
        rate = column.role not in ADDITIVE or bool(set(words) & {"median", "mean", "average", "avg", "price", "rate", "share", "ratio", "percent",
                                                                "pct", "inventory", "balance", "index", "score", "rating", "age", "days"})  # fmt: skip
        return "mean" if rate or (column.kind is Kind.NUMBER and not words) else "sum"

    def additive(self, column: Column) -> bool:
        words = set(header_words(column.name))
        return (
            self._summary(column) == "sum"
            and column.role in ADDITIVE
            and not words & {"rank", "position", "pick", "no", "number", "#", "year", "round", "week", "per", "id"}
        )

    def stands_for_rows(self, node: Node) -> bool:
        """`the average age of all singers`, where the word only names what a row is."""
        at = self.row.index(node) if node in self.row else 0
        back = at - 1
        while back >= 0 and self.row[back].letter == "F":
            back -= 1
        before = self.row[back].letter if back >= 0 else ""
        column = self.linker.column(node.columns[0][0])
        if any(self.lex.lemma(word) in self.linker.single for word in node.word.split()):
            return False
        rowlike = unique_values(self.index.table, column) or column.role is Role.ID
        return rowlike and before in ("o", "p", "k", "e", "i") and node.text.lower() != column.name.lower()

    def label(self) -> Column | None:
        """The column that names what a row is called here: `car_name` for `which cars …`, `Album title` for `albums`."""
        nouns = {self.lex.lemma(w) for n in self.row if n.letter in "nl" for w in n.word.split()}
        found = []
        for column in self.index.columns:
            words = [self.lex.lemma(word) for word in header_words(column.name)]
            about = set(words) - TITLES
            if column.kind is Kind.TEXT and len(about) == 1 and len(words) > 1 and about <= nouns:
                found.append(column)
        return found[0] if len(found) == 1 and mostly_unique(self.index.table, found[0]) else None

    def _coordinated(self, targets: list[Node]) -> bool:
        """True when the targets are listed together: `name, country and age`."""
        places = sorted(self.row.index(t) for t in targets if t in self.row)
        for a, b in itertools.pairwise(places):
            between = [n.letter for n in self.row[a + 1 : b]]
            if not set(between) <= set(",&eu") or not between:
                return False
        return True

    def _asked_column(self, question: str, used: set[str]) -> Node:
        """The column that answers who, where or when."""
        wanted = self.lex.asks[question]
        for word in wanted:
            hits = [
                c for c in self.index.columns
                if c.id not in used and word.split()[-1] in [self.lex.lemma(w) for w in header_words(c.name)]
                and (question != "who" or c.kind is Kind.TEXT)
            ]  # fmt: skip
            if len(hits) == 1:
                return Node("C", self.row[0].links, columns=((hits[0].id, 0.8),))
            if len(hits) > 1:
                break
        raise NotRead(question)


def skip(row: Sequence[Node], at: int, over: str) -> int:
    while at < len(row) and row[at].letter in over:
        at += 1
    return at
