"""What a join does to the schema: matches measured, fan-out marked, names and keys carried over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from qa.plan.scope import Scope
from qa.plan.steps.join_keys import Keys, key_outputs
from qa.plan.steps.select import choose
from qa.plan.typed import Output, Ref, facets_of
from qa.types import Column, Kind, Order, Schema

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline

MAX_ROWS = 20_000_000
"""Rows that a cross join may give."""
UNKNOWN = 2**40


@dataclass(frozen=True)
class Matches:
    """The most rows of each side that share a key; UNKNOWN where nobody measured."""

    left: int
    right: int


def measured(scope: Scope, other: CheckedPipeline, keys: Keys, how: str, expect: str | None) -> Matches:
    """How many rows match. An `expect` that the data contradicts, and an unasked many-to-many, are issues."""
    if how == "cross":
        return _cross(scope, other)
    if how == "asof":
        return Matches(UNKNOWN, 1)
    if how in ("semi", "anti") and expect is None:
        return Matches(1, 1)
    right = _most(scope, other, keys, of_right=True)
    needs_left = right > 1 or how == "full" or expect in ("one_to_one", "one_to_many")
    left = _most(scope, scope.current, keys, of_right=False) if needs_left else UNKNOWN
    owner = other.let or other.source
    if UNKNOWN > right > 1 and expect in ("many_to_one", "one_to_one"):
        scope.refuse(
            "expect_broken",
            f"Up to {right:,} rows of {owner} share one key, so this is not {expect}.",
            f"Summarize {owner} by the key first, or expect one_to_many.",
            "expect",
        )
    if UNKNOWN > left > 1 and expect in ("one_to_many", "one_to_one"):
        scope.refuse(
            "expect_broken",
            f"Up to {left:,} rows here share one key, so this is not {expect}.",
            "Summarize by the key first, or expect many_to_one.",
            "expect",
        )
    if UNKNOWN > right > 1 and UNKNOWN > left > 1 and expect != "many_to_many" and how not in ("semi", "anti"):
        scope.refuse(
            "many_to_many", f"Keys repeat on both sides (up to {left:,} rows here, {right:,} in {owner}), so rows would multiply.",
            "Summarize one side by the key first, add another key, or say expect: many_to_many.", "expect",
        )  # fmt: skip
    return Matches(left, right)


def _cross(scope: Scope, other: CheckedPipeline) -> Matches:
    left, right = _rows(scope, scope.current), _rows(scope, other)
    if left is not None and right is not None and left * right > MAX_ROWS:
        scope.refuse(
            "too_big",
            f"Every pair of {left:,} and {right:,} rows is more than {MAX_ROWS:,} rows.",
            "Filter or summarize first, or join on keys.",
            "how",
        )
    return Matches(UNKNOWN if left is None else left, UNKNOWN if right is None else right)


def _rows(scope: Scope, pipeline: CheckedPipeline | None) -> int | None:
    if pipeline is None:
        return None
    if pipeline.schema.one_row:
        return 1
    return scope.world.probe.rows(pipeline, scope.world.lets) if scope.world.probe else pipeline.schema.most_rows


def _most(scope: Scope, pipeline: CheckedPipeline | None, keys: Keys, *, of_right: bool) -> int:
    """The most rows of a side that share one key; known from the schema, else measured."""
    if pipeline is None:
        return UNKNOWN
    sides = [pair.right if of_right else pair.left for pair in keys.pairs]
    plain = {side.column.id for side in sides if isinstance(side, Ref)}
    if pipeline.schema.one_row or any(key <= plain for key in pipeline.schema.keys):
        return 1
    if scope.world.probe is None:
        return UNKNOWN
    ours, theirs = key_outputs(keys)
    outputs = theirs if of_right else ours
    ids = keys.right_ids if of_right else keys.left_ids
    most = scope.world.probe.most_per_key(with_columns(pipeline, outputs), ids, scope.world.lets)
    return UNKNOWN if most is None else max(most, 1)


def with_columns(pipeline: CheckedPipeline, outputs: Sequence[Output]) -> CheckedPipeline:
    """The pipeline with computed columns at its end, for a probe."""
    from qa.plan.steps.derive import CheckedDerive, Derive

    if not outputs:
        return pipeline
    after = replace(pipeline.schema, columns=(*pipeline.schema.columns, *(output.column for output in outputs)))
    step = CheckedDerive(
        step=Derive(op="derive", columns=["key"]),
        before=pipeline.schema,
        after=after,
        outputs=tuple(outputs),
        replaced=(),
    )
    return replace(pipeline, steps=(*pipeline.steps, step))


def right_columns(
    scope: Scope, other: CheckedPipeline, keys: Keys, columns: Sequence[str] | None, how: str
) -> list[tuple[Output, str]]:
    """The columns taken from the right, each with its new engine name; its keys stay out."""
    if how in ("semi", "anti"):
        return []
    right = Scope(other.schema, scope.world)
    gone = {theirs.column.id for _, theirs in keys.same_columns}
    if columns is None:
        chosen: list[tuple[Output, Column]] = [
            (Output(Ref(facets_of(c), c), c), c) for c in other.schema if c.id not in gone
        ]
    else:
        outputs, named = choose(right, columns, "columns")
        made = {output.column.id: output for output in outputs}
        chosen = [
            (made[c.id], replace(c, owner=None))
            if c.id in made
            else (Output(Ref(facets_of(c), c), c), _owned(c, other.schema))
            for c in named
        ]
    return [
        (replace(output, column=replace(column, id=output.column.id)), scope.world.ids.fresh())
        for output, column in chosen
    ]


def _owned(column: Column, schema: Schema) -> Column:
    """A column renamed on the way in is computed: it has no owner."""
    return column if schema.by_id(column.id).name == column.name else replace(column, owner=None)


def joined_schema(
    scope: Scope, other: CheckedPipeline, owner: str, keys: Keys, kept: Sequence[tuple[Output, str]], how: str, matches: Matches,
) -> tuple[Schema, list[tuple[str, str]]]:  # fmt: skip
    """The schema after the join, and the right order keys that must come along under new names."""
    before = scope.schema
    if how in ("semi", "anti"):
        return before, []
    many_right, many_left = matches.right > 1, matches.left > 1
    renamed = {output.column.id: new for output, new in kept if not output.text}
    left = [_left_column(column, keys, how, many_right) for column in before]
    right = [_right_column(output.column, new, how, many_left, many_left and many_right) for output, new in kept]
    _names_fit(scope, left, right)
    wanted = [key for key in other.schema.order if many_right or how in ("full", "cross")]
    order_ids = [(key.id, scope.world.ids.fresh()) for key in wanted]
    order = (
        *before.order,
        *(Order(new, key.descending, key.nulls_first) for key, (_, new) in zip(wanted, order_ids, strict=True)),
    )
    schema = Schema(
        (*left, *right), order, before.hidden, one_row=before.one_row and not many_right and how != "full",
        keys=_unique_sets(before, other.schema, renamed, how, many_left, many_right), most_rows=_most_rows(before, other.schema, how, matches),
        also=(*before.also, *_aliases(keys, owner, how)), lost=(*before.lost, *_lost(keys, owner, how)),
    )  # fmt: skip
    return schema, order_ids


def _left_column(column: Column, keys: Keys, how: str, many_right: bool) -> Column:
    key = next((pair for pair in keys.pairs if isinstance(pair.left, Ref) and pair.left.column.id == column.id), None)
    filled = [right.column.kind for left, right in keys.same_columns if left.column.id == column.id]
    changed = replace(
        column, unique=column.unique and not many_right and how != "full", repeated=column.repeated or many_right
    )
    if how == "full":
        changed = (
            replace(changed, nullable=True, origin=None, low=None, high=None)
            if filled
            else replace(changed, nullable=True)
        )
        if Kind.DECIMAL in filled or any(kind is not column.kind for kind in filled):
            changed = replace(changed, kind=Kind.NUMBER)
    return replace(changed, nullable=False) if how == "inner" and key is not None else changed


def _right_column(column: Column, new: str, how: str, many_left: bool, repeated: bool) -> Column:
    nullable = column.nullable or how in ("left", "full", "asof")
    return replace(
        column,
        id=new,
        nullable=nullable,
        unique=column.unique and not many_left and how != "asof",
        repeated=column.repeated or repeated,
    )


def _names_fit(scope: Scope, left: Sequence[Column], right: Sequence[Column]) -> None:
    """Two columns of one name need owners that tell them apart."""
    for column in right:
        for same in (c for c in left if c.name.casefold() == column.name.casefold()):
            if not column.owner or not same.owner:
                scope.refuse(
                    "name_taken",
                    f"There would be two columns named {column.name!r}, and one has no table to name it by.",
                    "Name it with columns: ['name as other'].",
                    "columns",
                )
    scope.refuse_repeats([c.name for c in right if not c.owner], "columns")


def _unique_sets(
    left: Schema, right: Schema, renamed: dict[str, str], how: str, many_left: bool, many_right: bool
) -> tuple[frozenset[str], ...]:
    if how == "full":
        return ()
    theirs = [frozenset(renamed[id] for id in key) for key in right.keys if key <= renamed.keys()]
    found = [] if many_right else list(left.keys)
    if how == "inner" and not many_left:
        found += theirs
    if many_right:
        found += [a | b for a, b in product(left.keys[:2], theirs[:2])]
    return tuple(dict.fromkeys(found))


def _most_rows(left: Schema, right: Schema, how: str, matches: Matches) -> int | None:
    if left.most_rows is None or right.most_rows is None:
        return None
    most = min(matches.right, right.most_rows)
    rows = left.most_rows * max(most, 1) if how != "inner" else left.most_rows * most
    return rows + right.most_rows if how == "full" else rows


def _aliases(keys: Keys, owner: str, how: str) -> list[tuple[str, str, str]]:
    if how not in ("inner", "full"):
        return []
    return [(owner, right.column.name, left.column.id) for left, right in keys.same_columns]


def _lost(keys: Keys, owner: str, how: str) -> list[tuple[str, str]]:
    return [(owner, right.column.name) for _, right in keys.same_columns] if how in ("left", "asof") else []
