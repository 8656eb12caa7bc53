"""Commands that write: clean copies of files, and first semantic files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qa.cli.arguments import OK, USAGE, add_files, add_json, emit, read_options, tables_of
from qa.errors import Issue, LimitExceeded, LoadError, ModelUnavailable, PlanError, QAError
from qa.settings import Settings, settings

if TYPE_CHECKING:
    from qa.data.semantics import Semantics
    from qa.data.table import Table


def load_options(command: argparse.ArgumentParser) -> None:
    add_files(command, needed=True)
    command.add_argument(
        "--to", required=True, metavar="OUT", help="OUT.csv or OUT.parquet; with several files a folder ending in /, for the cells as read",
    )  # fmt: skip
    command.add_argument("--report", metavar="OUT.json", help="write the load report")
    add_json(command)


def load(options: argparse.Namespace) -> int:
    if options.to.endswith("/") or Path(options.to).is_dir():
        return _convert_all(options)
    out = Path(options.to)
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise LoadError(
            Issue(
                "usage",
                "--to",
                f"{out.name!r} ends in neither .csv nor .parquet.",
                "Name OUT.csv, OUT.parquet or a folder/.",
            )
        )
    tables = tables_of(options)
    if len(tables) != 1:
        names = ", ".join(table.name for table in tables)
        raise LoadError(
            Issue(
                "several_tables",
                options.files[0],
                f"There are {len(tables)} tables: {names}.",
                "Choose one with --sheet, or load to a folder/.",
            )
        )
    table = tables[0]
    if out.suffix.lower() == ".parquet":
        table.frame.write_parquet(out)
    else:
        table.frame.write_csv(out)
    if options.report:
        Path(options.report).write_text(table.report.model_dump_json(indent=1), encoding="utf-8")
    if options.json:
        emit(
            {
                "out": str(out),
                "rows": table.rows,
                "columns": len(table.columns),
                "report": table.report.model_dump(mode="json"),
            }
        )
    return OK


def _convert_all(options: argparse.Namespace) -> int:
    """Writes the cells of each file as read; a file that cannot be read is named and the others go on."""
    from qa.data.sniff import read_grid, write_cells

    folder = Path(options.to)
    folder.mkdir(parents=True, exist_ok=True)
    reading = read_options(options)
    told = []
    for file in options.files:
        path, out = Path(file), folder / f"{Path(file).name}_converted.csv"
        try:
            grid = read_grid(
                path, delimiter=reading.delimiter, encoding=reading.encoding, quote=reading.quote, header=reading.header
            )
            write_cells(grid, out)
            told.append({"file": file, "out": str(out), "problem": None})
        except (QAError, OSError) as error:
            problem = str(error.issues[0]) if isinstance(error, QAError) else str(error.strerror or error)
            told.append({"file": file, "out": None, "problem": problem})
            print(f"qa: {path.name}: {problem}", file=sys.stderr)
    if options.json:
        emit({"files": told})
    return USAGE if any(one["problem"] for one in told) else OK


def init_options(command: argparse.ArgumentParser) -> None:
    add_files(command, needed=True)
    command.add_argument("--no-llm", action="store_true", help="by rules alone; also what happens when no model is set")
    command.add_argument("--out", metavar="FILE", help="where to write, - for standard output; default beside the data")
    command.add_argument("--force", action="store_true", help="write over a semantic file that is there")
    add_json(command)


def init_config(options: argparse.Namespace) -> int:
    """Drafts a semantic file for each table: roles, units, other words; a model, where one is set, adds descriptions."""
    from qa.data.semantics import dump_semantics

    tables = tables_of(options)
    if options.out and options.out != "-" and len(tables) > 1:
        raise LoadError(
            Issue(
                "several_tables",
                "--out",
                f"There are {len(tables)} tables.",
                "Leave --out away to write one file beside each, or choose --sheet.",
            )
        )
    drafted = _by_rules if options.no_llm or settings().model is None else _by_model(settings())
    if drafted is _by_rules and not options.no_llm:
        print("note: drafted by rules, as no model is set; descriptions are yours to write", file=sys.stderr)
    told = []
    for table in tables:
        text = dump_semantics(drafted(table))
        place = Path(options.out) if options.out else tables.semantic_file(table.name)
        if options.out == "-":
            print(text, end="") if not options.json else None
        else:
            if place.exists() and not options.force:
                raise LoadError(
                    Issue(
                        "exists",
                        str(place),
                        "This semantic file is there already.",
                        "Add --force to write over it, or --out FILE.",
                    )
                )
            place.write_text(text, encoding="utf-8")
            print(f"wrote {place}", file=sys.stderr)
        told.append({"table": table.name, "out": None if options.out == "-" else str(place), "yaml": text})
    if options.json:
        emit({"tables": told})
    return OK


def _by_rules(table: Table) -> Semantics:
    from qa.data.draft import draft

    return draft(table)


def _by_model(own: Settings) -> Callable[[Table], Semantics]:
    """Drafts completed by the model of the settings, one call a table; by rules, and told, where the call fails."""
    from qa.planner import model
    from qa.planner.budget import Budget
    from qa.planner.describe import described

    budget, name = Budget.of(own), own.model or ""

    def drafted(table: Table) -> Semantics:
        print(f"asking {name} about {table.name}; it sees what the level {own.privacy} lets out", file=sys.stderr)
        try:
            return described(
                table, model=name, privacy=own.privacy, budget=budget, call=lambda request: model.call(request, own)
            )
        except (ModelUnavailable, LimitExceeded, PlanError) as error:
            print(f"note: {table.name} was drafted by rules: {error}", file=sys.stderr)
            return _by_rules(table)

    return drafted
