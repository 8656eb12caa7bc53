"""Make `housing.parquet`: a synthetic US housing-market panel of 928 regions × 99 month-ends.

Run `python sample_data/make_housing.py [FOLDER]`. The seed is fixed and the generator's stream is frozen,
so every run gives the same rows. Only the names of the regions are real.
"""

from __future__ import annotations

import sys
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
SEED = 20180331
MONTHS = 99
COLUMNS = [
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

# Typical list price of a state in spring 2018, in thousands of dollars; the others are near 225.
STATE_PRICE = {
    "HI": 560, "CA": 470, "DC": 450, "MA": 430, "WA": 370, "CO": 365, "OR": 345, "NJ": 330, "RI": 320, "NY": 255,
    "UT": 325, "NV": 310, "CT": 305, "MT": 300, "NH": 295, "MD": 290, "ID": 285, "WY": 280, "AK": 280, "DE": 280,
    "VA": 270, "AZ": 270, "VT": 265, "FL": 265, "ME": 250, "NM": 230, "TX": 235, "NC": 240, "MN": 245, "WI": 215,
    "TN": 235, "SC": 235, "GA": 225, "PA": 205, "IL": 180, "MI": 190, "MO": 180, "ND": 215, "SD": 215, "NE": 190,
    "LA": 195, "AL": 190, "KY": 180, "OK": 170, "KS": 170, "IN": 170, "OH": 165, "IA": 170, "AR": 165, "MS": 165,
    "WV": 150,
}  # fmt: skip

# Markets whose price stands well apart from their state's, as a multiple of it.
PRICE_APART = {
    "San Jose, CA": 2.35, "San Francisco, CA": 1.95, "Santa Cruz, CA": 1.9, "Santa Maria, CA": 2.1, "Napa, CA": 1.9,
    "Salinas, CA": 1.75, "Los Angeles, CA": 1.5, "San Diego, CA": 1.42, "Oxnard, CA": 1.5, "San Luis Obispo, CA": 1.4,
    "Truckee, CA": 1.5, "Santa Rosa, CA": 1.4, "Bakersfield, CA": 0.55, "Fresno, CA": 0.62, "Visalia, CA": 0.58,
    "Kahului, HI": 1.45, "Kapaa, HI": 1.3, "Urban Honolulu, HI": 1.12, "Hilo, HI": 0.75, "Seattle, WA": 1.4,
    "Boston, MA": 1.25, "Vineyard Haven, MA": 2.6, "Nantucket, MA": 5.2, "Barnstable Town, MA": 1.15,
    "Springfield, MA": 0.62, "Pittsfield, MA": 0.66, "New York, NY": 2.0, "Hudson, NY": 1.5, "Kingston, NY": 1.35,
    "Jackson, WY": 5.6, "Breckenridge, CO": 2.3, "Steamboat Springs, CO": 2.0, "Edwards, CO": 2.6, "Boulder, CO": 1.6,
    "Glenwood Springs, CO": 2.4, "Denver, CO": 1.3, "Durango, CO": 1.35, "Pueblo, CO": 0.58, "Summit Park, UT": 2.9,
    "Heber, UT": 1.9, "Hailey, ID": 2.3, "Boise City, ID": 1.12, "Sandpoint, ID": 1.3, "Coeur d'Alene, ID": 1.2,
    "Key West, FL": 2.6, "Naples, FL": 1.75, "Miami, FL": 1.45, "Bridgeport, CT": 1.9, "Bozeman, MT": 1.55,
    "Austin, TX": 1.5, "Fredericksburg, TX": 1.5, "Dallas, TX": 1.38, "McAllen, TX": 0.7, "Chicago, IL": 1.55,
    "Washington, DC": 1.0, "Santa Fe, NM": 1.8, "Taos, NM": 1.35, "Los Alamos, NM": 1.35, "Bend, OR": 1.3,
    "Hood River, OR": 1.5, "Astoria, OR": 1.2, "Charlottesville, VA": 1.4, "Ocean City, NJ": 1.7, "Sevierville, TN": 1.2,
    "Nashville, TN": 1.5, "Hilton Head Island, SC": 1.45, "Charleston, SC": 1.5, "Ann Arbor, MI": 1.75,
    "Traverse City, MI": 1.5, "Flint, MI": 0.8, "Newport, RI": 1.7, "Madison, WI": 1.45, "Cullowhee, NC": 1.3,
    "Boone, NC": 1.6, "Asheville, NC": 1.5, "Kill Devil Hills, NC": 1.75, "Raleigh, NC": 1.4, "Phoenix, AZ": 1.15,
    "Flagstaff, AZ": 1.45, "Philadelphia, PA": 1.3, "Pittsburgh, PA": 0.95, "Johnstown, PA": 0.5, "Detroit, MI": 1.2,
}  # fmt: skip

# How far prices stand above spring 2018 and how slack the market is, at the start of each year from 2018.
PRICE_PATH = (0.985, 1.03, 1.065, 1.17, 1.36, 1.5, 1.535, 1.56, 1.575, 1.6)
SLACK_PATH = (1.0, 1.06, 0.95, 0.56, 0.42, 0.58, 0.68, 0.83, 0.93, 0.97)

SPRING = np.array([-0.75, -0.45, 0.1, 0.55, 0.9, 1.0, 0.75, 0.4, 0.1, -0.2, -0.65, -1.0])
LISTING_SEASON = np.array([0.78, 0.82, 1.06, 1.17, 1.25, 1.22, 1.12, 1.08, 0.98, 0.92, 0.72, 0.55])
INVENTORY_SEASON = np.array([0.88, 0.85, 0.88, 0.94, 1.01, 1.07, 1.1, 1.1, 1.09, 1.06, 0.99, 0.91])


def regions() -> list[str]:
    """The 928 region names, largest first: the listed hundred, then the states' lists dealt out in turn."""
    largest: list[str] = []
    rest: list[tuple[float, str]] = []
    for line in HERE.joinpath("housing_regions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        head, _, names = line.partition(": ")
        places = names.split("; ")
        if head == "LARGEST":
            largest = places
        else:
            rest += [((place + 0.5) / (len(places) + 4), f"{name}, {head}") for place, name in enumerate(places)]
    return largest + [name for _, name in sorted(rest)]


def month_ends() -> Iterator[date]:
    for past in range(MONTHS):
        year, month = divmod(2018 * 12 + 2 + past, 12)
        yield date(year, month + 1, monthrange(year, month + 1)[1])


def housing() -> pl.DataFrame:
    """All rows, ordered by size rank and month. Counts are whole, prices whole dollars, shares fractions."""
    draw = np.random.RandomState(SEED)  # its stream is frozen for good, unlike that of a Generator
    names, months = regions(), list(month_ends())
    many, long = len(names), len(months)
    states = [name.rsplit(", ", 1)[1] for name in names]
    rank = np.arange(1, many + 1)
    homes = np.exp(
        np.interp(
            np.log(rank), np.log([1, 10, 50, 100, 200, 387, many]), np.log([19e6, 5e6, 1.25e6, 58e4, 24e4, 9e4, 13e3])
        )
    )
    boom = np.clip(draw.normal(1.0, 0.22, many), 0.45, 1.7)[:, None]
    level = 1000 * np.array([STATE_PRICE[s] * PRICE_APART.get(n, 1.0) for s, n in zip(states, names, strict=True)])
    level *= np.exp(draw.normal(0.0, 0.11, many) * np.array([0.3 if n in PRICE_APART else 1.0 for n in names]))
    tightness = draw.normal(0.0, 0.25, many)[:, None]

    when = np.array([month.year - 2018 + (month.month - 0.5) / 12 for month in months])[None, :]
    season = np.array([month.month - 1 for month in months])
    years = np.arange(len(PRICE_PATH))
    price_path = np.interp(when, years, PRICE_PATH)
    slack = np.interp(when, years, SLACK_PATH) * np.exp(0.35 * (1 - boom) * (when > 4.5) + 0.1 * tightness)
    small = np.clip(np.sqrt(900 / homes), 0.02, 0.22)[:, None] ** 0.9
    wander = _wander(draw, many, long)

    pending_days = (
        34 * slack**1.1 * np.exp(0.35 * tightness - 0.27 * SPRING[season]) * _noise(draw, 0.09 + small, many, long)
    )
    inventory = (
        homes[:, None]
        * 0.0047
        * slack
        * INVENTORY_SEASON[season]
        * np.exp(tightness + 0.8 * wander)
        * _noise(draw, 0.02 + small / 5, many, long)
    )
    listings = (
        homes[:, None]
        * 0.00155
        * (0.72 + 0.28 * slack)
        * LISTING_SEASON[season]
        * np.exp(0.4 * tightness + 0.5 * wander)
        * _noise(draw, 0.05 + small / 2, many, long)
    )
    growth = 1 + (price_path - 1) * boom
    price = (
        level[:, None]
        * growth
        * (1 + 0.022 * SPRING[season])
        * np.exp(0.35 * wander)
        * _noise(draw, 0.006 + small / 8, many, long)
    )
    cuts = 0.045 + 0.155 * slack * (1 - 0.2 * SPRING[season]) * _noise(draw, 0.08 + small / 2, many, long)

    frame = pl.DataFrame(
        {
            "region_id": np.repeat(394_300 + rank * 7 % 929 + 1, long).astype(np.int64),
            "size_rank": np.repeat(rank, long).astype(np.int64),
            "region_name": np.repeat(np.array(names, dtype=object), long).tolist(),
            "region_type": ["msa"] * (many * long),
            "state_code": np.repeat(np.array(states, dtype=object), long).tolist(),
            "month": months * many,
            "for_sale_inventory": np.maximum(np.rint(inventory), 3).astype(np.int64).ravel(),
            "new_listings": np.maximum(np.rint(listings), 1).astype(np.int64).ravel(),
            "median_list_price": np.rint(price).astype(np.int64).ravel(),
            "price_cut_share": np.round(np.clip(cuts, 0.0, 0.6), 4).ravel(),
            "days_to_pending": np.clip(np.rint(pending_days), 3, 180).astype(np.int64).ravel(),
        }
    )
    gaps = {
        "for_sale_inventory": 0.03,
        "new_listings": 0.05,
        "median_list_price": 0.04,
        "price_cut_share": 0.08,
        "days_to_pending": 0.14,
    }
    return frame.with_columns(
        pl.when(pl.Series(_gaps(draw, rank, long, worst).ravel())).then(None).otherwise(pl.col(name)).alias(name)
        for name, worst in gaps.items()
    ).select(COLUMNS)


def _noise(draw: np.random.RandomState, spread: np.ndarray | float, many: int, long: int) -> np.ndarray:
    return np.exp(draw.normal(0.0, 1.0, (many, long)) * spread)


def _wander(draw: np.random.RandomState, many: int, long: int) -> np.ndarray:
    """A slow drift of each region around its path: each month keeps 0.95 of the last."""
    steps = draw.normal(0.0, 0.022, (many, long))
    drift = np.zeros((many, long))
    for month in range(1, long):
        drift[:, month] = 0.95 * drift[:, month - 1] + steps[:, month]
    return drift


def _gaps(draw: np.random.RandomState, rank: np.ndarray, long: int, worst: float) -> np.ndarray:
    """Which months are missing: late starts and scattered gaps, both rarer in larger regions, none in the first hundred."""
    odds = np.where(rank <= 100, 0.0, worst * (rank / rank[-1]) ** 1.5)[:, None]
    starts = np.where(draw.random_sample(len(rank))[:, None] < 4 * odds, draw.randint(1, 31, len(rank))[:, None], 0)
    return (np.arange(long)[None, :] < starts) | (draw.random_sample((len(rank), long)) < odds)


def write(folder: Path = HERE) -> Path:
    """Write `housing.parquet` into the folder."""
    path = folder / "housing.parquet"
    housing().write_parquet(path, compression="zstd", compression_level=19, statistics=True)
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE))
