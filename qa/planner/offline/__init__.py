"""Plans questions without a model: right whenever it answers, else it asks or declines with the words it could not use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from qa.data.table import Table
from qa.planner.offline.index import index
from qa.planner.offline.lexicon import lexicon
from qa.planner.offline.link import Linker, covers
from qa.planner.offline.query import Query, part, steps
from qa.planner.offline.read import readings
from qa.planner.offline.text import tokens


def plan(
    question: str, tables: Sequence[Table], *, history: Sequence[Any] = (), today: date | None = None
) -> dict[str, Any]:
    """A reply (plan, clarify or decline) in the plan language for a question about the tables."""
    lex = lexicon()
    found: list[Query] = []
    for table in tables:
        others = [other.name for other in tables if other is not table]
        linker = Linker(question, tokens(question), index(table, lex), lex, others)
        for score, cover in covers(linker, linker.links()):
            found += readings(linker, lex, cover, score)
    fitting = sorted((q for q in found if q.fits), key=lambda q: -q.score)
    if not fitting:
        best = max(found, key=lambda q: q.score) if found else None
        words = [w for w in (best.unused if best else []) if w != "?"]
        return {
            "reply": "decline",
            "reason": "I could not place every word of the question.",
            "missing": words,
            "nearest": None,
        }
    first = fitting[0]
    for other in fitting[1:]:
        if steps(other) != steps(first) and first.score - other.score < 0.05:
            return {
                "reply": "clarify",
                "question": "Which do you mean?",
                "options": [{"label": str(steps(q)), "parts": [part(q, question)]} for q in (first, other)],
            }
    return {"reply": "plan", "lets": [], "parts": [part(first, question)]}
