"""The Board page: pinned answers side by side."""

from __future__ import annotations

from qa.ui import board_page
from qa.ui.page import open_page, title

here = open_page("board")
title("Board", "Pinned answers of this session, side by side.")
board_page.board(here)
