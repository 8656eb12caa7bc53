"""What people know about a table and its file does not say: the semantic file `<name>.qa.yaml`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from qa.data.canonical import ENUM_MOST
from qa.data.profile import profile
from qa.data.semantic_yaml import read_yaml, write_yaml
from qa.data.table import ColumnProfile, LoadReport, Profile, Table
from qa.errors import Issue, LoadError, PlanError
from qa.plan.check import check
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.scope import did_you_mean, nearest
from qa.types import NUMERIC, Column, Kind, Role, Source

ENDING = ".qa.yaml"
ANY = frozenset(Kind)
ROLE_KINDS: dict[Role, frozenset[Kind]] = {
    Role.ID: ANY,
    Role.CATEGORY: ANY,
    Role.CURRENCY: NUMERIC,
    Role.PERCENT: NUMERIC,
    Role.COUNT: NUMERIC,
    Role.RATE: NUMERIC,
    Role.BALANCE: NUMERIC,
    Role.YEAR: NUMERIC,
    Role.GEO: ANY,
    Role.TAG_LIST: frozenset({Kind.TEXT, Kind.LIST}),
}
"""The kinds a role fits. A role on another kind is not applied, and drift says so."""

Sent = Literal["nothing", "names", "profile", "samples"]
Cell = Annotated[str, BeforeValidator(lambda cell: str(cell).lower() if isinstance(cell, bool) else cell)]
"""A cell as the file spells it; YAML's true and 1 are the texts `true` and `1`."""


class Described(BaseModel):
    """Base of the parts of a semantic file."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class ColumnSemantics(Described):
    """What is known of one column. Everything left out stays as the reader found it."""

    description: str | None = None
    role: Role | None = Field(None, description="what the column is for")
    unit: str | None = Field(
        None, description="currency code for currency; fraction or percent for percent; else such as kg"
    )
    synonyms: tuple[str, ...] = Field((), description="other words that people use for it")
    delimiter: str | None = Field(None, min_length=1, description="what separates the items of a tag list")
    values: dict[Cell, Cell | None] = Field(
        {}, description="cell as in the file: what it stands for; null means missing"
    )
    send: Sent | None = Field(None, description="the most a model may ever be told of it; nothing hides even its name")


class Metric(Described):
    """A named formula over the table, usable wherever a metric is."""

    formula: str = Field(description="such as sum(amount) / count_distinct(order_id)")
    description: str | None = None
    synonyms: tuple[str, ...] = ()


class Relationship(Described):
    """A link to another table that a person confirmed or rejected. Columns pair up in order."""

    columns: tuple[str, ...] = Field(min_length=1)
    to: str = Field(description="name of the other table")
    to_columns: tuple[str, ...] = Field(min_length=1)
    confirmed: bool = Field(True, description="false: these columns do not belong together, whatever their values say")


class VerifiedQuestion(Described):
    """A question with the plan that answers it, checked by a person."""

    question: str
    plan: dict[str, Any] = Field(description="the reply that answers it, as plan JSON")
    by: str | None = None
    on: str | None = None
    note: str | None = None


class Semantics(Described):
    """The semantic file of one table."""

    version: Literal[1] = 1
    table: str | None = Field(None, description="name of the table, when the file holds several")
    description: str | None = None
    synonyms: tuple[str, ...] = Field((), description="other words for a row of this table")
    default_date: str | None = Field(None, description="the column that a period such as last month is about")
    week_start: Literal["monday", "sunday"] | None = None
    zone: str | None = Field(None, description="IANA zone for today and relative periods")
    columns: dict[str, ColumnSemantics] = {}
    metrics: dict[str, Metric] = {}
    relationships: tuple[Relationship, ...] = ()
    questions: tuple[VerifiedQuestion, ...] = ()

    @property
    def formulas(self) -> dict[str, str]:
        """Metrics as the checker takes them: name to formula."""
        return {name: metric.formula for name, metric in self.metrics.items()}


def semantics_schema() -> dict[str, Any]:
    """The JSON schema of a semantic file."""
    return Semantics.model_json_schema()


def beside(path: Path) -> Path:
    """Where the semantic file of a data file lies: `sales.csv.gz` has `sales.qa.yaml` next to it."""
    return path.with_name((path.name.split(".")[0] or path.stem) + ENDING)


def load_semantics(path: Path) -> Semantics:
    """The semantic file at `path`. Raises LoadError with every fault in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(
            Issue("cannot_open", path.name, f"{path.name!r} cannot be read as text.", "It must be UTF-8.")
        ) from error
    return parse_semantics(text, path.name)


