"""What a formula may refer to at one step, and how names and literals are resolved there."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from rapidfuzz import fuzz, process

from qa.errors import Issue, PlanError
from qa.plan.typed import Guard, Ids, Typed, Watch
from qa.types import Column, Schema, Source

if TYPE_CHECKING:
    from qa.plan.check import CheckedPipeline


@dataclass(frozen=True)
class Clock:
    """The injected now: `today` in `zone`, and the first day of the week."""

    today: dt.date
    zone: str = "UTC"
    week_start: str = "monday"


class Probe(Protocol):
    """What must be measured on data while checking; the engine answers, or nobody (None = not known)."""

    def most_per_key(
        self, pipeline: CheckedPipeline, keys: Sequence[str], lets: Mapping[str, CheckedPipeline]
    ) -> int | None:
        """The largest number of rows that share one non-missing combination of key columns."""
        ...

    def rows(self, pipeline: CheckedPipeline, lets: Mapping[str, CheckedPipeline]) -> int | None:
        """How many rows a pipeline gives."""
        ...

    def distinct(
        self, pipeline: CheckedPipeline, column: str, most: int, lets: Mapping[str, CheckedPipeline]
    ) -> list[Any] | None:
        """The different values of a column in the order of the rows, missing too; at most `most`."""
        ...

    def values(
        self, pipeline: CheckedPipeline, aggregates: Sequence[Typed], lets: Mapping[str, CheckedPipeline]
    ) -> Sequence[Any]:
        """Aggregates over all rows that a pipeline gives."""
        ...


@dataclass
class World:
    """All that one check shares: tables, lets so far, fresh names, the clock, and what it finds out."""

    sources: Mapping[str, Source]
    clock: Clock
    probe: Probe | None = None
    ids: Ids = field(default_factory=Ids)
    lets: dict[str, CheckedPipeline] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def prefix(self, source: str) -> str:
        """What keeps the engine names of one table apart from those of the others."""
        place = list(self.sources).index(source)
        return f"t{place}" if place else ""

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@lru_cache(maxsize=65536)
def folded(text: str) -> str:
    """Case, accents, outer and repeated spaces, quote and dash variants do not count."""
    plain = unicodedata.normalize("NFKD", text.translate(_QUOTES_AND_DASHES))
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())


_QUOTES_AND_DASHES = str.maketrans(
    {**dict.fromkeys("‘’‚‛`´", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)


@lru_cache(maxsize=65536)
def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]+", "", folded(name))


def nearest(word: str, among: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """The names most like a word, best first; none when nothing is near."""
    found = process.extract(word, list(among), scorer=fuzz.WRatio, processor=folded, limit=limit, score_cutoff=60)
    return tuple(name for name, _, _ in found)


def handle(column: Column) -> str | None:
    """The short name that the payload gives a column with a long one: `c1` for the first of its table."""
    if len(column.name) <= 30 or column.origin is None:
        return None
    return f"c{int(column.origin[1][1:]) + 1}" if re.fullmatch(r"c\d+", column.origin[1]) else None


def did_you_mean(candidates: Sequence[str]) -> str:
    return f"Did you mean {candidates[0]!r}?" if candidates else ""


@dataclass
class Scope:
    """One step's view: the columns entering it, and the world. Collects what the step must count."""

    schema: Schema
    world: World
    watches: list[Watch] = field(default_factory=list)
    left_out: list[Watch] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    uses_order: bool = False
    numbers_rows: bool = False
    """row_index() may stand here: the step numbers the rows entering it"""
    current: CheckedPipeline | None = None
    """the pipeline so far, for what must be measured"""

    def refuse(
        self, code: str, message: str, hint: str = "", where: str = "", candidates: Sequence[str] = ()
    ) -> NoReturn:
        raise PlanError(Issue(code, where, message, hint, tuple(candidates)))

    def column(self, name: str, owner: str | None = None, where: str = "") -> Column:
        """The one column that a reference fits. Exact first; then ignoring case, spaces and punctuation, with a note."""
        columns = [c for c in self.schema if owner is None or (c.owner or "").casefold() == owner.casefold()]
        tiers = (
            [c for c in columns if c.name == name],
            [c for c in columns if handle(c) == name],
            [c for c in columns if _squeezed(c.name) == _squeezed(name) != ""],
        )
        for tier, found in enumerate(tiers):
            if len(found) == 1:
                if tier == 2 and found[0].name.casefold() != name.casefold():
                    self.world.note(f"Column {name!r} was read as {found[0].name!r}.")
                return found[0]
            if len(found) > 1:
                spelled = [f"{c.owner}.{c.name}" if c.owner else c.name for c in found]
                self.refuse(
                    "ambiguous_name",
                    f"{name!r} fits {len(found)} columns: {', '.join(spelled)}.",
                    "Write the table before the name.",
                    where,
                    spelled,
                )
        through = self._through_join(name, owner, where)
        if through is not None:
            return through
        near = nearest(name, [c.name for c in self.schema])
        full = f"{owner}.{name}" if owner else name
        self.refuse(
            "no_such_column",
            f"There is no column {full!r} here.",
            did_you_mean(near) or _listing(self.schema.names),
            where,
            near,
        )

    def _through_join(self, name: str, owner: str | None, where: str) -> Column | None:
        """The kept key that a join's other key means."""
        for place, key, id in self.schema.also:
            if key.casefold() == name.casefold() and (owner is None or place.casefold() == owner.casefold()):
                return next((c for c in self.schema if c.id == id), None)
        for place, key in self.schema.lost:
            if key.casefold() == name.casefold() and (owner is None or place.casefold() == owner.casefold()):
                self.refuse(
                    "key_not_kept",
                    f"{place}.{key} is the key that the join matched on; the left key was kept.",
                    "Use the left table's key. Rows without a match are found with how 'anti'.",
                    where,
                )
        return None

    def refuse_repeats(self, names: Sequence[str], where: str = "") -> None:
        """Two columns of one name, ignoring case, are `name_taken`."""
        seen: set[str] = set()
        for name in names:
            if name.casefold() in seen:
                self.refuse(
                    "name_taken",
                    f"There would be two columns named {name!r}.",
                    "Give one of them another name with `as`.",
                    where,
                )
            seen.add(name.casefold())

    def has(self, name: str) -> bool:
        return any(c.name == name for c in self.schema)

    def pipeline(self, table: str, where: str = "") -> CheckedPipeline:
        """The let or source table of a name, to be read from its start."""
        from qa.plan.check import CheckedPipeline

        if table in self.world.lets:
            let = self.world.lets[table].schema
            return CheckedPipeline(table, table, replace(let, columns=tuple(replace(c, owner=table) for c in let)))
        source = find_source(table, self.world, where)
        return CheckedPipeline.of_source(source, self.world.prefix(source.name))


def find_source(name: str, world: World, where: str = "") -> Source:
    """The source table of a name, exact or ignoring case and punctuation."""
    if name in world.sources:
        return world.sources[name]
    alike = [s for s in world.sources if _squeezed(s) == _squeezed(name)]
    if len(alike) == 1:
        world.note(f"Table {name!r} was read as {alike[0]!r}.")
        return world.sources[alike[0]]
    known = [*world.lets, *world.sources]
    near = nearest(name, known)
    raise PlanError(
        Issue("no_such_table", where, f"There is no table {name!r}.", did_you_mean(near) or _listing(known), near)
    )


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(repr(n) for n in names[:8])
    return f"There are {shown}{' and more' if len(names) > 8 else ''}." if names else "There are none."
