"""Writes the pages of `docs/` that follow from code: `python -m tests.docs.pages`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qa.plan.reference import reference
from tests.docs.saying import Line
from tests.docs.yardstick import MBQL, MISSED, OTHERS

DOCS = Path(__file__).parents[2] / "docs"
_MARK = "<!-- from here on written by python -m tests.docs.pages -->"


def yardstick() -> str:
    """The whole page on what other languages have."""
    count = {says: sum(line.says == says for line in every()) for says in ("has", "another way", "leaves out")}
    lines = [
        "# What other plan languages have",
        "",
        "Line by line through the languages that do this job: this language **has** it, says it **another way**, or "
        f"**leaves it out** and why. {len(every())} lines: {count['has']} has, {count['another way']} another way, "
        f"{count['leaves out']} leaves out. Formulas and steps on this page are run by a test on both engines; the page is "
        "written from the same table.",
        "",
        "## What an analyst would miss",
        "",
        *_table(MISSED),
        "",
        "## MBQL 5",
        "",
        *_table(MBQL),
    ]
    for peer, rows in OTHERS.items():
        lines += ["", f"## {peer}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def every() -> list[Line]:
    return [*MISSED, *MBQL, *(line for rows in OTHERS.values() for line in rows)]


def _table(rows: Sequence[Line]) -> list[str]:
    return ["| they have | here | how |", "|---|---|---|", *(_row(line) for line in rows)]


def _row(line: Line) -> str:
    how = ": ".join(part for part in (line.how, line.plan.shown if line.plan else "") if part)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (line.item, line.says, how)) + " |"


def language() -> str:
    """The page on the language: what is written by hand, then every step and function as the code has it."""
    written = (DOCS / "language.md").read_text(encoding="utf-8").split(_MARK)[0].rstrip()
    return f"{written}\n\n{_MARK}\n\n" + "\n".join(_operations()) + "\n"


def _operations() -> list[str]:
    lines = ["## Steps", "", "| step | what it does | fields |", "|---|---|---|"]
    entries = reference()
    for entry in entries:
        if entry.family == "step":
            fields = ", ".join(f"`{f.name}`{'' if f.required else '?'}" for f in entry.fields)
            lines.append(_cells(f"`{entry.name}`", _first(entry.doc), fields))
    for family, title in (("row", "Row functions"), ("aggregate", "Aggregates"), ("window", "Window functions")):
        lines += ["", f"## {title}", "", "| function | gives | missing values |", "|---|---|---|"]
        rows = [entry for entry in entries if entry.family == family]
        lines += [_cells(f"`{entry.signature}`", entry.doc, entry.missing or "") for entry in rows]
    return lines


def _first(doc: str) -> str:
    return " ".join(doc.split()).split(". ")[0].rstrip(".") + "."


def _cells(*texts: str) -> str:
    return "| " + " | ".join(" ".join(text.split()).replace("|", "\\|") for text in texts) + " |"


PAGES = {"yardstick.md": yardstick, "language.md": language}
"""Each page with what writes it."""


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
