"""CSV and its kin to raw tables."""

from __future__ import annotations

from pathlib import Path

from qa.data.bulk import FROM_BYTES, read_bulk
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.sniff import ReadLimits, read_grid


def read_delimited(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """The table of a delimited text file, cells as text."""
    if path.stat().st_size > FROM_BYTES and (raw := read_bulk(path, options, name)) is not None:
        return [raw]
    limits = options.limits
    grid = read_grid(
        path,
        delimiter=options.delimiter,
        encoding=options.encoding,
        quote=options.quote,
        header=options.header,
        table=options.table,
        limits=ReadLimits(
            file_bytes=limits.bytes, unpacked_bytes=limits.bytes, columns=limits.columns, cells=limits.cells
        ),
    )
    return [
        Raw(
            name=name,
            frame=grid.frame,
            headers=grid.headers,
            format="csv",
            rows=grid.rows,
            units=grid.units,
            encoding=grid.encoding,
            delimiter=grid.delimiter,
            quote=grid.quote,
            rows_in=grid.rows_in,
            skipped=grid.skipped,
            notes=grid.notes,
        )
    ]
