"""The Plans page: the plan language, and a place to try it."""

from __future__ import annotations

import streamlit as st

from qa.ui import plans_page
from qa.ui.page import open_page, title

here = open_page("plans")
title(
    "Plans", "Every answer comes from a plan. Write one yourself; it is checked as you type and runs without a model."
)
st.subheader("Try a plan")
plans_page.playground(here)
st.subheader("Paste SQL")
plans_page.sql_box(here)
st.subheader("Try a formula")
plans_page.formula_box(here)
st.subheader("Steps")
plans_page.steps()
st.subheader("Functions")
plans_page.functions()
plans_page.as_a_model_reads_it()
