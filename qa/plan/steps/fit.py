"""The fit step: least squares on one or more predictors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from qa.plan.bind import Binder
from qa.plan.formula import quoted_name, quoted_text
from qa.plan.scope import Scope
from qa.plan.steps.derive import Derive
from qa.plan.steps.filter import Filter
from qa.plan.steps.macro import CheckedMacro, Inner, stack
from qa.plan.steps.pivot import displayed
from qa.plan.steps.select import Select
from qa.plan.steps.step import CheckedStep, Issues, Step, StepExample, worded
from qa.plan.steps.summarize import Summarize, check_keys
from qa.plan.typed import Ref
from qa.types import Kind

LEVELS = 20
_LINE: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0, None], "y": [2.1, 3.9, 6.2, 7.8, 1.0]}


class Fit(Step):
    """A least-squares line through the data: its coefficients with intervals and p-values, its quality, or the predicted values.

    A text or boolean predictor becomes one term for each value but the first. Rows with a missing value are left out.
    """

    op: Literal["fit"]
    target: str = Field(description="the number to explain")
    predictors: list[str] = Field(description="columns or formulas that explain it", min_length=1, max_length=20)
    by: list[str] | None = Field(default=None, description="a fit for each of these keys")
    output: Literal["coefficients", "quality", "predictions"] | None = Field(
        default=None, description="coefficients unless given"
    )
    level: float | None = Field(default=None, gt=0, lt=1, description="of the intervals; 0.95 unless given")
    words: ClassVar = ("regression", "predict", "explain", "effect of", "controlling for", "trend line")
    examples: ClassVar = (
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "output": "quality"}, _LINE, ["r2", "adjusted_r2", "rmse", "mae", "n"], [[0.9956613756613757, 0.9934920634920634, 0.14317821063276384, 0.12, 4]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "output": "predictions"}, _LINE, ["x", "y", "predicted", "residual"], [[1.0, 2.1, 2.09, 0.01], [2.0, 3.9, 4.03, -0.13], [3.0, 6.2, 5.97, 0.23], [4.0, 7.8, 7.91, -0.11], [None, 1.0, None, None]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = [key.column.name for key in check_keys(scope, self.by or [], issues)]
        issues.done()
        told = f"fit {self.target} on {worded(self.predictors)}{f' for each {worded(self.by)}' if self.by else ''}"
        terms = self.terms(scope)
        if self.output == "predictions":
            return self.predictions(scope, terms, keys, told)
        inner = self.collected(scope, terms, keys)
        by = [quoted_name(key) for key in keys]
        if self.output == "quality":
            shown = ["r2", "adjusted_r2", "rmse", "mae"]
            inner.then(Derive(op="derive", columns=[f"_ols(y, x, 0, '{what}') as {what}" for what in shown]))
            inner.then(Select(op="select", columns=[*by, *shown, "n"]))
            return CheckedMacro(step=self, before=scope.schema, after=inner.schema, inner=inner.steps, told=told)
        pieces = [
            self.coefficient(self.collected(scope, terms, keys), index, name, by)
            for index, name in enumerate(["intercept", *(name for name, _ in terms)])
        ]
        return stack(scope, self, pieces, keys, told)

    def terms(self, scope: Scope) -> list[tuple[str, str]]:
        """(name, formula) of each term beside the intercept."""
        found: list[tuple[str, str]] = []
        for index, text in enumerate(self.predictors):
            typed = Binder(scope).formula(text, f"predictors[{index}]")
            formula = quoted_name(text) if scope.has(text) else text
            if typed.kind is not None and typed.kind.numeric:
                found.append((text, formula))
            elif typed.kind is Kind.BOOLEAN:
                found.append((f"{text} = true", f"number({formula})"))
            elif isinstance(typed, Ref) and typed.kind is Kind.TEXT:
                found += [
                    (f"{text} = {displayed(value)}", f"if({formula} == {quoted_text(value)}, 1, 0)")
                    for value in self.levels(scope, typed, text)
                ]
            else:
                scope.refuse(
                    "wrong_kind",
                    f"{text!r} is no predictor that a line can use.",
                    "Use numbers, text columns or true/false.",
                    f"predictors[{index}]",
                )
        return found

    def levels(self, scope: Scope, typed: Ref, text: str) -> list[Any]:
        if scope.world.probe is None or scope.current is None:
            scope.refuse(
                "bad_option",
                f"The values of {text!r} are not known.",
                "Derive number(x == 'value') first.",
                "predictors",
            )
        values = scope.world.probe.distinct(scope.current, typed.column.id, LEVELS + 2, scope.world.lets) or []
        known = sorted(value for value in values if value is not None)
        if len(known) > LEVELS:
            scope.refuse(
                "too_big", f"{text!r} has more than {LEVELS} values.", "Group them first with case or if.", "predictors"
            )
        if known:
            scope.world.note(f"{text}: effects are against {known[0]!r}.")
        return known[1:]

    def collected(self, scope: Scope, terms: Sequence[tuple[str, str]], keys: Sequence[str]) -> Inner:
        """One row for each key: the target and the predictors as lists of equal length."""
        inner = Inner(scope)
        target = quoted_name(self.target) if scope.has(self.target) else self.target
        extra = [text for text in self.by or [] if not scope.has(text)]
        inner.then(
            Derive(
                op="derive",
                columns=[
                    f"number({target}) as _y",
                    *(f"number({formula}) as _x{i}" for i, (_, formula) in enumerate(terms)),
                    *extra,
                ],
            )
        )
        names = ["_y", *(f"_x{i}" for i in range(len(terms)))]
        inner.then(Filter(op="filter", where=" and ".join(f"{name} is not null" for name in names)))
        by = [quoted_name(key) for key in keys]
        inner.then(
            Summarize(
                op="summarize",
                by=by,
                metrics=["_list(_y) as y", *(f"_list(_x{i}) as l{i}" for i in range(len(terms))), "count() as n"],
            )
        )
        packed = ", ".join(f"l{i}" for i in range(len(terms)))
        return inner.then(Derive(op="derive", columns=[f"_pack({packed}) as x"]))

    def coefficient(self, inner: Inner, index: int, name: str, by: Sequence[str]) -> Inner:
        level = self.level or 0.95
        stats = {
            "estimate": "estimate",
            "std_error": "std_error",
            "ci_low": f"ci_low {level}",
            "ci_high": f"ci_high {level}",
            "p_value": "p_value",
        }
        inner.then(
            Derive(
                op="derive",
                columns=[
                    f"{quoted_text(name)} as term",
                    *(f"_ols(y, x, {index}, '{what}') as {stat}" for stat, what in stats.items()),
                ],
            )
        )
        return inner.then(Select(op="select", columns=[*by, "term", *stats]))

    def predictions(
        self, scope: Scope, terms: Sequence[tuple[str, str]], keys: Sequence[str], told: str
    ) -> CheckedStep:
        if len(terms) != 1:
            scope.refuse(
                "bad_step",
                "predictions take one numeric predictor.",
                "Use output 'coefficients', and derive the prediction from them.",
                "predictors",
            )
        target, x = quoted_name(self.target) if scope.has(self.target) else self.target, terms[0][1]
        by = f", by=[{', '.join(quoted_name(key) for key in keys)}]"
        line = f"slope({target}, {x}{by}) * {x} + intercept({target}, {x}{by})"
        inner = Inner(scope).then(
            Derive(op="derive", columns=[f"{line} as predicted", f"{target} - predicted as residual"])
        )
        return replace(
            CheckedMacro(step=self, before=scope.schema, after=inner.schema, inner=inner.steps, told=told),
            same_rows=True,
        )
