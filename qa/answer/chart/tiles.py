"""A map of the United States as a grid of equal squares: needs no shapes and no network, and small states are seen."""

from __future__ import annotations

import polars as pl

# One line a row of the grid, west to east; two letters a state, dots for sea or another country.
_GRID = """
AK .. .. .. .. .. .. .. .. .. ME
.. .. .. .. .. .. .. .. .. VT NH
WA ID MT ND MN IL WI MI NY RI MA
OR NV WY SD IA IN OH PA NJ CT ..
CA UT CO NE MO KY WV VA MD DE ..
.. AZ NM KS AR TN NC SC DC .. ..
.. .. .. OK LA MS AL GA .. .. ..
HI .. .. TX .. .. .. .. FL .. ..
"""

_NAMES = (
    "Alabama AL,Alaska AK,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,"
    "District of Columbia DC,Florida FL,Georgia GA,Hawaii HI,Idaho ID,Illinois IL,Indiana IN,Iowa IA,Kansas KS,"
    "Kentucky KY,Louisiana LA,Maine ME,Maryland MD,Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,"
    "Missouri MO,Montana MT,Nebraska NE,Nevada NV,New Hampshire NH,New Jersey NJ,New Mexico NM,New York NY,"
    "North Carolina NC,North Dakota ND,Ohio OH,Oklahoma OK,Oregon OR,Pennsylvania PA,Rhode Island RI,"
    "South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,Utah UT,Vermont VT,Virginia VA,Washington WA,"
    "West Virginia WV,Wisconsin WI,Wyoming WY"
)

_PAIRS = tuple(pair.rpartition(" ") for pair in _NAMES.split(","))

CODES: dict[str, str] = {key.casefold(): code for name, _, code in _PAIRS for key in (name, code)}

PLACES: dict[str, tuple[int, int]] = {
    code: (column, row)
    for row, line in enumerate(_GRID.strip().splitlines())
    for column, code in enumerate(line.split())
    if code != ".."
}


def code_of(text: str | None) -> str | None:
    """The two-letter code of a state's name or code."""
    return CODES.get((text or "").strip().casefold())


def are_states(values: pl.Series) -> bool:
    """Every known value is a state of the United States, and there are five at least."""
    if values.dtype != pl.String and not isinstance(values.dtype, (pl.Enum, pl.Categorical)):
        return False
    texts = values.drop_nulls().cast(pl.String).unique().to_list()
    return 5 <= len(texts) <= len(PLACES) and all(code_of(text) for text in texts)
