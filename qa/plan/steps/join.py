"""The join step: two tables matched on keys, with the number of matches measured before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import polars as pl
from pydantic import Field
from sqlglot import exp

from qa.plan.scope import Scope
from qa.plan.sql_terms import name
from qa.plan.steps.join_keys import Keys, bound_keys, key_frames, key_outputs, key_tables
from qa.plan.steps.join_schema import Matches, joined_schema, measured, right_columns
from qa.plan.steps.nearest import Nearest, asof, bound_nearest, sql_asof
from qa.plan.steps.step import CheckedStep, PolarsLowering, SqlLowering, Step, StepExample, with_outputs, worded
from qa.plan.typed import Const, Facets, Output, Watch
from qa.types import Column, Kind, Order

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline

How = Literal["inner", "left", "full", "semi", "anti", "cross", "asof"]
Expect = Literal["one_to_one", "many_to_one", "one_to_many", "many_to_many"]
_ALWAYS = Const(Facets(Kind.BOOLEAN, False), True)
_ORDERS: dict[str, list[Any]] = {"customer_id": [2, 1, 2, None], "amount": [10, 20, 30, 40]}
_CUSTOMERS: dict[str, dict[str, list[Any]]] = {
    "customers": {"customer_id": [1, 2, 3], "city": ["Rome", "Oslo", "Bonn"]}
}


class Join(Step):
    """Match the rows with those of another table or let. Missing keys never match; both sides' names stay, as `table.column` where they clash.

    inner keeps matched rows, left all rows, full the rows of both, semi the rows with a match, anti those without,
    cross every pair, asof the nearest earlier or later row.
    """

    op: Literal["join"]
    table: str = Field(description="a table or let")
    as_: str | None = Field(
        default=None, alias="as", description="another name for it; needed to join a table to itself"
    )
    how: How = Field(default="inner", description="inner unless given")
    on: list[str] | None = Field(default=None, description="'a', 'a = b', 'text(id) = code'")
    expect: Expect | None = Field(default=None, description="how many rows match; needed for many_to_many")
    columns: list[str] | None = Field(default=None, description="columns of the other table; null takes all")
    nearest: str | None = Field(default=None, description="asof: 'order_time >= price_time'")
    within: str | None = Field(default=None, description="asof: at most this far apart, '2 days'")
    words: ClassVar = ("with their", "together with", "from the … table", "join", "without any", "that have no")
    examples: ClassVar = (
        StepExample({"op": "join", "table": "customers", "how": "left", "on": ["customer_id"], "expect": "many_to_one"}, _ORDERS, ["customer_id", "amount", "city"],
            [[2, 10, "Oslo"], [1, 20, "Rome"], [2, 30, "Oslo"], [None, 40, None]], _CUSTOMERS),
        StepExample({"op": "join", "table": "customers", "how": "inner", "on": ["customer_id"], "columns": ["city as town"]}, _ORDERS, ["customer_id", "amount", "town"],
            [[2, 10, "Oslo"], [1, 20, "Rome"], [2, 30, "Oslo"]], _CUSTOMERS),
        StepExample({"op": "join", "table": "customers", "how": "anti", "on": ["customer_id"]}, _ORDERS, ["customer_id", "amount"], [[None, 40]], _CUSTOMERS),
        StepExample({"op": "join", "table": "customers", "how": "semi", "on": ["customer_id"]}, _ORDERS, ["customer_id", "amount"], [[2, 10], [1, 20], [2, 30]], _CUSTOMERS),
        StepExample({"op": "join", "table": "customers", "how": "full", "on": ["customer_id"]}, _ORDERS, ["customer_id", "amount", "city"],
            [[2, 10, "Oslo"], [1, 20, "Rome"], [2, 30, "Oslo"], [None, 40, None], [3, None, "Bonn"]], _CUSTOMERS),
        StepExample({"op": "join", "table": "sizes", "how": "cross"}, {"x": [1, 2]}, ["x", "size"], [[1, "S"], [1, "L"], [2, "S"], [2, "L"]], {"sizes": {"size": ["S", "L"]}}),
        StepExample({"op": "join", "table": "prices", "how": "asof", "on": ["item"], "nearest": "day >= since"}, {"item": ["a", "a", "b"], "day": ["2024-01-05", "2024-01-01", "2024-01-09"]},
            ["item", "day", "since", "price"], [["a", "2024-01-05", "2024-01-03", 7], ["a", "2024-01-01", None, None], ["b", "2024-01-09", "2024-01-02", 5]],
            {"prices": {"item": ["a", "b"], "since": ["2024-01-03", "2024-01-02"], "price": [7, 5]}}),
        StepExample({"op": "join", "table": "t", "as": "manager", "how": "left", "on": ["boss = id"], "columns": ["person as manager_name"]},
            {"id": [1, 2, 3], "person": ["Ann", "Bob", "Cleo"], "boss": [None, 1, 1]}, ["id", "person", "boss", "manager_name"], [[1, "Ann", None, None], [2, "Bob", 1, "Ann"], [3, "Cleo", 1, "Ann"]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        other = scope.pipeline(self.table, "table")
        owner = self.as_ or other.let or other.source
        other = replace(other, start=replace(other.start, columns=tuple(replace(c, owner=owner) for c in other.start)))
        if self.how not in ("semi", "anti") and any(
            (c.owner or "").casefold() == owner.casefold() for c in scope.schema
        ):
            scope.refuse(
                "needs_alias",
                f"Columns of {owner!r} are here already.",
                "Give the joined table another name with `as`.",
                "as",
            )
        self.fields_fit(scope)
        keys = bound_keys(scope, other, self.on or [])
        near = bound_nearest(scope, other, self.nearest, self.within) if self.how == "asof" else None
        matches = measured(scope, other, keys, self.how, self.expect)
        kept = right_columns(scope, other, keys, self.columns, self.how)
        after, order_ids = joined_schema(scope, other, owner, keys, kept, self.how, matches)
        match_id = scope.world.ids.fresh()
        if self.how == "full":
            after = replace(after, order=(Order(match_id), *after.order))
        return CheckedJoin(
            step=self, before=scope.schema, after=after, reads=(other,), keys=keys, kept=kept, matches=matches, order_ids=order_ids, near=near, owner=owner,
            match_id=match_id, same_rows=self.how in ("left", "asof") and matches.right <= 1,
        )  # fmt: skip

    def fields_fit(self, scope: Scope) -> None:
        needs_keys = self.how not in ("cross", "asof")
        if needs_keys and not self.on:
            scope.refuse(
                "missing_field",
                f"A {self.how} join needs keys.",
                "Write on: ['customer_id'] or ['a = b']; cross takes none.",
                "on",
            )
        if self.how == "cross" and self.on:
            scope.refuse("bad_step", "A cross join takes no keys.", "Use how 'inner' to match on keys.", "on")
        if (self.how == "asof") != (self.nearest is not None):
            scope.refuse(
                "bad_step",
                "nearest belongs to how 'asof', and asof needs it.",
                "Write nearest: 'order_time >= price_time'.",
                "nearest",
            )


@dataclass(frozen=True, kw_only=True)
class CheckedJoin(CheckedStep):
    """`kept` are right columns with (their old id, new column); `order_ids` right order keys under new ids."""

    step: Join
    reads: tuple[CheckedPipeline, ...]
    keys: Keys
    kept: Sequence[tuple[Output, str]]
    matches: Matches
    order_ids: Sequence[tuple[str, str]]
    near: Nearest | None
    owner: str
    match_id: str

    @property
    def other(self) -> CheckedPipeline:
        return self.reads[0]

    # ---- Polars ----

    def right(self, lower: PolarsLowering) -> pl.LazyFrame:
        """The other table: its chosen columns, keys and order under new names."""
        rows = any(old == "r0" for old, _ in self.order_ids) or (
            self.near is not None and any(o.id == "r0" for o in self.other.schema.order)
        )
        frame = lower.frame(self.other, rows)
        computed = [output for output, _ in self.kept if output.text]
        return with_outputs(frame, computed, lower)

    def renamed(self) -> list[pl.Expr]:
        return [
            pl.col(old).alias(new)
            for old, new in [*((output.column.id, new) for output, new in self.kept), *self.order_ids]
        ]

    def polars(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        right = self.right(lower)
        if self.step.how == "cross":
            return frame.join(right.select(self.renamed()), how="cross")
        left, right, extra = key_frames(self.keys, frame, right, lower, self.step.how)
        wanted = [*(pl.col(id) for id in self.keys.right_ids), *self.renamed()]
        if self.near is not None:
            taken = [new for _, new in [*self.kept, *self.order_ids]]
            return asof(self.near, self.keys, left, right, wanted, taken, self.other.schema.order, lower).drop(extra)
        right = right.select(wanted if self.step.how not in ("semi", "anti") else wanted[: len(self.keys.right_ids)])
        on: dict[str, Any] = {"left_on": list(self.keys.left_ids), "right_on": list(self.keys.right_ids)}
        if self.step.how in ("semi", "anti"):
            return left.join(right, how=self.step.how, **on).drop(extra)
        if self.step.how == "full":
            return self.filled(left, right.with_columns(pl.lit(1, dtype=pl.Int64).alias(self.match_id)), on).drop(
                [*extra, *self.keys.right_ids], strict=False
            )
        kept: Literal["left", "inner"] = "left" if self.step.how == "left" else "inner"
        return left.join(right, how=kept, coalesce=True, **on).drop(extra)

    def filled(self, left: pl.LazyFrame, right: pl.LazyFrame, on: dict[str, Any]) -> pl.LazyFrame:
        """A full join with its left keys filled from the right, and a mark on rows that only the right has."""
        marked = left.with_columns(pl.lit(0, dtype=pl.Int64).alias("l0"))
        joined = marked.join(right, how="full", coalesce=False, **on)
        keys = [pl.coalesce(pl.col(kept), pl.col(key)).alias(kept) for kept, key in self.keys.kept()]
        return joined.with_columns(
            *keys, pl.coalesce(pl.col("l0"), pl.lit(1, dtype=pl.Int64)).alias(self.match_id)
        ).drop("l0")

    # ---- SQL ----

    def sql(self, source: exp.Table, lower: SqlLowering) -> exp.Expression:
        left, right = key_tables(
            self.keys, source, lower.pipeline(self.other), lower, [o for o, _ in self.kept if o.text]
        )
        columns: list[Any] = [exp.alias_(name(output.column.id), new, quoted=True) for output, new in self.kept]
        columns += [exp.alias_(name(old), new, quoted=True) for old, new in self.order_ids]
        columns += [name(id) for id in self.keys.right_ids]
        if self.near is not None:
            return sql_asof(self.near, self.keys, left, right, columns, self.other.schema.order, lower)
        right = lower.named(
            exp.select(*(columns or [exp.alias_(exp.Literal.number("1"), "one", quoted=True)])).from_(right), "right"
        )
        extra = self.keys.hidden_left
        theirs = [exp.column(new, table="r", quoted=True) for _, new in [*self.kept, *self.order_ids]]
        ours = exp.Column(
            this=exp.Star(**({"except_": [name(id) for id in extra]} if extra else {})), table=exp.to_identifier("l")
        )
        left_side, right_side = exp.alias_(left, "l", table=True), exp.alias_(right, "r", table=True)
        matched = self.keys.sql_condition("l", "r")
        if self.step.how in ("semi", "anti"):
            found: exp.Expression = exp.Exists(
                this=exp.select(exp.Literal.number("1")).from_(right_side).where(matched)
            )
            return exp.select(ours).from_(left_side).where(found if self.step.how == "semi" else exp.Not(this=found))
        if self.step.how == "cross":
            return exp.select(ours, *theirs).from_(left_side).join(right_side, join_type="cross")
        if self.step.how == "full":
            return self.sql_full(left, right_side, theirs, matched, lower)
        return exp.select(ours, *theirs).from_(left_side).join(right_side, on=matched, join_type=self.step.how)

    def sql_full(
        self, left: exp.Table, right: Any, theirs: list[exp.Column], matched: exp.Expression, lower: SqlLowering
    ) -> exp.Expression:
        filled = {
            kept: exp.Coalesce(
                this=exp.column(kept, table="l", quoted=True), expressions=[exp.column(key, table="r", quoted=True)]
            )
            for kept, key in self.keys.kept()
        }
        gone = [name(id) for id in [*self.keys.hidden_left, *filled]]
        ours = exp.Column(this=exp.Star(except_=[*gone, name("l0")]), table=exp.to_identifier("l"))
        keys = [exp.alias_(value, id, quoted=True) for id, value in filled.items()]
        mark = exp.alias_(
            exp.Coalesce(this=exp.column("l0", table="l", quoted=True), expressions=[exp.Literal.number("1")]),
            self.match_id,
            quoted=True,
        )
        marked = lower.named(
            exp.select(exp.Star(), exp.alias_(exp.Literal.number("0"), "l0", quoted=True)).from_(left), "marked"
        )
        return (
            exp.select(ours, *keys, *theirs, mark)
            .from_(exp.alias_(marked, "l", table=True))
            .join(right, on=matched, join_type="full")
        )

    # ---- words and counts ----

    def tallies(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        """Rows without a match, on either side."""
        if self.step.how == "anti":
            return self.without_key(frame, lower)
        if self.step.how in ("semi", "cross") or self.near is not None:
            return []
        left, right, _ = key_frames(self.keys, frame, self.right(lower), lower, self.step.how)
        on: dict[str, Any] = {"left_on": list(self.keys.left_ids), "right_on": list(self.keys.right_ids)}
        back: dict[str, Any] = {"left_on": list(self.keys.right_ids), "right_on": list(self.keys.left_ids)}
        size = pl.len().cast(pl.Int64).alias("n")
        gone = {"inner": "are left out", "left": "have missing values there", "full": "have missing values there"}[
            self.step.how
        ]
        found = [
            (
                Watch(f"{{n}} rows have no match in {self.owner} and {gone}.", _ALWAYS, warning=True),
                left.join(right.select(self.keys.right_ids), how="anti", **on).select(size),
            )
        ]
        if self.step.how != "full":
            found.append(
                (
                    Watch(f"{{n}} rows of {self.owner} match nothing and do not show.", _ALWAYS),
                    right.join(left.select(list(dict.fromkeys(self.keys.left_ids))), how="anti", **back).select(size),
                )
            )
        return [*found, *self.nearly(frame, lower)]

    def unmatched(self, frame: pl.LazyFrame, lower: PolarsLowering) -> pl.LazyFrame:
        left, right, _ = key_frames(self.keys, frame, self.right(lower), lower, self.step.how)
        on: dict[str, Any] = {"left_on": list(self.keys.left_ids), "right_on": list(self.keys.right_ids)}
        return left.join(right.select(self.keys.right_ids), how="anti", **on)

    def nearly(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        """Rows whose key has no match because it is written otherwise."""
        [pair, *more] = self.keys.pairs or [None]
        if pair is None or more or not pair.plain or pair.left.kind is not Kind.TEXT:
            return []
        told = Watch(
            f"{{n}} of the rows without a match have a key that differs from one in {self.owner} only by leading zeros, "
            "spaces or case.",
            _ALWAYS,
        )
        made = [lower.terms(o.typed).alias(o.column.id) for o in key_outputs(self.keys)[1]]
        theirs = (
            self.right(lower)
            .with_columns(made)
            .select(_core(pair.right_id).alias("k"))
            .filter(pl.col("k") != "")
            .unique()
        )
        ours = self.unmatched(frame, lower).select(_core(pair.left_id).alias("k"))
        return [(told, ours.join(theirs, on="k", how="semi").select(pl.len().cast(pl.Int64).alias("n")))]

    def amounts(
        self, frame: pl.LazyFrame, lower: PolarsLowering, summed: Sequence[Column]
    ) -> list[tuple[Watch, pl.LazyFrame]]:
        """What the rows without a match hold of the columns that are summed later."""
        if self.step.how not in ("inner", "left") or self.near is not None:
            return []
        lost = self.unmatched(frame, lower)
        return [
            (
                Watch(f"The rows that have no match in {self.owner} hold {{n}} of {column.name}.", _ALWAYS),
                lost.select(pl.col(column.id).sum().alias("n")),
            )
            for column in summed
        ]

    def without_key(self, frame: pl.LazyFrame, lower: PolarsLowering) -> list[tuple[Watch, pl.LazyFrame]]:
        """Rows that an anti join keeps because a key is missing, which matches nothing."""
        left, _, _ = key_frames(self.keys, frame, self.right(lower), lower, self.step.how)
        missing = pl.any_horizontal([pl.col(id).is_null() for id in self.keys.left_ids])
        told = Watch("{n} rows without a key match nothing, so they are kept.", _ALWAYS)
        return [(told, left.filter(missing).select(pl.len().cast(pl.Int64).alias("n")))]

    def describe(self) -> str:
        on = f" on {worded(self.step.on)}" if self.step.on else ""
        match self.step.how:
            case "semi":
                return f"keep the rows that have a match in {self.owner}{on}"
            case "anti":
                return f"keep the rows that have no match in {self.owner}{on}"
            case "cross":
                return f"pair every row with every row of {self.owner}"
            case "asof":
                return f"add the nearest row of {self.owner} where {self.step.nearest}{on}"
            case how:
                every = {"left": ", keeping every row", "full": ", keeping every row of both", "inner": ""}[how]
                return f"join {self.owner}{on}{every}"

    def note(self, rows_in: int | None, rows_out: int | None) -> str:
        if self.step.how in ("semi", "anti", "cross", "asof"):
            return self.describe()
        left, right = ("many" if n > 1 else "one" for n in (self.matches.left, self.matches.right))
        return f"{left} row{'s' if left == 'many' else ''} here to {right} of {self.owner}"


def _core(id: str) -> pl.Expr:
    """A text key without what people write differently: case, outer spaces, leading zeros."""
    return pl.col(id).cast(pl.String).str.to_lowercase().str.strip_chars().str.strip_chars_start("0")
