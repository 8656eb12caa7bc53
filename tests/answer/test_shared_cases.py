"""The collected cases about missing values, groups, joins, identifiers and charts, at the level of the answer."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa import pipeline
from qa.answer.answer import Answer, AnswerPart
from qa.answer.cells import json_rows
from qa.answer.chart import decode, points
from qa.answer.export import download
from qa.answer.report import markdown
from qa.data.read import load
from qa.data.table import Table

CASES = Path(__file__).parents[2] / ".." / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not beside this repository")

Step = dict[str, Any]


def total(by: list[str], *metrics: str) -> Step:
    return {"op": "summarize", "by": by, "metrics": list(metrics)}


def keep(where: str) -> Step:
    return {"op": "filter", "where": where}


def lowest(n: int, key: str, **more: Any) -> Step:
    return {"op": "limit", "n": n, "order": [key], **more}


RATE = {"op": "derive", "columns": ["orders / visits as rate"]}
BY_NAME = [
    {"op": "join", "table": "customers", "how": "left", "on": ["customer_id = id"]},
    total(["name"], "sum(amount) as total"),
]
ANSWERS: list[tuple[str, str, list[Step], list[list[Any]]]] = [
    ("a01", "orders known not to be shipped", [keep("status != 'shipped'"), total([], "count() as n")], [[2]]),
    ("a01", "orders not known to be shipped", [keep("not coalesce(status == 'shipped', false)"), total([], "count() as n")], [[4]]),
    ("a02", "a group with no data is missing, one of zeros is 0", [total(["team"], "sum(hours) as hours")], [["A", 5], ["B", None], ["C", 0]]),
    ("a03", "a rate over nothing is missing", [RATE, {"op": "select", "columns": ["page", "rate"]}], [["home", 0.05], ["blog", None], ["promo", None], ["shop", 0.1]]),
    ("a03", "the rate of all pages is no mean of rates", [total([], "sum(orders) / sum(visits) as rate")], [[pytest.approx(0.068)]]),
    ("a03", "a missing rate is not the best", [RATE, lowest(1, "rate desc"), {"op": "select", "columns": ["page"]}], [["shop"]]),
    ("a05", "the median is the middle quantile", [total([], "median(v) as median", "quantile(v, 0.5) as p50", "quantile(v, 0.75) as p75")], [[45, 45, 125]]),
    ("a07", "text NaN is missing in every aggregate", [total(["sensor"], "mean(temp) as m", "max(temp) as top", "count(temp) as n"), {"op": "sort", "order": ["m desc"]}], [["s2", 30.0, 30.0, 1], ["s1", 15.0, 20.0, 2]]),
    ("g01", "a cut through a tie has its rows and no more", [lowest(4, "marks")], [["Flo", 4], ["Cy", 11], ["Ed", 11], ["Di", 22]]),
    ("g01", "a kept tie shows both", [lowest(4, "marks", ties="keep")], [["Flo", 4], ["Cy", 11], ["Ed", 11], ["Di", 22], ["Gus", 22]]),
    ("g05", "spellings of a country are one group", [total(["country"], "sum(cases) as cases"), {"op": "sort", "order": ["cases desc"]}], [["South Sudan", 9], ["Chad", 6]]),
    ("t01", "a postal code keeps its zero", [total(["zip"], "sum(orders) as orders"), lowest(1, "orders desc")], [["02134", 9]]),
    ("t03", "NA is a country, apart from no country", [total(["country"], "sum(visitors) as n"), {"op": "sort", "order": ["n desc"]}], [["US", 500], ["ZA", 300], ["CA", 150], ["NA", 120], [None, 80]]),
    ("t03", "NA is a continent", [total(["continent"], "sum(visitors) as n"), {"op": "sort", "order": ["n desc"]}], [["NA", 650], ["AF", 420], ["EU", 80]]),
    ("t04", "one late decimal and four words", [total([], "sum(value) as s", "mean(value) as m", "count(value) as n", "count_missing(value) as gone")], [[297.5, pytest.approx(1.0050675675675675), 296, 4]]),
    ("t05", "eleven spellings of yes and no", [total([], "count(where=active) as yes", "count(where=not active) as no", "count_missing(active) as unknown")], [[6, 4, 1]]),
]  # fmt: skip


@lru_cache
def table(name: str, file: str = "input.csv", called: str = "t") -> Table:
    [folder] = CASES.glob(f"{name}-*")
    [read] = load(folder / file, name=called)
    return read


def answered(tables: list[Table], steps: list[Step], chart: dict[str, Any] | None = None) -> AnswerPart:
    """The one part of a plan's answer; both engines agreed on it."""
    plan = {"reply": "plan", "lets": [], "parts": [{"source": tables[0].name, "steps": steps, "chart": chart}]}
    answer = pipeline.run_plan(plan, tables, record=False)
    assert answer.status == "answered", answer.reason
    [part] = answer.parts
    assert [check.passed for check in part.checks if check.name == "second engine"] == [True]
    return part


