"""Pinned answers as a board: a small JSON of plans and layout, without rows, that can be run again on new data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qa.answer import codec, report
from qa.answer.answer import Answer, AnswerPart
from qa.answer.chart import KINDS, ThemeName, figure
from qa.answer.formats import plain, show
from qa.answer.page import escaped, page
from qa.answer.share import MOST_CHARACTERS, Digest, Label, is_plan, plan_only
from qa.errors import Issue, LimitExceeded

MOST_PINS = 40
MOST_BYTES = 500_000

Text = Annotated[str, Field(max_length=300)]
Scalar = str | int | float | bool | None


class _Piece(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Pin(_Piece):
    """A pinned answer: its plan, the data it was made from, and how it is shown.

    `width` is 1 for a third of the board, 2 for half, 3 for all of it, `chart` a kind picked by hand, `result_hash` what it showed when pinned.
    """

    id: Annotated[str, Field(pattern=r"^p\d{1,6}$")]
    title: Text
    question: Text = ""
    reply: dict[str, Any]
    digests: dict[Label, Digest] = Field(default_factory=dict, max_length=50)
    names: dict[Label, Label] = Field(default_factory=dict, max_length=50)
    result_hash: Digest | None = None
    width: Annotated[int, Field(ge=1, le=3)] = 2
    chart: str | None = None
    table: bool = True


class SharedFilter(_Piece):
    """A filter of the whole board on a column that its tables have in common: some values, or a range."""

    column: Label
    values: list[Scalar] = Field(default_factory=list, max_length=200)
    low: str | int | float | None = None
    high: str | int | float | None = None


class Board(_Piece):
    """Pins in reading order, and the filters over all of them."""

    version: Literal[1] = 1
    title: Text = "Board"
    pins: list[Pin] = Field(default_factory=list, max_length=MOST_PINS)
    filters: list[SharedFilter] = Field(default_factory=list, max_length=10)

    def pin(self, id: str) -> Pin | None:
        return next((pin for pin in self.pins if pin.id == id), None)


@dataclass(frozen=True)
class Tile:
    """A pin with the answer that its plan gives now. `moved` is None when nothing was remembered to compare with."""

    pin: Pin
    answer: Answer
    filtered: bool = False
    moved: bool | None = None


# --- changing a board --------------------------------------------------------------------------------------------------


def pinned(board: Board, answer: Answer, *, names: Mapping[str, str] | None = None, title: str | None = None) -> Board:
    """The board with the answer's plan added at the end. Raises LimitExceeded past MOST_PINS."""
    if len(board.pins) >= MOST_PINS:
        raise LimitExceeded(Issue("board_full", "board", f"A board holds {MOST_PINS} answers.", "Unpin one first."))
    newest = max((int(pin.id[1:]) for pin in board.pins), default=0)
    first = answer.parts[0].title if answer.parts else ""
    pin = Pin(
        id=f"p{newest + 1}",
        title=plain(title or answer.question or first, 200) or "Answer",
        question=plain(answer.question, 300),
        reply=plan_only(answer.reply or {}),
        digests=dict(answer.digests),
        names={table: plain(name, 200) for table, name in (names or {}).items() if plain(name, 200)},
        result_hash=answer.result_hash,
    )
    return board.model_copy(update={"pins": [*board.pins, pin]})


def unpinned(board: Board, id: str) -> Board:
    """The board without that pin."""
    return board.model_copy(update={"pins": [pin for pin in board.pins if pin.id != id]})


def changed(board: Board, id: str, **changes: Any) -> Board:
    """The board with other fields on one pin (title, width, chart, table); checked like a loaded one."""
    allowed = {"title", "width", "chart", "table", "result_hash", "digests"} & set(changes)
    made = [
        Pin.model_validate(pin.model_dump() | {name: changes[name] for name in allowed}) if pin.id == id else pin
        for pin in board.pins
    ]
    return board.model_copy(update={"pins": made})


def moved(board: Board, id: str, to: int) -> Board:
    """The board with that pin at another place, counted from 0."""
    pin = board.pin(id)
    if pin is None:
        return board
    rest = [other for other in board.pins if other.id != id]
    place = max(0, min(to, len(rest)))
    return board.model_copy(update={"pins": [*rest[:place], pin, *rest[place:]]})


