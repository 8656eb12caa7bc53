"""What a formula turns into missing, or leaves out, is counted: which conditions are watched for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from qa.plan.literals import constant
from qa.plan.scope import Scope
from qa.plan.typed import Aggregate, Apply, Const, Facets, Guard, Members, Ref, Typed, Watch, Windowed, walk
from qa.types import Kind

TRUTH, MAYBE, COUNT = Facets(Kind.BOOLEAN, False), Facets(Kind.BOOLEAN, True), Facets(Kind.INTEGER, False, 0, 2**62)

UNDEFINED = {
    "sqrt": "{n} rows have no square root and give missing.",
    "ln": "{n} rows have no logarithm and give missing.",
    "log10": "{n} rows have no logarithm and give missing.",
    "power": "{n} rows have no such power and give missing.",
    "^": "{n} rows have no such power and give missing.",
    "exp": "{n} rows are too large for exp and give missing.",
    "number": "{n} rows cannot be read as a number and give missing.",
    "integer": "{n} rows cannot be read as a whole number and give missing.",
    "date": "{n} rows cannot be read as a date and give missing.",
    "datetime": "{n} rows cannot be read as a time and give missing.",
    "boolean": "{n} rows cannot be read as true or false and give missing.",
}
"""Row functions that have no value for some arguments, and how that is told."""

_READS_TEXT = ("number", "integer", "date", "datetime", "boolean")


def watch(scope: Scope, typed: Apply) -> None:
    """Counts the rows that a row function turns into missing; a division of aggregates, the groups."""
    divides = typed.function in ("/", "//", "%") and not isinstance(typed.args[1], Const)
    if any(isinstance(node, Windowed) for node in walk(typed)):
        return
    if any(isinstance(node, Aggregate) for node in walk(typed)):
        if divides and _by_number(typed):
            message = "{n} divisions of totals are by zero and give missing."
            scope.guards.append(Guard("zero_divisor", message, "", _is_zero(typed.args[1]), fatal=False))
        return
    match typed.function, typed.args:
        case "/" | "//" | "%", (_, divisor) if divides and _by_number(typed):
            scope.watches.append(Watch("{n} rows divide by zero and give missing.", _is_zero(divisor)))
        case "if", (condition, *_) if condition.facets.nullable:
            scope.watches.append(Watch("{n} rows have a missing condition and give missing.", _missing(condition)))
        case "case", branches if _unsure(branches):
            scope.watches.append(
                Watch("{n} rows have a missing condition and give missing.", _undecided(typed, branches))
            )
        case "bin", (value,) if dict(typed.options).get("edges"):
            scope.watches.append(Watch("{n} rows lie outside the bins and give missing.", _lost(typed, value)))
        case name, (value, *more) if name in UNDEFINED and not (
            name in _READS_TEXT and (value.kind is not Kind.TEXT or more)
        ):
            if any(not isinstance(arg, Const) for arg in typed.args):
                scope.watches.append(Watch(UNDEFINED[name], _lost(typed, *typed.args)))


def note(scope: Scope, typed: Apply) -> None:
    """What a reader must know of a function's setting or outcome: when weeks start, where quantile bins end."""
    options = dict(typed.options)
    if typed.function == "trunc" and str(options.get("unit", "")).lower().rstrip("s") == "week":
        scope.world.note(f"Weeks start on {str(options.get('week_start', 'monday')).capitalize()}.")
    if typed.function == "quantile_bin" and scope.world.probe is not None and scope.current is not None:
        here, count = {column.id for column in scope.current.schema}, int(options["n"])
        value = typed.args[0]
        if count > 20 or any(isinstance(n, Ref) and n.column.id not in here for n in walk(value)) or _windowed(value):
            return
        number = Facets(Kind.NUMBER, True)
        cuts: list[Typed] = [
            Aggregate(number, "quantile", (value,), (("q", part / count),), by=None) for part in range(count + 1)
        ]
        ends = scope.world.probe.values(scope.current, cuts, scope.world.lets)
        if ends[0] is not None:
            spans = [f"Q{place} from {low:.6g} to {high:.6g}" for place, (low, high) in enumerate(pairwise(ends), 1)]
            scope.world.note(f"{'; '.join(spans)}; a value between two belongs to the lower.")


def guard_values(scope: Scope, typed: Aggregate) -> None:
    """What an aggregate must find in each group (LANGUAGE 4): one value for `only`, one mode, known conditions."""
    match typed.function:
        case "only":
            several = Apply(TRUTH, ">", (replace(typed, function="count_distinct", facets=COUNT), constant(1)))
            none = Apply(TRUTH, "==", (replace(typed, function="count", facets=COUNT), constant(0)))
            scope.guards += [
                Guard(
                    "not_one_value",
                    "only(…) met several different values in {n} groups.",
                    "Narrow it with where=, or use min, max or mode.",
                    several,
                ),
                Guard("no_value", "only(…) found no value {n} times and gives missing.", "", none, fatal=False),
            ]
        case "mode":
            tied = Apply(TRUTH, ">", (replace(typed, function="mode_count", facets=COUNT), constant(1)))
            message = "Several values are equally frequent in {n} groups; the smallest is shown."
            scope.guards.append(Guard("tied_mode", message, "", tied, fatal=False))
        case "share_of_rows" if typed.args[0].facets.nullable and not _windowed(typed.args[0]):
            message = "{n} rows have a missing condition and are left out of the share."
            scope.watches.append(Watch(message, _missing(typed.args[0], typed.where)))


def watch_negations(scope: Scope, typed: Typed) -> None:
    """Rows that `not (…)` leaves out because what it denies is missing there."""
    for node in walk(typed):
        match node:
            case Apply(function="not", args=(Apply() | Members() as denied,)) if not _windowed(denied):
                for ref in dict.fromkeys(part for part in walk(denied) if isinstance(part, Ref)):
                    if denied.facets.nullable and ref.facets.nullable:
                        scope.left_out.append(left_out(ref))


def left_out(ref: Ref) -> Watch:
    message = f"{{n}} rows with no value in {ref.column.name} are not counted as different; they are left out."
    return Watch(message, _missing(ref), warning=True)


def _unsure(branches: tuple[Typed, ...]) -> bool:
    return any(condition.facets.nullable for condition in branches[: len(branches) // 2 * 2 : 2])


def _undecided(typed: Apply, branches: tuple[Typed, ...]) -> Typed:
    """True where a case is missing and one of its conditions is."""
    missing: Typed = constant(False)
    for condition in branches[: len(branches) // 2 * 2 : 2]:
        missing = Apply(TRUTH, "or", (missing, Apply(TRUTH, "is null", (condition,))))
    return Apply(TRUTH, "and", (Apply(TRUTH, "is null", (typed,)), missing))


def _windowed(typed: Typed) -> bool:
    return any(isinstance(node, Aggregate | Windowed) for node in walk(typed))


def _by_number(typed: Apply) -> bool:
    kind = typed.args[1].kind
    return kind is not None and kind.numeric


def _is_zero(divisor: Typed) -> Typed:
    return Apply(MAYBE, "==", (divisor, constant(0)))


def _missing(value: Typed, where: Typed | None = None) -> Typed:
    missing = Apply(TRUTH, "is null", (value,))
    return missing if where is None else Apply(MAYBE, "and", (missing, where))


def _lost(typed: Apply, *values: Typed) -> Typed:
    """True where the result is missing although every argument is there."""
    lost: Typed = Apply(TRUTH, "is null", (typed,))
    for value in values:
        if not isinstance(value, Const):
            lost = Apply(TRUTH, "and", (lost, Apply(TRUTH, "is not null", (value,))))
    return lost
