"""From what a person typed or clicked to an entry of their session, through the pipeline."""

from __future__ import annotations

from typing import Any

import streamlit as st

from qa import pipeline
from qa.answer.answer import Answer
from qa.answer.share import Shared
from qa.data.table import Table
from qa.engine import pool
from qa.planner import offline
from qa.planner.dialogue import Turn
from qa.ui.examples import examples
from qa.ui.job import Early, Job, Progress
from qa.ui.progress import AT_ONCE
from qa.ui.session import Dataset, Session, settle

HISTORY = 6
"""earlier questions a follow-up may refer to"""


CAREFUL = 3
"""plans that are asked for and compared when a person asks again carefully"""


def ask(here: Session, dataset: Dataset, question: str, *, careful: bool = False) -> None:
    """Start answering a question. A quick answer is there when this returns; else the page watches it."""
    turns = tuple(Turn(e.question, e.answer.reply or {}, _reading(e.answer)) for e in here.answered(dataset))[-HISTORY:]
    own, tables, workers, name = here.settings, dataset.tables, pool.shared(), here.id
    if careful:
        own = own.model_copy(update={"careful": max(own.careful, CAREFUL)})

    def work(progress: Progress, early: Early) -> Answer:
        return pipeline.ask(
            question,
            tables,
            settings=own,
            history=turns,
            progress=progress,
            pool=workers,
            session=name,
            semantics=dataset.semantics,
            early=early,
        )

    _start(here, Job(question, dataset, work, note="asked carefully" if careful else None))


def run(
    here: Session,
    dataset: Dataset,
    question: str,
    reply: dict[str, Any],
    *,
    note: str | None = None,
    proposed: dict[str, Any] | None = None,
    shared: Shared | None = None,
) -> None:
    """Run a plan as it is, without a model: an edited plan, a chosen reading, a shared link."""
    own, tables, workers, name = here.settings, dataset.tables, pool.shared(), here.id

    def work(progress: Progress, early: Early) -> Answer:
        return pipeline.run_plan(
            reply,
            tables,
            settings=own,
            question=question,
            progress=progress,
            pool=workers,
            session=name,
            semantics=dataset.semantics,
            early=early,
        )

    _start(here, Job(question, dataset, work, note=note, proposed=proposed, shared=shared))


def _start(here: Session, job: Job) -> None:
    if here.job:
        here.job.stop()
        settle(here)
    here.job = job.start()
    if job.wait(AT_ONCE):
        settle(here)


def _reading(answer: Answer) -> str:
    return "; ".join(part.reading for part in answer.parts if part.reading)


@st.cache_resource(show_spinner=False, max_entries=50)
def example_questions(_tables: tuple[Table, ...], digests: tuple[str, ...]) -> list[str]:
    """Questions the offline planner has a plan for, cached on the tables' digests."""
    return examples(_tables, lambda question: _has_plan(question, _tables))


def _has_plan(question: str, tables: tuple[Table, ...]) -> bool:
    try:
        return bool(offline.plan(question, tables)["reply"] == "plan")
    except Exception:  # the door: a question that is only offered as an example must not take the page down
        return False
