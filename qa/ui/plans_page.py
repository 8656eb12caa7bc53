"""The Plans page: the language reference, and a place to try a plan or a formula as it is typed."""

from __future__ import annotations

import json

import polars as pl
import streamlit as st

from qa.engine.pool import shared
from qa.errors import Issue, PlanError, QAError
from qa.plan import reference
from qa.plan.from_sql import translate
from qa.plan.functions import FUNCTIONS
from qa.plan.functions.table import Function
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.steps import STEPS
from qa.ui import datasets
from qa.ui.asking import run
from qa.ui.plan_editor import problems, show_issues
from qa.ui.session import Dataset, Session
from qa.ui.words import cut, escape

DIALECTS = ("duckdb", "postgres", "sqlite", "mysql", "bigquery", "snowflake", "spark", "tsql", "oracle")
_MEASURED = ("missing_field", "bad_option", "fan_out", "many_to_many", "expect_broken")
"""Issues that may only say that the data were not looked at."""
_EXAMPLE = "SELECT * FROM {table} LIMIT 10"


def measured_problems(text: str, dataset: Dataset) -> tuple[Issue, ...]:
    """Everything wrong with a plan, checked on the data: keys of joins and columns that a pivot makes are measured."""
    issues = problems(text, dataset)
    if all(issue.code not in _MEASURED for issue in issues):
        return issues
    reply = parse_reply(text)
    metrics = {name: formula for table in dataset.tables for name, formula in table.profile.metrics.items()}
    try:
        if isinstance(reply, PlanReply):
            shared().check(reply, {table.name: table for table in dataset.tables}, metrics=metrics)
    except QAError as error:
        return error.issues
    return ()


def playground(here: Session) -> None:
    """Type a plan; it is checked against the picked data as you go, and runs without a model."""
    dataset = datasets.current(here)
    table = dataset.tables[0]
    st.caption(f"Against {escape(cut(dataset.label))}. Tables: {escape(', '.join(t.name for t in dataset.tables))}")
    start = {"reply": "plan", "parts": [{"title": "Rows", "source": table.name, "steps": [
        {"op": "summarize", "by": [], "metrics": ["count() as rows"]}]}]}  # fmt: skip
    text = st.text_area("Plan", json.dumps(start, indent=2), height=300, key=f"playground-{dataset.key}")
    issues = measured_problems(text, dataset)
    show_issues(issues)
    if st.button("Run this plan", type="primary", icon=":material/play_arrow:", disabled=bool(issues)):
        run(here, dataset, "A plan typed by hand", json.loads(text), note="typed by hand")
        st.switch_page("app.py")


def sql_box(here: Session) -> None:
    """Paste a SELECT; it becomes a typed plan, which is checked against the picked data and runs."""
    dataset = datasets.current(here)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sql = st.text_area(
            "SELECT statement", height=140, key=f"sql-{dataset.key}", placeholder=_EXAMPLE.format(table=dataset.tables[0].name)
        )  # fmt: skip
        dialect = st.selectbox("Dialect", DIALECTS, key=f"dialect-{dataset.key}", width=160)
    if not sql.strip():
        return
    try:
        reply = translate(sql, {table.name: table for table in dataset.tables}, dialect)
    except PlanError as error:
        show_issues(error.issues)
        return
    st.code(json.dumps(reply, indent=2, ensure_ascii=False), language="json", wrap_lines=True)
    issues = measured_problems(json.dumps(reply), dataset)
    show_issues(issues)
    if st.button("Run this query", type="primary", icon=":material/play_arrow:", disabled=bool(issues), key=f"run-sql-{dataset.key}"):  # fmt: skip
        run(here, dataset, "A query pasted as SQL", reply, note="translated from SQL")
        st.switch_page("app.py")


def formula_box(here: Session) -> None:
    """Type a formula; see what it gives, or what is wrong with it."""
    dataset = datasets.current(here)
    names = [table.name for table in dataset.tables]
    source = st.selectbox("Table", names, key=f"formula-table-{dataset.key}") if len(names) > 1 else names[0]
    formula = st.text_input("Formula", "count()", key="formula", placeholder="sum(price * quantity)")
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


def steps() -> None:
    """Every step: what it does, and an example of it."""
    for op, step in STEPS.items():
        with st.expander(op):
            st.text(" ".join((step.__doc__ or "").split()))
            if step.examples:
                st.code(json.dumps(step.examples[0].step, ensure_ascii=False), language="json", wrap_lines=True)


def functions() -> None:
    """Every function with its meaning, what missing does and an example; searchable."""
    left, right = st.columns([3, 1])
    search = left.text_input("Search functions", key="functions", placeholder="round, month, share").strip().casefold()
    families = {"": "all", "row": "of a row", "aggregate": "of a group", "window": "in an order"}
    family = right.selectbox("Kind", list(families), format_func=lambda key: families[key], key="family")
    found = [f for f in FUNCTIONS.values() if not f.operator and family in ("", f.family)]
    found = [f for f in found if search in f"{f.name} {f.doc} {' '.join(f.words)}".casefold()]
    frame = pl.DataFrame(
        {
            "function": [f.signature for f in found],
            "gives": [f.doc for f in found],
            "missing": [f.missing for f in found],
            "example": [_example(f) for f in found],
        },
        schema=dict.fromkeys(("function", "gives", "missing", "example"), pl.String),
    )
    wide = {"gives": st.column_config.TextColumn(width="large"), "missing": st.column_config.TextColumn(width="medium")}
    st.dataframe(frame, hide_index=True, height=420, column_config=wide, alt="Functions of the language")


def _example(function: Function) -> str:
    if not function.examples:
        return ""
    first = function.examples[0]
    value = first.value[0] if isinstance(first.value, list) and first.value else first.value
    return f"{first.formula} → {'missing' if value is None else value}"


def as_a_model_reads_it() -> None:
    """The reference that goes to a model, drawn when opened."""
    box = st.expander("The reference as a model reads it", key="reference", on_change="rerun")
    if box.open:
        with box:
            st.code(reference.reference_text(), language=None, wrap_lines=True, height=480)