def with_filters(board: Board, filters: Sequence[SharedFilter]) -> Board:
    """The board with these shared filters, and no others."""
    return board.model_copy(update={"filters": list(filters)})


# --- as a file and as a link -------------------------------------------------------------------------------------------


def to_json(board: Board) -> bytes:
    """The board as a small JSON file: plans, layout and digests, no rows."""
    return json.dumps(board.model_dump(), ensure_ascii=False, indent=1).encode("utf-8")


def from_json(data: bytes) -> Board:
    """A board from a file; PlanError, in words, for anything else."""
    return _checked(codec.read_json(data, "board", MOST_BYTES), "board")


def to_token(board: Board) -> str:
    """The board as URL-safe text; LimitExceeded when it is too long for a link."""
    return codec.pack(board.model_dump(exclude_defaults=True) | {"version": 1}, most=MOST_CHARACTERS, what="board link")


def from_token(token: str) -> Board:
    """A board from a link; PlanError, in words, for anything else."""
    return _checked(codec.unpack(token, most=MOST_CHARACTERS, what="board link"), "board link")


def _checked(content: Mapping[str, Any], what: str) -> Board:
    try:
        board = Board.model_validate(content)
    except ValidationError:
        codec.broken(what, "it does not hold a board")
    ids = [pin.id for pin in board.pins]
    kinds = all(pin.chart is None or pin.chart in KINDS for pin in board.pins)
    if len(set(ids)) < len(ids) or not kinds or not all(is_plan(pin.reply) for pin in board.pins):
        codec.broken(what, "it does not hold a board")
    return board


# --- shared filters ----------------------------------------------------------------------------------------------------


