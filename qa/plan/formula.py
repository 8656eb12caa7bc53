"""Formulas as typed nodes: text in, nodes out, and the same text back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from qa.errors import Issue, PlanError

KEYWORDS = frozenset(
    [
        "and",
        "or",
        "not",
        "in",
        "between",
        "is",
        "null",
        "true",
        "false",
        "as",
        "asc",
        "desc",
        "case",
        "when",
        "then",
        "else",
        "end",
    ]
)
MAX_LENGTH = 2_000
MAX_DEPTH = 30

COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
PRECEDENCE = {
    "or": 1, "and": 2, "not": 3,
    **dict.fromkeys([*COMPARISONS, "in", "not in", "between", "not between", "is null", "is not null"], 4),
    "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "neg": 7, "^": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Literal:
    """A number, text, true, false or null."""

    value: int | float | str | bool | None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Name:
    """A column, or `owner.name` for a column of a table or a one-row let."""

    name: str
    owner: str | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Items:
    """A list, only after `in` and as an option's value."""

    items: tuple[Node, ...]
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Call:
    """A function or an operator applied to arguments. Operators are functions with a symbol for a name."""

    function: str
    args: tuple[Node, ...]
    options: tuple[tuple[str, Node], ...] = ()
    position: int = field(default=0, compare=False)


Node = Literal | Name | Items | Call


@dataclass(frozen=True)
class Named:
    """`formula as name`; without `as` the name is the formula's text."""

    node: Node
    name: str
    explicit: bool


@dataclass(frozen=True)
class OrderKey:
    """`formula [asc|desc] [nulls first]`; missing comes last by default."""

    node: Node
    descending: bool = False
    nulls_first: bool = False


def _unquoted(token: str) -> str:
    return str(token[1:-1].replace("``", "`") if token.startswith("`") else token)


