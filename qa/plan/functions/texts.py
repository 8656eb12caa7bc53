"""Row functions on text."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
from sqlglot import exp

from qa.errors import Issue, PlanError
from qa.plan.functions.sqltools import (
    BIGINT,
    DOUBLE,
    VARCHAR,
    Sql,
    both,
    call,
    cast,
    not_null,
    number,
    sql_local,
    text,
    when,
)
from qa.plan.functions.table import Call, Example, row
from qa.plan.typed import Facets
from qa.types import Kind

_T = {"x": ["Ärger", " two words ", None]}


def folded(x: pl.Expr) -> pl.Expr:
    """Text without case, accents or outer spaces, for searching.

    Fewer than all of Unicode's folds, and the same ones in both lowerings: lower case, then marks dropped.
    """
    return x.str.normalize("NFKD").str.replace_all(r"\p{M}", "").str.to_lowercase()


def sql_folded(x: Sql) -> Sql:
    return exp.Lower(this=call("strip_accents", x))


def fold(value: str) -> str:
    """The Python twin of `folded`, for literals."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", value) if not unicodedata.combining(c)).lower()


def _searched(x: pl.Expr, match_case: bool) -> pl.Expr:
    return x if match_case else folded(x)


def _search(kind: str) -> tuple[Any, Any]:
    methods = {"contains": "contains", "starts_with": "starts_with", "ends_with": "ends_with"}

    def polars(x: pl.Expr, part: str, match_case: bool = False) -> pl.Expr:
        wanted = part if match_case else fold(part)
        found: pl.Expr = getattr(_searched(x, match_case).str, methods[kind])(
            wanted, **({"literal": True} if kind == "contains" else {})
        )
        return found

    def sql(x: Sql, part: str, match_case: bool = False) -> Sql:
        return call(kind, x if match_case else sql_folded(x), text(part if match_case else fold(part)))

    return polars, sql


def pattern(regex: str) -> str:
    """The regular expression, if both linear-time engines can read it."""
    try:
        pl.select(pl.lit("").str.contains(regex))
    except pl.exceptions.PolarsError:
        raise PlanError(
            Issue(
                "bad_regex",
                "",
                f"{regex!r} is not a regular expression that this language reads.",
                "Look-around and back-references are not supported; contains(x, part) takes text literally.",
            )
        ) from None
    if len(regex) > 200:
        raise PlanError(
            Issue("bad_regex", "", "A regular expression may have 200 characters.", "Use contains(x, part).")
        ) from None
    return regex


def _extract(x: pl.Expr, regex: str, group: int = 0) -> pl.Expr:
    if group > re.compile(pattern(regex)).groups:
        raise PlanError(Issue("bad_option", "", f"The pattern has no group {group}.", "Group 0 is the whole match."))
    return x.str.extract(regex if group else f"({regex})", max(group, 1))


def _sql_extract(x: Sql, regex: str, group: int = 0) -> Sql:
    found = call("regexp_matches", x, text(regex))
    return when(found, call("regexp_extract", x.copy(), text(regex), number(group)))


def _substring(x: pl.Expr, start: int, length: int | None = None) -> pl.Expr:
    if start < 1:
        raise PlanError(
            Issue("bad_option", "", "substring counts characters from 1.", "Use substring(x, 1, n) for the first n.")
        )
    return x.str.slice(start - 1, length)


def _sql_substring(x: Sql, start: int, length: int | None = None) -> Sql:
    return exp.Substring(this=x, start=number(start), length=None if length is None else number(length))


def _split_part(x: pl.Expr, separator: str, part: int) -> pl.Expr:
    if part < 1 or not separator:
        raise PlanError(
            Issue(
                "bad_option", "", "split_part counts parts from 1 and needs a separator.", "Use split_part(x, ',', 1)."
            )
        )
    return x.str.split(separator).list.get(part - 1, null_on_oob=True)


def _sql_split_part(x: Sql, separator: str, part: int) -> Sql:
    return call("list_extract", call("string_split", x, text(separator)), number(part))


_NUMBER = r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"


