"""The collected cases and the adversarial tables hold at the level of the data: kinds, values and what is told."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from qa.data.read import load
from qa.data.table import Table
from qa.errors import LoadError
from qa.types import Kind, Role
from tests.data.loading import SHARED, cells, notes, said

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not beside this repository")


def case(name: str, file: str = "input.csv") -> Table:
    [folder] = (SHARED / "cases").glob(f"{name}-*")
    [table] = load(folder / file)
    return table


def adversarial(name: str) -> pl.DataFrame:
    [table] = load(SHARED / "bench" / "adversarial" / f"{name}.csv")
    return table.frame


def total(table: Table, name: str) -> float:
    return float(table.frame[name].sum())


def test_n01_thousands_points() -> None:
    sums = case("n01").frame.group_by("Kunde").agg(pl.col("Umsatz").sum()).sort("Umsatz", descending=True).rows()
    assert sums == [
        ("Cordes", pytest.approx(12500.1)),
        ("Brandt", pytest.approx(2237.0)),
        ("Abel", pytest.approx(1189.06)),
    ]


def test_n03_accounting_and_percent() -> None:
    table = case("n03")
    assert total(table, "q1") == 2913.25
    assert table.frame["margin"].mean() == 37.125
    assert [column.missing for column in table.report.columns] == [0, 1, 2]


def test_n04_mixed_units_are_converted_and_told() -> None:
    table = case("n04")
    factor = {"kg": 1, "g": 1000}[table.column("weight").unit or ""]
    assert total(table, "weight") == pytest.approx(16.3 * factor)
    assert "units_converted" in notes(table) and "unknown" in table.report.columns[1].null_words


def test_n05_wide_digits() -> None:
    assert total(case("n05"), "売上") == 16616.5


def test_d02_ambiguity_is_told() -> None:
    assert case("d02").report.assumptions[0].code == "ambiguous_day_order"


def test_d03_six_spellings() -> None:
    table = case("d03")
    days = Counter(str(day)[:10] for day in table.frame["opened"].to_list() if day is not None)
    assert days == {"2024-01-05": 3, "2024-01-06": 1, "2024-01-07": 1, "2024-01-08": 1, "2024-02-09": 1}
    assert table.report.unreadable[0].examples == ((9, "soon"),)


def test_d04_milliseconds() -> None:
    table = case("d04")
    assert Counter(str(moment)[:7] for moment in cells(table, "ts")) == {"2024-03": 1, "2024-04": 3, "2024-05": 1}
    assert "milliseconds since 1970 in UTC" in said(table, "epoch")


def test_t01_zip_codes() -> None:
    table = case("t01")
    assert table.frame.filter(pl.col("zip") == "02134")["orders"].sum() == 9


def test_t03_namibia() -> None:
    table = case("t03")
    assert sorted(cells(table, "country"), key=str) == ["CA", "NA", None, "US", "ZA"]
    assert table.frame.filter(pl.col("continent") == "NA")["visitors"].sum() == 650


def test_t04_late_values() -> None:
    table = case("t04")
    assert (total(table, "value"), table.profile.column("value").count, table.profile.column("value").missing) == (
        297.5,
        296,
        4,
    )


def test_t05_booleans() -> None:
    assert Counter(cells(case("t05"), "active")) == {True: 6, False: 4, None: 1}


def test_x01_hidden_sheets() -> None:
    assert total(case("x01", "input.xlsx"), "amount") == 35


def test_x03_errors() -> None:
    table = case("x03", "input.xlsx")
    assert table.frame["score"].mean() == 6.0
    assert "2 cells" in said(table, "formula_errors")


@pytest.mark.parametrize(
    ("name", "column", "months"), [("x04", "day", {1: 10, 2: 25}), ("x05", "date", {1: 10, 2: 50, 3: 40})]
)
def test_x04_x05_dates(name: str, column: str, months: dict[int, int]) -> None:
    frame = case(name, "input.xlsx").frame
    found = dict(frame.group_by(pl.col(column).dt.month().cast(pl.Int64)).agg(pl.col("amount").sum()).rows())
    assert found == months


def test_j01_late_key() -> None:
    table = case("j01", "input.ndjson")
    assert (table.rows, total(table, "refund"), table.profile.column("refund").count) == (150, 60, 30)


def test_j04_narrow_integers() -> None:
    assert total(case("j04", "input.parquet"), "amount") == 4_500_000_000


def test_q03_bomb() -> None:
    with pytest.raises(LoadError, match="it was not opened"):
        case("q03", "input.xlsx")


def test_g05_category_variants() -> None:
    sums = dict(case("g05").frame.group_by("country").agg(pl.col("cases").sum()).rows())
    assert sums == {"South Sudan": 9, "Chad": 6}


def test_g04_keys_keep_zeros_and_lose_spaces() -> None:
    assert cells(case("g04", "input.orders.csv"), "customer_id") == ["123", "00456", None, None, "00789", "999"]


def test_sales() -> None:
    frame = adversarial("sales")
    assert frame.filter("returned")["amount"].sum() == pytest.approx(132659.85, abs=0.01)
    assert frame.filter(pl.col("gender") == "Male").height == 154
    assert frame.filter(pl.col("region") == "North")["amount"].median() == pytest.approx(2071.945)


def test_employees() -> None:
    frame = adversarial("employees")
    assert frame["age"].mean() == pytest.approx(43.5914, abs=0.01)
    assert frame["salary"].max() == 180000
    assert frame.filter(pl.col("department") == "Engineering").height == 55
    assert frame["rating"].mean() == pytest.approx(2.9256, abs=0.005)


def test_events() -> None:
    frame = adversarial("events")
    months = Counter(day.month for day in frame["when"].to_list())
    assert (months[3], max(months.values())) == (19, 30)
    assert isinstance(frame["when"][0], dt.date)


def test_survey() -> None:
    frame = adversarial("survey")
    assert frame["satisfied"].mean() == 0.6
    assert frame["income"].median() == 74500
    assert frame["score"].mean() == pytest.approx(4.6993, abs=0.005)


def test_money_and_ids_have_their_roles() -> None:
    [table] = load(Path(SHARED / "bench" / "adversarial" / "employees.csv"))
    assert table.column("salary").role is Role.CURRENCY
    assert table.column("employee").kind is Kind.INTEGER
