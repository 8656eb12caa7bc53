"""The correlate step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

from pydantic import Field

from qa.plan.formula import quoted_name
from qa.plan.scope import Scope
from qa.plan.steps.macro import CheckedMacro, Inner, stack
from qa.plan.steps.pivot import Pivot
from qa.plan.steps.select import Select, choose
from qa.plan.steps.step import CheckedStep, Issues, Step, StepExample, worded
from qa.plan.steps.summarize import Summarize, check_keys
from qa.plan.steps.test import Test
from qa.types import Column

MOST = 200
"""Pairs that one step may correlate."""
_DATA: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0, None], "y": [1.0, 3.0, 2.0, 5.0, 9.0]}


class Correlate(Step):
    """Correlation of every pair of columns, or of each column with `against`, with its p-value and the number of pairs.

    A row with a missing side is left out of its pair.
    """

    op: Literal["correlate"]
    columns: list[str] | None = Field(default=None, description="null takes all numeric columns")
    against: str | None = Field(default=None, description="correlate each column with this one only")
    by: list[str] | None = Field(default=None, description="for each of these keys")
    method: Literal["pearson", "spearman", "kendall"] | None = Field(default=None, description="pearson unless given")
    shape: Literal["long", "matrix"] | None = Field(default=None, description="long unless given")
    words: ClassVar = ("correlation", "correlated with", "related to", "goes with")
    examples: ClassVar = (
        StepExample({"op": "correlate", "columns": ["x", "y"]}, _DATA, ["column_a", "column_b", "r", "n", "p_value"], [["x", "y", 0.8315218406202999, 4, 0.16847815937970012]]),
        StepExample({"op": "correlate", "columns": ["x"], "against": "y", "method": "spearman"}, _DATA, ["column_a", "column_b", "r", "n", "p_value"], [["x", "y", 0.8, 4, 0.2]]),
        StepExample({"op": "correlate", "columns": ["x", "y"], "method": "kendall", "shape": "matrix"}, _DATA, ["column", "x", "y"], [["x", 1.0, 2 / 3], ["y", 2 / 3, 1.0]]),
        StepExample({"op": "correlate", "columns": ["x", "y"], "shape": "matrix"}, _DATA, ["column", "x", "y"], [["x", 1.0, 0.8315218406202999], ["y", 0.8315218406202999, 1.0]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = [key.column.name for key in check_keys(scope, self.by or [], issues)]
        issues.done()
        pairs = self.pairs(scope, keys)
        if len(pairs) > MOST:
            scope.refuse(
                "too_big",
                f"These are {len(pairs)} pairs; {MOST} is the most.",
                "Name the columns, or use against.",
                "columns",
            )
        told = f"correlate {worded([a for a, _ in pairs[:4]])}{f' with {self.against}' if self.against else ''}"
        if self.shape != "matrix":
            return stack(scope, self, [self.one(scope, pair, keys) for pair in pairs], keys, told)
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        rows, across = ([a for a, _ in pairs], [pairs[0][1]]) if self.against is not None else (names, names)
        if self.method in (None, "pearson"):
            return stack(scope, self, [self.row(scope, name, across, keys) for name in rows], keys, told)
        return self.ranked(scope, rows, across, keys, told)

    def pairs(self, scope: Scope, keys: Sequence[str]) -> list[tuple[str, str]]:
        if self.columns is None:
            chosen = [c for c in scope.schema if c.kind.numeric and c.name not in keys]
        else:
            chosen = self.plain(scope, self.columns, "columns")
        if self.against is not None:
            target = self.plain(scope, [self.against], "against")[0]
            found = [(c.name, target.name) for c in chosen if c.id != target.id]
        else:
            found = [(a.name, b.name) for a, b in combinations(chosen, 2)]
        if not found:
            scope.refuse("empty_step", "There are no two numeric columns to correlate.", "Name two columns.", "columns")
        return found

    def plain(self, scope: Scope, texts: Sequence[str], field: str) -> list[Column]:
        outputs, columns = choose(scope, texts, field)
        if outputs or not all(c.kind.numeric for c in columns):
            scope.refuse("wrong_kind", "correlate takes numeric columns.", "Derive the formula first.", field)
        return columns

    def one(self, scope: Scope, pair: tuple[str, str], keys: Sequence[str]) -> Inner:
        a, b = map(_label, pair)
        shown = [*map(quoted_name, keys), f"{a} as column_a", f"{b} as column_b", "statistic as r", "n", "p_value"]
        return self.tested(scope, pair).then(Select(op="select", columns=shown))

    def tested(self, scope: Scope, pair: tuple[str, str]) -> Inner:
        columns = [quoted_name(name) for name in pair]
        return Inner(scope).then(Test(op="test", kind=self.method or "pearson", columns=columns, by=self.by))

    def row(self, scope: Scope, name: str, across: Sequence[str], keys: Sequence[str]) -> Inner:
        """One row of a matrix: a column's correlations with the others."""
        metrics = [
            f"{_itself(name) if name == other else f'corr({quoted_name(name)}, {quoted_name(other)})'} as {quoted_name(other)}"
            for other in across
        ]
        shown = [*map(quoted_name, keys), f"{_label(name)} as column", *map(quoted_name, across)]
        made = Inner(scope).then(Summarize(op="summarize", by=self.by or [], metrics=metrics))
        return made.then(Select(op="select", columns=shown))

    def ranked(
        self, scope: Scope, rows: Sequence[str], across: Sequence[str], keys: Sequence[str], told: str
    ) -> CheckedStep:
        """A matrix of rank correlations, which are tests: each pair by itself, then a column for each."""
        pieces = [self.place(scope, (name, other), index, keys) for index, name in enumerate(rows) for other in across]
        made = stack(scope, self, pieces, keys, told)
        inner = Inner(scope)
        inner.steps, inner.schema = [made], made.after
        by = [*map(quoted_name, keys), "place", "column"]
        inner.then(Pivot(op="pivot", by=by, names_from="other", values=["only(r) as r"], values_in=list(across))).then(
            Select(op="select", drop=["place"])
        )
        return CheckedMacro(step=self, before=scope.schema, after=inner.schema, inner=inner.steps, told=told)

    def place(self, scope: Scope, pair: tuple[str, str], row: int, keys: Sequence[str]) -> Inner:
        a, b = pair
        if a == b:
            made, r = (
                Inner(scope).then(Summarize(op="summarize", by=self.by or [], metrics=[f"{_itself(a)} as r"])),
                "r",
            )
        else:
            made, r = self.tested(scope, pair), "statistic as r"
        shown = [*map(quoted_name, keys), f"{row} as place", f"{_label(a)} as column", f"{_label(b)} as other", r]
        return made.then(Select(op="select", columns=shown))


def _label(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _itself(name: str) -> str:
    """A column's correlation with itself: 1, or missing where it does not vary."""
    return f"if(min({quoted_name(name)}) < max({quoted_name(name)}), 1.0)"
