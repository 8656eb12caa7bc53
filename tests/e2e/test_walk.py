"""A visitor's way through the page, in a real browser against a real server."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.steps import BUSY, PHONE, ask, card, download, go, upload, visit, wait_until
from tests.wire.server import Say
from tests.wire.server import serve as provider_of

pytestmark = pytest.mark.e2e

PAGES = {
    "": "Ask your data",
    "data": "Data",
    "board": "Board",
    "audit": "Audit",
    "plans": "Plans",
    "settings": "Settings",
}

SALES = "Region,Amount\nNorth,10\nSouth,20\nNorth,30\nEast,40\n"
HOSTILE = """label,value
<b>bold</b>,6
<img src=http://attacker.invalid/x.png>,5
[link](http://attacker.invalid),4
![i](http://attacker.invalid/i.png),3
**stars** $5 and $6,2
plain,1
"""


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text(SALES, encoding="utf-8")
    return path


def test_a_first_visit_shows_a_table_and_questions_to_try(page: Page, server: str) -> None:
    visit(page, server)
    expect(page.locator(".st-key-description")).to_contain_text("91,872 rows")
    expect(page.locator(".st-key-examples").get_by_role("button").first).to_be_visible(timeout=BUSY)
    assert page.locator(".st-key-examples").get_by_role("button").count() >= 3


@pytest.mark.parametrize(("path", "heading"), PAGES.items(), ids=[path or "ask" for path in PAGES])
def test_every_page_opens_by_its_own_link(page: Page, server: str, path: str, heading: str) -> None:
    visit(page, f"{server}/{path}")
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator(".st-key-nav").get_by_role("link")).to_have_count(len(PAGES))


def test_a_sample_question_is_answered_with_a_sentence_a_chart_and_a_table(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "average median list price by state")
    expect(answer.locator('[class*="st-key-sentence-"]')).to_contain_text("median list price")
    expect(answer.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
    expect(answer.get_by_test_id("stDataFrame")).to_be_visible()
    expect(answer.locator('[class*="st-key-quiet-"]')).to_contain_text("Verified")
    expect(page.locator(".st-key-trail").get_by_role("button")).to_have_count(1)


def test_an_example_is_answered_when_clicked(page: Page, server: str) -> None:
    visit(page, server)
    example = page.locator(".st-key-examples").get_by_role("button").first
    question = example.inner_text().strip()
    example.click()
    expect(card(page, question).locator('[class*="st-key-sentence-"]')).to_be_visible(timeout=BUSY)


def test_the_evidence_is_drawn_when_asked_for(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "how many rows have median list price over 1000000")
    for tab, holds in (
        ("Plan", "1."),
        ("JSON", '"op"'),
        ("SQL", "SELECT"),
        ("Checks", ""),
        ("What the model saw", "No model was asked"),
    ):
        answer.get_by_role("radio", name=tab, exact=True).or_(
            answer.get_by_role("button", name=tab, exact=True)
        ).first.click()
        expect(answer.locator('[class*="st-key-evidence-"]')).to_contain_text(holds, timeout=BUSY)


def test_an_upload_is_asked_and_its_download_is_the_table(page: Page, server: str, sales: Path) -> None:
    visit(page, server)
    upload(page, sales)
    answer = ask(page, "total Amount by Region")
    expect(answer).to_contain_text("sales.csv")
    shown = pl.read_csv(io.BytesIO(download(page, answer, "CSV")))
    kept = pl.read_parquet(io.BytesIO(download(page, answer, "Parquet")))
    totals = {"East": 40, "North": 40, "South": 20}
    assert dict(shown.rows()) == totals
    assert dict(kept.rows()) == totals


def test_a_corrected_file_of_the_same_name_is_answered_from_the_new_data(page: Page, server: str, sales: Path) -> None:
    visit(page, server)
    upload(page, sales)
    expect(ask(page, "total Amount").locator('[class*="st-key-value-"]')).to_have_text("100")
    sales.write_text(SALES.replace("40", "46"), encoding="utf-8")
    upload(page, sales)
    expect(page.get_by_text("from an earlier version of this data")).to_be_visible(timeout=BUSY)
    answer = ask(page, "what is the total Amount")
    expect(answer.locator('[class*="st-key-value-"]')).to_have_text("106")


def test_two_visitors_do_not_see_each_others_files(page: Page, browser: Browser, server: str, sales: Path) -> None:
    visit(page, server)
    upload(page, sales)
    ask(page, "total Amount")
    with browser.new_context() as other:
        stranger = other.new_page()
        visit(stranger, server)
        expect(stranger.locator(".st-key-description")).to_contain_text("housing")
        expect(stranger.locator(".st-key-trail")).to_have_count(0)
        expect(stranger.get_by_text("sales")).to_have_count(0)


def test_a_value_is_never_markup(page: Page, server: str, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    path = tmp_path / "labels.csv"
    path.write_text(HOSTILE, encoding="utf-8")
    visit(page, server)
    upload(page, path)
    answer = ask(page, "total value by label")
    expect(answer.locator('[class*="st-key-sentence-"]')).to_contain_text("<b>bold</b>")
    expect(answer.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
    page.wait_for_timeout(500)
    assert not [url for url in asked if "attacker" in url]
    assert answer.locator("a[href*=attacker], img[src*=attacker], .katex, b:has-text('bold')").count() == 0


def test_a_shared_link_is_identical_in_a_fresh_context(page: Page, browser: Browser, server: str) -> None:
    visit(page, server)
    answer = ask(page, "average median list price by state")
    answer.get_by_role("button", name="Share").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    with browser.new_context() as other:
        guest = other.new_page()
        visit(guest, link)
        expect(guest.get_by_text("Identical", exact=False).first).to_be_visible(timeout=BUSY)
        expect(guest.locator('[class*="st-key-sentence-"]').first).to_contain_text("median list price")


def test_a_shared_link_without_the_data_asks_for_the_file(
    page: Page, browser: Browser, server: str, sales: Path
) -> None:
    visit(page, server)
    upload(page, sales)
    answer = ask(page, "total Amount by Region")
    answer.get_by_role("button", name="Share").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    with browser.new_context() as other:
        guest = other.new_page()
        visit(guest, link)
        expect(guest.get_by_text("needs the file", exact=False)).to_be_visible(timeout=BUSY)
        upload(guest, sales)
        expect(guest.get_by_text("Identical", exact=False).first).to_be_visible(timeout=BUSY)


def test_a_slow_model_is_stopped_and_the_next_question_is_answered(page: Page, server: str) -> None:
    plan = {
        "title": "Rows",
        "source": "housing",
        "steps": [{"op": "summarize", "by": [], "metrics": ["count() as rows"]}],
    }
    with provider_of([Say(wait=120), json.dumps({"reply": "plan", "lets": [], "parts": [plan]})]) as provider:
        visit(page, f"{server}/settings")
        page.get_by_role("textbox", name="Model", exact=True).fill("openai/scripted")
        page.get_by_label("API key").fill("a-key-of-this-session")
        page.get_by_label("Address", exact=False).fill(provider.base("openai"))
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_text("a key is set for this session", exact=False)).to_be_visible(timeout=BUSY)
        go(page, "Ask", "Ask your data")
        box = page.get_by_test_id("stChatInputTextArea")
        box.fill("how many rows are there")
        box.press("Enter")
        running = page.locator(".st-key-running")
        expect(running).to_contain_text("Asking the model", timeout=BUSY)
        expect(box).to_be_disabled()
        wait_until(lambda: bool(provider.requests), seconds=180)
        running.get_by_role("button", name="Stop").click()
        expect(card(page, "how many rows are there")).to_contain_text("You stopped this question")
        answer = ask(page, "and how many rows are there really")
        expect(answer.locator('[class*="st-key-value-"]')).to_have_text("91,872", timeout=BUSY)
        answer.get_by_text("What the model saw", exact=True).click()
        expect(answer.locator('[class*="st-key-evidence-"]')).to_contain_text("tokens in", timeout=BUSY)
        assert "a-key-of-this-session" not in page.content()


def test_money_and_stars_in_a_file_are_shown_as_they_are(page: Page, server: str, tmp_path: Path) -> None:
    path = tmp_path / "memos.csv"
    path.write_text("city,memo,price\nOslo,a_b,$5.00\nRome,*x*,$12.50\nKyiv,~~z~~,$7.25\n", encoding="utf-8")
    visit(page, server)
    upload(page, path)
    answer = ask(page, "top 3 memo by price")
    for text in ("*x*", "$12.50", "$5.00"):
        expect(answer.locator('[class*="st-key-sentence-"]')).to_contain_text(text)
    assert page.locator(".katex, em, del").count() == 0


def test_a_plan_is_edited_and_run_without_a_model(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "how many rows have median list price over 1000000")
    answer.get_by_role("button", name="Edit", exact=True).click()
    where = answer.get_by_label("where")
    where.fill("median_list_price > 1e")
    where.press("Enter")
    expect(answer.get_by_role("button", name="Run", exact=True)).to_be_disabled(timeout=BUSY)
    where.fill("sizze_rank <= 2")
    answer.get_by_role("button", name="size_rank").click()  # what was meant is offered
    expect(answer.get_by_role("button", name="Run", exact=True)).to_be_enabled(timeout=BUSY)
    answer.get_by_role("button", name="Undo").click()
    expect(answer.get_by_role("button", name="Run", exact=True)).to_be_disabled(timeout=BUSY)
    where = answer.get_by_label("where")
    where.fill("")
    where.press_sequentially("size_ra")
    expect(answer.get_by_role("option")).to_contain_text("size_rank")
    where.press("Enter")
    expect(where).to_have_value("size_rank")
    where.press_sequentially(" <= 2")
    where.press("Enter")
    run = answer.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_enabled(timeout=BUSY)
    run.click()
    expect(page.locator('[class*="st-key-answer-"]')).to_contain_text("edited by hand", timeout=BUSY)
    expect(page.locator('[class*="st-key-value-"]').first).to_have_text("198")


def test_a_pinned_answer_is_on_the_board_and_leaves_as_one_page(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "average median list price by state")
    answer.get_by_role("button", name="Pin", exact=True).click()
    expect(answer.get_by_role("button", name="Unpin", exact=True)).to_be_visible(timeout=BUSY)
    go(page, "Board")
    expect(page.locator(".js-plotly-plot .plot-container").first).to_be_visible(timeout=BUSY)
    with page.expect_download(timeout=BUSY) as waiting:
        page.get_by_role("button", name="HTML report").click()
    report = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "average median list price by state" in report.casefold()
    assert 'src="http' not in report


def test_the_audit_replays_a_question_to_the_same_result(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "average median list price by state")
    answer.get_by_role("link", name="Record").click()
    expect(page.locator(".st-key-record")).to_contain_text("average median list price by state", timeout=BUSY)
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Identical", exact=False).first).to_be_visible(timeout=BUSY)


def test_a_question_that_is_not_understood_is_declined_with_its_words(page: Page, server: str) -> None:
    visit(page, server)
    answer = ask(page, "average zorblax per state")
    expect(answer).to_contain_text("zorblax")
    expect(answer.locator('[class*="st-key-value-"]')).to_have_count(0)


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, server: str) -> None:
    small = {"width": 390, "height": 844}
    with browser.new_context(viewport=small, is_mobile=True, has_touch=True, user_agent=PHONE) as phone:
        page = phone.new_page()
        visit(page, server)
        ask(page, "average median list price by state")
        wide = page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth")
        assert wide <= 0
        expect(page.get_by_test_id("stChatInputTextArea")).to_be_visible()
        go(page, "Settings")
        expect(page.locator(".st-key-nav")).to_have_count(0)
