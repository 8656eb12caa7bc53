"""Random tables and random plans over them: every plan passes the checker, every step fits the one before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

from qa.data.table import Table
from qa.engine.run import checked_plan
from qa.errors import PlanError
from qa.plan.check import CheckedPlan
from qa.types import Column, Schema
from tests.agreement import CLOCK, reply
from tests.property.choices import Choices
from tests.property.data import random_table
from tests.property.formulas import Impossible
from tests.property.steps import Place, random_step

TRIES = 4
"""How often a step that the checker refuses, or that the columns do not allow, is drawn anew."""
PLANS_A_CASE = 8
LAST = {"fit", "test", "correlate"}
"""Steps after which a plan ends: sorted by numbers that differ in the sixteenth digit, rows change places."""


@dataclass(frozen=True)
class Drawn:
    """A valid plan: as written, and checked."""

    source: str
    steps: list[dict[str, Any]]
    lets: list[dict[str, Any]]
    checked: CheckedPlan = field(repr=False)
    refused: tuple[PlanError, ...] = field(default=(), repr=False)

    def written(self) -> str:
        """The plan as JSON, to be run again."""
        return json.dumps(
            {"lets": self.lets, "parts": [{"source": self.source, "steps": self.steps}]}, ensure_ascii=False
        )


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Table], list[Drawn]]:
    """Two tables, and plans over them."""
    choose = Choices(draw)
    tables = {name: random_table(choose, name) for name in ("t", "u")}
    return tables, [random_plan(choose, tables) for _ in range(PLANS_A_CASE)]


def random_plan(choose: Choices, tables: Mapping[str, Table]) -> Drawn:
    lets: list[dict[str, Any]] = []
    if choose.one_in(4):
        made = _grown(choose, tables, "t", [], 1 + choose.below(2))
        lets = [{"name": "big", "source": "t", "steps": made.steps}]
    source = choose.pick(["t", "t", "u", "big"]) if lets else choose.pick(["t", "t", "u"])
    return _grown(choose, tables, source, lets, 1 + choose.below(4))


def _grown(choose: Choices, tables: Mapping[str, Table], source: str, lets: list[dict[str, Any]], length: int) -> Drawn:
    """Steps one after the other, each proposed over the schema so far and kept if it passes the checker."""
    steps: list[dict[str, Any]] = []
    refused: list[PlanError] = []
    checked = _checked(source, steps, lets, tables)
    for _ in range(length):
        place = Place(choose, checked.parts[0].pipeline.schema, _others(tables, checked), _scalars(checked))
        for _ in range(TRIES):
            try:
                proposed = [*steps, random_step(place)]
                checked = _checked(source, proposed, lets, tables)
            except Impossible:
                continue
            except PlanError as error:
                refused.append(error)
                continue
            steps = proposed
            break
        if steps and steps[-1]["op"] in LAST:
            break
    return Drawn(source, steps, lets, checked, tuple(refused))


def _checked(
    source: str, steps: Sequence[dict[str, Any]], lets: list[dict[str, Any]], tables: Mapping[str, Table]
) -> CheckedPlan:
    return checked_plan(reply(source, steps, lets=lets), tables, clock=CLOCK)


def _others(tables: Mapping[str, Table], checked: CheckedPlan) -> dict[str, Schema]:
    return {name: Schema(table.columns) for name, table in tables.items()} | {
        name: let.schema for name, let in checked.lets.items()
    }


def _scalars(checked: CheckedPlan) -> list[tuple[str, Column]]:
    return [(name, column) for name, let in checked.lets.items() if let.schema.one_row for column in let.schema]


def shown(tables: Mapping[str, Table]) -> str:
    """The cells of the tables, as Polars code that makes them again."""
    return "\n".join(f"{name} = {_code(table)}" for name, table in tables.items())


def _code(table: Table) -> str:
    frame = pl.read_parquet(table.path).rename({column.id: column.name for column in table.columns})
    frame = frame.with_columns(
        pl.col(name).cast(pl.String) for name, dtype in frame.schema.items() if dtype in (pl.Enum, pl.Categorical)
    )
    return frame.to_init_repr(1000)
