"""Random tables and random plans over them: mostly valid, with everything that hurts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from qa.data.table import Table
from tests.tables import table

TEXTS = ["a", "b", "B", "ä", "", " x ", "東京", "🙂", "it's", "10", "a b", "50%_\\"]
NUMBERS = [0.0, 1.0, -1.5, 2.5, 2.675, 1e-9, 123456.789, -0.5, 3.0, 1e6]
INTEGERS = [0, 1, -1, 2, 3, 7, 10, -10, 1000, 2**31, 2**53 + 1]
DAYS = [
    dt.date(2024, 2, 29),
    dt.date(2023, 12, 31),
    dt.date(2024, 1, 1),
    dt.date(2024, 3, 31),
    dt.date(1899, 12, 30),
    dt.date(2024, 5, 15),
]
MOMENTS = [
    dt.datetime(2024, 3, 31, 1, 30),
    dt.datetime(2024, 3, 31, 23, 59, 59),
    dt.datetime(2024, 10, 27, 0, 15),
    dt.datetime(2023, 12, 31, 23, 0),
    dt.datetime(2024, 1, 1),
]


@dataclass(frozen=True)
class Kinded:
    """The names of a table's columns by what they hold."""

    integers: tuple[str, ...] = ("i", "j")
    numbers: tuple[str, ...] = ("x",)
    texts: tuple[str, ...] = ("g", "h")
    booleans: tuple[str, ...] = ("b",)
    days: tuple[str, ...] = ("d",)
    moments: tuple[str, ...] = ("m", "z")


NAMES = Kinded()


