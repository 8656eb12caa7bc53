"""The Ask page: pick a table, ask, read the answer."""

from __future__ import annotations

from qa.ui import question_box
from qa.ui.page import open_page

here = open_page("ask")
places = question_box.draw(here)  # a visitor can type while the rest is loaded

from qa.engine.pool import shared  # noqa: E402

shared().warm()  # the first worker gets ready while the page's own libraries load

from qa.ui import ask_page  # noqa: E402

dataset = ask_page.pick(here, places)
ask_page.describe(dataset, places)
ask_page.ask_typed(here, dataset, places)
ask_page.progress(here)
ask_page.answers(here, dataset)
