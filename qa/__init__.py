"""Ask questions of your own tables and get answers you can trust.

    import qa

    t = qa.load("sales.csv")
    a = qa.ask(t, "total amount by region")
    print(a)           # the sentences
    a.table            # the rows, a Polars frame

`load` takes files, folders, or a frame of Polars, pandas or Arrow. `ask` plans offline unless a model is set
(`QA_MODEL`, or `model=`). `run_plan` runs a plan that you wrote or kept (`a.reply`), without a planner.
Importing this is quick: what is needed is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars as pl

    from qa.answer.answer import Answer as Answer
    from qa.answer.answer import AnswerPart as AnswerPart
    from qa.data.gather import Tables as Tables
    from qa.data.table import Table as Table
    from qa.errors import Issue as Issue
    from qa.errors import LimitExceeded as LimitExceeded
    from qa.errors import LoadError as LoadError
    from qa.errors import ModelUnavailable as ModelUnavailable
    from qa.errors import PlanError as PlanError
    from qa.errors import QAError as QAError
    from qa.plan.plan import PlanReply as Plan
    from qa.planner.dialogue import Turn

    Asked = Tables | Table | Sequence[Table] | pl.DataFrame
    """What can be asked about: what `load` gave, one or more tables, or a frame as it is."""

_LAZY = {
    "Answer": "qa.answer.answer", "AnswerPart": "qa.answer.answer", "Tables": "qa.data.gather", "Table": "qa.data.table", "Issue": "qa.errors",
    "LimitExceeded": "qa.errors", "LoadError": "qa.errors", "ModelUnavailable": "qa.errors", "PlanError": "qa.errors", "QAError": "qa.errors",
}  # fmt: skip
__all__ = ["Plan", "ask", "check_plan", "load", "run_plan", *_LAZY]


def load(*sources: Any, name: str | None = None, **reading: Any) -> Tables:
    """The tables of files, folders, or frames (Polars, pandas, Arrow), each under a name of its own.

    `name` names the table of one source (default: the file's name, or `table`). `reading` is what you know about a
    file, the rest is found from its bytes: `as_kinds={"zip": "text"}`, `decimal=","`, `dayfirst=True`, `header=3`,
    `sheet="2024"`, `delimiter`, `encoding`, `quote`, `missing={"age": ["?"]}`. A `<file>.qa.yaml` beside a file
    takes effect. A frame's rows are kept for as long as the process lives; the index of a pandas frame is kept
    when it has a name. Raises LoadError for a source that is not there or cannot be read.
    """
    from pydantic import ValidationError

    from qa.data.gather import Tables, gather
    from qa.data.options import ReadOptions
    from qa.data.read import load as read
    from qa.errors import Issue, LoadError
    from qa.settings import settings

    if not sources:
        raise LoadError(Issue("usage", "load", "Nothing is named.", "Give a file, a folder or a frame."))
    if name is not None and len(sources) > 1:
        raise LoadError(
            Issue(
                "usage",
                "load",
                "One name cannot stand for several sources.",
                "Load each by itself: qa.load(a, name=…).",
            )
        )
    try:
        options = ReadOptions(**reading)
    except ValidationError as error:
        raise LoadError(
            Issue("usage", str(detail["loc"][0]), f"{detail['msg']}.", "") for detail in error.errors()
        ) from None
    found = Tables()
    for source in sources:
        if isinstance(source, str | Path):
            more = gather([source], options=options, cache=settings().cache)
        else:
            more = Tables(tuple(read(_kept(source), name=name or "table", options=options)))
        found = found.joined(more.renamed(name) if name else more)
    return found


def ask(
    tables: Asked,
    question: str,
    *,
    planner: Literal["offline", "model"] | None = None,
    model: str | None = None,
    privacy: Literal["names", "profile", "samples"] | None = None,
    history: Sequence[Answer | Turn] = (),
) -> Answer:
    """The answer to a question about tables.

    `planner` is `offline` or `model`; by default a model plans when `model` (LiteLLM's provider/model) or QA_MODEL
    names one. `privacy` is how much of a table a model may see. `history` holds earlier answers, so that a question
    can follow up on them. Nothing is raised for a question that cannot be answered: `status` says `declined`,
    `clarify` or `failed`, and `reason` why. Every question is kept in the audit record.
    """
    from qa import pipeline
    from qa.settings import settings

    changed = {"model": model, "privacy": privacy}
    own = settings().model_copy(update={key: value for key, value in changed.items() if value is not None})
    known = _tables(tables)
    return pipeline.ask(
        question, known, settings=own, planner=planner or ("model" if model else None), history=[_turn(earlier) for earlier in history], semantics=known.semantics
    )  # fmt: skip


def run_plan(tables: Asked, plan: Plan | Mapping[str, Any], *, question: str = "") -> Answer:
    """The answer that a plan gives, without a planner: one you wrote, or the `reply` of an earlier answer.

    A plan that does not fit is no exception but an answer with status `failed` and the `issues`.
    """
    from qa import pipeline

    known = _tables(tables)
    return pipeline.run_plan(plan, known, question=question, semantics=known.semantics)


def check_plan(tables: Asked, plan: Plan | Mapping[str, Any]) -> tuple[Issue, ...]:
    """What is wrong with a plan for these tables, nothing when it fits. The plan is not run."""
    from qa.engine.run import checked_plan
    from qa.errors import PlanError
    from qa.plan.plan import PlanReply, parse_reply

    known = _tables(tables)
    metrics = {name: formula for table in known for name, formula in table.profile.metrics.items()}
    try:
        reply = plan if isinstance(plan, PlanReply) else parse_reply(plan)
        if isinstance(reply, PlanReply):
            checked_plan(reply, known.by_name, metrics=metrics)
    except PlanError as error:
        return error.issues
    return ()


def _tables(tables: Any) -> Tables:
    from qa.data.gather import Tables
    from qa.data.table import Table

    if isinstance(tables, Tables):
        return tables
    if isinstance(tables, Table):
        return Tables((tables,))
    if (
        isinstance(tables, Sequence)
        and not isinstance(tables, str)
        and all(isinstance(table, Table | Tables) for table in tables)
    ):
        found = Tables()
        for one in tables:
            found = found.joined(_tables(one))
        return found
    return load(tables)


def _turn(earlier: Any) -> Turn:
    from qa.planner.dialogue import Turn

    if isinstance(earlier, Turn):
        return earlier
    return Turn(
        earlier.question, earlier.reply or {}, "; ".join(part.reading for part in earlier.parts if part.reading) or None
    )


def _kept(source: Any) -> Path:
    """The rows of a frame as a Parquet file that goes with the process. Raises LoadError for what is no frame."""
    from uuid import uuid4

    import polars as pl

    from qa.data.canonical import own_folder
    from qa.errors import Issue, LoadError

    kind = type(source).__module__.partition(".")[0]
    if isinstance(source, pl.LazyFrame):
        frame = source.collect()
    elif isinstance(source, pl.DataFrame):
        frame = source
    elif kind == "pandas" and hasattr(source, "columns"):
        frame = pl.from_pandas(source, include_index=any(level is not None for level in source.index.names))
    elif kind == "pyarrow" or hasattr(source, "__arrow_c_stream__"):
        frame = pl.DataFrame(source)
    else:
        raise LoadError(
            Issue(
                "not_a_table",
                "load",
                f"A {type(source).__name__} is no table.",
                "Give a path, or a frame of Polars, pandas or Arrow.",
            )
        )
    path = own_folder() / f"frame-{uuid4().hex}.parquet"
    frame.write_parquet(path)
    return path


def __getattr__(name: str) -> Any:
    """The public classes, imported when first asked for."""
    if name == "Plan":
        return import_module("qa.plan.plan").PlanReply
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'qa' has no attribute {name!r}")
