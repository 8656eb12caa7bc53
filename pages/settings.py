"""The Settings page: model, privacy, limits and calendar of this session."""

from __future__ import annotations

from qa.ui import settings_page
from qa.ui.page import open_page, title

here = open_page("settings")
title("Settings", "For this session only. Nothing here is stored; close the tab and it is gone.")
settings_page.model(here)
settings_page.privacy(here)
settings_page.limits(here)
settings_page.calendar(here)
