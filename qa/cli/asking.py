"""Commands that ask, run, check and show plans."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from qa.cli.arguments import FAILED, OK, add_files, add_json, emit, progress, show_answer, tables_of, text_of
from qa.errors import Issue, LoadError, PlanError, QAError


def json_option(command: argparse.ArgumentParser) -> None:
    add_json(command)


def ask_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    command.add_argument("-q", "--question", required=True)
    model_options(command)
    command.add_argument(
        "--reply", metavar="FILE", help="use a saved model reply instead of calling one; - for standard input"
    )
    add_json(command)


def model_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--planner", choices=["offline", "model"], help="who plans; default: the model when one is set"
    )
    command.add_argument("--model", metavar="NAME", help="LiteLLM model name, provider/model")


def asked_settings(options: argparse.Namespace) -> tuple[Any, str | None]:
    """The settings with the model that was named, and the planner that follows from both."""
    from qa.settings import settings

    own = settings().model_copy(update={"model": options.model}) if options.model else settings()
    return own, options.planner or ("model" if options.model else None)


def ask(options: argparse.Namespace) -> int:
    from qa import pipeline

    own, planner = asked_settings(options)
    saved = text_of(options.reply) if options.reply else None
    tables = tables_of(options)
    answer = pipeline.ask(
        options.question, tables, settings=own, planner=planner, saved_reply=saved, progress=progress(options), semantics=tables.semantics
    )  # fmt: skip
    return show_answer(answer, options.json)


def plan_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    command.add_argument("--plan", required=True, metavar="FILE", help="a reply in JSON; - for standard input")
    add_json(command)


def run_options(command: argparse.ArgumentParser) -> None:
    plan_options(command)
    command.add_argument("--engine", choices=["polars", "duckdb"], default="polars")
    command.add_argument("--notebook", metavar="OUT.ipynb", help="also write the answer as a notebook, a cell a step")


def _written(options: argparse.Namespace) -> dict[str, Any]:
    """The JSON object of the plan file. Raises LoadError, with its place, when it is none."""
    try:
        data = json.loads(text_of(options.plan))
    except json.JSONDecodeError as error:
        place = f"{options.plan}, line {error.lineno}, col {error.colno}"
        raise LoadError(
            Issue("bad_json", place, "The plan is not valid JSON.", "It must be one JSON object and nothing else.")
        ) from None
    except RecursionError:
        raise LoadError(Issue("bad_json", options.plan, "The plan is nested too deeply.", "")) from None
    if not isinstance(data, dict):
        raise LoadError(
            Issue("bad_json", options.plan, "The plan is not a JSON object.", 'Write {"reply": "plan", "parts": […]}.')
        )
    return data


def run(options: argparse.Namespace) -> int:
    from qa import pipeline
    from qa.answer.notebook import notebook

    written = _written(options)
    tables = tables_of(options)
    if options.engine == "duckdb":
        return _run_duckdb(options, written, tables.by_name)
    answer = pipeline.run_plan(written, tables, semantics=tables.semantics, progress=progress(options))
    if options.notebook and answer.status == "answered":
        Path(options.notebook).write_text(notebook(answer.parts), encoding="utf-8")
    return show_answer(answer, options.json)


def _run_duckdb(options: argparse.Namespace, written: dict[str, Any], tables: dict[str, Any]) -> int:
    """The same plan in the second engine alone, for comparing by hand."""
    from qa.answer.cells import json_rows
    from qa.engine.run import checked_plan
    from qa.engine.sql_engine import run_sql, statement
    from qa.plan.functions.aggregates import NoTwin
    from qa.plan.plan import PlanReply, parse_reply
    from qa.settings import settings
    from qa.terminal import show_rows

    most = settings().result_rows
    reply = parse_reply(written)
    if not isinstance(reply, PlanReply):
        raise PlanError(Issue("no_plan", options.plan, f"This reply is no plan but a {reply.reply}.", ""))
    plan = checked_plan(reply, tables, metrics=_metrics(tables))
    parts: list[dict[str, Any]] = []
    for index, part in enumerate(plan.parts):
        try:
            query = statement(plan, index)
        except NoTwin as reason:
            raise PlanError(
                Issue("no_sql", f"parts[{index}]", f"There is no SQL for this plan: {reason}.", "Use --engine polars.")
            ) from None
        frame = run_sql(query, tables, limit=most + 1)
        parts.append({
            "title": part.part.title, "columns": _columns(part), "rows": json_rows(frame.head(most)), "total_rows": min(frame.height, most),
            "truncated": frame.height > most, "sql": query.sql(dialect="duckdb", pretty=True),
        })  # fmt: skip
    if options.json:
        emit({"status": "answered", "engine": "duckdb", "parts": parts})
    else:
        for shown in parts:
            show_rows(shown["columns"], shown["rows"])
    return OK


def _columns(part: Any) -> list[dict[str, Any]]:
    return [{"name": h, "kind": c.kind, "role": c.role} for c, h in zip(part.shown, part.headers, strict=True)]


def _metrics(tables: dict[str, Any]) -> dict[str, str]:
    return {name: formula for table in tables.values() for name, formula in table.profile.metrics.items()}


def check(options: argparse.Namespace) -> int:
    from qa.engine.run import checked_plan
    from qa.plan.plan import PlanReply, parse_reply

    tables = tables_of(options).by_name
    issues: tuple[Issue, ...] = ()
    parts: list[Any] = []
    try:
        reply = parse_reply(_written(options))
        if isinstance(reply, PlanReply):
            plan = checked_plan(reply, tables, metrics=_metrics(tables))
            parts = [{"title": p.part.title, "columns": _columns(p), "notes": list(p.notes)} for p in plan.parts]
    except QAError as error:
        issues = error.issues
    if options.json:
        emit({"ok": not issues, "issues": [issue.as_dict() for issue in issues], "parts": parts})
    else:
        for issue in issues:
            print(issue)
        print("The plan fits the tables." if not issues else f"{len(issues)} issue{'s' * (len(issues) > 1)}.")
    return FAILED if issues else OK


def sql_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    command.add_argument("--sql", required=True, help="a SELECT over the files' tables; - for standard input")
    command.add_argument("--dialect", default="sqlite", help="the SQL dialect, as sqlglot names it")
    command.add_argument("--run", action="store_true", help="run the plan instead of printing it")
    add_json(command)


def from_sql(options: argparse.Namespace) -> int:
    from qa import pipeline
    from qa.plan.from_sql import translate

    tables = tables_of(options)
    sql = text_of("-") if options.sql == "-" else options.sql
    reply = translate(sql, tables.by_name, options.dialect)
    if options.run:
        return show_answer(pipeline.run_plan(reply, tables, question=sql, semantics=tables.semantics), options.json)
    emit(reply)
    return OK


def schema(options: argparse.Namespace) -> int:
    from qa.plan.plan import reply_schema

    emit(reply_schema())
    return OK


def prompt_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    command.add_argument("-q", "--question", required=True)
    command.add_argument(
        "--privacy", choices=["names", "profile", "samples"], help="how much of a table may leave; default: as set"
    )
    add_json(command)


def prompt(options: argparse.Namespace) -> int:
    from qa.data.semantics import send_rules
    from qa.planner import payload
    from qa.settings import settings

    tables = tables_of(options)
    rules = {
        key: rule
        for name, known in tables.semantics.items()
        for key, rule in send_rules(tables.named(name), known).items()
    }
    built = payload.build(options.question, tables, privacy=options.privacy or settings().privacy, send_rules=rules)
    if options.json:
        emit(built.as_dict())
    else:
        for message in built.messages:
            print(f"--- {message['role']}\n{message['content']}")
    return OK


def reference(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from qa.plan import reference as language

    if options.json:
        emit({"entries": [asdict(entry) for entry in language.reference()]})
    else:
        print(language.markdown())
    return OK
