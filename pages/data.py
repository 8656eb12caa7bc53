"""The Data page: what the tables hold and how they were read."""

from __future__ import annotations

from qa.ui import data_findings, data_meaning, data_page
from qa.ui.page import open_page, title

here = open_page("data")
title("Data", "What each table holds, and every decision taken while reading it.")
dataset, table = data_page.pick_table(here)
data_page.facts(table)
data_page.columns(table)
data_page.column_detail(table)
data_findings.quality(table)
data_findings.related(dataset)
data_page.load_report(here, table)
data_page.read_again(here, table)
data_meaning.editor(here, dataset, table)
data_page.preview(table)
