"""The test step: statistical tests, from counts, sums and central moments where those are enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from qa.plan.formula import quoted_name, split_as
from qa.plan.literals import constant
from qa.plan.scope import Scope
from qa.plan.steps.derive import Derive
from qa.plan.steps.filter import Filter
from qa.plan.steps.macro import CheckedMacro, Inner, stack
from qa.plan.steps.select import Select
from qa.plan.steps.step import CheckedStep, Issues, Step, StepExample, worded
from qa.plan.steps.summarize import Summarize, check_keys, keys_to_derive
from qa.plan.typed import Aggregate, Apply, Facets, Guard, Ref, facets_of
from qa.types import Kind

Name = Literal[
    "student_t", "welch_t", "mann_whitney", "anova", "kruskal", "paired_t", "one_sample_t", "pearson", "spearman", "kendall", "chi_square",
    "shapiro", "ks_normal", "dagostino", "anderson", "proportion",
]  # fmt: skip
SHAPES: dict[str, tuple[int | None, bool]] = {
    **dict.fromkeys(("student_t", "welch_t", "mann_whitney", "anova", "kruskal"), (1, True)),
    **dict.fromkeys(("paired_t", "pearson", "spearman", "kendall", "chi_square"), (2, False)),
    **dict.fromkeys(("shapiro", "ks_normal", "dagostino", "anderson"), (None, False)),
    "one_sample_t": (1, False), "proportion": (1, False),
}  # fmt: skip
"""For each kind how many columns it takes (None: one or more, a row each), and whether a group is needed."""
TWO_GROUPS = ("student_t", "welch_t", "mann_whitney")
RESULT = ["kind", "column", "statistic", "df", "p_value", "effect", "effect_size", "n", "significant"]
_PAIRS: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0, None], "y": [1.0, 3.0, 2.0, 5.0, 9.0]}
_TWO: dict[str, list[Any]] = {"g": ["a", "a", "a", "b", "b", "b"], "x": [1.0, 2.0, 3.0, 2.0, 4.0, 6.0]}


class Test(Step):
    """A statistical test. `effect` is in the column's unit (a difference of means, a correlation), `effect_size` has none.

    Rows with a missing value are left out, `n` counts the rest. Differences are the first group, in sorted order, less the second.
    """

    op: Literal["test"]
    kind: Name = Field(description="prefer welch_t to student_t")
    columns: list[str] = Field(description="one column, or two for a pair", min_length=1)
    group: str | None = Field(default=None, description="the column that names the groups")
    by: list[str] | None = Field(default=None, description="a test for each of these keys")
    mu: float | None = Field(default=None, description="the mean or share to compare with")
    alternative: Literal["two_sided", "less", "greater"] | None = Field(
        default=None, description="two_sided unless given"
    )
    alpha: float | None = Field(default=None, gt=0, lt=1, description="0.05 unless given")
    words: ClassVar = (
        "significant",
        "t-test",
        "test whether",
        "normally distributed",
        "is there a difference",
        "correlated",
    )
    examples: ClassVar = (
        StepExample({"op": "test", "kind": "welch_t", "columns": ["x"], "group": "g"}, _TWO, RESULT, [["welch_t", "x", -1.5491933384829668, 2.9411764705882355, 0.22088084049409593, -2.0, -1.264911064067352, 6, False]]),
        StepExample({"op": "test", "kind": "pearson", "columns": ["x", "y"]}, _PAIRS, RESULT,
            [["pearson", "x, y", 0.8315218406202999, 2, 0.1684781593797001, 0.8315218406202999, 0.6914285714285714, 4, False]]),
        StepExample({"op": "test", "kind": "student_t", "columns": ["x y"], "group": "a group"}, {"a group": ["a", "a", "b", "b"], "x y": [1, 3, 5, 7]}, RESULT, [["student_t", "x y", -2.8284271247461903, 2.0, 0.10557280900008414, -4.0, -2.8284271247461903, 4, False]]),
        StepExample({"op": "test", "kind": "kruskal", "columns": ["x"], "group": "g"}, _TWO, RESULT, [["kruskal", "x", 1.7647058823529387, 1, 0.18403862719642194, None, None, 6, False]]),
    )  # fmt: skip

    def check(self, scope: Scope) -> CheckedStep:
        self.fields_fit(scope)
        issues = Issues()
        keys = [key.column.name for key in check_keys(scope, self.by or [], issues)]
        issues.done()
        per_column = SHAPES[self.kind][0] is None
        told = f"test {worded([split_as(c)[0] for c in self.columns])} ({self.kind.replace('_', ' ')})"
        if per_column and len(self.columns) > 1:
            pieces = [self.one(scope, [column], keys) for column in self.columns]
            return stack(scope, self, pieces, keys, told)
        inner = self.one(scope, self.columns, keys)
        return CheckedMacro(step=self, before=scope.schema, after=inner.schema, inner=inner.steps, told=told)

    def fields_fit(self, scope: Scope) -> None:
        count, grouped = SHAPES[self.kind]
        if count is not None and len(self.columns) != count:
            scope.refuse(
                "bad_step",
                f"{self.kind} takes {count} column{'s' if count > 1 else ''}.",
                "For one column in groups use group.",
                "columns",
            )
        if grouped and self.group is None:
            scope.refuse("missing_field", f"{self.kind} compares groups.", "Write group: 'column'.", "group")
        if self.kind == "one_sample_t" and self.mu is None:
            scope.refuse("missing_field", "one_sample_t compares with a mean.", "Write mu: 0.", "mu")
        if self.kind == "proportion" and (self.group is None) == (self.mu is None):
            scope.refuse(
                "missing_field", "proportion takes either a group or mu.", "Write mu: 0.5, or group: 'column'.", "group"
            )

    def one(self, scope: Scope, columns: Sequence[str], keys: Sequence[str]) -> Inner:
        """The inner steps of one test: pairs known, moments a group, the statistic, its p-value."""
        inner = Inner(scope)
        made = [f"{_spelled(scope, text)} as _{letter}" for letter, text in zip("xy", columns, strict=False)]
        made += [f"{_spelled(scope, self.group)} as _g"] if self.group else []
        # Keys that are formulas become columns first, so that later inner steps can name them.
        made += keys_to_derive(scope, self.by or [])
        inner.then(Derive(op="derive", columns=made))
        self.kinds_fit(inner, scope)
        names = ["_x", "_y", "_g"][: len(columns)] + (["_g"] if self.group else [])
        inner.then(Filter(op="filter", where=" and ".join(f"{n} is not null" for n in dict.fromkeys(names))))
        by = [quoted_name(key) for key in keys]
        self.two_groups(inner, by)
        FORMS[self.kind](self, inner, by)
        column = ", ".join(split_as(text)[1] or text for text in columns).replace("'", "''")
        alpha = 0.05 if self.alpha is None else self.alpha
        inner.then(
            Derive(
                op="derive",
                columns=[f"'{self.kind}' as kind", f"'{column}' as `column`", f"p_value < {alpha!r} as significant"],
            )
        )
        return inner.then(Select(op="select", columns=[*by, *(quoted_name(n) for n in RESULT)]))

    def kinds_fit(self, inner: Inner, scope: Scope) -> None:
        wanted = {"chi_square": None, "proportion": {Kind.BOOLEAN}}.get(
            self.kind, {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}
        )
        for column in inner.schema:
            if wanted and column.name in ("_x", "_y") and column.kind not in wanted:
                scope.refuse(
                    "wrong_kind",
                    f"{self.kind} cannot take a column of kind {column.kind}.",
                    "It needs true or false." if self.kind == "proportion" else "It needs numbers.",
                    "columns",
                )

    def two_groups(self, inner: Inner, by: Sequence[str]) -> None:
        """Two-group tests meet exactly two groups, over all rows."""
        if self.kind not in TWO_GROUPS and not (self.kind == "proportion" and self.group):
            return
        group = next(c for c in inner.schema if c.name == "_g")
        first = "integer(_g) == min(integer(_g))" if group.kind is Kind.BOOLEAN else "_g == min(_g)"
        inner.then(Derive(op="derive", columns=[f"{first} as _first"]))
        ref = Ref(facets_of(group), group)
        several = Aggregate(Facets(Kind.INTEGER, False, 0, 2**62), "count_distinct", (ref,), by=None)
        inner.guarded_by(
            Guard(
                "test_needs_groups",
                f"{self.kind} compares two groups, and the column does not have exactly two.",
                "Filter to two groups, or use anova or kruskal.",
                Apply(Facets(Kind.BOOLEAN, False), "!=", (several, constant(2))),
            )
        )

    @property
    def sides(self) -> str:
        return self.alternative or "two_sided"


def _spelled(scope: Scope, text: str) -> str:
    """A column's name or a formula, as an inner step reads it."""
    return quoted_name(text) if scope.has(text) else split_as(text)[0]


