"""Pictures of every state of the page: `python -m tests.e2e.screenshots [FOLDER]`, light and dark, desktop and phone."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.e2e.conftest import BROWSERS, serve
from tests.e2e.steps import PHONE, ask, go, settled, upload, visit

SIZES = {"desktop": (1440, 1700), "phone": (390, 1700)}
SCHEMES = ("light", "dark")

DIRTY = "Datum;Umsatz;Region\n31.12.2024;1.234,50 €;Nord\n01.01.2025;(200,00 €);Süd\nn/a;99,00 €;Nord\n"


def first_visit(page: Page, url: str) -> None:
    visit(page, url)


def chart(page: Page, url: str) -> None:
    visit(page, url)
    ask(page, "average median list price by state")


def line(page: Page, url: str) -> None:
    visit(page, url)
    ask(page, "average new listings by month")


def value(page: Page, url: str) -> None:
    visit(page, url)
    ask(page, "how many rows have median list price over 1000000")


def evidence(page: Page, url: str) -> None:
    value(page, url)
    page.get_by_test_id("stButtonGroup").first.get_by_text("Plan", exact=True).click()
    page.locator('[class*="st-key-evidence-"]').wait_for()
    settled(page)


def editor(page: Page, url: str) -> None:
    value(page, url)
    page.get_by_role("button", name="Edit").first.click()
    settled(page)


def share(page: Page, url: str) -> None:
    value(page, url)
    page.get_by_role("button", name="Share", exact=True).first.click()
    settled(page)


def download(page: Page, url: str) -> None:
    value(page, url)
    page.get_by_role("button", name="Download", exact=True).first.click()
    settled(page)


def changes(page: Page, url: str) -> None:
    editor(page, url)
    where = page.get_by_label("where")
    where.fill("")
    where.press_sequentially("size_rank <= 2 and regi")
    page.get_by_role("option").first.wait_for()


def clarify(page: Page, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "films.csv"
        path.write_text("director,title,year\nAnn,A,1990\nAnn,B,1991\nBob,C,1992\nEve,D,1993\n", encoding="utf-8")
        visit(page, url)
        upload(page, path)
        ask(page, "How many directors are there?")


def moved(page: Page, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.csv"
        visit(page, url)
        for last in ("40", "46"):
            path.write_text(f"region,amount\nNorth,10\nSouth,20\nNorth,30\nEast,{last}\n", encoding="utf-8")
            upload(page, path)
            if last == "40":
                ask(page, "total amount by region")
                ask(page, "number of rows")
    page.get_by_role("button", name="Ask again and show what moved").click()
    page.locator(".st-key-moves").wait_for()


def broken_file(page: Page, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broken.xlsx"
        path.write_bytes(b"PK not a workbook")
        visit(page, url)
        page.get_by_role("button", name="Add files").click()
        page.get_by_test_id("stFileUploaderDropzone").wait_for()
        page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([str(path)])
        page.get_by_test_id("stAlert").first.wait_for()


def broken_link(page: Page, url: str) -> None:
    visit(page, f"{url}/?share=q1nonsense")


def record(page: Page, url: str) -> None:
    chart(page, url)
    page.get_by_role("link", name="Record").click()
    page.locator(".st-key-record").wait_for()


def declined(page: Page, url: str) -> None:
    visit(page, url)
    ask(page, "average zorblax per state")


def follow_up(page: Page, url: str) -> None:
    value(page, url)
    ask(page, "top 5 region name by average median list price")


def uploaded(page: Page, url: str) -> None:
    folder = Path(tempfile.mkdtemp())
    path = folder / "umsatz.csv"
    path.write_text(DIRTY, encoding="utf-8")
    visit(page, url)
    upload(page, path)
    shutil.rmtree(folder)


def uploaded_data(page: Page, url: str) -> None:
    uploaded(page, url)
    page.get_by_role("link", name="See the columns").click()
    page.get_by_role("heading", name="Data", level=1).wait_for()
    settled(page)


def board(page: Page, url: str) -> None:
    for question in ("average median list price by state", "how many rows have median list price over 1000000"):
        if question.startswith("average"):
            visit(page, url)
        ask(page, question).get_by_role("button", name="Pin").click()
        settled(page)
    go(page, "Board")


def audit(page: Page, url: str) -> None:
    chart(page, url)
    go(page, "Audit")


def drawn(page: Page) -> None:
    """Wait until nothing is a grey placeholder any more and every chart has its marks."""
    settled(page)
    page.wait_for_function(
        """() => !document.querySelector('[data-testid="stSkeleton"]') &&
            [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].every(c => c.querySelector('.main-svg')) &&
            [...document.querySelectorAll('[data-testid="stDataFrame"]')].every(t => t.offsetWidth > 60)"""
    )
    page.wait_for_timeout(800)


def _cold(path: str) -> Callable[[Page, str], None]:
    return lambda page, url: visit(page, f"{url}/{path}")


STATES: dict[str, Callable[[Page, str], None]] = {
    "01-first-visit": first_visit,
    "02-chart": chart,
    "03-line": line,
    "04-value": value,
    "05-evidence": evidence,
    "06-editor": editor,
    "07-share": share,
    "08-download": download,
    "09-declined": declined,
    "10-follow-up": follow_up,
    "11-upload": uploaded,
    "12-data-upload": uploaded_data,
    "13-data": _cold("data"),
    "14-board-empty": _cold("board"),
    "15-board": board,
    "16-audit": audit,
    "16-audit-record": record,
    "17-plans": _cold("plans"),
    "18-settings": _cold("settings"),
    "19-completion": changes,
    "20-clarify": clarify,
    "21-moved": moved,
    "22-broken-file": broken_file,
    "23-broken-link": broken_link,
}


def main(folder: Path, wanted: list[str]) -> None:
    """Draw every state (or those whose name holds one of `wanted`) and say what could not be drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = os.environ.get("QA_CHROMIUM") or next((p for name in BROWSERS if (p := shutil.which(name))), None)
    with tempfile.TemporaryDirectory() as own, serve(Path(own)) as url, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=binary, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for scheme in SCHEMES:
            for size, (width, height) in SIZES.items():
                for name, draw in STATES.items():
                    picture = f"{name}-{scheme}-{size}.png"
                    if wanted and not any(word in picture for word in wanted):
                        continue
                    phone = {"is_mobile": True, "has_touch": True, "user_agent": PHONE} if size == "phone" else {}
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=scheme, **phone
                    )
                    page = context.new_page()
                    page.set_default_timeout(30_000)
                    try:
                        draw(page, url)
                        drawn(page)
                    except Exception as error:  # the door of a script: say it and go on with the next picture
                        print(f"{picture}: {type(error).__name__}: {str(error).splitlines()[0]}")
                    page.screenshot(path=folder / picture)
                    context.close()
        browser.close()
    print(f"Pictures are in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"), sys.argv[2:])
