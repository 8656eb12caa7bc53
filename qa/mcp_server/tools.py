"""The tools of the assistant's door: looking at tables, asking and running plans, keeping questions."""

from __future__ import annotations

from typing import Annotated, Any

import polars as pl
from mcp_types import ToolAnnotations
from pydantic import Field

from qa import pipeline
from qa.answer.cells import json_rows
from qa.data.gather import Tables
from qa.data.relations import relationships as relations_of
from qa.data.search import search
from qa.data.semantics import Semantics, questions_checked
from qa.data.table import ColumnProfile, Table
from qa.data.verified import with_question
from qa.engine.sql_engine import statement
from qa.errors import Issue, LoadError, PlanError
from qa.mcp_server import outputs
from qa.mcp_server.desk import ROWS_MOST, ROWS_UNASKED, Desk, cells_kept, report_without, without_kept
from qa.mcp_server.server import Server, add_tool
from qa.plan.functions.aggregates import NoTwin
from qa.plan.plan import PlanReply, as_json, parse_reply
from qa.planner import offline

SAMPLE_MOST = 50
FEW = 5
"""Below so many distinct values, bounds and quartiles are the cells themselves."""
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

TableName = Annotated[str, Field(max_length=200, description="name of a table, as list_tables gives it; never a path")]
Plan = Annotated[
    dict[str, Any] | str, Field(description="a reply as in qa://schema: {reply: plan, lets: [], parts: [...]}")
]
Rows = Annotated[
    int | None,
    Field(
        ge=1,
        le=ROWS_MOST,
        description=f"take the first rows of a longer result; without it, more than {ROWS_UNASKED} rows are an error",
    ),
]
Question = Annotated[str, Field(min_length=1, max_length=4_000, description="the question, in plain words")]
Words = Annotated[
    str, Field(min_length=1, max_length=200, description="every word must be found; the start of a word is enough")
]


def add_looking(server: Server, desk: Desk) -> None:
    tool = add_tool(server, seconds=desk.settings.query_seconds * 4)

    @tool
    def list_tables() -> outputs.TableList:
        """The tables at hand: name, rows, number of columns, description."""
        found = desk.open()
        entries = [
            outputs.TableEntry(name=t.name, rows=t.rows, columns=len(t.columns), description=t.profile.description, synonyms=t.profile.synonyms) for t in found
        ]  # fmt: skip
        return outputs.TableList(
            tables=entries[:500], total=len(entries), problems=[*map(str, found.problems), *found.findings]
        )

    @tool
    def describe_table(table: TableName) -> outputs.TableDescription:
        """A table's columns with kinds, roles, units, descriptions and other words for them; its named metrics."""
        return description_of(desk.named(desk.all(), table))

    @tool
    def profile_table(table: TableName) -> outputs.TableProfile:
        """Statistics of each column over all rows, and how the file was read."""
        return profile_of(desk.named(desk.open(), table))

    @tool
    def sample_rows(
        table: TableName,
        n: Annotated[int, Field(ge=1, le=SAMPLE_MOST, description="how many rows")] = 5,
        seed: Annotated[int, Field(ge=0, description="the same seed gives the same rows")] = 0,
    ) -> outputs.Sample:
        """A few rows at random, to see what cells look like. Never add them up: they are a sample."""
        chosen = desk.named(desk.open(), table)
        shown = [column for column in chosen.columns if column.name not in cells_kept(chosen)]
        rows = (
            pl.Series(range(chosen.rows)).sample(min(n, chosen.rows), seed=seed).sort()
            if chosen.rows
            else pl.Series([], dtype=pl.Int64)
        )
        frame = (
            chosen.scan("row")
            .filter(pl.col("row").is_in(rows.to_list()))
            .select(column.id for column in shown)
            .collect()
        )
        return outputs.Sample(
            columns=[column.name for column in shown], rows=json_rows(frame), total_rows=chosen.rows, seed=seed
        )

    @tool
    def search_columns(
        words: Words, limit: Annotated[int, Field(ge=1, le=100)] = 20, values: bool = True
    ) -> outputs.Hits:
        """Tables, columns and text values that hold the words, best first."""
        found = desk.open()
        kept = {(table.name, name) for table in found for name in cells_kept(table)}
        hits = [
            hit
            for hit in search(found, words, limit=limit, values=values)
            if hit.what != "value" or (hit.table, hit.column) not in kept
        ]
        return outputs.Hits(hits=[outputs.HitEntry(**vars(hit)) for hit in hits])

    @tool
    def relationships() -> outputs.Links:
        """Which columns of different tables belong together, proven over all rows: match rate, cardinality, orphans."""
        found = desk.open()
        links = relations_of(found, found.semantics)
        return outputs.Links(relationships=[outputs.Link(relation=r, on=r.on, match_rate=r.match_rate) for r in links])


