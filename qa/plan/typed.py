"""Formulas after checking: every node knows its kind, its bounds and where its values come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from qa.types import Column, Kind, Role

INT64 = (-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Facets:
    """What is known of a value before it is computed. `kind` None is the bare null.

    `low`/`high` bound whole numbers (None: unknown); `unit` belongs to `role`; `zone` to a datetime.
    """

    kind: Kind | None
    nullable: bool = True
    low: int | float | None = None
    high: int | float | None = None
    role: Role | None = None
    unit: str | None = None
    zone: str | None = None

    @property
    def wide(self) -> bool:
        """True when a whole number may not fit 64 bits."""
        if self.kind is not Kind.INTEGER:
            return False
        return self.low is None or self.high is None or self.low < INT64[0] or self.high > INT64[1]


@dataclass(frozen=True)
class Typed:
    """Base of the typed nodes."""

    facets: Facets

    @property
    def kind(self) -> Kind | None:
        return self.facets.kind

    @property
    def children(self) -> tuple[Typed, ...]:
        return ()


@dataclass(frozen=True)
class Ref(Typed):
    """A column of the frame entering the step."""

    column: Column


@dataclass(frozen=True)
class Const(Typed):
    """A constant. Dates and times are Python date and datetime objects; `exact` says that a text was
    found as it stands among the column's values."""

    value: Any
    exact: bool = False


@dataclass(frozen=True)
class Apply(Typed):
    """A row function on typed arguments; literal parameters stand in `options` as Python values."""

    function: str
    args: tuple[Typed, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def children(self) -> tuple[Typed, ...]:
        return self.args


@dataclass(frozen=True)
class Members(Typed):
    """`x in [..]` or `x in let.column`. Missing x gives missing; missing items are ignored."""

    value: Typed
    items: tuple[Const, ...] = ()
    let: str | None = None
    column: Column | None = None
    exact: bool = False

    @property
    def children(self) -> tuple[Typed, ...]:
        return (self.value,)


@dataclass(frozen=True)
class Aggregate(Typed):
    """An aggregate. `by` None: over the step's own groups; a tuple: over rows alike in these columns
    (empty: all rows), broadcast to every row."""

    function: str
    args: tuple[Typed, ...]
    options: tuple[tuple[str, Any], ...] = ()
    where: Typed | None = None
    by: tuple[Ref, ...] | None = None
    order: tuple[Any, ...] = ()

    @property
    def children(self) -> tuple[Typed, ...]:
        return (*self.args, *(() if self.where is None else (self.where,)), *(self.by or ()))


@dataclass(frozen=True)
class Windowed(Typed):
    """A window function over the step's partition and order."""

    function: str
    args: tuple[Typed, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def children(self) -> tuple[Typed, ...]:
        return self.args


@dataclass(frozen=True)
class Scalar(Typed):
    """The single value of a one-row let's column; no row gives missing."""

    let: str
    column: Column


@dataclass(frozen=True)
class Output:
    """A computed column: its formula and the column it becomes."""

    typed: Typed
    column: Column
    text: str = ""

    @property
    def computed(self) -> bool:
        """False for a bare column under its own engine name, which needs no work."""
        return not (isinstance(self.typed, Ref) and self.typed.column.id == self.column.id)


@dataclass(frozen=True)
class Watch:
    """A condition whose rows are counted and told: `message` holds `{n}`."""

    message: str
    condition: Typed
    warning: bool = False


@dataclass(frozen=True)
class Guard:
    """An aggregate condition that must be false in every group; `fatal` withholds the answer, else it warns.

    `message` may hold `{n}`, the number of groups where it is true.
    """

    code: str
    message: str
    hint: str
    condition: Typed
    fatal: bool = True


@dataclass
class Ids:
    """Fresh engine names `c0, c1, …`, one series for a whole plan."""

    next: int = 0
    prefix: str = field(default="x")

    def fresh(self) -> str:
        self.next += 1
        return f"{self.prefix}{self.next}"


def walk(typed: Typed) -> Iterator[Typed]:
    """The node and everything below it."""
    yield typed
    for child in typed.children:
        yield from walk(child)


def column_of(typed: Typed, id: str, name: str) -> Column:
    """The column that a computed value becomes; a bare reference keeps where it came from."""
    if isinstance(typed, Ref):
        return replace(typed.column, id=id, name=name, owner=None)
    facets = typed.facets
    return Column(
        id=id, name=name, kind=facets.kind or Kind.TEXT, role=facets.role, unit=facets.unit, zone=facets.zone,
        nullable=facets.nullable, low=facets.low, high=facets.high, repeated=repeated(typed),
    )  # fmt: skip


def facets_of(column: Column) -> Facets:
    return Facets(column.kind, column.nullable, column.low, column.high, column.role, column.unit, column.zone)


def repeated(typed: Typed) -> bool:
    """True when every column below was repeated by a join; no column at all is not repeated."""
    columns = [node.column for node in walk(typed) if isinstance(node, Ref)]
    return bool(columns) and all(column.repeated for column in columns)
