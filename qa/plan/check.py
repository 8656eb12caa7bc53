"""The checker: a reply against tables gives a checked plan, or every issue at once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from qa.errors import Issue, PlanError
from qa.plan.plan import Chart, Let, Part, PlanReply
from qa.plan.scope import Clock, Probe, Scope, World, find_source
from qa.plan.steps.select import choose
from qa.plan.steps.step import CheckedStep, Step
from qa.plan.typed import Output
from qa.types import ROW, Order, Schema, Source

MAX_PRODUCED = 200
"""Columns that steps may add to a table."""


@dataclass(frozen=True)
class CheckedPipeline:
    """A table or let, and the checked steps over it. `source` names a table when `let` is None."""

    source: str
    let: str | None
    start: Schema
    steps: tuple[CheckedStep, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.steps[-1].after if self.steps else self.start

    @staticmethod
    def of_source(source: Source, prefix: str = "") -> CheckedPipeline:
        """A table before any step. `prefix` keeps engine names of several tables apart."""
        columns = tuple(
            replace(c, id=prefix + c.id, owner=source.name, origin=(source.name, c.id), repeated=False)
            for c in source.columns
        )
        keys = tuple(frozenset({c.id}) for c in columns if c.unique and not c.nullable)
        return CheckedPipeline(
            source.name, None, Schema(columns, order=(Order(ROW),), hidden=(ROW,), keys=keys, most_rows=source.rows)
        )


@dataclass(frozen=True)
class CheckedPart:
    """One checked sub-question. `outputs` are columns that `show` computes, `shown` those of the answer."""

    part: Part
    pipeline: CheckedPipeline
    shown: Schema
    headers: tuple[str, ...]
    outputs: tuple[Output, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def chart(self) -> Chart | None:
        return self.part.chart


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that fits its tables. `lets` are in order; each sees the ones before."""

    reply: PlanReply
    parts: tuple[CheckedPart, ...]
    lets: Mapping[str, CheckedPipeline]
    clock: Clock
    notes: tuple[str, ...] = field(default=())


def today_clock(zone: str = "UTC", week_start: str = "monday") -> Clock:
    """The clock of this moment in a zone."""
    from zoneinfo import ZoneInfo

    return Clock(dt.datetime.now(ZoneInfo(zone)).date(), zone, week_start)


def check(
    reply: PlanReply,
    sources: Mapping[str, Source],
    *,
    clock: Clock | None = None,
    probe: Probe | None = None,
    metrics: Mapping[str, str] | None = None,
) -> CheckedPlan:
    """The checked plan, with the schema after every step. Raises PlanError with all issues.

    `sources` are the tables by name, `clock` decides relative periods, `probe` measures join keys on data
    (without it a join whose key is not known to be unique counts as many), `metrics` are named formulas.
    """
    world = World(sources, clock or today_clock(), probe, metrics=metrics or {})
    issues: list[Issue] = []
    for index, let in enumerate(reply.lets):
        try:
            world.lets[let.name] = _check_let(let, world)
        except PlanError as error:
            issues += error.at(f"lets[{index}]").issues
    parts: list[CheckedPart] = []
    if not issues:
        for index, part in enumerate(reply.parts):
            try:
                parts.append(_check_part(part, world))
            except PlanError as error:
                issues += error.at(f"parts[{index}]").issues
    if issues:
        raise PlanError(issues)
    return CheckedPlan(reply, tuple(parts), dict(world.lets), world.clock, tuple(world.notes))


def _check_let(let: Let, world: World) -> CheckedPipeline:
    if not let.name.isidentifier():
        raise PlanError(Issue("bad_name", "name", f"{let.name!r} is not a plain word.", "Name lets like big_brands."))
    if let.name in world.lets or let.name in world.sources:
        raise PlanError(
            Issue("name_taken", "name", f"There is already a table or let named {let.name!r}.", "Choose another name.")
        )
    return pipeline(let.source, let.steps, world)


def _check_part(part: Part, world: World) -> CheckedPart:
    noted = len(world.notes)
    checked = pipeline(part.source, part.steps, world)
    outputs: tuple[Output, ...] = ()
    columns = list(checked.schema.columns)
    if part.show:
        outputs, columns = choose(Scope(checked.schema, world), part.show, "show")
    shown = replace(checked.schema, columns=tuple(columns))
    return CheckedPart(part, checked, shown, headers(shown), outputs, tuple(world.notes[noted:]))


def headers(schema: Schema) -> tuple[str, ...]:
    """Bare names, `owner.name` where two shown columns share one."""
    folded = [column.name.casefold() for column in schema]
    shown = [f"{c.owner}.{c.name}" if folded.count(c.name.casefold()) > 1 and c.owner else c.name for c in schema]
    seen: dict[str, int] = {}
    unique = []
    for header in shown:
        seen[header] = seen.get(header, 0) + 1
        unique.append(header if seen[header] == 1 else f"{header} ({seen[header]})")
    return tuple(unique)


def pipeline(source: str, steps: Sequence[Step], world: World) -> CheckedPipeline:
    """The steps of one let or part, each against the schema that the one before gives."""
    start = _start(source, world)
    current, made = start, 0
    for index, step in enumerate(steps):
        scope = Scope(current.schema, world)
        scope.current = current
        try:
            checked = step.check(scope)
        except PlanError as error:
            raise error.at(f"steps[{index}]") from None
        made += _produced(checked)
        if made > MAX_PRODUCED:
            raise PlanError(
                Issue(
                    "too_many_columns",
                    f"steps[{index}]",
                    f"This would make {made} new columns; {MAX_PRODUCED} are the most.",
                    "Choose fewer columns or values.",
                )
            )
        current = replace(current, steps=(*current.steps, checked))
    return current


def _produced(checked: CheckedStep) -> int:
    """Columns that a step computes; those that it only brings in from another table do not count."""
    if checked.step.op in ("join", "union"):
        return 0
    there = {column.id for column in checked.before}
    return sum(column.id not in there for column in checked.after)


def _start(source: str, world: World) -> CheckedPipeline:
    if source in world.lets:
        return CheckedPipeline(source, source, _of_let(world.lets[source].schema, source))
    found = find_source(source, world, "source")
    return CheckedPipeline.of_source(found, world.prefix(found.name))


def _of_let(schema: Schema, let: str) -> Schema:
    return replace(schema, columns=tuple(replace(c, owner=let) for c in schema))
