"""The semantic editor of the Data page: what tables and columns mean, checked, tried on and downloaded as YAML."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from qa.data.draft import draft
from qa.data.options import ReadOptions
from qa.data.semantics import Semantics, apply, drift, dump_semantics, parse_semantics
from qa.data.table import Table
from qa.errors import QAError
from qa.ui import datasets
from qa.ui.session import Dataset, Session, Upload
from qa.ui.words import escape


def editor(here: Session, dataset: Dataset, table: Table) -> None:
    """The semantic file of a table as text: drafted where there is none, checked against the data as it is edited."""
    with st.expander("What the columns mean", icon=":material/edit_note:"):
        st.caption("Roles, units, other words, value maps and metrics. Keep it beside the data as NAME.qa.yaml.")
        key = f"meaning-{dataset.key}-{table.name}-{table.report.file}-{len(table.columns)}"
        start = dump_semantics(dataset.semantics.get(table.name) or draft(table))
        text = st.text_area("Semantic file", start, height=320, key=key)
        try:
            meaning = parse_semantics(text, f"{table.name}.qa.yaml")
            faults = drift(table, meaning, {other.name: other for other in dataset.tables})
        except QAError as error:
            for issue in error.issues:
                st.error(escape(f"{issue.message} {issue.hint}"))
            return
        for fault in faults:
            st.warning(escape(fault))
        with st.container(horizontal=True):
            st.download_button("Download", text, f"{table.name}.qa.yaml", "text/yaml", icon=":material/download:")
            upload = datasets.upload_of(here, table)
            if upload is not None and st.button("Use it in this visit", key=f"{key}-use"):
                _use(here, upload, table.name, meaning)


def _use(here: Session, upload: Upload, name: str, meaning: Semantics) -> None:
    """The file's tables as they were read, one of them with its meaning; the page is drawn again."""
    datasets.reread(here, upload, upload.options or ReadOptions())
    fresh = here.uploads[upload.shown.casefold()]
    tables = tuple(apply(table, meaning) if table.name == name else table for table in fresh.tables)
    here.uploads[upload.shown.casefold()] = replace(fresh, tables=tables)
    st.rerun()
