"""A plan as a runnable Polars script: the same lowering that runs, written down instead of run.

The steps and functions lower to Polars through the module name `pl`. Here that name stands for a recorder,
so every call they make becomes source text; no operation needs a third lowering.
"""

from __future__ import annotations

import ast
import datetime as dt
import inspect
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import polars

from qa.engine.polars_engine import PolarsEngine, needs_row, needs_row_inside, ordered_rows
from qa.plan.check import CheckedPart, CheckedPipeline, CheckedPlan
from qa.plan.functions import scipy_numbers
from qa.plan.polars_terms import PolarsTerms
from qa.plan.typed import Members, Scalar, Typed
from qa.types import ROW, Schema

_RECORDING = threading.Lock()
_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "pow": "**",
}  # fmt: skip


NAMING = frozenset(
    [
        "col",
        "alias",
        "drop",
        "with_row_index",
        "group_by",
        "sort",
        "select",
        "rename",
        "unique",
        "explode",
        "struct",
        "join",
        "join_asof",
        "over",
        "unpivot",
        "pivot",
        "with_columns",
        "drop_nulls",
        "concat",
    ]
)
"""Polars calls whose text arguments are column names."""


class NoScript(Exception):
    """This plan cannot be written as a script; the text says why."""


@dataclass(frozen=True, eq=False)
class Code:
    """Source text of a value. Attributes, calls and operators give more source text."""

    text: str
    names: Mapping[str, str]
    atom: bool = True

    def __getattr__(self, name: str) -> Code:
        if name.startswith("__"):
            raise AttributeError(name)
        return Code(f"{self.closed}.{name}", self.names)

    def __call__(self, *args: Any, **kwargs: Any) -> Code:
        given = [self.shown(arg) for arg in args] + [f"{key}={self.shown(value)}" for key, value in kwargs.items()]
        return Code(f"{self.text}({', '.join(given)})", self.names)

    def __getitem__(self, key: Any) -> Code:
        return Code(f"{self.closed}[{self.shown(key)}]", self.names)

    def __invert__(self) -> Code:
        return Code(f"~{self.closed}", self.names, atom=False)

    def __neg__(self) -> Code:
        return Code(f"-{self.closed}", self.names, atom=False)

    def __bool__(self) -> bool:
        raise NoScript("a step looks at values while it is lowered")

    def __iter__(self) -> Iterator[Any]:
        raise NoScript("a step looks at rows while it is lowered")

    @property
    def closed(self) -> str:
        return self.text if self.atom else f"({self.text})"

    def shown(self, value: Any) -> str:
        """A Python value as source; engine names become the user's."""
        match value:
            case Code():
                return value.text
            case bool() | None:
                return repr(value)
            case str():
                return repr(self.names.get(value, value) if self.names_follow() else value)
            case list() | tuple():
                inner = ", ".join(self.shown(item) for item in value)
                return f"[{inner}]"
            case dict():
                return "{" + ", ".join(f"{self.shown(k)}: {self.shown(v)}" for k, v in value.items()) + "}"
            case dt.datetime() | dt.date() | dt.time() | dt.timedelta():
                return "dt." + repr(value).removeprefix("datetime.")
            case int() | float():
                return repr(value)
            case scipy_numbers.EachRow(function=function, given=given):
                return f"EachRow({function.__name__}, {tuple(given)!r})"
        if getattr(value, "__module__", "") == scipy_numbers.__name__:
            return str(value.__name__)
        return _type(value)

    def names_follow(self) -> bool:
        """True where a text argument is a column's name, not a value."""
        before, _, method = self.text.rpartition(".")
        return (method in NAMING and not before.endswith(".str")) or self.text.isidentifier()


def _type(value: Any) -> str:
    if isinstance(value, polars.DataType) or (isinstance(value, type) and issubclass(value, polars.DataType)):
        text = repr(value)
        return f"pl.{text}" if "(" in text or text in dir(polars) else f"pl.{value.__name__}"  # type: ignore[union-attr]
    raise NoScript(f"a step hands over a {type(value).__name__}")