def description_of(table: Table) -> outputs.TableDescription:
    facts = table.profile
    home = {column.name for column in table.columns} - {column.name for column in without_kept(table).columns}
    columns = [
        outputs.ColumnEntry(
            name=c.name, kind=c.kind, role=c.role, unit=c.unit, missing=None if c.name in home else c.missing, description=c.description, synonyms=c.synonyms,
            kept_home=c.name in home,
        )
        for c in facts.columns
        if c.send != "nothing"
    ]  # fmt: skip
    metrics = {
        name: formula for name, formula in facts.metrics.items() if not any(column in formula for column in home)
    }
    return outputs.TableDescription(
        name=table.name, rows=table.rows, description=facts.description, synonyms=facts.synonyms, default_date=facts.default_date, metrics=metrics, columns=columns
    )  # fmt: skip


def profile_of(table: Table) -> outputs.TableProfile:
    """The profile and the load report; of a column whose cells are kept at home without what quotes a cell."""
    kept = cells_kept(table)
    columns = tuple(c.model_copy(update=_unquoted(c)) if c.name in kept else c for c in table.profile.columns)
    report = report_without(table, kept) if kept else table.report
    return outputs.TableProfile(profile=table.profile.model_copy(update={"columns": columns}), report=report)


def _unquoted(column: ColumnProfile) -> dict[str, Any]:
    """What to leave out of a column's statistics so that they hold no cell: of few values they all do."""
    few = column.distinct < FEW
    bounds = {} if column.kind.numeric and not few else {"low": None, "high": None}
    quartiles = dict.fromkeys(("q25", "median", "q75"), None) | {"histogram": ()} if few else {}
    return {"top": (), **bounds, **quartiles}


def add_asking(server: Server, desk: Desk) -> None:
    own = desk.settings
    runs = add_tool(server, seconds=own.query_seconds * 4 + 10, asks=True)

    def ask(question: Question, rows: Rows = None) -> outputs.Result:
        """Answer a question in plain words: planned, checked, run over all rows, and cross-checked by a second engine."""
        tables = desk.open()
        answer = pipeline.ask(
            question, tables, settings=own, pool=desk.pool, session=desk.session, semantics=tables.semantics
        )
        if answer.reply and answer.status == "answered":
            reply = parse_reply(answer.reply)
            assert isinstance(reply, PlanReply)
            desk.raise_if_shown(reply, tables)
        return desk.result(answer, rows)

    add_tool(server, seconds=own.max_seconds + own.query_seconds * 4, asks=True)(ask)

    @runs
    def run_plan(
        plan: Plan, rows: Rows = None, question: Annotated[str, Field(max_length=4_000)] = ""
    ) -> outputs.Result:
        """Run a plan of your own (see qa://reference) over all rows. A plan that does not fit is told issue by issue."""
        tables = desk.open()
        reply = parse_reply(plan)
        if isinstance(reply, PlanReply):
            desk.raise_if_shown(reply, tables)
        answer = pipeline.run_plan(
            as_json(reply),
            tables,
            settings=own,
            question=question,
            pool=desk.pool,
            session=desk.session,
            semantics=tables.semantics,
        )
        return desk.result(answer, rows)

    tool = add_tool(server, seconds=own.query_seconds * 4)

    @tool
    def check_plan(plan: Plan) -> outputs.PlanCheck:
        """Every issue of a plan, with hints, without running it."""
        try:
            desk.checked(desk.open(), plan)
        except PlanError as error:
            return outputs.PlanCheck(
                ok=False, issues=[outputs.IssueEntry.model_validate(issue.as_dict()) for issue in error.issues]
            )
        return outputs.PlanCheck(ok=True, issues=[])

    @tool
    def explain(plan: Plan | None = None, question: Question | None = None) -> outputs.Explained:
        """What a plan does, step by step in plain words and as SQL, without running it. Of a question: its offline plan."""
        if (plan is None) == (question is None):
            raise PlanError(Issue("bad_argument", "", "Give a plan or a question.", "One of them, not both."))
        tables = desk.open()
        return _explained(desk, tables, plan if plan is not None else _offline(question or "", tables))


