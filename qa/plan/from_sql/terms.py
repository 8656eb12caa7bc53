"""SQL expressions as formulas."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from qa.plan.formula import quoted_name, quoted_text
from qa.plan.from_sql.scope import Names, cannot
from qa.types import Kind

if TYPE_CHECKING:
    from qa.plan.from_sql.query import Translator

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%", exp.And: "and", exp.Or: "or",
    exp.EQ: "==", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.Pow: "^",
}  # fmt: skip
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "sum", exp.Avg: "mean", exp.Min: "min", exp.Max: "max", exp.Median: "median", exp.Stddev: "std", exp.StddevSamp: "std",
    exp.StddevPop: "std_pop", exp.Variance: "var", exp.VariancePop: "var_pop", exp.Corr: "corr", exp.First: "first", exp.Last: "last",
    exp.AnyValue: "first", exp.LogicalAnd: "all", exp.LogicalOr: "any", exp.ArgMax: "arg_max", exp.ArgMin: "arg_min",
}  # fmt: skip
FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Abs: "abs", exp.Lower: "lower", exp.Upper: "upper", exp.Length: "length", exp.Floor: "floor", exp.Ceil: "ceil", exp.Sqrt: "sqrt",
    exp.Exp: "exp", exp.Ln: "ln", exp.Coalesce: "coalesce", exp.Nullif: "null_if", exp.Greatest: "greatest", exp.Least: "least",
    exp.Sign: "sign", exp.Year: "year", exp.Month: "month", exp.Day: "day", exp.Quarter: "quarter", exp.Week: "week", exp.Trim: "trim",
}  # fmt: skip
STRFTIME = {
    "%Y": "text(year({d}))",
    "%m": "substring(text(100 + month({d})), 2)",
    "%d": "substring(text(100 + day({d})), 2)",
    "%H": "substring(text(100 + hour({d})), 2)",
    "%M": "substring(text(100 + minute({d})), 2)",
    "%S": "substring(text(100 + second({d})), 2)",
    "%w": "text(weekday({d}) % 7)",
}
"""The pieces of a strftime format, each as a formula that gives text."""
JULIAN = "(2451544.5 + date_diff(datetime('2000-01-01 00:00:00'), {d}, 'second') / 86400)"
"""SQLite's day number of a moment, from a day whose number is known."""

DATE_SPELLINGS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y",
    "%d-%b-%y", "%d-%b-%Y", "%B %d %Y",
)  # fmt: skip
"""Spellings of a date literal that are read as the date."""


def is_aggregate(node: exp.Expr) -> bool:
    return (
        isinstance(node, (exp.Count, exp.GroupConcat, *AGGREGATES))
        and not isinstance(node.parent, exp.Window)
        and not _scalar_extreme(node)
    )


def _scalar_extreme(node: exp.Expr) -> bool:
    """SQLite's max(a, b) is no aggregate."""
    return isinstance(node, exp.Max | exp.Min) and bool(node.expressions)


