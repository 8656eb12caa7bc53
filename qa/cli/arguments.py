"""What commands share: the files they read, how those are read, and how results leave."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qa.errors import Issue, LoadError

if TYPE_CHECKING:
    from qa.answer.answer import Answer
    from qa.data.gather import Tables
    from qa.data.options import ReadOptions

OK, FAILED, USAGE = 0, 1, 2
"""Exit codes: done; asked but not answered (declined, question back, failed); a usage or file error."""


def add_files(command: argparse.ArgumentParser, *, needed: bool = False) -> None:
    """The files of a command; without one, the places that QA_DATA names."""
    words = "CSV, Excel, Parquet, JSON, SQLite… each sheet a table; a folder stands for its files"
    command.add_argument(
        "files", nargs="+" if needed else "*", metavar="FILE", help=words if needed else f"{words}; none: the places of QA_DATA",
    )  # fmt: skip
    add_reading(command)


def add_reading(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("reading", "what you know about the file; the rest is found from its bytes")
    group.add_argument(
        "--as", dest="as_kinds", action="append", default=[], metavar="COLUMN=KIND", help="read a column as text, integer, number, date, id…",
    )  # fmt: skip
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument(
        "--dayfirst", choices=["yes", "no"], help="03/04/2024 is the 3rd of April (yes) or March 4th (no)"
    )
    group.add_argument("--header", type=int, metavar="N", help="row of the header, counted from 1; 0 for none")
    group.add_argument("--sheet", help="only this sheet of a workbook")
    group.add_argument("--table", type=int, metavar="N", help="the n-th of several tables in one sheet or text file")
    group.add_argument(
        "--missing", action="append", default=[], metavar="[COLUMN=]WORD", help="a cell's text that means missing, in one column or in all",
    )  # fmt: skip
    group.add_argument(
        "--totals",
        choices=["drop", "keep", "all"],
        default="drop",
        help="rows that sum up others: left out, data, or left out wherever one is called total",
    )
    group.add_argument(
        "--hidden", choices=["drop", "keep"], default="keep", help="hidden rows of a sheet: left out, or data"
    )
    group.add_argument(
        "--variants", choices=["yes", "no"], default="yes", help="read spellings that surely mean the same as one"
    )
    group.add_argument("--member", metavar="NAME", help="which file of a zip")
    group.add_argument("--delimiter", help="what separates cells")
    group.add_argument("--encoding", help="the file's encoding")
    group.add_argument("--quote", help="the quote character")


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object")


def read_options(options: argparse.Namespace) -> ReadOptions:
    from qa.data.options import ReadOptions
    from qa.data.reversal import pair

    kinds = dict(_pair(text) for text in options.as_kinds)
    missing: dict[str, tuple[str, ...]] = {}
    for text in options.missing:
        name, word = pair(text)
        missing[name] = (*missing.get(name, ()), word)
    dayfirst = None if options.dayfirst is None else options.dayfirst == "yes"
    return ReadOptions(
        as_kinds=kinds, decimal=options.decimal, dayfirst=dayfirst, header=options.header, sheet=options.sheet,
        delimiter=_spelled(options.delimiter), encoding=options.encoding, quote=options.quote, table=options.table, member=options.member,
        missing=missing, totals=options.totals, hidden=options.hidden, variants=options.variants == "yes",
    )  # fmt: skip


def _spelled(delimiter: str | None) -> str | None:
    """A delimiter as it is meant when a shell cannot hold it well: `\\t`, `tab`."""
    return {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter or "", delimiter)


def _pair(text: str) -> tuple[str, str]:
    name, separator, kind = text.rpartition("=")
    if not separator:
        raise LoadError(Issue("usage", "--as", f"{text!r} is not COLUMN=KIND.", "Write --as zip=text."))
    return name, kind


def places_of(options: argparse.Namespace) -> list[str]:
    """The files that were named, else the places of the settings. Raises LoadError when there are none."""
    from qa.settings import settings

    places = list(options.files) or list(settings().data)
    if not places:
        raise LoadError(Issue("usage", "", "No file is named.", "Name files or folders, or set QA_DATA."))
    return places


def tables_of(options: argparse.Namespace) -> Tables:
    """Every table of the places named, with their semantic files; what those and a folder's files lack goes to stderr."""
    from qa.data.gather import gather
    from qa.settings import settings

    found = gather(places_of(options), options=read_options(options), cache=settings().cache)
    for text in (*map(str, found.problems), *found.findings):
        print(f"note: {text}", file=sys.stderr)
    if options.sheet and found.tables and not any(table.report.sheet for table in found):
        raise LoadError(
            Issue(
                "no_such_sheet",
                "--sheet",
                f"There is no sheet {options.sheet!r}: these files have no sheets.",
                "Leave --sheet away.",
            )
        )
    if not found.tables:
        raise LoadError(Issue("no_tables", "", "There is no table in these places.", "Name files that hold tables."))
    return found


def text_of(path: str) -> str:
    """The text of a file, or of standard input for `-`. Raises LoadError when it is not UTF-8."""
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise LoadError(Issue("not_text", path, "This is not UTF-8 text.", "Save it as UTF-8.")) from None


def emit(value: Any) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def progress(options: argparse.Namespace) -> Callable[..., None] | None:
    """What tells a person at a terminal how far a question is, on standard error; None where nobody watches."""
    if not sys.stderr.isatty():
        return None

    def told(stage: str, detail: str = "", *_: object) -> None:
        print(f"\r\033[K{stage} {detail}".rstrip(), end="", file=sys.stderr, flush=True)

    return told


def show_answer(answer: Answer, as_json: bool) -> int:
    """The answer on standard output, and the exit code that it stands for."""
    from qa.answer.document import document

    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    if as_json:
        emit(document(answer))
    else:
        from qa.terminal import show

        show(answer)
    return OK if answer.status == "answered" else FAILED
