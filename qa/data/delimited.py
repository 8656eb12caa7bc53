"""CSV and its kin to raw tables."""

from __future__ import annotations

import tempfile
from pathlib import Path

from qa.data.bulk import grown
from qa.data.grid import Grid
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.sniff import ReadLimits, read_grid
from qa.errors import Issue, LimitExceeded, LoadError


def read_delimited(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """The table of a delimited text file: its cells as text, bare numbers of a big file as numbers."""
    limits = options.limits
    with tempfile.TemporaryDirectory(prefix="qa-unpacked-") as scratch:
        grid = read_grid(
            path,
            delimiter=options.delimiter,
            encoding=options.encoding,
            quote=options.quote,
            header=options.header,
            table=options.table,
            summing=options.totals,
            member=options.member,
            limits=ReadLimits(
                file_bytes=limits.bytes,
                unpacked_bytes=limits.bytes,
                columns=limits.columns,
                cells=limits.cells,
                unpacked_ratio=limits.ratio,
            ),
            scratch=Path(scratch),
        )
        if grid.width == 0:
            raise LoadError(
                Issue("empty", path.name, f"{path.name!r} holds nothing but blanks.", "Choose another file.")
            )
        if grid.height > limits.rows:
            raise LimitExceeded(
                Issue(
                    "too_many_rows",
                    path.name,
                    f"{path.name!r} has {grid.height:,} rows; at most {limits.rows:,} are read.",
                    "Split the file.",
                )
            )
        return [_raw(grid, options, name)]


def _raw(grid: Grid, options: ReadOptions, name: str) -> Raw:
    frame, proven = (grid.frame, frozenset[str]()) if grid.in_memory else grown(grid, options)
    return Raw(
        name=name,
        frame=frame,
        headers=grid.headers,
        format="csv",
        rows=grid.numbers,
        first_row=grid.first_row_number,
        units=grid.units,
        encoding=grid.encoding,
        delimiter=grid.delimiter,
        quote=grid.quote,
        rows_in=grid.rows_in,
        skipped=grid.skipped,
        notes=grid.notes,
        proven=proven,
    )