def _offline(question: str, tables: Tables) -> dict[str, Any]:
    reply = offline.plan(question, list(tables))
    if reply["reply"] != "plan":
        raise PlanError(
            Issue("no_plan", "", str(reply.get("reason") or reply.get("question")), "Write a plan: see qa://reference.")
        )
    return dict(reply)


def _explained(desk: Desk, tables: Tables, plan: dict[str, Any] | str) -> outputs.Explained:
    checked = desk.checked(tables, plan)
    parts = []
    for index, part in enumerate(checked.parts):
        pipe = part.pipeline
        steps = [
            outputs.StepWords(step=n, op=step.step.model_dump()["op"], does=step.describe(), columns=[c.name for c in step.after]) for n, step in enumerate(pipe.steps, 1)
        ]  # fmt: skip
        columns = [
            outputs.ResultColumn(name=h, kind=c.kind, role=c.role, unit=c.unit)
            for c, h in zip(part.shown, part.headers, strict=True)
        ]
        try:
            sql = statement(checked, index).sql(dialect="duckdb", pretty=True)
        except NoTwin as reason:
            sql = f"-- no SQL for this plan: {reason}"
        parts.append(
            outputs.ExplainedPart(
                title=part.part.title,
                source=pipe.let or pipe.source,
                steps=steps,
                columns=columns,
                sql=sql,
                notes=list(part.notes),
            )
        )
    return outputs.Explained(plan=as_json(parse_reply(plan)), parts=parts)


def add_saving(server: Server, desk: Desk) -> None:
    @add_tool(server, seconds=desk.settings.query_seconds * 4, annotations=WRITES)
    def save_question(
        question: Question, plan: Plan, by: Annotated[str, Field(max_length=100)] = "an assistant"
    ) -> outputs.Saved:
        """Keep a question with its plan in the semantic file beside the data, to be tried first from now on.

        The plan is checked; the same question is replaced. Save only what a person has confirmed.
        """
        tables = desk.open()
        checked = desk.checked(tables, plan)
        pipe = checked.parts[0].pipeline
        while pipe.let is not None:
            pipe = checked.lets[pipe.let]
        every = desk.all()
        known = every.semantics.get(pipe.source) or Semantics(table=pipe.source)
        kept = with_question(known, question, as_json(parse_reply(plan)), by=by)
        try:
            every.told(pipe.source, kept)
        except OSError as error:
            hint = "Let the folder of the data be written, or save it from the page."
            raise LoadError(
                Issue("cannot_save", pipe.source, f"The semantic file cannot be written: {error.strerror}.", hint)
            ) from error
        return outputs.Saved(table=pipe.source, question=question, questions=len(kept.questions))

    @add_tool(server, seconds=desk.settings.query_seconds * 4)
    def list_saved_questions() -> outputs.SavedQuestions:
        """The questions that were saved with their plans, and what is wrong with a plan that no longer fits."""
        tables = desk.open()
        found = []
        for name, known in tables.semantics.items():
            problems = questions_checked(known, tables.by_name)
            found += [
                outputs.SavedQuestion(table=name, question=q.question, by=q.by, on=q.on, plan=q.plan, problem=problems.get(q.question)) for q in known.questions
            ]  # fmt: skip
        return outputs.SavedQuestions(questions=found)
