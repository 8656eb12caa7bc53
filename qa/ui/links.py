"""Share links: made from an answer, and opened by someone who may have the same data, newer data or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from qa.answer import share
from qa.answer.share import Shared
from qa.data.table import Table
from qa.errors import QAError
from qa.ui import datasets
from qa.ui.asking import run
from qa.ui.session import Dataset, Entry, Session
from qa.ui.words import cut, escape

PARAMETER = "share"


@dataclass
class Waiting:
    """A link that was opened and cannot run yet: what it needs, or what is wrong with it."""

    message: str
    broken: bool = False


def share_box(here: Session, entry: Entry) -> None:
    """The link of an answer, ready to copy; or why there is none."""
    try:
        url = link(here, entry)
    except QAError as error:
        for issue in error.issues:
            st.text(f"{issue.message} {issue.hint}")
        return
    st.code(url, language=None, wrap_lines=True)
    st.caption(
        "It carries the plan and what came of it: no rows of a file and no key. Whoever opens it needs the same data."
    )


def link(here: Session, entry: Entry) -> str:
    """The address that runs this answer's plan again. Raises LimitExceeded when the plan is too long for one."""
    answer = entry.answer
    names = file_names(here, entry.dataset)
    rows = [part.total_rows for part in answer.parts]
    token = share.encode(answer.reply or {}, answer.digests, answer.result_hash, names, rows)
    place = urlsplit(st.context.url or "")
    return f"{place.scheme}://{place.netloc}/?{PARAMETER}={token}" if place.netloc else f"?{PARAMETER}={token}"


def file_names(here: Session, dataset: Dataset) -> dict[str, str]:
    """Table -> the name of the file it came from, as its owner knows it."""
    shown = {table.name: upload.shown for upload in here.uploads.values() for table in upload.tables}
    return {t.name: shown.get(t.name, t.report.file) for t in dataset.tables}


def open_shared(here: Session) -> Waiting | None:
    """Run the plan of the link this page was opened with, once its data is there. Never asks a model."""
    token = st.query_params.get(PARAMETER)
    if not token or token in here.shares_opened:
        return None
    try:
        shared = share.decode(token)
    except QAError as error:
        return Waiting(" ".join(f"{i.message} {i.hint}".strip() for i in error.issues), broken=True)
    dataset = find(here, shared.digests)
    if dataset is None:
        names = ", ".join(cut(shared.names.get(name, name), 60) for name in shared.digests) or "its data"
        return Waiting(f"This link needs the file {names}. Add it above: it is checked, and the answer appears.")
    here.shares_opened.add(token)
    here.dataset_key = dataset.key
    title = cut(" and ".join(str(part.get("title") or "A shared answer") for part in shared.reply["parts"]), 200)
    run(here, dataset, title, shared.reply, note="opened from a link", shared=shared)
    return None


def find(here: Session, digests: Mapping[str, str]) -> Dataset | None:
    """The data of a plan: the same tables anywhere here, else this visitor's own newer files of those names."""
    if not digests:
        return datasets.current(here)
    for dataset in _candidates(here, digests):
        by_digest = {table.digest: table for table in dataset.tables}
        if set(digests.values()) <= set(by_digest):
            named = tuple(_named(by_digest[digest], name) for name, digest in digests.items())
            others = tuple(t for t in dataset.tables if t.name not in digests)
            return Dataset(dataset.key, dataset.label, dataset.blurb, (*named, *others))
    if here.uploads:
        own = datasets.uploads(here)
        if set(digests) <= {table.name for table in own.tables}:
            return own
    return None


def _candidates(here: Session, digests: Mapping[str, str]) -> Iterator[Dataset]:
    """The visitor's files, then the samples that hold tables of those names; nothing else is read for a link."""
    if here.uploads:
        yield datasets.uploads(here)
    for key, sample in datasets.SAMPLES.items():
        if set(digests) <= {file.rsplit("/")[-1].split(".")[0] for file in sample.files}:
            yield datasets.sample(key)
    yield datasets.current(here)


def _named(table: Table, name: str) -> Table:
    """The same cells under the name that the link's plan uses."""
    if table.name == name:
        return table
    return Table(
        name=name,
        path=table.path,
        columns=table.columns,
        rows=table.rows,
        digest=table.digest,
        profile=table.profile.model_copy(update={"name": name}),
        report=table.report,
    )


def from_record(body: dict[str, Any]) -> Shared:
    """An audit record as the link it could have been: its plan, its data's digests, its result."""
    parts = body.get("parts") or []
    return Shared(
        reply=body["reply"],
        digests=body.get("digests") or {},
        result_hash=body.get("result_hash"),
        rows=[part["total_rows"] for part in parts][:10],
    )


def notice(waiting: Waiting | None) -> None:
    """Say what an opened link still needs."""
    if waiting and waiting.broken:
        st.error(escape(waiting.message), icon=":material/link_off:")
    elif waiting:
        st.info(escape(waiting.message), icon=":material/link:")


def outcome(entry: Entry) -> None:
    """For an answer that came from a link: identical, or what differs."""
    if entry.shared is None:
        return
    found = share.compare(entry.shared, entry.answer)
    box, icon = (st.success, ":material/check_circle:") if found.identical else (st.warning, ":material/difference:")
    box(escape(" ".join(found.words)), icon=icon)
