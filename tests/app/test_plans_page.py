"""The Plans page: a pasted SELECT becomes a typed plan and runs; a plan typed by hand is measured on the data."""

from __future__ import annotations

import html
import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_ask_page import answered
from tests.app.test_pages import opened


def box(page: AppTest, opening: str) -> str:
    """The key of the text area that opens so: keys end in the picked dataset."""
    return next(area.key for area in page.text_area if str(area.key).startswith(opening))


def table_of(page: AppTest) -> str:
    plan = json.loads(page.text_area(key=box(page, "playground-")).value)
    return str(plan["parts"][0]["source"])


def pasted(sql: str) -> tuple[AppTest, str]:
    page = opened("pages/plans.py")
    name = table_of(page)
    page.text_area(key=box(page, "sql-")).set_value(sql.format(table=name)).run()
    assert not page.exception
    return page, name


def run_button(page: AppTest) -> object:
    return next((button for button in page.button if str(button.key).startswith("run-sql-")), None)


def test_a_pasted_select_shows_its_plan_and_runs() -> None:
    page, name = pasted("select count(distinct region_id) as n from {table}")
    plans = [json.loads(code.value) for code in page.code if code.value.lstrip().startswith("{\n")]
    assert any(plan["parts"][0]["source"] == name for plan in plans)
    button = run_button(page)
    assert button is not None
    assert not button.disabled  # type: ignore[attr-defined]
    button.click().run()  # type: ignore[attr-defined]
    entry = answered(page)
    assert (entry.answer.status, entry.answer.parts[0].table.rows()) == ("answered", [(928,)])


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("select nothing_like_it from {table}", "nothing_like_it"),
        ("select 1 from no_such_table", "no_such_table"),
        ("selec", ""),
        ("delete from {table}", ""),
        ("with recursive r as (select 1 as n union all select n + 1 from r) select * from r", ""),
    ],
)
def test_what_cannot_be_said_is_told_and_does_not_run(sql: str, says: str) -> None:
    page, _ = pasted(sql)
    assert page.error
    assert any(says in html.unescape(error.value) for error in page.error)
    button = run_button(page)
    assert button is None or button.disabled  # type: ignore[attr-defined]


@pytest.mark.parametrize(("column", "fits"), [("region_type", True), ("region_typ", False)])
def test_a_plan_whose_columns_come_from_the_data_is_measured_on_it(column: str, fits: bool) -> None:
    page = opened("pages/plans.py")
    pivot = {"op": "pivot", "by": [], "names_from": column, "values": ["count() as n"]}
    plan = {"reply": "plan", "parts": [{"title": "", "source": table_of(page), "steps": [pivot]}]}
    page.text_area(key=box(page, "playground-")).set_value(json.dumps(plan)).run()
    assert bool(page.error) is not fits
