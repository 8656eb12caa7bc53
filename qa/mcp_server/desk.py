"""The tables, limits and record behind the assistant's door: what it may see, and how much of it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qa.answer.answer import Answer, Status
from qa.answer.document import document
from qa.audit import Audit
from qa.data.gather import Shelf, Tables
from qa.data.table import LoadReport, Table
from qa.engine.pool import Pool, shared
from qa.engine.run import checked_plan
from qa.errors import Issue, LimitExceeded, PlanError
from qa.mcp_server.outputs import Result
from qa.plan.check import CheckedPlan
from qa.plan.plan import Let, Part, PlanReply, as_json, parse_reply
from qa.settings import Settings

ROWS_MOST = 1_000
"""Rows of a result that may be asked for."""
ROWS_UNASKED = 200
CHARACTERS_MOST = 200_000
KEPT_HOME = frozenset({"nothing", "names"})
"""Send rules under which no plan of an assistant may touch a column."""


def told(issue: Issue) -> str:
    """An issue as the assistant reads it: `[code] message Hint: …`."""
    place = f"{issue.where}: " if issue.where else ""
    return f"[{issue.code}] {place}{issue.message}{f' Hint: {issue.hint}' if issue.hint else ''}"


class Desk:
    """The tables, the limits and the record of one server."""

    def __init__(self, shelf: Shelf, settings: Settings, pool: Pool | None = None) -> None:
        self.shelf, self.settings = shelf, settings
        self.pool = pool or shared()
        self.session = f"mcp-{uuid.uuid4().hex[:12]}"
        self.log = Audit(settings.audit)

    def all(self) -> Tables:
        return self.shelf.tables()

    def open(self) -> Tables:
        """The tables without the columns that are kept at home: no plan can name those."""
        found = self.all()
        return replace(found, tables=tuple(without_kept(table) for table in found))

    def named(self, tables: Tables, name: str) -> Table:
        if any(mark in name for mark in ("/", "\\", "..")) or name.startswith("~"):
            hint = "Call list_tables and use a name from it."
            raise PlanError(
                Issue("path_denied", "table", "Tables are named; a path or an address is never opened.", hint)
            )
        return tables.named(name)

    def record(self, tool: str, arguments: Mapping[str, Any], issues: Sequence[Issue] = ()) -> None:
        """One record of a call that asked no question; those record themselves."""
        said = json.dumps(dict(arguments), ensure_ascii=False, default=str)[:2_000]
        status: Status = "failed" if issues else "answered"
        answer = Answer(
            status=status,
            question=f"{tool} {said}",
            planner="mcp",
            issues=tuple(issues),
            reason=told(issues[0]) if issues else None,
        )
        self.log.record(
            answer, self.session, secrets=[key for key in (self.settings.api_key, self.settings.mcp_token) if key]
        )

    def checked(self, tables: Tables, plan: Mapping[str, Any] | str) -> CheckedPlan:
        """The plan checked on the data. Raises PlanError; a reply that is no plan is one too."""
        reply = parse_reply(plan)
        if not isinstance(reply, PlanReply):
            raise PlanError(
                Issue(
                    "no_plan",
                    "reply",
                    f"This reply is no plan but a {reply.reply}.",
                    "Send {reply: plan, parts: [...]}.",
                )
            )
        self.pool.check(reply, tables.by_name, metrics=metrics_of(tables))
        found = checked_plan(reply, tables.by_name, metrics=metrics_of(tables))
        self.raise_if_shown(reply, tables, found)
        return found

    def raise_if_shown(self, reply: PlanReply, tables: Tables, plan: CheckedPlan | None = None) -> None:
        """Raises PlanError when a plan shows cells of a column of which only figures may be told."""
        closed = {(table.name, table.column(name).id): name for table in tables for name in cells_kept(table)}
        if not closed:
            return
        hint = "Use it in a where or inside an aggregate, or leave it out."
        for where, step in _steps(reply):
            # A cell could leave through any other formula, so the column is let into conditions and aggregates alone.
            text = json.dumps(
                {key: value for key, value in step.items() if key not in ("metrics", "where")}, ensure_ascii=False
            ).casefold()
            for name in closed.values():
                if name.casefold() in text:
                    raise PlanError(
                        Issue(
                            "kept_home",
                            where,
                            f"The cells of {name!r} are kept at home; only figures of it may be told.",
                            hint,
                        )
                    )
        for index, part in enumerate((plan or checked_plan(reply, tables.by_name, metrics=metrics_of(tables))).parts):
            for column in part.shown:
                if column.origin in closed:
                    raise PlanError(
                        Issue(
                            "kept_home",
                            f"parts[{index}]",
                            f"The cells of {column.name!r} are kept at home; only figures of it may be told.",
                            hint,
                        )
                    )

    def result(self, answer: Answer, rows: int | None) -> Result:
        """The answer under the caps. Raises its issues when it failed, and a LimitExceeded when it is too long."""
        if answer.status == "failed":
            raise PlanError(answer.issues or Issue("failed", "", answer.reason or "No answer."))
        shown = document(answer)
        for part in shown["parts"]:
            _capped(part, rows)
        text = len(json.dumps(shown["parts"], default=str))
        if text > CHARACTERS_MOST:
            message = f"The result would be {text:,} characters; at most {CHARACTERS_MOST:,} are handed out."
            raise LimitExceeded(
                Issue("result_too_long", "", message, "Show fewer columns, summarize, or take fewer rows.")
            )
        return Result.model_validate(shown, extra="ignore")


def _capped(part: dict[str, Any], rows: int | None) -> None:
    total, known = part["total_rows"], part["rows"]
    if rows is None and total > ROWS_UNASKED:
        message = f"The result has {total:,} rows; at most {ROWS_UNASKED} are handed out unasked."
        raise LimitExceeded(
            Issue(
                "result_too_long",
                "",
                message,
                f"Summarize, add a limit step, or pass rows (at most {ROWS_MOST:,}) to take the first.",
            )
        )
    part["rows"] = known[: rows or ROWS_UNASKED]
    part["truncated"] = total > len(part["rows"])
    chart = part["chart"]
    part["chart"] = (
        None
        if chart is None
        else {key: chart[key] for key in ("kind", "x", "y", "color", "alt", "note") if key in chart}
    )


def metrics_of(tables: Tables) -> dict[str, str]:
    return {name: formula for table in tables for name, formula in table.profile.metrics.items()}


def without_kept(table: Table) -> Table:
    """The table without the columns whose send rule keeps them at home."""
    home = {column.name for column in table.profile.columns if column.send in KEPT_HOME}
    if not home:
        return table
    profile = table.profile.model_copy(
        update={"columns": tuple(c for c in table.profile.columns if c.name not in home)}
    )
    columns = [column for column in table.columns if column.name not in home]
    return Table(
        name=table.name,
        path=table.path,
        columns=columns,
        rows=table.rows,
        digest=table.digest,
        profile=profile,
        report=report_without(table, home),
    )


def report_without(table: Table, hidden: set[str]) -> LoadReport:
    """The load report without the columns and cells that are kept at home."""
    report = table.report
    return report.model_copy(update={
        "skipped": (), "columns": tuple(c for c in report.columns if c.name not in hidden), "unreadable": tuple(u for u in report.unreadable if u.column not in hidden),
        "assumptions": tuple(a for a in report.assumptions if a.column not in hidden), "variants": {c: v for c, v in report.variants.items() if c not in hidden},
        "offered": {c: v for c, v in report.offered.items() if c not in hidden},
    })  # fmt: skip


def cells_kept(table: Table) -> set[str]:
    """Columns of which statistics may be told, but no cell."""
    return {column.name for column in table.profile.columns if column.send == "profile"}


def _steps(reply: PlanReply) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each step of a plan as JSON, with its place."""
    written: tuple[tuple[str, Sequence[Let | Part]], ...] = (("lets", reply.lets), ("parts", reply.parts))
    for field, blocks in written:
        for index, block in enumerate(blocks):
            for number, step in enumerate(block.steps):
                yield f"{field}[{index}].steps[{number}]", as_json(step)
