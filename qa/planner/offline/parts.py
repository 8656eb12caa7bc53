"""Questions that ask several things: cut at sentences and at `and which …`, planned one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]

SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[a-z0-9'\")\]]\.)\s+(?=[A-Z\"'])|;\s+")
CLAUSE = re.compile(
    r",?\s+and\s+(?=(?:which|what|who|how many|how much|when|where|list|show|is there|are there|does|do)\b)",
    re.IGNORECASE,
)
FOLLOW = re.compile(r"^(?:and\s+)?(?:what about\s+|how about\s+)?['\"“‘](?P<text>.+?)['\"”’]\s*\??$", re.IGNORECASE)
FILLER = re.compile(
    r"^(?:can|could|would) you (?:please )?(?:help|find|calculate|provide|do|show|tell|give|list|compute)(?: me| us)?(?: with)?"
    r"(?: that| this| it| them)?(?: for me| to me| please)?\s*\?*$|^how (?:do|can|would) i (?:do|find|get|calculate) (?:that|this|it)\s*\??$"
    r"|^(?:please|thanks|thank you)[.!]*$|^(?:hi|hello)[,.!]*$",
    re.IGNORECASE,
)
MOST = 10


def planned(question: str, plan: Callable[[str], Reply]) -> Reply | None:
    """One plan with a part for each thing asked; None unless every part could be planned."""
    texts = cut(question)
    if len(texts) == 1 and texts[0] == question.strip():
        return None
    if not texts or len(texts) > MOST:
        return None
    made: list[dict[str, Any]] = []
    for text in texts:
        reply = plan(text)
        if reply["reply"] == "clarify" and len(texts) == 1:
            return reply
        if reply["reply"] != "plan":
            return None
        made += reply["parts"]
    return {"reply": "plan", "lets": [], "parts": made}


def cut(question: str) -> list[str]:
    """The single questions inside a question; sentences that ask nothing are left out."""
    found: list[str] = []
    for sentence in SENTENCE.split(question.strip()):
        if FILLER.match(sentence.strip()):
            continue
        follow = FOLLOW.match(sentence.strip())
        if follow and found:
            found.append(_again(found[-1], follow["text"]))
            continue
        found += [clause.strip() for clause in CLAUSE.split(sentence) if clause.strip()]
    return found


def _again(question: str, text: str) -> str:
    """The last question with its quoted text replaced."""
    quoted = list(re.finditer(r"(['\"“‘])(.+?)(['\"”’])(?=\W|$)", question))
    if not quoted:
        return question
    last = quoted[-1]
    return question[: last.start(2)] + text + question[last.end(2) :]
