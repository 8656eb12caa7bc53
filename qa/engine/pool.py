"""A small pool of warm worker processes: limits, Stop, and replacement of what was killed."""

from __future__ import annotations

import atexit
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qa.engine.turns import Turns
from qa.engine.wire import LENGTH, Done, Job, send, too_much_memory
from qa.errors import Issue, LimitExceeded
from qa.settings import Settings, settings

if TYPE_CHECKING:  # a worker is started before these are loaded: it loads them at the same time
    from qa.data.table import Table
    from qa.engine.result import Check, PartResult
    from qa.plan.plan import PlanReply
    from qa.plan.scope import Clock

Tick = Callable[[], None]
"""Called every moment while a worker is awaited; raising (say, Stopped) kills the worker and ends the job."""

Queued = Callable[[int], None]
"""Called every moment while a job waits for a worker, with the number of jobs before it."""

HOME = Path(__file__).resolve().parents[2]


class Stopped(Exception):
    """The person pressed Stop and the worker was killed, or the program ends."""


class EngineFault(Exception):
    """A worker failed in a way that no rule foresaw; the text is for the audit record only."""


@dataclass(frozen=True)
class Asker:
    """Who asks, and who is told while they wait."""

    session: str = ""
    tick: Tick | None = None
    queued: Queued | None = None

    def waits(self, before: int) -> None:
        if self.queued is not None:
            self.queued(before)
        elif self.tick is not None:
            self.tick()


