"""The union step: rows of several tables, by column name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.polars_terms import TYPES
from qa.plan.scope import Scope
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, StepExample, numbered, worded
from qa.types import ROW, Column, Kind, Order, Schema

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline

How = Literal["all", "distinct", "intersect", "except"]
SQL_TYPES = {
    Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.NUMBER: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.DATE: "DATE", Kind.DATETIME: "TIMESTAMP",
    Kind.TIME: "TIME", Kind.DURATION: "BIGINT", Kind.DECIMAL: "DOUBLE", Kind.LIST: "VARCHAR[]",
}  # fmt: skip


class Union(Step):
    """Put the rows of other tables under these, columns matched by name; what a table lacks is missing.

    distinct drops repeated rows, intersect keeps rows that are in all, except drops rows that are in the others;
    these need the same names, and missing equals missing.
    """

    op: Literal["union"]
    tables: list[str] = Field(description="tables or lets", min_length=1)
    how: How = Field(default="all", description="all unless given")
    label: str | None = Field(default=None, description="a column that names the source of each row")
    words: ClassVar = ("together with", "combined with", "stacked", "both tables", "appended")
    examples: ClassVar = (
        StepExample(
            {"op": "union", "tables": ["u"], "how": "all", "label": "source"},
            {"a": [1, 2]},
            ["a", "b", "source"],
            [[1, None, "t"], [2, None, "t"], [2.5, "x", "u"]],
            {"u": {"b": ["x"], "a": [2.5]}},
        ),
        StepExample(
            {"op": "union", "tables": ["u"], "how": "distinct"},
            {"a": [2, 1, 2, None]},
            ["a"],
            [[2], [1], [None], [3]],
            {"u": {"a": [3, 1, None]}},
        ),
        StepExample(
            {"op": "union", "tables": ["u"], "how": "intersect"},
            {"a": [2, 1, 2, None]},
            ["a"],
            [[1], [None]],
            {"u": {"a": [3, 1, None]}},
        ),
        StepExample(
            {"op": "union", "tables": ["u"], "how": "except"},
            {"a": [2, 1, 2, None]},
            ["a"],
            [[2]],
            {"u": {"a": [3, 1, None]}},
        ),
    )

    def check(self, scope: Scope) -> CheckedStep:
        others = tuple(scope.pipeline(table, f"tables[{index}]") for index, table in enumerate(self.tables))
        columns, sources = self.matched(scope, [scope.schema, *(other.schema for other in others)])
        label = None
        if self.label is not None:
            scope.refuse_repeats([*(c.name for c in columns), self.label], "label")
            label = Column(scope.world.ids.fresh(), self.label, Kind.TEXT, nullable=False)
        shown = (*columns, label) if label and self.how == "all" else tuple(columns)
        table, place = scope.world.ids.fresh(), scope.world.ids.fresh()
        most = [schema.most_rows for schema in (scope.schema, *(other.schema for other in others))]
        kept = most if self.how in ("all", "distinct") else most[:1]
        order = (Order(table), Order(place))
        after = Schema(
            shown,
            order,
            most_rows=None if None in kept else sum(m or 0 for m in kept),
            keys=() if self.how == "all" else (frozenset(c.id for c in columns),),
        )
        mine = scope.current.let or scope.current.source if scope.current else ""
        return CheckedUnion(
            step=self, before=scope.schema, after=after, reads=others, columns=columns, sources=sources, label=label.id if label and self.how == "all" else None,
            names=(mine, *(other.let or other.source for other in others)), table=table, place=place, uses_order=True,
        )  # fmt: skip

    def matched(self, scope: Scope, schemas: Sequence[Schema]) -> tuple[list[Column], list[dict[str, str]]]:
        """The columns of the result, and for each table which of its columns becomes which."""
        names: dict[str, list[tuple[int, Column]]] = {}
        for index, schema in enumerate(schemas):
            for column in schema:
                names.setdefault(column.name.casefold(), []).append((index, column))
        columns: list[Column] = []
        sources: list[dict[str, str]] = [{} for _ in schemas]
        for found in names.values():
            if self.how != "all" and self.how != "distinct" and len(found) != len(schemas):
                scope.refuse(
                    "names_differ",
                    f"{found[0][1].name!r} is not in every table.",
                    "Select the same columns of each first.",
                    "tables",
                )
            if len({index for index, _ in found}) != len(found):
                scope.refuse(
                    "ambiguous_name",
                    f"Two columns here are named {found[0][1].name!r}.",
                    "Rename one of them first.",
                    "tables",
                )
            made = replace(common(scope, [c for _, c in found], len(found) == len(schemas)), id=scope.world.ids.fresh())
            columns.append(made)
            for index, column in found:
                sources[index][made.id] = column.id
        return columns, sources


def common(scope: Scope, found: Sequence[Column], everywhere: bool) -> Column:
    kinds = {column.kind for column in found}
    first = found[0]
    kind = first.kind
    if len(kinds) > 1:
        if not all(k.numeric for k in kinds) and kinds != {Kind.DATE, Kind.DATETIME}:
            held = worded(sorted(k.value for k in kinds))
            scope.refuse(
                "kinds_differ",
                f"{first.name!r} holds {held} in different tables.",
                "Make them one kind with text(x) or number(x) first.",
                "tables",
            )
        kind = Kind.DATETIME if Kind.DATETIME in kinds else Kind.NUMBER
    if Kind.DECIMAL in kinds:
        kind = Kind.NUMBER
    if len({column.zone for column in found}) > 1:
        scope.refuse(
            "kinds_differ", f"{first.name!r} holds times of different zones.", "Use date(x), or one zone.", "tables"
        )
    same_role = len({(column.role, column.unit) for column in found}) == 1
    bounds = [(column.low, column.high) for column in found]
    known = kind is Kind.INTEGER and all(low is not None and high is not None for low, high in bounds)
    return Column(
        first.id, first.name, kind, first.role if same_role else None, first.unit if same_role else None, first.zone, nullable=not everywhere or any(c.nullable for c in found),
        low=min(low for low, _ in bounds) if known else None, high=max(high for _, high in bounds) if known else None, repeated=all(c.repeated for c in found),  # type: ignore[type-var]
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CheckedUnion(CheckedStep):
    """`sources` gives for each table which of its columns becomes which; `table` and `place` order the rows."""

    step: Union
    reads: tuple[CheckedPipeline, ...]
    columns: Sequence[Column]
    sources: Sequence[dict[str, str]]
    label: str | None
    names: tuple[str, ...]
    table: str
    place: str

    # ---- Polars ----

    def piece(self, index: int, frame: pl.LazyFrame, order: tuple[Order, ...]) -> pl.LazyFrame:
        values = [self._value(column, self.sources[index].get(column.id)) for column in self.columns]
        label = [pl.lit(self.names[index], dtype=pl.String).alias(self.label)] if self.label else []
        where = [pl.lit(index, dtype=pl.Int64).alias(self.table), pl.col("u0").alias(self.place)]
        return numbered(frame, order, "u0").select([*values, *label, *where])

    def _value(self, column: Column, source: str | None) -> pl.Expr:
        kind = TYPES.get(column.kind, pl.String)
        if column.kind is Kind.DATETIME and column.zone:
            kind = pl.Datetime("us", column.zone)
        return (pl.lit(None, dtype=kind) if source is None else pl.col(source).cast(kind)).alias(column.id)

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        pieces = [self.piece(0, frame, self.before.order)]
        for index, other in enumerate(self.reads, 1):
            rows = any(key.id == ROW for key in other.schema.order)
            pieces.append(self.piece(index, lower.frame(other, rows), other.schema.order))
        ids = [column.id for column in self.columns]
        if self.step.how == "all":
            return pl.concat(pieces)
        if self.step.how == "distinct":
            return pl.concat(pieces).sort([self.table, self.place]).unique(ids, keep="first", maintain_order=True)
        first = pieces[0].sort(self.place).unique(ids, keep="first", maintain_order=True)
        how: Literal["semi", "anti"] = "semi" if self.step.how == "intersect" else "anti"
        for piece in pieces[1:]:
            first = first.join(piece.select(ids), on=ids, how=how, nulls_equal=True)
        return first

    # ---- SQL ----

    def sql_piece(self, index: int, source: exp.Table, order: tuple[Order, ...]) -> exp.Select:
        values: list[Any] = []
        for column in self.columns:
            old = self.sources[index].get(column.id)
            kind = exp.DataType.build("TIMESTAMPTZ" if column.zone else SQL_TYPES[column.kind])
            values.append(
                exp.alias_(exp.Cast(this=exp.Null() if old is None else name(old), to=kind), column.id, quoted=True)
            )
        if self.label:
            values.append(exp.alias_(exp.Literal.string(self.names[index]), self.label, quoted=True))
        place = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=ordered(order)) if order else None)
        values += [
            exp.alias_(exp.Literal.number(str(index)), self.table, quoted=True),
            exp.alias_(place, self.place, quoted=True),
        ]
        return exp.select(*values).from_(source)

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        pieces = [lower.named(self.sql_piece(0, source, self.before.order), "piece")]
        pieces += [
            lower.named(self.sql_piece(i, lower.pipeline(other), other.schema.order), "piece")
            for i, other in enumerate(self.reads, 1)
        ]
        if self.step.how == "all":
            return stacked(pieces)
        if self.step.how == "distinct":
            return self.first_of(lower.named(stacked(pieces), "stacked"), lower)
        first = exp.alias_(lower.named(self.first_of(pieces[0], lower), "first"), "f", table=True)
        select = exp.select(exp.Star()).from_(first)
        for piece in pieces[1:]:
            alike: list[Any] = [
                exp.NullSafeEQ(
                    this=exp.column(c.id, table="f", quoted=True), expression=exp.column(c.id, table="o", quoted=True)
                )
                for c in self.columns
            ]
            matched = reduce(lambda a, b: exp.And(this=a, expression=b), alike)
            found: exp.Expression = exp.Exists(
                this=exp.select(exp.Literal.number("1")).from_(exp.alias_(piece, "o", table=True)).where(matched)
            )
            select = select.where(found if self.step.how == "intersect" else exp.Not(this=found))
        return select

    def first_of(self, table: exp.Table, lower: SqlLowering) -> exp.Select:
        """The first row of each combination."""
        order = exp.Order(expressions=ordered((Order(self.table), Order(self.place))))
        place = exp.Window(this=exp.RowNumber(), partition_by=[name(c.id) for c in self.columns], order=order)
        placed = lower.named(exp.select(exp.Star(), exp.alias_(place, "p", quoted=True)).from_(table), "placed")
        return (
            exp.select(exp.Star(except_=[name("p")]))
            .from_(placed)
            .where(exp.EQ(this=name("p"), expression=exp.Literal.number("1")))
        )

    def describe(self) -> str:
        others = worded(self.step.tables)
        return {
            "all": f"add the rows of {others}", "distinct": f"add the rows of {others} and drop repeats",
            "intersect": f"keep the rows that are also in {others}", "except": f"drop the rows that are in {others}",
        }[self.step.how]  # fmt: skip


def stacked(pieces: Sequence[exp.Table]) -> exp.Expression:
    selects: list[exp.Expression] = [exp.select(exp.Star()).from_(piece) for piece in pieces]
    return reduce(lambda a, b: exp.Union(this=a, expression=b, distinct=False), selects)
