"""Tables that lie on a Spark cluster: named in the configuration, described by the cluster, never copied here."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
from sqlglot import exp

from qa.data import roles
from qa.data.cluster import Cluster, ClusterFailed, cluster
from qa.data.cluster_place import table_there
from qa.data.names import identifier
from qa.data.profile import plain
from qa.data.table import Assumption, ColumnProfile, ColumnReport, LoadReport, Profile, Table
from qa.errors import Issue, LoadError, QAError
from qa.types import Column, Kind

SECONDS = 600
"""the most that describing one table may take"""
EXACT_ROWS = 10_000_000
"""rows up to which different values are counted exactly"""
DISTINCT_MOST = 10_000
_KINDS: tuple[tuple[type[pl.DataType], Kind], ...] = (
    (pl.Boolean, Kind.BOOLEAN), (pl.Decimal, Kind.DECIMAL), (pl.String, Kind.TEXT), (pl.Date, Kind.DATE), (pl.Datetime, Kind.DATETIME), (pl.List, Kind.LIST),
)  # fmt: skip


class ClusterTable(Table):
    """A table at `address` under the name `there`. Its rows can only be asked for by a plan."""

    def __init__(self, *, address: str, there: str, stored: Sequence[str], **facts: Any) -> None:
        super().__init__(path=Path(there), **facts)
        self.address, self.there, self.stored = address, there, tuple(stored)

    def scan(self, row_number: str | None = None) -> NoReturn:
        raise LoadError(
            Issue("on_cluster", self.name, f"The rows of {self.name} lie on a cluster and are not copied here.", "Ask a question of it; its answer comes from there.")
        )  # fmt: skip

    def distinct(self, column_id: str) -> Sequence[str]:
        if column_id not in self._distinct:
            x = _quoted(column_id)
            found = self._asked(
                f"SELECT DISTINCT {x} AS v FROM {self.view} WHERE {x} IS NOT NULL LIMIT {DISTINCT_MOST}"
            )
            self._distinct[column_id] = sorted(found["v"].to_list())
        return self._distinct[column_id]

    @property
    def view(self) -> str:
        """The rows under engine names, as a table expression of the cluster."""
        columns = ", ".join(f"{_quoted(s)} AS {_quoted(c.id)}" for s, c in zip(self.stored, self.columns, strict=True))
        return f"(SELECT {columns} FROM {_path(self.there)})"

    def _asked(self, sql: str) -> pl.DataFrame:
        return cluster(self.address).rows(sql, SECONDS)


def opened_there(place: str, name: str) -> ClusterTable:
    """The table that a place of the configuration names. Raises LoadError."""
    address, there = table_there(place)
    try:
        return cluster_table(address, there, name)
    except ClusterFailed as error:
        raise LoadError(error.issues) from None


def cluster_table(address: str, there: str, name: str | None = None) -> ClusterTable:
    """One table of a cluster, described by one pass of the cluster over its rows. Raises LoadError."""
    here, own = cluster(address), name or identifier(there.rpartition(".")[2])
    try:
        sample = here.rows(f"SELECT * FROM {_path(there)} LIMIT 1000", SECONDS)
    except QAError:
        raise
    except Exception as error:
        raise LoadError(
            Issue("cannot_open", there, f"{there} cannot be read on the cluster: {error}", "Check its name.")
        ) from None
    kinds = {c: kind for c, dtype in sample.schema.items() if (kind := _kind(dtype)) is not None}
    left = [c for c in sample.columns if c not in kinds]
    ids = {c: f"c{place}" for place, c in enumerate(kinds)}
    rows, figures = _figures(here, there, kinds, ids)
    columns, profiles = [], []
    for c, kind in kinds.items():
        known = {
            key: figures[f"{ids[c]}_{key}"]
            for key in ("count", "distinct", "low", "high", "mean", "std", "q25", "median", "q75")
        }
        low, high = (plain(known[end]) for end in ("low", "high"))
        numeric = kind.numeric and low is not None
        facts = roles.Facts(
            known["count"], known["distinct"], float(low) if numeric else None, float(high) if numeric else None, False
        )
        role, unit = roles.role(c, kind, facts, sample[c] if kind is Kind.TEXT else None)
        zone = "UTC" if isinstance(sample.schema[c], pl.Datetime) and sample.schema[c].time_zone else None  # type: ignore[attr-defined]
        columns.append(
            Column(id=ids[c], name=c, kind=kind, role=role, unit=unit, zone=zone, owner=own, origin=(own, ids[c]))
        )
        profiles.append(
            ColumnProfile(
                name=c, kind=kind, role=role, unit=unit, count=known["count"], missing=rows - known["count"], distinct=known["distinct"], unique=False, low=low, high=high,
                mean=known["mean"], std=known["std"], q25=known["q25"], median=known["median"], q75=known["q75"], top=_top(here, there, c, kind, known["distinct"]),
            )
        )  # fmt: skip
    digest = hashlib.blake2b(repr((address, there, rows, figures)).encode(), digest_size=16).hexdigest()
    notes = tuple(
        Assumption(code="column_left", column=c, message=f"{c} holds what no question can use and is left aside.")
        for c in left
    )
    report = LoadReport(
        file=f"{address}/{there}", format="spark", rows_in=rows, rows_out=rows, columns_in=sample.width, columns_out=len(columns), assumptions=notes,
        columns=tuple(ColumnReport(name=c, header=c, kind=k, role=columns[i].role, why="the cluster says so", missing=profiles[i].missing) for i, (c, k) in enumerate(kinds.items())),
    )  # fmt: skip
    return ClusterTable(
        address=address, there=there, stored=list(kinds), name=own, columns=columns, rows=rows, digest=digest, report=report,
        profile=Profile(name=own, digest=digest, rows=rows, columns=tuple(profiles)),
    )  # fmt: skip


def _kind(dtype: pl.DataType) -> Kind | None:
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_float():
        return Kind.NUMBER
    if isinstance(dtype, pl.List) and dtype.inner != pl.String:
        return None
    return next((kind for known, kind in _KINDS if isinstance(dtype, known)), None)


def _figures(here: Cluster, there: str, kinds: dict[str, Kind], ids: dict[str, str]) -> tuple[int, dict[str, Any]]:
    rows = int(here.rows(f"SELECT count(*) AS n FROM {_path(there)}", SECONDS).item())
    distinct = "count(DISTINCT {x})" if rows <= EXACT_ROWS else "least(approx_count_distinct({x}), count({x}))"
    asked = []
    for c, kind in kinds.items():
        x, id = _quoted(c), ids[c]
        sized = kind.numeric
        ends = x if kind is not Kind.LIST else f"size({x})"
        parts = {
            "count": f"count({x})", "distinct": distinct.format(x=x), "low": f"min({ends})", "high": f"max({ends})",
            "mean": f"CAST(avg({x}) AS DOUBLE)" if sized else "CAST(NULL AS DOUBLE)", "std": f"CAST(stddev_samp({x}) AS DOUBLE)" if sized else "CAST(NULL AS DOUBLE)",
            **{key: f"CAST(approx_percentile({x}, {q}) AS DOUBLE)" if sized else "CAST(NULL AS DOUBLE)" for key, q in (("q25", 0.25), ("median", 0.5), ("q75", 0.75))},
        }  # fmt: skip
        asked += [f"{part} AS `{id}_{key}`" for key, part in parts.items()]
    return rows, here.rows(f"SELECT {', '.join(asked)} FROM {_path(there)}", SECONDS).row(0, named=True)


def _top(here: Cluster, there: str, column: str, kind: Kind, distinct: int) -> tuple[tuple[Any, int], ...]:
    """The most frequent values of a text of few."""
    if kind is not Kind.TEXT or distinct > DISTINCT_MOST:
        return ()
    x = _quoted(column)
    found = here.rows(
        f"SELECT {x} AS v, count(*) AS n FROM {_path(there)} WHERE {x} IS NOT NULL GROUP BY {x} ORDER BY n DESC, v LIMIT 20",
        SECONDS,
    )
    return tuple((value, int(n)) for value, n in found.rows())


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="spark")


def _path(there: str) -> str:
    return ".".join(_quoted(part) for part in there.split("."))
