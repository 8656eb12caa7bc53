"""The frozen, serialisable answer that every door (page, terminal, server, audit) shows."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_serializer

from qa.errors import Issue, QAError
from qa.types import Kind, Role

Status = Literal["answered", "clarify", "declined", "failed"]


class Part(BaseModel):
    """Base of the frozen pieces."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class AnswerColumn(Part):
    """A shown column. `unit` and `origin` as in qa.types.Column (currency code, `fraction`/`percent`, unit)."""

    name: str
    kind: Kind
    role: Role | None = None
    unit: str | None = None
    origin: tuple[str, str] | None = Field(default=None, exclude=True)
    """(table, column id) whose cells it shows unchanged; not part of the record"""


class LedgerRow(Part):
    """Rows into and out of one step, and why they differ."""

    step: int
    op: str
    rows_in: int | None
    rows_out: int | None
    note: str


CHECKING = "Being checked: the second engine is still at it."
"""The detail of a cross-check that is not done when an answer is shown."""


class CheckResult(Part):
    """One thing that was verified. `passed` None means it was not run, and `detail` says why."""

    name: str
    passed: bool | None
    detail: str


class Attempt(Part):
    """One try at a plan: what was sent, what came back, what was wrong with it, what it cost."""

    planner: str
    model: str | None = None
    payload: dict[str, Any] | None = None
    reply: str | None = None
    issues: tuple[Issue, ...] = ()
    error: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    ms: float = 0.0


class Option(Part):
    """A choice offered back: picking it runs its plan (a reply part list) or asks its label again."""

    label: str
    reply: dict[str, Any] | None = None


class AnswerPart(Part):
    """The answer to one sub-question.

    `table` holds the rows shown, at most the cap, under display names; `total_rows` counts all.
    `value` is set when the result is one row with one shown column (or one metric beside its keys).
    `chart` is {"kind", "x", "y": [..], "color", "figure": plotly JSON dict, "alt": text, "note": text | None} or None.
    `support` rides beside the table: {"rows": total rows used, "missing_skipped": {metric: n}, "groups": [...] | None}.
    """

    title: str
    reading: str | None = None
    sentences: tuple[str, ...] = ()
    value: Any = None
    columns: tuple[AnswerColumn, ...]
    table: pl.DataFrame
    total_rows: int
    truncated: bool = False
    chart: dict[str, Any] | None = None
    plan: dict[str, Any]
    polars: str = ""
    sql: str = ""
    ledger: tuple[LedgerRow, ...] = ()
    support: dict[str, Any] = {}
    checks: tuple[CheckResult, ...] = ()
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
    """the plan in plain words, a line a step"""

    @field_serializer("table")
    def _rows(self, table: pl.DataFrame) -> dict[str, Any]:
        from qa.answer.cells import json_rows

        return {"columns": table.columns, "rows": json_rows(table)}


class Answer(BaseModel):
    """What the product says to a question, with everything that happened on the way."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    status: Status
    question: str
    parts: tuple[AnswerPart, ...] = ()
    question_back: str | None = None
    options: tuple[Option, ...] = ()
    reason: str | None = None
    missing: tuple[str, ...] = ()
    nearest: str | None = None
    issues: tuple[Issue, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    planner: str | None = None
    model: str | None = None
    reply: dict[str, Any] | None = None
    """the whole reply that was run, as plan JSON; what a share link carries"""
    digests: dict[str, str] = {}
    result_hash: str | None = None
    timings: dict[str, float] = {}
    """milliseconds by stage: plan, check, run, crosscheck, answer, total"""
    audit_id: str | None = None

    def __str__(self) -> str:
        """The answer as a person reads it: its sentences, the question back, or the reason why there is none."""
        if self.status == "answered":
            return "\n".join(" ".join(part.sentences) or part.title for part in self.parts)
        said = self.question_back or self.reason or "There is no answer."
        return "\n".join([said, *(f"- {option.label}" for option in self.options)])

    @property
    def table(self) -> pl.DataFrame:
        """The rows of the first part, at most the cap. Raises QAError, with the reason, when nothing was answered."""
        return self._first.table

    @property
    def value(self) -> Any:
        """The single value of the first part, None when its result is more. Raises QAError when nothing was answered."""
        return self._first.value

    @property
    def _first(self) -> AnswerPart:
        if not self.parts:
            raise QAError(self.issues or Issue("no_answer", "", str(self)))
        return self.parts[0]
