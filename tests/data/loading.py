"""Small files and what they are read to, for the tests of the data room."""

from __future__ import annotations

from pathlib import Path

from qa.data.read import ReadOptions, load
from qa.data.table import Table

SHARED = Path(__file__).parents[2] / ".." / "shared"


def column(tmp_path: Path, cells: list[str], *, header: str = "x", options: ReadOptions | None = None) -> Table:
    """A table of a key and one column with these cells, read from a CSV."""
    quoted = [f'"{cell.replace(chr(34), chr(34) * 2)}"' if any(c in cell for c in ',"\n;') else cell for cell in cells]
    return text(
        tmp_path,
        "\n".join([f"key,{header}", *(f"k{index},{cell}" for index, cell in enumerate(quoted))]) + "\n",
        options=options,
    )


def text(tmp_path: Path, content: str, *, name: str = "t.csv", options: ReadOptions | None = None) -> Table:
    """The one table of a file with this text."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    [table] = load(path, options=options or ReadOptions())
    return table


def cells(table: Table, name: str = "x") -> list[object]:
    return table.frame[name].to_list()


def notes(table: Table) -> set[str]:
    return {note.code for note in table.report.assumptions}


def said(table: Table, code: str) -> str:
    return next(note.message for note in table.report.assumptions if note.code == code)
