"""Links between tables are found from names and values, proven over all rows, and settled by people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qa.data.catalog import Catalog
from qa.data.read import load
from qa.data.relations import Relation, proven, relationships, with_relation
from qa.data.semantics import Semantics
from qa.data.table import Table

Make = Callable[..., Table]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def table(name: str, **columns: Any) -> Table:
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame(columns).write_parquet(path)
        return load(path, cache=tmp_path / "cache")[0]

    return table


def links(*tables: Table) -> set[str]:
    return {
        f"{r.left}({','.join(r.left_columns)})>{r.right}({','.join(r.right_columns)})" for r in relationships(tables)
    }


def test_the_flights_hang_together_as_their_readme_says(samples: Path, tmp_path: Path) -> None:
    found = {
        (r.left, r.left_columns, r.right): r
        for r in relationships(Catalog([samples / "flights"], cache=tmp_path).tables())
    }
    assert set(found) == {
        ("flights", ("carrier",), "airlines"),
        ("flights", ("tailnum",), "planes"),
        ("flights", ("origin",), "airports"),
        ("flights", ("dest",), "airports"),
        ("flights", ("origin", "time_hour"), "weather"),
        ("weather", ("origin",), "airports"),
    }
    planes = found["flights", ("tailnum",), "planes"]
    assert (planes.matched, planes.orphans, planes.missing, planes.unused) == (284_170, 50_094, 2_512, 0)
    assert planes.cardinality == "many_to_one"
    assert round(planes.match_rate, 4) == 0.8501
    assert found["flights", ("origin",), "airports"].on == ["origin = faa"]
    assert found["flights", ("origin", "time_hour"), "weather"].on == ["origin", "time_hour"]


@pytest.mark.parametrize(
    ("child", "parent", "expected"),
    [
        ({"customer_id": [1, 2, 2]}, {"customer_id": [1, 2, 3]}, "child(customer_id)>parent(customer_id)"),
        ({"parent_id": [1, 2, 2]}, {"id": [1, 2, 3]}, "child(parent_id)>parent(id)"),
        ({"ParentId": [1, 2, 2]}, {"ID": [1, 2, 3]}, "child(ParentId)>parent(ID)"),
        ({"parent": ["a", "b", "b"]}, {"code": ["a", "b", "c"]}, "child(parent)>parent(code)"),
        (
            {"billing_customer_id": [1, 2, 2]},
            {"customer_id": [1, 2, 3]},
            "child(billing_customer_id)>parent(customer_id)",
        ),
        ({"old_parent_id": [1, 2, 2]}, {"id": [1, 2, 3]}, "child(old_parent_id)>parent(id)"),
        ({"lost_by_parent": [1, 2, 2]}, {"id": [1, 2, 3]}, "child(lost_by_parent)>parent(id)"),
        (
            {"student_id": [1510, 1689, 1381, 1510, 1934, 1247, 1911, 1661]},
            {"id": [1510, 1689, 1381, 1934, 1247, 1911, 1661, 1101]},
            "child(student_id)>parent(id)",
        ),
        ({"rating": [1, 2, 2]}, {"id": [1, 2, 3]}, None),
        ({"id": [1, 2, 2]}, {"id": [1, 2, 3]}, None),
        ({"year": [2001, 2002, 2002]}, {"year": [1999, 1999, 2001]}, None),
        ({"customer_id": [7, 8, 8]}, {"customer_id": [1, 2, 3]}, None),
        ({"customer_id": ["1", "2", "2"]}, {"customer_id": [1, 2, 3]}, None),
        ({"amount": [1.0, 2.0, 2.0]}, {"amount": [1.0, 2.0, 3.0]}, None),
        ({"yes": ["y", "n", "n"]}, {"letter": ["y", "n", "x"]}, None),
    ],
)
def test_names_and_values_decide_together(
    make: Make, child: dict[str, Any], parent: dict[str, Any], expected: str | None
) -> None:
    found = links(make("child", **child), make("parent", **parent))
    assert found == ({expected} if expected else set())


def test_codes_under_another_name_are_found_by_their_values(make: Make) -> None:
    codes = [f"{a}{b}" for a in "ABCD" for b in "WXYZ"]
    flights = make("trips", start=codes[:6] * 3, note=["AW", "zz", "yy"] * 6)
    assert links(flights, make("places", abbr=codes, title=[f"place {code}" for code in codes])) == {
        "trips(start)>places(abbr)"
    }


def test_counts_are_of_all_rows_and_missing_keys_stand_apart(make: Make) -> None:
    orders = make("orders", customer_id=[1, 1, 2, 9, None, None])
    customers = make("customers", customer_id=[1, 2, 3, 4])
    relation = relationships([orders, customers])[0]
    assert (relation.matched, relation.orphans, relation.missing, relation.unused) == (3, 1, 2, 2)
    assert relation.match_rate == 0.75
    assert relation.cardinality == "many_to_one"
    assert "75.0% of the 4 rows" in " ".join(relation.evidence)


@pytest.mark.parametrize(
    ("left", "right", "cardinality"),
    [
        ([1, 2], [1, 2], "one_to_one"),
        ([1, 1], [1, 2], "many_to_one"),
        ([1, 2], [1, 1], "one_to_many"),
        ([1, 1], [1, 1], "many_to_many"),
    ],
)
def test_the_cardinality_reads_left_to_right(make: Make, left: list[int], right: list[int], cardinality: str) -> None:
    assert proven(make("l", k=left), ["k"], make("r", k=right), ["k"]).cardinality == cardinality


def test_of_two_tables_with_the_same_keys_the_link_is_given_once(make: Make) -> None:
    assert links(make("a", user_id=[1, 2, 3], x=[1.5, 2.5, 3.5]), make("b", user_id=[1, 2, 3], y=[1.5, 2.5, 3.5])) == {
        "b(user_id)>a(user_id)"
    }
    assert links(make("part", user_id=[1, 2]), make("whole", user_id=[1, 2, 3])) == {"part(user_id)>whole(user_id)"}


def test_several_columns_together_are_a_key_where_one_is_not(make: Make) -> None:
    lines = make("lines", year=[1, 1, 2, 2, 2], month=[1, 2, 1, 2, 2], v=[1.5] * 5)
    plan = make("plan", year=[1, 1, 2, 2], month=[1, 2, 1, 2], goal=[1.5] * 4)
    assert links(lines, plan) == {"lines(year,month)>plan(year,month)"}


def test_what_a_person_confirmed_or_rejected_stays_so(make: Make) -> None:
    tables = [
        make("orders", customer_id=[1, 1, 2], rep=[7, 8, 7]),
        make("customers", customer_id=[1, 2, 3]),
        make("staff", nr=[7, 8, 9]),
    ]
    found = relationships(tables)
    assert [(r.left, r.right) for r in found] == [("orders", "customers")]
    semantics = with_relation(Semantics(), found[0], confirmed=False)
    by_hand = proven(tables[0], ["rep"], tables[2], ["nr"])
    semantics = with_relation(semantics, by_hand, confirmed=True)
    settled = relationships(tables, {"orders": semantics})
    assert [(r.right, r.status, r.evidence[0]) for r in settled] == [
        ("staff", "confirmed", "confirmed by a person"),
        ("customers", "rejected", "rejected by a person"),
    ]
    assert settled[0].matched == 3
    changed = with_relation(semantics, found[0], confirmed=True)
    assert len(changed.relationships) == 2
    assert [r.status for r in relationships(tables, {"orders": changed})] == ["confirmed", "confirmed"]


def test_a_settled_link_to_a_table_that_is_gone_is_passed_over(make: Make) -> None:
    orders = make("orders", customer_id=[1, 1, 2])
    relation = proven(orders, ["customer_id"], make("customers", customer_id=[1, 2, 3]), ["customer_id"])
    assert relationships([orders], {"orders": with_relation(Semantics(), relation, confirmed=True)}) == []


def test_a_link_writes_itself_as_a_join_and_as_a_sentence(make: Make) -> None:
    relation = proven(make("orders", **{"Customer No": [1, 2, 2]}), ["Customer No"], make("people", id=[1, 2]), ["id"])
    assert relation.on == ["`Customer No` = id"]
    assert str(relation) == "orders → people on `Customer No` = id (many to one; 100.0% of 3 rows match)"
    assert Relation.model_validate(relation.model_dump()) == relation
