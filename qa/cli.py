"""The terminal: every command, its options, and the one line that says what went wrong."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qa.errors import Issue, LoadError, QAError

if TYPE_CHECKING:
    from qa.answer.answer import Answer
    from qa.data.options import ReadOptions
    from qa.data.table import Table

OK, FAILED, USAGE = 0, 1, 2
"""Exit codes: done; asked but not answered (declined, question back, failed); a usage or file error."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Results go to stdout, progress and errors to stderr."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.command_door(options)
        return code
    except QAError as error:
        for issue in error.issues[:1]:
            print(f"qa: {issue}", file=sys.stderr)
        return USAGE
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        print(f"qa: {error.filename}: {error.strerror}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except KeyboardInterrupt:
        print("qa: stopped", file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The command line, as `python -m qa --help` shows it."""
    top = argparse.ArgumentParser(
        prog="qa", description="Ask questions of your own tables and get answers you can trust."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (build, run, help_text) in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        build(command)
        command.set_defaults(command_door=run)
    return top


# ---- shared options --------------------------------------------------------------------------


def _files(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files", nargs="+", metavar="FILE", help="CSV, Excel, Parquet, JSON, SQLite… each sheet a table"
    )
    _reading(command)


def _reading(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("reading", "what you know about the file; the rest is found from its bytes")
    group.add_argument(
        "--as",
        dest="as_kinds",
        action="append",
        default=[],
        metavar="COLUMN=KIND",
        help="read a column as text, integer, number, date, id…",
    )
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument(
        "--dayfirst", choices=["yes", "no"], help="03/04/2024 is the 3rd of April (yes) or March 4th (no)"
    )
    group.add_argument("--header", type=int, metavar="N", help="row of the header, counted from 1; 0 for none")
    group.add_argument("--sheet", help="only this sheet of a workbook")
    group.add_argument("--delimiter", help="what separates cells")
    group.add_argument("--encoding", help="the file's encoding")
    group.add_argument("--quote", help="the quote character")


def _json_flag(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object")


def read_options(options: argparse.Namespace) -> ReadOptions:
    from qa.data.options import ReadOptions

    kinds = dict(_pair(text) for text in options.as_kinds)
    dayfirst = None if options.dayfirst is None else options.dayfirst == "yes"
    return ReadOptions(
        as_kinds=kinds, decimal=options.decimal, dayfirst=dayfirst, header=options.header, sheet=options.sheet,
        delimiter=options.delimiter, encoding=options.encoding, quote=options.quote,
    )  # fmt: skip


def _pair(text: str) -> tuple[str, str]:
    name, separator, kind = text.rpartition("=")
    if not separator:
        raise LoadError(Issue("usage", "--as", f"{text!r} is not COLUMN=KIND.", "Write --as zip=text."))
    return name, kind


def tables_of(options: argparse.Namespace) -> list[Table]:
    """Every table of the files named, with names that do not collide."""
    from qa.data.read import load
    from qa.settings import settings

    found: list[Table] = []
    for file in options.files:
        if not Path(file).exists():
            raise LoadError(Issue("no_such_file", file, "There is no such file.", ""))
        found += load(file, options=read_options(options), cache=settings().cache)
    return _named_apart(found)


def _named_apart(tables: list[Table]) -> list[Table]:
    seen: set[str] = set()
    for table in tables:
        name, count = table.name, 2
        while name in seen:
            name, count = f"{table.name}_{count}", count + 1
        table.name = name
        seen.add(name)
    return tables


def emit(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1, default=str))


# ---- commands --------------------------------------------------------------------------------


def _ask_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    command.add_argument("-q", "--question", required=True)
    command.add_argument("--planner", choices=["offline", "model"])
    command.add_argument("--model", metavar="NAME", help="LiteLLM model name, provider/model")
    command.add_argument("--reply", metavar="FILE", help="use a saved model reply instead of calling one")
    _json_flag(command)


def _ask(options: argparse.Namespace) -> int:
    from qa import pipeline
    from qa.settings import settings

    own = settings().model_copy(update={"model": options.model}) if options.model else settings()
    planner = options.planner or ("model" if options.model else None)
    saved = Path(options.reply).read_text(encoding="utf-8") if options.reply else None
    answer = pipeline.ask(
        options.question,
        tables_of(options),
        settings=own,
        planner=planner,
        saved_reply=saved,
        progress=_progress(options),
    )
    return _show(answer, options.json)


def _progress(options: argparse.Namespace) -> Callable[..., None] | None:
    if options.json or not sys.stderr.isatty():
        return None

    def told(stage: str, detail: str = "", *_: object) -> None:
        print(f"\r\033[K{stage} {detail}".rstrip(), end="", file=sys.stderr, flush=True)

    return told


def _show(answer: Answer, as_json: bool) -> int:
    from qa.answer.document import document

    if as_json:
        emit(document(answer))
    else:
        from qa.terminal import show

        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        show(answer)
    return OK if answer.status == "answered" else FAILED


def _plan_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    command.add_argument("--plan", required=True, metavar="FILE", help="a reply in JSON; - for standard input")
    _json_flag(command)


def _run_options(command: argparse.ArgumentParser) -> None:
    _plan_options(command)
    command.add_argument("--engine", choices=["polars", "duckdb"], default="polars")


def _plan_text(options: argparse.Namespace) -> str:
    return sys.stdin.read() if options.plan == "-" else Path(options.plan).read_text(encoding="utf-8")


def _run(options: argparse.Namespace) -> int:
    from qa import pipeline
    from qa.plan.plan import parse_reply

    reply = parse_reply(_plan_text(options))
    if options.engine == "duckdb":
        return _run_duckdb(options, reply)
    return _show(
        pipeline.run_plan(reply.model_dump() if reply.reply != "plan" else reply, tables_of(options)), options.json
    )


def _run_duckdb(options: argparse.Namespace, reply: Any) -> int:
    """The same plan in the second engine alone, for comparing by hand."""
    from qa.answer.cells import json_rows
    from qa.engine.run import checked_plan
    from qa.engine.sql_engine import run_sql, statement
    from qa.settings import settings

    tables = {table.name: table for table in tables_of(options)}
    plan = checked_plan(reply, tables)
    parts: list[dict[str, Any]] = []
    for index, part in enumerate(plan.parts):
        frame = run_sql(statement(plan, index), tables, limit=settings().result_rows)
        columns = [{"name": h, "kind": c.kind, "role": c.role} for c, h in zip(part.shown, part.headers, strict=True)]
        parts.append(
            {"title": part.part.title, "columns": columns, "rows": json_rows(frame), "total_rows": frame.height}
        )
    if options.json:
        emit({"status": "answered", "engine": "duckdb", "parts": parts})
    else:
        from qa.terminal import show_rows

        for part_ in parts:
            show_rows(part_["columns"], part_["rows"])
    return OK


def _check(options: argparse.Namespace) -> int:
    from qa.engine.run import checked_plan
    from qa.plan.plan import PlanReply, parse_reply

    tables = {table.name: table for table in tables_of(options)}
    issues: tuple[Issue, ...] = ()
    parts: list[Any] = []
    try:
        reply = parse_reply(_plan_text(options))
        if isinstance(reply, PlanReply):
            plan = checked_plan(reply, tables)
            parts = [
                {
                    "title": p.part.title,
                    "columns": [
                        {"name": h, "kind": c.kind, "role": c.role} for c, h in zip(p.shown, p.headers, strict=True)
                    ],
                    "notes": list(p.notes),
                }
                for p in plan.parts
            ]
    except QAError as error:
        issues = error.issues
    if options.json:
        emit({"ok": not issues, "issues": [issue.as_dict() for issue in issues], "parts": parts})
    else:
        for issue in issues:
            print(issue)
        print("The plan fits the tables." if not issues else f"{len(issues)} issues.")
    return FAILED if issues else OK


def _sql_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    command.add_argument("--sql", required=True, help="a SELECT over the files' tables; - for standard input")
    command.add_argument("--dialect", default="sqlite", help="the SQL dialect, as sqlglot names it")
    command.add_argument("--run", action="store_true", help="run the plan instead of printing it")
    _json_flag(command)


def _from_sql(options: argparse.Namespace) -> int:
    from qa import pipeline
    from qa.plan.from_sql import translate

    tables = tables_of(options)
    sql = sys.stdin.read() if options.sql == "-" else options.sql
    reply = translate(sql, {table.name: table for table in tables}, options.dialect)
    if options.run:
        return _show(pipeline.run_plan(reply, tables, question=sql), options.json)
    emit(reply)
    return OK


def _profile_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    _json_flag(command)


def _profile(options: argparse.Namespace) -> int:
    tables = tables_of(options)
    if options.json:
        shown = [
            {"profile": t.profile.model_dump(mode="json"), "report": t.report.model_dump(mode="json")} for t in tables
        ]
        emit(shown[0] if len(shown) == 1 else {"tables": shown})
    else:
        from qa.terminal import show_profile

        for table in tables:
            show_profile(table)
    return OK


def _load_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    command.add_argument(
        "--to",
        required=True,
        metavar="OUT",
        help="OUT.csv or OUT.parquet; with several files a folder ending in /, for the cells as read",
    )
    command.add_argument("--report", metavar="OUT.json", help="write the load report")


def _load(options: argparse.Namespace) -> int:
    if options.to.endswith("/") or Path(options.to).is_dir():
        return _convert_all(options)
    tables = tables_of(options)
    if len(tables) != 1:
        raise LoadError(
            Issue(
                "several_tables",
                options.files[0],
                f"There are {len(tables)} tables: {', '.join(t.name for t in tables)}.",
                "Choose one with --sheet, or load to a folder/.",
            )
        )
    table, out = tables[0], Path(options.to)
    match out.suffix.lower():
        case ".parquet":
            table.frame.write_parquet(out)
        case ".csv":
            table.frame.write_csv(out)
        case _:
            raise LoadError(Issue("usage", "--to", f"{out.name!r} ends in neither .csv nor .parquet.", ""))
    if options.report:
        Path(options.report).write_text(table.report.model_dump_json(indent=1), encoding="utf-8")
    return OK


def _convert_all(options: argparse.Namespace) -> int:
    """Writes the cells of each file as read; a file that cannot be read is named and the others go on."""
    from qa.data.sniff import read_grid, write_cells

    folder = Path(options.to)
    folder.mkdir(parents=True, exist_ok=True)
    reading, failed = read_options(options), 0
    for file in options.files:
        path = Path(file)
        try:
            grid = read_grid(
                path, delimiter=reading.delimiter, encoding=reading.encoding, quote=reading.quote, header=reading.header
            )
            write_cells(grid, folder / f"{path.name}_converted.csv")
        except QAError as error:
            failed += 1
            print(f"qa: {path.name}: {error}", file=sys.stderr)
    return USAGE if failed else OK


def _nothing(command: argparse.ArgumentParser) -> None:
    return None


def _schema(options: argparse.Namespace) -> int:
    from qa.plan.plan import reply_schema

    emit(reply_schema())
    return OK


def _prompt_options(command: argparse.ArgumentParser) -> None:
    _files(command)
    command.add_argument("-q", "--question", required=True)
    command.add_argument("--privacy", choices=["names", "profile", "samples"])
    _json_flag(command)


def _prompt(options: argparse.Namespace) -> int:
    from qa.planner import payload
    from qa.settings import settings

    built = payload.build(options.question, tables_of(options), privacy=options.privacy or settings().privacy)
    if options.json:
        emit(built.as_dict())
    else:
        for message in built.messages:
            print(f"--- {message['role']}\n{message['content']}")
    return OK


def _audit_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=["export", "verify"])
    command.add_argument("--out", metavar="FILE", help="where export writes; default standard output")


def _audit(options: argparse.Namespace) -> int:
    from qa.audit import Audit
    from qa.settings import settings

    log = Audit(settings().audit)
    if options.action == "verify":
        findings = list(log.verify())
        for finding in findings:
            print(finding)
        if not findings:
            print("Every record is as it was written.")
        return FAILED if findings else OK
    if options.out:
        with Path(options.out).open("w", encoding="utf-8") as file:
            log.export(file)
    else:
        log.export(sys.stdout)
    return OK


def _eval_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("questions", metavar="QUESTIONS.jsonl")
    command.add_argument("--planner", choices=["offline", "model", "sql"])
    command.add_argument("--replies", metavar="FILE", help="score recorded replies")
    command.add_argument("--export-prompts", metavar="FILE", help="write what would be sent, and ask nothing")
    command.add_argument("--out", metavar="PREDS.jsonl")
    command.add_argument("--report", metavar="FILE.json")
    command.add_argument("--chaos", action="store_true", help="break every first reply, to see how many recover")
    command.add_argument("--limit", type=int)


def _eval(options: argparse.Namespace) -> int:
    from qa import evaluate

    def path(text: str | None) -> Path | None:
        return Path(text) if text else None

    report = evaluate.run(
        Path(options.questions), out=path(options.out), planner=options.planner, replies=path(options.replies), export_prompts=path(options.export_prompts),
        chaos=options.chaos, report=path(options.report), limit=options.limit, progress=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    print(report)
    return OK


def _reference(options: argparse.Namespace) -> int:
    from qa.plan.reference import markdown

    print(markdown())
    return OK


Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int], str]

COMMANDS: dict[str, Command] = {
    "ask": (_ask_options, _ask, "ask a question of files"),
    "run": (_run_options, _run, "run a plan on files"),
    "check": (_plan_options, _check, "check a plan against files without running it"),
    "from-sql": (_sql_options, _from_sql, "turn a SELECT into a plan"),
    "profile": (_profile_options, _profile, "what is in the columns of files, and how they were read"),
    "load": (_load_options, _load, "read files and write clean copies"),
    "schema": (_nothing, _schema, "the JSON schema of a reply"),
    "prompt": (_prompt_options, _prompt, "exactly what would be sent to a model"),
    "reference": (_nothing, _reference, "every step and function of the plan language"),
    "audit": (_audit_options, _audit, "export or verify the audit record"),
    "eval": (_eval_options, _eval, "score a set of questions"),
}
"""Each command: its options, what it does, its one-line help."""
