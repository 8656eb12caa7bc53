"""The language reference, generated from the tables of steps and functions: short for a model, full for a reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

from qa.plan.functions import FUNCTIONS, WINDOWED, domains
from qa.plan.functions.table import Function
from qa.plan.steps import STEPS, Step

Family = Literal["step", "row", "aggregate", "window"]


@dataclass(frozen=True)
class FieldEntry:
    """One field of a step: its spelling in JSON, whether it must be there, its choices, and what it holds."""

    name: str
    required: bool
    choices: tuple[str, ...]
    doc: str


@dataclass(frozen=True)
class ExampleEntry:
    """How it is written, the rows it starts from, and what comes out. Tables are lists of rows under a header."""

    written: str
    given: tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]
    gives: tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True)
class Entry:
    """One step or function of the reference."""

    family: Family
    name: str
    domain: str
    signature: str
    doc: str
    missing: str
    fields: tuple[FieldEntry, ...]
    examples: tuple[ExampleEntry, ...]
    words: tuple[str, ...]


def reference() -> tuple[Entry, ...]:
    """Every step and function, in the order of the language: steps, row functions, aggregates, window functions."""
    functions = [_function(row, domain) for domain, rows in domains().items() for row in rows]
    order = {family: place for place, family in enumerate(get_args(Family))}
    return (*(_step(op, cls) for op, cls in STEPS.items()), *sorted(functions, key=lambda entry: order[entry.family]))


def _step(op: str, cls: type[Step]) -> Entry:
    fields = tuple(_field(cls, name) for name in cls.model_fields if name != "op")
    examples = tuple(
        ExampleEntry(json.dumps(e.step, ensure_ascii=False), _table(e.data), (tuple(e.columns), _rows(e.rows)))
        for e in cls.examples
    )
    return Entry(
        "step",
        op,
        "steps",
        _step_signature(op, cls),
        " ".join((cls.__doc__ or "").split()),
        "",
        fields,
        examples,
        cls.words,
    )


def _field(cls: type[Step], name: str) -> FieldEntry:
    info = cls.model_fields[name]
    return FieldEntry(info.alias or name, info.is_required(), _choices(info.annotation), info.description or "")


def _choices(annotation: Any) -> tuple[str, ...]:
    """The words of a Literal, also inside `… | None`."""
    if get_origin(annotation) is Literal:
        return tuple(str(choice) for choice in get_args(annotation))
    found: list[str] = []
    for inner in get_args(annotation):
        found += _choices(inner)
    return tuple(found)


def _function(row: Function, domain: str) -> Entry:
    examples = tuple(
        ExampleEntry(e.formula, _table(e.data), (("result",), _rows([[v] for v in e.value] if isinstance(e.value, list) else [[e.value]])))
        for e in row.examples
    )  # fmt: skip
    return Entry(
        row.family,
        row.name,
        domain,
        row.name if row.operator else row.signature,
        row.doc,
        row.missing,
        (),
        examples,
        row.words,
    )


def _table(data: dict[str, list[Any]]) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    return tuple(data), _rows(zip(*data.values(), strict=True)) if data else ()


def _rows(rows: Iterable[Iterable[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)


# ---- for a model -----------------------------------------------------------------------------

_FORMULAS = """\
Formulas. Operators: ^ * / // % + - == != < <= > >= in [..] not in between..and.. is null is not null and or not. Text in
single quotes; a name that is no plain word, or a keyword, in `backticks`. After a join write table.column where a name
fits two. Missing: comparisons with it are missing, filter keeps only true, aggregates skip it, x/0 is missing.
Compare dates with ISO text: d >= '2024-03-01'; periods: in_period(d, 'last 3 months' | '2024' | '2024-03' | '2024 Q2' |
'year to date'). Text matches ignoring case and accents.
Every aggregate takes where=condition. In derive and filter an aggregate is over all rows, or by=key: x > mean(x, by=g).
In metrics by=[] reaches the total: sum(x) / sum(x, by=[]); arithmetic over aggregates is an aggregate.
A let with one row is a value anywhere: let.column; x in let.column reads any let."""

_WORDS = """\
by = group keys, order = sort keys ("x desc"), columns and metrics = "formula as name", table = a table or let."""


@lru_cache(maxsize=1)
def reference_text() -> str:
    """The language on one page, for a model's prompt: every step, field and function in its taught spelling."""
    steps = [f"- {_step_signature(op, cls)}: {_first_sentence(cls.__doc__ or '')}" for op, cls in STEPS.items()]
    return "\n".join([
        "A plan: {\"reply\": \"plan\", \"lets\": [{name, source, steps}], \"parts\": [{title, reading, source, steps, show, chart}]}.",
        'A step: {"op": …, fields}. ? marks what may be null. ' + _WORDS, *steps, _FORMULAS, *_functions(),
    ])  # fmt: skip


