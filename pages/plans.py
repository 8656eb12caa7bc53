"""The Plans page: the plan language, and a place to try it."""

from __future__ import annotations

import streamlit as st

from qa.ui import plans_page
from qa.ui.page import open_page, title

here = open_page("plans")
title(
    "Plans", "Every answer comes from a plan. Write one yourself; it is checked as you type and runs without a model."
)
st.header("Try a plan")
plans_page.playground(here)
st.header("Paste SQL")
plans_page.sql_box(here)
st.header("Try a formula")
plans_page.formula_box(here)
st.header("Steps")
plans_page.steps()
st.header("Functions")
plans_page.functions()
plans_page.as_a_model_reads_it()
