"""The keys of a join: pairs of formulas, one for each side, made comparable on both engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl
from sqlglot import exp

from qa.errors import PlanError
from qa.plan import formula as f
from qa.plan.bind import Binder
from qa.plan.literals import require_alike, together
from qa.plan.scope import Scope
from qa.plan.steps.step import Issues, PolarsLowering, SqlLowering, sql_outputs
from qa.plan.typed import Aggregate, Apply, Facets, Output, Ref, Typed, Windowed, column_of, walk
from qa.types import Kind

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline


@dataclass(frozen=True)
class Key:
    """One pair: the left and right formula, and the engine names under which they are compared."""

    left: Typed
    right: Typed
    left_id: str
    right_id: str

    @property
    def plain(self) -> bool:
        return isinstance(self.left, Ref)


@dataclass(frozen=True)
class Keys:
    """All pairs of a join."""

    pairs: tuple[Key, ...]

    @property
    def left_ids(self) -> list[str]:
        return [pair.left_id for pair in self.pairs]

    @property
    def right_ids(self) -> list[str]:
        return [pair.right_id for pair in self.pairs]

    @property
    def hidden_left(self) -> list[str]:
        """Left keys that are computed for the match alone."""
        return [pair.left_id for pair in self.pairs if not pair.plain]

    @property
    def same_columns(self) -> list[tuple[Ref, Ref]]:
        """Pairs of plain columns: after an inner join the right one means the left one."""
        return [
            (left, right)
            for pair in self.pairs
            for left, right in [(_column(pair.left), _column(pair.right))]
            if left and right
        ]

    def kept(self) -> list[tuple[str, str]]:
        """(left column, right key) to fill the left key from in a full join; the first, where a column is matched twice."""
        found: dict[str, str] = {}
        for pair in self.pairs:
            if (left := _column(pair.left)) is not None:
                found.setdefault(left.column.id, pair.right_id)
        return list(found.items())

    def sql_condition(self, left: str, right: str) -> exp.Expression:
        pairs: list[exp.Expression] = [
            exp.EQ(
                this=exp.column(pair.left_id, table=left, quoted=True),
                expression=exp.column(pair.right_id, table=right, quoted=True),
            )
            for pair in self.pairs
        ]
        return reduce(lambda a, b: exp.And(this=a, expression=b), pairs) if pairs else exp.true()


def _column(typed: Typed) -> Ref | None:
    """The column of a bare reference, also below the cast that makes it comparable."""
    if isinstance(typed, Apply) and typed.function == "number" and isinstance(typed.args[0], Ref):
        return typed.args[0]
    return typed if isinstance(typed, Ref) else None


def bound_keys(scope: Scope, other: CheckedPipeline, texts: Sequence[str]) -> Keys:
    """The typed keys of `on`. Each text is a name on both sides, or `left = right`."""
    right_scope = Scope(other.schema, scope.world)
    pairs: list[Key] = []
    issues = Issues()
    for index, text in enumerate(texts):
        with issues:
            try:
                left, right = comparable(scope, *_sides(scope, right_scope, text))
            except PlanError as error:
                raise error.at(f"on[{index}]") from None
            left_id = left.column.id if isinstance(left, Ref) else scope.world.ids.fresh()
            pairs.append(Key(left, right, left_id, scope.world.ids.fresh()))
    issues.done()
    return Keys(tuple(pairs))


def comparable(scope: Scope, left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Both sides as one kind; different kinds are an issue with the cast that fixes it."""
    for side in (left, right):
        if any(isinstance(node, Aggregate | Windowed) for node in walk(side)):
            scope.refuse("bad_key", "A key is computed from its own row only.", "Derive it in an earlier step.")
    left, right = together(scope, left, right)
    require_alike(scope, left, right)
    if left.facets.zone != right.facets.zone:
        scope.refuse(
            "kinds_differ", "The two keys are times of different zones.", "Join on date(x), or convert one of them."
        )
    if left.kind is not right.kind or Kind.DECIMAL in (left.kind, right.kind):
        return _as_number(left), _as_number(right)
    return left, right


