"""What SQL names mean: relations with aliases, and the formula text that each column has in the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.formula import quoted_name
from qa.types import Column, Kind, Source


def cannot(what: str, hint: str = "", code: str = "cannot_express") -> NoReturn:
    """The issue that a clause has no counterpart in the plan language."""
    raise PlanError(Issue(code, "", what, hint))


@dataclass(frozen=True)
class Field:
    """A column of a relation: its name there, and what is known of it."""

    name: str
    kind: Kind | None = None
    unique: bool = False


@dataclass
class Relation:
    """A table, let or sub-query in FROM. `owner` is how formulas call it, `alias` how the SQL does.

    `renamed` maps a column to the text that stands for it after joins: a key kept from the other side.
    """

    table: str
    alias: str
    owner: str
    fields: list[Field]
    renamed: dict[str, str] = field(default_factory=dict)

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name.casefold() == name.casefold()), None)


@dataclass
class Names:
    """The relations in view, innermost first; `outer` is the query around a correlated one."""

    relations: list[Relation]
    computed: dict[str, str] = field(default_factory=dict)
    """SQL text of an expression -> the name of the plan column that holds it"""
    aliases: dict[str, str] = field(default_factory=dict)
    """select alias -> plan column"""
    kinds: dict[str, Kind] = field(default_factory=dict)
    outer: Names | None = None

    def find(self, column: exp.Column) -> tuple[Relation, Field] | None:
        """The relation and field that a SQL column means, ignoring case."""
        wanted, table = column.name, column.table
        among = [r for r in self.relations if not table or table.casefold() in (r.alias.casefold(), r.table.casefold())]
        exact = [r for r in among if table and r.alias.casefold() == table.casefold()]
        for relation in exact or among:
            if (found := relation.field(wanted)) is not None:
                return relation, found
        return None

    def text(self, relation: Relation, found: Field) -> str:
        """The formula text of a field: bare where its name is the only one, owner before it where not."""
        if found.name in relation.renamed:
            return relation.renamed[found.name]
        fits = [(r, r.field(found.name)) for r in self.relations]
        same = [r for r, f in fits if f is not None and f.name not in r.renamed]
        return quoted_name(found.name) if len(same) <= 1 else f"{quoted_name(relation.owner)}.{quoted_name(found.name)}"


def fields_of(columns: Sequence[Column]) -> list[Field]:
    return [Field(c.name, c.kind, c.unique and not c.nullable) for c in columns]


def table_named(name: str, sources: Mapping[str, Source]) -> Source:
    """The source table of a SQL name, ignoring case."""
    for key, source in sources.items():
        if key.casefold() == name.casefold():
            return source
    squeezed = name.replace(" ", "_").casefold()
    for key, source in sources.items():
        if key.replace(" ", "_").casefold() == squeezed:
            return source
    cannot(f"There is no table {name!r}.", f"There are {', '.join(sources)}.", "no_such_table")


def without(relation: Relation, **changes: object) -> Relation:
    return replace(relation, **changes)  # type: ignore[arg-type]