@v_args(inline=True)
class _Nodes(Transformer[Token, Any]):
    """Lark tree to nodes."""

    def formula(self, node: Node) -> Node:
        return node

    def order(self, node: Node, direction: Token | None, nulls: Token | None) -> OrderKey:
        return OrderKey(node, str(direction or "").lower() == "desc", str(nulls or "").lower().endswith("first"))

    def any_of(self, *args: Node) -> Node:
        return _fold("or", args)

    def all_of(self, *args: Node) -> Node:
        return _fold("and", args)

    def negated(self, node: Node) -> Node:
        return Call("not", (node,), position=_start(node))

    def compare(self, left: Node, operator: Token, right: Node) -> Node:
        return Call("!=" if operator == "<>" else str(operator), (left, right), position=operator.start_pos or 0)

    def equal(self, left: Node, operator: Token, right: Node) -> Node:
        return Call("==", (left, right), position=operator.start_pos or 0)

    def member(self, left: Node, group: Node) -> Node:
        return Call("in", (left, group), position=_start(left))

    def not_member(self, left: Node, group: Node) -> Node:
        return Call("not in", (left, group), position=_start(left))

    def between(self, node: Node, low: Node, high: Node) -> Node:
        return Call("between", (node, low, high), position=_start(node))

    def not_between(self, node: Node, low: Node, high: Node) -> Node:
        return Call("not", (Call("between", (node, low, high), position=_start(node)),), position=_start(node))

    def is_null(self, node: Node) -> Node:
        return Call("is null", (node,), position=_start(node))

    def is_not_null(self, node: Node) -> Node:
        return Call("is not null", (node,), position=_start(node))

    def list(self, items: tuple[Node, ...] | None = None) -> Items:
        return Items(items or (), _start(items[0]) if items else 0)

    def items(self, *nodes: Node) -> tuple[Node, ...]:
        return nodes

    def binary(self, left: Node, operator: Token, right: Node) -> Node:
        return Call(str(operator), (left, right), position=operator.start_pos or 0)

    def negative(self, sign: Token, node: Node) -> Node:
        if (
            isinstance(node, Literal)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
            and node.value > 0
        ):
            return Literal(-node.value, sign.start_pos or 0)
        return Call("neg", (node,), position=sign.start_pos or 0)

    def positive(self, sign: Token, node: Node) -> Node:
        return node

    def number(self, token: Token) -> Node:
        text = str(token)
        value = int(text) if text.isdigit() else float(text)
        return Literal(value, token.start_pos or 0)

    def text(self, token: Token) -> Node:
        quote = token[0]
        return Literal(token[1:-1].replace(quote * 2, quote), token.start_pos or 0)

    def true(self) -> Node:
        return Literal(True)

    def false(self) -> Node:
        return Literal(False)

    def null(self) -> Node:
        return Literal(None)

    def name(self, first: Token, second: Token | None) -> Node:
        if second is None:
            return Name(_unquoted(first), None, first.start_pos or 0)
        return Name(_unquoted(second), _unquoted(first), first.start_pos or 0)

    def count_rows(self, function: Token, _star: Token) -> Node:
        return Call(function.lower(), (), position=function.start_pos or 0)

    def call(self, function: Token, arguments: tuple[Node | tuple[str, Node], ...] | None) -> Node:
        given = arguments or ()
        args = tuple(arg for arg in given if not isinstance(arg, tuple))
        options = tuple(arg for arg in given if isinstance(arg, tuple))
        return Call(SPELLINGS.get(function.lower(), function.lower()), args, options, function.start_pos or 0)

    def arguments(self, *args: Any) -> tuple[Any, ...]:
        return args

    def option(self, keyword: Token, _equals: Token, value: Node) -> tuple[str, Node]:
        return str(keyword).lower(), value

    def branch(self, when: Node, then: Node) -> tuple[Node, Node]:
        return when, then

    def case(self, subject: Node | None, *rest: Any) -> Node:
        branches = [part for part in rest if isinstance(part, tuple)]
        otherwise = next((part for part in rest if part is not None and not isinstance(part, tuple)), None)
        args: list[Node] = []
        for when, then in branches:
            args += [when if subject is None else Call("==", (subject, when)), then]
        if otherwise is not None:
            args.append(otherwise)
        return Call("case", tuple(args), position=_start(args[0]))


SPELLINGS = {
    "avg": "mean", "average": "mean", "stddev": "std", "stddev_samp": "std", "stddev_pop": "std_pop", "variance": "var",
    "var_samp": "var", "nunique": "count_distinct", "max_by": "arg_max", "min_by": "arg_min", "length_of": "length",
    "len": "length", "nullif": "null_if", "substr": "substring", "iff": "if", "ifnull": "coalesce",
    "ceiling": "ceil", "pow": "power", "lcase": "lower", "ucase": "upper", "date_trunc": "trunc",
}  # fmt: skip
"""Other spellings that are accepted for a function; the language teaches one."""


def _fold(operator: str, args: Iterable[Node]) -> Node:
    first, *rest = args
    for node in rest:
        first = Call(operator, (first, node), position=_start(first))
    return first


def _start(node: Node) -> int:
    return node.position


OptionNames = Callable[[str], frozenset[str]]


class _Keywords:
    """Turns `word` into a KEYWORD token where `word =` opens an argument of a function that declares it."""

    always_accept: tuple[str, ...] = ()

    def __init__(self, options_of: OptionNames) -> None:
        self.options_of = options_of

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        tokens = list(stream)
        functions: list[str] = []
        for index, token in enumerate(tokens):
            before = tokens[index - 1] if index else None
            after = tokens[index + 1] if index + 1 < len(tokens) else None
            if token.type == "LPAR":
                functions.append(before.lower() if before is not None and before.type == "IDENT" else "")
            elif token.type == "RPAR" and functions:
                functions.pop()
            elif (
                token.type == "IDENT" and functions and before is not None and before.type in ("LPAR", "COMMA")
                and after is not None and after.type == "EQUALS"
                and token.lower() in self.options_of(SPELLINGS.get(functions[-1], functions[-1]))
            ):  # fmt: skip
                token = Token.new_borrow_pos("KEYWORD", token.value, token)
            yield token