def _number_in(x: pl.Expr, n: int = 1) -> pl.Expr:
    # A dash after a digit separates two numbers ("3-5"), so it is spaced off before reading.
    spaced = x.str.replace_all(r"(\d)[-−]", "${1} ")
    found = spaced.str.extract_all(_NUMBER).list.get(n - 1, null_on_oob=True)
    return found.str.replace_all(",", "").str.replace_all("−", "-").cast(pl.Float64, strict=False)


def _sql_number_in(x: Sql, n: int = 1) -> Sql:
    spaced = call("regexp_replace", x, text(r"(\d)[-−]"), text(r"\1 "), text("g"))
    found = call("list_extract", call("regexp_extract_all", spaced, text(_NUMBER)), number(n))
    return exp.TryCast(
        this=exp.Replace(
            this=exp.Replace(this=found, expression=text(","), replacement=text("")),
            expression=text("−"),
            replacement=text("-"),
        ),
        to=DOUBLE.copy(),
    )


def as_text(call: Call, index: int, value: pl.Expr) -> pl.Expr:
    """Any value in the one spelling that text(x) gives it."""
    match call.args[index].kind:
        case Kind.NUMBER | Kind.DECIMAL:
            number_ = value.cast(pl.Float64)
            whole = (number_ == number_.floor()) & (number_.abs() < 1e15)
            return (
                pl.when(whole)
                .then(number_.cast(pl.Int64, strict=False).cast(pl.String))
                .otherwise(number_.cast(pl.String))
            )
        case Kind.DATETIME:
            return value.dt.strftime("%Y-%m-%d %H:%M:%S")
        case Kind.BOOLEAN:
            return pl.when(value).then(pl.lit("true")).when(~value).then(pl.lit("false"))
        case _:
            return value.cast(pl.String)


def sql_as_text(call_: Call, index: int, value: Sql) -> Sql:
    match call_.args[index].kind:
        case Kind.NUMBER | Kind.DECIMAL:
            double = cast(value, DOUBLE)
            whole = exp.And(
                this=both(exp.EQ, double, exp.Floor(this=double.copy())),
                expression=both(exp.LT, exp.Abs(this=double.copy()), number(1e15)),
            )
            spelled = cast(double.copy(), VARCHAR)
            # DuckDB spells 1e-9 as 1e-09, and 0.000015 as 1.5e-05.
            for found, instead in ((r"^(-?)(\d)\.?(\d*)e-05$", r"\10.0000\2\3"), (r"e-0(\d)$", r"e-\1")):
                spelled = call("regexp_replace", spelled, text(found), text(instead))
            return when(whole, cast(exp.TryCast(this=double.copy(), to=BIGINT.copy()), VARCHAR), spelled)
        case Kind.DATETIME:
            return call("strftime", sql_local(call_.args[index].facets, value), text("%Y-%m-%d %H:%M:%S"))
        case _:
            return cast(value, VARCHAR)


def _concat(call: Call, *args: pl.Expr) -> pl.Expr:
    return pl.concat_str([as_text(call, i, arg) for i, arg in enumerate(args)])


def _sql_concat(call: Call, *args: Sql) -> Sql:
    result = sql_as_text(call, 0, args[0])
    for index, arg in enumerate(args[1:], 1):
        result = both(exp.DPipe, result, sql_as_text(call, index, arg))
    return result


def _length_gives(call: Call) -> Facets:
    return Facets(Kind.INTEGER, call.nullable, 0, 2**31)


def _length(call: Call, x: pl.Expr) -> pl.Expr:
    return (x.list.len() if call.first.kind is Kind.LIST else x.str.len_chars()).cast(pl.Int64)


_CONTAINS, _STARTS, _ENDS = _search("contains"), _search("starts_with"), _search("ends_with")
_FOLDS = "Case and accents are ignored unless match_case=true; the text is taken literally."