def parse_semantics(text: str, file: str = "semantics") -> Semantics:
    """A semantic file from its text. Raises LoadError with every fault in it, each with its place."""
    data = read_yaml(text, file)
    try:
        return Semantics.model_validate({name: value for name, value in data.items() if value is not None})
    except ValidationError as error:
        raise LoadError(_issue(fault, file) for fault in error.errors()) from None


def dump_semantics(semantics: Semantics) -> str:
    """The YAML text of a semantic file, without what is left at its default."""
    return write_yaml({"version": 1} | semantics.model_dump(mode="json", exclude_defaults=True))


def send_rules(table: Table, semantics: Semantics) -> dict[str, str]:
    """`table.column` to the most that may leave of it, as the payload takes it."""
    found = {column.name: known.send for name, known in semantics.columns.items() if (column := _find(table, name))}
    return {f"{table.name}.{name}": send for name, send in found.items() if send}


def apply(table: Table, semantics: Semantics) -> Table:
    """The table with what its semantic file says: roles, units, descriptions, metrics, and value maps in the cells.

    A value map makes a new canonical Parquet beside the old one, with a digest of its own; the report's `variants`
    say what was read as what. What does not fit (an unknown column, a role on a wrong kind) is left out: see `drift`.
    """
    mapped = {name: known.values for name, known in semantics.columns.items() if known.values and _find(table, name)}
    if mapped:
        table = _with_values(table, {_column(table, name).name: values for name, values in mapped.items()})
    known = {column.name: known for name, known in semantics.columns.items() if (column := _find(table, name))}
    columns = [_column_with(column, known.get(column.name), table.profile) for column in table.columns]
    facts = [
        _profile_with(facts, column, known.get(facts.name))
        for facts, column in zip(table.profile.columns, columns, strict=True)
    ]
    date = _find(table, semantics.default_date) if semantics.default_date else None
    described = table.profile.model_copy(
        update={
            "columns": tuple(facts),
            "description": semantics.description or table.profile.description,
            "synonyms": semantics.synonyms,
            "default_date": date.name if date and date.kind.temporal else None,
            "metrics": semantics.formulas,
        }
    )
    return Table(
        name=table.name, path=table.path, columns=columns, rows=table.rows, digest=table.digest, profile=described, report=table.report
    )  # fmt: skip


def drift(table: Table, semantics: Semantics, others: Mapping[str, Source] | None = None) -> list[str]:
    """Where the semantic file and the table as read do not fit any more, a sentence each, by column name.

    `others` are the tables that relationships and verified questions may name besides.
    """
    found = []
    names = [column.name for column in table.columns]
    for name, known in semantics.columns.items():
        column = _find(table, name)
        if column is None:
            near = nearest(name, [other for other in names if other not in semantics.columns])
            found.append(f"{name!r} is described, but {table.name} has no such column. {did_you_mean(near)}".strip())
        else:
            found += _column_drift(table, column, known)
    if semantics.columns:
        new = [name for name in names if not any(_same(name, described) for described in semantics.columns)]
        found += [f"{name!r} is in the data, but not described." for name in new]
    if semantics.default_date:
        date = _find(table, semantics.default_date)
        if date is None or not date.kind.temporal:
            found.append(f"The default date {semantics.default_date!r} is not a date column of {table.name}.")
    sources: dict[str, Source] = {**(others or {}), table.name: table}
    found += _formula_drift(table, semantics, sources)
    found += _link_drift(table, semantics, others)
    return found


def questions_checked(semantics: Semantics, sources: Mapping[str, Source]) -> dict[str, str | None]:
    """Each verified question with what is wrong with its plan now, or None. The plan is checked, not run."""
    found: dict[str, str | None] = {}
    for verified in semantics.questions:
        try:
            reply = parse_reply(verified.plan)
            if not isinstance(reply, PlanReply):
                found[verified.question] = "it holds no plan."
                continue
            check(reply, sources, metrics=semantics.formulas)
        except PlanError as error:
            found[verified.question] = str(error.issues[0])
        else:
            found[verified.question] = None
    return found


