"""One column in words for a model: its safe name, and the facts its privacy level lets out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from qa.data.table import ColumnProfile, Table
from qa.planner.prompt import quoted
from qa.planner.relevance import words
from qa.types import Column, Kind, Role

Sent = Literal["nothing", "names", "profile", "samples"]

LONGEST_NAME = 30
FEWEST_VALUES = 5
"""With fewer values than this, a range is as good as the cells."""
CATEGORIES = 12
EXAMPLES = 3
SCANNED_VALUES = 50_000

_DEPTHS: tuple[Sent, ...] = ("nothing", "names", "profile", "samples")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PLAIN_NAME = re.compile(r"[\w](?:[\w \-./%()#&+:,'$€£°?!*=@\[\]]*[\w\-./%()#&+$€£°?!*\]])?")
_KEYWORDS = "and or not in between is null true false as asc desc case when then else end"
_RESERVED = frozenset(_KEYWORDS.split())
_PROSE = frozenset({"title", "reading", "question", "label", "reason", "nearest", "missing"})
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)+`|[^\W\d]\w*")


def level_of(table: str, column: ColumnProfile, privacy: str, rules: Mapping[str, str]) -> Sent:
    """The lowest of the session's level, the column's rule in its semantic file, and the caller's rule.

    An unknown rule keeps the column at home.
    """
    rule = rules.get(f"{table}.{column.name}", rules.get(column.name, privacy))
    levels = (privacy, rule, column.send or privacy)
    return _DEPTHS[min(_DEPTHS.index(level) if level in _DEPTHS else 0 for level in levels)]


@dataclass(frozen=True)
class Handles:
    """Short names for columns whose own is long or holds what could be taken for more than a name.

    The handle of a table's n-th column is `cN`, as the checker reads it too. `by_place` maps (table, column) to
    its handle; `names` maps a handle to the column it means, where that is the same in every table.
    """

    by_place: Mapping[tuple[str, str], str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, tables: Sequence[Table]) -> Handles:
        """The handles of all columns that need one."""
        taken = {column.name.casefold() for table in tables for column in table.columns}
        made = {
            (table.name, column.name): f"c{n}" if f"c{n}" not in taken else f"c{n}x"
            for table in tables
            for n, column in enumerate(table.columns, start=1)
            if needs_handle(column.name)
        }
        meant: dict[str, set[str]] = {}
        for (_, name), handle in made.items():
            meant.setdefault(handle, set()).add(name)
        return cls(made, {handle: next(iter(names)) for handle, names in meant.items() if len(names) == 1})

    def shown(self, table: str, name: str, *, label: int = 60) -> str:
        """The name as a formula writes it; a handle is followed by the start of the name it stands for."""
        handle = self.by_place.get((table, name))
        return f"{handle} = {quoted(name, label)}" if handle else written(name)

    def formula(self, table: str, name: str) -> str:
        """The name as a formula writes it, alone."""
        return self.by_place.get((table, name)) or written(name)


def expanded(value: Any, names: Mapping[str, str], field: str | None = None) -> Any:
    """A reply, or a piece of one, with handles replaced by the names they stand for."""
    if not names:
        return value
    match value:
        case dict():
            return {key: expanded(item, names, key) for key, item in value.items()}
        case list():
            return [expanded(item, names, field) for item in value]
        case str():
            return _expanded_text(value, names, field)
    return value


def _expanded_text(text: str, names: Mapping[str, str], field: str | None) -> str:
    def name(found: re.Match[str]) -> str:
        token = found.group()
        bare = token[1:-1] if token.startswith("`") else token
        return f"`{names[bare].replace('`', '``')}`" if bare in names else token

    if text in names:
        return names[text]
    if field in _PROSE:
        return re.sub(r"\bc\d+x?\b", lambda found: names.get(found.group(), found.group()), text)
    return _TOKEN.sub(name, text)


def needs_handle(name: str) -> bool:
    """True for names that are long, or that could break out of their quotes or their line."""
    return len(name) > LONGEST_NAME or _PLAIN_NAME.fullmatch(name) is None


def written(name: str) -> str:
    """The name as a formula writes it: bare when it can be, else in backticks."""
    plain = _IDENTIFIER.fullmatch(name) and name.casefold() not in _RESERVED
    return name if plain else f"`{name}`"


def line(table: Table, column: Column, sent: Sent, handles: Handles, question: str) -> str:
    """One line on a column: name and kind, then what the level allows."""
    facts: list[str] = [str(column.kind)]
    if sent in ("profile", "samples"):
        profile = table.profile.column(column.name)
        facts += _statistics(profile, table.rows)
        if sent == "samples":
            facts += _examples(table, column, profile, question)
        if table.profile.default_date == column.name:
            facts.append("the date that a period is about")
        if profile.delimiter:
            facts.append(f"items separated by {quoted(profile.delimiter, 8)}")
        if profile.description:
            facts.append(quoted(profile.description, 120))
        if profile.synonyms:
            facts.append("also called " + ", ".join(quoted(word, 30) for word in profile.synonyms[:6]))
    return f"- {handles.shown(table.name, column.name)}: {', '.join(facts)}"


def _statistics(column: ColumnProfile, rows: int) -> list[str]:
    facts = []
    if column.role is not None:
        facts.append(f"{column.role} in {quoted(column.unit, 20)}" if column.unit else str(column.role))
    elif column.unit:
        facts.append(f"unit {quoted(column.unit, 20)}")
    if column.missing:
        facts.append(f"{_percent(column.missing, rows)} missing")
    if column.unique and column.count:
        facts.append("unique")
    elif column.kind is Kind.TEXT or column.role in (Role.ID, Role.CATEGORY):
        facts.append(f"{column.distinct} distinct")
    enough = column.count >= FEWEST_VALUES and column.distinct > 1 and column.role is not Role.ID
    if enough and column.kind is Kind.BOOLEAN:
        true = next((n for value, n in column.top if value is True or str(value).lower() == "true"), None)
        facts += [f"{_percent(true, column.count)} true"] if true is not None else []
    elif enough and column.kind.numeric and column.low is not None:
        facts.append(f"{_number(column.low)}..{_number(column.high)}")
        facts += [f"median {_number(column.median)}"] if column.median is not None else []
    elif enough and column.kind.temporal and column.low is not None:
        facts.append(f"{str(column.low)[:10]}..{str(column.high)[:10]}")
    return facts


def _examples(table: Table, column: Column, profile: ColumnProfile, question: str) -> list[str]:
    if column.kind not in (Kind.TEXT, Kind.LIST):
        return []
    named = _named_values(table, column, profile, question)
    listed = [str(value) for value, _ in profile.top[:CATEGORIES]] or _head(table, column)
    shown = list(dict.fromkeys([*named, *listed]))
    word = "values" if profile.distinct <= len(shown) else "such as"
    return [f"{word} {', '.join(quoted(value, 40) for value in shown)}"] if shown else []


def _named_values(table: Table, column: Column, profile: ColumnProfile, question: str) -> list[str]:
    """Values of the column that the question spells, however often they occur."""
    if column.kind is not Kind.TEXT or not 0 < profile.distinct <= SCANNED_VALUES:
        return []
    padded = f" {' '.join(words(question))} "
    folded = ((value, " ".join(words(value))) for value in table.distinct(column.id))
    return [value for value, text in folded if len(text) > 2 and f" {text} " in padded][:4]


def _head(table: Table, column: Column) -> list[str]:
    values = table.scan().select(pl.col(column.id).cast(pl.String) if column.kind is Kind.TEXT else pl.col(column.id))
    return [str(value) for value in values.drop_nulls().head(EXAMPLES).collect().to_series().to_list()]


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return "<1%" if 0 < share < 1 else f"{share:.0f}%"


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)[:20]
    return str(value) if isinstance(value, int) and abs(value) < 1e9 else f"{value:.4g}"
