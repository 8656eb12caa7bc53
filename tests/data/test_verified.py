"""A verified question is found again when it is asked in other words for the same, and only then."""

from __future__ import annotations

import pytest

from qa.data.semantics import Semantics, dump_semantics, parse_semantics
from qa.data.verified import verified_match, with_question, without_question

PLAN = {"parts": [{"source": "sales", "steps": []}]}
KNOWN = {
    "sales": with_question(
        with_question(Semantics(), "Top 5 regions by sales over 1,000?", PLAN, by="ann"),
        "average sales not in Paris",
        {"parts": []},
    )
}


@pytest.mark.parametrize(
    ("asked", "exact"),
    [
        ("Top 5 regions by sales over 1,000?", True),
        ("top 5 regions by sales over 1000", True),
        ("Which are the top 5 regions by sales over 1000", False),
        ("show me the highest 5 regions by sale over 1,000, please", False),
        ("mean sales not in Paris", False),
        ("Average sales, not in PARIS!", True),
        ("top 10 regions by sales over 1000", None),
        ("top 5 regions by sales under 1000", None),
        ("top 5 regions by sales", None),
        ("bottom 5 regions by sales over 1000", None),
        ("top 5 sales by regions over 1000", None),
        ("average sales in Paris", None),
        ("average sales not in Rome", None),
        ("top 5 regions by sales over -1000", None),
        ("average sales not in Paris+", None),
        ("", None),
        ("the of", None),
    ],
)
def test_the_same_question_is_found_and_another_is_not(asked: str, exact: bool | None) -> None:
    found = verified_match(asked, KNOWN)
    assert (found.exact if found else None) is exact
    assert found is None or found.table == "sales"


def test_two_plans_for_the_same_words_are_no_match() -> None:
    other = {"other": with_question(Semantics(), "average sales not in Paris", {"parts": [1]})}
    assert verified_match("average sales not in Paris", {**KNOWN, **other}) is None
    same = {"other": with_question(Semantics(), "average sales not in Paris", {"parts": []})}
    assert verified_match("average sales not in Paris", {**KNOWN, **same}) is not None


def test_saving_again_replaces_and_removing_removes() -> None:
    semantics = with_question(KNOWN["sales"], "TOP 5 regions by sales over 1000", {"parts": [2]})
    assert [saved.plan for saved in semantics.questions] == [{"parts": []}, {"parts": [2]}]
    assert len(without_question(semantics, "average sales not in paris").questions) == 1
    assert parse_semantics(dump_semantics(semantics)) == semantics
