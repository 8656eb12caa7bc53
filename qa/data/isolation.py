"""Starts a reader process, watches its limits, and turns every way it can end into tables or a LoadError."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from qa.data.options import ReadOptions
from qa.errors import Issue, LoadError

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the work behind it, 0 to 1."""

_ROOT = Path(__file__).parents[2]
_MEMORY_SIGNALS = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL}


def read_in_child(
    path: Path, options: ReadOptions, folder: Path, digest: str, name: str, progress: Progress | None
) -> None:
    """Let a child read the file into `folder` under the options' limits. Raises LoadError when it does not come to that."""
    request = {
        "path": str(path),
        "name": name,
        "options": options.model_dump(mode="json"),
        "folder": str(folder),
        "digest": digest,
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "qa.data.reader_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
        env=_environment(),
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        child.stdin.write(json.dumps(request).encode())
        child.stdin.close()
        _listen(child, child.stdout, path, options, progress)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        child.stdout.close()
        for left in folder.glob(f"*.{child.pid}.part"):
            left.unlink(missing_ok=True)


def _environment() -> dict[str, str]:
    """The child's environment: ours without keys, with our package on its path."""
    kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    return kept | {"PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}


def _listen(
    child: subprocess.Popen[bytes], stdout: IO[bytes], path: Path, options: ReadOptions, progress: Progress | None
) -> None:
    """Follow the child's lines until it is done, fails or overruns its time."""
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_pump, args=(stdout, lines), daemon=True).start()
    deadline = time.monotonic() + options.limits.seconds
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise LoadError(
                Issue(
                    "too_slow",
                    path.name,
                    f"Reading {path.name!r} took more than {options.limits.seconds:g} seconds and was stopped.",
                    "Split the file, or save it as Parquet.",
                )
            ) from None
        if line is None:
            raise LoadError(_death(child.wait(), path, options))
        message: dict[str, Any] = json.loads(line)
        if "progress" in message and progress is not None:
            progress(message["progress"], message["share"])
        if "issues" in message:
            raise LoadError(Issue(**{**issue, "candidates": tuple(issue["candidates"])}) for issue in message["issues"])
        if message.get("done"):
            return


def _pump(stdout: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    try:
        for line in stdout:
            lines.put(line)
    except ValueError:
        pass
    lines.put(None)


def _death(code: int, path: Path, options: ReadOptions) -> Issue:
    """Why a child ended without a word."""
    if (code < 0 and signal.Signals(-code) in _MEMORY_SIGNALS) or code in (134, 137, 3):
        return Issue(
            "too_much_memory",
            path.name,
            f"Reading {path.name!r} needed more than {options.limits.memory_mb:,} MB of memory and was stopped.",
            "Split the file, or save it as Parquet.",
        )
    return Issue(
        "cannot_read",
        path.name,
        f"{path.name!r} cannot be read: the reader stopped on it.",
        "Open it in the program it came from and save it again.",
    )
