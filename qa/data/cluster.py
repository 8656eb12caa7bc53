"""A Spark cluster behind Spark Connect: one session, the tables that it was given, and statements that can be stopped."""

from __future__ import annotations

import logging
import re
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import polars as pl
import pyarrow as pa

from qa.errors import Issue, LimitExceeded, QAError

if TYPE_CHECKING:
    from qa.data.table import Table

Tick = Callable[[], None]

FILE_ROW = "file_row_number"
"""the stored column that holds a table's row number"""
VIEWS_MOST = 64
"""tables that stay in the cluster's session; those unused longest make room"""

CONFIGURED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
}
"""What the SQL means the same under: times in UTC, overflow an error, names as they are written."""


class ClusterFailed(QAError):
    """The cluster could not run a statement; the issue says why."""


class Cluster:
    """One session at one address. Safe to use from many threads."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.RLock()
        self._session: Any = None
        self._views: dict[str, str] = {}

    @property
    def session(self) -> Any:
        """The session; made at first use. Raises ClusterFailed when nobody answers."""
        with self._lock:
            if self._session is None:
                self._session = _opened(self.address)
                self._views.clear()
            return self._session

    def view(self, table: Table, most_mb: int) -> str:
        """The name under which the cluster knows a loaded table; sends it when it does not yet."""
        with self._lock:
            session = self.session
            if table.digest in self._views:
                self._views[table.digest] = self._views.pop(table.digest)
                return self._views[table.digest]
            if table.path.stat().st_size > most_mb * 1_000_000:
                raise ClusterFailed(
                    Issue(
                        "too_big_to_send", table.name,
                        f"{table.name} has {table.path.stat().st_size / 1e6:,.0f} MB, and at most {most_mb:,} MB are sent to a cluster.",
                        "Put it where the cluster reads it and name it in QA_DATA as sc://host:port/table.",
                    )
                )  # fmt: skip
            name = f"qa_{re.sub('[^0-9a-f]', '', table.digest.lower())[:32]}"
            rows = _arrow(table)
            sent = session.createDataFrame(rows if rows.num_rows else _one_empty(rows.schema))
            (sent if rows.num_rows else sent.limit(0)).createOrReplaceTempView(name)
            self._views[table.digest] = name
            while len(self._views) > VIEWS_MOST:
                session.catalog.dropTempView(self._views.pop(next(iter(self._views))))
            return name

    def rows(self, sql: str, seconds: float, tick: Tick | None = None) -> pl.DataFrame:
        """The rows of a statement. Interrupts it on the cluster when time is over or `tick` raises."""
        session, tag, done = self.session, f"qa-{uuid.uuid4().hex}", threading.Event()
        found: list[Any] = []

        def run() -> None:
            session.addTag(tag)
            try:
                found.append(session.sql(sql).toArrow())
            except Exception as error:  # the door of the thread: raised again below
                found.append(error)
            finally:
                session.removeTag(tag)
                done.set()

        threading.Thread(target=run, name="qa-spark", daemon=True).start()
        deadline = time.monotonic() + seconds
        try:
            while not done.wait(0.05):
                if tick is not None:
                    tick()
                if time.monotonic() > deadline:
                    raise LimitExceeded(_too_slow(seconds))
        except BaseException:
            session.interruptTag(tag)
            raise
        if isinstance(found[0], Exception):
            raise self._failed(found[0])
        frame = pl.from_arrow(found[0])
        assert isinstance(frame, pl.DataFrame)
        return frame

    def _failed(self, error: Exception) -> Exception:
        said = _first_line(error)
        if "SESSION" in said and ("NOT_FOUND" in said or "CLOSED" in said or "CHANGED" in said):
            with self._lock:
                self._session = None
        for sign, issue in _KNOWN.items():
            if sign in said:
                return ClusterFailed(issue)
        return ClusterFailed(
            Issue(
                "cluster_failed",
                "",
                f"The cluster could not run this plan: {said}",
                "Ask whoever runs the cluster, or use the local engine.",
            )
        )

    def close(self) -> None:
        """Ends the session."""
        with self._lock:
            if self._session is not None:
                self._session.stop()
            self._session = None
            self._views.clear()


_KNOWN = {
    "ARITHMETIC_OVERFLOW": Issue("overflow", "", "A number in this plan is too large for the cluster's arithmetic.", "Use number(…) where exact whole numbers are not needed."),
    "NUMERIC_VALUE_OUT_OF_RANGE": Issue("overflow", "", "A number in this plan is too large for the cluster's arithmetic.", "Use number(…) where exact whole numbers are not needed."),
}  # fmt: skip


def _too_slow(seconds: float) -> Issue:
    return Issue(
        "too_slow", "", f"The plan ran longer than {seconds:g} seconds on the cluster and was stopped.", "Filter first, group by fewer columns, or raise QA_QUERY_SECONDS.",
    )  # fmt: skip


def _first_line(error: Exception) -> str:
    return str(error).split("JVM stacktrace")[0].strip().split("\n")[0][:300]


def _opened(address: str) -> Any:
    if not _answers(address):
        raise ClusterFailed(
            Issue("no_cluster", address, "Nothing answers there.", "Check QA_SPARK and that the server runs.")
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise ClusterFailed(
            Issue("no_client", "", f"The Spark client is not installed ({error.name or 'pyspark'}).", 'Install it: pip install "pyspark-client==4.*"')
        ) from None  # fmt: skip
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    logging.getLogger("pyspark").setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():  # the client warns of the newest pandas, which is not used here
            warnings.simplefilter("ignore")
            session = SparkSession.builder.remote(address).create()
        for key, value in CONFIGURED.items():
            session.conf.set(key, value)
    except Exception as error:  # the client's many errors mean one thing here: nobody answers as a cluster does
        raise ClusterFailed(
            Issue("no_cluster", address, f"No Spark Connect server answers at {address}: {_first_line(error)}", "Check QA_SPARK and that the server runs.")
        ) from None  # fmt: skip
    return session


def _arrow(table: Table) -> pa.Table:
    """A table's rows as the cluster stores them: text as text, durations and times of day in microseconds."""
    frame = table.scan(FILE_ROW).collect()
    changes = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if dtype in (pl.Categorical, pl.Enum):
            changes.append(column.cast(pl.String))
        elif isinstance(dtype, pl.Duration):
            changes.append(column.dt.total_microseconds())
        elif isinstance(dtype, pl.Time):
            changes.append(column.cast(pl.Int64) // 1000)
        elif dtype == pl.UInt32:
            changes.append(column.cast(pl.Int64))
    return frame.with_columns(changes).to_arrow(compat_level=pl.CompatLevel.oldest())


def _one_empty(schema: pa.Schema) -> pa.Table:
    """A row of missing values: the client sends no table without rows."""
    return pa.table([pa.nulls(1, field.type) for field in schema], names=schema.names)


def _answers(address: str) -> bool:
    """Whether somebody listens there at all; the client itself would try for many minutes."""
    host = urlsplit(address)
    try:
        with socket.create_connection((host.hostname or "", host.port or 15002), timeout=10):
            return True
    except OSError:
        return False


@lru_cache(maxsize=4)
def cluster(address: str) -> Cluster:
    """The process's one session at an address."""
    return Cluster(address)
