"""Dates and times in many spellings are read as moments; what is not proven is told with its effect."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from qa.data.read import ReadOptions
from qa.types import Kind
from tests.data.loading import cells, column, notes, said, text

D, T = dt.date, dt.datetime

DATES = [
    (
        "six spellings in one column",
        ["2024-01-05", "05 Jan 2024", "Jan 6, 2024", "20240107", "2024/01/08", "9-Feb-2024"],
        [D(2024, 1, 5), D(2024, 1, 5), D(2024, 1, 6), D(2024, 1, 7), D(2024, 1, 8), D(2024, 2, 9)],
    ),
    ("a number past 12 proves day first", ["13/04/2024", "05/06/2024"], [D(2024, 4, 13), D(2024, 6, 5)]),
    ("a number past 12 proves month first", ["04/13/2024", "05/06/2024"], [D(2024, 4, 13), D(2024, 5, 6)]),
    ("points and two digits of year", ["01.02.24", "15.03.99"], [D(2024, 2, 1), D(1999, 3, 15)]),
    (
        "months of other languages",
        ["5. März 2024", "1 août 2023", "3 de mayo de 2022"],
        [D(2024, 3, 5), D(2023, 8, 1), D(2022, 5, 3)],
    ),
    ("ordinals and weekdays", ["Monday, 1st January 2024", "Tue, 2nd January 2024"], [D(2024, 1, 1), D(2024, 1, 2)]),
    ("midnight everywhere is no time", ["2024-01-05 00:00:00", "2024-01-06 00:00:00"], [D(2024, 1, 5), D(2024, 1, 6)]),
    ("a month is its first day", ["Jan 2024", "Feb 2024"], [D(2024, 1, 1), D(2024, 2, 1)]),
    (
        "a date that does not exist is missing",
        [
            "31/02/2024",
            "15/02/2024",
            "16/02/2024",
            "17/02/2024",
            "18/02/2024",
            "19/02/2024",
            "20/02/2024",
            "21/02/2024",
            "22/02/2024",
            "23/02/2024",
        ],
        [None, *(D(2024, 2, day) for day in range(15, 24))],
    ),
    ("the 29th of February in leap years only", ["2024-02-29", "2023-02-28"], [D(2024, 2, 29), D(2023, 2, 28)]),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in DATES], ids=[row[0] for row in DATES])
def test_date_spellings(tmp_path: Path, given: list[str], expected: list[dt.date | None]) -> None:
    table = column(tmp_path, given)
    assert table.column("x").kind is Kind.DATE
    assert cells(table) == expected


MOMENTS = [
    (
        "a clock of twelve hours",
        ["1/5/2024 3:04 PM", "1/15/2024 12:00 AM"],
        None,
        [T(2024, 1, 5, 15, 4), T(2024, 1, 15)],
    ),
    (
        "parts of a second",
        ["2024-01-05 10:00:00.250", "2024-01-05 10:00:01"],
        None,
        [T(2024, 1, 5, 10, 0, 0, 250_000), T(2024, 1, 5, 10, 0, 1)],
    ),
    (
        "Z is UTC",
        ["2024-01-05T23:30:00Z", "2024-01-06T00:30:00Z"],
        "UTC",
        [T(2024, 1, 5, 23, 30), T(2024, 1, 6, 0, 30)],
    ),
    (
        "one offset keeps its wall clock",
        ["2024-01-05 10:00 +02:00", "2024-01-06 11:00 +02:00"],
        "Etc/GMT-2",
        [T(2024, 1, 5, 10), T(2024, 1, 6, 11)],
    ),
    (
        "several offsets are brought to UTC",
        ["2024-01-01 10:00:00+01:00", "2024-07-01 10:00:00+02:00"],
        "UTC",
        [T(2024, 1, 1, 9), T(2024, 7, 1, 8)],
    ),
    (
        "mail dates",
        ["Fri, 05 Jan 2024 10:00:00 +0000", "Sat, 06 Jan 2024 11:00:00 +0000"],
        "UTC",
        [T(2024, 1, 5, 10), T(2024, 1, 6, 11)],
    ),
]


@pytest.mark.parametrize(("given", "zone", "expected"), [row[1:] for row in MOMENTS], ids=[row[0] for row in MOMENTS])
def test_moments(tmp_path: Path, given: list[str], zone: str | None, expected: list[dt.datetime]) -> None:
    table = column(tmp_path, given)
    assert table.column("x").zone == zone
    assert [moment.replace(tzinfo=None) for moment in cells(table)] == expected  # type: ignore[attr-defined]


def test_an_unproven_order_is_told_with_its_effect_and_can_be_switched(tmp_path: Path) -> None:
    given = ["03/04/2024", "05/06/2024", "04/04/2024"]
    table = column(tmp_path, given)
    note = next(n for n in table.report.assumptions if n.code == "ambiguous_day_order")
    assert table.report.assumptions[0] is note and note.damage == 3
    assert "2 of 3 dates would change" in note.message
    assert note.reversal == "--dayfirst no"
    assert cells(column(tmp_path, given, options=ReadOptions(dayfirst=False)))[0] == D(2024, 3, 4)


def test_another_column_decides_the_order_of_day_and_month(tmp_path: Path) -> None:
    table = text(tmp_path, "start,end\n03/04/2024,03/25/2024\n05/06/2024,05/30/2024\n")
    assert cells(table, "start") == [D(2024, 3, 4), D(2024, 5, 6)]
    assert "'end' proves month first" in said(table, "ambiguous_day_order")


def test_rows_in_date_order_decide_the_order_of_day_and_month(tmp_path: Path) -> None:
    given = [
        f"{month:02}/{day:02}/2024"
        for month, day in [(1, 2), (1, 5), (2, 1), (2, 8), (3, 3), (4, 1), (5, 2), (6, 1), (7, 1)]
    ]
    table = column(tmp_path, given)
    assert cells(table)[0] == D(2024, 1, 2)
    assert "date order" in said(table, "ambiguous_day_order")


def test_both_orders_in_one_column_are_read_and_told(tmp_path: Path) -> None:
    table = column(tmp_path, ["13/04/2024", "04/25/2024", "14/05/2024"])
    assert cells(table) == [D(2024, 4, 13), D(2024, 4, 25), D(2024, 5, 14)]
    assert "mixed_day_order" in notes(table)


def test_a_word_among_dates_is_missing_and_shown(tmp_path: Path) -> None:
    table = column(tmp_path, ["2024-01-05", "2024-01-06", "2024-01-07", "2024-01-08", "soon"])
    assert cells(table)[-1] is None
    assert table.report.unreadable[0].examples == ((6, "soon"),)


EPOCHS = [
    ("seconds", "created_at", ["1711929600", "1711929599"], [T(2024, 4, 1), T(2024, 3, 31, 23, 59, 59)]),
    ("milliseconds", "ts", ["1711929600000", "1711929599000"], [T(2024, 4, 1), T(2024, 3, 31, 23, 59, 59)]),
    (
        "microseconds",
        "eventTime",
        ["1711929600000000", "1711929599000000"],
        [T(2024, 4, 1), T(2024, 3, 31, 23, 59, 59)],
    ),
]


@pytest.mark.parametrize(("header", "given", "expected"), [row[1:] for row in EPOCHS], ids=[row[0] for row in EPOCHS])
def test_counts_since_1970_under_a_name_of_time(
    tmp_path: Path, header: str, given: list[str], expected: list[dt.datetime]
) -> None:
    table = column(tmp_path, given, header=header)
    assert [moment.replace(tzinfo=None) for moment in cells(table, header)] == expected  # type: ignore[attr-defined]
    assert table.column(header).zone == "UTC"
    assert "UTC" in said(table, "epoch")


def test_large_numbers_under_another_name_stay_numbers(tmp_path: Path) -> None:
    assert column(tmp_path, ["1711929600", "1711929599"], header="revenue").column("revenue").kind is Kind.INTEGER


def test_seasons_are_no_months(tmp_path: Path) -> None:
    assert column(tmp_path, ["2009-10", "2010-11", "2011-12"], header="season").column("season").kind is Kind.TEXT


def test_a_date_far_away_is_told_as_a_sentinel(tmp_path: Path) -> None:
    table = column(tmp_path, ["2024-01-05", "2024-02-06", "9999-12-31"])
    assert "9999-12-31" in said(table, "sentinel")


def test_times_of_day(tmp_path: Path) -> None:
    assert cells(column(tmp_path, ["14:05", "2:05 pm", "23:59:30"])) == [
        dt.time(14, 5),
        dt.time(14, 5),
        dt.time(23, 59, 30),
    ]


DURATIONS = [
    ("past a day", "total", ["30:15:00", "1:00:00"], [dt.timedelta(hours=30, minutes=15), dt.timedelta(hours=1)]),
    (
        "under a name of length",
        "duration",
        ["0:45:10", "1:02:03"],
        [dt.timedelta(minutes=45, seconds=10), dt.timedelta(hours=1, minutes=2, seconds=3)],
    ),
    (
        "spelled out",
        "wait",
        ["2 h 5 min", "45 min 10 s"],
        [dt.timedelta(hours=2, minutes=5), dt.timedelta(minutes=45, seconds=10)],
    ),
    ("ISO", "wait", ["PT1H30M", "P1DT2H"], [dt.timedelta(hours=1, minutes=30), dt.timedelta(days=1, hours=2)]),
    (
        "days and a clock",
        "wait",
        ["1 days 02:00:00", "0 days 00:00:30"],
        [dt.timedelta(days=1, hours=2), dt.timedelta(seconds=30)],
    ),
]


@pytest.mark.parametrize(
    ("header", "given", "expected"), [row[1:] for row in DURATIONS], ids=[row[0] for row in DURATIONS]
)
def test_lengths_of_time(tmp_path: Path, header: str, given: list[str], expected: list[dt.timedelta]) -> None:
    table = column(tmp_path, given, header=header)
    assert table.column(header).kind is Kind.DURATION
    assert cells(table, header) == expected
