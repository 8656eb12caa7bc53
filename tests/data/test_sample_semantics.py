"""The semantic files of the sample data fit their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.catalog import Catalog
from qa.data.relations import relationships
from qa.data.semantics import drift, load_semantics

ROOT = Path(__file__).parents[2] / "sample_data"
FILES = sorted(ROOT.rglob("*.qa.yaml"))


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Catalog]:
    cache = tmp_path_factory.mktemp("cache")
    places = {"housing": [ROOT / "housing.parquet"], "flights": [ROOT / "flights"], "shop": [ROOT / "shop"]}
    return {name: Catalog(place, cache=cache) for name, place in places.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_sample_fits_its_semantic_file(path: Path, catalogs: dict[str, Catalog]) -> None:
    group = path.parent.name if path.parent != ROOT else "housing"
    tables = {table.name: table for table in catalogs[group].tables()}
    semantics = load_semantics(path)
    assert drift(tables[semantics.table or ""], semantics, tables) == []


def test_the_links_in_the_files_are_those_that_would_be_found(catalogs: dict[str, Catalog]) -> None:
    for name in ("flights", "shop"):
        catalog = catalogs[name]
        told = relationships(catalog.tables(), catalog.semantics)
        found = relationships(catalog.tables())
        assert {r.status for r in told} == {"confirmed"}
        assert {str(r) for r in told} == {str(r) for r in found}
