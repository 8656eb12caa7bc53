"""What limits and joins count beside their rows: ties at the cut, and rows without a partner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from qa.engine.spark.statement import SparkEngine
from qa.plan.literals import constant
from qa.plan.sql_terms import name, ordered
from qa.plan.steps.join import CheckedJoin
from qa.plan.steps.join_keys import key_tables
from qa.plan.steps.limit import CheckedLimit
from qa.plan.steps.step import sql_outputs
from qa.plan.typed import Watch

Tally = tuple[Watch, exp.Select]
LEFT_OUT = {
    "inner": "are left out", "left": "have missing values there", "full": "have missing values there",
}  # fmt: skip


def tied(step: CheckedLimit, table: exp.Table, engine: SparkEngine) -> Iterator[Tally]:
    """The rows after the cut that equal the last one before it."""
    if step.step.ties == "keep" or not step.keys:
        return
    keys, full = step.walked()
    by = [name(id) for id in step.by]
    places: list[Any] = [
        exp.alias_(exp.Window(this=exp.RowNumber(), partition_by=[key.copy() for key in by], order=exp.Order(expressions=ordered(full))), "p"),
        exp.alias_(exp.Window(this=exp.Anonymous(this="rank"), partition_by=by, order=exp.Order(expressions=ordered(keys))), "q"),
    ]  # fmt: skip
    placed = engine.named(exp.select(*places).from_(sql_outputs(table, step.outputs, engine)), "tied")
    high = exp.Literal.number(step.window[1])
    cut = exp.And(
        this=exp.GT(this=exp.column("p"), expression=high),
        expression=exp.LTE(this=exp.column("q"), expression=high.copy()),
    )
    yield _watch("{n} more rows tie with the last one shown and are left out."), _count(placed).where(cut)


def unmatched(step: CheckedJoin, table: exp.Table, engine: SparkEngine) -> Iterator[Tally]:
    """The rows of either side that have no partner on the other."""
    if step.step.how not in LEFT_OUT or step.near is not None:
        return
    ours, theirs = key_tables(step.keys, table, engine.pipeline(step.other), engine, [])
    yield (
        _watch(f"{{n}} rows have no match in {step.owner} and {LEFT_OUT[step.step.how]}."),
        _alone(ours, theirs, step.keys.sql_condition("l", "r")),
    )
    if step.step.how != "full":
        yield (
            _watch(f"{{n}} rows of {step.owner} match nothing and do not show."),
            _alone(theirs, ours, step.keys.sql_condition("r", "l")),
        )


def _alone(table: exp.Table, other: exp.Table, matched: exp.Expression) -> exp.Select:
    partner = exp.select(exp.Literal.number(1)).from_(exp.alias_(other.copy(), "r", table=True)).where(matched)
    return _count(exp.alias_(table.copy(), "l", table=True)).where(exp.Not(this=exp.Exists(this=partner)))


def _count(table: Any) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(table)


def _watch(message: str) -> Watch:
    return Watch(message, constant(False), warning=True)
