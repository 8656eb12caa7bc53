"""The Board page without a browser: filters, the link in the address, opening a saved board."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from qa.answer import board as boards
from qa.answer.board import Board, Pin, SharedFilter
from qa.ui.session import KEY, Session

ROOT = Path(__file__).parents[2]
PATIENCE = 120

STEP = {"op": "summarize", "by": ["state_code"], "metrics": ["count() as rows"]}
PIN = Pin(
    id="p1",
    title="Rows by state",
    reply={"reply": "plan", "lets": [], "parts": [{"title": "Rows by state", "source": "housing", "steps": [STEP]}]},
)


def opened(token: str = "") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    if token:
        app.query_params["board"] = token
    app = app.switch_page("pages/board.py").run()
    assert not app.exception
    return app


def here(app: AppTest) -> Session:
    found: Session = app.session_state[KEY]
    return found


def board_filter(app: AppTest) -> str:
    return f"board-filter-{here(app).uploaders}"


def test_a_board_in_the_address_is_opened_with_its_filters() -> None:
    saved = Board(title="States", pins=[PIN], filters=[SharedFilter(column="state_code", values=["CA", "TX"])])
    app = opened(boards.to_token(saved))
    assert here(app).board == saved
    tile = next(iter(here(app).tiles.values()))
    assert tile.status == "answered" and tile.parts[0].table["state_code"].to_list() == ["CA", "TX"]


def test_a_broken_board_in_the_address_is_told_and_the_page_works() -> None:
    app = opened("q1nonsense")
    assert app.error and "cannot be read" in app.error[0].value
    assert here(app).board == Board()


def test_a_board_with_pins_is_in_the_address() -> None:
    app = opened(boards.to_token(Board(pins=[PIN])))
    app.text_input(key=f"board-title-{here(app).uploaders}").set_value("Renamed").run()
    assert boards.from_token(str(app.query_params["board"])).title == "Renamed"


def test_two_filters_are_chosen_one_after_the_other_and_both_hold() -> None:
    app = opened(boards.to_token(Board(pins=[PIN])))
    app.multiselect(key=board_filter(app)).set_value(["state_code", "size_rank"]).run()
    assert here(app).board.filters == []
    app.number_input(key=f"most-{here(app).uploaders}-size_rank").set_value(50).run()
    app.multiselect(key=f"only-{here(app).uploaders}-state_code").set_value(["CA"]).run()
    assert not app.exception
    assert {one.column for one in here(app).board.filters} == {"state_code", "size_rank"}
    newest = list(here(app).tiles.values())[-1]
    assert newest.parts[0].table["state_code"].to_list() == ["CA"]
    app.multiselect(key=board_filter(app)).set_value([]).run()
    assert here(app).board.filters == []


@pytest.mark.parametrize("column", ["nowhere"])
def test_a_filter_that_does_not_fit_here_is_kept_and_told(column: str) -> None:
    saved = Board(pins=[PIN], filters=[SharedFilter(column=column, values=["x"])])
    app = opened(boards.to_token(saved))
    assert here(app).board.filters == saved.filters
    assert any("The filter on" in caption.value for caption in app.caption)