def _summed(inner: Inner, by: Sequence[str], metrics: Sequence[str]) -> Inner:
    return inner.then(Summarize(op="summarize", by=list(by), metrics=list(metrics)))


def _derived(inner: Inner, *columns: str) -> Inner:
    return inner.then(Derive(op="derive", columns=list(columns)))


def _two_means(test: Test, inner: Inner, by: Sequence[str]) -> None:
    groups = ["_first", "not _first"]
    metrics = [
        f"{f}(_x, where={g}) as {n}{i}"
        for i, g in enumerate(groups, 1)
        for f, n in (("count", "n"), ("mean", "m"), ("var", "v"))
    ]
    _summed(inner, by, metrics)
    if test.kind == "welch_t":
        _derived(
            inner,
            "v1 / n1 + v2 / n2 as se2",
            "se2 ^ 2 / ((v1 / n1) ^ 2 / (n1 - 1) + (v2 / n2) ^ 2 / (n2 - 1)) as df",
            "(v1 + v2) / 2 as pooled",
        )
    else:
        _derived(
            inner,
            "((n1 - 1) * v1 + (n2 - 1) * v2) / (n1 + n2 - 2) as pooled",
            "pooled * (1 / n1 + 1 / n2) as se2",
            "n1 + n2 - 2 as df",
        )
    _derived(
        inner,
        "m1 - m2 as effect",
        "effect / sqrt(se2) as statistic",
        "effect / sqrt(pooled) as effect_size",
        "n1 + n2 as n",
        f"_t_p(statistic, df, sides='{test.sides}') as p_value",
    )


