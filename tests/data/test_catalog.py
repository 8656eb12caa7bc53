"""The catalog finds tables in folders, names them for good, notices changes, and says what it left aside."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from qa.data.catalog import Catalog, is_data, open_tables
from qa.data.read import load
from qa.types import Role


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two regions with a file of the same name, one more, and things that are not tables."""
    root = tmp_path / "data"
    for place, rows in (("north/sales.csv", 2), ("south/sales.csv", 3), ("people.csv", 4), ("plans/plans.csv", 1)):
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("id,amount\n" + "".join(f"{n},{n * 1.5}\n" for n in range(rows)))
    for place in (".hidden/x.csv", ".x.csv", "~$people.xlsx", "notes.md", "people.qa.yaml"):
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return root


def names(catalog: Catalog) -> list[str]:
    return [entry.name for entry in catalog.entries]


def test_folders_are_read_recursively_and_hidden_files_left_aside(folder: Path, tmp_path: Path) -> None:
    catalog = Catalog([folder], cache=tmp_path / "cache")
    assert names(catalog) == ["people", "north_sales", "plans", "south_sales"]
    assert [(table.name, table.rows) for table in catalog.tables()] == [
        ("people", 4),
        ("north_sales", 2),
        ("plans", 1),
        ("south_sales", 3),
    ]
    assert catalog.problems == []


def test_every_table_carries_the_name_it_has_in_the_catalog(folder: Path, tmp_path: Path) -> None:
    (folder / "copy.csv").write_bytes((folder / "people.csv").read_bytes())
    catalog = Catalog([folder], cache=tmp_path / "cache")
    for table in catalog.tables():
        assert table.profile.name == table.name
        assert {(column.owner, column.origin) for column in table.columns} == {
            (table.name, (table.name, column.id)) for column in table.columns
        }
    assert catalog.table("COPY").name == "copy"
    assert catalog.table("people").name == "people"
    with pytest.raises(KeyError):
        catalog.table("nothing")


def test_names_that_would_be_the_same_are_told_apart_and_stay(folder: Path, tmp_path: Path) -> None:
    (folder / "a-b.csv").write_text("x\n1\n")
    catalog = Catalog([folder], cache=tmp_path / "cache")
    assert "a_b" in names(catalog)
    (folder / "a b.csv").write_text("x\n2\n3\n")
    changes = catalog.refresh()
    assert changes.added == ("a_b_2",)
    assert catalog.table("a_b").rows == 1
    assert catalog.table("a_b_2").rows == 2
    (folder / "a-b.csv").unlink()
    assert catalog.refresh().removed == ("a_b",)
    assert catalog.table("a_b_2").rows == 2


def test_a_file_that_changed_is_read_again_and_others_are_not(folder: Path, tmp_path: Path) -> None:
    catalog = Catalog([folder], cache=tmp_path / "cache")
    before = catalog.table("people")
    plans = catalog.table("plans")
    assert not catalog.refresh()
    assert catalog.table("people") is before
    (folder / "people.csv").write_text("id,amount\n1,1\n")
    os.utime(folder / "people.csv", ns=(1, 1))
    assert catalog.refresh().changed == ("people",)
    assert catalog.table("people").rows == 1
    assert catalog.table("people").digest != before.digest
    assert catalog.table("plans") is plans


def test_what_cannot_be_read_is_reported_and_the_rest_is_there(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.parquet").write_bytes(b"PAR1 but not really")
    catalog = Catalog([folder, tmp_path / "nowhere"], cache=tmp_path / "cache")
    assert len(catalog.tables()) == 4
    assert [issue.where for issue in catalog.problems if "broken" in issue.where]
    assert any("nowhere" in issue.where and "no such" in issue.message for issue in catalog.problems)


def test_links_do_not_lead_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nx\n")
    (folder / "link.csv").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "inside.csv").symlink_to(folder / "people.csv")
    catalog = Catalog([folder], cache=tmp_path / "cache")
    assert "link" not in names(catalog)
    assert "inside" in names(catalog)
    assert [issue.code for issue in catalog.problems] == ["leads_outside"]


