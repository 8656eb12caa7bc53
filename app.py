"""The Ask page: pick a table, ask, read the answer."""

from __future__ import annotations

from qa.ui import ask_page
from qa.ui.page import open_page

here = open_page("ask")
dataset = ask_page.pick(here)
ask_page.describe(dataset)
ask_page.question_box(here, dataset)
ask_page.progress(here)
ask_page.answers(here, dataset)
