"""The Board page: pinned answers as a dashboard, its filters, its layout, and its ways out as a file."""

from __future__ import annotations

import datetime as dt
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from qa.answer import board as boards
from qa.answer.board import Board, SharedFilter, Tile
from qa.answer.chart import figure
from qa.data.table import Table
from qa.errors import LimitExceeded, QAError
from qa.types import Kind
from qa.ui import boarding, charts, parts
from qa.ui.reasking import words_of
from qa.ui.session import Session
from qa.ui.theme import on_phone
from qa.ui.words import cut, escape, plain

PARAMETER = "board"
MOST_VALUES = 200
MOST_FILTERS = 3
WIDTHS = {1: "a third", 2: "half", 3: "the whole width"}
SPANS = {1: 2, 2: 3, 3: 6}
"""width of a pin -> columns of six, as the HTML report has them"""


def board(here: Session) -> None:
    """The whole page: an empty board says how to fill it. A small board is in the address, so a reload keeps it."""
    trouble = _open_linked(here)
    _toolbar(here)
    if trouble:
        st.error(escape(trouble), icon=":material/link_off:")
    if not here.board.pins:
        st.query_params.pop(PARAMETER, None)
        st.info("Nothing is pinned yet. Ask a question and press Pin under its answer.", icon=":material/keep:")
        st.page_link("app.py", label="Ask a question", icon=":material/forum:")
        return
    _filters(here)
    with st.spinner("Running the board"):
        tiles = boarding.tiles(here)
    grid = st.grid(1 if on_phone() else 6, min_column_width=120, border=True, dense=True)
    for tile in tiles:
        with grid.cell(column_span=1 if on_phone() else SPANS[tile.pin.width]):
            _tile(here, tile)
    _ways_out(here, tiles, _to_address(here))


def _toolbar(here: Session) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.text_input("Title", here.board.title, key=f"board-title-{here.uploaders}", max_chars=200)
        if title.strip() and title != here.board.title:
            here.board = here.board.model_copy(update={"title": title.strip()})
        if st.button("Refresh", icon=":material/refresh:", disabled=not here.board.pins):
            boarding.forget_answers(here)
            st.rerun()
        with st.popover("Open", icon=":material/folder_open:"):
            given = st.file_uploader("A board that was saved as JSON", key=f"board-{here.uploaders}", max_upload_size=1)
            if given:
                _open(here, given.getvalue())


def _open(here: Session, data: bytes) -> None:
    try:
        _show(here, boards.from_json(data))
    except QAError as error:
        st.error(escape(str(error)))
        return
    st.rerun()


def _show(here: Session, board: Board) -> None:
    """Make this the session's board, its filters as they were saved."""
    here.board = board
    here.uploaders += 1  # fresh controls: none keeps what it showed of the board before


def _open_linked(here: Session) -> str:
    """Take the board of the address this page was opened with, once; gives what is wrong with it, or nothing."""
    token = st.query_params.get(PARAMETER)
    if not token or token in here.boards_seen:
        return ""
    here.boards_seen.add(token)
    try:
        _show(here, boards.from_token(token))
    except QAError as error:
        return str(error)
    return ""


def _to_address(here: Session) -> str | None:
    """Keep the board in this page's address; gives the link, or None where it is too long for one."""
    try:
        token = boards.to_token(here.board)
    except LimitExceeded:
        st.query_params.pop(PARAMETER, None)
        return None
    here.boards_seen.add(token)
    if st.query_params.get(PARAMETER) != token:
        st.query_params[PARAMETER] = token
    place = urlsplit(st.context.url or "")
    return (
        f"{place.scheme}://{place.netloc}{place.path}?{PARAMETER}={token}" if place.netloc else f"?{PARAMETER}={token}"
    )