def beside(part: AnswerPart) -> str:
    """Everything that stands with the table: sentences, warnings, assumptions, notes of the ledger and the chart."""
    ledger = [row.note for row in part.ledger]
    note = str(part.chart["note"]) if part.chart else ""
    return "\n".join([*part.sentences, *part.warnings, *part.assumptions, *ledger, note])


@pytest.mark.parametrize(("case", "about", "steps", "rows"), ANSWERS, ids=[f"{a}: {b}" for a, b, *_ in ANSWERS])
def test_the_rows_are_right(case: str, about: str, steps: list[Step], rows: list[list[Any]]) -> None:
    assert json_rows(answered([table(case)], steps).table) == rows


TOLD: list[tuple[str, list[Step], str]] = [
    ("a01", [keep("status != 'shipped'"), total([], "count() as n")], "2 rows with no value in status"),
    ("a02", [total(["team"], "sum(hours) as hours")], "B has no value for the total hours (missing, not zero)"),
    ("a02", [total(["team"], "sum(hours) as hours")], "A: 1 of 2 values missing"),
    ("a03", [RATE], "2 rows divide by zero"),
    ("a07", [total([], "mean(temp) as m")], "3 missing values were left out"),
    ("a07", [total([], "mean(temp) as m")], "'NaN' ×2"),
    ("g01", [lowest(4, "marks")], "1 more rows tie with the last one shown"),
    ("g05", [total(["country"], "sum(cases) as cases")], "'south sudan' → 'South Sudan'"),
    ("t04", [total([], "sum(value) as s")], "'#REF!' in row 206"),
    ("t04", [total([], "sum(value) as s")], "'N/A' ×1"),
    ("t05", [total(["active"], "count() as n")], "yes: 'Yes' ×1"),
]


@pytest.mark.parametrize(("case", "steps", "words"), TOLD, ids=[f"{case}: {words}" for case, _, words in TOLD])
def test_what_could_be_taken_otherwise_stands_with_the_answer(case: str, steps: list[Step], words: str) -> None:
    assert words in beside(answered([table(case)], steps))


def test_a03_has_no_infinity_anywhere() -> None:
    assert not {"inf", "nan"} & set(json.dumps(json_rows(answered([table("a03")], [RATE]).table)).lower().split())


def test_g01_ten_runs_and_the_chart_show_the_same_people() -> None:
    chart = {"kind": "bar", "x": "name", "y": ["marks"]}
    parts = [answered([table("g01")], [lowest(4, "marks")], chart) for _ in range(10)]
    drawn = [points(part.chart["figure"]) for part in parts if part.chart]
    assert drawn == [[tuple(row) for row in json_rows(part.table)] for part in parts]
    assert len({str(points) for points in drawn}) == 1


def test_g04_blank_keys_match_nothing_and_the_rest_is_counted() -> None:
    orders, customers = table("g04", "input.orders.csv", "orders"), table("g04", "input.customers.csv", "customers")
    part = answered([orders, customers], BY_NAME)
    assert json_rows(part.table) == [["Bob", 20], ["Cy", 30], [None, 23]]
    assert "4 rows have no match in customers" in beside(part)
    assert "The rows that have no match in customers hold 23 of amount" in beside(part)
    assert (
        "1 of the rows without a match have a key that differs from one in customers only by leading zeros"
        in beside(part)
    )


@pytest.mark.parametrize("metric", ["mean(zip)", "sum(zip)"])
def test_t01_no_sum_or_mean_of_codes(metric: str) -> None:
    plan = {"reply": "plan", "lets": [], "parts": [{"source": "t", "steps": [total([], f"{metric} as m")]}]}
    assert pipeline.run_plan(plan, [table("t01")], record=False).status == "failed"


def drawn(part: AnswerPart) -> dict[str, Any]:
    assert part.chart is not None
    return decode(part.chart["figure"])


