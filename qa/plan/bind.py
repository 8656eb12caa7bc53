"""Formulas against a scope: every name found, every kind checked, every aggregate given its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn

from qa.errors import PlanError
from qa.plan import formula as f
from qa.plan.functions import FUNCTIONS, WINDOWED
from qa.plan.functions.table import Call, Function, Param
from qa.plan.literals import constant, together, written_moment
from qa.plan.scope import Scope, did_you_mean, nearest
from qa.plan.special import SPECIAL, kind_words
from qa.plan.typed import Aggregate, Apply, Const, Ref, Scalar, Typed, Windowed, facets_of, repeated, walk
from qa.plan.watches import guard_values, note, watch
from qa.types import ROW, Kind, Order, Role

Mode = Literal["row", "metric", "window"]

UNSUMMABLE = {
    Role.PERCENT: "a percentage", Role.RATE: "a rate", Role.ID: "an identifier", Role.YEAR: "a year", Role.BALANCE: "a balance, which does not add up over time",
}  # fmt: skip

HINTS = {
    "log": "Use ln(x) for the natural logarithm or log10(x).",
    "cumsum": "Use running_sum(x) in a window step.",
    "mode_of": "Use mode(x).",
    "percentile": "Use quantile(x, 0.9).",
    "iff": "Use if(condition, a, b).",
    "like": "Use contains(x, 'part'), starts_with or ends_with.",
    "year_of": "Use year(d).",
}
"""Names that people try, with what the language has instead."""


@dataclass
class Binder:
    """Types the nodes of one step's formulas.

    mode `row`: aggregates are broadcast. mode `metric`: a name outside an aggregate is a key or an earlier
    metric (`outer`), inside one an input column. mode `window`: window functions are allowed too.
    """

    scope: Scope
    mode: Mode = "row"
    outer: Mapping[str, Typed] = field(default_factory=dict)
    by_time: bool = False
    inside: bool = False
    ordered_by: tuple[Order, ...] | None = None
    partition: tuple[Ref, ...] = ()
    keyed: bool = True
    """False in a summarize without keys, where all rows are the group itself"""

    def formula(self, text: str, where: str = "") -> Typed:
        """The typed formula of a text, tried first as an exact column name."""
        try:
            if self.mode == "metric" and text in self.outer:
                return self.outer[text]
            if self.scope.has(text) and self.mode != "metric":
                return self.name(f.Name(text))
            return self.bind(f.parse(text))
        except PlanError as error:
            raise error.at(where) from None

    def boolean(self, text: str, where: str = "") -> Typed:
        typed = self.formula(text, where)
        if typed.kind is not Kind.BOOLEAN:
            self.scope.refuse(
                "wrong_kind",
                f"{text!r} must be true or false, but it is {kind_words(typed)}.",
                "Write a comparison such as x > 0.",
                where,
            )
        return typed

    def bind(self, node: f.Node) -> Typed:
        try:
            match node:
                case f.Literal(value):
                    return constant(value)
                case f.Name():
                    return self.name(node)
                case f.Items():
                    self.scope.refuse(
                        "misplaced_list", "A list stands only after `in` or as an option.", "Write x in ['a', 'b']."
                    )
                case f.Call():
                    return self.call(node)
        except PlanError as error:
            place = f"col {node.position + 1}" if node.position else ""
            raise PlanError(issue if issue.where else replace(issue, where=place) for issue in error.issues) from None
        raise TypeError(node)

    # ---- names ----

    def name(self, node: f.Name) -> Typed:
        if (
            node.owner is not None
            and node.owner in self.scope.world.lets
            and not any(c.owner == node.owner for c in self.scope.schema)
        ):
            return self.let_value(node)
        if self.mode == "metric" and not self.inside:
            return self.outside(node)
        column = self.scope.column(node.name, node.owner)
        return Ref(facets_of(column), column)

    def let_value(self, node: f.Name) -> Typed:
        let = self.scope.world.lets[node.owner or ""]
        column = Scope(let.schema, self.scope.world).column(node.name)
        if not let.schema.one_row:
            self.scope.refuse(
                "not_one_row",
                f"The let {node.owner!r} may hold several rows, so {node.owner}.{node.name} is not one value.",
                "Write x in let.column, or end the let with a summarize without by, or limit 1.",
            )
        return Scalar(replace(facets_of(column), nullable=True), node.owner or "", column)

    def outside(self, node: f.Name) -> Typed:
        if node.name in self.outer and node.owner is None:
            return self.outer[node.name]
        alike = [name for name in self.outer if name.casefold() == node.name.casefold()]
        if len(alike) == 1:
            return self.outer[alike[0]]
        named = self.scope.world.metrics.get(node.name)
        if named is not None and node.owner is None and not self.scope.has(node.name):
            return self.bind(f.parse(named))
        column = self.scope.column(node.name, node.owner)
        self.scope.refuse(
            "not_grouped",
            f"{column.name!r} is neither a key nor an aggregate.",
            f"Add it to `by`, or use only({f.quoted_name(column.name)}).",
        )

    # ---- calls ----

    def call(self, node: f.Call) -> Typed:
        special = SPECIAL.get(node.function)
        if special is not None:
            return special(self, node)
        function = (WINDOWED.get(node.function) if self.mode == "window" else None) or FUNCTIONS.get(node.function)
        if function is None:
            self.unknown(node.function)
        match function.family:
            case "aggregate":
                return self.aggregate(function, node)
            case "window":
                if self.mode != "window":
                    self.scope.refuse(
                        "misplaced_window", f"{node.function} needs an order of rows.", "Use it in a window step."
                    )
                return self.windowed(function, node)
        args, options = self.arguments(function, node, self.bind)
        args = self.coerced(function, args)
        if function.name in ("date", "datetime") and not options and isinstance(args[0], Const):
            moment = written_moment(function.name, args[0].value)
            if moment is not None:
                return constant(moment)
        call = Call(args, options, self.scope.schema.most_rows)
        typed = Apply(function.gives(call), function.name, args, tuple(options.items()))
        self.bins_stand_alone(typed)
        watch(self.scope, typed)
        note(self.scope, typed)
        return typed

    def unknown(self, name: str) -> NoReturn:
        if name in WINDOWED:
            self.scope.refuse("misplaced_window", f"{name} needs an order of rows.", "Use it in a window step.")
        near = nearest(name, [n for n in (*FUNCTIONS, *WINDOWED) if n[0].isalpha()])
        self.scope.refuse(
            "no_such_function",
            f"There is no function {name!r}.",
            HINTS.get(name) or did_you_mean(near),
            candidates=near,
        )

    def arguments(
        self, function: Function, node: f.Call, bind: Callable[[f.Node], Typed]
    ) -> tuple[tuple[Typed, ...], dict[str, Any]]:
        """Bound arguments in order, and literal options by name; counts and kinds checked."""
        given = dict(node.options)
        args: list[Typed] = []
        options: dict[str, Any] = {}
        for index, param in enumerate(function.params):
            if param.many:
                args += [self.checked(function, param, bind(arg)) for arg in node.args[index:]]
                if not node.args[index:]:
                    self.wrong_count(function)
                break
            value = node.args[index] if index < len(node.args) else given.pop(param.name, None)
            if value is None:
                if not param.optional:
                    self.wrong_count(function)
                if param.literal and param.default is not None:
                    options[param.name] = param.default
            elif param.literal:
                options[param.name] = self.literal(function, param, value)
            else:
                args.append(self.checked(function, param, bind(value)))
        if len(node.args) > len(function.params) and not any(p.many for p in function.params):
            self.wrong_count(function)
        for param in function.options:
            value = given.pop(param.name, None)
            if value is not None:
                options[param.name] = self.literal(function, param, value)
            elif param.default is not None:
                options[param.name] = self.scope.world.clock.week_start if param.name == "week_start" else param.default
        unknown = [name for name in given if not (function.family == "aggregate" and name in ("where", "by"))]
        if unknown:
            self.scope.refuse(
                "no_such_option", f"{function.name} has no option {unknown[0]!r}.", f"It is {function.signature}."
            )
        return tuple(args), options

    def wrong_count(self, function: Function) -> None:
        self.scope.refuse(
            "wrong_arguments",
            f"{function.name} is given the wrong number of arguments.",
            f"It is {function.signature}.",
        )

    def literal(self, function: Function, param: Param, node: f.Node) -> Any:
        match node:
            case f.Items(items) if param.accepts == "any":
                return tuple(self.literal(function, param, item) for item in items)
            case f.Literal(value):
                kind = constant(value).kind
                if param.kinds is not None and kind not in param.kinds:
                    self.scope.refuse(
                        "wrong_kind",
                        f"{param.name} of {function.name} must be {param.accepts}, not {f.format(node)}.",
                        f"It is {function.signature}.",
                    )
                return value
            case _:
                self.scope.refuse(
                    "not_a_literal",
                    f"{param.name} of {function.name} must be written out, not computed.",
                    f"It is {function.signature}.",
                )

    def checked(self, function: Function, param: Param, typed: Typed) -> Typed:
        kinds = param.kinds
        if typed.kind is None or kinds is None or typed.kind in kinds:
            return typed
        if typed.kind is Kind.TEXT and isinstance(typed, Const) and param.accepts in ("day", "clock"):
            from qa.plan.literals import as_moment

            moment = as_moment(typed.value)
            if moment is not None:
                return constant(moment)
        what = repr(typed.column.name) if isinstance(typed, Ref) else "this value"
        self.scope.refuse(
            "wrong_kind",
            f"{function.name} cannot take {what}, which holds {kind_words(typed)}.",
            _alternatives(function, typed.kind, what),
        )

    def coerced(self, function: Function, args: tuple[Typed, ...]) -> tuple[Typed, ...]:
        """Branches and choices that mix dates with ISO text become dates."""
        if function.name not in ("least", "greatest", "coalesce", "if", "case", "null_if"):
            return args
        moments = [arg for arg in args if arg.kind in (Kind.DATE, Kind.DATETIME)]
        if not moments:
            return args
        model = next((arg for arg in moments if not isinstance(arg, Const)), moments[0])
        written = (Kind.TEXT, Kind.DATETIME) if model.facets.zone else (Kind.TEXT,)
        return tuple(
            together(self.scope, model, arg)[1] if isinstance(arg, Const) and arg.kind in written else arg
            for arg in args
        )

    # ---- aggregates ----

    def aggregate(self, function: Function, node: f.Call) -> Typed:
        if self.mode == "metric" and self.inside and not any(name == "by" for name, _ in node.options):
            self.scope.refuse(
                "nested_aggregate",
                f"{function.name} stands inside another aggregate.",
                "Compute it in an earlier step, or give it by=[] for the value over all rows.",
            )
        inner = replace(self, inside=True)
        args, options = inner.arguments(function, node, inner.bind)
        given = dict(node.options)
        where = None
        if "where" in given:
            where = inner.bind(given["where"])
            if where.kind is not Kind.BOOLEAN:
                self.scope.refuse(
                    "wrong_kind",
                    f"where= of {function.name} must be true or false.",
                    "Write a comparison such as where=x > 0.",
                )
        by = self.group(given.get("by"))
        self.guard(function, args)
        call = Call(args, options, self.scope.schema.most_rows)
        order = self.order() if function.ordered else ()
        typed = Aggregate(function.gives(call), function.name, args, tuple(options.items()), where, by, order)
        self.guards(typed)
        return typed

    def bins_stand_alone(self, typed: Apply) -> None:
        """Bins that look at all rows neither stand in an aggregate nor take one: no engine nests the two."""
        inside = self.inside or self.mode == "metric"
        if of_all_rows(typed) and (inside or any(isinstance(n, Aggregate | Windowed) for n in walk(typed))):
            self.scope.refuse(
                "nested_aggregate",
                f"{typed.function} looks at all rows, which an aggregate beside it does too.",
                "Derive one of them in a step of its own.",
            )

    def group(self, node: f.Node | None) -> tuple[Ref, ...] | None:
        if node is None:
            return None if self.mode == "metric" and not self.inside else self.partition
        items = node.items if isinstance(node, f.Items) else (node,)
        if not items and not self.keyed and not self.inside:
            return None
        if self.mode != "metric":
            bound = [self.bind(item) for item in items]
        else:
            bound = [self.outside(item) if isinstance(item, f.Name) else self.bind(item) for item in items]
        refs = tuple(item for item in bound if isinstance(item, Ref))
        if len(refs) != len(bound):
            self.scope.refuse(
                "bad_option", "by= takes columns, not formulas.", "Derive the formula first, then name it in by=."
            )
        return refs

    def order(self) -> tuple[Order, ...]:
        self.scope.uses_order = True
        return self.ordered_by if self.ordered_by is not None else self.scope.schema.order

    def guard(self, function: Function, args: tuple[Typed, ...]) -> None:
        """Sums of what does not add, and sums over rows that a join repeated, are refused."""
        if (
            function.sums
            and args
            and args[0].facets.role in UNSUMMABLE
            and not (args[0].facets.role is Role.BALANCE and self.by_time)
        ):
            what = repr(args[0].column.name) if isinstance(args[0], Ref) else "This"
            unit = UNSUMMABLE[args[0].facets.role]
            self.scope.refuse(
                "unsummable_role",
                f"{what} is {unit}; a {function.name} of it means nothing.",
                "Use mean, median or a weighted mean; additive(x) overrides this.",
            )
        if (
            not function.exempt
            and args
            and all(repeated(arg) for arg in args if not isinstance(arg, Const))
            and any(not isinstance(arg, Const) for arg in args)
        ):
            self.scope.refuse(
                "fan_out", f"{function.name} would count values several times, because a join repeated their rows.",
                "Summarize before the join, or start from the other table and join this one to it.",
            )  # fmt: skip

    def guards(self, typed: Aggregate) -> None:
        guard_values(self.scope, typed)
        for node in walk(typed):
            if isinstance(node, Apply) and node.function == "additive" and node.args:
                name = node.args[0].column.name if isinstance(node.args[0], Ref) else "a value"
                self.scope.world.note(f"{name} is added up although its role says that it does not add.")

    def windowed(self, function: Function, node: f.Call) -> Typed:
        args, options = self.arguments(function, node, self.bind)
        if any(of_all_rows(part) for arg in args for part in walk(arg)):
            self.scope.refuse(
                "nested_aggregate",
                f"{function.name} cannot take bins that look at all rows.",
                "Derive them in an earlier step.",
            )
        self.scope.uses_order = True
        return Windowed(
            function.gives(Call(args, options, self.scope.schema.most_rows)),
            function.name,
            args,
            tuple(options.items()),
        )


def of_all_rows(typed: Typed) -> bool:
    """True for a row function whose result hangs on the other rows too: bins by their spread."""
    if not isinstance(typed, Apply):
        return False
    return typed.function == "quantile_bin" or (
        typed.function == "bin" and dict(typed.options).get("count") is not None
    )


def _alternatives(function: Function, kind: Kind, what: str) -> str:
    if function.family != "aggregate":
        casts = {Kind.TEXT: "number(x) or date(x) reads text.", Kind.NUMBER: "text(x) makes it text."}
        return casts.get(kind, f"It is {function.signature}.")
    fits = [
        row.name for row in FUNCTIONS.values()
        if row.family == "aggregate" and len([p for p in row.params if not p.optional]) <= 1 and row.params and (row.params[0].kinds is None or kind in (row.params[0].kinds or ()))
    ]  # fmt: skip
    return f"On {kind} you can use {', '.join(fits[:8])}."


def needs_row(orders: tuple[Order, ...]) -> bool:
    return any(order.id == ROW for order in orders)
