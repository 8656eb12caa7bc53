"""The reader's own process: one request on standard input, progress and the outcome as JSON lines on standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from qa.data.options import ReadOptions
from qa.errors import LoadError

OUT_OF_MEMORY = 3


def main() -> int:
    """Read the file of the request into its folder. The exit code is 0 once an outcome was said."""
    request = json.loads(sys.stdin.buffer.read())
    options = ReadOptions.model_validate(request["options"])
    say = _Speaker()
    from qa.data.read import read_into

    _limit_memory(options.limits.memory_mb)
    try:
        read_into(
            Path(request["path"]), options, Path(request["folder"]), request["digest"], request["name"], say.progress
        )
    except LoadError as error:
        say.line({"issues": [issue.as_dict() for issue in error.issues]})
        return 0
    except MemoryError:
        return OUT_OF_MEMORY
    say.line({"done": True})
    return 0


class _Speaker:
    """Writes JSON lines to the real standard output, so that a library's prints cannot mix in."""

    def __init__(self) -> None:
        self._out = sys.stdout
        sys.stdout = sys.stderr

    def line(self, message: dict[str, Any]) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def progress(self, what: str, share: float) -> None:
        self.line({"progress": what, "share": share})


def _limit_memory(megabytes: int) -> None:
    """Let this process add at most so much address space to what it has now (where the system can)."""
    try:
        import resource
    except ImportError:
        return
    try:
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
