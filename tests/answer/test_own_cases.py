"""Own cases of the kinds that go wrong in other tools: small files, and the answer that is right."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa import pipeline
from qa.answer.answer import AnswerPart
from qa.answer.cells import json_rows
from qa.answer.chart import decode, points
from qa.answer.export import download
from qa.data.read import load

Step = dict[str, Any]
Rows = list[list[Any]]


def total(by: list[str], *metrics: str) -> Step:
    return {"op": "summarize", "by": by, "metrics": list(metrics)}


def sort(*order: str) -> Step:
    return {"op": "sort", "order": list(order)}


def top(n: int, *order: str, **more: Any) -> Step:
    return {"op": "limit", "n": n, "order": list(order), **more}


def derive(*columns: str) -> Step:
    return {"op": "derive", "columns": list(columns)}


def keep(where: str) -> Step:
    return {"op": "filter", "where": where}


def join(table: str, how: str, *on: str, **more: Any) -> Step:
    return {"op": "join", "table": table, "how": how, "on": list(on), **more}


def answered(folder: Path, files: dict[str, str], steps: list[Step], chart: dict[str, Any] | None = None) -> AnswerPart:
    """The answer to one plan over these files, the first of which is its source; both engines agreed."""
    tables = []
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        tables += load(folder / f"{name}.csv")
    plan = {"reply": "plan", "lets": [], "parts": [{"source": next(iter(files)), "steps": steps, "chart": chart}]}
    answer = pipeline.run_plan(plan, tables, record=False)
    assert answer.status == "answered", answer.reason
    [part] = answer.parts
    assert [check.passed for check in part.checks if check.name == "second engine"] == [True]
    return part


def beside(part: AnswerPart) -> str:
    return "\n".join([*part.sentences, *part.warnings, *part.assumptions, *[row.note for row in part.ledger]])


SURVEY = "who,score,paid\na,4,yes\nb,,no\nc,0,\nd,4,yes\ne,,no\n"
STOCK = "item,sold,stock\nmug,3,0\ncup,0,0\njar,5,10\nlid,,4\n"
SHOPS = "shop,city,sales\n1,Oslo,10\n2,Bergen,7\n3,Oslo,10\n4,Tromsø,7\n5,Bergen,3\n6,,5\n"
PEOPLE = "code,name\n007,Ada\n010,Bea\n,Nobody\n012,Cem\n"
VISITS = "code,minutes\n007,30\n007,20\n010,5\n,9\n099,4\n"
CODES = "account,phone,amount\n000123,+47 22 33 44,1\n000124,+47 22 33 45,2\n000123,+47 22 33 44,4\n"
FLAGS = "id,ok\n1,true\n2,FALSE\n3,T\n4,f\n5,\n6,TRUE\n"

KINDS: dict[str, list[tuple[str, dict[str, str], list[Step], Rows]]] = {
    "nulls and arithmetic": [
        ("not in leaves missing out", {"t": SURVEY}, [keep("score not in [4]"), total([], "count() as n")], [[1]]),
        ("a mean skips missing but not zero", {"t": SURVEY}, [total([], "mean(score) as m", "count(score) as n")], [[pytest.approx(8 / 3), 3]]),
        ("coalesce takes missing in as zero", {"t": SURVEY}, [total([], "mean(coalesce(score, 0)) as m")], [[1.6]]),
        ("only missing sums to missing", {"t": SURVEY}, [keep("score is null"), total([], "sum(score) as s", "count() as n")], [[None, 2]]),
        ("no row sums to missing and counts 0", {"t": SURVEY}, [keep("score > 9"), total([], "sum(score) as s", "count() as n", "max(score) as top")], [[None, 0, None]]),
        ("a share of the known", {"t": SURVEY}, [total([], "share_of_rows(paid) as paid")], [[0.5]]),
        ("a missing condition is neither branch", {"t": SURVEY}, [derive("if(paid, 'in', 'out') as said"), total(["said"], "count() as n")], [["in", 2], ["out", 2], [None, 1]]),
        ("what is divided by zero is missing and last", {"t": STOCK}, [derive("sold / stock as turned"), sort("turned desc"), {"op": "select", "columns": ["item", "turned"]}], [["jar", 0.5], ["mug", None], ["cup", None], ["lid", None]]),
        ("whole division by zero is missing too", {"t": STOCK}, [derive("sold // stock as n", "sold % stock as rest"), {"op": "select", "columns": ["n", "rest"]}], [[None, None], [None, None], [0, 5], [None, None]]),
        ("nine quantiles, each between its neighbours", {"t": "v\n1\n2\n3\n4\n"}, [total([], "quantile(v, 0.1) as low", "quantile(v, 0.5) as mid", "median(v) as med", "quantile(v, 1) as high")], [[1.3, 2.5, 2.5, 4]]),
        ("halves are rounded away from zero", {"t": "v\n0.5\n-0.5\n2.5\n1.005\n"}, [derive("round(v) as whole", "round(v, 2) as cents"), {"op": "select", "columns": ["whole", "cents"]}], [[1, 0.5], [-1, -0.5], [3, 2.5], [1, 1.01]]),
    ],
    "groups, order and joins": [
        ("a tie below the cut keeps both when asked", {"t": SHOPS}, [total(["city"], "sum(sales) as s"), top(2, "s desc", ties="keep")], [["Oslo", 20], ["Bergen", 10]]),
        ("the best of each group, of equals the first in the file", {"t": SHOPS}, [top(1, "sales desc", by=["city"]), {"op": "select", "columns": ["shop", "city"]}], [[2, "Bergen"], [1, "Oslo"], [4, "Tromsø"], [6, None]]),
        ("a missing key is a group of its own, at the end", {"t": SHOPS}, [total(["city"], "count() as n")], [["Bergen", 2], ["Oslo", 2], ["Tromsø", 1], [None, 1]]),
        ("ranks share a place", {"t": SHOPS}, [{"op": "window", "order": ["sales desc"], "columns": ["rank() as place"]}, sort("place", "shop"), {"op": "select", "columns": ["shop", "place"]}], [[1, 1], [3, 1], [2, 3], [4, 3], [6, 5], [5, 6]]),
        ("a join keeps the zeros of a key", {"visits": VISITS, "people": PEOPLE}, [join("people", "inner", "code"), total(["name"], "sum(minutes) as m")], [["Ada", 50], ["Bea", 5]]),
        ("a blank key matches nothing", {"visits": VISITS, "people": PEOPLE}, [join("people", "left", "code"), total(["name"], "sum(minutes) as m")], [["Ada", 50], ["Bea", 5], [None, 13]]),
        ("who never came, the blank code among them", {"people": PEOPLE, "visits": VISITS}, [join("visits", "anti", "code"), {"op": "select", "columns": ["name"]}], [["Nobody"], ["Cem"]]),
        ("one side summed before it meets the other", {"people": PEOPLE, "visits": VISITS}, [join("visits", "semi", "code"), total([], "count() as n")], [[2]]),
        ("spaces round a key are taken off", {"a": "k,v\nx ,1\n y,2\n", "b": "k,w\nx,10\ny,20\n"}, [join("b", "inner", "k"), total([], "sum(v * w) as s")], [[50]]),
    ],
    "types and identifiers": [
        ("an account keeps its zeros", {"t": CODES}, [total(["account"], "sum(amount) as s"), top(1, "s desc")], [["000123", 5]]),
        ("a telephone number is text", {"t": CODES}, [total([], "count_distinct(phone) as phones", "min(phone) as one")], [[2, "+47 22 33 44"]]),
        ("true and false in four spellings", {"t": FLAGS}, [total(["ok"], "count() as n")], [[False, 2], [True, 3], [None, 1]]),
        ("one late decimal makes all numbers", {"t": "v\n" + "1\n" * 200 + "2.5\n"}, [total([], "sum(v) as s", "count(v) as n")], [[202.5, 201]]),
        ("a long id loses no digit", {"t": "id,v\n9007199254740993,1\n9007199254740992,2\n"}, [total(["id"], "sum(v) as s")], [["9007199254740992", 2], ["9007199254740993", 1]]),
        ("NO is Norway among countries", {"t": "country,n\nNO,1\nSE,2\nNA,3\nDE,4\nNO,5\n"}, [total(["country"], "sum(n) as n"), sort("country")], [["DE", 4], ["NA", 3], ["NO", 6], ["SE", 2]]),
    ],
}  # fmt: skip
CASES = [(kind, *case) for kind, cases in KINDS.items() for case in cases]


@pytest.mark.parametrize(("kind", "about", "files", "steps", "rows"), CASES, ids=[f"{k}: {a}" for k, a, *_ in CASES])
def test_the_rows_are_right(
    kind: str, about: str, files: dict[str, str], steps: list[Step], rows: Rows, tmp_path: Path
) -> None:
    assert json_rows(answered(tmp_path, files, steps).table) == rows


TOLD: list[tuple[str, dict[str, str], list[Step], str]] = [
    ("rows that != leaves out", {"t": SURVEY}, [keep("score != 4"), total([], "count() as n")], "2 rows with no value in score"),
    ("missing values that a mean skipped", {"t": SURVEY}, [total([], "mean(score) as m")], "2 missing values were left out"),
    ("divisions by zero", {"t": STOCK}, [derive("sold / stock as turned")], "2 rows divide by zero"),
    ("a tie that a cut splits", {"t": SHOPS}, [top(1, "sales desc")], "1 more rows tie"),
    ("rows that met no partner", {"visits": VISITS, "people": PEOPLE}, [join("people", "inner", "code"), total([], "sum(minutes) as m")], "2 rows have no match in people"),
    ("what the rows without a partner hold", {"visits": VISITS, "people": PEOPLE}, [join("people", "inner", "code"), total(["name"], "sum(minutes) as m")], "hold 13 of minutes"),
    ("keys that differ in their zeros", {"a": "code,v\n7x,1\n010x,2\n", "b": "code,w\n007X,3\n010x,4\n"}, [join("b", "left", "code"), total([], "sum(v) as v")], "1 of the rows without a match have a key that differs"),
    ("a value read in another case", {"t": SHOPS}, [keep("city == 'OSLO'"), total([], "sum(sales) as s")], "Oslo"),
    ("words that stood for nothing", {"t": "item,price\ncup,1\nlid,n/a\njar,3\nmug,n/a\n"}, [total([], "sum(price) as s")], "'n/a' ×2"),
]  # fmt: skip


@pytest.mark.parametrize(("about", "files", "steps", "words"), TOLD, ids=[about for about, *_ in TOLD])
def test_it_is_said_beside_the_answer(
    about: str, files: dict[str, str], steps: list[Step], words: str, tmp_path: Path
) -> None:
    assert words in beside(answered(tmp_path, files, steps))


REFUSED: list[tuple[str, dict[str, str], list[Step], str]] = [
    ("the sum of an id", {"t": CODES}, [total([], "sum(account) as s")], "account"),
    ("the mean of a sum over repeated rows", {"people": "k,pay\na,5\nb,6\n", "visits": "k,n\na,1\na,2\nb,3\n"}, [join("visits", "inner", "k"), total([], "sum(pay) as s")], "several times"),
    ("keys of different kinds", {"a": "k,v\n1,2\n2,3\n", "b": "k,w\nx,1\ny,2\n"}, [join("b", "inner", "k")], "number"),
]  # fmt: skip


@pytest.mark.parametrize(("about", "files", "steps", "words"), REFUSED, ids=[about for about, *_ in REFUSED])
def test_it_is_refused_with_its_reason(
    about: str, files: dict[str, str], steps: list[Step], words: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    tables = [table for name in files for table in load(tmp_path / f"{name}.csv")]
    plan = {"reply": "plan", "lets": [], "parts": [{"source": next(iter(files)), "steps": steps}]}
    answer = pipeline.run_plan(plan, tables, record=False)
    assert answer.status == "failed"
    assert words in str(answer.reason)


def figure(part: AnswerPart) -> dict[str, Any]:
    assert part.chart is not None
    return decode(part.chart["figure"])


def test_route_numbers_are_categories_in_the_order_of_the_rows(tmp_path: Path) -> None:
    text = "route,riders\n007,5\n300,9\n12,7\n007,1\n"
    steps = [derive("text(route) as line"), total(["line"], "sum(riders) as riders"), sort("riders desc")]
    drawn = figure(answered(tmp_path, {"t": text}, steps, {"kind": "bar"}))
    assert drawn["layout"]["xaxis"]["type"] == "category"
    assert (drawn["data"][0]["x"], drawn["data"][0]["y"]) == (["300", "12", "007"], [9, 7, 6])


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["Wed", "Mon", "Sun", "Tue"], ["Mon", "Tue", "Wed", "Sun"]),
        (["March", "January", "December"], ["January", "March", "December"]),
        (["Q3", "Q1", "Q2"], ["Q1", "Q2", "Q3"]),
        (["high", "low", "medium"], ["low", "medium", "high"]),
    ],
)
def test_names_that_have_an_order_stand_in_it(names: list[str], ordered: list[str], tmp_path: Path) -> None:
    text = "k,v\n" + "".join(f"{name},{place}\n" for place, name in enumerate(names, start=1))
    part = answered(tmp_path, {"t": text}, [total(["k"], "sum(v) as v")])
    assert part.table["k"].to_list() == ordered == figure(part)["data"][0]["x"]


def test_many_groups_are_few_bars_with_the_rest_counted(tmp_path: Path) -> None:
    text = "k,v\n" + "".join(f"name {n},{n}\n" for n in range(300))
    part = answered(tmp_path, {"t": text}, [total(["k"], "sum(v) as v")], {"kind": "bar"})
    assert part.chart is not None
    drawn = points(part.chart["figure"])
    assert len(drawn) <= 21
    assert sum(value for _, value in drawn) == sum(range(300)) or "not drawn" in str(part.chart["note"])


def test_a_line_draws_the_measure_and_not_the_row_number(tmp_path: Path) -> None:
    text = "day,temp\n2024-03-03,7.5\n2024-03-01,-2\n2024-03-02,4\n"
    part = answered(tmp_path, {"t": text}, [sort("day")], {"kind": "line", "x": "day", "y": ["temp"]})
    assert part.chart is not None
    assert [value for _, value in points(part.chart["figure"])] == [-2, 4, 7.5]


@pytest.mark.parametrize("cell", ["=2+3", "+1", "-cmd", "@sum", "\tx"])
def test_a_download_runs_no_cell(cell: str, tmp_path: Path) -> None:
    part = answered(tmp_path, {"t": f'name,n\n"{cell}x",-4\nplain,2\n-,1\n'}, [])
    back = pl.read_csv(io.BytesIO(download(part, "csv").data), infer_schema=False)
    stored = part.table["name"].to_list()
    assert back["name"][0] == (f"'{stored[0]}" if stored[0][0] in "=+-@\t" else stored[0])
    assert (back["name"][2] or "-", back["n"].to_list()) == ("-", ["-4", "2", "1"])