def _first_sentence(doc: str) -> str:
    """What comes before the first full stop, colon or semicolon; the page for readers has the rest."""
    text = " ".join(doc.split())
    ends = [match.start() for match in re.finditer(r"`[^`]*`|[.:;] ", text) if match[0][0] != "`"]
    return text[: ends[0] if ends else None].rstrip(".") + "."


def _step_signature(op: str, cls: type[Step]) -> str:
    shown = []
    for name, info in cls.model_fields.items():
        if name == "op":
            continue
        choices = "|".join(_choices(info.annotation))
        shown.append(f"{info.alias or name}{'' if info.is_required() else '?'}{f'={choices}' if choices else ''}")
    return f"{op} {{{', '.join(shown)}}}"


def _functions() -> list[str]:
    """The functions of each family; those that take the same arguments share them: `floor|ceil(x)`."""
    titles = {
        "row": "Row functions",
        "aggregate": "Aggregates",
        "window": "In window steps (they use its by and order)",
    }
    lines = []
    for family, title in titles.items():
        alike: dict[str, list[str]] = {}
        for row in _every():
            if row.family == family and not row.operator:
                alike.setdefault(_arguments(row), []).append(row.name)
        lines += [f"{title}: {' '.join('|'.join(names) + args for args, names in alike.items())}"] if alike else []
    return lines


def _arguments(row: Function) -> str:
    """`(x,digits=0)`: the arguments without spaces, and without the options that are seldom wanted."""
    return _SELDOM.sub("", row.signature.removeprefix(row.name).replace(", ", ","))


_SELDOM = re.compile(r",(?:match_case|complete)=false|,week_start='monday'|,closed='left'")


def _every() -> list[Function]:
    return [row for row in (*FUNCTIONS.values(), *WINDOWED.values()) if not row.name.startswith("_")]


# ---- for a reader ----------------------------------------------------------------------------

_TITLES = {"step": "Steps", "row": "Row functions", "aggregate": "Aggregates", "window": "Window functions"}


def markdown() -> str:
    """The whole reference as Markdown: what each does, its fields, its rule for missing values, and examples with results."""
    lines = ["# The plan language", "", _FORMULAS.replace("\n", " "), ""]
    for family, title in _TITLES.items():
        lines += [f"## {title}", ""]
        for entry in reference():
            if entry.family == family:
                lines += _entry_lines(entry)
    return "\n".join(lines)


def _entry_lines(entry: Entry) -> list[str]:
    lines = [f"### {_code(entry.name)}", "", entry.doc, ""]
    if entry.family != "step" and entry.signature != entry.name:
        lines += [_code(entry.signature), ""]
    if entry.missing:
        lines += [f"*Missing values:* {entry.missing}", ""]
    for field in entry.fields:
        choices = f" ({', '.join(field.choices)})" if field.choices else ""
        lines.append(
            f"- `{field.name}`{'' if field.required else ' (optional)'}{choices}{f': {field.doc}' if field.doc else ''}"
        )
    lines += [""] if entry.fields else []
    for example in entry.examples:
        lines += [f"{_code(example.written)}", "", *_example_lines(example), ""]
    return lines


def _example_lines(example: ExampleEntry) -> list[str]:
    (names, given), (headers, rows) = example.given, example.gives
    same_height = len(given) == len(rows) and headers == ("result",)
    if same_height:
        return _grid([*names, "result"], [[*a, *b] for a, b in zip(given, rows, strict=True)])
    before = [*_grid(names, given), "", "gives", ""] if names else []
    return [*before, *_grid(headers, rows)]


def _grid(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    if not headers:
        return []
    shown = [[_cell(value) for value in row] for row in rows]
    return [
        f"| {' | '.join(_cell(h) for h in headers)} |",
        f"|{'---|' * len(headers)}",
        *(f"| {' | '.join(row)} |" for row in shown),
    ]


def _cell(value: Any) -> str:
    text = (
        ""
        if value is None
        else f"{value:.6g}"
        if isinstance(value, float)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


__all__ = ["Entry", "ExampleEntry", "FieldEntry", "markdown", "reference", "reference_text"]
