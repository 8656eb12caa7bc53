"""A part of a checked plan as statements: all for the cluster, but what rests on SciPy, which is finished here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp, parse_one

from qa.data.cluster_table import ClusterTable
from qa.engine.spark.clauses import columns_of, plain
from qa.engine.spark.lowering import lowered
from qa.engine.spark.terms import SparkTerms
from qa.engine.sql_engine import FILE_ROW, SqlEngine
from qa.plan.check import CheckedPart, CheckedPipeline
from qa.plan.functions.probabilities import UDFS
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.step import sql_outputs
from qa.plan.steps.summarize import CheckedSummarize

if TYPE_CHECKING:
    from qa.data.table import Table


@dataclass(frozen=True)
class Statement:
    """SQL for the cluster. When `finish` is set, `fetched` are the statements whose rows it reads under their names."""

    sql: str = ""
    finish: exp.Select | None = None
    fetched: Mapping[str, str] = field(default_factory=dict)


class SparkEngine(SqlEngine):
    """The SQL engine for tables that a cluster knows under names of its own. `view` gives a loaded table's name there."""

    def __init__(
        self, lets: Mapping[str, CheckedPipeline], tables: Mapping[str, Table], view: Callable[[Table], str]
    ) -> None:
        super().__init__(lets)
        self.terms = SparkTerms()
        self.tables, self.view = tables, view
        self._prepared = False

    def prepare(self) -> None:
        if not self._prepared:
            self._prepared = True
            super().prepare()

    def pipeline(self, pipeline: CheckedPipeline) -> exp.Table:
        return self.prefixes(pipeline)[-1]

    def prefixes(self, pipeline: CheckedPipeline) -> list[exp.Table]:
        """The rows entering each step, and those after the last."""
        self.prepare()
        tables = [self.start(pipeline)]
        for step in pipeline.steps:
            select = step.sql(tables[-1].copy(), self)
            if isinstance(step, CheckedSummarize) and isinstance(select, exp.Select):
                terms = replace(self.terms, hoisted=step.coarser())
                counts = [exp.alias_(exp.Count(this=terms(arg)), id, quoted=True) for _, id, arg in step.support]
                select = select.select(*counts)
            tables.append(self.named(select, step.step.op))
        return tables

    def start(self, pipeline: CheckedPipeline) -> exp.Table:
        start = super().start(pipeline)
        if pipeline.let is None and isinstance(self.tables[pipeline.source], ClusterTable):
            clause = next(clause for table, clause in self.clauses if table.name == start.name)
            for item in list(clause.find_all(exp.Column)):
                if item.name == FILE_ROW:  # no order is stored there; the cluster's own numbers keep rows apart
                    item.replace(exp.Anonymous(this="monotonically_increasing_id"))
        return start

    def part_select(self, part: CheckedPart, beside: Sequence[str]) -> exp.Select:
        """The rows of a part in its order, under `s0, s1, …`, with hidden columns beside them."""
        source = sql_outputs(self.pipeline(part.pipeline), part.outputs, self)
        shown: list[Any] = [exp.alias_(name(c.id), f"s{place}", quoted=True) for place, c in enumerate(part.shown)]
        select = exp.select(*shown, *(name(id) for id in beside)).from_(source)
        if part.shown.order:
            select = select.order_by(*ordered(part.shown.order))
        return select

    def statement(self, select: exp.Select, limit: int | None = None) -> Statement:
        """A select over the named clauses, for the cluster as far as it goes."""
        select = select if limit is None else select.limit(limit)
        kept = self._only_here()
        if not _read(select) & set(kept) and not _borrowed(select):
            return Statement(sql=self._text(select))
        clauses = {table.name: clause for table, clause in self.clauses}
        reads = _read(select).union(*(_read(clauses[one]) for one in kept)) - set(kept)
        fetched = {
            read: self._text(exp.select(exp.Star()).from_(exp.Table(this=exp.to_identifier(read, quoted=True))))
            for read in sorted(reads & clauses.keys())
        }
        finish = select
        for one in kept:
            finish = finish.with_(exp.to_identifier(one, quoted=True), as_=clauses[one].copy())
        return Statement(finish=finish, fetched=fetched)

    def _only_here(self) -> list[str]:
        """The clauses that call SciPy or rest on one that does, in order."""
        found: list[str] = []
        for table, clause in self.clauses:
            if _borrowed(clause) or _read(clause) & set(found):
                found.append(table.name)
        return found

    def _text(self, select: exp.Select) -> str:
        whole = self.with_clause(select)
        with_ = whole.args.get("with_") or whole.args.get("with")
        known = {source: self._stored(table) for source, table in self.tables.items()}
        made: set[str] = set()
        for cte in with_.expressions if with_ is not None else []:
            cte.set("this", plain(cte.this, known))
            known[cte.alias] = columns_of(cte.this, known)
            made.add(cte.alias)
        for node in list(whole.find_all(exp.Table)):
            if node.name in self.tables and node.name not in made:
                node.replace(self._there(self.tables[node.name]))
        text: str = lowered(whole).sql(dialect="spark")
        return text

    def _stored(self, table: Table) -> list[str]:
        return [*(column.id for column in table.columns), *([] if isinstance(table, ClusterTable) else [FILE_ROW])]

    def _there(self, table: Table) -> exp.Expr:
        if isinstance(table, ClusterTable):
            rows = parse_one(table.view, dialect="spark")
            rows.set("alias", exp.TableAlias(this=exp.to_identifier("there")))
            return rows
        return exp.Table(this=exp.to_identifier(self.view(table), quoted=True))


def _read(clause: exp.Expr) -> set[str]:
    return {table.name for table in clause.find_all(exp.Table)}


def _borrowed(clause: exp.Expr) -> bool:
    return any(str(node.this) in UDFS for node in clause.find_all(exp.Anonymous))
