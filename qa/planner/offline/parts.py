"""Questions that ask several things: cut at sentences and at `and which …`, planned one by one."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]

SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[a-z0-9'\")\]]\.)\s+(?=[A-Z\"'])|;\s+")
CLAUSE = re.compile(
    r",?\s+and\s+(?=(?:which|what|how many|how much|list|show|is there|are there|does|do"
    r"|(?:who|when|where)\s+(?:is|are|was|were|did|does|do|has|have))\b)",
    re.IGNORECASE,
)
PRONOUN = re.compile(r"\b(?:it|its|they|them|their|those|these|that|he|she|his|her)\b", re.IGNORECASE)
AGAIN = re.compile(r"^(?:list|return|show|give|answer|report|tell)\b", re.IGNORECASE)
FOLLOW = re.compile(r"^(?:and\s+)?(?:what about\s+|how about\s+)?['\"“‘](?P<text>.+?)['\"”’]\s*\??$", re.IGNORECASE)
OVERALL = re.compile(r",?\s+and\s+(?:overall|in total|altogether)\s*(?=[?.!]|$)", re.IGNORECASE)
TWICE = re.compile(
    r"^(?P<head>.+?)\s+(?P<by>per|by)\s+(?P<first>[^,]+?),?\s+and\s+(?P=by)\s+(?P<second>[^,]+?)[?.!]*$", re.IGNORECASE
)
VALUE = re.compile(
    r"^what (?:is|was|are|were) (?:the|that|this|its) (?:value|amount|number|figure|score)s?\s*\??$", re.IGNORECASE
)
"""asks for the figure behind the answer before it"""
ALSO = re.compile(r",\s+and\s+(?:the\s+)?(?=[^,]+\b(?:per|by|for each)\b)", re.IGNORECASE)
FILLER = re.compile(
    r"^(?:can|could|would) you (?:please )?(?:help|find|calculate|provide|do|show|tell|give|list|compute)(?: me| us)?(?: with)?"
    r"(?: that| this| it| them)?(?: for me| to me| please)?\s*\?*$|^how (?:do|can|would) i (?:do|find|get|calculate) (?:that|this|it)\s*\??$"
    r"|^(?:please|thanks|thank you)[.!]*$|^(?:hi|hello)[,.!]*$",
    re.IGNORECASE,
)
MOST = 10


def planned(question: str, plan: Callable[[str], Reply]) -> Reply | None:
    """One plan with a part for each thing asked.

    None when one thing is asked. Sentences that point back (`how many does it have?`, `List the name and …`)
    are read together with the one before.
    """
    texts = cut(question)
    if len(texts) == 2 and VALUE.match(texts[1]):
        figured = _with_figure(plan(texts[0]))
        if figured is not None:
            return figured
    if len(texts) < 2 and (not texts or (texts[0] == question.strip() and not OVERALL.search(question))):
        return None
    if any(PRONOUN.search(text) or AGAIN.match(text) for text in texts[1:]):
        own = all(_own(plan(text)) for text in texts[1:]) and plan(texts[0])["reply"] == "plan"
        if not own or any(PRONOUN.search(text) for text in texts[1:]):
            return plan(question)
    made: list[dict[str, Any]] = []
    lets: dict[str, Any] = {}
    for text in texts[:MOST]:
        overall = OVERALL.search(text)
        reply = plan(text[: overall.start()] + text[overall.end() :] if overall else text)
        if reply["reply"] != "plan":
            return reply
        if any(lets.setdefault(let["name"], let) != let for let in reply.get("lets", [])):
            return plan(question)
        made += reply["parts"]
        if overall:
            made.append(_overall(reply["parts"][-1]))
    return {"reply": "plan", "lets": list(lets.values()), "parts": _without_restated_ranges(made)}


def _without_restated_ranges(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`the range of age? Give the minimum and maximum age.` asks once: the two ends are the range."""
    measured = [_metrics(part) for part in parts]
    kept = []
    for part, metrics in zip(parts, measured, strict=True):
        ends = set(metrics[0].split(" - ")) if len(metrics) == 1 else set()
        if len(ends) != 2 or not any(ends == set(other) for other in measured):
            kept.append(part)
    return kept


def _metrics(part: dict[str, Any]) -> list[str]:
    """The formulas of a part that is one summary over all rows, without their names."""
    steps = part["steps"]
    if len(steps) != 1 or steps[0]["op"] != "summarize" or steps[0]["by"]:
        return []
    return [metric.partition(" as ")[0] for metric in steps[0]["metrics"]]


def _with_figure(reply: Reply) -> Reply | None:
    """The plan with the measure shown that its answer was chosen by; None when no group was chosen."""
    if reply["reply"] != "plan" or not any(step["op"] == "summarize" for step in reply["parts"][0]["steps"]):
        return None
    return {**reply, "parts": [{**part, "show": None} for part in reply["parts"]]}


def _own(reply: Reply) -> bool:
    """True for a plan that says itself which rows it is about, so that it needs no sentence before it."""
    return reply["reply"] == "plan" and [step["op"] for step in reply["parts"][0]["steps"][:1]] == ["filter"]


def cut(question: str) -> list[str]:
    """The single questions inside a question; sentences that ask nothing are left out."""
    found: list[str] = []
    for sentence in SENTENCE.split(question.strip()):
        text = sentence.strip()
        if not text or FILLER.match(text):
            continue
        follow = FOLLOW.match(text)
        if follow and found:
            found.append(_again(found[-1], follow["text"]))
            continue
        found += [part for clause in CLAUSE.split(text) if clause.strip() for part in _twice(clause.strip())]
    return found


def _twice(text: str) -> list[str]:
    """`visitors per country and per continent` asks twice; so does `the total, and the amount per month`."""
    twice = TWICE.match(text)
    if twice:
        return [f"{twice['head']} {twice['by']} {twice[which]}" for which in ("first", "second")]
    also = ALSO.search(text)
    if also and not re.search(r"\b(?:per|by|for each)\b", text[: also.start()], re.IGNORECASE):
        return [text[: also.start()], f"What is the {text[also.end() :]}"]
    return [text]


def _overall(part: dict[str, Any]) -> dict[str, Any]:
    """The same part over all rows."""
    whole: dict[str, Any] = copy.deepcopy(part)
    kept = []
    for step in whole["steps"]:
        if step["op"] == "summarize":
            step["by"] = []
        if step["op"] in ("filter", "derive", "summarize"):
            kept.append(step)
    whole.update(steps=kept, show=None, chart=None, title=f"{whole['title']}, overall")
    return whole


def _again(question: str, text: str) -> str:
    """The last question with its quoted text replaced."""
    quoted = list(re.finditer(r"(['\"“‘])(.+?)(['\"”’])(?=\W|$)", question))
    if not quoted:
        return question
    last = quoted[-1]
    return question[: last.start(2)] + text + question[last.end(2) :]
