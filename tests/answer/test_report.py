"""A report holds the whole answer, shows data as text, and needs no network."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer import chart, page, picture, report
from qa.answer.answer import Answer, AnswerPart, CheckResult, LedgerRow
from qa.errors import Issue

from .results import DOLLARS, column, frame, part, plan, summarize

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "![p](http://attacker.invalid/p.png)",
    "</script><script>alert(3)</script>",
    "a|b",
    "$1$ `x`",
]
LABEL, VALUE = column("label", "text"), column("value", "integer")


def _answer(labels: list[str] = HOSTILE, question: str = "Which <b>label</b> leads?") -> Answer:
    table = frame([LABEL, VALUE], labels, range(1, len(labels) + 1))
    steps = plan(summarize(["label"], "sum(value) as value"))
    made = part(
        [LABEL, VALUE],
        table,
        steps,
        sentences=("$5.00 and *six*.",),
        chart=chart.figure(columns=[LABEL, VALUE], table=table, plan=steps, total_rows=table.height),
        sql="select '```' as x",
        assumptions=("`germany` read as `Germany`",),
        warnings=("1 < 2 & 3",),
        explanation=("Start from <t>", "Count"),
        checks=(CheckResult(name="second engine", passed=True, detail="equal"),),
        ledger=(LedgerRow(step=0, op="summarize", rows_in=9, rows_out=6, note=""),),
        total_rows=20_000,
    )
    return Answer(status="answered", question=question, parts=(made,), digests={"t": "ab" * 32})


def test_html_runs_and_loads_nothing_from_data() -> None:
    text = report.html(_answer(), names={"t": "<x>.csv"})
    assert "default-src 'none'" in text
    body = text.split("<main>")[1].split("</main>")[0]
    assert not re.search(r"<(img|script(?! type=\"application/json\"))", body)
    assert all(page.escaped(label) in body for label in HOSTILE)
    figures = re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', body)
    assert [name for name, _ in figures] == ["chart-0"]
    assert chart.points(json.loads(figures[0][1])) == [(label, n) for n, label in enumerate(HOSTILE, 1)]


def test_html_carries_plotly_only_with_a_chart() -> None:
    with_chart, without = report.html(_answer()), report.html(Answer(status="declined", question="?", reason="No <b>."))
    assert len(with_chart) > 3_000_000
    assert len(without) < 10_000
    assert "No &lt;b&gt;." in without


def test_everything_the_answer_rests_on_is_in_the_report() -> None:
    for text in (report.html(_answer()), report.markdown(_answer())):
        for word in ("Germany", "second engine", "passed", "9 → 6 rows", "The first 6 of 20,000 rows", "abababababab"):
            assert word in text


def test_markdown_escapes_data() -> None:
    text = report.markdown(_answer())
    assert "# Which \\<b\\>label\\</b\\> leads?" in text
    assert "\\$5.00 and \\*six\\*." in text
    assert "![" not in text.replace("\\![", "").replace("\\!\\[", "")
    assert "| a\\|b | 5 |" in text
    assert "````sql" in text
    assert not re.search(r"(?<!\\)<(?!/?$)", text.split("````")[0])


@given(st.text(max_size=80))
def test_markdown_text_reads_back_as_one_line(text: str) -> None:
    shown = report.literal(text)
    assert "\n" not in shown
    assert re.sub(r"\\([^A-Za-z0-9\s])", r"\1", shown) == re.sub(r"\s+", " ", text).strip()
    assert not re.search(r"(?<!\\)[<>|`$\[\]]", shown.replace("\\\\", ""))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (Answer(status="clarify", question="?", question_back="Which year?"), "Which year?"),
        (Answer(status="failed", question="?", issues=(Issue("x", "", "It broke."),)), "It broke."),
        (Answer(status="declined", question="?"), "Status: declined."),
    ],
)
def test_an_answer_without_parts_says_why(answer: Answer, word: str) -> None:
    assert word in report.html(answer)
    assert word in report.markdown(answer)


def test_values_are_written_by_role() -> None:
    made = part([column("price", **DOLLARS)], frame([column("price", **DOLLARS)], [1234.5]), value=1234.5)
    answer = Answer(status="answered", question="Price?", parts=(made,))
    assert '<p class="value">$1,234.50</p>' in report.html(answer)


def test_a_download_has_a_harmless_name() -> None:
    assert report.download(_answer(question="../../x <y>"), "md").name == "x-y.md"


# --- pictures ----------------------------------------------------------------------------------------------------------

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((found for name in _BROWSERS if (found := shutil.which(name))), None)


def test_a_chart_page_holds_the_chart_and_its_note() -> None:
    made = _answer().parts[0]
    text = picture.download(made, "html").data.decode()
    assert 'data-chart="chart-0"' in text
    assert "default-src 'none'" in text


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_chart_is_a_picture() -> None:
    made: AnswerPart = _answer().parts[0]
    data = picture.download(made, "png", theme="dark").data
    assert data.startswith(b"\x89PNG")
    assert len(data) > 10_000


def test_without_a_browser_the_picture_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-chrome"))
    with pytest.raises(picture.NoPicture, match="Download the chart as HTML instead"):
        picture.download(_answer().parts[0], "png")


def test_no_chart_no_picture() -> None:
    with pytest.raises(picture.NoPicture, match="no chart"):
        picture.download(part([VALUE], frame([VALUE], [1])), "png")


@pytest.mark.e2e
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_real_browser_shows_the_report_as_text_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    sync = pytest.importorskip("playwright.sync_api")
    file = tmp_path / "report.html"
    file.write_text(report.html(_answer()), encoding="utf-8")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        tab = browser.new_page()
        asked: list[str] = []
        problems: list[Any] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        tab.on("pageerror", lambda error: problems.append(error))
        tab.goto(file.as_uri())
        tab.wait_for_selector(".chart .main-svg")
        axis = tab.locator(".chart .ytick text, .chart .xtick text").all_text_contents()
        hover = tab.locator(".chart .bars .point path").first
        hover.hover(force=True)
        tab.wait_for_selector(".hoverlayer .hovertext")
        told = tab.locator(".hoverlayer").text_content()
        images = tab.locator("img, a").count()
        browser.close()
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert problems == []
    assert images == 0
    assert set(HOSTILE) <= set(axis)
    assert any(label in str(told) for label in HOSTILE)
