"""Questions that strangers asked the sample tables and once got a wrong number for, and others of their kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.data.gather import gather
from qa.data.table import Table
from qa.planner.offline import plan

SAMPLES = Path(__file__).parents[3] / "sample_data"
Answered = Callable[[dict[str, Any], list[Table]], list[list[Any]]]


@lru_cache(maxsize=4)
def tables(name: str) -> list[Table]:
    return list(gather([SAMPLES / name]))


def housing() -> pl.LazyFrame:
    return pl.scan_parquet(SAMPLES / "housing.parquet")


def flights() -> pl.LazyFrame:
    return pl.scan_parquet(SAMPLES / "flights" / "flights.parquet")


def test_since_a_year_is_about_the_date_and_not_about_the_number_beside_it(answered: Answered) -> None:
    reply = plan("monthly average median list price since 2023", tables("housing.parquet"))
    months = (
        housing().filter(pl.col("month").dt.year() >= 2023).group_by("month").agg(pl.col("median_list_price").mean())
    )
    expected = months.sort("month").collect()["median_list_price"].to_list()
    assert [row[1] for row in answered(reply, tables("housing.parquet"))] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "highest"),
    [
        ("which carrier has the worst average arrival delay", True),
        ("which carrier has the best average arrival delay", False),
    ],
)
def test_worst_is_the_highest_where_less_is_better(question: str, highest: bool, answered: Answered) -> None:
    means = flights().group_by("carrier").agg(pl.col("arr_delay").mean()).sort("arr_delay", descending=highest)
    found = answered(plan(question, tables("flights")), tables("flights"))
    assert found[0][0] == means.collect()["carrier"][0]


def test_best_of_what_is_neither_good_nor_bad_is_declined() -> None:
    assert plan("which state has the best average for sale inventory", tables("housing.parquet"))["reply"] == "decline"


def test_a_group_for_every_amount_is_not_what_was_asked() -> None:
    assert plan("average price per new listing", tables("housing.parquet"))["reply"] == "decline"


SHOP = [
    (
        "top 5 products by quantity sold",
        [["02099", 195], ["01174", 186], ["01026", 181], ["00915", 179], ["01766", 174]],
    ),
    ("total amount by year", [[2023, 451165.45], [2024, 536796.2]]),
    ("total amount in 2024", [[536796.2]]),
    ("how many customers were born before 1960", [[65]]),
    ("how many customers joined in 2023", [[96]]),
]


@pytest.mark.parametrize(("question", "expected"), SHOP)
def test_the_shop_answers(question: str, expected: list[list[Any]], answered: Answered) -> None:
    found = answered(plan(question, tables("shop")), tables("shop"))
    assert [row[0] for row in found] == [
        row[0] if isinstance(row[0], str) else pytest.approx(row[0]) for row in expected
    ]
    assert [row[-1] for row in found] == [pytest.approx(row[-1]) for row in expected]


CARS = "car,year,price\nA,1990,100\nB,2005,300\nC,1970,50\nD,2020,900\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is the oldest car", [["C"]]),
        ("what is the newest car", [["D"]]),
        ("cars older than 2000", [["A"], ["C"]]),
        ("how many cars are newer than 1980", [[3]]),
        ("average price of the cars from the oldest year", [[50.0]]),
    ],
)
def test_the_oldest_has_the_earliest_year(
    question: str, expected: list[list[Any]], tmp_path: Path, answered: Answered
) -> None:
    (tmp_path / "cars.csv").write_text(CARS)
    cars = list(gather([tmp_path / "cars.csv"]))
    assert answered(plan(question, cars), cars) == expected


def test_an_age_is_no_year(tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text(CARS)
    assert plan("how many cars are older than 30", list(gather([tmp_path / "cars.csv"])))["reply"] == "decline"
