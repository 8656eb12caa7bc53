"""The Data page undoes each decision of the reader, and tries on what the semantic file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from qa.data.read import load
from qa.types import Role
from qa.ui.session import KEY, Session, Upload

ROOT = Path(__file__).parents[2]
DATES = "day,n\n01/02/2024,1\n03/04/2024,2\n03/04/2024,2\n"
CODES = "x,weight of it\nA,1 kg\nB,500 g\n"


def shown(tmp_path: Path, content: str) -> AppTest:
    path = tmp_path / "mine.csv"
    path.write_text(content)
    here = Session()
    here.uploads["mine.csv"] = Upload("mine.csv", path, tuple(load(path)))
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    page.session_state[KEY] = here
    page = page.switch_page("pages/data.py").run()
    assert not page.exception
    return page


def read(page: AppTest) -> Upload:
    session: Session = page.session_state[KEY]
    return session.uploads["mine.csv"]


def test_a_decision_is_undone_beside_it(tmp_path: Path) -> None:
    page = shown(tmp_path, DATES)
    next(button for button in page.button if button.label == "Month first").click().run()
    assert not page.exception
    assert read(page).options.dayfirst is False
    assert read(page).tables[0].frame["day"][0].month == 1


def test_what_is_odd_is_said(tmp_path: Path) -> None:
    page = shown(tmp_path, DATES)
    assert any("repeat another row" in text.value for text in page.markdown)


def test_the_file_is_read_another_way(tmp_path: Path) -> None:
    page = shown(tmp_path, CODES)
    column = next(box for box in page.selectbox if box.label == "Read a column")
    column.set_value("weight of it")
    next(box for box in page.selectbox if box.label == "as").set_value("text")
    next(button for button in page.button if button.label == "Read again").click().run()
    assert read(page).tables[0].frame["weight of it"].to_list() == ["1 kg", "500 g"]


def test_what_the_columns_mean_is_checked_and_tried_on(tmp_path: Path) -> None:
    page = shown(tmp_path, CODES)
    area = next(area for area in page.text_area if area.label == "Semantic file")
    area.set_value("version: 1\ncolumns:\n  x:\n    role: id\n    synonyms: [parcel]\n").run()
    next(button for button in page.button if button.label == "Use it in this visit").click().run()
    assert not page.exception
    assert read(page).tables[0].column("x").role is Role.ID


@pytest.mark.parametrize(("text", "told"), [("columns: [", "error"), ("version: 1\ncolumns:\n  nope: {}\n", "warning")])
def test_a_semantic_file_that_does_not_fit_says_why(tmp_path: Path, text: str, told: str) -> None:
    page = shown(tmp_path, CODES)
    next(area for area in page.text_area if area.label == "Semantic file").set_value(text).run()
    assert not page.exception
    assert getattr(page, told)