def test_c01_codes_are_categories_in_the_order_asked() -> None:
    steps = [total(["store"], "sum(sales) as sales"), {"op": "sort", "order": ["sales desc"]}]
    figure = drawn(answered([table("c01")], steps, {"kind": "bar"}))
    [bars] = figure["data"]
    assert (bars["x"], bars["y"]) == (["2050", "0007", "1001", "1002"], [90, 70, 40, 10])
    axis = figure["layout"]["xaxis"]
    assert (axis["type"], axis["categoryarray"]) == ("category", ["2050", "0007", "1001", "1002"])


def test_c02_months_stand_in_the_order_of_the_year_in_table_and_chart() -> None:
    part = answered([table("c02")], [total(["month"], "sum(sales) as sales")])
    assert json_rows(part.table) == [["Jan", 7], ["Feb", 7], ["Mar", 3], ["Apr", 10], ["Aug", 9]]
    figure = drawn(part)
    assert figure["data"][0]["x"] == figure["layout"]["xaxis"]["categoryarray"] == ["Jan", "Feb", "Mar", "Apr", "Aug"]


def test_c04_twenty_thousand_names_are_few_marks_and_no_cut_total() -> None:
    part = answered([table("c04")], [total(["name"], "sum(value) as value")], {"kind": "bar"})
    assert part.chart is not None
    assert len(points(part.chart["figure"])) <= 21
    assert "20,000 rows" in str(part.chart["note"]) and "not drawn" in str(part.chart["note"])
    assert len(json.dumps(part.chart["figure"])) < 100_000
    assert "All " not in " ".join(part.sentences)
    assert json_rows(answered([table("c04")], [total([], "sum(value) as value")]).table) == [[59997]]


def test_c05_the_line_draws_the_measure() -> None:
    part = answered([table("c05")], [total(["month"], "sum(sales) as sales")], {"kind": "line"})
    assert part.chart is not None
    assert points(part.chart["figure"]) == [("2024-01", 120), ("2024-02", 80), ("2024-03", 200)]


def test_u01_signs_of_data_are_shown_as_they_are() -> None:
    part = answered([table("u01")], [lowest(2, "price desc")])
    told = " ".join(part.sentences)
    assert "*x*" in told and "~y~" in told
    page = markdown(Answer(status="answered", question="lowest and highest price in $ and $", parts=(part,)))
    assert "*x*" not in page and "~y~" not in page and "in $ and $" not in page


def test_u02_a_corrected_file_of_the_same_name_and_size_is_read_anew(tmp_path: Path) -> None:
    [folder] = CASES.glob("u02-*")
    sums, digests = [], []
    for version in ("first", "second"):
        shutil.copy(folder / f"input.{version}.csv", tmp_path / "sales.csv")
        [read] = load(tmp_path / "sales.csv", cache=tmp_path / "cache")
        plan = {"reply": "plan", "lets": [], "parts": [{"source": "sales", "steps": [total([], "sum(amount) as t")]}]}
        answer = pipeline.run_plan(plan, [read], record=False)
        sums.append(download(answer.parts[0], "csv").data.decode().split()[-1])
        digests.append(answer.digests["sales"])
    assert sums == ["60", "66"]
    assert digests[0] != digests[1]


def test_u04_downloads_run_nothing_and_keep_numbers() -> None:
    part = answered([table("u04")], [])
    labels, deltas = part.table["label"].to_list(), part.table["delta"].to_list()
    written = download(part, "csv")
    back = pl.read_csv(io.BytesIO(written.data), infer_schema=False)
    for text, cell in zip(labels, back["label"].to_list(), strict=True):
        risky = text is not None and len(text) > 1 and text[0] in "=+-@\t\r"
        assert cell == (f"'{text}" if risky else text)
    assert [float(cell) for cell in back["delta"].to_list()] == deltas
    assert sum(deltas) == -0.5
    assert "apostrophe" in written.note
    parquet = pl.read_parquet(io.BytesIO(download(part, "parquet").data))
    assert (parquet["label"].to_list(), parquet["delta"].to_list()) == (labels, deltas)
    with zipfile.ZipFile(io.BytesIO(download(part, "xlsx").data)) as book:
        sheets = [book.read(name) for name in book.namelist() if name.startswith("xl/worksheets/")]
    assert sheets and not any(b"<f>" in sheet or b"<f " in sheet for sheet in sheets)
