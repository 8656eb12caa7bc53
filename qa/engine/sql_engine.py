"""Checked plans as SQL trees: one WITH clause, a select a step; run in DuckDB, shown and transpiled elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import Any, Protocol

import duckdb
import polars as pl
from sqlglot import exp

from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.functions.probabilities import UDFS
from qa.plan.sql_terms import SqlTerms, let_table, name, ordered
from qa.plan.steps.step import sql_outputs
from qa.types import ROW, Column, Kind

FILE_ROW = "file_row_number"


class SqlEngine:
    """Lowers the pipelines of one plan. Every select gets a name in one WITH clause."""

    def __init__(self, lets: Mapping[str, CheckedPipeline]) -> None:
        self.lets = lets
        self.terms = SqlTerms()
        self.clauses: list[tuple[exp.Table, exp.Expr]] = []
        self._count = 0
        self._let_tables: dict[str, exp.Table] = {}

    def named(self, select: exp.Expr, hint: str) -> exp.Table:
        self._count += 1
        table = exp.to_table(f"{hint}_{self._count}", quoted=True)
        self.clauses.append((table, select))
        return table.copy()

    def pipeline(self, pipeline: CheckedPipeline) -> exp.Table:
        source = self.start(pipeline)
        for step in pipeline.steps:
            source = self.named(step.sql(source, self), step.step.op)
        return source

    def start(self, pipeline: CheckedPipeline) -> exp.Table:
        if pipeline.let is not None:
            return let_table(pipeline.let)
        key = f"table:{pipeline.source}"
        if key not in self._let_tables:
            base = exp.Table(this=exp.to_identifier(pipeline.source, quoted=True))
            columns: list[exp.Expr] = [_stored(column) for column in pipeline.start.columns]
            columns.append(exp.alias_(exp.column(FILE_ROW, quoted=True), ROW, quoted=True))
            self._let_tables[key] = self.named(exp.select(*columns).from_(base), "rows")
        return self._let_tables[key].copy()

    def prepare(self) -> None:
        """Names every let, in order, so that formulas and joins can read it."""
        for let, pipeline in self.lets.items():
            last = self.pipeline(pipeline)
            self.clauses.append((let_table(let), exp.select(exp.Star()).from_(last)))

    def part(self, part: CheckedPart) -> exp.Select:
        """The whole statement of a part, in its order, under display names."""
        self.prepare()
        source = sql_outputs(self.pipeline(part.pipeline), part.outputs, self)
        shown = [
            exp.alias_(name(c.id), header, quoted=True) for c, header in zip(part.shown, part.headers, strict=True)
        ]
        select = exp.select(*shown).from_(source)
        if part.shown.order:
            select = select.order_by(*ordered(part.shown.order))
        return self.with_clause(select)

    def with_clause(self, select: exp.Select) -> exp.Select:
        used = _reachable(select, self.clauses)
        for table, clause in self.clauses:
            if table.name in used:
                select = select.with_(exp.to_identifier(table.name, quoted=True), as_=clause.copy(), copy=False)
        return select


def _stored(column: Column) -> exp.Expr:
    """A table's column under its engine name in this plan."""
    stored = column.origin[1] if column.origin else column.id
    if (
        column.kind is Kind.TIME
    ):  # Parquet's nanoseconds are a type of their own in DuckDB, which does not mix with TIME
        return exp.alias_(exp.Cast(this=name(stored), to=exp.DataType.build("TIME")), column.id, quoted=True)
    return name(stored) if stored == column.id else exp.alias_(name(stored), column.id, quoted=True)


def _reachable(select: exp.Expr, clauses: list[tuple[exp.Table, exp.Expr]]) -> set[str]:
    by_name = {table.name: clause for table, clause in clauses}
    waiting, used = [select], set()
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            if table.name in by_name and table.name not in used:
                used.add(table.name)
                waiting.append(by_name[table.name])
    return used


def statement(plan: CheckedPlan, part: int = 0) -> exp.Select:
    """One part of a plan as a SQL tree over engine columns."""
    return SqlEngine(plan.lets).part(plan.parts[part])


class Stored(Protocol):
    """A table that lies in a Parquet file of engine columns."""

    @property
    def path(self) -> Path: ...


@lru_cache(maxsize=1)
def database() -> duckdb.DuckDBPyConnection:
    """The process's one DuckDB, in UTC, keeping nothing of the files it read. Opening one takes 17 ms, a cursor nothing."""
    opened = duckdb.connect(
        config={"threads": 2, "autoinstall_known_extensions": False, "enable_external_file_cache": False}
    )
    opened.execute("SET TimeZone = 'UTC'")
    return opened


def connect(tables: Mapping[str, Stored]) -> duckdb.DuckDBPyConnection:
    """A cursor that alone sees each table as a view over its Parquet file."""
    cursor = database().cursor()
    for table_name, table in tables.items():
        cursor.execute(_view(table_name, table.path).sql(dialect="duckdb"))
    return cursor


def _view(table_name: str, path: Path) -> exp.Create:
    rows = exp.PropertyEQ(this=exp.to_identifier(FILE_ROW), expression=exp.true())
    file = exp.Anonymous(this="read_parquet", expressions=[exp.Literal.string(str(path)), rows])
    return exp.Create(
        this=exp.Table(this=exp.to_identifier(table_name, quoted=True)), kind="VIEW", expression=exp.select(exp.Star()).from_(file),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )  # fmt: skip


@cache
def lent(function: str) -> None:
    """Gives DuckDB a Python function: p-values and rank tests."""
    python, parameters = UDFS[function]
    database().create_function(function, _known(python), parameters, "DOUBLE", null_handling="special")  # type: ignore[call-overload]


def _known(function: Callable[..., float | None]) -> Callable[..., float | None]:
    """The function, missing where an argument is. DuckDB's own rule for that does not let it give missing otherwise."""

    @wraps(function)  # DuckDB counts the parameters by the signature
    def known(*args: Any) -> float | None:
        return None if any(arg is None for arg in args) else function(*args)

    return known


def run_sql(select: exp.Expr, tables: Mapping[str, Stored], limit: int | None = None) -> pl.DataFrame:
    """The rows of a statement, from DuckDB."""
    for function in sorted({str(node.this) for node in select.find_all(exp.Anonymous)} & UDFS.keys()):
        lent(function)
    connection = connect(tables)
    try:
        limited = select.limit(limit) if limit is not None and isinstance(select, exp.Select) else select
        frame = pl.from_arrow(connection.sql(limited.sql(dialect="duckdb")).to_arrow_table())
        assert isinstance(frame, pl.DataFrame)
        return frame
    finally:
        connection.close()


def run_over(select: exp.Expr, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The rows of a statement over frames under their names, from DuckDB."""
    for function in sorted({str(node.this) for node in select.find_all(exp.Anonymous)} & UDFS.keys()):
        lent(function)
    cursor = database().cursor()
    try:
        for name, rows in frames.items():
            cursor.register(name, rows.to_arrow())
        frame = pl.from_arrow(cursor.sql(select.sql(dialect="duckdb")).to_arrow_table())
        assert isinstance(frame, pl.DataFrame)
        return frame
    finally:
        cursor.close()
