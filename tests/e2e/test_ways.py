"""The longer ways through the page: on every screen, with every format, and back through a link or a record."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.steps import BUSY, PHONE, ask, download, go, settled, upload, visit

pytestmark = pytest.mark.e2e

SALES = pl.DataFrame({"region": ["North", "South", "North", "East"], "amount": [10, 20, 30, 40]})
TOTALS = {"East": 40, "North": 40, "South": 20}
FILMS = "director,title,year\nAnn,A,1990\nAnn,B,1991\nBob,C,1992\nEve,D,1993\n"


def _sqlite(frame: pl.DataFrame, path: Path) -> None:
    with sqlite3.connect(path) as database:
        name = path.name.split(".")[0]
        database.execute(f"create table {name} (region text, amount_{name} integer)")
        database.executemany(f"insert into {name} values (?, ?)", frame.rows())


FORMATS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "packed.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    "tabbed.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "sheet.xlsx": lambda frame, path: frame.write_excel(path),
    "column.parquet": lambda frame, path: frame.write_parquet(path),
    "lines.ndjson": lambda frame, path: frame.write_ndjson(path),
    "base.sqlite": _sqlite,
}


def test_each_format_is_uploaded_and_asked(page: Page, server: str, tmp_path: Path) -> None:
    files = []
    for name, write in FORMATS.items():
        stem = name.split(".")[0]
        write(SALES.rename({"amount": f"amount_{stem}"}), tmp_path / name)
        files.append(tmp_path / name)
    visit(page, server)
    upload(page, *files)
    for name in FORMATS:
        stem = name.split(".")[0]
        expect(page.locator(".st-key-description")).to_contain_text(f"{stem} 4 rows")
        answer = ask(page, f"total amount_{stem}")
        expect(answer.locator('[class*="st-key-value-"]')).to_have_text("100")


READERS: dict[str, Callable[[bytes], dict[str, int]]] = {
    "CSV": lambda data: dict(pl.read_csv(io.BytesIO(data)).rows()),
    "Excel": lambda data: dict(pl.read_excel(io.BytesIO(data)).rows()),
    "Parquet": lambda data: dict(pl.read_parquet(io.BytesIO(data)).rows()),
    "JSON": lambda data: dict(json.loads(data)["rows"]),
}


def test_each_download_holds_the_table(page: Page, server: str, tmp_path: Path) -> None:
    SALES.write_csv(tmp_path / "sales.csv")
    visit(page, server)
    upload(page, tmp_path / "sales.csv")
    answer = ask(page, "total amount by region")
    for format, read in READERS.items():
        assert read(download(page, answer, format)) == TOTALS, format
    assert "Plotly" in download(page, answer, "Chart as a page").decode()
    assert download(page, answer, "Chart as PNG").startswith(b"\x89PNG")


SCREENS = {
    "light desktop": ("light", None),
    "dark desktop": ("dark", None),
    "light phone": ("light", (390, 844)),
    "dark phone": ("dark", (390, 844)),
}


@pytest.mark.parametrize(("scheme", "size"), SCREENS.values(), ids=SCREENS)
def test_the_whole_way_on_every_screen(
    browser: Browser, server: str, tmp_path: Path, scheme: str, size: tuple[int, int] | None
) -> None:
    """First visit, question, follow-up, refusal, a question back and its choice, edit, pin, board, record."""
    (tmp_path / "films.csv").write_text(FILMS, encoding="utf-8")
    screen = {"viewport": {"width": size[0], "height": size[1]}, "is_mobile": True, "user_agent": PHONE} if size else {}
    with browser.new_context(color_scheme=scheme, **screen) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(BUSY)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        visit(page, server)
        ask(page, "average median list price by state")
        follow = ask(page, "only the top 5")
        expect(follow.get_by_test_id("stDataFrame")).to_be_visible()
        expect(follow.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
        follow.get_by_role("button", name="Pin", exact=True).click()
        expect(follow.get_by_role("button", name="Unpin", exact=True)).to_be_visible()
        expect(ask(page, "average zorblax per state")).to_contain_text("zorblax")
        upload(page, tmp_path / "films.csv")
        back = ask(page, "How many directors are there?")
        back.get_by_role("button", name="distinct director").click()
        value = page.locator('[class*="st-key-value-"]').first
        expect(value).to_have_text("3", timeout=BUSY)
        page.locator('[class*="st-key-answer-"]').get_by_role("button", name="Edit", exact=True).click()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled(timeout=BUSY)
        _fits(page)
        go(page, "Board")
        expect(page.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
        _fits(page)
        go(page, "Audit")
        expect(page.get_by_test_id("stDataFrame").first).to_be_visible(timeout=BUSY)
        _fits(page)
        assert [url for url in asked if not url.startswith((server, "data:", "blob:", "ws:"))] == []


def _fits(page: Page) -> None:
    """Nothing is wider than the screen."""
    settled(page)
    assert page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth") <= 0


def _link(page: Page) -> str:
    page.get_by_role("button", name="Share").click()
    return page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()


def test_a_shared_link_with_a_changed_file_says_what_differs(
    page: Page, browser: Browser, server: str, tmp_path: Path
) -> None:
    path = tmp_path / "sales.csv"
    SALES.write_csv(path)
    visit(page, server)
    upload(page, path)
    ask(page, "total amount by region")
    link = _link(page)
    SALES.with_columns(amount=pl.col("amount") + 1).write_csv(path)
    with browser.new_context() as other:
        guest = other.new_page()
        visit(guest, link)
        expect(guest.get_by_text("needs the file", exact=False)).to_be_visible(timeout=BUSY)
        upload(guest, path)
        expect(guest.get_by_text("has changed since the link was made", exact=False)).to_be_visible(timeout=BUSY)
        expect(guest.get_by_text("The result is different", exact=False)).to_be_visible()
        shown = guest.locator('[class*="st-key-answer-"]')
        assert dict(pl.read_csv(io.BytesIO(download(guest, shown, "CSV"))).rows()) == {
            "East": 41,
            "North": 42,
            "South": 21,
        }


def test_newer_data_asks_again_and_says_what_moved(page: Page, server: str, tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    SALES.write_csv(path)
    visit(page, server)
    upload(page, path)
    ask(page, "total amount by region")
    SALES.with_columns(amount=pl.col("amount") + 1).write_csv(path)
    upload(page, path)
    page.get_by_role("button", name="Ask again and show what moved").click()
    moves = page.locator(".st-key-moves")
    expect(moves).to_contain_text("1 of 1 answer", timeout=BUSY)
    expect(moves).to_contain_text("North")


def test_a_board_opens_from_its_link_in_a_fresh_context(page: Page, browser: Browser, server: str) -> None:
    visit(page, server)
    ask(page, "average median list price by state").get_by_role("button", name="Pin", exact=True).click()
    go(page, "Board")
    expect(page.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
    page.get_by_role("button", name="Link", exact=True).click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert link.split("?")[1] == page.url.split("?")[1]
    with browser.new_context() as other:
        guest = other.new_page()
        visit(guest, link)
        expect(guest.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
        with guest.expect_download(timeout=BUSY) as waiting:
            guest.get_by_role("button", name="Markdown").click()
        assert "average median list price by state" in Path(waiting.value.path()).read_text(encoding="utf-8")
