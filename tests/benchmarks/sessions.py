"""Many visitors at once: each asks its own questions over a websocket, and gets its own answers and nobody else's.

`python -m tests.benchmarks.sessions [SESSIONS] [QUESTIONS]` prints seconds, errors, mixed states and the server's memory.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.e2e.conftest import ROOT, serve

PATIENCE = 300
"""seconds one run of the page, or one answer, may take on a busy machine"""
LOOK = 0.3
"""seconds between two looks at a running question, as the page's own timer does"""


class Visitor:
    """One browser tab as the server sees it: widgets go out, what is drawn comes in."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.box = ""
        self.texts: list[str] = []
        self.errors: list[str] = []
        self.heard: list[str] = []

    async def open(self, url: str) -> None:
        self.socket = await websockets.connect(
            url.replace("http", "ws") + "/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        await self.run()

    async def run(self, question: str | None = None) -> None:
        """Run the page once, with a question typed or without, and take in what it draws."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        if question:
            state = WidgetState(id=self.box)
            state.chat_input_value.data = question
            message.rerun_script.widget_states.widgets.append(state)
        await self.socket.send(message.SerializeToString())
        self.texts = []
        while True:
            data = await asyncio.wait_for(self.socket.recv(), PATIENCE)
            heard = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
            self._take(heard)
            ended = heard.WhichOneof("type") == "script_finished"
            if ended and heard.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return

    def _take(self, heard: ForwardMsg) -> None:
        if heard.WhichOneof("type") != "delta":
            return
        element = heard.delta.new_element
        match element.WhichOneof("type"):
            case "chat_input":
                self.box = element.chat_input.id
            case "text":
                self.texts.append(element.text.body)
            case "exception":
                self.errors.append(element.exception.message)
            case _:
                return
        self.heard.extend(self.texts[-1:])

    async def ask(self, question: str, wanted: str) -> float:
        """Seconds until the wanted value is drawn; a wrong one is an error."""
        start = time.perf_counter()
        await self.run(question)
        while wanted not in self.texts:
            if time.perf_counter() - start > PATIENCE:
                self.errors.append(f"{question}: no {wanted} among {self.texts[:6]}")
                break
            await asyncio.sleep(LOOK)
            await self.run()
        return time.perf_counter() - start


def questions(visitor: int, count: int) -> Iterator[tuple[str, str]]:
    """A visitor's own questions, with the answers; no other visitor asks them."""
    housing = pl.read_parquet(ROOT / "sample_data" / "housing.parquet", columns=["median_list_price"])
    for number in range(count):
        edge = 150_000 + 1_000 * (visitor * count + number)
        found = housing.filter(pl.col("median_list_price") > edge).height
        yield f"how many rows have median list price over {edge}", f"{found:,}"


async def visit(url: str, number: int, count: int) -> tuple[Visitor, list[float]]:
    visitor = Visitor(number)
    await visitor.open(url)
    return visitor, [await visitor.ask(*pair) for pair in questions(number, count)]


def mixed(visitors: list[Visitor], count: int) -> int:
    """Questions of one visitor that another was shown."""
    own = {visitor.number: {question for question, _ in questions(visitor.number, count)} for visitor in visitors}
    everything = set().union(*own.values())
    return sum(len((everything - own[v.number]) & set(v.heard)) for v in visitors)


def memory(process: int) -> dict[str, float]:
    """Resident megabytes of the server, and of its workers."""
    sizes = {int(p.name): _resident(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
    children = {int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _parent(p) == process}
    return {"server": sizes.get(process, 0.0), "workers": round(sum(sizes.get(child, 0.0) for child in children), 1)}


def _status(place: Path, field: str) -> int:
    try:
        lines = (place / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)


def _resident(place: Path) -> float:
    return round(_status(place, "VmRSS:") / 1024, 1)


def _parent(place: Path) -> int:
    return _status(place, "PPid:")


async def measure(url: str, sessions: int, count: int) -> tuple[list[Visitor], list[float]]:
    done = await asyncio.gather(*(visit(url, number, count) for number in range(sessions)))
    return [visitor for visitor, _ in done], [second for _, seconds in done for second in seconds]


def main(sessions: int = 20, count: int = 10) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        server = serve(Path(folder))
        with server as url:
            visitors, seconds = asyncio.run(measure(url, sessions, count))
            resident = memory(server.process.pid)
    ordered = sorted(seconds)
    return {
        "answers": len(seconds),
        "errors": [error for visitor in visitors for error in visitor.errors][:5],
        "mixed": mixed(visitors, count),
        "median": round(statistics.median(ordered), 2),
        "p95": round(ordered[int(len(ordered) * 0.95) - 1], 2),
        "MB": resident,
    }


if __name__ == "__main__":
    json.dump(main(*(int(word) for word in sys.argv[1:])), sys.stdout, indent=1)