class Worker:
    """One child process. Not shared between threads: the pool hands it to one job at a time."""

    def __init__(self, memory_mb: int) -> None:
        self.memory_mb = memory_mb
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HOME), os.environ.get("PYTHONPATH", "")])),
            "POLARS_MAX_THREADS": os.environ.get("POLARS_MAX_THREADS", "2"),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "qa.engine.worker", str(memory_mb)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        self.ready = False
        self._own_at_first = 0.0

    def _own_mb(self) -> float:
        """Memory that is the process's own, without the pages of files; 0 where the kernel does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0.0
        return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon")), 0.0)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, job: Job, seconds: float, tick: Tick | None) -> Done:
        """The job's outcome. Kills the process and raises on a limit, on Stop, and when it dies."""
        try:
            if not self.ready:
                self._receive(60, tick)
                self.ready, self._own_at_first = True, self._own_mb()
            assert self.process.stdin is not None
            send(self.process.stdin, job)  # type: ignore[arg-type]
            done: Done = self._receive(seconds, tick)
            return done
        except (BrokenPipeError, EOFError):
            code = self.process.wait()
            self.kill()
            raise _died(code, self.memory_mb) from None
        except BaseException:
            self.kill()
            raise

    def _receive(self, seconds: float, tick: Tick | None) -> Any:
        assert self.process.stdout is not None
        handle, deadline = self.process.stdout.fileno(), time.monotonic() + seconds
        size = LENGTH.unpack(self._read(handle, LENGTH.size, deadline, seconds, tick))[0]
        return pickle.loads(self._read(handle, size, deadline, seconds, tick))

    def _read(self, handle: int, size: int, deadline: float, seconds: float, tick: Tick | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            if tick is not None:
                tick()
            if time.monotonic() > deadline:
                raise LimitExceeded(
                    Issue(
                        "too_slow",
                        "",
                        f"The plan ran longer than {seconds:g} seconds and was stopped.",
                        "Filter first, group by fewer columns, or raise QA_QUERY_SECONDS.",
                    )
                )
            if not select.select([handle], [], [], 0.05)[0]:
                if self.ready and self._own_mb() > self._own_at_first + self.memory_mb:
                    raise LimitExceeded(too_much_memory(self.memory_mb))
                continue
            chunk = os.read(handle, min(size - len(data), 1 << 20))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def _died(code: int, memory_mb: int) -> Exception:
    if code in (-6, -9, -11, 134, 137):
        return LimitExceeded(too_much_memory(memory_mb))
    return EngineFault(f"worker exited with {code}")


AWAY = 8
"""Plans that may run on a cluster at once."""


def _lies_there(tables: Mapping[str, Any]) -> bool:
    return any(getattr(table, "address", None) for table in tables.values())


class Pool:
    """Runs plans over tables in worker processes. Safe to use from many threads; jobs wait their turn.

    `session` says who asks: sessions take turns, and none holds every worker. `queued` is told how many come before.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._idle: list[Worker] = []
        self._turns = Turns(settings.workers)
        self._away = Turns(AWAY)
        self._lock = threading.Lock()
        self._closed = False
        self._busy: set[Worker] = set()

    @property
    def waiting(self) -> int:
        """How many jobs wait for a worker."""
        return self._turns.waiting + self._away.waiting

    def warm(self) -> None:
        """Starts one worker in the background, so that the first question finds it ready."""
        with self._lock:
            if not self._idle and not self._closed:
                self._idle.append(Worker(self.settings.query_memory_mb))

    def check(
        self, reply: PlanReply, tables: Mapping[str, Table], *, clock: Clock | None = None, metrics: Mapping[str, str] | None = None,
        tick: Tick | None = None, session: str = "", queued: Queued | None = None,
    ) -> None:  # fmt: skip
        """Checks a plan on the data; raises PlanError with every issue."""
        self._do(self._job("check", reply, tables, clock, metrics), Asker(session, tick, queued))

    def run(
        self, reply: PlanReply, tables: Mapping[str, Table], *, clock: Clock | None = None, rows: int | None = None, metrics: Mapping[str, str] | None = None,
        tick: Tick | None = None, session: str = "", queued: Queued | None = None,
    ) -> list[PartResult]:  # fmt: skip
        """The result of each part. Raises PlanError, LimitExceeded, Stopped."""
        most = rows if rows is not None else self.settings.result_rows
        job = self._job("run", reply, tables, clock, metrics, most)
        value: list[PartResult] = self._do(job, Asker(session, tick, queued))
        return value

    def crosscheck(
        self, reply: PlanReply, tables: Mapping[str, Table], results: Sequence[PartResult], *, clock: Clock | None = None, metrics: Mapping[str, str] | None = None,
        tick: Tick | None = None, session: str = "", queued: Queued | None = None,
    ) -> list[Check]:  # fmt: skip
        """The second engine's verdict on each part."""
        frames = tuple(result.frame for result in results)
        most = max((frame.height for frame in frames), default=0)
        job = self._job("crosscheck", reply, tables, clock, metrics, max(most, 1), frames)
        within = min(self.settings.crosscheck_seconds, self.settings.query_seconds)
        value: list[Check] = self._do(job, Asker(session, tick, queued), within)
        return value

    def _job(
        self, kind: Any, reply: PlanReply, tables: Mapping[str, Table], clock: Clock | None, metrics: Mapping[str, str] | None, rows: int = 0,
        frames: tuple[Any, ...] = (),
    ) -> Job:  # fmt: skip
        from qa.plan.check import today_clock
        from qa.plan.plan import as_json

        moment = clock or today_clock(self.settings.zone, self.settings.week_start)
        return Job(kind, as_json(reply), dict(tables), moment, rows, dict(metrics or {}), frames)

    def _do(self, job: Job, asker: Asker, seconds: float | None = None) -> Any:
        address = self._cluster(job)
        if address is not None and (job.kind != "crosscheck" or _lies_there(job.tables)):
            return self._do_there(job, address, asker)
        worker = self._take(asker)
        try:
            done = worker.ask(job, seconds or self.settings.query_seconds, asker.tick)
        except BaseException:
            self._give_back(worker, asker, fit=False)
            raise
        self._give_back(worker, asker, fit=True)
        if done.error is not None:
            raise done.error
        if done.crash is not None:
            raise EngineFault(done.crash)
        return done.value

    def _cluster(self, job: Job) -> str | None:
        """The cluster that a job is for. Nothing of it is loaded while none is configured."""
        if self.settings.engine == "polars" and not _lies_there(job.tables):
            return None
        from qa.engine.spark.jobs import address_of

        return address_of(job.tables, self.settings)

    def _do_there(self, job: Job, address: str, asker: Asker) -> Any:
        from qa.engine.spark.jobs import done_there

        self._away.take(asker.session, asker.waits)
        try:
            return done_there(job, address, self.settings, asker.tick)
        finally:
            self._away.give_back(asker.session)

    def _take(self, asker: Asker) -> Worker:
        self._turns.take(asker.session, asker.waits)
        try:
            with self._lock:
                if self._closed:
                    raise Stopped
                worker = self._warm_one() or Worker(self.settings.query_memory_mb)
                self._busy.add(worker)
                return worker
        except BaseException:
            self._turns.give_back(asker.session)
            raise

    def _warm_one(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        return None

    def _give_back(self, worker: Worker, asker: Asker, fit: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            if fit and not self._closed:
                self._idle.append(worker)
            elif fit:
                worker.kill()
        self._turns.give_back(asker.session)

    def close(self) -> None:
        """Ends every worker. Whoever waits for one is told that its plan was stopped."""
        with self._lock:
            self._closed = True
            for worker in self._idle:
                worker.kill()
            for worker in self._busy:
                worker.process.kill()
            self._idle.clear()


@lru_cache(maxsize=1)
def shared() -> Pool:
    """The pool of this process."""
    pool = Pool(settings())
    atexit.register(pool.close)
    return pool
