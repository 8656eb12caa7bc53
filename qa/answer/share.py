"""Links that carry a plan and what it gave, without rows and without keys, and what differs when one is opened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qa.answer.answer import Answer
from qa.answer.cells import json_cell
from qa.answer.codec import broken, pack, unpack
from qa.answer.formats import joined, number, plain, plural

MOST_CHARACTERS = 6_000
"""Characters of a link's token; more breaks mail programs and proxies."""

_REPLY_KEYS = frozenset({"reply", "lets", "parts"})
_PART_KEYS = frozenset({"title", "reading", "source", "steps", "show", "chart"})
_LET_KEYS = frozenset({"name", "source", "steps"})

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{8,128}(-[0-9]{1,4})?$")]
"""Hex; a table of a file with several adds its number."""
Label = Annotated[str, Field(min_length=1, max_length=200)]


class Shared(BaseModel):
    """What a link holds: the plan reply, the digest of each table, the hash of the result, the tables' file names,
    and how many rows each part had."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    reply: dict[str, Any]
    digests: dict[Label, Digest] = Field(default_factory=dict, max_length=50)
    result_hash: Digest | None = None
    names: dict[Label, Label] = Field(default_factory=dict, max_length=50)
    rows: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list, max_length=10)


@dataclass(frozen=True)
class Comparison:
    """Whether an opened link gave what was shared, and the differences in words."""

    identical: bool
    words: tuple[str, ...]


def encode(
    reply: Mapping[str, Any],
    digests: Mapping[str, str],
    result_hash: str | None,
    names: Mapping[str, str] | None = None,
    rows: Sequence[int] = (),
) -> str:
    """The token of a link. Only the plan's own fields, digests and names go in: no row, no key, no payload.

    `names` are the files' names by table, `rows` the row counts of the parts. Raises LimitExceeded when the token
    would pass MOST_CHARACTERS.
    """
    content = {
        "reply": plan_only(reply),
        "digests": dict(digests),
        "result_hash": result_hash,
        "names": {table: plain(name, 200) for table, name in (names or {}).items() if plain(name, 200)},
        "rows": [int(count) for count in rows],
    }
    return pack({key: value for key, value in content.items() if value}, most=MOST_CHARACTERS, what="link")


def plan_only(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The reply reduced to a plan's fields, without the nulls."""
    kept = _kept(reply, _REPLY_KEYS) | {"reply": "plan"}
    kept["lets"] = [_kept(let, _LET_KEYS) for let in reply.get("lets") or ()]
    kept["parts"] = [_kept(part, _PART_KEYS) for part in reply.get("parts") or ()]
    return kept


def _kept(content: Mapping[str, Any], keys: frozenset[str]) -> dict[str, Any]:
    return {key: _without_nulls(value) for key, value in content.items() if key in keys and value is not None}


