"""The Plans page: the language reference, and a place to try a plan or a formula as it is typed."""

from __future__ import annotations

import json

import streamlit as st

from qa.plan import reference
from qa.ui import datasets
from qa.ui.asking import run
from qa.ui.plan_editor import problems, show_issues
from qa.ui.session import Session
from qa.ui.words import cut, escape


def playground(here: Session) -> None:
    """Type a plan; it is checked against the picked data as you go, and runs without a model."""
    dataset = datasets.current(here)
    table = dataset.tables[0]
    st.caption(f"Against {escape(cut(dataset.label))}. Tables: {escape(', '.join(t.name for t in dataset.tables))}")
    start = {"reply": "plan", "parts": [{"title": "Rows", "source": table.name, "steps": [
        {"op": "summarize", "by": [], "metrics": ["count() as rows"]}]}]}  # fmt: skip
    text = st.text_area("Plan", json.dumps(start, indent=2), height=300, key=f"playground-{dataset.key}")
    issues = problems(text, dataset)
    show_issues(issues)
    if st.button("Run this plan", type="primary", icon=":material/play_arrow:", disabled=bool(issues)):
        run(here, dataset, "A plan typed by hand", json.loads(text), note="typed by hand")
        st.switch_page("app.py")


def formula_box(here: Session) -> None:
    """Type a formula; see what it gives, or what is wrong with it."""
    dataset = datasets.current(here)
    names = [table.name for table in dataset.tables]
    left, right = st.columns([1, 3])
    source = left.selectbox("Table", names, key=f"formula-table-{dataset.key}") if len(names) > 1 else names[0]
    formula = right.text_input("Formula", "count()", key="formula", placeholder="sum(price * quantity)")
    if not formula.strip():
        return
    step = {"op": "summarize", "by": [], "metrics": [f"{formula} as result"]}
    plan = {"reply": "plan", "parts": [{"title": "Formula", "source": source, "steps": [step]}]}
    row = {"reply": "plan", "parts": [{"title": "Formula", "source": source, "steps": [
        {"op": "derive", "columns": [f"{formula} as result"]}]}]}  # fmt: skip
    as_metric, as_column = problems(plan, dataset), problems(row, dataset)
    if not as_metric:
        st.markdown(":green[:material/check_circle:] A metric: one value for a group of rows.")
    elif not as_column:
        st.markdown(":green[:material/check_circle:] A column: one value for every row.")
    else:
        show_issues(as_column if len(as_column) <= len(as_metric) else as_metric)


def language() -> None:
    """The reference, made from the same tables that the checker reads."""
    st.markdown(reference.reference_text())
