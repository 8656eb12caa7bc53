"""What the tools of the assistant's door give back, as typed models whose schemas the client sees."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from qa.answer.answer import Status
from qa.data.relations import Relation
from qa.data.table import LoadReport, Profile


class Out(BaseModel):
    """Base of the outputs."""


class TableEntry(Out):
    name: str
    rows: int
    columns: int
    description: str | None
    synonyms: tuple[str, ...]


class TableList(Out):
    tables: list[TableEntry]
    total: int
    problems: list[str] = Field(description="files that could not be read, and semantic files that no longer fit")


class ColumnEntry(Out):
    name: str
    kind: str
    role: str | None
    unit: str | None
    missing: int | None = Field(description="rows without a value; null where that is kept at home")
    description: str | None
    synonyms: tuple[str, ...]
    kept_home: bool = Field(description="true: only the name may be told, and no plan may use it")


class TableDescription(Out):
    name: str
    rows: int
    description: str | None
    synonyms: tuple[str, ...]
    default_date: str | None
    metrics: dict[str, str]
    columns: list[ColumnEntry]


class TableProfile(Out):
    profile: Profile
    report: LoadReport


class Sample(Out):
    columns: list[str]
    rows: list[list[Any]]
    total_rows: int
    seed: int


class HitEntry(Out):
    what: Literal["table", "column", "value"]
    table: str
    column: str | None
    value: str | None
    score: float
    why: str


class Hits(Out):
    hits: list[HitEntry]


class Link(Out):
    relation: Relation
    on: list[str] = Field(description="as a join step writes it")
    match_rate: float


class Links(Out):
    relationships: list[Link]


class IssueEntry(Out):
    code: str
    where: str
    message: str
    hint: str
    candidates: tuple[str, ...]


class PlanCheck(Out):
    ok: bool
    issues: list[IssueEntry]


class ResultColumn(Out):
    name: str
    kind: str
    role: str | None = None
    unit: str | None = None


class ResultPart(Out):
    title: str
    reading: str | None
    sentences: list[str]
    value: Any
    columns: list[ResultColumn]
    rows: list[list[Any]]
    total_rows: int
    truncated: bool = Field(description="true: `rows` are the first of `total_rows`")
    chart: dict[str, Any] | None = Field(description="kind, x, y and alt text of the chart that fits")
    plan: dict[str, Any]
    sql: str
    ledger: list[dict[str, Any]]
    support: dict[str, Any]
    checks: list[dict[str, Any]]
    assumptions: list[str]
    warnings: list[str]
    explanation: list[str]


class Result(Out):
    status: Status
    parts: list[ResultPart]
    question_back: str | None
    options: list[dict[str, Any]]
    reason: str | None
    missing: list[str]
    nearest: str | None
    planner: str | None
    model: str | None
    timings: dict[str, float]
    audit_id: str | None


class StepWords(Out):
    step: int
    op: str
    does: str
    columns: list[str] = Field(description="what there is after the step")


class ExplainedPart(Out):
    title: str
    source: str
    steps: list[StepWords]
    columns: list[ResultColumn]
    sql: str
    notes: list[str]


class Explained(Out):
    plan: dict[str, Any]
    parts: list[ExplainedPart]


class SavedQuestion(Out):
    table: str
    question: str
    by: str | None
    on: str | None
    plan: dict[str, Any]
    problem: str | None = Field(description="why its plan no longer fits, or null")


class SavedQuestions(Out):
    questions: list[SavedQuestion]


class Saved(Out):
    table: str
    question: str
    questions: int = Field(description="how many the table has now")
