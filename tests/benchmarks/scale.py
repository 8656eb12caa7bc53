"""Fifty people at once: sessions in threads that ask through the whole pipeline, and what it costs.

    python -m tests.benchmarks.scale [--sessions 50] [--questions 20] [--json OUT]

Each session has a table of its own size, so an answer that belongs to another session cannot be right by chance.
Told: errors, answers of another session, seconds of an answer (median, 95 %), memory of the page's process and of its
workers over the run, and how long a light session waits beside one that asks without pause.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from qa import pipeline
from qa.data.read import load
from qa.data.table import Table
from qa.engine.pool import Pool
from qa.settings import Settings

GROUPS = ("north", "south", "east", "west")
SEQUENCE = ("count", "total", "top", "share")


def rows_of(session: int) -> int:
    return 1000 + 7 * session


def made(session: int, folder: Path) -> Table:
    """A session's table: as many rows as its number says, every amount the session's number."""
    rows = rows_of(session)
    frame = pl.DataFrame(
        {"region": [GROUPS[place % 4] for place in range(rows)], "amount": [session + 1] * rows, "place": range(rows)}
    )
    path = folder / f"sales_{session}.parquet"
    frame.write_parquet(path)
    (table,) = load(path, name="sales", cache=folder / "cache")
    return table


def plan(kind: str, turn: int) -> dict[str, Any]:
    steps: dict[str, list[dict[str, Any]]] = {
        "count": [{"op": "summarize", "by": [], "metrics": [f"count(place, where=place >= {turn}) as n"]}],
        "total": [{"op": "summarize", "by": [], "metrics": [f"sum(amount, where=place >= {turn}) as n"]}],
        "top": [
            {"op": "summarize", "by": ["region"], "metrics": ["count() as n"]},
            {"op": "limit", "n": 1, "order": ["n desc"]},
        ],
        "share": [
            {"op": "window", "columns": ["share(amount) as s"]},
            {"op": "summarize", "by": [], "metrics": ["sum(additive(s)) as n"]},
        ],
    }
    return {"reply": "plan", "parts": [{"title": "", "source": "sales", "steps": steps[kind]}]}


def wanted(kind: str, session: int, turn: int) -> float:
    rows = rows_of(session)
    return {"count": rows - turn, "total": (rows - turn) * (session + 1), "top": -(-rows // 4), "share": 1.0}[kind]


def memory_mb(process: int) -> float:
    """Memory that belongs to a process alone, MB."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_", "Pss_Anon"))) / 1024


def measured(sessions: int, questions: int, folder: Path) -> dict[str, Any]:
    settings = Settings(audit=folder / "audit.sqlite", cache=folder / "cache", workers=2)
    pool = Pool(settings)
    tables = [made(session, folder) for session in range(sessions)]
    with ThreadPoolExecutor(settings.workers) as first:  # a server's workers are warm before fifty people come
        list(first.map(lambda _: pool.run(_reply(plan("count", 0)), {"sales": tables[0]}), range(settings.workers)))
    begun = time.perf_counter()
    seconds: list[float] = []
    wrong: list[str] = []
    memory: list[tuple[int, float]] = []
    done, lock = [0], threading.Lock()

    def ask(session: int, turn: int) -> None:
        kind, started = SEQUENCE[turn % len(SEQUENCE)], time.perf_counter()
        answer = pipeline.run_plan(
            plan(kind, turn), [tables[session]], settings=settings, pool=pool, session=f"s{session}"
        )
        took = time.perf_counter() - started
        with lock:
            seconds.append(took)
            done[0] += 1
            if answer.status != "answered":
                wrong.append(f"s{session}: {answer.reason}")
            else:
                got = float(answer.parts[0].table["n"][0])
                if abs(got - wanted(kind, session, turn)) > 1e-9:
                    wrong.append(f"s{session}: {kind} gave {got}, not {wanted(kind, session, turn)}")
            if done[0] % max(1, sessions * questions // 10) == 0:
                memory.append(
                    (
                        done[0],
                        memory_mb(os.getpid()) + sum(memory_mb(one.process.pid) for one in [*pool._idle, *pool._busy]),
                    )
                )

    def visit(session: int) -> None:
        for turn in range(questions):
            ask(session, turn)

    try:
        with ThreadPoolExecutor(sessions) as people:
            list(people.map(visit, range(sessions)))
        whole = time.perf_counter() - begun
        fair = waits(
            lambda session, turn: pool.run(
                _reply(plan("share", turn)), {"sales": tables[session]}, session=f"s{session}"
            )
        )
    finally:
        pool.close()
    middle = [mb for place, mb in memory if place >= sessions * questions // 2]
    return {
        "sessions": sessions, "questions": len(seconds), "errors": wrong[:5], "wrong": len(wrong), "seconds": round(whole, 1),
        "questions_a_second": round(len(seconds) / whole, 1), "median_s": round(statistics.median(seconds), 3),
        "p95_s": round(statistics.quantiles(seconds, n=20)[-1], 3), "memory_mb": [(place, round(mb)) for place, mb in memory],
        "memory_growth_second_half": round(max(middle) / middle[0], 3), **fair,
    }  # fmt: skip


def waits(run: Callable[[int, int], Any]) -> dict[str, float]:
    """Seconds of a question of a light session alone, and while another session asks eight at a time without pause."""

    def light() -> float:
        took = []
        for turn in range(10):
            started = time.perf_counter()
            run(1, turn)
            took.append(time.perf_counter() - started)
            time.sleep(random.Random(turn).random() / 50)
        return statistics.median(took)

    alone, over = light(), threading.Event()

    def heavy() -> None:
        turn = 0
        while not over.is_set():
            run(0, turn)
            turn += 1

    threads = [threading.Thread(target=heavy, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    beside = light()
    over.set()
    for thread in threads:
        thread.join(60)
    return {"light_alone_ms": round(alone * 1000, 1), "light_beside_heavy_ms": round(beside * 1000, 1)}


def _reply(written: dict[str, Any]) -> Any:
    from qa.plan.plan import parse_reply

    return parse_reply(written)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=50)
    options.add_argument("--questions", type=int, default=20)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        told = json.dumps(measured(chosen.sessions, chosen.questions, Path(name)), indent=1)
    print(told)
    if chosen.json:
        chosen.json.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
