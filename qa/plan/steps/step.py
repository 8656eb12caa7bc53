"""What every step is: fields as written, and the checked form that both engines lower."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import polars as pl
from pydantic import BaseModel, ConfigDict
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.polars_terms import PolarsTerms, order_arguments
from qa.plan.scope import Scope
from qa.plan.sql_terms import SqlTerms, ordered
from qa.plan.typed import Guard, Output, Ref, Typed, Watch, Windowed, column_of, walk
from qa.types import Column, Order, Schema

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline

POSITION = "n0"
"""The engine name of row_index(), present only inside a step that uses it."""


class PolarsLowering(Protocol):
    """What a step may ask of the engine while it lowers to Polars."""

    terms: PolarsTerms

    def pipeline(self, pipeline: CheckedPipeline) -> pl.LazyFrame: ...

    def frame(self, pipeline: CheckedPipeline, rows: bool) -> pl.LazyFrame:
        """The rows of a pipeline, with the file's row number beside them when `rows` asks for it."""
        ...


class SqlLowering(Protocol):
    """What a step may ask of the engine while it lowers to SQL."""

    terms: SqlTerms

    def pipeline(self, pipeline: CheckedPipeline) -> exp.Table: ...

    def named(self, select: exp.Expression, hint: str) -> exp.Table:
        """Gives a select a name of its own in the WITH clause."""
        ...


@dataclass(frozen=True)
class StepExample:
    """A step on a small table: columns in, rows out in order. `tables` are other tables that it reads."""

    step: dict[str, Any]
    data: dict[str, list[Any]]
    columns: list[str]
    rows: list[list[Any]]
    tables: dict[str, dict[str, list[Any]]] | None = None


