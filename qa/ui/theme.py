"""The few lines of style the page adds to Streamlit's theme: a reading width, quiet rows, visible focus."""

from __future__ import annotations

import streamlit as st

CSS = """
<style>
  [data-testid="stMainBlockContainer"] { max-width: 60rem; padding-top: 3.75rem; padding-bottom: 6rem; }
  [data-testid="stMainBlockContainer"] h1 { font-size: 1.9rem; letter-spacing: -0.015em; padding: .25rem 0; }
  [data-testid="stMainBlockContainer"] :is(h2, h3) { font-size: 1.2rem; padding: 1rem 0 .25rem; }
  [data-testid="stMetricValue"] { font-size: 1.6rem; }
  [data-testid="stSidebarHeader"] { height: 2.5rem; }
  [data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: inherit; }
  [data-testid="stCaptionContainer"] { opacity: .78; }
  [class*="st-key-step-"]:focus-within, [data-testid="stElementContainer"]:focus-within { position: relative; z-index: 5; }
  .st-key-nav { gap: .15rem; }
  .st-key-picker { min-height: 4.25rem; }
  /* Kept free while the data loads, so that nothing shifts when its description comes. */
  .st-key-about:not(:has(.st-key-description)) { min-height: 3.9rem; }
  .st-key-trail button { justify-content: flex-start; min-height: 0; padding: .15rem 0; }
  .st-key-trail button > div, .st-key-trail button span { justify-content: flex-start; text-align: left; min-width: 0; }
  .st-key-trail button p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  [class*="st-key-trail-line"] [data-testid="stCaptionContainer"] { margin: -.4rem 0 .3rem 1.65rem; font-size: .78rem; }
  [class*="st-key-answer-"] [data-testid="stText"] { white-space: pre-wrap; overflow-wrap: anywhere; }
  [class*="st-key-question-"] [data-testid="stText"] { font-weight: 600; }
  [class*="st-key-sentence-"] [data-testid="stText"] { font-size: 1.2rem; line-height: 1.5; }
  [class*="st-key-value-"] [data-testid="stText"] { font-size: 2.6rem; line-height: 1.15; font-weight: 650; letter-spacing: -0.02em; }
  [class*="st-key-notes-"] { margin-top: -.4rem; }
  [class*="st-key-earlier-"] button { text-align: left; padding: 0; min-height: 0; }
  button[data-testid^="stBaseButton-primary"]:not(:disabled) { color: light-dark(#ffffff, #0b1622); }
  :focus-visible:not(textarea):not(input) { outline: 2px solid currentColor; outline-offset: 2px; }
  .st-key-description [data-testid="stPageLink-NavLink"] { padding-left: 0; }
  @media (hover: none) {
    .modebar { display: none !important; }
    /* Without a pointer a table's tools are always there: they get a line of their own. */
    [data-testid="stElementContainer"]:has([data-testid="stDataFrame"]) { margin-top: 2rem; }
  }
  @media (max-width: 640px) {
    .st-key-about:not(:has(.st-key-description)) { min-height: 6.2rem; }
    [data-testid="stMainBlockContainer"] { padding: .6rem 1rem 6rem; }
    [data-testid="stHeader"], [data-testid="stHeader"] * { background: none; pointer-events: none; }
    [data-testid="stHeader"] button, [data-testid="stHeader"] button * { pointer-events: auto; }
    [class*="st-key-value-"] [data-testid="stText"] { font-size: 2.1rem; }
    [class*="st-key-sentence-"] [data-testid="stText"] { font-size: 1.08rem; }
  }
</style>
"""


WIDE = '<style>[data-testid="stMainBlockContainer"] { max-width: 84rem; }</style>'


def apply(*, wide: bool = False) -> None:
    """Add the style to this page; `wide` gives tables and tiles more room. Nothing of a person's data is ever in it."""
    st.html(CSS + WIDE if wide else CSS)


def on_phone() -> bool:
    """Whether this visitor's browser calls itself a phone's."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")