def _filters(here: Session) -> None:
    """One filter over all pins, on a column that their tables have in common."""
    common = boards.common_columns(boarding.columns_by_table(here, here.board))
    tables = [t for pin in here.board.pins if (d := boarding.dataset_of(here, pin)) for t in d.tables]
    usable = [name for name in common if _filterable(tables, name)]
    if not usable:
        return
    saved = {one.column: one for one in here.board.filters}
    foreign = [one for name, one in saved.items() if name not in usable]
    with st.container(horizontal=True, vertical_alignment="bottom", key="board-filters"):
        names = st.multiselect(
            "Filter all by", usable, [name for name in saved if name in usable], format_func=lambda n: cut(n, 60),
            key=f"board-filter-{here.uploaders}", max_selections=MOST_FILTERS, placeholder="nothing",
        )  # fmt: skip
        made = [_filter_on(tables, name, saved.get(name), f"{here.uploaders}-{name}") for name in names]
    for one in foreign:
        st.caption(escape(f"The filter on {one.column} needs a column that not all of this data has."))
    wanted = [one for one in made if one] + foreign
    if wanted != here.board.filters:
        here.board = boards.with_filters(here.board, wanted)


def _table_with(tables: list[Table], name: str) -> Table:
    return next(t for t in tables if any(c.name.casefold() == name.casefold() for c in t.columns))


def _filterable(tables: list[Table], name: str) -> bool:
    table = _table_with(tables, name)
    column = next(c for c in table.columns if c.name.casefold() == name.casefold())
    few = table.profile.column(column.name).distinct <= MOST_VALUES
    return column.kind in (Kind.DATE, Kind.INTEGER, Kind.NUMBER) or (column.kind is Kind.TEXT and few)


def _filter_on(tables: list[Table], name: str, saved: SharedFilter | None, key: str) -> SharedFilter | None:
    """Controls by the column's kind, at first as they were saved; None while nothing is chosen."""
    table = _table_with(tables, name)
    column = next(c for c in table.columns if c.name.casefold() == name.casefold())
    known = table.profile.column(column.name)
    if column.kind is Kind.TEXT:
        values = table.distinct(column.id)
        kept = [value for value in (saved.values if saved else ()) if value in values]
        label = f"Only {cut(name, 40)}"
        picked = st.multiselect(label, values, kept, format_func=lambda v: cut(v, 60), key=f"only-{key}")
        return SharedFilter(column=name, values=list(picked)) if picked else None
    if column.kind is Kind.DATE:
        low, high = (dt.date.fromisoformat(str(value)[:10]) for value in (known.low, known.high))
        ends = (_day(saved and saved.low, low), _day(saved and saved.high, high))
        first = (max(low, ends[0]), max(low, min(high, ends[1])))
        label = f"{cut(name, 40)} from and to"
        chosen: Any = st.date_input(label, first, min_value=low, max_value=high, key=f"days-{key}")
        if not isinstance(chosen, tuple) or len(chosen) < 2 or chosen == (low, high):
            return None
        return SharedFilter(column=name, low=chosen[0].isoformat(), high=chosen[1].isoformat())
    limits = (_figure(saved and saved.low), _figure(saved and saved.high))
    label = cut(name, 40)
    least = st.number_input(f"{label} at least", value=limits[0], key=f"least-{key}", placeholder=str(known.low))
    most = st.number_input(f"{label} at most", value=limits[1], key=f"most-{key}", placeholder=str(known.high))
    return SharedFilter(column=name, low=least, high=most) if (least, most) != (None, None) else None


def _day(saved: object, else_: dt.date) -> dt.date:
    try:
        return dt.date.fromisoformat(str(saved)[:10]) if saved else else_
    except ValueError:
        return else_


def _figure(saved: object) -> float | None:
    return float(saved) if isinstance(saved, int | float) else None