def _one_mean(test: Test, inner: Inner, by: Sequence[str]) -> None:
    value = "_x - _y" if test.kind == "paired_t" else "_x"
    _derived(inner, f"{value} as _v")
    _summed(inner, by, ["count(_v) as n", "mean(_v) as m", "std(_v) as s"])
    _derived(
        inner,
        f"m - ({float(test.mu or 0)!r}) as effect",
        "effect / (s / sqrt(n)) as statistic",
        "n - 1 as df",
        "effect / s as effect_size",
        f"_t_p(statistic, df, sides='{test.sides}') as p_value",
    )


def _anova(test: Test, inner: Inner, by: Sequence[str]) -> None:
    _summed(inner, [*by, "_g"], ["count() as gn", "mean(_x) as gm", "var(_x) as gv"])
    over = f"[{', '.join(by)}]"
    _derived(inner, f"sum(gn * gm, by={over}) / sum(gn, by={over}) as gmean", "coalesce(gv, 0.0) as gv")
    _summed(
        inner,
        by,
        ["sum(gn) as n", "count() as k", "sum(gn * (gm - gmean) ^ 2) as between", "sum((gn - 1) * gv) as within"],
    )
    inner.then(
        Derive(
            op="derive",
            columns=[
                "k - 1 as df",
                "(`between` / df) / (within / (n - k)) as statistic",
                "null_if(0.0, 0.0) as effect",
                "`between` / (`between` + within) as effect_size",
                "_f_p(statistic, df, n - k) as p_value",
            ],
        )
    )


def _pearson(test: Test, inner: Inner, by: Sequence[str]) -> None:
    _summed(inner, by, ["corr(_x, _y) as statistic", "count() as n"])
    _derived(inner, "n - 2 as df", "statistic * sqrt(df / (1 - statistic ^ 2)) as t", "statistic as effect", "statistic ^ 2 as effect_size",
        f"if(statistic is not null and 1 - statistic ^ 2 <= 0 and df > 0, 0.0, _t_p(t, df, sides='{test.sides}')) as p_value")  # fmt: skip