def _issue(fault: Mapping[str, Any], file: str) -> Issue:
    """One fault in words: `columns.price.role: …`."""
    place = ".".join(str(step) for step in fault["loc"] if step != "[key]")
    match fault["type"]:
        case "extra_forbidden":
            return Issue("unknown_field", place, f"{file} has a field {fault['loc'][-1]!r} that is not known here.", "")
        case "missing":
            return Issue("missing_field", place, f"{file} leaves out {fault['loc'][-1]!r}, which is needed here.", "")
        case _:
            return Issue("bad_semantics", place, f"{file}: {fault['msg']}.", "")


def _same(name: str, other: str) -> bool:
    return " ".join(name.split()).casefold() == " ".join(other.split()).casefold()


def _find(table: Table, name: str) -> Column | None:
    """The column of this name: exactly, else the one that differs in case or spaces only."""
    exact = [column for column in table.columns if column.name == name]
    loose = [column for column in table.columns if _same(column.name, name)]
    return exact[0] if exact else loose[0] if len(loose) == 1 else None


def _column(table: Table, name: str) -> Column:
    column = _find(table, name)
    assert column is not None
    return column


def _fits(role: Role, column: Column) -> bool:
    return column.kind in ROLE_KINDS[role]


def _column_with(column: Column, known: ColumnSemantics | None, facts: Profile) -> Column:
    if known is None:
        return column
    role = known.role if known.role and _fits(known.role, column) else column.role
    unit = known.unit or (column.unit if role == column.role else None)
    if role is Role.TAG_LIST:  # the reader, too, keeps what separates the items as the unit
        unit = known.delimiter or unit
    if role is Role.PERCENT and unit not in ("fraction", "percent"):
        high = facts.column(column.name).high
        unit = "percent" if isinstance(high, int | float) and high > 1.5 else "fraction"
    return replace(column, role=role, unit=unit)


def _profile_with(facts: ColumnProfile, column: Column, known: ColumnSemantics | None) -> ColumnProfile:
    if known is None:
        return facts
    update: dict[str, Any] = {
        "role": column.role,
        "unit": column.unit,
        "description": known.description or facts.description,
    }
    update |= {"synonyms": known.synonyms or facts.synonyms}
    update |= {"delimiter": column.unit if column.role is Role.TAG_LIST else None}
    update |= {"send": known.send or facts.send}
    return facts.model_copy(update=update)


def _with_values(table: Table, maps: Mapping[str, Mapping[str, str | None]]) -> Table:
    """The table with cells replaced, written once for each pair of table and maps."""
    told = json.dumps(maps, sort_keys=True).encode()
    digest = hashlib.blake2b(table.digest.encode() + told, digest_size=16).hexdigest()
    path = table.path.with_name(f"{digest}.parquet")
    changes = {name: _change(table, table.column(name), values) for name, values in maps.items()}
    if not path.exists():
        scratch = path.with_suffix(".part")
        table.scan().with_columns(*(expression for expression, _ in changes.values())).sink_parquet(
            scratch, compression="zstd"
        )
        scratch.replace(path)
    plain = [changes[column.name][1] if column.name in changes else column for column in table.columns]
    facts = profile(path, plain, table.rows, name=table.name, digest=digest)
    columns = [
        replace(column, unique=seen.unique and column.kind is not Kind.LIST, nullable=seen.missing > 0)
        if column.name in changes
        else column
        for column, seen in zip(plain, facts.columns, strict=True)
    ]
    return Table(
        name=table.name, path=path, columns=columns, rows=table.rows, digest=digest, profile=facts, report=_report(table.report, maps)
    )  # fmt: skip


