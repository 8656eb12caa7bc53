"""An answer as a Jupyter notebook: its Polars scripts, a cell a step, under the words of each step."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from qa.answer.answer import AnswerPart
from qa.errors import Issue, PlanError

MIME = "application/x-ipynb+json"
_START = re.compile(r"\w+ = (pl\.scan_parquet\(|\w+\.lazy\(\))")
_FILE = re.compile(r"pl\.scan_parquet\('([^']+)'\)")


def notebook(parts: Sequence[AnswerPart]) -> str:
    """The notebook (format 4.5) as JSON text; it reads each table from NAME.parquet beside it and needs only Polars,
    and SciPy where an answer has p-values or a fit. Each part ends in a cell that shows its table, `result`.

    Raises PlanError when no part has a script.
    """
    scripts = [part for part in parts if has_script(part)]
    if not scripts:
        raise PlanError(Issue("no_script", "", "There is no script for this answer.", "Take the SQL instead."))
    cells = [_words(_opening(scripts)), *_code(_imports(scripts))]
    for part in scripts:
        cells.append(_words(f"## {part.title or 'Answer'}" + (f"\n\nRead as: {part.reading}" if part.reading else "")))
        for words, code in _steps(part.polars):
            cells += [*([_words(words)] if words else []), *_code(code)]
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}  # fmt: skip
    return json.dumps({"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1)  # fmt: skip


def has_script(part: AnswerPart) -> bool:
    return _START.search(part.polars) is not None


def _opening(parts: Sequence[AnswerPart]) -> str:
    files = dict.fromkeys(name for part in parts for name in _FILE.findall(part.polars))
    named = "\n".join(f"- `{name}`" for name in files)
    return (
        "# The answer, step by step\n\nThis notebook reads the tables as they were loaded, under the names shown, from "
        f"files beside it:\n\n{named}\n\n`python -m qa load FILE --to NAME.parquet` writes one."
    )


def _imports(parts: Sequence[AnswerPart]) -> str:
    """What stands above the first step of each script, once."""
    openings = dict.fromkeys(_split(part.polars)[0] for part in parts)
    return "\n\n".join(_once(list(openings)))


def _once(openings: Sequence[str]) -> Iterator[str]:
    """Openings after each other: `from __future__` may stand only in the first line of the first."""
    future = "from __future__ import annotations"
    if any(text.startswith(future) for text in openings):
        yield future
    for text in openings:
        yield text.removeprefix(future).strip()


def _split(script: str) -> tuple[str, list[str]]:
    """The imports and functions of a script, and the lines of its steps."""
    lines = script.splitlines()
    first = next(number for number, line in enumerate(lines) if _START.match(line))
    return "\n".join(lines[:first]).strip(), lines[first:]


def _steps(script: str) -> Iterator[tuple[str, str]]:
    """(words, code) of each step; the last one shows the table."""
    words, code = "", list[str]()
    for line in _split(script)[1]:
        if line.startswith("# "):
            if code:
                yield words, "\n".join(code)
            words, code = _sentence(line[2:]), []
        elif line == "print(result)":
            code.append("result")
        elif line.startswith("result = ") and line.endswith(".collect()"):
            if code:
                yield words, "\n".join(code)
            words, code = "The rows in their order, under the names of the answer", [line]
        elif line.strip():
            code.append(line)
    if code:
        yield words, "\n".join(code)


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    return [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}]
