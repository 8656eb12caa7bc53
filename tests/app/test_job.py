"""A question in flight: it finishes, it breaks, it is stopped."""

from __future__ import annotations

import threading

from qa.answer.answer import Answer
from qa.errors import Issue, LimitExceeded
from qa.ui.job import STOPPED, Job, Progress

WAIT = 30


def _job(work: object) -> Job:
    return Job("q", None, work).start()  # type: ignore[arg-type]


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
