"""Follow-ups that edit the last plan: `only 2023`, `by month instead`, `top 5`, `as a bar chart`."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from qa.data.table import Table
from qa.planner.dialogue import Turn
from qa.planner.offline import formula as write
from qa.planner.offline.conditions import Conditions
from qa.planner.offline.core import NAMES, NotRead
from qa.planner.offline.cover import covers
from qa.planner.offline.index import index
from qa.planner.offline.joins import View, views
from qa.planner.offline.lexicon import Lexicon, lexicon
from qa.planner.offline.link import Linker
from qa.planner.offline.nodes import Filter, Node, nodes
from qa.planner.offline.read import Reader
from qa.planner.offline.text import tokens

Part = dict[str, Any]

LONGEST = 12
"""words; a longer question stands on its own"""
SILENT = "pwboa&,lh"
"""letters of nodes that a follow-up may carry without meaning anything"""
MARKED = re.compile(r"^(?:only|just|and|now)\b|\b(?:about|instead)\b", re.IGNORECASE)
"""what marks a question as a follow-up even when it names the rows"""
LEANING = re.compile(r"^\W*(?:and\s+|but\s+)?(?:what|how) about\b|\binstead\W*$", re.IGNORECASE)
REPLACED = re.compile(r"\b(?:instead of|rather than)\b.*$", re.IGNORECASE | re.DOTALL)
CALL = re.compile(r"^(?P<fn>\w+)\((?P<argument>.+)\)$")
JOINED = re.compile(r"\s+and\s+")


def edited(question: str, tables: Sequence[Table], history: Sequence[Turn]) -> dict[str, Any] | None:
    """The last plan as the follow-up changes it, or None when the question stands alone."""
    last = history[-1].reply
    if last.get("reply") != "plan" or not last.get("parts"):
        return None
    part: Part = copy.deepcopy(last["parts"][-1])
    table = next((t for t in tables if t.name == part["source"]), None)
    question = REPLACED.sub("instead", question)
    toks = tokens(question)
    if table is None or len(toks) > LONGEST:
        return None
    lex = lexicon()
    joins = [step for step in part["steps"] if step["op"] == "join"]
    part["steps"] = [step for step in part["steps"] if step["op"] != "join"]
    seen: list[Table | View] = [view for view in views(tables) if view.name == table.name]
    for place in seen if joins else [table, *seen]:
        linker = Linker(question, toks, index(place, lex), lex)
        for _, cover in covers(linker, linker.links()):
            made = _edit(linker, lex, nodes(cover), part, question)
            if made is not None:
                if isinstance(place, View):
                    made["steps"] = [*place.joined(made["steps"]), *made["steps"]]
                return {"reply": "plan", "lets": last.get("lets") or [], "parts": [made]}
    return None


def depends(question: str) -> bool:
    """True for a question that means nothing without the one before it: `what about …`, `… instead`."""
    return bool(LEANING.search(question))


def _edit(linker: Linker, lex: Lexicon, row: list[Node], part: Part, question: str) -> Part | None:
    conditions = Conditions(linker, lex)
    row = conditions.run(row)
    if any(len(node.filters) > 1 for node in row):
        return None
    picked = [node.filters[0] for node in row if node.letter == "F"]
    reader = Reader(linker, lex, row, picked, conditions)
    silent = SILENT + "n" if MARKED.search(question) else SILENT
    silent += "s"  # `show me the top 3`: of the words that show, only those that name a chart mean anything
    rest = [node for node in row if node.letter != "F" and (node.letter not in silent or node.link.tag("CHART"))]
    shape = "".join(node.letter for node in rest)
    edit = EDITS.get(shape)
    if edit is None or (not shape and not picked):
        return None
    made = copy.deepcopy(part)
    try:
        if picked and not _filtered(made, [f for filters in picked for f in filters], linker):
            return None
        if not edit(made, rest, reader):
            return None
    except NotRead:
        return None
    made["title"] = f"{part.get('title') or 'The last question'}, {' '.join(question.split()).rstrip('?. ')}"
    return made


# ---- the edits, by the shape of the words -----------------------------------------------------


def _nothing(part: Part, rest: list[Node], reader: Reader) -> bool:
    return True


def _regrouped(part: Part, rest: list[Node], reader: Reader) -> bool:
    """Other groups; `show` and the order follow."""
    step = _step(part, "summarize")
    if step is None:
        return False
    formula, name = reader.key(rest[-1])
    before = [_called(key) for key in step["by"]]
    step["by"] = [formula if formula == write.name(name) else f"{formula} as {write.name(name)}"]
    if part.get("show"):
        part["show"] = [write.name(name), *(s for s in part["show"] if s.strip("`") not in before)]
    for other in part["steps"]:
        if other.get("order") and any(any(_mentions(order, old) for old in before) for order in other["order"]):
            other["order"] = [f"{write.name(name)} asc"]
    part["chart"] = None
    return True


def _topped(part: Part, rest: list[Node], reader: Reader) -> bool:
    """The first few, by the last measure."""
    n = int(rest[-1].numbers[0])
    way = "asc" if rest[0].op == "min" else "desc"
    limit = _step(part, "limit")
    if limit is not None:
        limit["n"] = n
        part["show"] = None
        return True
    step = _step(part, "summarize")
    if step is None or not step["by"] or not step["metrics"]:
        return False
    part["steps"] = [s for s in part["steps"] if s["op"] != "sort"]
    order = [f"{write.name(_called(step['metrics'][-1]))} {way}"]
    part["steps"].append({"op": "limit", "n": n, "order": order, "ties": "cut"})
    return True


def _aggregated(part: Part, rest: list[Node], reader: Reader) -> bool:
    """Another aggregate of the same column."""
    step = _step(part, "summarize")
    call = _only_call(step)
    column = next((c for c in reader.index.columns if call and write.name(c.name) == call["argument"]), None)
    if step is None or column is None:
        return False
    _renamed(part, step, reader.aggregate(rest[0].op, column))
    return True


def _measured(part: Part, rest: list[Node], reader: Reader) -> bool:
    """The same aggregate of another column."""
    step = _step(part, "summarize")
    column = reader.column(rest[0])
    call = _only_call(step)
    if step is None or call is None or call["fn"] not in NAMES or not column.kind.numeric:
        return False
    _renamed(part, step, reader.aggregate(call["fn"], column))
    return True


def _only_call(step: dict[str, Any] | None) -> re.Match[str] | None:
    """The only metric of a summary as the call of one function, else None."""
    if step is None or len(step["metrics"]) != 1:
        return None
    return CALL.match(step["metrics"][0].rpartition(" as ")[0] or step["metrics"][0])


def _renamed(part: Part, step: dict[str, Any], metric: tuple[str, str]) -> None:
    """Puts another metric in the place of the only one, in the order too."""
    formula, name = metric
    old = _called(step["metrics"][0])
    step["metrics"] = [f"{formula} as {write.name(name)}"]
    for other in part["steps"]:
        if other.get("order"):
            other["order"] = [o.replace(write.name(old), write.name(name)) for o in other["order"]]
    part["chart"] = None


def _turned(part: Part, rest: list[Node], reader: Reader) -> bool:
    """`the lowest instead`: the other end of the same ranking."""
    limit = _step(part, "limit")
    way = "asc" if rest[0].op == "min" else "desc"
    if limit is None or not limit.get("order"):
        return False
    limit["order"] = [re.sub(r"\s+(asc|desc)$", "", order) + f" {way}" for order in limit["order"][:1]]
    return True


def _drawn(part: Part, rest: list[Node], reader: Reader) -> bool:
    step = _step(part, "summarize")
    kind = rest[0].op
    if step is None or not step["by"]:
        return False
    if kind != "auto":
        part["chart"] = {
            "kind": kind,
            "x": _called(step["by"][0]),
            "y": [_called(m) for m in step["metrics"]],
            "color": None,
        }
    return True


def _sorted(part: Part, rest: list[Node], reader: Reader) -> bool:
    step = _step(part, "summarize")
    if step is None or not step["by"]:
        return False
    part["steps"] = [s for s in part["steps"] if s["op"] != "sort"]
    part["steps"].append({"op": "sort", "order": [f"{write.name(_called(step['metrics'][-1]))} {rest[0].op}"]})
    return True


EDITS: dict[str, Callable[[Part, list[Node], Reader], bool]] = {
    "": _nothing, "eC": _regrouped, "yC": _regrouped, "eg": _regrouped, "yg": _regrouped, "g": _regrouped, "t#": _topped,
    "S#": _topped, "S": _turned, "C": _measured, "G": _aggregated, "s": _drawn, "d": _sorted,
}  # fmt: skip


def _step(part: Part, op: str) -> dict[str, Any] | None:
    return next((step for step in part["steps"] if step["op"] == op), None)


def _called(named: str) -> str:
    """The name of `formula as name`."""
    return (named.rpartition(" as ")[2] or named).strip("`")


def _mentions(order: str, name: str) -> bool:
    return re.sub(r"\s+(asc|desc)$", "", order).strip("`") == name


def _filtered(part: Part, filters: list[Filter], linker: Linker) -> bool:
    """Adds conditions; one on a column that the plan already holds to a value takes its place."""
    first = part["steps"][0] if part["steps"] else None
    old = JOINED.split(first["where"]) if first and first["op"] == "filter" else []
    names = [linker.written(id) for f in filters for id in f.columns]
    added = any(f.op == "!=" for f in filters)
    kept = [c for c in old if added or not any(name in c for name in names)]
    if (
        first is not None
        and old
        and len(kept) < len(old)
        and ("(" in first["where"].replace("year(", "").replace("month(", "") or " or " in first["where"])
    ):
        return False
    where = write.all_of([*kept, *(f.formula for f in filters)])
    step = {"op": "filter", "where": where}
    part["steps"] = [step, *(part["steps"][1:] if old else part["steps"])]
    before = [said for said in (part.get("reading") or "").split("; ") if said and not said.startswith("only ")]
    part["reading"] = "; ".join([*before, f"only {where}"])
    return True
