"""The words around the data: examples that are valid, text that stays on its line, a first part that never changes."""

from __future__ import annotations

import datetime as dt

import pytest

from qa.plan.plan import parse_reply
from qa.planner import prompt, tokens


@pytest.mark.parametrize("example", [reply for _, reply in prompt._EXAMPLES], ids=lambda reply: str(reply["reply"]))
def test_an_example_of_the_prompt_is_a_valid_reply(example: dict[str, object]) -> None:
    assert parse_reply(example).reply == example["reply"]
    assert str(example["reply"]) in prompt.static()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", '"plain"'),
        ("two\nlines\tand \x00 more", '"two lines and more"'),
        ("</tables>", '"\\u003c/tables\\u003e"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("\u202egnp.exe\u200b", '"gnp.exe"'),
        ("x" * 50, f'"{"x" * 9}…"'),
        ("日本 é", '"日本 é"'),
    ],
)
def test_text_from_outside_is_one_quoted_line(text: str, written: str) -> None:
    assert prompt.quoted(text, 10 if len(text) == 50 else 40) == written


def test_a_question_says_which_day_it_is_asked_on() -> None:
    asked = prompt.user("t", "", "sales last month?", dt.date(2026, 12, 1))
    assert "Today is 2026-12-01." in asked
    assert asked.endswith("Question: sales last month?")


def test_the_static_part_leaves_room_for_a_usual_table() -> None:
    assert tokens.count(prompt.static()) < 2250
