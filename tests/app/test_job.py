"""A question in flight: it finishes, it breaks, it is stopped."""

from __future__ import annotations

import threading

from qa.answer.answer import Answer
from qa.errors import Issue, LimitExceeded
from qa.ui.job import STOPPED, Early, Job, Progress
from qa.ui.session import Session, settle

WAIT = 30


def _job(work: object) -> Job:
    return Job("q", None, lambda progress, early: work(progress)).start()  # type: ignore[arg-type,operator]


def test_a_finished_job_holds_its_answer_and_its_stages() -> None:
    def work(progress: Progress) -> Answer:
        progress("plan")
        progress("run", "2 parts")
        progress("run", "2 parts")
        return Answer(status="answered", question="q")

    job = _job(work)
    assert job.wait(WAIT)
    assert job.answer == Answer(status="answered", question="q")
    assert job.events == [("plan", ""), ("run", "2 parts")]


def test_a_limit_is_told_in_its_own_words() -> None:
    def work(progress: Progress) -> Answer:
        raise LimitExceeded(Issue("too_slow", "", "The plan ran for 30 s.", "Filter first."))

    job = _job(work)
    assert job.wait(WAIT) and job.answer
    assert job.answer.status == "failed"
    assert job.answer.reason == "The plan ran for 30 s. Filter first."


def test_a_bug_becomes_an_apology_without_its_text() -> None:
    def work(progress: Progress) -> Answer:
        raise ValueError("cell value 4711")

    job = _job(work)
    assert job.wait(WAIT) and job.answer
    assert job.answer.status == "failed"
    assert "4711" not in job.answer.model_dump_json()


def test_stop_gives_the_page_back_at_once_and_ends_the_work_at_its_next_sign_of_life() -> None:
    running, ended = threading.Event(), threading.Event()

    def work(progress: Progress) -> Answer:
        running.set()
        try:
            while True:
                progress("run")
        finally:
            ended.set()

    job = _job(work)
    assert running.wait(WAIT)
    job.stop()
    assert job.finished and job.answer and job.answer.reason == STOPPED
    assert ended.wait(WAIT)
    assert job.answer.reason == STOPPED


def test_an_answer_is_shown_while_it_is_checked_and_its_verdict_takes_its_place() -> None:
    verdict = threading.Event()
    first, last = Answer(status="answered", question="q"), Answer(status="failed", question="q", reason="withdrawn")

    def work(progress: Progress, early: Early) -> Answer:
        early(first)
        verdict.wait(WAIT)
        return last

    here = Session()
    here.job = Job("q", None, work).start()  # type: ignore[arg-type]
    assert here.job.wait(WAIT)
    settle(here)
    (entry,) = here.entries
    here.tiles["pinned"] = entry.answer
    assert (here.job, entry.answer, bool(entry.checking)) == (None, first, True)
    verdict.set()
    assert entry.checking and entry.checking._done.wait(WAIT)
    settle(here)
    assert (entry.answer, entry.checking, here.tiles) == (last, None, {"pinned": last})
