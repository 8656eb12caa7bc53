"""The folders of QA_DATA on the page: all their tables together, each file alone, what is broken told."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from qa.settings import settings
from tests.app.test_ask_page import PATIENCE, ROOT, ask, here, texts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "books"
    (place / "old").mkdir(parents=True)
    (place / "authors.csv").write_text("author_id,name,country\n1,Ana,Peru\n2,Bo,Chad\n3,Cy,Peru\n")
    (place / "old" / "books.csv").write_text("book_id,author_id,pages\n1,1,100\n2,1,300\n3,2,50\n4,3,70\n")
    (place / "broken.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    (place / ".hidden.csv").write_text("a\n1\n")
    monkeypatch.setenv("QA_DATA", f'["{place}"]')
    _forget()
    yield place
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    settings.cache_clear()
    st.cache_resource.clear()


def test_a_folder_is_one_dataset_of_related_tables(folder: Path) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    offered = {key for key in app.selectbox[0].options if "housing" not in key.lower()}
    assert {"books (3 files together)", "authors.csv", str(Path("old") / "books.csv")} <= offered
    assert not any("hidden" in label for label in offered)
    here(app).dataset_key = f"file:{folder}"
    app.run()
    assert "1 of its files could not be read: broken.xlsx." in unescape(texts(app))
    entry = ask(app, "total pages by country")
    assert entry.answer.status == "answered", entry.answer
    assert dict(entry.answer.parts[0].table.rows()) == {"Peru": 470, "Chad": 50}


def test_a_changed_file_of_a_folder_is_read_anew(folder: Path) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    here(app).dataset_key = f"file:{folder}"
    app.run()
    assert ask(app, "how many authors are there").answer.parts[0].value == 3
    (folder / "authors.csv").write_text("author_id,name,country\n1,Ana,Peru\n2,Bo,Chad\n3,Cy,Peru\n4,Di,Mali\n")
    app.run()
    assert ask(app, "how many authors are there now").answer.parts[0].value == 4
