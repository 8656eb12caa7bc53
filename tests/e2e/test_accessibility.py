"""Every page, and every state that a question brings, before axe-core: nothing serious, nothing critical."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.steps import BUSY, ask, go, settled, visit

pytestmark = pytest.mark.e2e

PATHS = ("", "data", "board", "audit", "plans", "settings")
GRAVE = ("serious", "critical")
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def axe() -> str:
    """axe-core's own script, as a package of requirements-dev.txt carries it: nothing is fetched by the page."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: see requirements-dev.txt")
    return files(package).joinpath("axe.min.js").read_text(encoding="utf-8")


def faults(page: Page, axe: str) -> list[str]:
    """What axe-core finds grave on the page as it stands: its rule, and the first element of each."""
    page.wait_for_timeout(300)  # colours fade in
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert found["passes"], "axe-core looked at nothing"
    grave = [rule for rule in found["violations"] if rule["impact"] in GRAVE]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in grave]


def test_axe_finds_what_is_wrong(page: Page, axe: str) -> None:
    page.set_content("<main><h1>t</h1><img src='data:,'><input></main>")
    assert {fault.split(":")[0] for fault in faults(page, axe)} >= {"image-alt", "label"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_page_has_a_grave_fault(browser: Browser, server: str, axe: str, scheme: str) -> None:
    found: dict[str, list[str]] = {}
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        for path in PATHS:
            visit(page, f"{server}/{path}")
            found[path or "ask"] = faults(page, axe)
    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_state_of_an_answer_has_a_grave_fault(browser: Browser, server: str, axe: str, scheme: str) -> None:
    found: dict[str, list[str]] = {}
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        visit(page, server)
        answer = ask(page, "average median list price by state")
        expect(answer.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
        found["answer"] = faults(page, axe)
        answer.get_by_role("button", name="Pin", exact=True).click()
        answer.get_by_role("button", name="Edit", exact=True).click()
        expect(answer.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=BUSY)
        settled(page)
        found["editor"] = faults(page, axe)
        go(page, "Board")
        expect(page.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
        found["board"] = faults(page, axe)
        go(page, "Audit")
        found["audit"] = faults(page, axe)
        go(page, "Ask", "Ask your data")
        ask(page, "average zorblax per state")
        found["declined"] = faults(page, axe)
    assert {state: told for state, told in found.items() if told} == {}