def test_an_added_file_is_in_this_catalog_only_and_may_have_a_name(folder: Path, tmp_path: Path) -> None:
    upload = tmp_path / "tmp1234.csv"
    upload.write_text("x\n1\n")
    mine, other = Catalog([folder], cache=tmp_path / "cache"), Catalog([folder], cache=tmp_path / "cache")
    assert mine.add(upload, "My Budget") == "My_Budget"
    assert mine.table("my_budget").rows == 1
    assert "My_Budget" not in names(other)
    mine.refresh()
    assert "My_Budget" in names(mine)


def test_a_semantic_file_beside_the_data_is_applied_and_its_drift_found(folder: Path, tmp_path: Path) -> None:
    (folder / "people.qa.yaml").write_text(
        "columns:\n  id: {role: id}\n  amount: {role: currency, unit: EUR}\n  gone: {description: x}\n"
    )
    catalog = Catalog([folder], cache=tmp_path / "cache")
    table = catalog.table("people")
    assert (table.column("amount").role, table.column("amount").unit) == (Role.CURRENCY, "EUR")
    assert catalog.semantics["people"].columns["id"].role is Role.ID
    assert any("'gone'" in finding for finding in catalog.findings)


def test_a_semantic_file_that_cannot_be_read_is_a_finding_and_the_data_is_there(folder: Path) -> None:
    (folder / "people.qa.yaml").write_text("columns: [")
    opened = open_tables(folder / "people.csv", read=load)
    assert opened.tables[0].rows == 4
    assert any("people.qa.yaml" in finding for finding in opened.findings)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("a.csv", True), ("a.CSV.gz", True), ("a.parquet", True), ("a.xlsx", True), ("a.duckdb", True), ("a.ndjson.zst", True),
        ("a.gz", False), ("a.xlsx.gz", False), ("a.md", False), (".a.csv", False), ("~$a.xlsx", False), ("csv", False), ("a.qa.yaml", False),
    ],
)  # fmt: skip
def test_the_name_of_a_file_says_whether_it_holds_tables(name: str, counts: bool) -> None:
    assert is_data(Path(name)) is counts


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path, list[int]]]:
    """A loopback server of a folder that remembers the status of each answer."""
    root = tmp_path / "served"
    root.mkdir()
    statuses: list[int] = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(root))  # type: ignore[arg-type]

        def log_request(self, code: object = "-", size: object = "-") -> None:
            statuses.append(int(getattr(code, "value", code)))  # type: ignore[call-overload]

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", root, statuses
    server.shutdown()
    thread.join()
    server.server_close()


def test_parquet_at_an_address_is_fetched_once_and_again_when_it_changed(
    served: tuple[str, Path, list[int]], tmp_path: Path
) -> None:
    address, root, statuses = served
    pl.DataFrame({"x": [1, 2, 3]}).write_parquet(root / "far.parquet")
    catalog = Catalog([f"{address}/far.parquet"], cache=tmp_path / "cache")
    assert statuses == []
    assert catalog.table("far").rows == 3
    catalog.refresh()
    assert catalog.table("far").rows == 3
    assert statuses == [200, 304]
    pl.DataFrame({"x": [1]}).write_parquet(root / "far.parquet")
    os.utime(root / "far.parquet", (2_000_000_000, 2_000_000_000))
    catalog.refresh()
    assert catalog.table("far").rows == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [("/none.parquet", "cannot_fetch"), ("/table.csv", "not_parquet")],
)
def test_an_address_that_gives_no_table_is_a_problem(
    served: tuple[str, Path, list[int]], tmp_path: Path, path: str, code: str
) -> None:
    catalog = Catalog([served[0] + path], cache=tmp_path / "cache")
    assert catalog.tables() == []
    assert [issue.code for issue in catalog.problems] == [code]


def test_plain_http_is_only_for_this_machine(tmp_path: Path) -> None:
    catalog = Catalog(["http://example.org/a.parquet"], cache=tmp_path / "cache")
    assert catalog.tables() == []
    assert [issue.code for issue in catalog.problems] == ["not_secure"]


def test_many_files_are_all_listed_and_open(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"table_{number}.csv").write_text(f"id,value\n1,{number}\n2,{number * 2}\n")
    catalog = Catalog([tmp_path], cache=tmp_path / "cache")
    assert len(catalog.entries) == 60
    assert sum(table.rows for table in catalog.tables()) == 120
