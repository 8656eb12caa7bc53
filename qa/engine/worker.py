"""The child process that runs plans: read a job from stdin, write its result to stdout, until stdin closes."""

from __future__ import annotations

import os
import resource
import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from qa.data.read import load
from qa.engine.crosscheck import crosscheck
from qa.engine.result import Check, PartResult
from qa.engine.run import checked_plan, run
from qa.engine.wire import Done, Job, receive, send, too_much_memory
from qa.errors import LimitExceeded, QAError
from qa.plan.check import CheckedPlan, today_clock
from qa.plan.plan import PlanReply, as_json, parse_reply

WARM = [{"op": "summarize", "by": ["k"], "metrics": ["sum(v) as total"]}, {"op": "sort", "order": ["total desc"]}]
"""a plan that touches what most plans touch"""


class Desk:
    """Does jobs one after another; keeps the last checked plan for the cross-check that follows it."""

    def __init__(self, megabytes: int = 4096) -> None:
        self.megabytes = megabytes
        self._last: tuple[Any, CheckedPlan] | None = None

    def do(self, job: Job) -> Done:
        try:
            return Done(self._value(job))
        except QAError as error:
            return Done(error=error)
        except (MemoryError, OSError, pl.exceptions.PanicException) as error:
            if isinstance(error, MemoryError) or any(sign in str(error) for sign in OUT_OF_MEMORY):
                return Done(error=LimitExceeded(too_much_memory(self.megabytes)))
            return Done(crash=traceback.format_exc(limit=-6))
        except Exception:  # the door of the process: whatever happens is told, never lost
            return Done(crash=traceback.format_exc(limit=-6))

    def _value(self, job: Job) -> list[PartResult] | list[Check] | None:
        plan = self._plan(job)
        match job.kind:
            case "check":
                return None
            case "run":
                return run(plan, job.tables, rows=job.rows)
            case "crosscheck":
                return [crosscheck(plan, index, frame, job.tables, job.rows) for index, frame in enumerate(job.frames)]

    def _plan(self, job: Job) -> CheckedPlan:
        key = (
            as_json(reply) if isinstance(reply := job.reply, PlanReply) else dict(job.reply),
            tuple(sorted((n, t.digest) for n, t in job.tables.items())),
            job.clock,
            dict(job.metrics),
        )
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        parsed = parse_reply(key[0])
        assert isinstance(parsed, PlanReply)
        plan = checked_plan(parsed, job.tables, job.clock, job.metrics)
        self._last = (key, plan)
        return plan


OUT_OF_MEMORY = ("os error 12", "Errno 12", "Cannot allocate", "allocation", "spawn", "WouldBlock", "code: 11")
"""What a refusal of memory is called: to a map, to an allocation, to the stack of a thread."""

SCANS = 16
"""How often one file may be mapped at once: a result, its counts and its warnings are several scans."""


@dataclass(frozen=True)
class Ceiling:
    """What the process may map: what it uses when it is ready, some megabytes, and the files that a job reads.

    Polars maps a Parquet file whole for each scan; its pages are the kernel's to drop and are not held against a plan.
    Beside it the pool watches the memory that is the process's own.
    """

    ready: int
    megabytes: int

    @staticmethod
    def over(megabytes: int) -> Ceiling | None:
        """From the memory in use now; None where that cannot be told."""
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
        except OSError:
            return None
        return Ceiling(pages * os.sysconf("SC_PAGE_SIZE"), megabytes)

    def hold(self, job: Job) -> None:
        """Sets the limit for a job; past it the process aborts."""
        files = {table.path: table.path.stat().st_size for table in job.tables.values() if table.path.exists()}
        most = self.ready + self.megabytes * 1024 * 1024 + SCANS * sum(files.values())
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def main() -> None:
    """Serves jobs until stdin closes. Anything printed by libraries goes to stderr."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _warm()
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    ceiling = Ceiling.over(megabytes)
    desk = Desk(megabytes)
    send(out, "ready")
    while (job := receive(sys.stdin.buffer)) is not None:
        if ceiling is not None:
            ceiling.hold(job)
        send(out, desk.do(job))


def _warm() -> None:
    """Runs a small plan on both engines before memory is limited, so that the limit is for data and the first
    question waits for nothing."""
    with TemporaryDirectory(prefix="qa-warm-") as folder:
        path = Path(folder) / "warm.parquet"
        pl.DataFrame({"k": ["a", "b"], "v": [1.5, 2.5]}).write_parquet(path)
        (table,) = load(path)
        plan = {"reply": "plan", "parts": [{"title": "", "source": "warm", "steps": WARM}]}
        job = Job("run", plan, {table.name: table}, today_clock(), 10, {})
        desk = Desk()
        frames = tuple(part.frame for part in desk.do(job).value or ())
        desk.do(replace(job, kind="crosscheck", frames=frames))


if __name__ == "__main__":
    main()
