"""What a visitor does on the page, in the page's own words."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

PHONE = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140 Mobile Safari/537.36"
BUSY = 60_000
"""milliseconds a visitor may wait on a busy machine"""


def visit(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=BUSY)
    settled(page)


def settled(page: Page) -> None:
    """Wait until the script has run and nothing broke."""
    expect(page.locator('[data-testid="stApp"][data-test-script-state="running"]')).to_have_count(0, timeout=BUSY)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def ask(page: Page, question: str) -> Locator:
    """Type a question and wait for its card, whatever its state."""
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    return card(page, question)


def card(page: Page, question: str) -> Locator:
    found = page.locator('[class*="st-key-answer-"]').filter(has=page.get_by_text(question, exact=True))
    expect(found).to_be_visible(timeout=BUSY)
    settled(page)
    return found


def upload(page: Page, *files: Path) -> None:
    page.get_by_role("button", name="Add files").click()
    page.get_by_test_id("stFileUploaderDropzone").wait_for()
    settled(page)
    given = page.locator('[class*="st-key-uploader-"]').get_attribute("class") or ""
    key = next(name for name in given.split() if name.startswith("st-key-uploader-"))
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([str(file) for file in files])
    expect(page.locator(f".{key}")).to_have_count(0, timeout=BUSY)  # read, and a fresh uploader in its place
    name = page.locator(".st-key-description strong").filter(has_text=files[-1].stem.split(".")[0].lower())
    expect(name.first).to_be_visible(timeout=BUSY)
    settled(page)
    page.keyboard.press("Escape")


def download(page: Page, card: Locator, format: str) -> bytes:
    button = page.get_by_test_id("stPopoverBody").get_by_role("button", name=format, exact=True)
    card.get_by_role("button", name="Download", exact=True).click()
    expect(button).to_be_visible(timeout=BUSY)
    settled(page)  # a file that is made on request belongs to the run that drew its button
    with page.expect_download(timeout=BUSY) as waiting:
        button.click()
    path = waiting.value.path()
    page.keyboard.press("Escape")
    expect(button).to_have_count(0, timeout=BUSY)
    settled(page)
    return Path(path).read_bytes()


def go(page: Page, name: str, heading: str | None = None) -> None:
    """Follow a link of the navigation, as one does: nothing of the session is lost on the way."""
    if page.viewport_size and page.viewport_size["width"] < 700:
        page.get_by_role("button", name="Menu", exact=True).click()
    page.locator(".st-key-nav").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(heading or name, timeout=BUSY)
    settled(page)


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.1)
