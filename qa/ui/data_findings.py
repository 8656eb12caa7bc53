"""Below the columns of the Data page: what is odd about the data, and how the tables hang together."""

from __future__ import annotations

import polars as pl
import streamlit as st

from qa.data.findings import Finding, findings
from qa.data.relations import Relation, relationships
from qa.data.table import Table
from qa.ui.session import Dataset
from qa.ui.words import escape

SHOWN = 8
SIGNS = {3: ":red[:material/priority_high:]", 2: ":orange[:material/info:]", 1: ":material/info:"}
"""how much a finding or an assumption could do -> its sign"""


@st.cache_resource(show_spinner=False, max_entries=50)
def _found(digest: str, name: str, _table: Table) -> list[Finding]:
    return findings(_table)


@st.cache_resource(show_spinner=False, max_entries=20)
def _related(digests: tuple[tuple[str, str], ...], _dataset: Dataset) -> list[Relation]:
    return relationships(_dataset.tables, _dataset.semantics)


def quality(table: Table) -> None:
    """What a reader should know of the data before trusting a figure."""
    st.subheader("Worth knowing")
    found = _found(table.digest, table.name, table)
    if not found:
        st.markdown(":material/check: No repeated rows, empty or constant columns, far values or doubtful spellings.")
    for finding in found[:SHOWN]:
        st.markdown(f"{SIGNS[finding.weight]} {escape(finding.message)}")
    if len(found) > SHOWN:
        with st.expander(f"{len(found) - SHOWN} more"):
            for finding in found[SHOWN:]:
                st.markdown(f"{SIGNS[finding.weight]} {escape(finding.message)}")


def related(dataset: Dataset) -> None:
    """Which columns of the dataset's tables belong together, with the evidence."""
    if len(dataset.tables) < 2:
        return
    st.subheader("How the tables hang together")
    found = _related(tuple(dataset.digests.items()), dataset)
    if not found:
        st.caption("No columns of these tables match well enough to join them.")
        return
    st.dataframe(
        pl.DataFrame(
            {
                "from": [f"{one.left} ({', '.join(one.left_columns)})" for one in found],
                "to": [f"{one.right} ({', '.join(one.right_columns)})" for one in found],
                "link": [one.cardinality.replace("_", " ") for one in found],
                "rows that match": [one.match_rate for one in found],
                "without a match": [one.orphans for one in found],
                "evidence": ["; ".join(one.evidence) for one in found],
            }
        ),
        hide_index=True,
        alt="Relationships between the tables",
        column_config={
            "rows that match": st.column_config.NumberColumn(format="percent"),
            "without a match": st.column_config.NumberColumn(format="%,d"),
        },
    )