def column(values: Sequence[Any], size: int, dtype: Any) -> st.SearchStrategy[pl.Series]:
    cells = st.lists(
        st.one_of(st.none(), st.sampled_from(values), st.sampled_from(values)), min_size=size, max_size=size
    )
    return cells.map(lambda drawn: pl.Series(drawn, dtype=dtype))


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    size = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 13]))
    naive = draw(column(MOMENTS, size, pl.Datetime("us")))
    zone = draw(st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata"]))
    zoned = draw(column(MOMENTS, size, pl.Datetime("us"))).dt.replace_time_zone(
        zone, ambiguous="earliest", non_existent="null"
    )
    return pl.DataFrame(
        {
            "i": draw(column(INTEGERS, size, pl.Int64)), "j": draw(column([1, 2, 3], size, pl.Int64)), "x": draw(column(NUMBERS, size, pl.Float64)),
            "g": draw(column(TEXTS, size, pl.String)), "h": draw(column(["u", "v"], size, pl.String)), "b": draw(column([True, False], size, pl.Boolean)),
            "d": draw(column(DAYS, size, pl.Date)), "m": naive, "z": zoned,
        }
    )  # fmt: skip


def tables(draw: st.DrawFn) -> dict[str, Table]:
    other = draw(frames()).select("j", "h", pl.col("i").alias("k"), pl.col("x").alias("y"), pl.col("d").alias("since"))
    return {"t": table("t", draw(frames())), "u": table("u", other)}


# ---- formulas ----------------------------------------------------------------------------------


def numeric(depth: int = 2) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(
        [
            *NAMES.integers,
            *NAMES.numbers,
            "2",
            "-3",
            "0.5",
            "length(g)",
            "year(d)",
            "month(z)",
            "weekday(d)",
            "hour(m)",
            "number(b)",
            "day(m)",
        ]
    )
    if depth == 0:
        return leaf
    inner = numeric(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(st.sampled_from(NAMES.integers), st.sampled_from(["//", "%"]), st.sampled_from(["3", "-2", "j"])).map(" ".join),
        inner.map(lambda x: f"abs({x})"), inner.map(lambda x: f"round({x}, 1)"), inner.map(lambda x: f"-{x}"), inner.map(lambda x: f"floor({x})"),
        st.tuples(inner, inner).map(lambda p: f"greatest({p[0]}, {p[1]})"), st.tuples(inner, inner).map(lambda p: f"coalesce({p[0]}, {p[1]})"),
        st.tuples(truth(0), inner, inner).map(lambda p: f"if({p[0]}, {p[1]}, {p[2]})"),
        st.just("date_diff(d, m, 'month')"), st.just("date_diff(m, z, 'hour')"), st.just("date_diff(d, z, 'week')"), st.just("integer(x)"), st.just("number_in(g)"),
        inner.map(lambda x: f"sqrt({x})"), inner.map(lambda x: f"clip({x}, -5, 5)"), st.just("bin(x, width=2)"), st.just("sign(i)"), st.just("null_if(j, 2)"),
    )  # fmt: skip


def worded() -> st.SearchStrategy[str]:
    return st.sampled_from([
        "g", "h", "upper(h)", "lower(g)", "concat(g, '-', h)", "trim(g)", "text(i)", "text(j)", "text(b)", "text(d)", "replace(g, 'a', 'z')", "substring(g, 1, 1)",
        "if(b, g, h)", "month_name(d)", "weekday_name(z)", "coalesce(g, '?')", "split_part(g, ' ', 1)", "case when j == 1 then 'one' when j > 1 then 'many' end", "quantile_bin(x, 3)",
        "bin(x, edges=[0, 1, 100])",
    ])  # fmt: skip


def timed() -> st.SearchStrategy[str]:
    return st.sampled_from(
        [
            "d",
            "m",
            "z",
            "trunc(d, 'month')",
            "trunc(z, 'week')",
            "trunc(m, 'hour')",
            "trunc(z, 'hour')",
            "add(d, 1, 'month')",
            "add(d, j, 'day')",
            "date(z)",
            "add(m, -1, 'hour')",
            "trunc(z, 'day')",
            "trunc(d, 'quarter')",
        ]
    )


def truth(depth: int = 1) -> st.SearchStrategy[str]:
    leaf = st.one_of(
        st.tuples(numeric(0), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numeric(0)).map(" ".join),
        st.tuples(st.sampled_from(["g", "h", "x", "d", "b", "i"]), st.sampled_from(["is null", "is not null"])).map(" ".join),
        st.sampled_from(["b", "not b", "d >= '2024-01-01'", "m < '2024-03-31'", "z >= '2024-01-01'", "contains(g, 'A')", "starts_with(g, ' ')", "j in [1, 3]", "j not in [2]", "x between 0 and 3", "matches(g, '[a-z]')", "in_period(d, '2024 Q1')", "in_period(z, '2024')", "in_period(m, 'last 3 months')"]),
        st.sampled_from(["x > mean(x)", "i == max(i)", "x > mean(x, by=h)", "row_index() <= 3", "count(by=h) > 1", "x >= quantile(x, 0.5)"]),
    )  # fmt: skip
    if depth == 0:
        return leaf
    return st.one_of(
        leaf,
        st.tuples(leaf, st.sampled_from(["and", "or"]), leaf).map(lambda p: f"({p[0]}) {p[1]} ({p[2]})"),
        leaf.map(lambda c: f"not ({c})"),
    )


def anything() -> st.SearchStrategy[str]:
    return st.one_of(numeric(), worded(), timed(), truth())


def aggregated() -> st.SearchStrategy[str]:
    of_number = st.tuples(
        st.sampled_from(
            [
                "sum",
                "mean",
                "min",
                "max",
                "median",
                "std",
                "var",
                "count",
                "count_distinct",
                "count_missing",
                "iqr",
                "product",
                "std_pop",
                "ci_low",
                "mode",
                "first",
                "last",
            ]
        ),
        numeric(1),
    ).map(lambda p: f"{p[0]}({p[1]})")
    narrowed = st.tuples(
        st.sampled_from(["sum", "mean", "max", "count", "first", "count_distinct"]),
        st.sampled_from(["i", "x", "j"]),
        truth(0).filter(lambda c: "(" not in c),
    ).map(lambda p: f"{p[0]}({p[1]}, where={p[2]})")
    return st.one_of(
        of_number, narrowed,
        st.sampled_from([
            "count()", "count(where=b)", "share_of_rows(b)", "any(b)", "all(b)", "min(d)", "max(m)", "max(z)", "min(g)", "max(h)", "mode(h)", "first(g)", "last(d)", "arg_max(h, x)", "arg_min(j, i)",
            "string_agg(h)", "corr(x, j)", "count_distinct(g, h)", "sum(x) / sum(x, by=[])", "sum(i) - sum(j)", "quantile(x, 0.9)", "weighted_mean(x, j)", "slope(x, j)", "sum(b)", "mean(b)", "round(mean(x), 2)",
            "max(i) - min(i)", "cov(x, j)", "r2(x, j)", "count() / count(by=[])", "last(x, where=b)", "count_distinct(m)", "first(z)",
        ]),
    )  # fmt: skip


# ---- steps -------------------------------------------------------------------------------------

_KEYS = [
    "g",
    "h",
    "b",
    "j",
    "d",
    "trunc(d, 'month') as month",
    "weekday(d) as wd",
    "upper(h) as hh",
    "i % 3 as mod",
    "z",
]


def keys(most: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(_KEYS), max_size=most, unique=True)


def order() -> st.SearchStrategy[list[str]]:
    key = st.tuples(
        st.sampled_from(["x", "i", "j", "g", "h", "d", "m", "z", "b", "x * -1"]),
        st.sampled_from(["", " desc", " asc", " desc nulls first", " nulls first"]),
    ).map("".join)
    return st.lists(key, min_size=1, max_size=2)


def named(formulas: st.SearchStrategy[str], name: str, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(formulas, min_size=1, max_size=most).map(
        lambda found: [f"{formula} as {name}{i}" for i, formula in enumerate(found)]
    )


def windowed() -> st.SearchStrategy[str]:
    return st.sampled_from([
        "rank()", "dense_rank()", "row_number()", "percent_rank()", "ntile(3)", "lag(x)", "lead(g)", "lag(d, 2)", "running_sum(i)", "running_sum(x)", "running_mean(x)", "running_max(i)", "running_min(d)",
        "running_count(x)", "rolling_sum(j, rows=3)", "rolling_mean(x, rows=2)", "rolling_max(i, rows=3, complete=true)", "rolling_count(g, rows=2)", "change(i)", "pct_change(x)", "share(j)", "x - mean(x)", "i / max(i)",
        "first(x)", "last(g)", "sum(j) - running_sum(j)", "lag(x) is null", "x - lag(x - mean(x))", "count()",
    ])  # fmt: skip


def steps() -> st.SearchStrategy[dict[str, Any]]:
    """One step on the columns of `t`."""
    return st.one_of(
        truth().map(lambda w: {"op": "filter", "where": w}),
        named(anything(), "n", 2).map(lambda c: {"op": "derive", "columns": c}),
        st.tuples(keys(), named(aggregated(), "m", 3)).map(lambda p: {"op": "summarize", "by": p[0], "metrics": p[1]}),
        order().map(lambda o: {"op": "sort", "order": o}),
        st.fixed_dictionaries(
            {"op": st.just("limit"), "n": st.integers(0, 4)},
            optional={"order": order(), "by": st.sampled_from([["h"], ["j"]]), "offset": st.integers(1, 2), "from": st.sampled_from(["start", "end"]), "ties": st.sampled_from(["cut", "keep"])},
        ),
        st.tuples(keys(1), order(), named(windowed(), "w", 2)).map(lambda p: {"op": "window", "by": p[0], "order": p[1], "columns": p[2]}),
        st.sampled_from([[], ["h"], ["g", "j"], ["d"]]).map(lambda c: {"op": "distinct", "columns": c}),
        st.tuples(st.sampled_from(["inner", "left", "full", "semi", "anti"]), st.sampled_from([["j"], ["h"], ["j", "h"], ["i = k"], ["x = k"], ["upper(h) = h"], ["d = since"]])).map(
            lambda p: {"op": "join", "table": "u", "how": p[0], "on": p[1], "expect": "many_to_many"}
        ),
        st.tuples(st.sampled_from([">=", ">", "<=", "<"]), st.sampled_from([["h"], []]), st.sampled_from([None, "40 days"])).map(
            lambda p: {"op": "join", "table": "u", "how": "asof", "on": p[1], "nearest": f"d {p[0]} since", **({"within": p[2]} if p[2] else {})}
        ),
        st.just({"op": "join", "table": "u", "how": "cross"}),
        st.sampled_from(["all", "distinct"]).map(lambda h: {"op": "union", "tables": ["u"], "how": h}),
        st.tuples(keys(1), st.sampled_from(["h", "j", "b", "g"]), named(st.sampled_from(["sum(x)", "count()", "max(i)", "mean(x)", "sum(x) / count()"]), "v", 2)).map(
            lambda p: {"op": "pivot", "by": p[0], "names_from": p[1], "values": p[2]}
        ),
        st.just({"op": "unpivot", "columns": ["i", "x", "j"], "keep": ["g", "d"]}),
        st.just({"op": "explode", "column": "g", "separator": " "}),
        st.tuples(st.integers(0, 3), st.sampled_from([None, ["h"]])).map(lambda p: {"op": "sample", "n": p[0], "seed": 7, **({"by": p[1]} if p[1] else {})}),
        st.sampled_from(
            [
                {"op": "test", "kind": "welch_t", "columns": ["x"], "group": "h"}, {"op": "test", "kind": "pearson", "columns": ["x", "j"], "by": ["h"]},
                {"op": "test", "kind": "chi_square", "columns": ["g", "h"]}, {"op": "test", "kind": "anova", "columns": ["x"], "group": "j"},
                {"op": "test", "kind": "kruskal", "columns": ["x"], "group": "j", "by": ["h"]}, {"op": "test", "kind": "one_sample_t", "columns": ["x"], "mu": 1.0},
                {"op": "correlate", "columns": ["x", "i", "j"]}, {"op": "describe", "columns": ["x", "g", "d", "j"]},
                {"op": "fit", "target": "x", "predictors": ["j"], "output": "quality"},
                {"op": "fill_gaps", "column": "d", "every": "1 week", "by": ["h"], "columns": ["x"], "fill": "previous"},
                {"op": "fill_gaps", "column": "j", "every": "1", "columns": ["x"], "fill": "linear"}, {"op": "fill_gaps", "column": "h", "by": ["j"], "fill": "zero"},
            ]
        ),
        st.just({"op": "select", "drop": ["z"]}),
        st.just({"op": "rename", "columns": ["g as `the g`"]}),
    )  # fmt: skip


@st.composite
def plans(draw: st.DrawFn) -> tuple[dict[str, Table], list[dict[str, Any]], list[dict[str, Any]]]:
    """Tables, lets and the steps of one part, which reads `t` or a let over it."""
    lets: list[dict[str, Any]] = []
    if draw(st.integers(0, 4)) == 0:
        lets = [{"name": "big", "source": "t", "steps": draw(st.lists(steps(), min_size=1, max_size=2))}]
    return tables(draw), lets, draw(st.lists(steps(), min_size=1, max_size=3))