def _declared(function: str) -> frozenset[str]:
    from qa.plan.functions import option_names

    return option_names(function)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark.open(
        "grammar.lark", rel_to=__file__, parser="lalr", lexer="basic", start=["formula", "order"],
        maybe_placeholders=True, postlex=_Keywords(_declared), propagate_positions=False,
    )  # fmt: skip


_NODES = _Nodes()


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """The nodes of a formula. Raises PlanError with the column where it stops making sense."""
    return _read(text, "formula")  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def parse_order(text: str) -> OrderKey:
    """The nodes of a sort key."""
    return _read(text, "order")  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def parse_named(text: str) -> Named:
    """`formula as name`, split at the last `as` outside brackets."""
    head, name = split_as(text)
    node = parse(head)
    return Named(node, name if name is not None else head.strip(), name is not None)


def split_as(text: str) -> tuple[str, str | None]:
    """The text before the last top-level `as`, and the name after it (None without one)."""
    cut, depth, place = None, 0, 0
    for match in re.finditer(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)+`|[()\[\]]|\bas\b", text, re.IGNORECASE):
        token, place = match.group(), match.start()
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif token.lower() == "as" and depth == 0:
            cut = (place, match.end())
    if cut is None or not text[: cut[0]].strip() or not text[cut[1] :].strip():
        return text, None
    name = text[cut[1] :].strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "`\"'":
        name = _unquoted(f"`{name[1:-1]}`")
    return text[: cut[0]].strip(), " ".join(name.split())


def _read(text: str, start: str) -> Any:
    if len(text) > MAX_LENGTH:
        raise PlanError(
            Issue(
                "formula_too_long",
                "",
                f"A formula has {len(text)} characters; {MAX_LENGTH} is the most.",
                "Split it over two derive steps.",
            )
        )
    if not text.strip():
        raise PlanError(
            Issue("empty_formula", "", "There is an empty formula.", "Write a column name or an expression.")
        )
    if _nesting(text) > MAX_DEPTH * 3:
        raise PlanError(
            Issue("formula_too_deep", "", "A formula nests too deeply.", "Split it over several derive steps.")
        )
    try:
        tree = _parser().parse(text, start=start)
        result = _NODES.transform(tree)
    except UnexpectedInput as error:
        raise PlanError(_syntax_issue(text, error)) from None
    except (VisitError, RecursionError):
        raise PlanError(Issue("formula_too_deep", "", "A formula cannot be read.", "Write it more simply.")) from None
    node = result.node if isinstance(result, OrderKey) else result
    if depth(node) > MAX_DEPTH:
        raise PlanError(
            Issue(
                "formula_too_deep",
                "",
                f"A formula nests deeper than {MAX_DEPTH} levels.",
                "Split it over several derive steps.",
            )
        )
    return result


def _nesting(text: str) -> int:
    deepest = level = 0
    for character in text:
        level += (character in "([") - (character in ")]")
        deepest = max(deepest, level)
    return deepest


def _syntax_issue(text: str, error: UnexpectedInput) -> Issue:
    column = (
        (error.pos_in_stream or 0) + 1
        if not isinstance(error, UnexpectedToken) or error.token.type != "$END"
        else len(text)
    )
    where = f"col {column}"
    if isinstance(error, UnexpectedCharacters):
        shown = text[column - 1 : column]
        return Issue(
            "syntax",
            where,
            f"The character {shown!r} does not belong in a formula.",
            "Put names that are not plain words in backticks.",
        )
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return Issue(
            "syntax",
            where,
            f"The formula {text!r} stops too early.",
            "Close every bracket and quote, and finish the last operator.",
        )
    if token is not None and token.type in ("COMPARE", "EQUALS"):
        return Issue("syntax", where, "Comparisons do not chain.", "Write `a < b and b < c`.")
    if token is not None and token.type.lstrip("_").lower() in KEYWORDS:
        return Issue(
            "syntax",
            where,
            f"The word {str(token)!r} is a keyword of the language here.",
            f"For a column of that name write `{token}` in backticks.",
        )
    return Issue(
        "syntax",
        where,
        f"{str(token)!r} is not expected here in {text!r}.",
        "Put names that are not plain words in backticks, text in single quotes.",
    )


