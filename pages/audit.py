"""The Audit page: every question on record, one in full, replay and proof."""

from __future__ import annotations

import streamlit as st

from qa.audit import AuditUnavailable
from qa.ui import audit_compare, audit_page
from qa.ui.page import open_page, title

here = open_page("audit")
title(
    "Audit",
    "Every question leaves a record: what was sent, planned, run and checked. Records are chained, so a change shows.",
)
try:
    session = audit_page.whose(here)
    audit_page.totals(session)
    picked = audit_page.records(session) or [st.query_params.get("record", "")]
    if len(picked) == 2:
        audit_compare.comparison(session, *picked)
    elif picked[0]:
        audit_page.record(here, session, picked[0])
    audit_page.proof(session)
except AuditUnavailable as error:
    audit_page.unavailable(error)