def common_columns(tables: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns that every table has, ignoring case, as the first table spells them."""
    if not tables:
        return []
    first, *others = tables.values()
    folded = [{name.casefold() for name in names} for names in others]
    return [name for name in first if all(name.casefold() in names for names in folded)]


def filtered(
    reply: Mapping[str, Any], filters: Sequence[SharedFilter], tables: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], bool]:
    """The plan with the filters put before the first step of everything that reads a table which has the column,
    and whether every part is filtered. Tables that are only joined to are left whole.

    `tables` are the column names by table.
    """
    lets = [_with_filters(let, filters, tables) for let in reply.get("lets") or ()]
    parts = [_with_filters(part, filters, tables) for part in reply.get("parts") or ()]
    reached: set[Any] = set()
    for let, is_filtered in lets:
        if is_filtered or let.get("source") in reached:
            reached.add(let.get("name"))
    whole = all(is_filtered or part.get("source") in reached for part, is_filtered in parts)
    made = dict(reply) | {"lets": [let for let, _ in lets], "parts": [part for part, _ in parts]}
    return made, whole and bool(filters)


def _with_filters(
    block: Mapping[str, Any], filters: Sequence[SharedFilter], tables: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], bool]:
    columns = {name.casefold(): name for name in tables.get(str(block.get("source")), ())}
    found = [(columns[one.column.casefold()], one) for one in filters if one.column.casefold() in columns]
    steps = [{"op": "filter", "where": where} for name, one in found if (where := _condition(name, one))]
    return dict(block) | {"steps": [*steps, *(block.get("steps") or ())]}, len(found) == len(filters)


def _condition(name: str, one: SharedFilter) -> str:
    """The filter as a formula; its values are quoted, never pasted."""
    column = f"`{name}`"
    clauses = []
    known = [value for value in one.values if value is not None]
    if known:
        clauses.append(f"{column} in [{', '.join(_quoted(value) for value in known)}]")
    if None in one.values:
        clauses = [f"({clauses[0]} or {column} is null)" if clauses else f"{column} is null"]
    if one.low is not None:
        clauses.append(f"{column} >= {_quoted(one.low)}")
    if one.high is not None:
        clauses.append(f"{column} <= {_quoted(one.high)}")
    return " and ".join(clauses)


def _quoted(value: Scalar) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case _:
            return "'" + str(value).replace("'", "''") + "'"


# --- running and handing out -------------------------------------------------------------------------------------------


def refreshed(
    board: Board, run: Callable[[dict[str, Any]], Answer], tables: Mapping[str, Sequence[str]] | None = None
) -> list[Tile]:
    """Each pin with what its plan gives now. `run` answers a plan reply; `tables` (columns by table) are needed for
    the shared filters. A pin that fails is a tile whose answer says why."""
    tiles = []
    for pin in board.pins:
        reply, whole = filtered(pin.reply, board.filters, tables or {}) if board.filters else (dict(pin.reply), False)
        answer = run(reply)
        known = pin.result_hash is not None and answer.result_hash is not None and not board.filters
        tiles.append(Tile(pin, answer, whole, pin.result_hash != answer.result_hash if known else None))
    return tiles


def html(board: Board, tiles: Sequence[Tile], *, theme: ThemeName = "light", made: datetime | None = None) -> str:
    """The board as one HTML file that needs no network."""
    title = plain(board.title, 200) or "Board"
    body = [f"<h1>{escaped(title)}</h1>"]
    body += [f'<p class="quiet">{escaped(line)}</p>' for line in filter_words(board)]
    body.append('<div class="board">')
    for tile in tiles:
        body.append(
            f'<section class="w{tile.pin.width}"><h2>{escaped(tile.pin.title)}</h2>{_tile_html(board, tile, theme)}</section>'
        )
    body.append("</div>")
    body.append(report.footer(_sources(tiles), made))
    return page(title, "".join(body), theme=theme)


def _tile_html(board: Board, tile: Tile, theme: ThemeName) -> str:
    if tile.answer.status != "answered":
        return "".join(f"<p>{escaped(line)}</p>" for line in report.status_words(tile.answer))
    several = len(tile.answer.parts) > 1
    rows = report.ROWS if tile.pin.table else 0
    blocks = [
        report.part_html(part, f"chart-{tile.pin.id}-{n}", theme=theme, rows=rows, heading=several, evidence=False)
        for n, part in enumerate(shown_parts(tile))
    ]
    unfiltered = bool(board.filters) and not tile.filtered
    return "".join(
        [*blocks, '<p class="warning">The board\'s filter does not reach this answer.</p>' if unfiltered else ""]
    )


def markdown(board: Board, tiles: Sequence[Tile], *, made: datetime | None = None) -> str:
    """The board as Markdown."""
    lines = [f"# {report.literal(board.title)}", ""]
    lines += [f"{report.literal(line)}\n" for line in filter_words(board)]
    for tile in tiles:
        lines += [f"## {report.literal(tile.pin.title)}", ""]
        if tile.answer.status != "answered":
            lines += [f"{report.literal(line)}\n" for line in report.status_words(tile.answer)]
        if board.filters and not tile.filtered:
            lines += ["**Warning:** The board's filter does not reach this answer.", ""]
        for part in shown_parts(tile):
            heading = "###" if len(tile.answer.parts) > 1 else None
            lines += report.part_markdown(
                part, heading=heading, evidence=False, rows=report.ROWS if tile.pin.table else 0
            )
    lines += ["---", "", *(f"- Data: {report.literal(source)}" for source in _sources(tiles)), ""]
    return "\n".join(lines)


def shown_parts(tile: Tile) -> list[AnswerPart]:
    """The tile's parts with the chart that the pin asks for, where it fits."""
    if tile.pin.chart is None:
        return list(tile.answer.parts)
    return [part.model_copy(update={"chart": _redrawn(part, tile.pin.chart)}) for part in tile.answer.parts]


def _redrawn(part: AnswerPart, kind: str) -> dict[str, Any] | None:
    made = figure(columns=part.columns, table=part.table, plan=part.plan, total_rows=part.total_rows, kind=kind)
    return made or part.chart


def filter_words(board: Board) -> list[str]:
    """Each shared filter in words."""
    return [f"Only where {plain(one.column)} {_filter_words(one)}." for one in board.filters]


def _filter_words(one: SharedFilter) -> str:
    said = [f"is {' or '.join(show(value) for value in one.values)}"] if one.values else []
    said += [f"is at least {show(one.low)}"] if one.low is not None else []
    said += [f"is at most {show(one.high)}"] if one.high is not None else []
    return " and ".join(said) or "is anything"


def _sources(tiles: Sequence[Tile]) -> list[str]:
    found: dict[str, None] = {}
    for tile in tiles:
        for table, digest in tile.answer.digests.items():
            found[f"{plain(tile.pin.names.get(table, table), 120)} (SHA-256 {digest[:12]}…)"] = None
    return list(found)
