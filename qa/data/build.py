"""From columns with kinds to a table: canonical Parquet, roles, profile and load report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from qa.data import roles
from qa.data.canonical import coded, written
from qa.data.columns import Typed, typed
from qa.data.names import display_names, tidy
from qa.data.options import ReadOptions
from qa.data.profile import figures, profile
from qa.data.raw import Raw, without_empty
from qa.data.stated import stated
from qa.data.table import Assumption, ColumnReport, LoadReport, Table
from qa.types import Column, Kind, Role

SKIPPED_MOST = 50
SAMPLED = 2_000


def table(raw: Raw, options: ReadOptions, *, file: str, target: Path, digest: str) -> Table:
    """Decide the kinds of a raw table, write its canonical Parquet and describe it."""
    raw = without_empty(raw)
    columns = typed(raw, options) if raw.states == "nothing" else stated(raw, options)
    frame = pl.DataFrame([column.values.alias(f"c{index}") for index, column in enumerate(columns)])
    frame = frame.with_columns(
        coded(frame[name]) for name, dtype in frame.schema.items() if dtype in (pl.String, pl.Categorical)
    )
    written(frame, target)
    return described(options, raw, columns, frame.lazy(), frame.height, file=file, target=target, digest=digest)


def described(
    options: ReadOptions,
    raw: Raw,
    columns: list[Typed],
    frame: pl.LazyFrame,
    rows: int,
    *,
    file: str,
    target: Path,
    digest: str,
) -> Table:
    """The table over a canonical Parquet that is already written; `frame` holds the same rows."""
    names = display_names(raw.headers)
    kinds = {f"c{index}": column.kind for index, column in enumerate(columns)}
    facts = figures(frame, kinds)
    described = [
        _column(raw.name, f"c{index}", names[index], column, facts, rows, frame) for index, column in enumerate(columns)
    ]
    facts_profile = profile(target, described, rows, name=raw.name, digest=digest, figures=facts, frame=frame)
    report = _report(options, raw, columns, described, file, rows, facts)
    return Table(
        name=raw.name, path=target, columns=described, rows=rows, digest=digest, profile=facts_profile, report=report
    )


def _column(
    table: str, id: str, name: str, column: Typed, facts: dict[str, Any], rows: int, frame: pl.LazyFrame
) -> Column:
    count, distinct = facts[f"{id}:count"], facts[f"{id}:distinct"]
    low, high = (facts.get(f"{id}:{end}") for end in ("low", "high"))
    role, unit = column.role, column.unit
    if role is None:
        role, found = _role(id, name, column, count, distinct, low, high, frame)
        unit = unit or found
    if role is Role.ID and column.kind is Kind.TEXT and roles.is_geo_code(name):
        role = Role.GEO
    bounded = column.kind is Kind.INTEGER and count > 0
    return Column(
        id=id,
        name=name,
        kind=column.kind,
        role=role,
        unit=unit,
        zone=column.zone,
        owner=table,
        origin=(table, id),
        nullable=count < rows,
        unique=count > 0 and distinct == count,
        low=low if bounded else None,
        high=high if bounded else None,
    )


def _role(
    id: str, name: str, column: Typed, count: int, distinct: int, low: Any, high: Any, frame: pl.LazyFrame
) -> tuple[Role | None, str | None]:
    numeric = column.kind.numeric and low is not None
    counting = (
        id == "c0"
        and numeric
        and column.kind is Kind.INTEGER
        and distinct == count
        and high - low + 1 == count
        and column.values.is_sorted()
    )
    some = (
        frame.select(pl.col(id).cast(pl.String))
        .filter(pl.col(id).is_not_null())
        .head(SAMPLED)
        .collect(engine="in-memory")
        .to_series()
        if column.kind is Kind.TEXT and count
        else None
    )
    facts = roles.Facts(count, distinct, float(low) if numeric else None, float(high) if numeric else None, counting)
    return roles.role(name, column.kind, facts, some)


def _report(
    options: ReadOptions,
    raw: Raw,
    columns: list[Typed],
    described: list[Column],
    file: str,
    rows: int,
    facts: dict[str, Any],
) -> LoadReport:
    names = [column.name for column in described]
    notes = [
        *raw.notes,
        *_unknown_columns(options, names),
        *_header_notes(raw, names),
        *(note for column in columns for note in column.assumptions),
    ]
    return LoadReport(
        file=file,
        format=raw.format,
        encoding=raw.encoding,
        delimiter=raw.delimiter,
        quote=raw.quote,
        sheet=raw.sheet,
        other_sheets=raw.other_sheets,
        rows_in=raw.rows_in if raw.rows_in is not None else rows,
        rows_out=rows,
        columns_in=raw.columns_in if raw.columns_in is not None else len(raw.headers),
        columns_out=len(columns),
        skipped=raw.skipped[:SKIPPED_MOST],
        skipped_total=len(raw.skipped),
        columns=tuple(
            ColumnReport(
                name=c.name,
                header=header,
                kind=c.kind,
                role=c.role,
                why=column.why,
                missing=rows - facts[f"{c.id}:count"],
                null_words=column.null_words,
            )
            for c, header, column in zip(described, raw.headers, columns, strict=True)
        ),
        unreadable=tuple(column.unreadable for column in columns if column.unreadable is not None),
        assumptions=tuple(sorted(notes, key=lambda note: -note.damage)),
        variants={c.name: column.variants for c, column in zip(described, columns, strict=True) if column.variants},
        offered={c.name: column.offered for c, column in zip(described, columns, strict=True) if column.offered},
    )


def _unknown_columns(options: ReadOptions, names: list[str]) -> list[Assumption]:
    """What was told of columns that are not there."""
    known = {name.casefold() for name in names}
    unknown = [name for name in (*options.as_kinds, *options.missing) if name and name.casefold() not in known]
    return [
        Assumption(
            code="no_such_column",
            column=None,
            damage=2,
            message=f"There is no column {name!r}; what was told of it had no effect. The columns are {', '.join(names[:20])}.",
        )
        for name in unknown
    ]


def _header_notes(raw: Raw, names: list[str]) -> list[Assumption]:
    """Which column a changed name stands for: blank and repeated headers."""
    changed = [
        (index, header, name)
        for index, (header, name) in enumerate(zip(raw.headers, names, strict=True))
        if tidy(header) != name
    ]
    if not changed:
        return []
    said = "; ".join(f"column {index + 1} ({header!r}) is called {name!r}" for index, header, name in changed[:20])
    return [
        Assumption(
            code="renamed", column=None, damage=1, message=f"Headers that were blank or repeated got names: {said}."
        )
    ]


def named(table: Table, name: str, digest: str | None = None) -> Table:
    """The same table under another name."""
    if table.name == name:
        return table
    columns = [replace(column, owner=name, origin=(name, column.id)) for column in table.columns]
    facts = table.profile.model_copy(update={"name": name})
    return Table(
        name=name,
        path=table.path,
        columns=columns,
        rows=table.rows,
        digest=digest or table.digest,
        profile=facts,
        report=table.report,
    )


def said_of(table: Table, file: str) -> Table:
    """The same table with a report that speaks of the file it was asked for (equal bytes may have two names)."""
    if table.report.file == file:
        return table
    report = table.report.model_copy(update={"file": file})
    return Table(
        name=table.name,
        path=table.path,
        columns=table.columns,
        rows=table.rows,
        digest=table.digest,
        profile=table.profile,
        report=report,
    )
