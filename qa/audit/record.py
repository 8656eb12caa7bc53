"""What the audit keeps of an answer: everything that led to it, never a key, and of the result only hash and prose."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
import os
import platform
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from qa.answer.answer import Answer, AnswerPart, Attempt
from qa.answer.cells import json_rows
from qa.settings import settings

SENTENCES = 20
SENTENCE_LENGTH = 1000
PACKAGES = {
    "qa": "dataframe-qa",
    "polars": "polars",
    "duckdb": "duckdb",
    "sqlglot": "sqlglot",
    "streamlit": "streamlit",
    "litellm": "litellm",
}
KEY_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|Bearer [A-Za-z0-9._-]{16,})"
)
KEY_NAMES = re.compile(r"(?:_API_KEY|_TOKEN|_SECRET_ACCESS_KEY)$")


def question_record(answer: Answer) -> dict[str, Any]:
    """The body of a question's record. Cells of the result are not in it: each part has a hash of its shown rows."""
    return {
        "kind": "question",
        "status": answer.status,
        "question": answer.question,
        "planner": answer.planner,
        "model": answer.model,
        "digests": answer.digests,
        "reply": answer.reply,
        "attempts": [_attempt(attempt) for attempt in answer.attempts],
        "parts": [_part(part) for part in answer.parts],
        "question_back": answer.question_back,
        "options": [option.label for option in answer.options],
        "reason": answer.reason,
        "missing": list(answer.missing),
        "nearest": answer.nearest,
        "issues": [issue.as_dict() for issue in answer.issues],
        "result_hash": answer.result_hash,
        "timings": answer.timings,
        "tokens_in": sum(attempt.tokens_in for attempt in answer.attempts),
        "tokens_out": sum(attempt.tokens_out for attempt in answer.attempts),
        "cost": _cost(answer.attempts),
        "rows": sum(part.total_rows for part in answer.parts) if answer.parts else None,
        "versions": versions(),
    }


def verdict_record(about: str, answer: Answer) -> dict[str, Any]:
    """The body of a record that says how the cross-check of an answer ended that was shown before it was done."""
    return {
        "kind": "verdict",
        "about": about,
        "status": answer.status,
        "reason": answer.reason,
        "issues": [issue.as_dict() for issue in answer.issues],
        "checks": [[check.model_dump(mode="json") for check in part.checks] for part in answer.parts],
        "timings": answer.timings,
    }


def with_verdict(body: dict[str, Any], verdict: dict[str, Any] | None) -> dict[str, Any]:
    """A question's body with what its later verdict found, and where that is recorded."""
    if verdict is None:
        return body
    told = {name: verdict[name] for name in ("status", "reason", "issues", "timings")}
    parts = [
        part | {"checks": checks} for part, checks in zip(body.get("parts") or [], verdict["checks"], strict=False)
    ]
    return body | told | {"parts": parts or body.get("parts"), "verdict": {"id": verdict["id"], "at": verdict["at"]}}


def feedback_record(about: str, verdict: str, note: str) -> dict[str, Any]:
    """The body of a record that says what a person thought of an answer."""
    return {"kind": "feedback", "about": about, "verdict": verdict, "note": note[:2000]}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """One try as it was: the payload and the reply are kept exactly."""
    return attempt.model_dump(mode="json", exclude={"issues"}) | {
        "issues": [issue.as_dict() for issue in attempt.issues]
    }


def _part(part: AnswerPart) -> dict[str, Any]:
    kept = part.model_dump(
        mode="json",
        include={
            "title",
            "reading",
            "plan",
            "sql",
            "ledger",
            "checks",
            "assumptions",
            "warnings",
            "explanation",
            "columns",
            "total_rows",
            "truncated",
        },
    )
    chart = part.chart or {}
    return kept | {
        "sentences": [sentence[:SENTENCE_LENGTH] for sentence in part.sentences[:SENTENCES]],
        "support": {name: value for name, value in part.support.items() if name != "groups"},
        "chart": {name: chart[name] for name in ("kind", "x", "y", "color") if name in chart} or None,
        "rows_hash": hashlib.sha256(canonical(json_rows(part.table)).encode()).hexdigest(),
    }


def _cost(attempts: Iterable[Attempt]) -> float | None:
    """US dollars of the attempts whose price is known; None when none is."""
    known = [attempt.cost for attempt in attempts if attempt.cost is not None]
    return math.fsum(known) if known else None


@lru_cache(maxsize=1)
def versions() -> dict[str, str | None]:
    """The versions that could make the same plan give another result."""

    def version(package: str) -> str | None:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return None

    return {"python": platform.python_version()} | {name: version(package) for name, package in PACKAGES.items()}


def canonical(body: Any) -> str:
    """The one JSON text of a body: sorted keys, no blanks, non-finite numbers as null, broken text as ?."""
    text = json.dumps(_plain(body), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace").decode()


def _plain(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(inner) for inner in value]
        case _:
            return str(value)


def without_keys(body: Any, secrets: Iterable[str] = ()) -> Any:
    """The body with every known key and everything shaped like one replaced, names of fields left alone."""
    known = {secret for secret in (*secrets, *_own_keys()) if len(secret) >= 8}
    longest_first = sorted(known, key=len, reverse=True)

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            for secret in longest_first:
                value = value.replace(secret, "[key]")
            return KEY_SHAPES.sub("[key]", value)
        if isinstance(value, dict):
            return {name: clean(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [clean(inner) for inner in value]
        return value

    return clean(body)


def _own_keys() -> list[str]:
    kept = [value for name, value in os.environ.items() if KEY_NAMES.search(name)]
    return [*kept, key] if (key := settings().api_key) else kept
