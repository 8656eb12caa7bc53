"""Words, numbers and dates as people write them, and the word lists that know them."""

from __future__ import annotations

import pytest

from qa.planner.offline.dates import Period, periods
from qa.planner.offline.lexicon import lexicon
from qa.planner.offline.text import header_words, key, numbers, tokens


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("over $1M", 1_000_000.0),
        ("more than 10k", 10_000.0),
        ("10,000 listings", 10_000.0),
        ("2.5 million", 2_500_000.0),
        ("56.16 m", 56.16),
        ("-3.5 degrees", -3.5),
        ("20%", 20.0),
    ],
)
def test_a_number_is_read_as_it_is_meant(text: str, value: float) -> None:
    assert [n.value for n in numbers(text, tokens(text), dict(lexicon().scales))] == [value]


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("may 4, 2009", Period(2009, 5, 4)),
        ("18 may", Period(None, 5, 18)),
        ("march 2024", Period(2024, 3)),
        ("2024-03-15", Period(2024, 3, 15)),
        ("the 5th of november 1978", Period(1978, 11, 5)),
        ("august22,2006", Period(2006, 8, 22)),
    ],
)
def test_a_date_is_found_in_any_of_its_spellings(text: str, period: Period) -> None:
    words = [token.folded for token in tokens(text)]
    assert period in [found for _, _, found in periods(words, lexicon().months)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("directed", "director"),
        ("survived", "survivors"),
        ("attended", "attendance"),
        ("women", "woman"),
        ("won", "winner"),
    ],
)
def test_relatives_of_a_word_share_its_root(one: str, other: str) -> None:
    assert lexicon().root(one) == lexicon().root(other)


def test_headers_are_cut_into_words() -> None:
    assert header_words("PassengerId") == ["passenger", "id"]
    assert header_words("for_sale_inventory") == ["for", "sale", "inventory"]


def test_values_read_alike_without_case_accents_and_punctuation() -> None:
    assert key("Radek Štěpánek") == key("radek stepanek")
    assert key("7–6(9), 7–6(1)") == key("7-6 (9) 7-6 (1)")


def test_a_language_without_a_word_list_is_named() -> None:
    with pytest.raises(LookupError, match="xx"):
        lexicon("xx")
