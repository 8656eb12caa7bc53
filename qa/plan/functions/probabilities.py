"""Probabilities of test statistics, and rank statistics of whole columns: SciPy's numbers on both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from sqlglot import exp

from qa.plan.functions.scipy_numbers import EachRow, chi2_p, f_p, held_out, ols, rank_test, side_by_side, t_p, z_p
from qa.plan.functions.sqltools import DOUBLE, VARCHAR, Sql, call, cast, text
from qa.plan.functions.table import Call, Example, Function, aggregate, row
from qa.plan.typed import Facets
from qa.types import Kind

UDFS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "qa_t_p": (t_p, ["DOUBLE", "DOUBLE", "VARCHAR"]),
    "qa_z_p": (z_p, ["DOUBLE", "VARCHAR"]),
    "qa_f_p": (f_p, ["DOUBLE", "DOUBLE", "DOUBLE"]),
    "qa_chi2_p": (chi2_p, ["DOUBLE", "DOUBLE"]),
    "qa_rank_numbers": (rank_test, ["DOUBLE[]", "DOUBLE[]", "VARCHAR", "VARCHAR", "VARCHAR"]),
    "qa_ols": (ols, ["DOUBLE[]", "DOUBLE[][]", "DOUBLE", "VARCHAR"]),
    "qa_held_out": (held_out, ["DOUBLE[]", "DOUBLE[][]", "DOUBLE[]", "DOUBLE[][]", "VARCHAR"]),
    "qa_rank_texts": (rank_test, ["DOUBLE[]", "VARCHAR[]", "VARCHAR", "VARCHAR", "VARCHAR"]),
}
"""Functions that DuckDB borrows from Python for these; each gives a DOUBLE."""


def _mapped(function: Callable[..., Any], count: int) -> Callable[..., pl.Expr]:
    """A Polars expression that calls a function once for each result row, never for each data row."""

    def lower(*args: Any, **options: Any) -> pl.Expr:
        calls: Any = EachRow(function, tuple(options.values()))
        return pl.map_batches(list(args[:count]), calls, return_dtype=pl.Float64)

    return lower


def _borrowed(name: str) -> Callable[..., Sql]:
    return lambda *args, **options: call(
        name, *(cast(arg, DOUBLE) for arg in args), *(text(str(value)) for value in options.values())
    )


def _listed(call_: Call, x: pl.Expr) -> pl.Expr:
    wanted = pl.String if call_.option("as_text", False) else pl.Float64
    return pl.when(x.count() > 0).then(x.cast(wanted).drop_nulls().implode())


def _sql_listed(call_: Call, x: Sql, as_text: bool = False) -> Sql:
    return call("list", cast(x, VARCHAR if as_text else DOUBLE))


def _rank_sql(values: Sql, others: Sql, kind: str, sides: str, what: str) -> Sql:
    grouped = kind in ("mann_whitney", "kruskal")
    return call("qa_rank_texts" if grouped else "qa_rank_numbers", values, others, text(kind), text(sides), text(what))


def _packed(*lists: pl.Expr) -> pl.Expr:
    return pl.map_batches(list(lists), side_by_side, return_dtype=pl.List(pl.List(pl.Float64)))


_MISSING = "Missing in, missing out."
FUNCTIONS: tuple[Function, ...] = (
    row("_t_p", "t: numeric, df: numeric; sides: text! = 'two_sided'", lambda c: Facets(Kind.NUMBER, True), _mapped(t_p, 2), _borrowed("qa_t_p"), "The p-value of Student's t.", missing=_MISSING, examples=(Example("_t_p(x, 10)", [0.07338803477074037, None], {"x": [2.0, None]}),)),
    row("_z_p", "z: numeric; sides: text! = 'two_sided'", lambda c: Facets(Kind.NUMBER, True), _mapped(z_p, 1), _borrowed("qa_z_p"), "The p-value of a standard normal z.", missing=_MISSING, examples=(Example("_z_p(x)", [1.0, None], {"x": [0.0, None]}),)),
    row("_f_p", "f: numeric, df: numeric, rest: numeric", lambda c: Facets(Kind.NUMBER, True), _mapped(f_p, 3), _borrowed("qa_f_p"), "The p-value of F.", missing=_MISSING, examples=(Example("_f_p(x, 2, 10)", [1.0, None], {"x": [0.0, None]}),)),
    row("_chi2_p", "x: numeric, df: numeric", lambda c: Facets(Kind.NUMBER, True), _mapped(chi2_p, 2), _borrowed("qa_chi2_p"), "The p-value of chi-square.", missing=_MISSING, examples=(Example("_chi2_p(x, 3)", [1.0, None], {"x": [0.0, None]}),)),
    row("_rank_test", "x: any, y: any, kind: text!, sides: text!, what: text!", lambda c: Facets(Kind.NUMBER, True), _mapped(rank_test, 2), _rank_sql, "A rank test of collected columns.", missing=_MISSING,
        examples=(Example("r", 1.0, {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 9.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a", "_list(y) as b"]}, {"op": "derive", "columns": ["_rank_test(a, b, 'spearman', 'two_sided', 'statistic') as r"]})),)),
    row("_pack", "x: any*", lambda c: Facets(Kind.LIST, True), _packed, lambda *lists: exp.Array(expressions=list(lists)), "Lists side by side.", missing=_MISSING,
        examples=(Example("r", 1, {"x": [1.0, 2.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a"]}, {"op": "derive", "columns": ["length(_pack(a)) as r"]})),)),
    row("_ols", "y: any, x: any, term: numeric, what: text!", lambda c: Facets(Kind.NUMBER, True), _mapped(ols, 3), lambda y, x, term, what: call("qa_ols", y, x, cast(term, DOUBLE), text(what)), "A number of a least-squares fit.", missing=_MISSING,
        examples=(Example("r", 2.0, {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(y) as b", "_list(x) as a"]}, {"op": "derive", "columns": ["_ols(b, _pack(a), 1, 'estimate') as r"]})),)),
    row("_held_out", "y: any, x: any, kept_y: any, kept_x: any, what: text!", lambda c: Facets(Kind.NUMBER, True), _mapped(held_out, 4), lambda y, x, kept_y, kept_x, what: call("qa_held_out", y, x, kept_y, kept_x, text(what)), "The quality of a fit on rows that it has not seen.", missing=_MISSING,
        examples=(Example("r", 0.0, {"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(y) as b", "_list(x) as a"]}, {"op": "derive", "columns": ["_held_out(b, _pack(a), b, _pack(a), 'mae') as r"]})),)),
    aggregate("_list", "x: any; as_text: boolean! = false", lambda c: Facets(Kind.LIST, True), lambda call, x, as_text=False: _listed(call, x), lambda call, x, as_text=False: exp.Filter(this=_sql_listed(call, x, as_text), expression=exp.Where(this=exp.Not(this=exp.Is(this=x.copy(), expression=exp.Null())))), "All values, as a list.", typed=True,
        examples=(Example("r", 2, {"x": [1.0, None, 2.0]}, ({"op": "summarize", "by": [], "metrics": ["_list(x) as a"]}, {"op": "derive", "columns": ["length(a) as r"]})),)),
)  # fmt: skip
"""Their names open with `_`: the steps use them, the language does not teach them."""
