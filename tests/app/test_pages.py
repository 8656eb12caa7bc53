"""Every page opens by itself, and the settings stay within what the server allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from qa.answer import board as boards
from qa.ui.page import PAGES
from qa.ui.session import KEY, Session
from qa.ui.settings_page import chosen
from qa.ui.sign_in import allowed

ROOT = Path(__file__).parents[2]


def opened(file: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    if file != "app.py":
        page = page.switch_page(file)
    page.run()
    assert not page.exception
    return page


@pytest.mark.parametrize("file", [file for file, _, _ in PAGES.values()])
def test_a_page_opens_without_the_others(file: str) -> None:
    assert len(opened(file).title) == 1


def test_the_most_private_level_is_kept_for_this_session() -> None:
    page = opened("pages/settings.py")
    page.radio(key="privacy").set_value("names").run()
    session: Session = page.session_state[KEY]
    assert session.settings.privacy == "names"


def test_no_limit_goes_above_the_servers_own() -> None:
    page = opened("pages/settings.py")
    session: Session = page.session_state[KEY]
    for field in ("query_seconds", "query_memory_mb", "result_rows", "max_cost_question", "max_cost_session"):
        assert page.number_input(key=field).max == getattr(session.settings, field)


@pytest.mark.parametrize(
    ("name", "key", "base", "wanted"),
    [
        ("a key typed here is used", "mine", "", {"api_key": "mine"}),
        ("without a key the server's own stays", "", "", {}),
        ("a new address never gets the server's key", "", "http://elsewhere.invalid", {"api_key": "no-key-given"}),
        ("a new address gets the key typed with it", "mine", "http://elsewhere.invalid", {"api_key": "mine"}),
    ],
)
def test_keys_go_only_where_they_belong(name: str, key: str, base: str, wanted: dict[str, str]) -> None:
    change = chosen("openai/x", key, base, None)
    assert {field: value for field, value in change.items() if field == "api_key"} == wanted


@pytest.mark.parametrize(
    ("name", "email", "allow", "wanted"),
    [
        ("an empty list lets in whoever can sign in", "a@x.org", (), True),
        ("an address on the list", "A@x.org", ("a@x.org",), True),
        ("a domain on the list", "a@x.org", ("@x.org",), True),
        ("a domain that only ends alike", "a@evilx.org", ("@x.org",), False),
        ("an address that is not on the list", "b@x.org", ("a@x.org",), False),
        ("no address at all", "", ("@x.org",), False),
    ],
)
def test_the_allow_list(name: str, email: str, allow: tuple[str, ...], wanted: bool) -> None:
    assert allowed(email, allow) is wanted


def test_a_pinned_answer_is_on_the_board_and_the_board_opens_again_from_its_file() -> None:
    app = opened("app.py")
    app.chat_input(key="question").set_value("how many rows have median list price over 1000000").run()
    session: Session = app.session_state[KEY]
    if session.job:
        assert session.job.wait(120)
        app.run()
    entry = session.entries[-1]
    app.button(key=f"pin-{entry.id}").click().run()
    assert [pin.title for pin in session.board.pins] == [entry.question]
    app.switch_page("pages/board.py").run()
    assert not app.exception
    assert entry.answer.parts[0].sentences[0] in [text.value for text in app.text]
    again = opened("pages/board.py")
    again.file_uploader(key="board-0").upload("board.json", boards.to_json(session.board)).run()
    assert not again.exception
    assert entry.answer.parts[0].sentences[0] in [text.value for text in again.text]
