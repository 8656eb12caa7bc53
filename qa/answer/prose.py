"""A result as sentences: plain text, every number taken from the result by code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from qa.answer import findings, telling
from qa.answer.answer import AnswerColumn, LedgerRow
from qa.answer.formats import PLAIN, Style, number, plural
from qa.answer.shape import read

_SPECIAL: Mapping[str, Callable[[telling.Result], tuple[str, ...]]] = {
    "correlate": findings.correlate,
    "test": findings.test,
    "fit": findings.fit,
    "describe": findings.describe,
}


def sentences(
    *,
    title: str = "",
    plan: Mapping[str, Any],
    columns: Sequence[AnswerColumn],
    table: pl.DataFrame,
    total_rows: int,
    truncated: bool = False,
    support: Mapping[str, Any] | None = None,
    question: str = "",
    ledger: Sequence[LedgerRow | Mapping[str, Any]] = (),
    style: Style = PLAIN,
) -> tuple[str, ...]:
    """The sentences that answer one part.

    `plan` is the part as a dict, `table` the shown rows under display names, `total_rows` the rows of the whole
    result. `support` and `ledger` say how many rows went in and how many values were missing. Plain text: whoever
    shows it escapes it (`escape_markdown`, `html.escape`). Missing reads "missing", never 0. `title` and `question`
    are words of a model or a person and are never repeated as facts.
    """
    shape = read(plan, columns)
    rows_in = _rows_in(support or {}, ledger)
    by_name = {column.name: column for column in columns}
    result = telling.Result(shape, by_name, table, total_rows, rows_in, style)
    told = [*_tell(result), *_left_out(result, support or {})]
    if truncated or table.height < total_rows:
        shown, whole = number(table.height, style), number(total_rows, style)
        told.append(f"The table holds the first {shown} of {whole} rows.")
    return tuple(sentence for sentence in told if sentence)


def _tell(result: telling.Result) -> tuple[str, ...]:
    height, width = result.table.shape
    if height == 0 or width == 0:
        return telling.nothing(result)
    if special := _SPECIAL.get(result.shape.special or ""):
        return special(result)
    if height == 1 and result.total_rows == 1:
        return telling.single(result) if width == 1 else telling.record(result)
    named = result.shape.keys and (result.shape.grouped or result.shape.rank)
    hidden = result.shape.rank and result.shape.limit and result.shape.keys
    return telling.groups(result) if (named and result.shape.measures) or hidden else telling.listing(result)


def _rows_in(support: Mapping[str, Any], ledger: Sequence[LedgerRow | Mapping[str, Any]]) -> int | None:
    for row in ledger:
        value = row.get("rows_in") if isinstance(row, Mapping) else row.rows_in
        if value is not None:
            return int(value)
    value = support.get("rows_in")
    return int(value) if isinstance(value, int) else None


def _left_out(result: telling.Result, support: Mapping[str, Any]) -> list[str]:
    """How many missing values each simple metric skipped, and in which groups.

    A metric with a condition of its own says nothing here: rows that its condition leaves out are not missing.
    """
    told: list[str] = []
    for measure in [measure for measure in result.shape.measures if measure.of][:3]:
        gaps = _gaps(support, measure.name, result.table.height)
        if 0 < len(gaps) <= 3 and result.shape.keys:
            told += [
                f"{result.label(row)}: {number(lost, result.style)} of {plural(rows, 'value', style=result.style)} missing "
                f"for {telling.the(measure.phrase)}."
                for row, lost, rows in gaps
            ]
            continue
        count = (support.get("missing_skipped") or {}).get(measure.name)
        if isinstance(count, int) and count > 0:
            verb = "was" if count == 1 else "were"
            lost_words = plural(count, "missing value", style=result.style)
            told.append(f"{lost_words} {verb} left out of {telling.the(measure.phrase)}.")
    return told


def _gaps(support: Mapping[str, Any], metric: str, height: int) -> list[tuple[int, int, int]]:
    """(row, values missing, rows) of each group that missed some, from the support in row order."""
    rows = support.get("group_rows")
    used = (support.get("group_values") or {}).get(metric)
    if not isinstance(rows, Sequence) or not isinstance(used, Sequence) or not len(rows) == len(used) == height:
        return []
    counted = zip(rows, used, strict=True)
    return [(row, n - k, n) for row, (n, k) in enumerate(counted) if n is not None and k is not None and k < n]


def value_of(table: pl.DataFrame, columns: Sequence[AnswerColumn], plan: Mapping[str, Any]) -> Any:
    """The single value of a result: one row with one shown column, or with one metric beside its keys. Else None."""
    if table.height != 1 or table.width == 0:
        return None
    if table.width == 1:
        return table.item()
    shape = read(plan, columns)
    beside = [name for name in table.columns if name not in shape.keys]
    if shape.keys and len(beside) == 1 and shape.measure(beside[0]):
        return table[beside[0]][0]
    return None


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:^=&@\"'])")

_JOINER = "\u2060"

# Streamlit's Markdown makes links, emoji and arrows from decoded text too, so an entity alone does not stop them:
# an invisible word joiner splits `http://`, `www.`, `name@host`, `:emoji:`, `->`, `--` and `<=`.
_ACTIVE = re.compile(
    r"(?<=https:)(?=//)|(?<=http:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=:)(?=[\w+/\-]*:)|(?<=[<>~\-])(?=[\-=>])",
    re.IGNORECASE,
)


def escape_markdown(text: str) -> str:
    """Text that Streamlit's Markdown shows literally: no maths, emphasis, link, image, code, HTML, emoji or colour."""
    one_line = re.sub(r"[\r\n\u2028\u2029]+", " ", text)
    return _MARKDOWN.sub(_entity, _ACTIVE.sub(_JOINER, one_line))


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
