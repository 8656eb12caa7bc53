"""The profile states what is in a table, over all of its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.types import Kind
from tests.data.loading import column, text


def test_figures_of_numbers(tmp_path: Path) -> None:
    figures = column(tmp_path, ["1", "2", "3", "4", "", "n/a"]).profile.column("x")
    assert (figures.count, figures.missing, figures.distinct, figures.unique) == (4, 2, 4, True)
    assert (figures.low, figures.high, figures.mean, figures.q25, figures.median, figures.q75) == (
        1,
        4,
        2.5,
        1.75,
        2.5,
        3.25,
    )
    assert figures.std == pytest.approx(1.2909944)


def test_bins_hold_every_value(tmp_path: Path) -> None:
    figures = column(tmp_path, [str(n * n) for n in range(50)]).profile.column("x")
    assert sum(count for _, _, count in figures.histogram) == 50
    assert (figures.histogram[0][0], figures.histogram[-1][1]) == (0.0, 2401.0)


def test_top_values_come_most_frequent_first_and_ties_in_order(tmp_path: Path) -> None:
    figures = column(tmp_path, ["b", "a", "c", "a", "b", "b", "c", "a", "d"]).profile.column("x")
    assert figures.top == (("a", 3), ("b", 3), ("c", 2), ("d", 1))


def test_a_column_of_names_has_no_top_values(tmp_path: Path) -> None:
    assert column(tmp_path, [f"person {n}x" for n in range(100)]).profile.column("x").top == ()


def test_dates_and_lengths_of_time_are_plain(tmp_path: Path) -> None:
    days = column(tmp_path, ["2024-01-05", "2024-03-01"]).profile.column("x")
    assert (days.low, days.high, days.kind) == ("2024-01-05", "2024-03-01", Kind.DATE)
    spent = column(tmp_path, ["PT30M", "PT2H"]).profile.column("x")
    assert (spent.low, spent.high) == (1800.0, 7200.0)


def test_a_column_of_nothing(tmp_path: Path) -> None:
    figures = column(tmp_path, ["", "", ""]).profile.column("x")
    assert (figures.count, figures.missing, figures.distinct, figures.unique, figures.low, figures.top) == (
        0,
        3,
        0,
        False,
        None,
        (),
    )


def test_a_table_without_rows(tmp_path: Path) -> None:
    table = text(tmp_path, "name,amount\n")
    assert (table.rows, table.profile.rows) == (0, 0)
    assert [c.count for c in table.profile.columns] == [0, 0]