def _change(table: Table, column: Column, values: Mapping[str, str | None]) -> tuple[pl.Expr, Column]:
    """The cells of a column after its value map, and the column then.

    Only text to missing keeps the kind (`-999: null` in a column of numbers); a label makes it text.
    """
    cells = pl.col(column.id)
    spelled = cells.cast(pl.String)
    if all(label is None for label in values.values()) and column.kind is not Kind.TEXT:
        return pl.when(spelled.is_in(_spellings(column, values))).then(None).otherwise(cells).alias(column.id), column
    known = {spelling: label for cell, label in values.items() for spelling in _spellings(column, [cell])}
    labels = spelled.replace(list(known), list(known.values()))
    distinct = table.scan().select(labels.unique()).collect().to_series().drop_nulls().sort()
    coded = labels.cast(pl.Enum(distinct)) if 0 < len(distinct) <= ENUM_MOST else labels
    text = replace(column, kind=Kind.TEXT, low=None, high=None, zone=None)
    return coded.alias(column.id), text if column.kind is Kind.TEXT else replace(text, role=None, unit=None)


def _spellings(column: Column, cells: Sequence[str] | Mapping[str, str | None]) -> list[str]:
    """The texts that stand for these cells: 1 in a column of doubles is `1.0`."""
    if column.kind is Kind.NUMBER:
        return [spelling for cell in cells for spelling in {cell, _double(cell)}]
    return list(cells)


def _double(cell: str) -> str:
    try:
        return repr(float(cell))
    except ValueError:
        return cell


def _report(report: LoadReport, maps: Mapping[str, Mapping[str, str | None]]) -> LoadReport:
    applied = {
        name: {spelling: label for spelling, label in values.items() if label is not None}
        for name, values in maps.items()
    }
    merged = {name: {**report.variants.get(name, {}), **labels} for name, labels in applied.items() if labels}
    return report.model_copy(update={"variants": {**report.variants, **merged}})


def _column_drift(table: Table, column: Column, known: ColumnSemantics) -> list[str]:
    found = []
    if known.role and not _fits(known.role, column):
        found.append(f"{column.name!r} has the role {known.role}, but now holds {column.kind}.")
    if known.role is Role.PERCENT and known.unit not in (None, "fraction", "percent"):
        found.append(f"{column.name!r} is a percent, so its unit must be fraction or percent, not {known.unit!r}.")
    text = column.kind is Kind.TEXT
    if known.delimiter and text and not any(known.delimiter in cell for cell in table.distinct(column.id)):
        found.append(f"No cell of {column.name!r} holds the delimiter {known.delimiter!r}.")
    if known.values and text:
        applied = table.report.variants.get(column.name, {})
        cells = {*table.distinct(column.id), *applied}
        gone = [cell for cell in known.values if cell not in cells]
        if gone:
            found.append(
                f"No cell of {column.name!r} is {' or '.join(repr(cell) for cell in gone[:5])}, which its value map names."
            )
    return found


def _formula_drift(table: Table, semantics: Semantics, sources: Mapping[str, Source]) -> list[str]:
    found = []
    for name, metric in semantics.metrics.items():
        probe = {
            "parts": [
                {
                    "source": table.name,
                    "steps": [{"op": "summarize", "by": [], "metrics": [f"{metric.formula} as metric_value"]}],
                }
            ]
        }
        try:
            reply = parse_reply(probe)
            assert isinstance(reply, PlanReply)
            check(reply, sources, metrics=semantics.formulas)
        except PlanError as error:
            found.append(f"The metric {name!r} does not work: {error.issues[0].message} {error.issues[0].hint}".strip())
    checked = questions_checked(semantics, sources)
    return [
        *found,
        *(f"The verified question {question!r} does not work: {why}" for question, why in checked.items() if why),
    ]


def _link_drift(table: Table, semantics: Semantics, others: Mapping[str, Source] | None) -> list[str]:
    found = []
    for link in semantics.relationships:
        gone = [name for name in link.columns if _find(table, name) is None]
        found += [f"A relationship names {name!r}, but {table.name} has no such column." for name in gone]
        other = (others or {}).get(link.to)
        if others is not None and other is None:
            found.append(f"A relationship leads to {link.to!r}, which is not a table here.")
        elif other is not None:
            there = [column.name for column in other.columns]
            missing = [name for name in link.to_columns if not any(_same(name, column) for column in there)]
            found += [f"A relationship names {name!r}, but {link.to} has no such column." for name in missing]
    return found
