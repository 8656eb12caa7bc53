"""Share links: made from an answer, and opened by someone who may have the same data, newer data or none."""

from __future__ import annotations

from qa.ui.session import Dataset, Entry, Session


def open_shared(here: Session, dataset: Dataset) -> None:
    pass


def share_box(entry: Entry) -> None:
    pass