def _binary(symbol: str, turned: bool = False) -> Any:
    def operate(self: Code, other: Any) -> Code:
        right = other.closed if isinstance(other, Code) else self.shown(other)
        left, right = (right, self.closed) if turned else (self.closed, right)
        return Code(f"{left} {symbol} {right}", self.names, atom=False)

    return operate


for _name, _symbol in _OPERATORS.items():
    setattr(Code, f"__{_name}__", _binary(_symbol))
    if _name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Code, f"__r{_name}__", _binary(_symbol, turned=True))


class Recorder(ModuleType):
    """Stands for the module `polars`: types and exceptions are real, everything that builds is source text."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__("pl")
        self.__dict__["names"] = names

    def __getattr__(self, name: str) -> Any:
        real = getattr(polars, name)
        if name in ("Expr", "LazyFrame", "DataFrame", "exceptions", "DataType") or name.startswith("_"):
            return real
        return Code(f"pl.{name}", self.__dict__["names"])


@contextmanager
def recording(names: Mapping[str, str]) -> Iterator[Recorder]:
    """Inside, every module of the plan room lowers to source text."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(("qa.plan.", "qa.engine.polars_engine"))
        and module is not scipy_numbers
        and getattr(module, "pl", None) is polars
    ]
    recorder = Recorder(names)
    with _RECORDING:
        try:
            for module in modules:
                module.pl = recorder  # type: ignore[attr-defined]
            yield recorder
        finally:
            for module in modules:
                module.pl = polars  # type: ignore[attr-defined]


@dataclass
class CodeTerms(PolarsTerms):
    """Terms whose lets are variables of the script."""

    recorder: Any = None

    def __call__(self, typed: Typed) -> Any:
        if isinstance(typed, Scalar):
            rows = Code(typed.let, self.recorder.names)
            return self.recorder.lit(Code(f"{rows[typed.column.id].text}.first()", self.recorder.names))
        return super().__call__(typed)

    def members(self, members: Members) -> Any:
        if members.let is None:
            return super().members(members)
        assert members.column is not None
        items = Code(members.let, self.recorder.names)[members.column.id]
        value: Any = self.plain(members.value)
        return value.is_in(Code(f"{items.text}.drop_nulls().unique().implode()", self.recorder.names))