def _without_nulls(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [_without_nulls(item) for item in value]
        case _:
            return value


def decode(token: str) -> Shared:
    """What a link holds; PlanError, in words, for anything else. The plan is not yet checked against any table."""
    content = unpack(token, most=MOST_CHARACTERS, what="link")
    try:
        shared = Shared.model_validate(content)
    except ValidationError:
        broken("link", "it does not hold a plan")
    if not is_plan(shared.reply):
        broken("link", "it does not hold a plan")
    return shared


def is_plan(reply: Mapping[str, Any]) -> bool:
    """The reply has the form of a plan, and no field that a plan has not."""
    lets, parts = reply.get("lets", []), reply.get("parts")
    if reply.get("reply") != "plan" or not set(reply) <= _REPLY_KEYS or not isinstance(parts, list) or not parts:
        return False
    if not isinstance(lets, list):
        return False
    return all(_has_steps(part, _PART_KEYS) for part in parts) and all(_has_steps(let, _LET_KEYS) for let in lets)


def _has_steps(block: Any, keys: frozenset[str]) -> bool:
    return (
        isinstance(block, dict)
        and set(block) <= keys
        and isinstance(block.get("source"), str)
        and isinstance(block.get("steps"), list)
        and all(isinstance(step, dict) and isinstance(step.get("op"), str) for step in block["steps"])
    )


# --- the hash of a result ----------------------------------------------------------------------------------------------


def result_hash(tables: pl.DataFrame | Sequence[pl.DataFrame]) -> str:
    """128 bits of what the tables show: names, order and values; doubles to 12 significant digits, so that two engines
    or versions that differ in the last bit agree. A whole double equals the integer. 32 hex digits."""
    given = [tables] if isinstance(tables, pl.DataFrame) else list(tables)
    content = [[[column.name, _canonical(column)] for column in table.get_columns()] for table in given]
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _canonical(column: pl.Series) -> list[Any]:
    kind = column.dtype
    if kind.is_float() or kind.is_decimal():
        return _figures(column.cast(pl.Float64).fill_nan(None))
    if kind.is_integer():
        return column.cast(pl.String).to_list()
    if isinstance(kind, pl.Datetime):
        return column.dt.epoch("us").to_list()
    if isinstance(kind, pl.Duration):
        return column.dt.total_microseconds().to_list()
    if kind in (pl.Date, pl.Time) or isinstance(kind, (pl.Enum, pl.Categorical)):
        return column.cast(pl.String).to_list()
    if kind.is_nested():
        return [json_cell(value) for value in column.to_list()]
    return column.to_list()


def _figures(column: pl.Series) -> list[str | None]:
    # Adding 0.0 turns -0.0 into 0.0.
    figures = np.char.mod("%.12g", column.fill_null(0.0).to_numpy() + 0.0)
    return pl.Series(figures.astype(str), dtype=pl.String).set(column.is_null(), None).to_list()


# --- what differs ------------------------------------------------------------------------------------------------------


def compare(shared: Shared, answer: Answer) -> Comparison:
    """What was shared against what running it here gave. Identical means: the same result, value by value."""
    same_result = shared.result_hash is not None and shared.result_hash == answer.result_hash
    data = _data_words(shared, answer)
    if same_result and not data:
        return Comparison(True, ("Identical: the same data, the same plan, the same result.",))
    if same_result:
        return Comparison(True, (*data, "The result is identical all the same."))
    if answer.status != "answered":
        return Comparison(False, (*data, "The plan could not be run here, so nothing can be compared."))
    if shared.result_hash is None or answer.result_hash is None:
        return Comparison(False, (*data, "The link does not say what the result was, so it cannot be compared."))
    rows = _row_words(shared, answer)
    if data:
        return Comparison(False, (*data, "The result is different.", *rows))
    return Comparison(False, ("The data is the same, but the result is different: another version ran it.", *rows))


def _data_words(shared: Shared, answer: Answer) -> tuple[str, ...]:
    changed = [name for name, digest in shared.digests.items() if answer.digests.get(name, digest) != digest]
    absent = [name for name in shared.digests if name not in answer.digests]
    told = []
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        told.append(f"{joined([_file(shared, name) for name in changed])} {verb} changed since the link was made.")
    if absent:
        verb = "is" if len(absent) == 1 else "are"
        told.append(f"{joined([_file(shared, name) for name in absent])} {verb} not loaded here.")
    return tuple(told)


def _file(shared: Shared, table: str) -> str:
    return plain(shared.names.get(table, table))


def _row_words(shared: Shared, answer: Answer) -> tuple[str, ...]:
    if len(shared.rows) != len(answer.parts):
        return ()
    pairs = zip(shared.rows, answer.parts, strict=True)
    moved = [(then, part) for then, part in pairs if then != part.total_rows]
    if not moved:
        counts = joined([number(count) for count in shared.rows])
        return (f"It has as many rows as before ({counts}), with other values.",)
    return tuple(
        f"{plain(part.title) or 'The answer'}: {plural(part.total_rows, 'row')}, {number(then)} when shared."
        for then, part in moved
    )
