"""What the words of a question can mean in one table: its columns and every value of its text columns."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from qa.data.draft import SHORT_WORDS
from qa.data.table import Profile
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.text import fold, header_words, key, tight
from qa.types import Column, Kind, Role

KEPT_INDEXES = 32
LONGEST_VALUE = 40
"""words; longer cells are prose, which a question never spells out"""
TITLES = frozenset({"name", "title", "label"})
TRUE_WORDS = frozenset({"yes", "y", "true", "t", "1"})
FALSE_WORDS = frozenset({"no", "n", "false", "f", "0"})


class Indexed(Protocol):
    """What an index asks of a table: a loaded one, or several joined."""

    name: str
    digest: str
    rows: int
    columns: tuple[Column, ...]
    profile: Profile

    def distinct(self, column_id: str) -> Sequence[str]: ...
    def variants(self, column_id: str) -> dict[str, str]: ...


@dataclass(frozen=True)
class Name:
    """One way to say a column: its words, their lemmas and roots, and how sure it is (1 = its own name)."""

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    roots: tuple[str, ...]
    sure: float


@dataclass
class TableIndex:
    """Columns and values of a table, keyed for linking. Built once a digest, then shared."""

    table: Indexed
    names: dict[str, list[Name]] = field(default_factory=dict)
    values: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    by_root: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    longest: int = 1
    yes: dict[str, tuple[object, object]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    starts: dict[str, int] = field(default_factory=dict)
    dates: list[Column] = field(default_factory=list)
    """what a period such as `in 2023` or `by month` may be about"""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.columns

    def column(self, id: str) -> Column:
        return next(column for column in self.table.columns if column.id == id)

    def same(self, column_id: str, text_key: str) -> list[str]:
        """Every cell text of a column that reads the same as `text_key`."""
        return [value for id, value in self.values.get(text_key, ()) if id == column_id]


_indexes: OrderedDict[tuple[str, str, int], TableIndex] = OrderedDict()


def index(table: Indexed, lex: Lexicon) -> TableIndex:
    """The index of a table, from memory when its digest was seen before."""
    at = (table.name, table.digest, hash(_told(table)))
    if at not in _indexes:
        _indexes[at] = _build(table, lex)
        while len(_indexes) > KEPT_INDEXES:
            _indexes.popitem(last=False)
    _indexes.move_to_end(at)
    return _indexes[at]


def _told(table: Indexed) -> tuple[object, ...]:
    """What a semantic file adds to the data."""
    profile = table.profile
    return (profile.default_date, *((c.name, c.role, tuple(c.synonyms)) for c in profile.columns), *table.columns)


def _dates(table: Indexed, lex: Lexicon) -> list[Column]:
    """The table's default date, else the one that begins what its rows are about, else every date."""
    found = [column for column in table.columns if column.kind.temporal]
    default = [column for column in found if column.name == table.profile.default_date]
    said = {column.id: set(header_words(column.name)) for column in found}
    begins = [c for c in found if said[c.id] & lex.begins and not said[c.id] & lex.follows]
    if len(begins) == 1 and all(c in begins or said[c.id] & lex.follows for c in found):
        return default or begins
    return default or found


def _build(table: Indexed, lex: Lexicon) -> TableIndex:
    built = TableIndex(table, dates=_dates(table, lex))
    for column in table.columns:
        built.names[column.id] = _names(table, column, lex)
        for name in built.names[column.id]:
            for root in name.roots:
                built.by_root[root].add(column.id)
        if column.kind is Kind.TEXT:
            _add_values(built, column, table.distinct(column.id))
        pair = _truth_pair(table, column)
        if pair:
            built.yes[column.id] = pair
    return built


def _add_values(built: TableIndex, column: Column, distinct: Iterable[str]) -> None:
    said = {word for name in built.names[column.id][:1] for word in name.words}
    for value in distinct:
        folded = key(value) or tight(value)
        count = folded.count(" ") + 1
        own = set(folded.split()) <= said
        if folded and count <= LONGEST_VALUE and not own:
            built.values[folded].append((column.id, value))
            first = folded.split(" ", 1)[0]
            built.starts[first] = max(built.starts.get(first, 0), count)
    for spelling, stands_for in built.table.variants(column.id).items():
        folded = key(spelling)
        if folded and (column.id, stands_for) not in built.values[folded]:
            built.values[folded].append((column.id, stands_for))
            first = folded.split(" ", 1)[0]
            built.starts[first] = max(built.starts.get(first, 0), folded.count(" ") + 1)