class Script(PolarsEngine):
    """Writes pipelines as statements, a step a line, each after a comment that says what it does."""

    def __init__(self, plan: CheckedPlan, recorder: Recorder) -> None:
        self.lets = plan.lets
        self.recorder: Any = recorder
        self.terms = CodeTerms(self.let_rows, recorder=recorder)
        self.lines: list[str] = []
        self._scanned: set[str] = set()

    @property
    def names(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.recorder.names
        return found

    def variable(self, name: str) -> Code:
        return Code(name, self.names)

    def pipeline(self, pipeline: CheckedPipeline) -> Any:
        if not pipeline.steps:
            return self.start(pipeline, needs_row(pipeline))
        name = f"joined_{len(self.lines)}"
        self.written(pipeline, name, needs_row(pipeline))
        return self.variable(name)

    def start(self, pipeline: CheckedPipeline, rows: bool) -> Any:
        if pipeline.let is not None:
            return Code(f"{pipeline.let}.lazy()", self.names)
        scan = Code(f"pl.scan_parquet({pipeline.source + '.parquet'!r})", self.names)
        moved = {c.name: self.names[c.id] for c in pipeline.start if self.names[c.id] != c.name}
        scan = Code(f"{scan.text}.rename({moved!r})", self.names) if moved else scan
        return scan.with_row_index(ROW).with_columns(self.recorder.col(ROW).cast(self.recorder.Int64)) if rows else scan

    def written(self, pipeline: CheckedPipeline, name: str, rows: bool) -> None:
        self.lines.append(f"{name} = {self.start(pipeline, rows).text}")
        for step in pipeline.steps:
            frame: Any = step.polars(self.variable(name), self)  # type: ignore[arg-type]
            self.lines.append(f"# {step.describe()}")
            if frame.text != name:
                self.lines.append(f"{name} = {frame.text}")


def script(plan: CheckedPlan, part: int = 0) -> str:
    """One part of a plan as a Polars script. It reads each table from NAME.parquet, the table as it was read,
    under its display names, and leaves the rows in `result`. Raises NoScript where that cannot be done."""
    checked = plan.parts[part]
    with recording(script_names(plan, checked)) as recorder:
        writer = Script(plan, recorder)
        for let, pipeline in plan.lets.items():
            writer.written(pipeline, let, needs_row(pipeline) or needs_row_inside(pipeline))
            rows: Any = ordered_rows(writer.variable(let), pipeline)  # type: ignore[arg-type]
            writer.lines.append(f"{let} = {rows.collect().text}")
        writer.written(checked.pipeline, "result", needs_row(checked.pipeline))
        writer.lines += _ending(writer, checked)
    return "\n".join([*_opening(writer.lines), *writer.lines, "print(result)", ""])


def _opening(lines: Sequence[str]) -> list[str]:
    """What stands above the steps: the imports that they need, and the functions that Polars lacks."""
    carried = carried_sources("\n".join(lines))
    imports = [
        *(["from __future__ import annotations", ""] if carried else []),
        *(["import datetime as dt"] if any("dt.date" in line or "dt.time" in line for line in lines) else []),
        *(["from collections.abc import Callable", "from dataclasses import dataclass", "from typing import Any"] if carried else []),
    ]  # fmt: skip
    return [*imports, *([""] if imports and imports[-1] else []), "import polars as pl", "", *carried]


def carried_sources(text: str) -> list[str]:
    """The source of the functions of `scipy_numbers` that a text names, with those that they name in turn."""
    source = inspect.getsource(scipy_numbers)
    found = {
        str(getattr(node, "name", None) or getattr(getattr(node, "targets", [None])[0], "id", "")): node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)
    }
    wanted: set[str] = set()
    waiting = [name for name in found if re.search(rf"\b{name}\b", text)]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [n.id for n in ast.walk(found[name]) if isinstance(n, ast.Name) and n.id in found]
    pieces: list[str] = []
    for name, node in found.items():
        if name in wanted:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            pieces += [*source.splitlines()[first - 1 : node.end_lineno], "", ""]
    return pieces


def _ending(writer: Script, checked: CheckedPart) -> list[str]:
    frame: Any = writer.variable("result")
    for output in checked.outputs:
        frame = frame.with_columns(writer.terms(output.typed).alias(output.column.id))
    frame = ordered_rows(frame, checked.pipeline)
    columns = []
    for column, header in zip(checked.shown, checked.headers, strict=True):
        source = writer.recorder.col(column.id)
        columns.append(
            source
            if writer.names.get(column.id, column.id) == header
            else Code(f"{source.text}.alias({header!r})", writer.names)
        )
    return [f"result = {frame.select(columns).collect().text}"]


def script_names(plan: CheckedPlan, part: CheckedPart) -> dict[str, str]:
    """Engine names to names a reader knows: the display name where it is unique, with a number where not."""
    taken: dict[str, str] = dict.fromkeys(("p", "q", "n0", "h0", "h1", "h2", "kept", "row number"), "")
    names: dict[str, str] = {}
    for schema in _schemas(plan, part):
        for column in schema.columns:
            if column.id in names:
                continue
            name, count = column.name, 2
            if taken.get(name.casefold(), column.id) != column.id and column.owner:
                name = f"{column.owner}.{column.name}"
            while taken.get(name.casefold(), column.id) != column.id:
                name, count = f"{column.name} ({count})", count + 1
            taken[name.casefold()] = column.id
            names[column.id] = name
    return names | {ROW: "row number"}


def _schemas(plan: CheckedPlan, part: CheckedPart) -> Iterator[Schema]:
    for pipeline in (*plan.lets.values(), part.pipeline):
        yield pipeline.start
        for step in pipeline.steps:
            yield step.after
            for other in getattr(step, "reads", ()):
                yield from (other.start, *(inner.after for inner in other.steps))
    yield replace(part.shown)
