"""The Ask page: pick a table, ask, read the answer."""

from __future__ import annotations

from qa.engine.pool import shared

shared().warm()  # the first worker gets ready while the page's own libraries load

from qa.ui import ask_page  # noqa: E402
from qa.ui.page import open_page  # noqa: E402

here = open_page("ask")
dataset = ask_page.pick(here)
ask_page.describe(dataset)
ask_page.question_box(here, dataset)
ask_page.progress(here)
ask_page.answers(here, dataset)
