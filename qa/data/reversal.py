"""How a decision of the reader is undone: the option as the command line spells it, and what that changes."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from qa.data.options import ReadOptions


def as_kind(column: str, kind: str) -> str:
    """`--as 'Unit Price=text'`: the option that reads a column as a kind, quoted for a shell."""
    return f"--as {shlex.quote(f'{column}={kind}')}"


def missing(column: str, word: str) -> str:
    """`--missing temp=-999`: the option that reads a cell's text as missing, quoted for a shell."""
    return f"--missing {shlex.quote(f'{column}={word}')}"


def changed(options: ReadOptions, reversal: str) -> ReadOptions | None:
    """The options with a reversal applied; None when it leaves something to choose (`--header N`, `--sheet NAME`)."""
    try:
        name, *values = shlex.split(reversal)
    except ValueError:
        return None
    value = " ".join(values)
    change = _CHANGES.get(name)
    if change is None or not value or value in OPEN:
        return None
    return change(options, value)


def pair(text: str) -> tuple[str, str]:
    """(column, what is said of it) of `column=what`; the column may hold `=` itself."""
    column, _, what = text.rpartition("=")
    return column, what


OPEN = frozenset({"N", "NAME", "ROW"})
"""What stands for a value that a person chooses."""


def _as(options: ReadOptions, value: str) -> ReadOptions:
    column, kind = pair(value)
    return options.model_copy(update={"as_kinds": {**options.as_kinds, column: kind}})


def _missing(options: ReadOptions, value: str) -> ReadOptions:
    column, word = pair(value)
    words = dict.fromkeys((*options.missing.get(column, ()), word))
    return options.model_copy(update={"missing": {**options.missing, column: tuple(words)}})


def _set(field: str, read: Callable[[str], object] = str) -> Callable[[ReadOptions, str], ReadOptions]:
    return lambda options, value: options.model_copy(update={field: read(value)})


_CHANGES: dict[str, Callable[[ReadOptions, str], ReadOptions]] = {
    "--as": _as,
    "--missing": _missing,
    "--decimal": _set("decimal"),
    "--dayfirst": _set("dayfirst", lambda value: value == "yes"),
    "--header": _set("header", int),
    "--sheet": _set("sheet"),
    "--table": _set("table", int),
    "--delimiter": _set("delimiter"),
    "--encoding": _set("encoding"),
    "--totals": _set("totals"),
    "--member": _set("member"),
    "--hidden": _set("hidden"),
    "--variants": _set("variants", lambda value: value == "yes"),
}
"""option -> what it changes"""
