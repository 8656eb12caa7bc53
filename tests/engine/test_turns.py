"""The queue at the workers: sessions take turns, and one that asks much cannot keep the others waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from qa.engine.pool import Pool, Stopped
from qa.engine.turns import Turns
from qa.plan.plan import PlanReply, parse_reply
from qa.settings import Settings
from tests.tables import table


def until(true: Callable[[], bool]) -> None:
    """Waits for something that another thread does."""
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def served(turns: Turns, sessions: str) -> str:
    """The order in which the sessions of these letters, queued in this order, are served one at a time."""
    order: list[str] = []
    held = threading.Event()
    turns.take("holder")

    def ask(session: str) -> None:
        turns.take(session)
        order.append(session)
        held.wait(0)
        turns.give_back(session)

    threads = []
    for place, session in enumerate(sessions, 1):
        threads.append(threading.Thread(target=ask, args=(session,)))
        threads[-1].start()
        until(lambda place=place: turns.waiting == place)  # type: ignore[misc]
    turns.give_back("holder")
    for thread in threads:
        thread.join(10)
    return "".join(order)


@pytest.mark.parametrize(
    ("queued", "order"),
    [
        ("aaaab", "abaaa"),
        ("aaabbc", "abcaba"),
        ("abc", "abc"),
        ("aaaa", "aaaa"),
    ],
)
def test_sessions_take_turns(queued: str, order: str) -> None:
    assert served(Turns(1), queued) == order


def test_a_late_session_comes_after_the_turn_that_is_running_only() -> None:
    turns = Turns(1)
    assert served(turns, "aaaaaa") == "aaaaaa"
    assert served(turns, "aab") == "aba"


def test_a_session_does_not_hold_every_place() -> None:
    turns, second = Turns(2), threading.Event()
    turns.take("heavy")
    thread = threading.Thread(target=lambda: (turns.take("heavy"), second.set()))
    thread.start()
    until(lambda: turns.waiting == 1)
    turns.take("light")
    assert not second.is_set()
    turns.give_back("heavy")
    assert second.wait(10)
    thread.join(10)


def test_work_without_a_session_may_hold_every_place() -> None:
    turns = Turns(2)
    turns.take()
    turns.take()
    assert turns.waiting == 0


def test_one_who_gives_up_leaves_the_queue() -> None:
    turns = Turns(1)
    turns.take("a")

    def enough(before: int) -> None:
        assert before == 0
        raise Stopped

    with pytest.raises(Stopped):
        turns.take("b", enough)
    assert turns.waiting == 0
    turns.give_back("a")
    turns.take("c")


def test_those_who_wait_are_told_how_many_come_before() -> None:
    turns, seen = Turns(1), set()
    turns.take("a")
    first = threading.Thread(target=turns.take, args=("b",))
    first.start()
    until(lambda: turns.waiting == 1)
    second = threading.Thread(target=turns.take, args=("c", seen.add))
    second.start()
    until(lambda: 1 in seen)
    turns.give_back("a")
    first.join(10)
    until(lambda: 0 in seen)
    turns.give_back("b")
    second.join(10)
    assert seen == {0, 1}


def test_a_closed_pool_tells_those_who_wait() -> None:
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": []}]})
    assert isinstance(reply, PlanReply)
    pool = Pool(Settings(workers=1))
    pool.close()
    with pytest.raises(Stopped):
        pool.run(reply, {"t": table("t", {"x": [1]})}, session="a")
