"""Large delimited files to columns in bounded memory: batch by batch, bare numbers as numbers, repeated texts coded."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import polars as pl

from qa.data.columns import named_for_text, padded, plain_whole, powers, proves_point
from qa.data.grid import Grid
from qa.data.names import display_names
from qa.data.options import ReadOptions

_BATCH_CELLS = 4_000_000
_REPEATING = 0.4
"""A column with fewer distinct texts in its first batch than this share is kept coded."""


@dataclass
class _Growing:
    """One column as batches of it come in."""

    id: str
    as_text: bool
    chunks: list[pl.Series] = field(default_factory=list)
    kind: str = "whole"
    proven: bool = False
    failed: bool = False

    def add(self, cells: pl.Series) -> None:
        if self.as_text or self.kind == "text":
            self._add_text(cells)
        elif not self.failed:
            self._add_number(cells)

    def _add_number(self, cells: pl.Series) -> None:
        if self.kind == "whole" and (whole := plain_whole(cells)) is not None:
            self.chunks.append(whole)
            return
        real = cells.cast(pl.Float64, strict=False)
        if (
            real.null_count() == cells.null_count()
            and real.is_finite().all()
            and not padded(cells)
            and not powers(cells)
        ):
            self.kind = "real"
            self.proven = self.proven or proves_point(cells)
            self.chunks.append(real)
            return
        if any(chunk.null_count() < len(chunk) for chunk in self.chunks):
            self.failed = True  # earlier cells were kept as numbers: the column is read again as text
            self.chunks = []
            return
        blank = sum(map(len, self.chunks))
        self.kind = "text"
        self.chunks = [pl.Series(self.id, [None] * blank, dtype=pl.Categorical)] if blank else []
        self._add_text(cells)

    def _add_text(self, cells: pl.Series) -> None:
        coded = (
            self.chunks[0].dtype == pl.Categorical
            if self.chunks
            else cells.n_unique() < _REPEATING * max(len(cells), 1)
        )
        self.kind = "text"
        self.chunks.append(cells.cast(pl.Categorical) if coded else cells)

    def begin_again(self) -> None:
        """Read as text from the first row on."""
        self.as_text, self.kind, self.failed = True, "text", False

    def column(self) -> pl.Series:
        """All batches as one column; the batches are let go."""
        chunks = [chunk.cast(pl.Float64) for chunk in self.chunks] if self.kind == "real" else self.chunks
        self.chunks = []
        column = pl.concat(chunks, rechunk=False) if chunks else pl.Series(self.id, [], dtype=pl.String)
        return column.alias(self.id)


def grown(grid: Grid, options: ReadOptions) -> tuple[pl.DataFrame, frozenset[str]]:
    """The cells of a grid that scans its file, and the columns whose decimals show that a point is their mark.

    Columns of bare numbers come as numbers, others as text. A column that turns out otherwise late is scanned anew.
    """
    names = display_names(grid.headers)
    growing = [_Growing(f"c{index}", as_text=named_for_text(names[index], options)) for index in range(grid.width)]
    with ThreadPoolExecutor(min(4, pl.thread_pool_size())) as pool:
        for batch in _batches(grid.cells, grid.width):
            list(pool.map(lambda into, batch=batch: into.add(batch[into.id]), growing))
    for into in growing:
        # Decimals that all have three places may be grouped thousands: they are looked at as text.
        if into.failed or (into.kind == "real" and not into.proven):
            into.begin_again()
            into.chunks = []
            for batch in _batches(grid.cells.select(into.id), 1):
                into.add(batch[into.id])
    proven = frozenset(into.id for into in growing if into.proven)
    return pl.DataFrame([into.column() for into in growing]), proven


def _batches(cells: pl.LazyFrame, width: int) -> Iterator[pl.DataFrame]:
    yield from cells.collect_batches(chunk_size=max(20_000, _BATCH_CELLS // max(width, 1)), maintain_order=True)