FUNCTIONS = (
    row("lower", "x: text", Kind.TEXT, lambda x: x.str.to_lowercase(), lambda x: exp.Lower(this=x), "Lower case.", examples=(Example("lower(x)", ["ärger", " two words ", None], _T),)),
    row("upper", "x: text", Kind.TEXT, lambda x: x.str.to_uppercase(), lambda x: exp.Upper(this=x), "Upper case.", examples=(Example("upper('ab')", ["AB"]),)),
    row("trim", "x: text", Kind.TEXT, lambda x: x.str.strip_chars(" \t\r\n"), lambda x: exp.Trim(this=x, expression=text(" \t\r\n")), "Without outer spaces.", examples=(Example("trim(x)", ["Ärger", "two words", None], _T),)),
    row("length", "x: sized", _length_gives, _length, lambda call_, x: call("len", x) if call_.first.kind is Kind.LIST else exp.Length(this=x), "Number of characters, or of items in a list.",
        examples=(Example("length(x)", [5, 11, None], _T),), words=("length", "number of characters"), typed=True),
    row("contains", "x: text, part: text!; match_case: boolean! = false", Kind.BOOLEAN, *_CONTAINS, f"True when the text holds a part. {_FOLDS}",
        examples=(Example("contains(x, 'arg')", [True, False, None], _T), Example("contains('C++ (a.b)', '+ (a.')", [True])), words=("contains", "containing", "includes", "with … in")),
    row("starts_with", "x: text, part: text!; match_case: boolean! = false", Kind.BOOLEAN, *_STARTS, f"True when the text starts with a part. {_FOLDS}",
        examples=(Example("starts_with(x, 'är')", [True, False, None], _T),), words=("starts with", "starting with", "begins with")),
    row("ends_with", "x: text, part: text!; match_case: boolean! = false", Kind.BOOLEAN, *_ENDS, f"True when the text ends with a part. {_FOLDS}",
        examples=(Example("ends_with(x, 'GER')", [True, False, None], _T),), words=("ends with", "ending in")),
    row("matches", "x: text, regex: text!", Kind.BOOLEAN, lambda x, regex: x.str.contains(pattern(regex)), lambda x, regex: call("regexp_matches", x, text(regex)), "True when a regular expression is found in the text, exactly as written.",
        examples=(Example("matches(x, '^t|^ t')", [False, True, None], _T),), words=("matches",)),
    row("replace", "x: text, part: text!, by: text!", Kind.TEXT, lambda x, part, by: x.str.replace_all(part, by, literal=True), lambda x, part, by: exp.Replace(this=x, expression=text(part), replacement=text(by)),
        "Every occurrence of a part replaced; the text is taken literally.", examples=(Example("replace('a.b.c', '.', '-')", ["a-b-c"]),)),
    row("substring", "x: text, start: integer!, length: integer!?", Kind.TEXT, _substring, _sql_substring, "Some characters, counted from 1.", examples=(Example("substring('abcdef', 2, 3)", ["bcd"]),), words=("first … characters",)),
    row("split_part", "x: text, separator: text!, part: integer!", lambda call: Facets(Kind.TEXT, True), _split_part, _sql_split_part, "The n-th piece between separators, counted from 1.",
        missing="Missing in, missing out; missing where there is no such piece.", examples=(Example("split_part('a-b-c', '-', 2)", ["b"]), Example("split_part('a', '-', 2)", [None]))),
    row("extract", "x: text, regex: text!; group: integer! = 0", lambda call: Facets(Kind.TEXT, True), _extract, _sql_extract, "The first match of a regular expression, or of a group in it.",
        missing="Missing in, missing out; missing where nothing matches.", examples=(Example("extract('ab12', '[0-9]+')", ["12"]), Example("extract('ab12', '([a-z]+)([0-9]+)', group=1)", ["ab"]), Example("extract('ab', '[0-9]')", [None]))),
    row("number_in", "x: text, n: integer! = 1", lambda call: Facets(Kind.NUMBER, True), _number_in, _sql_number_in, "The n-th number inside a text; thousands commas and decimals are read.",
        missing="Missing in, missing out; missing where there is no such number.", examples=(Example("number_in('about 1,250.5 kg')", [1250.5]), Example("number_in('3-5 years', 2)", [5.0]), Example("number_in('none')", [None]))),
    row("concat", "x: spelled*", Kind.TEXT, _concat, _sql_concat, "Values joined into one text.", examples=(Example("concat('a', 1, '-', 2.5)", ["a1-2.5"]),), typed=True),
)  # fmt: skip
__all__ = ["FUNCTIONS", "as_text", "fold", "folded", "not_null", "sql_as_text"]
