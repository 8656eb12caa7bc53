"""The fit step: least squares on one or more predictors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from qa.plan.formula import quoted_name, quoted_text, split_as
from qa.plan.scope import Scope
from qa.plan.steps.derive import Derive
from qa.plan.steps.filter import Filter
from qa.plan.steps.fit_terms import Terms, as_formula, case_of, point_of, terms_of
from qa.plan.steps.join import Join
from qa.plan.steps.macro import Inner, macro, stack
from qa.plan.steps.sample import PRIME
from qa.plan.steps.select import Select
from qa.plan.steps.step import CheckedStep, Issues, Step, StepExample, worded
from qa.plan.steps.summarize import Summarize, check_keys, keys_to_derive
from qa.plan.steps.window import Window

_LINE: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0, None], "y": [2.1, 3.9, 6.2, 7.8, 1.0]}
_PLANE: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0, 5.0], "z": [0.0, 0.0, 1.0, 0.0, 1.0], "y": [3.0, 5.0, 17.0, 9.0, None]}  # fmt: skip
_TEN: dict[str, list[Any]] = {"x": [float(n) for n in range(1, 11)], "y": [2.1, 3.9, 6.2, 7.8, 10.1, 11.8, 14.2, 15.9, 18.1, 19.7]}  # fmt: skip


class Fit(Step):
    """A least-squares line through the data: its coefficients with intervals and p-values, its quality, or the predicted values.

    A text or boolean predictor becomes one term for each value but the first. Rows with a missing value are left out.
    With `holdout` a share of the rows is kept out of the fit; quality then has a row for each of the two sets.
    `at` gives the predicted value of new cases, with the ends between which one lies.
    """

    op: Literal["fit"]
    target: str = Field(description="the number to explain")
    predictors: list[str] = Field(description="columns or formulas that explain it", min_length=1, max_length=20)
    by: list[str] | None = Field(default=None, description="a fit for each of these keys")
    output: Literal["coefficients", "quality", "predictions"] | None = Field(
        default=None, description="coefficients unless given"
    )
    level: float | None = Field(default=None, gt=0, lt=1, description="of the intervals; 0.95 unless given")
    holdout: float | None = Field(default=None, gt=0, lt=1, description="share of the rows to test the fit on")
    seed: int | None = Field(default=None, description="another seed holds out other rows")
    at: list[str] | None = Field(default=None, description="cases to predict: \"size = 120 and kind = 'flat'\"")
    words: ClassVar = ("regression", "predict", "explain", "effect of", "controlling for", "trend line")
    examples: ClassVar = (
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "output": "quality"}, _LINE, ["r2", "adjusted_r2", "rmse", "mae", "n"], [[0.9956613756613757, 0.9934920634920634, 0.14317821063276384, 0.12, 4]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "output": "predictions"}, _LINE, ["x", "y", "predicted", "residual"], [[1.0, 2.1, 2.09, 0.01], [2.0, 3.9, 4.03, -0.13], [3.0, 6.2, 5.97, 0.23], [4.0, 7.8, 7.91, -0.11], [None, 1.0, None, None]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x", "z"], "output": "predictions"}, _PLANE, ["x", "z", "y", "predicted", "residual"],
            [[1.0, 0.0, 3.0, 3.0, 0.0], [2.0, 0.0, 5.0, 5.0, 0.0], [3.0, 1.0, 17.0, 17.0, 0.0], [4.0, 0.0, 9.0, 9.0, 0.0], [5.0, 1.0, None, 21.0, None]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x", "z"], "at": ["x = 4 and z = -1"], "level": 0.9}, {**_LINE, "z": [0.0, 1.0, 1.0, 0.0, 5.0]}, ["x", "z", "predicted", "low", "high"], [[4, -1, 7.76, 4.392928942096853, 11.12707105790315]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "at": ["x = 5"]}, _LINE, ["x", "predicted", "low", "high"], [[5, 9.85, 8.472479001044226, 11.22752099895577]]),
        StepExample({"op": "fit", "target": "y", "predictors": ["x"], "output": "quality", "holdout": 0.25, "seed": 3}, _TEN, ["rows", "r2", "adjusted_r2", "rmse", "mae", "n"], [["training", 0.9989805780705479, 0.9987766936846575, 0.17530910608057973, 0.1658054711246204, 7], ["held out", 0.9982841001973384, None, 0.13930154418658158, 0.11498226950354606, 3]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        issues = Issues()
        keys = [key.column.name for key in check_keys(scope, self.by or [], issues)]
        issues.done()
        told = f"fit {self.target} on {worded(self.predictors)}{f' for each {worded(self.by)}' if self.by else ''}"
        told += f", with {self.holdout:.0%} of the rows held out" if self.holdout else ""
        terms = terms_of(scope, self.predictors)
        if self.at:
            cases = [case_of(scope, self.predictors, text, f"at[{place}]") for place, text in enumerate(self.at)]
            return stack(scope, self, [self.case(scope, terms, keys, case) for case in cases], keys, told)
        match self.output:
            case "predictions":
                return self.predictions(scope, terms, keys, told)
            case "quality":
                return self.quality(scope, terms, keys, told)
        pieces = [
            self.coefficient(self.collected(scope, terms, keys), index, name, [quoted_name(key) for key in keys])
            for index, name in enumerate(["intercept", *(term.name for term in terms)])
        ]
        return stack(scope, self, pieces, keys, told)

    def prepared(self, scope: Scope, terms: Terms, keys: Sequence[str]) -> Inner:
        """The rows with the target, the terms and the keys as columns of their own, and which of them the fit uses."""
        target = quoted_name(self.target) if scope.has(self.target) else self.target
        names = [f"__x{place}" for place in range(len(terms))]
        columns = [
            f"number({target}) as __y",
            *(f"number({f}) as {n}" for n, f in zip(names, [term.formula for term in terms], strict=True)),
        ]
        columns += keys_to_derive(scope, self.by or [])
        columns.append(" and ".join(f"{name} is not null" for name in ["__y", *names]) + " as __known")
        inner = Inner(scope).then(Derive(op="derive", columns=columns))
        if self.holdout is None:
            return inner.then(Derive(op="derive", columns=["__known as __train"]))
        mixed = f"(row_index() * 48271 + {(self.seed or 0) % 1_000_003 * 1009 + 12345}) % {PRIME}"
        again = [f"(__h * __h + {shift}) % {PRIME} as __h" for shift in (7_919, 104_729, 15_485_863)]
        inner.then(Derive(op="derive", columns=[f"{mixed} as __h", *again]))
        by = [*(quoted_name(key) for key in keys), "__known"]
        inner.then(Window(op="window", by=by, order=["__h"], columns=["row_number() as __place", "count() as __size"]))
        held = f"__place <= floor(__size * {self.holdout!r} + 0.5)"
        return inner.then(Derive(op="derive", columns=[f"__known and not ({held}) as __train"]))

    def collected(self, scope: Scope, terms: Terms, keys: Sequence[str]) -> Inner:
        """One row for each key: the target and the predictors of the rows that the fit uses, as lists of equal length."""
        inner = self.prepared(scope, terms, keys).then(Filter(op="filter", where="__train"))
        return _listed(inner, terms, [quoted_name(key) for key in keys], {"": None})

    def quality(self, scope: Scope, terms: Terms, keys: Sequence[str], told: str) -> CheckedStep:
        by, shown = [quoted_name(key) for key in keys], ["r2", "adjusted_r2", "rmse", "mae"]
        if self.holdout is None:
            inner = self.collected(scope, terms, keys)
            inner.then(Derive(op="derive", columns=[f"_ols(__ys, __xs, 0, '{what}') as {what}" for what in shown]))
            inner.then(Select(op="select", columns=[*by, *shown, "__n as n"]))
            return macro(self, scope, inner, told)
        pieces = []
        for rows, call, count in (("training", "_ols(__ys, __xs, 0", "__n"), ("held out", "_held_out(__ys, __xs, __held_ys, __held_xs", "__held_n")):  # fmt: skip
            inner = self.prepared(scope, terms, keys).then(Filter(op="filter", where="__known"))
            _listed(inner, terms, by, {"": "__train", "held_": "not __train"})
            measures = [f"{call}, '{what}') as {what}" for what in shown]
            inner.then(Derive(op="derive", columns=[f"'{rows}' as rows", *measures]))
            pieces.append(inner.then(Select(op="select", columns=[*by, "rows", *shown, f"{count} as n"])))
        return stack(scope, self, pieces, keys, told)

    def case(self, scope: Scope, terms: Terms, keys: Sequence[str], case: Mapping[str, Any]) -> Inner:
        """The predicted value of one case for each key."""
        point = " ".join(repr(value) for value in point_of(terms, case))
        given = [f"{as_formula(value)} as {quoted_name(name)}" for name, value in case.items()]
        level = self.level or 0.95
        columns = [f"_ols(__ys, __xs, 0, 'at {point}') as predicted"]
        columns += [f"_ols(__ys, __xs, 0, '{end} {level} {point}') as {end}" for end in ("low", "high")]
        inner = self.collected(scope, terms, keys).then(Derive(op="derive", columns=[*given, *columns]))
        by = [quoted_name(key) for key in keys]
        names = [quoted_name(name) for name in case]
        return inner.then(Select(op="select", columns=[*by, *names, "predicted", "low", "high"]))

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
                    *(f"_ols(__ys, __xs, {index}, '{what}') as {stat}" for stat, what in stats.items()),
                ],
            )
        )
        return inner.then(Select(op="select", columns=[*by, "term", *stats]))

    def predictions(self, scope: Scope, terms: Terms, keys: Sequence[str], told: str) -> CheckedStep:
        """The rows with the value that the fit gives each, also where the target is missing."""
        scope.refuse_repeats([*scope.schema.names, "predicted", "residual"])
        rows = self.prepared(scope, terms, keys)
        marks = [f"{mark} as __k{place}{end}" for place, key in enumerate(keys) for end, mark in (("n", f"{quoted_name(key)} is null"), ("v", f"coalesce(text({quoted_name(key)}), '')"))]  # fmt: skip
        if marks:
            rows.then(Derive(op="derive", columns=marks))
        by = [split_as(mark)[1] or "" for mark in marks]
        fitted = _listed(rows.onward().then(Filter(op="filter", where="__train")), terms, by, {"": None})
        weights = [f"__b{place}" for place in range(len(terms) + 1)]
        fitted.then(Derive(op="derive", columns=[f"_ols(__ys, __xs, {place}, 'estimate') as {b}" for place, b in enumerate(weights)]))  # fmt: skip
        fitted.then(Select(op="select", columns=[*by, *weights]))
        let = fitted.as_let("fit")
        values = weights
        if by:
            rows.then(Join(op="join", table=let, how="left", on=by, columns=weights))
        else:
            values = [f"{let}.{b}" for b in weights]
        line = " + ".join([values[0], *(f"{b} * __x{place}" for place, b in enumerate(values[1:]))])
        made = [f"{line} as predicted", "__y - predicted as residual"]
        made = [*(["if(__known, not __train, null) as held_out"] if self.holdout else []), *made]
        rows.then(Derive(op="derive", columns=made))
        shown = [*scope.schema.names, *(split_as(text)[1] or "" for text in made)]
        rows.then(Select(op="select", columns=[quoted_name(name) for name in shown]))
        return replace(macro(self, scope, rows, told), same_rows=True)


def _listed(inner: Inner, terms: Terms, by: Sequence[str], sets: Mapping[str, str | None]) -> Inner:
    """One row for each key with the target `__ys` and the terms `__xs` as lists, and how many, `__n`.

    `sets` are kinds of rows apart: a prefix of those names, and which rows.
    """
    metrics: list[str] = []
    names = ["__y", *(f"__x{place}" for place in range(len(terms)))]
    for prefix, where in sets.items():
        values = [f"if({where}, {name})" if where else name for name in names]
        lists = [f"__{prefix}ys", *(f"__{prefix}l{place}" for place in range(len(terms)))]
        metrics += [f"_list({value}) as {made}" for value, made in zip(values, lists, strict=True)]
        metrics.append(f"count({values[0]}) as __{prefix}n")
    inner.then(Summarize(op="summarize", by=list(by), metrics=metrics))
    packed = [f"_pack({', '.join(f'__{prefix}l{i}' for i in range(len(terms)))}) as __{prefix}xs" for prefix in sets]
    return inner.then(Derive(op="derive", columns=packed))
