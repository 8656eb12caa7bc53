"""From a question to a reply: every reading is scored, the best is checked, doubts are asked, gaps are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from qa.data.table import Table
from qa.engine.run import checked_plan, run
from qa.errors import PlanError, QAError
from qa.plan.plan import PlanReply, parse_reply
from qa.planner.dialogue import Turn
from qa.planner.offline import followup, parts, several
from qa.planner.offline.cover import covers
from qa.planner.offline.index import index
from qa.planner.offline.joins import views
from qa.planner.offline.lexicon import Lexicon, lexicon
from qa.planner.offline.link import Linker
from qa.planner.offline.nothing import nothing_found
from qa.planner.offline.query import Query, part, steps
from qa.planner.offline.read import readings
from qa.planner.offline.text import header_words, tokens
from qa.types import Kind, Role

MARGIN = 0.05
"""how much better than the next reading the best must be, else the two are asked"""
LONGEST = 1_000
"""characters of a question that is read"""
NAMED = 12
"""columns that a refusal names at most"""

Reply = dict[str, Any]


def plan(question: str, tables: Sequence[Table], *, history: Sequence[Turn] = (), today: date | None = None) -> Reply:
    """A reply (plan, clarify or decline) in the plan language for a question about the tables.

    A plan is given only when every content word of the question is placed, no other reading comes near, and the
    checker accepts it. `history` are the earlier turns: a follow-up edits the last plan. `today` is for periods.
    """
    asked = question.strip()[:LONGEST]
    if not asked or not tables:
        return decline("There is no question." if tables else "There is no table.", [], tables)
    edited = followup.edited(asked, tables, history) if history else None
    if edited is not None and valid(edited, tables):
        return edited
    if history and followup.depends(asked):
        return decline("I could not read this as a change to the question before it.", [], tables)
    whole = _related(asked, tables)
    if whole is not None:
        return whole
    split = parts.planned(asked, lambda text: single(text, tables))
    return split if split is not None else single(asked, tables)


def single(question: str, tables: Sequence[Table]) -> Reply:
    """The reply to a question that asks one thing."""
    lex = lexicon()
    related = _related(question, tables)
    if related is not None:
        return related
    found = _readings(question, tables, lex)
    fitting = sorted((query for query in found if query.fits), key=lambda query: -query.score)
    if not fitting:
        fitting = sorted((q for q in _joined_readings(question, tables, lex) if q.fits), key=lambda query: -query.score)
    empty: tuple[float, str] | None = None
    for place, first in enumerate(fitting[:4]):
        if empty is not None and empty[0] - first.score > MARGIN:
            break
        reply: Reply = {"reply": "plan", "lets": [], "parts": [part(first, _title(question))]}
        issue = problem(reply, tables)
        if issue is not None:
            if issue.issues[0].code in DECIDED:
                return decline(f"{issue.issues[0].message} {issue.issues[0].hint}".strip(), [], tables)
            continue
        near = [q for q in fitting[place + 1 :] if first.score - q.score < MARGIN and _steps(q) != _steps(first)]
        nothing = nothing_found(first, tables)
        if nothing is not None:
            empty = empty or (first.score, nothing)
            continue
        rivals = [rival for rival in (*first.rivals, *near[:3]) if differ(first, rival, tables)]
        return _clarify([first, rivals[0]], question) if rivals else reply
    return _declined(found, tables) if empty is None else decline(empty[1], [], tables)


def _related(question: str, tables: Sequence[Table]) -> Reply | None:
    """The reply to a question that speaks of several tables; None when it is another kind of question."""
    made = several.planned(question, tables, lexicon(), _title(question))
    if made is None or not valid(made.reply, tables):
        return None
    if made.once is None or _height(made.reply, tables) == _height(made.once, tables):
        return made.reply
    if made.reply["lets"]:
        return decline("Some rows come several times: I cannot tell whether each is wanted once.", [], tables)
    told = (("every match", made.reply), ("each once", made.once))
    return {
        "reply": "clarify",
        "question": "Some rows come several times. Is each wanted once?",
        "options": [{"label": said, "parts": reply["parts"]} for said, reply in told],
    }


def _height(reply: Reply, tables: Sequence[Table]) -> int:
    """How many rows a plan gives."""
    by_name = {table.name: table for table in tables}
    parsed = parse_reply(reply)
    assert isinstance(parsed, PlanReply)
    return run(checked_plan(parsed, by_name), by_name, rows=SEEN, ledger=False)[0].total_rows


def differ(first: Query, second: Query, tables: Sequence[Table]) -> bool:
    """True when two readings give different answers on the data; a reading that cannot run is no rival."""
    by_name = {table.name: table for table in tables}
    frames = []
    for query in (first, second):
        try:
            reply = parse_reply({"reply": "plan", "lets": [], "parts": [part(query, "")]})
            assert isinstance(reply, PlanReply)
            frames.append(run(checked_plan(reply, by_name), by_name, rows=SEEN, ledger=False)[0].frame)
        except QAError:
            return False
    return [list(row) for row in frames[0].rows()] != [list(row) for row in frames[1].rows()]


SEEN = 50
"""rows of two readings that are compared"""


def _steps(query: Query) -> tuple[str, list[dict[str, Any]]]:
    return query.source, steps(query)


DECIDED = frozenset({"unsummable_role", "fan_out", "not_one_value"})
"""issues that answer the question: it was understood, and must not be computed"""


def _readings(question: str, tables: Sequence[Table], lex: Lexicon) -> list[Query]:
    found: list[Query] = []
    for table in tables:
        others = [other.name for other in tables if other is not table]
        linker = Linker(question, tokens(question), index(table, lex), lex, others)
        for score, cover in covers(linker, linker.links()):
            found += readings(linker, lex, cover, score)
    return found


def _joined_readings(question: str, tables: Sequence[Table], lex: Lexicon) -> list[Query]:
    """Readings over a table and what it looks up; only those that need both."""
    found: list[Query] = []
    for view in views(tables):
        partners = [hop.table.name for hop in view.hops]
        others = [t.name for t in tables if t.name != view.name and t.name not in partners]
        linker = Linker(question, tokens(question), index(view, lex), lex, others, partners)
        for score, cover in covers(linker, linker.links()):
            for query in readings(linker, lex, cover, score):
                query.before = view.joined(steps(query)) if query.fits else []
                # a list of a look-up's columns would repeat them: only what is counted or added up may join
                if not query.fits or (query.before and query.metrics):
                    found.append(query)
    return found


def problem(reply: Reply, tables: Sequence[Table]) -> PlanError | None:
    """What the checker says against a plan, or None; join keys and pivoted values are measured on the rows."""
    try:
        parsed = parse_reply(reply)
        if isinstance(parsed, PlanReply):
            checked_plan(parsed, {table.name: table for table in tables})
    except PlanError as error:
        return error
    except QAError as error:
        return PlanError(error.issues)
    return None


def valid(reply: Reply, tables: Sequence[Table]) -> bool:
    return problem(reply, tables) is None


def _title(question: str) -> str:
    """The question as a title: one line, no closing mark."""
    return " ".join(question.split()).rstrip("?.! ")[:120]


# ---- asking back and declining -------------------------------------------------------------


@dataclass(frozen=True)
class _Told:
    label: str
    query: Query


def _clarify(queries: Sequence[Query], question: str) -> Reply:
    told = [_Told(describe(query), query) for query in queries]
    return {
        "reply": "clarify",
        "question": "The question can be read in more than one way. Which do you mean?",
        "options": [{"label": t.label, "parts": [part(t.query, _title(question))]} for t in told],
    }


def describe(query: Query) -> str:
    """A query in a few words, for a button."""
    said: list[str] = []
    if query.metrics:
        said.append(", ".join(name for _, name in query.metrics))
    elif query.columns:
        said.append(", ".join(query.columns))
    else:
        said.append("rows")
    if query.keys:
        said.append("by " + ", ".join(name for _, name in query.keys))
    if query.filters:
        said.append("where " + " and ".join(f.formula for f in query.filters))
    if query.limit is not None:
        said.append(f"first {query.limit} by {', '.join(query.order)}")
    return " ".join(said) if len(said) < 2 else f"{said[0]} {', '.join(said[1:])}"


def _declined(found: Sequence[Query], tables: Sequence[Table]) -> Reply:
    best = max(found, key=lambda query: (-len([w for w in query.unused if w != "?"]), query.score), default=None)
    words = list(dict.fromkeys(w for w in (best.unused if best else []) if w != "?"))
    reason = (
        f"I could not place {', '.join(repr(w) for w in words)}."
        if words
        else "I could not read this question with certainty."
    )
    return decline(reason, words, tables)


def decline(reason: str, missing: Sequence[str], tables: Sequence[Table]) -> Reply:
    """A refusal that names the words, the columns there are, and a question that can be answered."""
    names = [column.name for table in tables for column in table.columns][:NAMED]
    listed = f" The columns are {', '.join(names)}." if names else ""
    return {
        "reply": "decline",
        "reason": reason + listed,
        "missing": list(missing),
        "nearest": _nearest(tables, missing),
    }


def _nearest(tables: Sequence[Table], missing: Sequence[str] = ()) -> str | None:
    """A question that can be answered: worth from price and number where money was asked for, else an average."""
    lex = lexicon()
    for table in tables:
        numeric = [c for c in table.columns if c.kind.numeric and c.role is not Role.ID]
        text = [c for c in table.columns if c.role is Role.CATEGORY] or [
            c for c in table.columns if c.kind is Kind.TEXT and c.role is None
        ]
        by = f" by {text[0].name}" if text else ""
        price, many = (
            next((c.name for c in numeric if {lex.lemma(w) for w in header_words(c.name)} & lex.worth[part]), None)
            for part in ("each", "many")
        )
        if price and many and {lex.lemma(word.lower()) for word in missing} & lex.worth["asked"]:
            return f"What is the total of {many} times {price}{by}?"
        plain = [c for c in numeric if c.role is None] or numeric
        if plain:
            return f"What is the average {plain[0].name}{by}?"
    return "How many rows are there?" if tables else None
