"""Times a visitor sees: a cold server's first page, the first answer, warm answers."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.conftest import BROWSERS, serve
from tests.e2e.steps import ask

QUESTIONS = (
    "top 5 metros by median list price",
    "average median list price by state",
    "average for-sale inventory by state",
    "top 10 markets by new listings",
    "how many rows have median list price over $1M",
    "average days to pending by region type",
    "median list price by month",
    "which state has the highest average price cut share",
    "number of rows by region type",
    "total new listings by state",
)
PATIENCE = 90_000
"""milliseconds"""


def measure() -> dict[str, float]:
    """Seconds, from the server's health check answering; each answer ends when its card and the page are drawn."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tool:
        path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
        browser = tool.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        with serve(Path(folder)) as url:
            page, cold = _visit(browser, url)
            whole = cold + _examples(page)
            first, *warm = [_ask(page, question) for question in QUESTIONS]
            _, again = _visit(browser, url)
        browser.close()
    return {
        "first page of a cold server, a question can be typed": round(cold, 2),
        "first page of a cold server, data described and examples there": round(whole, 2),
        "first answer": round(first, 2),
        "warm answers, median": round(statistics.median(warm), 2),
        "warm answers, worst": round(max(warm), 2),
        "first page of a warm server": round(again, 2),
    }


def _visit(browser: Browser, url: str) -> tuple[Page, float]:
    page = browser.new_context().new_page()
    start = time.perf_counter()
    page.goto(url)
    page.get_by_test_id("stChatInputTextArea").wait_for(timeout=PATIENCE)
    return page, time.perf_counter() - start


def _examples(page: Page) -> float:
    start = time.perf_counter()
    page.locator(".st-key-examples button").first.wait_for(timeout=PATIENCE)
    return time.perf_counter() - start


def _ask(page: Page, question: str) -> float:
    start = time.perf_counter()
    ask(page, question)
    return time.perf_counter() - start


if __name__ == "__main__":
    json.dump(measure(), sys.stdout, indent=1)
