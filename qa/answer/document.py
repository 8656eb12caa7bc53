"""An answer as the one JSON object that `--json` prints and other programs read."""

from __future__ import annotations

from typing import Any

from qa.answer.answer import Answer, AnswerPart
from qa.answer.cells import json_cell, json_rows


def document(answer: Answer) -> dict[str, Any]:
    """Status and parts first, then what a clarify or decline says, attempts, timings, audit id."""
    return {
        "status": answer.status,
        "question": answer.question,
        "parts": [_part(part) for part in answer.parts],
        "question_back": answer.question_back,
        "options": [option.model_dump(mode="json") for option in answer.options],
        "reason": answer.reason,
        "missing": list(answer.missing),
        "nearest": answer.nearest,
        "issues": [issue.as_dict() for issue in answer.issues],
        "attempts": [attempt.model_dump(mode="json") for attempt in answer.attempts],
        "planner": answer.planner,
        "model": answer.model,
        "reply": answer.reply,
        "digests": answer.digests,
        "result_hash": answer.result_hash,
        "timings": answer.timings,
        "audit_id": answer.audit_id,
    }


def _part(part: AnswerPart) -> dict[str, Any]:
    return {
        "title": part.title,
        "reading": part.reading,
        "sentences": list(part.sentences),
        "value": json_cell(part.value),
        "columns": [column.model_dump(mode="json") for column in part.columns],
        "rows": json_rows(part.table),
        "total_rows": part.total_rows,
        "truncated": part.truncated,
        "chart": part.chart,
        "plan": part.plan,
        "polars": part.polars,
        "sql": part.sql,
        "ledger": [row.model_dump(mode="json") for row in part.ledger],
        "support": part.support,
        "checks": [check.model_dump(mode="json") for check in part.checks],
        "assumptions": list(part.assumptions),
        "warnings": list(part.warnings),
        "explanation": list(part.explanation),
    }
