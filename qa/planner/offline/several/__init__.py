"""Questions that speak of several tables by name: read with a grammar of things and their relations, answered by safe joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from qa.data.table import Table
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.several.graph import graph
from qa.planner.offline.several.heads import read
from qa.planner.offline.several.items import Reader
from qa.planner.offline.several.request import NotRead, Request
from qa.planner.offline.several.written import Writer


@dataclass(frozen=True)
class Planned:
    """A plan (as JSON, not checked yet), and the same with each row once where the question leaves that open."""

    reply: dict[str, Any]
    once: dict[str, Any] | None = None


def planned(question: str, tables: Sequence[Table], lex: Lexicon, title: str) -> Planned | None:
    """The plan of a question about several tables; None when it is none or cannot be read."""
    if len(tables) < 2:
        return None
    known = graph(tables)
    items = Reader(question, known, lex).items()
    if items is None:
        return None
    try:
        request = read(items, known, lex)
        if not _several(request):
            return None
        reply = Writer(request, known, lex).reply(title)
        if len({attr.table for attr in request.attrs}) < 2 or request.distinct or request.counted:
            return Planned(reply)
        return Planned(reply, Writer(replace(request, distinct=True), known, lex).reply(title))
    except NotRead:
        return None


def _several(request: Request) -> bool:
    """True when more than one table is spoken of."""
    phrases = [request.main, *request.others, *([request.counted] if request.counted else [])]
    tables = {phrase.table for phrase in phrases} | {attr.table for attr in request.attrs}
    tables |= {request.measure[1].table} if request.measure else set()
    tables |= {key.table for key in request.keys}
    return len(tables) > 1 or any(phrase.relations for phrase in phrases)