def _names(table: Indexed, column: Column, lex: Lexicon) -> list[Name]:
    own = [word for word in header_words(column.name) if word[0].isalnum() or word in "#%"]
    own = [{"#": "number", "%": "percent"}.get(word, word) for word in own] or [fold(column.name)]
    spellings: list[tuple[list[str], float]] = [(own, 1.0)]
    whole = [long for word in own for long in SHORT_WORDS.get(word, word).split()]
    if whole != own:
        spellings.append((whole, 0.96))
    if "no" in own:
        spellings.append((["number" if word == "no" else word for word in own], 0.99))
    if column.kind is Kind.INTEGER and lex.lemma(own[-1]) != own[-1]:
        spellings.append(([*own[:-1], lex.lemma(own[-1]), "count"], 0.95))
    bare = _without_brackets(column.name)
    if bare and bare != own:
        spellings.append((bare, 0.97))
    if column.owner and column.owner != table.name:
        spellings.append(([lex.lemma(column.owner.lower().split("_")[-1]), *own], 0.97))
    profile = next((p for p in table.profile.columns if p.name == column.name), None)
    for synonym in profile.synonyms if profile else ():
        spellings.append((header_words(synonym), 0.97))
    spellings += _swapped(own, lex)
    for group in lex.synonyms:
        said = [" ".join(lex.lemma(w) for w in words.split()) for words in group]
        joined = [" ".join(lex.lemma(w) for w in spelling) for spelling, _ in spellings[:2]]
        if any(name in said for name in joined):
            spellings += [(words.split(), 0.85) for words in group if words.split() != own]
    return [_name(words, sure, lex) for words, sure in spellings if words]


def _swapped(own: list[str], lex: Lexicon) -> list[tuple[list[str], float]]:
    """The name with one word replaced by a synonym: `region name` is also `metro name`."""
    found: list[tuple[list[str], float]] = []
    if len(own) < 2:
        return found
    for place, word in enumerate(own):
        for group in lex.synonyms:
            if lex.lemma(word) in group:
                others = [other.split() for other in group if other != lex.lemma(word)]
                rest = {*own[:place], *own[place + 1 :]}
                for other in others:
                    found.append(([*own[:place], *other, *own[place + 1 :]], 0.89))
                    if rest <= TITLES or (len(other) > 1 and len(rest) <= len(other)):
                        found.append((other, 0.72))
    return found


def _name(words: list[str], sure: float, lex: Lexicon) -> Name:
    return Name(tuple(words), tuple(lex.lemma(w) for w in words), tuple(lex.root(w) for w in words), sure)


def _without_brackets(name: str) -> list[str]:
    cut = name
    while "(" in cut and ")" in cut[cut.index("(") :]:
        a = cut.index("(")
        cut = cut[:a] + " " + cut[cut.index(")", a) + 1 :]
    return [word for word in header_words(cut) if word[0].isalnum()]


def _truth_pair(table: Indexed, column: Column) -> tuple[object, object] | None:
    """What a column that answers yes or no writes for them: (yes, no)."""
    if column.kind is Kind.BOOLEAN:
        return (True, False)
    if column.kind is Kind.TEXT:
        distinct = list(table.distinct(column.id))
        yes = [v for v in distinct if fold(v).strip() in TRUE_WORDS]
        no = [v for v in distinct if fold(v).strip() in FALSE_WORDS]
        if len(yes) == 1 and len(distinct) == len(yes) + len(no) and len(no) <= 1:
            return (yes[0], no[0] if no else None)
        return None
    if column.kind.numeric and column.role is not Role.YEAR:
        profile = next((p for p in table.profile.columns if p.name == column.name), None)
        if profile and profile.distinct == 2 and profile.low == 0 and profile.high == 1:
            return (1, 0)
    return None


def unique_values(table: Indexed, column: Column) -> bool:
    """True when no value of the column occurs twice."""
    profile = next((p for p in table.profile.columns if p.name == column.name), None)
    return bool(column.unique or (profile and profile.unique) or (profile and 0 < profile.count == profile.distinct))


def mostly_unique(table: Indexed, column: Column) -> bool:
    """True when a value seldom occurs twice, so that the column names what a row is."""
    profile = next((p for p in table.profile.columns if p.name == column.name), None)
    return bool(column.unique or (profile and profile.count and profile.distinct >= 0.5 * profile.count))
