"""What a reader may be told about a file, and the limits it reads under."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """How much a file may cost. Bytes, rows and cells count after decompression; time is of the whole load."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bytes: int = Field(2_000_000_000, gt=0, description="bytes of the file, and of what it unpacks to")
    rows: int = Field(100_000_000, gt=0, description="rows of one table")
    columns: int = Field(5_000, gt=0, description="columns of one table")
    cells: int = Field(2_000_000_000, gt=0, description="rows times columns of one table")
    tables: int = Field(100, gt=0, description="sheets or tables of one file")
    ratio: int = Field(200, gt=0, description="unpacked bytes for each packed byte, once past 10 MB")
    seconds: float = Field(300, gt=0, description="seconds the isolated reader may take")
    memory_mb: int = Field(4096, gt=0, description="MB of address space the isolated reader may add")


class ReadOptions(BaseModel):
    """What a person says about a file; everything left out is found from the bytes.

    `as_kinds` maps a column's display name to a kind (`text`, `integer`, `date`, …), to `id` (text that
    names a thing), to `verbatim` (text exactly as in the file), or to `date:%d/%m/%Y`, a kind with its format.
    `missing` maps a column to cell texts that mean missing there. `header` counts rows from 1; 0 says there is none.
    `table` is the n-th of several tables in one sheet or text file. `totals` leaves out rows proven to sum up others
    ("drop"), all that are called so ("all") or none ("keep"); `hidden` keeps or drops hidden rows of a sheet;
    `member` is the file inside a zip; `variants` reads spellings as one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_kinds: dict[str, str] = {}
    missing: dict[str, tuple[str, ...]] = {}
    decimal: str | None = None
    dayfirst: bool | None = None
    header: int | None = None
    sheet: str | None = None
    table: int | None = None
    member: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    quote: str | None = None
    totals: Literal["drop", "keep", "all"] = "drop"
    hidden: Literal["drop", "keep"] = "keep"
    variants: bool = True
    limits: Limits = Limits()
