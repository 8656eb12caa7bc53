"""What can be said of a cluster without one: places, missing servers, and SQL text."""

from __future__ import annotations

import pytest

from qa.data.catalog import Catalog
from qa.data.cluster import ClusterFailed
from qa.data.cluster_place import each_table, is_cluster, split_place
from qa.engine.pool import Pool
from qa.engine.run import checked_plan
from qa.engine.spark.formats import java_output, java_pattern
from qa.engine.spark.statement import SparkEngine
from qa.errors import LoadError
from qa.settings import Settings
from tests.agreement import CLOCK, reply
from tests.tables import table


@pytest.mark.parametrize(
    ("place", "address", "tables"),
    [
        ("sc://host:15002/orders", "sc://host:15002", ["orders"]),
        ("sc://host:15002/orders, shop.customers", "sc://host:15002", ["orders", "shop.customers"]),
        ("sc://host/orders;token=abc;use_ssl=true", "sc://host/;token=abc;use_ssl=true", ["orders"]),
    ],
)
def test_a_place_names_a_server_and_its_tables(place: str, address: str, tables: list[str]) -> None:
    assert is_cluster(place)
    assert split_place(place) == (address, tables)


def test_a_place_of_several_tables_is_one_for_each() -> None:
    assert each_table("sc://host:1/a,b.c;token=x") == ["sc://host:1/a;token=x", "sc://host:1/b.c;token=x"]
    assert each_table("data/sales.csv") == ["data/sales.csv"]


def test_a_cluster_that_does_not_answer_is_told_where_its_tables_are_listed() -> None:
    shelf = Catalog(["sc://127.0.0.1:9/orders,shop.customers"])
    assert [entry.name for entry in shelf.entries] == ["orders", "customers"]
    assert shelf.tables() == []
    assert {issue.code for issue in shelf.problems} <= {"no_cluster", "no_client"}


def test_a_place_without_tables_is_refused() -> None:
    with pytest.raises(LoadError, match="names no tables"):
        split_place("sc://host:15002")


def test_spark_without_a_server_is_told() -> None:
    with pytest.raises(ClusterFailed, match="QA_SPARK"):
        Pool(Settings(engine="spark")).run(reply("t", []), {"t": table("t", {"x": [1]})})


@pytest.mark.parametrize(
    ("form", "read", "written"),
    [("%Y-%m-%d", "yyyy-M-d", "yyyy-MM-dd"), ("%d.%m.%Y %H:%M", "d.M.yyyy H:m", "dd.MM.yyyy HH:mm"), ("%YT%m", "yyyy'T'M", "yyyy'T'MM")],
)  # fmt: skip
def test_formats_are_those_of_java(form: str, read: str, written: str) -> None:
    assert java_pattern(form)[0] == read
    assert java_output(form) == written


@pytest.mark.parametrize(
    ("steps", "parts"),
    [
        ([{"op": "summarize", "by": ["g"], "metrics": ["median(x) as m"]}], ["PERCENTILE(CAST(`c1` AS DOUBLE), 0.5)"]),
        ([{"op": "derive", "columns": ["x / (x - 1) as r"]}], ["NULLIF("]),
        ([{"op": "summarize", "by": [], "metrics": ["mode(g) as m"]}], ["MODE(`c0`, TRUE)"]),
        ([{"op": "union", "tables": ["u"]}], ["UNION ALL"]),
    ],
)
def test_a_plan_is_written_as_spark_reads_it(steps: list[dict[str, object]], parts: list[str]) -> None:
    tables = {"t": table("t", {"g": ["a", "b"], "x": [1, 2]}), "u": table("u", {"g": ["c"], "x": [3]})}
    plan = checked_plan(reply("t", steps), tables, clock=CLOCK)
    engine = SparkEngine(plan.lets, tables, lambda found: f"qa_{found.name}")
    sql = engine.statement(engine.part_select(plan.parts[0], []), 5).sql
    assert "FROM `qa_t`" in sql and "BY NAME" not in sql and sql.endswith("LIMIT 5")
    assert all(part in sql for part in parts), sql


def test_statistics_of_scipy_are_finished_here() -> None:
    tables = {"t": table("t", {"x": [1.0, 2.0, 3.0], "y": [1.0, 9.0, 3.0]})}
    steps = [{"op": "correlate", "columns": ["x", "y"], "method": "spearman"}]
    plan = checked_plan(reply("t", steps), tables, clock=CLOCK)
    engine = SparkEngine(plan.lets, tables, lambda found: f"qa_{found.name}")
    statement = engine.statement(engine.part_select(plan.parts[0], []))
    assert statement.finish is not None and statement.fetched
    assert all("qa_rank" not in sql.lower() for sql in statement.fetched.values())
