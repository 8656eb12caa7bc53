"""Sentences about correlations, tests, fits and descriptions; every number comes from the result."""

from __future__ import annotations

from typing import Any

from qa.answer.formats import number, plural, words
from qa.answer.telling import Result

MOST = 3
"""Findings that get a sentence of their own."""

_TESTS = {
    "student_t": "Student's t-test",
    "welch_t": "Welch's t-test",
    "mann_whitney": "the Mann-Whitney test",
    "anova": "one-way ANOVA",
    "kruskal": "the Kruskal-Wallis test",
    "paired_t": "the paired t-test",
    "one_sample_t": "the one-sample t-test",
    "pearson": "Pearson correlation",
    "spearman": "Spearman correlation",
    "kendall": "Kendall correlation",
    "chi_square": "the chi-square test",
    "shapiro": "the Shapiro-Wilk test",
    "ks_normal": "the Kolmogorov-Smirnov test (against a normal with the sample's mean and deviation)",
    "dagostino": "D'Agostino's test",
    "anderson": "the Anderson-Darling test",
    "proportion": "the test of proportions",
}

NORMALITY = frozenset({"shapiro", "ks_normal", "dagostino", "anderson"})

_STRENGTHS = ((0.9, "very strong"), (0.7, "strong"), (0.4, "moderate"), (0.1, "weak"), (0.0, "almost no"))


def strength(r: float) -> str:
    """A correlation in words."""
    word = next(word for floor, word in _STRENGTHS if abs(r) >= floor)
    return f"{word} linear relation" if word == "almost no" else f"{word} {'positive' if r > 0 else 'negative'}"


def p_words(p: Any) -> str:
    """A p-value as it is usually written."""
    return "p not known" if p is None else "p < 0.001" if p < 0.001 else f"p = {number(p)}"


def _rows(result: Result) -> list[dict[str, Any]]:
    return result.table.head(200).to_dicts()


def correlate(result: Result) -> tuple[str, ...]:
    """The pair, or the strongest pairs."""
    needed = {"column_a", "column_b", "r"}
    if not needed <= set(result.table.columns):
        return (f"A matrix of correlations between {plural(result.table.height, 'column')}.",)
    rows = [row for row in _rows(result) if row["r"] is not None]
    if not rows:
        return ("No pair has enough values for a correlation.",)
    rows.sort(key=lambda row: -abs(row["r"]))
    told = [_pair(row) for row in rows[:MOST]]
    if len(rows) > 1:
        told.insert(0, f"Strongest of {plural(result.total_rows, 'pair')}:")
    return tuple(told)


def _pair(row: dict[str, Any]) -> str:
    pairs = f" over {plural(row['n'], 'pair')} of values" if row.get("n") is not None else ""
    chance = f", {p_words(row['p_value'])}" if row.get("p_value") is not None else ""
    names = f"{words(str(row['column_a']))} and {words(str(row['column_b']))}"
    return f"The correlation of {names} is {number(row['r'])} ({strength(row['r'])}){pairs}{chance}."


def test(result: Result) -> tuple[str, ...]:
    """What each test found, in words that do not say more than a test can."""
    if not {"kind", "statistic", "p_value"} <= set(result.table.columns):
        return (f"{plural(result.total_rows, 'test')}.",)
    return tuple(_tested(row) for row in _rows(result)[:MOST])


def _tested(row: dict[str, Any]) -> str:
    kind = str(row["kind"])
    name = _TESTS.get(kind, words(kind))
    about = f" on {words(str(row['column']))}" if row.get("column") else ""
    if row["statistic"] is None:
        return f"{_capital(name)}{about} could not be computed: too few values."
    figures = f"statistic {number(row['statistic'])}, {p_words(row['p_value'])}"
    figures += f", {plural(row['n'], 'value')}" if row.get("n") is not None else ""
    significant = row.get("significant")
    if significant is None:
        return f"{_capital(name)}{about}: {figures}."
    if kind in NORMALITY:
        verdict = (
            "the values differ significantly from a normal distribution"
            if significant
            else "no sign against a normal distribution"
        )
    else:
        verdict = "significant" if significant else "not significant"
    return f"{_capital(name)}{about}: {verdict} ({figures})."


def fit(result: Result) -> tuple[str, ...]:
    """Coefficients or the quality of a linear fit."""
    rows = _rows(result)
    if {"term", "estimate"} <= set(result.table.columns):
        return tuple(_term(row) for row in rows[: MOST + 1])
    if "r2" in result.table.columns and rows and rows[0]["r2"] is not None:
        row = rows[0]
        figures = [
            f"{name.replace('_', ' ')} {number(row[name])}"
            for name in ("adjusted_r2", "rmse", "mae")
            if row.get(name) is not None
        ]
        over = f" over {plural(row['n'], 'row')}" if row.get("n") is not None else ""
        return (f"The fit explains {number(row['r2'] * 100)}% of the variance{over} ({', '.join(figures)}).",)
    return (f"{plural(result.total_rows, 'row')} of the fit.",)


def _term(row: dict[str, Any]) -> str:
    if row["estimate"] is None:
        return f"{words(str(row['term']))} has no estimate."
    interval = ""
    if row.get("ci_low") is not None and row.get("ci_high") is not None:
        interval = f", interval {number(row['ci_low'])} to {number(row['ci_high'])}"
    chance = f", {p_words(row['p_value'])}" if row.get("p_value") is not None else ""
    return f"{_capital(words(str(row['term'])))}: {number(row['estimate'])}{interval}{chance}."


def describe(result: Result) -> tuple[str, ...]:
    """How many columns are described, and which miss most."""
    rows = _rows(result)
    told = [f"{plural(result.total_rows, 'column')} described."]
    gaps = sorted((row for row in rows if row.get("missing")), key=lambda row: -row["missing"])
    if gaps:
        top = gaps[0]
        told.append(f"{_capital(words(str(top['column'])))} has the most missing values: {number(top['missing'])}.")
    return tuple(told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
