"""A board is a small file of plans: it comes back as it was, runs again, and hands out what it shows."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import board as boards
from qa.answer import codec
from qa.answer.answer import Answer
from qa.answer.board import Board, SharedFilter
from qa.answer.share import result_hash
from qa.errors import LimitExceeded, PlanError

from .results import column, frame, part, plan, summarize

REPLY = {
    "reply": "plan",
    "lets": [],
    "parts": [plan(summarize(["day"], "count() as trips"), title="Trips by day", chart=None)],
}
COLUMNS = [column("day", "text"), column("trips", "integer")]
TABLES = {"t": ["day", "Region", "tip"], "other": ["region", "x"]}


def _answer(counts: list[int], status: str = "answered") -> Answer:
    table = frame(COLUMNS, ["Fri", "Sat"], counts)
    parts = (part(COLUMNS, table, sentences=("Sat leads.",)),) if status == "answered" else ()
    return Answer(
        status=status, question="Trips <b>?", parts=parts, reply=REPLY, digests={"t": "ab" * 32},  # type: ignore[arg-type]
        result_hash=result_hash([table]), reason=None if parts else "No such column.",
    )  # fmt: skip


BOARD = boards.pinned(boards.pinned(Board(title="Mine"), _answer([1, 2]), names={"t": "trips.csv"}), _answer([3, 4]))


def test_a_pin_keeps_the_plan_and_no_rows() -> None:
    assert [pin.id for pin in BOARD.pins] == ["p1", "p2"]
    assert "Sat" not in boards.to_json(BOARD).decode()
    assert BOARD.pins[0].reply["parts"][0]["steps"] == REPLY["parts"][0]["steps"]


def test_pins_move_change_and_go() -> None:
    assert [pin.id for pin in boards.moved(BOARD, "p2", 0).pins] == ["p2", "p1"]
    assert [pin.id for pin in boards.moved(BOARD, "p1", 99).pins] == ["p2", "p1"]
    assert boards.changed(BOARD, "p1", title="New", width=3).pins[0].title == "New"
    assert [pin.id for pin in boards.unpinned(BOARD, "p1").pins] == ["p2"]
    assert boards.pinned(boards.unpinned(BOARD, "p1"), _answer([1, 2])).pins[-1].id == "p3"
    with pytest.raises(ValueError, match="width"):
        boards.changed(BOARD, "p1", width=9)


def test_a_full_board_says_so() -> None:
    full = Board(pins=[BOARD.pins[0].model_copy(update={"id": f"p{n}"}) for n in range(boards.MOST_PINS)])
    with pytest.raises(LimitExceeded, match="holds 40 answers"):
        boards.pinned(full, _answer([1, 2]))


FILTERS = st.lists(
    st.builds(
        SharedFilter,
        column=st.text(min_size=1, max_size=10),
        values=st.lists(st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=3),
        low=st.none() | st.integers() | st.text(max_size=5),
    ),
    max_size=3,
)


@given(FILTERS, st.text(max_size=20))
def test_a_board_survives_its_file_and_its_link(filters: list[SharedFilter], title: str) -> None:
    board = boards.with_filters(BOARD.model_copy(update={"title": title}), filters)
    assert boards.from_json(boards.to_json(board)) == board
    assert boards.from_token(boards.to_token(board)) == board


PIN = json.loads(boards.to_json(BOARD))["pins"][0]

HOSTILE: list[tuple[str, bytes]] = [
    ("nothing", b""),
    ("not JSON", b"{"),
    ("a list", b"[]"),
    ("another version", b'{"version": 2}'),
    ("an unknown field", json.dumps({"version": 1, "rows": []}).encode()),
    ("a repeated id", json.dumps({"pins": [PIN, PIN]}).encode()),
    ("an id that is markup", json.dumps({"pins": [PIN | {"id": "<b>"}]}).encode()),
    ("a chart that is none", json.dumps({"pins": [PIN | {"chart": "<svg>"}]}).encode()),
    ("a pin without a plan", json.dumps({"pins": [PIN | {"reply": {"reply": "decline"}}]}).encode()),
    ("a wide pin", json.dumps({"pins": [PIN | {"width": 40}]}).encode()),
    ("too many pins", json.dumps({"pins": [PIN | {"id": f"p{n}"} for n in range(99)]}).encode()),
    ("too much", b'{"title": "' + b"x" * 600_000 + b'"}'),
    ("deep nesting", b'{"pins":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
]


@pytest.mark.parametrize(("name", "data"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_file_that_is_no_board_is_a_plain_error(name: str, data: bytes) -> None:
    with pytest.raises(PlanError, match="This board cannot be read"):
        boards.from_json(data)


def test_a_link_that_is_no_board_is_a_plain_error() -> None:
    with pytest.raises(PlanError, match="This board link cannot be read"):
        boards.from_token(codec.pack({"pins": "x"}, most=6000, what="board link"))


def test_columns_in_common_ignore_case() -> None:
    assert boards.common_columns(TABLES) == ["Region"]
    assert boards.common_columns({}) == []


WHERE: list[tuple[dict[str, Any], str]] = [
    ({"values": ["N'x", 3, True]}, "`Region` in ['N''x', 3, true]"),
    ({"values": ["N", None]}, "(`Region` in ['N'] or `Region` is null)"),
    ({"values": [None]}, "`Region` is null"),
    ({"low": 1, "high": 2.5}, "`Region` >= 1 and `Region` <= 2.5"),
    ({"low": "2024-01-01"}, "`Region` >= '2024-01-01'"),
]


@pytest.mark.parametrize(("fields", "where"), WHERE)
def test_a_shared_filter_comes_before_every_other_step(fields: dict[str, Any], where: str) -> None:
    reply, whole = boards.filtered(REPLY, [SharedFilter(column="region", **fields)], TABLES)
    assert [step["op"] for step in reply["parts"][0]["steps"]] == ["filter", "summarize"]
    assert reply["parts"][0]["steps"][0]["where"] == where
    assert whole


def test_a_filter_reaches_a_part_through_its_let_and_says_when_it_does_not() -> None:
    lets = [{"name": "l", "source": "t", "steps": []}, {"name": "m", "source": "l", "steps": []}]
    reply = {"reply": "plan", "lets": lets, "parts": [plan(source="m")]}
    made, whole = boards.filtered(reply, [SharedFilter(column="day", values=["Fri"])], TABLES)
    assert made["lets"][0]["steps"]
    assert not made["parts"][0]["steps"]
    assert whole
    assert not boards.filtered(REPLY, [SharedFilter(column="x", values=[1])], TABLES)[1]


def test_refreshing_says_which_pins_moved() -> None:
    asked: list[dict[str, Any]] = []

    def run(reply: dict[str, Any]) -> Answer:
        asked.append(reply)
        return _answer([1, 2])

    tiles = boards.refreshed(BOARD, run)
    assert [tile.moved for tile in tiles] == [False, True]
    assert asked == [pin.reply for pin in BOARD.pins]


def test_a_board_is_handed_out_as_one_page_and_as_markdown() -> None:
    shown = boards.with_filters(BOARD, [SharedFilter(column="day", values=["<i>"])])
    tiles = boards.refreshed(shown, lambda reply: _answer([1, 2]), TABLES)
    text = boards.html(shown, tiles)
    assert text.count('<section class="w2">') == 2
    assert "Trips &lt;b&gt;?" in text
    assert "Only where day is &lt;i&gt;." in text
    assert "<i>" not in text.split("<main>")[1]
    marked = boards.markdown(shown, tiles)
    assert marked.startswith("# Mine\n")
    assert "| Fri | 1 |" in marked
    failed = boards.refreshed(BOARD, lambda reply: _answer([1, 2], "failed"))
    assert "No such column." in boards.html(BOARD, failed)
    assert "No such column." in boards.markdown(BOARD, failed)


def test_a_pin_whose_table_is_hidden_shows_none() -> None:
    hidden = boards.changed(BOARD, "p1", table=False)
    tiles = boards.refreshed(hidden, lambda reply: _answer([1, 2]))
    assert boards.html(hidden, tiles).count("<table>") == 1
    assert isinstance(tiles[0].answer.parts[0].table, pl.DataFrame)


def test_a_pin_keeps_the_chart_that_was_picked() -> None:
    picked = boards.changed(BOARD, "p1", chart="pie")
    tiles = boards.refreshed(picked, lambda reply: _answer([1, 2]))
    assert '"type": "pie"' not in boards.html(picked, tiles)
    counted = plan(summarize(["day"], "count() as trips"))
    answer = _answer([1, 2])
    whole = answer.model_copy(update={"parts": (answer.parts[0].model_copy(update={"plan": counted}),)})
    assert '"type": "pie"' in boards.html(picked, boards.refreshed(picked, lambda reply: whole))