class Terms:
    """Writes expressions of one query as formula text."""

    def __init__(self, names: Names, translator: Translator) -> None:
        self.names = names
        self.translator = translator

    def __call__(self, node: exp.Expr) -> str:
        held = self.names.computed.get(node.sql())
        if held is not None:
            return quoted_name(held)
        for kind, write in self.writers().items():
            if isinstance(node, kind):
                return write(node)
        if is_aggregate(node):
            return self.aggregate(node)
        if type(node) in BINARY:
            return self.binary(node)
        if type(node) in FUNCTIONS:
            args = (
                [node.this, *node.expressions]
                if node.args.get("expression") is None
                else [node.this, node.expression, *node.expressions]
            )
            return f"{FUNCTIONS[type(node)]}({', '.join(self(arg) for arg in args if arg is not None)})"
        cannot(f"{node.sql()!r} has no counterpart in the plan language.")

    def writers(self) -> dict[type[exp.Expr], Callable[[exp.Expr], str]]:
        return {
            exp.Paren: lambda n: f"({self(n.this)})",
            exp.Column: self.column,
            exp.Literal: self.literal,
            exp.Boolean: lambda n: "true" if n.this else "false",
            exp.Null: lambda n: "null",
            exp.Neg: lambda n: f"-{self(n.this)}",
            exp.Not: self.negation,
            exp.Is: lambda n: (
                f"{self(n.this)} is null"
                if isinstance(n.expression, exp.Null)
                else f"{self(n.this)} == {self(n.expression)}"
            ),
            exp.Between: self.between,
            exp.In: self.member,
            exp.Like: self.like,
            exp.ILike: self.like,
            exp.Div: lambda n: f"{self.operand(n.this)} / {self.operand(n.expression)}",
            exp.IntDiv: lambda n: f"{self.operand(n.this)} // {self.operand(n.expression)}",
            exp.Case: self.case,
            exp.If: lambda n: (
                f"if({self(n.this)}, {self(n.args['true'])}{', ' + self(n.args['false']) if n.args.get('false') else ''})"
            ),
            exp.Cast: self.cast,
            exp.Round: lambda n: (
                f"round({self(n.this)}{', ' + n.args['decimals'].sql() if n.args.get('decimals') else ''})"
            ),
            exp.Substring: self.substring,
            exp.DPipe: self.joined,
            exp.Concat: lambda n: f"concat({', '.join(self(e) for e in n.expressions)})",
            exp.Subquery: self.scalar,
            exp.Exists: self.exists,
            exp.Max: self.extreme,
            exp.Min: self.extreme,
            exp.TimeToStr: self.strftime,
            exp.Extract: lambda n: f"{str(n.this.name).lower()}({self(n.expression)})",
            exp.CurrentDate: lambda n: "today()",
            exp.Anonymous: self.anonymous,
        }

    # ---- pieces ----

    def column(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Column)
        found = self.names.find(node)
        if found is not None:
            return self.names.text(*found)
        if not node.table and node.name.casefold() in self.names.aliases:
            return quoted_name(self.names.aliases[node.name.casefold()])
        quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
        if quoted and not node.table:
            return quoted_text(node.name)  # SQLite and MySQL read "text" that is no column as text
        cannot(f"There is no column {node.sql()!r}.", "", "no_such_column")

    def kind(self, node: exp.Expr) -> Kind | None:
        """The kind of a bare column, or of what a query computed; None when not known."""
        if isinstance(node, exp.Paren):
            return self.kind(node.this)
        if isinstance(node, exp.Column) and (found := self.names.find(node)) is not None:
            return found[1].kind
        held = self.names.computed.get(node.sql())
        if held is not None and held in self.names.kinds:
            return self.names.kinds[held]
        if isinstance(node, exp.Count | exp.Avg | exp.Sum):
            return Kind.NUMBER
        if isinstance(node, exp.Max | exp.Min):
            return self.kind(node.this)
        return None

    def literal(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Literal)
        return quoted_text(node.name) if node.is_string else node.name

    def binary(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Binary)
        left, right = node.this, node.expression
        if isinstance(node, exp.And | exp.Or):
            return (
                f"({self(left)} {BINARY[type(node)]} {self(right)})"
                if isinstance(node, exp.Or)
                else f"{self(left)} and {self(right)}"
            )
        if isinstance(node, COMPARISONS):
            return self.comparison(node)
        return f"{self.operand(left)} {BINARY[type(node)]} {self.operand(right)}"

    def operand(self, node: exp.Expr) -> str:
        text = self(node)
        return (
            f"({text})"
            if isinstance(node, exp.Binary | exp.Case)
            and not isinstance(node, exp.Paren)
            and not text.startswith("case")
            and " " in text
            else text
        )

    def comparison(self, node: exp.Binary) -> str:
        left, right, symbol = node.this, node.expression, BINARY[type(node)]
        if isinstance(left, exp.Literal) and not isinstance(right, exp.Literal):
            left, right, symbol = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(symbol, symbol)
        if isinstance(right, exp.Literal) or (isinstance(right, exp.Neg) and isinstance(right.this, exp.Literal)):
            return self.against(left, symbol, right)
        if (
            isinstance(right, exp.Column)
            and self.names.find(right) is None
            and isinstance(right.this, exp.Identifier)
            and right.this.quoted
        ):
            return self.against(left, symbol, exp.Literal.string(right.name))
        a, b = self.kind(left), self.kind(right)
        if {a, b} >= {Kind.TEXT} and a != b and a is not None and b is not None and (a.numeric or b.numeric):
            sides = [
                f"number({self(side)})" if kind is Kind.TEXT else self(side) for side, kind in ((left, a), (right, b))
            ]
            return f"{sides[0]} {symbol} {sides[1]}"
        return f"{self.operand(left)} {symbol} {self.operand(right)}"

    def against(self, left: exp.Expr, symbol: str, right: exp.Expr) -> str:
        """A comparison with a constant, the constant spelled in the kind of the other side."""
        kind, text = self.kind(left), self(left)
        value = right.name if isinstance(right, exp.Literal) else self(right)
        stringy = isinstance(right, exp.Literal) and right.is_string
        if kind is not None and kind.numeric and stringy:
            number = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", value.replace(",", ""))
            return f"{text} {symbol} {number[1]}" if number else f"text({text}) {symbol} {quoted_text(value)}"
        if kind is Kind.BOOLEAN:
            return self.truth(text, symbol, value)
        if kind is Kind.TEXT and not stringy:
            return f"number({text}) {symbol} {value}"
        if kind in (Kind.DATE, Kind.DATETIME) and stringy:
            return f"{text} {symbol} {quoted_text(_iso(value))}"
        if kind in (Kind.DATE, Kind.DATETIME):
            return f"year({text}) {symbol} {value}"
        return f"{self.operand(left)} {symbol} {self(right)}"

    def truth(self, text: str, symbol: str, value: str) -> str:
        word = value.strip().casefold()
        if word in ("1", "1.0", "t", "true", "yes", "y"):
            return text if symbol == "==" else f"not {text}"
        if word in ("0", "0.0", "f", "false", "no", "n"):
            return f"not {text}" if symbol == "==" else text
        return f"text({text}) {symbol} {quoted_text(value)}"

    def negation(self, node: exp.Expr) -> str:
        inner = node.this.this if isinstance(node.this, exp.Paren) else node.this
        match inner:
            case exp.Is() if isinstance(inner.expression, exp.Null):
                return f"{self(inner.this)} is not null"
            case exp.In():
                return self.member(inner, negated=True)
            case exp.Exists():
                return self.exists(inner, negated=True)
        return f"not ({self(node.this)})"

    def between(self, node: exp.Expr) -> str:
        low, high = node.args["low"], node.args["high"]
        return f"({self.comparison(exp.GTE(this=node.this.copy(), expression=low))} and {self.comparison(exp.LTE(this=node.this.copy(), expression=high))})"

    def member(self, node: exp.Expr, negated: bool = False) -> str:
        word = "not in" if negated else "in"
        if node.args.get("query") is not None:
            let, column = self.translator.column_let(node.args["query"])
            return f"{self.same_kind(node.this, let, column)} {word} {let}.{quoted_name(column)}"
        kind, text = self.kind(node.this), self(node.this)
        if kind is Kind.TEXT and all(isinstance(item, exp.Literal) for item in node.expressions):
            items = [quoted_text(item.name) for item in node.expressions]
        elif kind is not None and kind.numeric:
            items = [item.name if isinstance(item, exp.Literal) else self(item) for item in node.expressions]
        else:
            items = [self(item) for item in node.expressions]
        return f"{text} {word} [{', '.join(items)}]"

    def same_kind(self, node: exp.Expr, let: str, column: str) -> str:
        kind, other = self.kind(node), self.translator.let_kind(let, column)
        text = self(node)
        if kind is not None and other is not None and kind != other:
            if kind is Kind.TEXT and other.numeric:
                return f"number({text})"
            if other is Kind.TEXT and kind.numeric:
                return f"text({text})"
        return text

    def like(self, node: exp.Expr) -> str:
        if not isinstance(node.expression, exp.Literal):
            if (
                isinstance(node.expression, exp.Column)
                and node.expression.this.quoted
                and self.names.find(node.expression) is None
            ):
                pattern = node.expression.name
            else:
                cannot("LIKE needs a written-out pattern.")
        else:
            pattern = node.expression.name
        kind, text = self.kind(node.this), self(node.this)
        text = text if kind in (Kind.TEXT, None) else f"text({text})"
        inner = pattern.strip("%")
        if "%" in inner or "_" in inner:
            regex = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
            return f"matches({text}, {quoted_text(f'(?is)^{regex}$')})"
        match pattern.startswith("%"), pattern.endswith("%") and len(pattern) > 1:
            case True, True:
                return f"contains({text}, {quoted_text(inner)})"
            case False, True:
                return f"starts_with({text}, {quoted_text(inner)})"
            case True, False:
                return f"ends_with({text}, {quoted_text(inner)})"
        return f"matches({text}, {quoted_text(f'(?i)^{re.escape(inner)}$')})"

    def case(self, node: exp.Expr) -> str:
        subject = node.this
        branches = []
        for branch in node.args["ifs"]:
            condition = branch.this if subject is None else exp.EQ(this=subject.copy(), expression=branch.this)
            branches.append(f"when coalesce({self(condition)}, false) then {self(branch.args['true'])}")
        default = f" else {self(node.args['default'])}" if node.args.get("default") else ""
        return f"case {' '.join(branches)}{default} end"

    def cast(self, node: exp.Expr) -> str:
        to = node.args["to"].this
        names = {
            **dict.fromkeys((exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT), "integer"),
            **dict.fromkeys((exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE, exp.DataType.Type.DECIMAL), "number"),
            **dict.fromkeys((exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR, exp.DataType.Type.CHAR), "text"),
            exp.DataType.Type.DATE: "date", exp.DataType.Type.TIMESTAMP: "datetime", exp.DataType.Type.DATETIME: "datetime", exp.DataType.Type.BOOLEAN: "boolean",
        }  # fmt: skip
        if to not in names:
            cannot(f"A cast to {node.args['to'].sql()} has no counterpart.")
        return f"{names[to]}({self(node.this)})"

    def substring(self, node: exp.Expr) -> str:
        start, length = node.args.get("start"), node.args.get("length")
        if start is None or not isinstance(start, exp.Literal):
            cannot("SUBSTR needs a start counted from 1.")
        return f"substring({self(node.this)}, {self(start)}{', ' + self(length) if length is not None else ''})"

    def joined(self, node: exp.Expr) -> str:
        return f"concat({self(node.this)}, {self(node.expression)})"

    def scalar(self, node: exp.Expr) -> str:
        return self.translator.scalar_let(node.this, self.names)

    def exists(self, node: exp.Expr, negated: bool = False) -> str:
        cannot("EXISTS stands only at the top of WHERE.", "Write x IN (SELECT …).")

    def extreme(self, node: exp.Expr) -> str:
        if _scalar_extreme(node):
            name = "greatest" if isinstance(node, exp.Max) else "least"
            return f"{name}({', '.join(self(arg) for arg in (node.this, *node.expressions))})"
        return self.aggregate(node)

    def aggregate(self, node: exp.Expr) -> str:
        inner = node.this
        distinct = isinstance(inner, exp.Distinct)
        if isinstance(node, exp.Count):
            if distinct:
                return f"count_distinct({', '.join(self(e) for e in inner.expressions)})"
            return "count()" if isinstance(inner, exp.Star | exp.Literal) or inner is None else f"count({self(inner)})"
        if distinct:
            if isinstance(node, exp.Min | exp.Max):
                return f"{AGGREGATES[type(node)]}({self(inner.expressions[0])})"
            cannot(f"{node.sql()} adds up different values only.", "Use distinct before a summarize step.")
        if isinstance(node, exp.GroupConcat):
            separator = node.args.get("separator")
            return f"string_agg({self(inner)}, {self(separator) if separator is not None else quoted_text(',')})"
        argument = self(inner)
        if isinstance(node, exp.Sum | exp.Avg) and self.kind(inner) is Kind.TEXT:
            argument = f"number({argument})"
        if isinstance(node, exp.Corr | exp.ArgMax | exp.ArgMin):
            argument = f"{argument}, {self(node.expression)}"
        if isinstance(node, exp.Sum) and isinstance(inner, exp.Column) and (self.kind(inner) or Kind.TEXT).numeric:
            argument = self.translator.addable(argument, self.names.find(inner))
        return f"{AGGREGATES[type(node)]}({argument})"

    def strftime(self, node: exp.Expr) -> str:
        format = node.args["format"].name
        value = node.this
        while isinstance(value, exp.Cast | exp.TsOrDsToTimestamp | exp.TsOrDsToDate):
            value = value.this
        pieces = [piece for piece in re.split(r"(%.)", format) if piece]
        unknown = [piece for piece in pieces if piece.startswith("%") and piece not in STRFTIME]
        if unknown or not pieces:
            cannot(f"strftime with {format!r} has no counterpart.", "Use year(d), month(d) or day(d).")
        moment = self.moment(value)
        texts = [STRFTIME[piece].format(d=moment) if piece in STRFTIME else quoted_text(piece) for piece in pieces]
        return texts[0] if len(texts) == 1 else f"concat({', '.join(texts)})"

    def moment(self, value: exp.Expr) -> str:
        """A date or a time, which SQLite keeps as text."""
        return f"datetime({self(value)})" if self.kind(value) in (Kind.TEXT, Kind.DATE) else self(value)

    def anonymous(self, node: exp.Expr) -> str:
        name = str(node.this).lower()
        if name in ("strftime",) and len(node.expressions) == 2:
            return self.strftime(exp.TimeToStr(this=node.expressions[1], format=node.expressions[0]))
        if name == "julianday" and len(node.expressions) == 1:
            return JULIAN.format(d=self.moment(node.expressions[0]))
        cannot(f"The function {name} has no counterpart in the plan language.")


def _iso(value: str) -> str:
    """A date literal in ISO form where Python can read it, else as it is."""
    text = value.strip()
    for pattern in DATE_SPELLINGS:
        try:
            moment = dt.datetime.strptime(text, pattern)
        except ValueError:
            continue
        return text if pattern.endswith("%S") else moment.date().isoformat()
    return text