def _tile(here: Session, tile: Tile) -> None:
    pin = tile.pin
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(pin.title, 120)}**")
        with st.popover("Layout", icon=":material/more_horiz:", type="tertiary", key=f"layout-{pin.id}"):
            _layout(here, tile)
    if tile.moved:
        st.badge("Changed since it was pinned", icon=":material/trending_up:", color="orange")
        if before := here.pinned_answers.get(pin.id):
            st.caption(escape(words_of(before, tile.answer)))
    if here.board.filters and not tile.filtered:
        st.caption("The filter does not reach this answer.")
    if tile.answer.status != "answered":
        st.warning(escape(tile.answer.reason or "It could not be run."))
        return
    for number, part in enumerate(tile.answer.parts):
        shown = part
        if pin.chart and pin.chart != (part.chart or {}).get("kind"):
            other = figure(
                columns=part.columns, table=part.table, plan=part.plan, total_rows=part.total_rows, kind=pin.chart
            )
            shown = part.model_copy(update={"chart": other or part.chart})
        parts.part_view(shown, f"tile-{pin.id}-{number}", switch=False, with_table=pin.table or not part.chart)


def _layout(here: Session, tile: Tile) -> None:
    pin, place = tile.pin, [p.id for p in here.board.pins].index(tile.pin.id)
    title = st.text_input("Title", pin.title, key=f"title-{pin.id}", max_chars=200)
    width = st.segmented_control(
        "Width", list(WIDTHS), default=pin.width, format_func=lambda w: WIDTHS[w], key=f"width-{pin.id}", required=True
    )
    kinds = charts.kinds_of(tile.answer.parts[0]) if tile.answer.parts else []
    kind = st.selectbox(
        "Chart", ("", *kinds), index=(kinds.index(pin.chart) + 1) if pin.chart in kinds else 0, key=f"chart-of-{pin.id}",
        format_func=lambda k: charts.NAMES.get(k, "chosen by the data"),
    )  # fmt: skip
    table = st.checkbox("Show the table", pin.table, key=f"rows-{pin.id}")
    changes = {"title": title.strip() or pin.title, "width": width or pin.width, "chart": kind or None, "table": table}
    if any(getattr(pin, key) != value for key, value in changes.items()):
        here.board = boards.changed(here.board, pin.id, **changes)
        st.rerun()
    with st.container(horizontal=True):
        if st.button("Earlier", key=f"earlier-{pin.id}", icon=":material/arrow_back:", disabled=place == 0):
            here.board = boards.moved(here.board, pin.id, place - 1)
            st.rerun()
        if st.button(
            "Later", key=f"later-{pin.id}", icon=":material/arrow_forward:", disabled=place == len(here.board.pins) - 1
        ):
            here.board = boards.moved(here.board, pin.id, place + 1)
            st.rerun()
    if st.button("Unpin", key=f"unpin-{pin.id}", icon=":material/keep_off:"):
        here.board = boards.unpinned(here.board, pin.id)
        st.rerun()


def _ways_out(here: Session, tiles: list[Tile], link: str | None) -> None:
    """The board as a page of its own, as Markdown, as the small file that opens again, and as a link."""
    now = datetime.now(UTC)
    board, shade = here.board, charts.shade()
    files = {
        "HTML report": (lambda: boards.html(board, tiles, theme=shade, made=now).encode(), "board.html", "text/html"),
        "Markdown": (lambda: boards.markdown(board, tiles, made=now).encode(), "board.md", "text/markdown"),
        "Board as JSON": (lambda: boards.to_json(board), "board.json", "application/json"),
    }
    with st.container(horizontal=True):
        for label, (make, name, mime) in files.items():
            st.download_button(
                label, make, name, mime, icon=":material/download:", on_click="ignore", key=f"out-{name}"
            )
        with st.popover("Link", icon=":material/link:"):
            if link is None:
                st.text("This board is too long for a link. Save it as JSON: the file opens it again.")
                return
            st.code(link, language=None, wrap_lines=True)
            st.caption("It carries the plans and the layout: no rows of a file and no key.")
