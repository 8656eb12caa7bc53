"""Messages between the page's process and a worker: length, then pickle, over a pipe."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from qa.errors import Issue

if TYPE_CHECKING:
    from qa.data.table import Table
    from qa.errors import QAError
    from qa.plan.scope import Clock

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True)
class Job:
    """What a worker is asked: a plan as JSON data over named tables. `kind` says how far to go."""

    kind: Literal["check", "run", "crosscheck"]
    reply: Mapping[str, Any]
    tables: Mapping[str, Table]
    clock: Clock
    rows: int
    metrics: Mapping[str, str]
    frames: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Done:
    """A job's outcome: `value` on success, `error` when the product explains it, `crash` a traceback otherwise."""

    value: Any = None
    error: QAError | None = None
    crash: str | None = None


def send(stream: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message; None at the end of the stream."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return pickle.loads(stream.read(LENGTH.unpack(head)[0]))


def too_much_memory(megabytes: int) -> Issue:
    """What is told of a plan that was stopped for its memory."""
    return Issue(
        "too_much_memory", "", f"The plan needed more than {megabytes:,} MB of memory and was stopped.", "Filter first, choose fewer columns or groups, or raise QA_QUERY_MEMORY_MB.",
    )  # fmt: skip