def _as_number(side: Typed) -> Typed:
    return side if side.kind is Kind.NUMBER else Apply(Facets(Kind.NUMBER, True), "number", (side,))


def _sides(scope: Scope, right: Scope, text: str) -> tuple[Typed, Typed]:
    if scope.has(text) and right.has(text):
        return Binder(scope).formula(text), Binder(right).formula(text)
    head, equals, tail = text.partition("=")
    if equals and scope.has(head.strip()) and right.has(tail.strip()):
        return Binder(scope).formula(head.strip()), Binder(right).formula(tail.strip())
    node = f.parse(text)
    if isinstance(node, f.Call) and node.function == "==":
        first, second = node.args
        try:
            return Binder(scope).bind(first), Binder(right).bind(second)
        except PlanError as error:
            try:
                return Binder(scope).bind(second), Binder(right).bind(first)
            except PlanError:
                raise error from None
    return Binder(scope).bind(node), Binder(right).bind(node)


def key_outputs(keys: Keys) -> tuple[list[Output], list[Output]]:
    """Columns to compute on each side before they are matched."""
    left = [
        Output(pair.left, column_of(pair.left, pair.left_id, pair.left_id)) for pair in keys.pairs if not pair.plain
    ]
    return left, [Output(pair.right, column_of(pair.right, pair.right_id, pair.right_id)) for pair in keys.pairs]


def key_frames(
    keys: Keys, left: pl.LazyFrame, right: pl.LazyFrame, lower: PolarsLowering, how: str
) -> tuple[pl.LazyFrame, pl.LazyFrame, list[str]]:
    """Both frames with their keys in one type, and the helper columns to drop from the left afterwards."""
    ours, theirs = key_outputs(keys)
    left = left.with_columns([lower.terms(output.typed).alias(output.column.id) for output in ours]) if ours else left
    right = (
        right.with_columns([lower.terms(output.typed).alias(output.column.id) for output in theirs])
        if theirs
        else right
    )
    for pair in keys.pairs:
        if pair.left.kind is Kind.TEXT:
            left, right = _alike_text(pair, left, right, how)
    numbers = {column.column.id for pair in keys.pairs if not pair.plain and (column := _column(pair.left)) is not None}
    if how == "full" and numbers:
        left = left.with_columns([pl.col(id).cast(pl.Float64) for id in numbers])
        mixed = [pair.right_id for pair in keys.pairs if pair.plain and pair.left_id in numbers]
        right = right.with_columns([pl.col(id).cast(pl.Float64) for id in mixed])
    return left, right, keys.hidden_left


def _alike_text(pair: Key, left: pl.LazyFrame, right: pl.LazyFrame, how: str) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Dictionary-coded keys stay coded where the dictionaries allow it."""
    mine, its = (
        frame.collect_schema()[id] if isinstance(frame, pl.LazyFrame) else None
        for frame, id in ((left, pair.left_id), (right, pair.right_id))
    )
    if mine is not None and mine == its:
        return left, right
    if mine is not None and how != "full" and isinstance(mine, pl.Enum):
        # A value that the left's dictionary lacks has no match there: missing never matches either.
        return left, right.with_columns(pl.col(pair.right_id).cast(pl.String).cast(mine, strict=False))
    return left.with_columns(pl.col(pair.left_id).cast(pl.String)), right.with_columns(
        pl.col(pair.right_id).cast(pl.String)
    )


def key_tables(
    keys: Keys, left: exp.Table, right: exp.Table, lower: SqlLowering, more: Sequence[Output]
) -> tuple[exp.Table, exp.Table]:
    """Both tables with their keys as columns."""
    ours, theirs = key_outputs(keys)
    return sql_outputs(left, ours, lower), sql_outputs(right, [*more, *theirs], lower)
