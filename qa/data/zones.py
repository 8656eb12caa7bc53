"""Zones and offsets as they are written behind a time of day."""

from __future__ import annotations

import polars as pl

ZONES = {
    "z": 0,
    "utc": 0,
    "gmt": 0,
    "est": -300,
    "edt": -240,
    "cst": -360,
    "cdt": -300,
    "mst": -420,
    "mdt": -360,
    "pst": -480,
    "pdt": -420,
    "cet": 60,
    "cest": 120,
    "bst": 60,
    "wet": 0,
    "west": 60,
    "eet": 120,
    "eest": 180,
    "ist": 330,
    "jst": 540,
    "msk": 180,
    "aest": 600,
    "aedt": 660,
}
AMBIGUOUS = frozenset({"ist", "cst", "bst", "est"})
"""Names that several zones share."""
FIXED_ZONES = {0: "UTC", 330: "Asia/Kolkata", 345: "Asia/Kathmandu", 570: "Australia/Darwin"}


def minutes_east() -> pl.Expr:
    """Minutes east of UTC."""
    zone = pl.col("zone").str.replace(r"^(utc|gmt)([-+])", "$2")
    digits = zone.str.extract(r"^[-+](\d{1,2}):?(\d{2})?$", 1).cast(pl.Int64)
    minutes = zone.str.extract(r"^[-+]\d{1,2}:?(\d{2})$", 1).cast(pl.Int64).fill_null(0)
    sign = pl.when(zone.str.starts_with("-")).then(-1).otherwise(1)
    return pl.coalesce(zone.replace_strict(ZONES, default=None, return_dtype=pl.Int64), sign * (digits * 60 + minutes))


def shown_zone(offsets: list[int]) -> str:
    """The zone to show times in: the one fixed offset of the column, else UTC."""
    if len(offsets) != 1:
        return "UTC"
    minutes = offsets[0]
    if minutes in FIXED_ZONES:
        return FIXED_ZONES[minutes]
    return f"Etc/GMT{-minutes // 60:+d}" if minutes % 60 == 0 and -720 <= minutes <= 840 else "UTC"


def offset_said(minutes: int) -> str:
    """`+02:00`."""
    return "UTC" if minutes == 0 else f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