def _chi_square(test: Test, inner: Inner, by: Sequence[str]) -> None:
    _summed(inner, [*by, "_x", "_y"], ["count() as o"])
    rows, columns, total = (f"[{', '.join([*by, *more])}]" for more in (["_x"], ["_y"], []))
    _derived(
        inner,
        f"sum(o, by={rows}) as r",
        f"sum(o, by={columns}) as c",
        f"sum(o, by={total}) as _n",
        "r * c / _n as e",
        "abs(o - e) as away",
    )
    _summed(
        inner,
        by,
        [
            "sum(o) as n",
            "count_distinct(_x) as k",
            "count_distinct(_y) as l",
            "sum(o * o / e) as squares",
            "max(away) as away",
        ],
    )
    inner.world.note("Chi-square of a table of two by two is corrected for continuity (Yates).")
    _derived(inner, "greatest(squares - n, 0.0) as raw", "if(k == 2 and l == 2 and away > 0, raw * (1 - least(0.5, away) / away) ^ 2, raw) as statistic", "(k - 1) * (l - 1) as df",
        "null_if(0.0, 0.0) as effect", "sqrt(raw / (n * (least(k, l) - 1))) as effect_size", "_chi2_p(statistic, df) as p_value")  # fmt: skip


def _proportion(test: Test, inner: Inner, by: Sequence[str]) -> None:
    if test.group:
        _summed(
            inner,
            by,
            [
                "count(where=_first) as n1",
                "count(where=not _first) as n2",
                "share_of_rows(_x, where=_first) as p1",
                "share_of_rows(_x, where=not _first) as p2",
                "share_of_rows(_x) as p",
            ],
        )
        _derived(
            inner,
            "p1 - p2 as effect",
            "effect / sqrt(p * (1 - p) * (1 / n1 + 1 / n2)) as statistic",
            "n1 + n2 as n",
            "effect / sqrt(p * (1 - p)) as effect_size",
        )
    else:
        mu = repr(float(test.mu or 0))
        _summed(inner, by, ["count() as n", "share_of_rows(_x) as p"])
        _derived(
            inner,
            f"p - {mu} as effect",
            f"effect / sqrt({mu} * (1 - {mu}) / n) as statistic",
            f"effect / sqrt({mu} * (1 - {mu})) as effect_size",
        )
    _derived(inner, "null_if(0.0, 0.0) as df", f"_z_p(statistic, sides='{test.sides}') as p_value")


def _ranks(test: Test, inner: Inner, by: Sequence[str]) -> None:
    other = {
        "spearman": "_list(_y)",
        "kendall": "_list(_y)",
        "mann_whitney": "_list(text(_g), as_text=true)",
        "kruskal": "_list(text(_g), as_text=true)",
    }.get(test.kind, "_list(_x)")
    _summed(
        inner,
        by,
        ["_list(_x) as a", f"{other} as b", "count() as n", *(["count_distinct(_g) as k"] if test.group else [])],
    )
    if test.kind == "ks_normal":
        inner.world.note(
            "Kolmogorov-Smirnov compares with a normal that has the sample's own mean and deviation, so its p-value is too high."
        )
    call = f"_rank_test(a, b, '{test.kind}', '{test.sides}', '{{what}}')"
    paired = test.kind in ("spearman", "kendall")
    df = "k - 1" if test.kind == "kruskal" else "null_if(0.0, 0.0)"
    _derived(
        inner,
        f"{call.format(what='statistic')} as statistic",
        f"{call.format(what='p')} as p_value",
        f"{df} as df",
        f"{'statistic' if paired else 'null_if(0.0, 0.0)'} as effect",
        "effect as effect_size",
    )


FORMS = {
    "student_t": _two_means, "welch_t": _two_means, "paired_t": _one_mean, "one_sample_t": _one_mean, "anova": _anova, "pearson": _pearson, "chi_square": _chi_square,
    "proportion": _proportion, **dict.fromkeys(("mann_whitney", "kruskal", "spearman", "kendall", "shapiro", "ks_normal", "dagostino", "anderson"), _ranks),
}  # fmt: skip
