"""The Ask page without a browser: what a visitor types or clicks, and what the page then shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from qa.ui.session import KEY, Entry, Session

ROOT = Path(__file__).parents[2]
PATIENCE = 120
"""seconds a run of the page may take on a busy machine"""


@pytest.fixture
def app() -> Iterator[AppTest]:
    yield AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()


def here(app: AppTest) -> Session:
    found: Session = app.session_state[KEY]
    return found


def ask(app: AppTest, question: str) -> Entry:
    app.chat_input(key="question").set_value(question).run()
    return answered(app)


def answered(app: AppTest) -> Entry:
    """Wait for the question in flight; gives its entry. The browser's own timer is not part of this test."""
    job = here(app).job
    if job is not None:
        assert job.wait(PATIENCE)
        app.run()
    assert not app.exception
    return here(app).entries[-1]


def texts(app: AppTest) -> str:
    return "\n".join(
        str(element.value) for kind in (app.text, app.markdown, app.caption, app.error) for element in kind
    )


def upload(app: AppTest, name: str, content: str | bytes) -> None:
    body = content.encode() if isinstance(content, str) else content
    app.file_uploader(key=f"uploader-{here(app).uploaders}").upload(name, body).run()
    assert not app.exception


def test_a_first_visit_has_a_table_and_answerable_examples(app: AppTest) -> None:
    assert not app.exception
    examples = [button for button in app.button if str(button.key).startswith("example-")]
    assert len(examples) >= 3
    examples[0].click().run()
    assert answered(app).answer.status == "answered"


def test_a_question_is_answered_with_its_sentence(app: AppTest) -> None:
    entry = ask(app, "how many rows have median list price over 1000000")
    assert entry.answer.status == "answered"
    assert entry.answer.parts[0].sentences[0] in texts(app)


def test_what_is_not_understood_is_declined_and_named(app: AppTest) -> None:
    entry = ask(app, "average zorblax per state")
    assert entry.answer.status == "declined"
    assert "zorblax" in texts(app)


def test_an_earlier_question_is_opened_from_the_trail(app: AppTest) -> None:
    first = ask(app, "how many rows have median list price over 1000000")
    ask(app, "average median list price by state")
    app.button(key=f"open-{first.id}").click().run()
    assert here(app).focus == first.id
    assert not app.exception


def test_an_upload_becomes_the_data_and_is_asked(app: AppTest) -> None:
    upload(app, "sales.csv", "Region,Amount\nNorth,10\nSouth,20\nNorth,30\n")
    entry = ask(app, "total Amount")
    assert entry.dataset.label == "sales.csv"
    assert entry.answer.parts[0].value == 60


def test_a_corrected_file_of_the_same_name_and_size_replaces_the_old_one(app: AppTest) -> None:
    upload(app, "sales.csv", "Region,Amount\nNorth,10\nSouth,20\nNorth,30\n")
    first = ask(app, "total Amount")
    upload(app, "sales.csv", "Region,Amount\nNorth,10\nSouth,20\nNorth,36\n")
    second = ask(app, "total Amount")
    assert (first.answer.parts[0].value, second.answer.parts[0].value) == (60, 66)
    app.button(key=f"open-{first.id}").click().run()
    assert "from an earlier version of this data" in texts(app)


@pytest.mark.parametrize("name", ["../../escape.csv", "DATA.CSV", "a'b\"<i>.csv", "nosuffix", "x" * 250 + ".csv"])
def test_an_uploaded_name_is_no_path_and_no_markup(app: AppTest, name: str) -> None:
    upload(app, name, "k,v\na,1\nb,2\n")
    session = here(app)
    folder = session.folder.resolve()
    for kept in session.uploads.values():
        assert kept.path.resolve().is_relative_to(folder)
        assert len(kept.shown) <= 90
    assert session.uploads or session.upload_errors
    if session.uploads:
        assert ask(app, "total v").answer.parts[0].value == 3


def test_a_file_that_is_no_table_says_why_and_the_page_goes_on(app: AppTest) -> None:
    upload(app, "broken.xlsx", b"PK\x03\x04 not a workbook")
    assert here(app).upload_errors
    assert "broken" in texts(app)
    assert "upload1" not in texts(app)
    assert ask(app, "how many rows have median list price over 1000000").answer.status == "answered"


def test_sessions_do_not_share_questions_or_files() -> None:
    one = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    upload(one, "mine.csv", "k,v\na,1\n")
    ask(one, "total v")
    two = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    assert here(two).entries == [] and here(two).uploads == {}
    assert here(one).id != here(two).id


def test_a_question_of_only_spaces_is_not_asked(app: AppTest) -> None:
    app.chat_input(key="question").set_value("   ").run()
    assert here(app).entries == []


def test_a_newer_file_asks_the_old_questions_again_and_says_what_moved(app: AppTest) -> None:
    upload(app, "sales.csv", "Region,Amount\nNorth,10\nSouth,20\nNorth,30\n")
    ask(app, "total Amount")
    ask(app, "total Amount by Region")
    ask(app, "number of rows")
    assert "reask-all" not in {button.key for button in app.button}
    upload(app, "sales.csv", "Region,Amount\nNorth,10\nSouth,20\nNorth,36\n")
    app.button(key="reask-all").click().run()
    assert not app.exception
    shown = texts(app)
    assert "2 of 3 answers" in shown
    assert "60" in shown and "66" in shown
    assert [entry.answer.parts[0].value for entry in here(app).entries[-3:]] == [66, None, 3]
    assert "reask-all" not in {button.key for button in app.button}