def depth(node: Node) -> int:
    """How deeply a formula nests; a chain of `and`, `or`, `+` counts once."""
    match node:
        case Call("and" | "or" | "+" as function, (left, right)):
            chained = isinstance(left, Call) and left.function == function
            return max(depth(left) if chained else 1 + depth(left), 1 + depth(right))
        case Call():
            inner = [*node.args, *(value for _, value in node.options)]
            return 1 + max((depth(arg) for arg in inner), default=0)
        case Items():
            return 1 + max((depth(item) for item in node.items), default=0)
        case _:
            return 1


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    match node:
        case Call():
            for arg in (*node.args, *(value for _, value in node.options)):
                yield from walk(arg)
        case Items():
            for item in node.items:
                yield from walk(item)


def quoted_name(name: str) -> str:
    """A name as a formula spells it: bare when it can be, in backticks otherwise."""
    plain = re.fullmatch(r"[^\W\d]\w*", name) is not None and name.lower() not in KEYWORDS
    return name if plain else "`" + name.replace("`", "``") + "`"


def quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def format(node: Node) -> str:
    """The text of a formula; parsing it gives the same nodes."""
    match node:
        case Literal(None):
            return "null"
        case Literal(bool() as value):
            return "true" if value else "false"
        case Literal(str() as value):
            return quoted_text(value)
        case Literal(value):
            return _number(value)
        case Name(name, None):
            return quoted_name(name)
        case Name(name, owner):
            return f"{quoted_name(owner or '')}.{quoted_name(name)}"
        case Items(items):
            return f"[{', '.join(format(item) for item in items)}]"
        case Call():
            return _format_call(node)
    raise TypeError(node)


def _number(value: Any) -> str:
    return repr(value)


def _format_call(call: Call) -> str:
    level = PRECEDENCE.get(call.function)

    def operand(node: Node, tighter: bool) -> str:
        text = format(node)
        own = PRECEDENCE.get(node.function, 9) if isinstance(node, Call) else 7 if _negative(node) else 9
        return text if own > (level or 0) or (own == level and not tighter) else f"({text})"

    match call.function, call.args:
        case ("neg", (arg,)):
            inner = format(arg)
            loose = (isinstance(arg, Call) and PRECEDENCE.get(arg.function, 9) < 7) or isinstance(arg, Literal)
            return f"-({inner})" if loose else f"-{inner}"
        case ("not", (arg,)):
            return f"not {operand(arg, False)}"
        case ("is null" | "is not null" as function, (arg,)):
            return f"{operand(arg, True)} {function}"
        case ("between", (arg, low, high)):
            return f"{operand(arg, True)} between {operand(low, True)} and {operand(high, True)}"
        case ("in" | "not in" as function, (arg, group)):
            return f"{operand(arg, True)} {function} {format(group)}"
        case ("^", (base, power)):
            return f"{operand(base, True)}^{operand(power, False) if not _negative(power) else format(power)}"
        case ("case", args):
            pairs = "".join(f" when {format(args[i])} then {format(args[i + 1])}" for i in range(0, len(args) - 1, 2))
            return f"case{pairs}{f' else {format(args[-1])}' if len(args) % 2 else ''} end"
        case (function, (left, right)) if level is not None:
            tight_left = level == 4
            return f"{operand(left, tight_left)} {function} {operand(right, True)}"
    given = [format(arg) for arg in call.args] + [f"{name}={format(value)}" for name, value in call.options]
    return f"{call.function}({', '.join(given)})"


def _negative(node: Node) -> bool:
    return (
        isinstance(node, Literal)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
        and node.value < 0
    )
