"""Answers, tables and profiles as a terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from qa.answer.answer import Answer, AnswerPart
from qa.answer.cells import json_rows
from qa.data.table import ColumnProfile, Table

if TYPE_CHECKING:
    from qa.data.gather import Tables
    from qa.data.relations import Relation
    from qa.data.search import Hit

ROWS = 20
BARS = "▁▂▃▄▅▆▇█"


def show(answer: Answer, console: Console | None = None) -> None:
    """The answer as a person reads it: sentence, table, then what was assumed and checked."""
    out = console or Console()
    match answer.status:
        case "answered":
            for part in answer.parts:
                _show_part(out, part)
        case "clarify":
            out.print(escape(answer.question_back or ""))
            for number, option in enumerate(answer.options, 1):
                out.print(f"  {number}. {escape(option.label)}")
        case "declined":
            out.print(escape(answer.reason or "This question is declined."))
            if answer.missing:
                out.print(f"Not understood: {escape(', '.join(answer.missing))}")
            if answer.nearest:
                out.print(f"Try: {escape(answer.nearest)}")
        case _:
            out.print(escape(answer.reason or "No answer."))


def _show_part(out: Console, part: AnswerPart) -> None:
    if part.title:
        out.print(f"[bold]{escape(part.title)}[/bold]")
    for sentence in part.sentences:
        out.print(escape(sentence))
    if part.table.height > 1 or part.table.width > 1:
        show_rows([column.model_dump() for column in part.columns], json_rows(part.table.head(ROWS)), out)
        if part.total_rows > ROWS:
            out.print(f"[dim]{part.total_rows - ROWS:,} more rows[/dim]")
    for mark, texts in (("assumed", part.assumptions), ("warning", part.warnings)):
        for text in texts:
            out.print(f"[dim]{mark}:[/dim] {escape(text)}")
    for check in part.checks:
        out.print(f"[dim]{'✓' if check.passed else '·' if check.passed is None else '✗'} {escape(check.detail)}[/dim]")


def show_rows(columns: Sequence[dict[str, Any]], rows: Sequence[Sequence[Any]], console: Console | None = None) -> None:
    """A small table; numbers to the right, missing as an empty cell."""
    out, grid = console or Console(), Grid(show_edge=False, pad_edge=False)
    for column in columns:
        numeric = column["kind"] in ("integer", "number", "decimal")
        grid.add_column(escape(str(column["name"])), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(_cell(cell) for cell in row))
    out.print(grid)


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.6g}" if abs(cell) < 1e-4 or abs(cell) >= 1e15 else f"{cell:,.4f}".rstrip("0").rstrip(".")
    return escape(str(cell))


def show_profile(table: Table, console: Console | None = None) -> None:
    """One line a column: kind, missing, distinct, range, and a sketch of its distribution."""
    out = console or Console()
    out.print(f"[bold]{escape(table.name)}[/bold]  {table.rows:,} rows × {len(table.columns)} columns")
    grid = Grid(show_edge=False, pad_edge=False)
    for header in ("column", "kind", "role", "missing", "distinct", "low", "high", "shape"):
        grid.add_column(header, justify="right" if header in ("missing", "distinct") else "left", overflow="fold")
    for column in table.profile.columns:
        grid.add_row(
            escape(column.name), column.kind, column.role or "", f"{column.missing:,}", f"{column.distinct:,}", _cell(column.low), _cell(column.high), _sketch(column),
        )  # fmt: skip
    out.print(grid)
    for assumption in table.report.assumptions:
        undo = f" [dim]({escape(assumption.reversal)})[/dim]" if assumption.reversal else ""
        out.print(f"[dim]assumed:[/dim] {escape(assumption.message)}{undo}")


def _sketch(column: ColumnProfile) -> str:
    if column.histogram:
        return sparkline([count for _, _, count in column.histogram])
    return escape(", ".join(str(value) for value, _ in column.top[:3]))


def sparkline(counts: Sequence[int]) -> str:
    """Counts as a row of bars."""
    top = max(counts, default=0)
    return "".join(BARS[min(len(BARS) - 1, count * len(BARS) // (top + 1))] for count in counts) if top else ""


def show_tables(tables: Tables, console: Console | None = None) -> None:
    """One line a table: rows, columns by name, and the file it came from."""
    out, grid = console or Console(), Grid(show_edge=False, pad_edge=False)
    for header in ("table", "rows", "columns", "file"):
        grid.add_column(header, justify="right" if header == "rows" else "left", overflow="fold")
    for table in tables:
        file = tables.files.get(table.name)
        names = ", ".join(column.name for column in table.columns[:12])
        more = f" and {len(table.columns) - 12} more" if len(table.columns) > 12 else ""
        grid.add_row(escape(table.name), f"{table.rows:,}", escape(names + more), escape(file.name if file else ""))
    out.print(grid)


def show_relationships(found: Sequence[Relation], console: Console | None = None) -> None:
    """One line a link with the share of rows that match, then its evidence."""
    out = console or Console()
    if not found:
        out.print("No relationship was found.")
    for relation in found:
        out.print(escape(str(relation)), soft_wrap=True)
        counts = [
            f"{relation.orphans:,} rows without a match" if relation.orphans else "",
            f"{relation.missing:,} without a value" if relation.missing else "",
        ]
        says = [
            relation.status if relation.status != "found" else "",
            *relation.evidence,
            *counts,
            f"{relation.unused:,} keys not used" if relation.unused else "",
        ]
        line = escape("; ".join(text for text in says if text))
        out.print(f"[dim]  {line}[/dim]", soft_wrap=True)


def show_hits(hits: Sequence[Hit], console: Console | None = None) -> None:
    """One line a hit, best first."""
    out = console or Console()
    if not hits:
        out.print("Nothing fits these words.")
        return
    grid = Grid(show_edge=False, pad_edge=False)
    for header in ("what", "table", "column", "value", "found by"):
        grid.add_column(header, overflow="fold")
    for hit in hits:
        grid.add_row(hit.what, escape(hit.table), escape(hit.column or ""), escape(hit.value or ""), escape(hit.why))
    out.print(grid)