class Step(BaseModel, ABC):
    """Base of the steps. Fields are as LANGUAGE 3 names them; missing optional fields take their default."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    words: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[StepExample, ...]] = ()
    op: str

    @abstractmethod
    def check(self, scope: Scope) -> CheckedStep:
        """Types the step against the columns entering it; raises every issue it finds."""


@dataclass(frozen=True, kw_only=True)
class CheckedStep(ABC):
    """A step whose formulas are typed. `same_rows` promises as many rows out as in, in any order."""

    step: Step
    before: Schema
    after: Schema
    watches: tuple[Watch, ...] = ()
    guards: tuple[Guard, ...] = ()
    same_rows: bool = False
    uses_order: bool = False

    @abstractmethod
    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        """The step on a lazy frame of engine columns."""

    @abstractmethod
    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        """The step as a select over a named table."""

    @abstractmethod
    def describe(self) -> str:
        """One clause a reader can follow."""

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        """Why the rows differ, for the ledger."""
        return ""

    def unused(self, following: CheckedStep | None) -> list[str]:
        """Columns that the step need not carry, because the step after it leaves them out."""
        return []

    def tallies(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        """What is counted beside the answer: each watch with a frame of one cell."""
        if not self.watches:
            return []
        ready = self.ready(self.counted_on(frame, lower), *(watch.condition for watch in self.watches))
        return [
            (watch, ready.select(lower.terms(watch.condition).sum().cast(pl.Int64).alias("n")))
            for watch in self.watches
        ]

    def guarded(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Guard, pl.LazyFrame]]:
        """Each guard with a frame of one cell: in how many groups its condition is true."""
        frame = self.counted_on(frame, lower) if self.guards else frame
        return [
            (guard, frame.select(lower.terms(guard.condition).alias("n").cast(pl.Int64).sum())) for guard in self.guards
        ]

    def counted_on(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        """The rows entering, with what watches and guards may read beside their columns."""
        return frame

    def ready(self, frame: pl.LazyFrame, *formulas: Typed) -> pl.LazyFrame:
        """The frame with row numbers, where a formula uses them."""
        return numbered(frame, self.before.order) if uses_position(*formulas) else frame

    def sql_ready(self, source: exp.Table, lower: SqlLowering, *formulas: Typed) -> exp.Table:
        if not uses_position(*formulas):
            return source
        number = exp.Window(
            this=exp.RowNumber(), order=exp.Order(expressions=ordered(self.before.order)) if self.before.order else None
        )
        return lower.named(exp.select(exp.Star(), exp.alias_(number, POSITION, quoted=True)).from_(source), "numbered")


def uses_position(*formulas: Typed) -> bool:
    return any(
        isinstance(node, Windowed) and node.function == "row_index" for formula in formulas for node in walk(formula)
    )


def numbered(frame: pl.LazyFrame, order: tuple[Order, ...], name: str = POSITION) -> pl.LazyFrame:
    """The rows in order, with their number counted from 1."""
    in_order = frame.sort(**order_arguments(order)) if order else frame
    return in_order.with_row_index(name, offset=1).with_columns(pl.col(name).cast(pl.Int64))


def with_outputs(
    frame: pl.LazyFrame, outputs: Sequence[Output], lower: PolarsLowering, terms: PolarsTerms | None = None
) -> pl.LazyFrame:
    """The frame with computed columns; each may use the ones before it."""
    for output in outputs:
        frame = frame.with_columns((terms or lower.terms)(output.typed).alias(output.column.id))
    return frame


def sql_outputs(
    source: exp.Table, outputs: Sequence[Output], lower: SqlLowering, terms: SqlTerms | None = None
) -> exp.Table:
    """A table with computed columns, one select for each run of outputs that do not use each other."""
    waiting: list[Output] = []
    for output in outputs:
        used = {node.column.id for node in walk(output.typed) if isinstance(node, Ref)}
        if used & {o.column.id for o in waiting}:
            source = lower.named(_select_more(source, waiting, terms or lower.terms), "derived")
            waiting = []
        waiting.append(output)
    return lower.named(_select_more(source, waiting, terms or lower.terms), "derived") if waiting else source


def _select_more(source: exp.Table, outputs: Sequence[Output], terms: SqlTerms) -> exp.Select:
    more = [exp.alias_(terms(output.typed), output.column.id, quoted=True, copy=False) for output in outputs]
    return exp.select(exp.Star(), *more, copy=False).from_(source)


def star(source: exp.Table) -> exp.Select:
    return exp.select(exp.Star()).from_(source)


def without(source: exp.Table, ids: Sequence[str]) -> exp.Select:
    """Every column but some that only the step itself needed."""
    return exp.select(exp.Star(**({"except_": [exp.column(id, quoted=True) for id in ids]} if ids else {}))).from_(
        source
    )


class Issues:
    """Gathers issues so that a step reports all of them at once."""

    def __init__(self) -> None:
        self.found: list[Issue] = []

    def __enter__(self) -> Issues:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, PlanError):
            self.found.extend(error.issues)
            return True
        return False

    def done(self) -> None:
        if self.found:
            raise PlanError(self.found)


def output(scope: Scope, typed: Typed, name: str, text: str = "") -> Output:
    """A computed column under a fresh engine name."""
    return Output(typed, column_of(typed, scope.world.ids.fresh(), name), text)


def order_keys(
    scope: Scope, binder: Any, texts: Sequence[str], field: str = "order"
) -> tuple[tuple[Output, ...], tuple[Order, ...]]:
    """Sort keys: columns to compute first, and the order they give."""
    from qa.plan.formula import parse_order

    outputs: list[Output] = []
    orders: list[Order] = []
    issues = Issues()
    for index, text in enumerate(texts):
        where = f"{field}[{index}]"
        with issues:
            typed, descending, nulls_first = _order_key(scope, binder, text, where, parse_order)
            if typed.kind is not None and typed.kind.value == "list":
                scope.refuse("wrong_kind", "A list has no order.", "Explode it first.", where)
            if isinstance(typed, Ref):
                orders.append(Order(typed.column.id, descending, nulls_first))
            else:
                computed = output(scope, typed, text)
                outputs.append(computed)
                orders.append(Order(computed.column.id, descending, nulls_first))
    issues.done()
    return tuple(outputs), tuple(orders)


def _order_key(scope: Scope, binder: Any, text: str, where: str, parse_order: Any) -> tuple[Typed, bool, bool]:
    from qa.plan.formula import Name

    bare = text
    descending = nulls_first = False
    while True:
        if scope.has(bare):
            return binder.bind(Name(bare)), descending, nulls_first
        head, _, tail = bare.rpartition(" ")
        if tail.lower() in ("asc", "desc") and head:
            bare, descending = head.rstrip(), tail.lower() == "desc"
        elif tail.lower() in ("first", "last") and head.lower().endswith(" nulls"):
            bare, nulls_first = head[:-6].rstrip(), tail.lower() == "first"
        else:
            break
    try:
        key = parse_order(text)
        return binder.bind(key.node), key.descending, key.nulls_first
    except PlanError as error:
        raise error.at(where) from None


def appended(order: tuple[Order, ...], more: tuple[Order, ...]) -> tuple[Order, ...]:
    """A new order with the old one breaking ties."""
    taken = {key.id for key in order}
    return order + tuple(key for key in more if key.id not in taken)


def merged(schema: Schema, columns: Sequence[Column]) -> Schema:
    return replace(schema, columns=tuple(columns))


def worded(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


__all__ = [name for name in dir() if not name.startswith("_")]
