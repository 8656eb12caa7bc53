"""A plan as SQL that a person reads and a warehouse runs: the twin with the user's table and column names."""

from __future__ import annotations

from typing import Literal, get_args

from sqlglot import exp

from qa.engine.polars_code import script_names
from qa.engine.sql_engine import SqlEngine
from qa.plan.check import CheckedPipeline, CheckedPlan
from qa.plan.functions.aggregates import NoTwin
from qa.types import ROW

Dialect = Literal["duckdb", "postgres", "bigquery", "snowflake", "spark"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


class ReadableSql(SqlEngine):
    """The SQL engine over tables that have display names; every engine name becomes the user's."""

    def __init__(self, plan: CheckedPlan, part: int) -> None:
        super().__init__(plan.lets)
        self.names = script_names(plan, plan.parts[part])
        self.bases: dict[str, list[exp.Expr]] = {}

    def start(self, pipeline: CheckedPipeline) -> exp.Table:
        table = super().start(pipeline)
        if pipeline.let is None and table.name not in self.bases:
            self.bases[table.name] = [self._shown(column.name, column.id) for column in pipeline.start.columns]
        return table

    def _shown(self, name: str, id: str) -> exp.Expr:
        column = exp.column(name, quoted=True)
        return column if self.names[id] == name else exp.alias_(column, self.names[id], quoted=True)

    def readable(self, select: exp.Select) -> exp.Select:
        """The statement with the user's names, without clauses that only pass rows on."""
        numbered = sum(1 for node in select.find_all(exp.Identifier) if node.this == ROW) > len(self.bases)
        with_ = select.args.get("with_") or select.args.get("with")
        for cte in with_.expressions if with_ is not None else []:
            if cte.alias in self.bases:
                source = cte.this.args.get("from_") or cte.this.args.get("from")
                columns = list(self.bases[cte.alias])
                if numbered:
                    count = exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=exp.Literal.number(1))
                    columns.append(exp.alias_(count, "row number", quoted=True))
                cte.set("this", exp.select(*columns).from_(source.this))
            else:
                self._rename(cte.this)
        self._rename_outer(select)
        return without_relays(select)

    def _rename(self, node: exp.Expr) -> None:
        for identifier in node.find_all(exp.Identifier):
            if identifier.this in self.names:
                identifier.set("this", self.names[identifier.this])

    def _rename_outer(self, select: exp.Select) -> None:
        for key, value in select.args.items():
            if key in ("with", "with_"):
                continue
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, exp.Alias):
                    self._rename(node.this)
                    if isinstance(node.this, exp.Column) and node.this.name == node.alias:
                        node.replace(node.this)
                elif isinstance(node, exp.Expr):
                    self._rename(node)


def without_relays(select: exp.Select) -> exp.Select:
    """Clauses that are just `SELECT * FROM another` are left out, and what read them reads the other."""
    with_ = select.args.get("with_") or select.args.get("with")
    if with_ is None:
        return select
    relays: dict[str, str] = {}
    kept = []
    for cte in with_.expressions:
        inner = cte.this
        source = inner.args.get("from_") or inner.args.get("from") if isinstance(inner, exp.Select) else None
        filled = {key for key, value in inner.args.items() if value} - {"expressions", "from", "from_", "kind"}
        plain = source is not None and isinstance(source.this, exp.Table) and not filled and len(inner.expressions) == 1
        if (
            plain
            and isinstance(inner.expressions[0], exp.Star)
            and not inner.expressions[0].args.get("except_")
            and not cte.alias.startswith("let_")
        ):
            target = str(source.this.name) if source is not None else ""
            relays[cte.alias] = relays.get(target, target)
        else:
            kept.append(cte)
    for table in select.find_all(exp.Table):
        if table.name in relays:
            table.this.set("this", relays[table.name])
    with_.set("expressions", kept)
    return select


def readable_sql(plan: CheckedPlan, part: int = 0, dialect: Dialect = "duckdb") -> str:
    """One part of a plan as SQL text over tables and columns under their display names.

    Raises NoTwin where the plan has no SQL. Functions that a dialect lacks keep DuckDB's name. In a warehouse
    tables have no order, so where a plan uses the file's order the row numbers are those the warehouse gives.
    """
    engine = ReadableSql(plan, part)
    statement = engine.part(plan.parts[part]).copy()
    if any(str(node.this).startswith("qa_") for node in statement.find_all(exp.Anonymous)):
        raise NoTwin("its p-values and rank statistics come from SciPy, which plain SQL does not have")
    return engine.readable(statement).sql(dialect=dialect, pretty=True)
