"""A model's text gives exactly one plan or a named refusal; nothing is mended."""

from __future__ import annotations

import json

import pytest

from qa.errors import PlanError
from qa.planner.reply_text import extract

PLAN = {"reply": "plan", "lets": [], "parts": [{"title": "a {b} <think>c</think>", "source": "t", "steps": []}]}
DECOY = {"reply": "plan", "lets": [], "parts": [{"title": "decoy", "source": "t", "steps": []}]}
P, D = json.dumps(PLAN), json.dumps(DECOY)

ACCEPTED = {
    "bare": P,
    "fenced": f"```json\n{P}\n```",
    "fenced in upper case with CRLF": f"```JSON\r\n{P}\r\n```\r\n",
    "prose with a brace smiley around it": f"Sure! Here is the plan:\n```\n{P}\n```\nHope this helps {{:-)}}",
    "fence never closed": f"```json\n{P}",
    "byte order mark and space": f"\ufeff  \n{P}\n",
    "pretty printed": json.dumps(PLAN, indent=2),
    "the same object twice": f"{P}\nagain:\n{P}",
    "a decoy inside a think block": f"<think>maybe {D}</think>{P}",
    "a decoy inside an upper-case think block": f"<THINK>maybe {D}</THINK>\n{P}",
    "reasoning whose opening mark the template swallowed": f"maybe {D}\n</think>\n{P}",
    "bracketed reasoning": f"[THINK]maybe {D}[/THINK]{P}",
    "a broken object inside a think block": f'<think>{{"reply": "pl</think>{P}',
    "another small object in the prose": f'The columns are {{"a": 1}}.\n{P}',
    "text after the object": f"{P}\n\nThis plan adds the sales {{of the North}}.",
}

REFUSED = {
    "empty": ("", "empty_reply"),
    "nothing": (None, "empty_reply"),
    "blank": ("\ufeff \n", "empty_reply"),
    "an empty fence": ("```json\n```", "no_json"),
    "an apology": ("I'm sorry, I can't help with that.", "no_json"),
    "two different plans": (f"```json\n{D}\n```\nor better\n```json\n{P}\n```", "two_replies"),
    "a cut plan": (P[:-20], "broken_json"),
    "a cut plan whose inner object is whole": (P[:-3], "broken_json"),
    "a trailing comma": (P[:-1] + ",}", "broken_json"),
    "single quotes": (P.replace('"', "'"), "no_json"),
    "a comment": ('{"reply": "plan", // note\n "parts": []}', "broken_json"),
    "not a number": ('{"reply": "plan", "n": NaN}', "broken_json"),
    "a field named twice": ('{"reply": "plan", "reply": "decline"}', "repeated_key"),
    "only reasoning": (f"<think>{P}</think>", "no_json"),
    "reasoning that never ends": (f"<think>{P}", "no_json"),
    "a list": ("[1, 2]", "no_json"),
    "an empty object": ("{}", "no_json"),
    "a number": ("42", "no_json"),
    "a page": ("<html><body>Bad gateway</body></html>", "no_json"),
    "nesting without end": ('{"reply":' * 100_000, "broken_json"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_whole_plan_is_found_wherever_it_stands(name: str) -> None:
    assert extract(ACCEPTED[name]) == PLAN


@pytest.mark.parametrize("name", REFUSED)
def test_text_without_exactly_one_whole_plan_is_refused_by_name(name: str) -> None:
    text, code = REFUSED[name]
    with pytest.raises(PlanError) as refused:
        extract(text)
    assert [issue.code for issue in refused.value.issues] == [code]
