"""Questions with a form of their own: shares, differences, comparisons, correlation, distribution, existence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qa.plan.steps import STEPS
from qa.planner.offline import formula as write
from qa.planner.offline.core import NotRead
from qa.planner.offline.nodes import Filter, Node
from qa.planner.offline.query import Query
from qa.types import Column, Kind, Role

if TYPE_CHECKING:
    from qa.planner.offline.core import Grounds as Reader

FEW = 30
"""a numeric column with at most this many distinct values is counted value by value in a distribution"""


def read(reader: Reader) -> Query | None:
    """The query of a special form, or None when the question has none."""
    letters = "".join(node.letter for node in reader.row)
    for letter, form in (
        ("c", _correlation),
        ("-", _difference),
        ("%", _share),
        ("H", _distribution),
        ("E", _description),
        ("q", _existence),
        ("9", _two_columns),
        ("$", _declared_step),
    ):
        if letter in letters:
            query = form(reader, next(n for n, node in enumerate(reader.row) if node.letter == letter))
            if query is not None:
                return query
    return _versus(reader)


def _others(reader: Reader, allowed: str) -> bool:
    """True when nothing but these letters, filters and columns is left in the row, and `by` names a column."""
    if any(node.letter == "y" for node in reader.row) and not _keys(reader):
        return False
    return all(node.letter in allowed + "FCnlwsbohp&,ie" for node in reader.row)


def _columns(reader: Reader) -> list[Node]:
    return [node for node in reader.row if node.letter == "C"]


def _correlation(reader: Reader, at: int) -> Query | None:
    found = [reader.measurable(node) for node in _columns(reader)]
    if len({column.id for column in found}) < 2 or not _others(reader, "cT"):
        return None
    a, b = found[0], found[-1]
    query = reader.query
    query.filters = reader.filters
    if len({column.id for column in found}) > 2:
        names = list(dict.fromkeys(reader.name(column) for column in found))
        query.steps = [{"op": "correlate", "columns": names, "shape": "matrix"}]
        return query
    query.metrics = [(f"corr({reader.name(a)}, {reader.name(b)})", f"correlation of {a.name} and {b.name}")]
    query.notes.append("Pearson correlation over the rows where both are known")
    return query


def _two_columns(reader: Reader, at: int) -> Query | None:
    """An aggregate of two columns, such as a covariance or a slope, in the order they are named."""
    keys = _keys(reader)
    found = [reader.measurable(node) for node in _columns(reader) if node not in keys]
    if len({column.id for column in found}) != 2 or len(found) != 2 or not _others(reader, "9Tey"):
        return None
    function, query = reader.row[at].op, reader.query
    query.filters, query.keys = reader.filters, [reader.key(k) for k in keys]
    a, b = found
    said = f"{function.replace('_', ' ')} of {a.name} and {b.name}"
    query.metrics = [(f"{function}({reader.name(a)}, {reader.name(b)})", said)]
    query.notes.append(f"{function}({a.name}, {b.name}), in the order the two were named")
    return query


def _declared_step(reader: Reader, at: int) -> Query | None:
    """A step that its own words call for: it gets the columns, the groups and the number that the question names."""
    op = reader.row[at].op
    fields, keys = STEPS[op].model_fields, _keys(reader)
    numbers = [n.link.number for n in reader.row if n.letter in "N#"]
    named = [node for node in _columns(reader) if node not in keys]
    if not _others(reader, "$eyN#T") or len(numbers) > 1 or (numbers and "n" not in fields):
        return None
    if (named and "columns" not in fields) or not (named or numbers):
        return None
    query = reader.query
    step: dict[str, Any] = {"op": op, "by": [formula for formula, _ in map(reader.key, keys)]}
    if named:
        step["columns"] = list(dict.fromkeys(reader.name(reader.column(node)) for node in named))
    if numbers:
        step["n"] = int(numbers[0] or 0)
    query.filters, query.steps = reader.filters, [step]
    return query


def pivoted(query: Query, said: Node) -> Query:
    """A summary by two keys laid out as a table: the first down, the second across."""
    if len(query.keys) != 2 or not query.metrics or query.having or query.second or query.limit or query.order:
        raise NotRead(said.text)
    first, second = query.keys
    down = first[0] if first[0] == write.name(first[1]) else f"{first[0]} as {write.name(first[1])}"
    values = [f"{formula} as {write.name(name)}" for formula, name in query.metrics]
    query.steps = [*query.steps, {"op": "pivot", "by": [down], "names_from": second[0], "values": values}]
    query.keys, query.metrics = [], []
    return query


def _sides(reader: Reader, after: int) -> tuple[list[str], list[str], list[Filter]] | None:
    """Two values of one column that are set against each other: (conditions, labels, the other filters)."""
    equal = [f for f in reader.filters if f.op in ("=", "is") and f.columns]
    for f in equal:
        if len(f.sides) == 2:
            return [c for c, _ in f.sides], [label for _, label in f.sides], [g for g in reader.filters if g is not f]
    by_column: dict[str, list[Filter]] = {}
    for f in equal:
        by_column.setdefault(f.columns[0], []).append(f)
    for pair in by_column.values():
        if len(pair) == 2:
            return [p.formula for p in pair], [p.said for p in pair], [g for g in reader.filters if g not in pair]
    return None


def _difference(reader: Reader, at: int) -> Query | None:
    """`How many more women than men survived`, `the difference in population between A and B`."""
    sides = _sides(reader, at)
    if sides is None:
        return None
    conditions, labels, rest = sides
    if not _others(reader, "-2GkB"):
        return None
    query = reader.query
    query.filters = rest
    measures = [reader.measurable(n) for n in _columns(reader) if not reader.stands_for_rows(n)]
    functions = [n.op for n in reader.row if n.letter == "G"]
    if len(measures) > 1 or len(functions) > 1:
        return None
    if measures:
        name = reader.name(measures[0])
        function = functions[0] if functions else "sum" if reader.additive(measures[0]) else "only"
        a, b = (f"{function}({name}, where={c})" for c in conditions)
        query.notes.append(f"{measures[0].name} of {labels[0]} minus that of {labels[1]}")
    else:
        a, b = (f"count(where={c})" for c in conditions)
        query.notes.append(f"rows with {conditions[0]} minus rows with {conditions[1]}")
    absolute = reader.row[at].word.startswith("difference") or "difference" in reader.row[at].word
    query.metrics = [(f"abs({a} - {b})" if absolute else f"{a} - {b}", "difference")]
    if "fewer" in reader.row[at].word or "less" in reader.row[at].word:
        query.metrics = [(f"{b} - {a}", "difference")]
    return query


def _share(reader: Reader, at: int) -> Query | None:
    node = reader.row[at]
    if node.link.tag("SHARE") is None:
        return None
    keys = _keys(reader)
    measures = [n for n in _columns(reader) if n not in keys and not reader.stands_for_rows(n)]
    if not _others(reader, "%GkyT"):
        return None
    query = reader.query
    if measures and reader.linker.column(measures[0].columns[0][0]).kind.numeric:
        return _share_of_sum(reader, measures, keys)
    if measures and not keys and not reader.filters and len(measures) == 1:
        keys, measures = measures, []
    if measures or any(n.letter == "T" for n in reader.row) or (keys and reader.filters):
        return None
    if reader.filters:
        base, condition = _base_and_condition(reader, at)
        query.filters = base
        query.keys = [reader.key(k) for k in keys]
        query.metrics = [(f"share_of_rows({condition.formula})", "share")]
        said = f" among rows with {write.all_of([f.formula for f in base])}" if base else ""
        query.notes.append(f"share of rows with {condition.formula}{said}")
        return query
    if not keys:
        return None
    query.keys = [reader.key(k) for k in keys]
    query.metrics = [("count() / count(by=[])", "share")]
    query.order = ["share desc"]
    query.notes.append("share of all rows")
    return query


def _keys(reader: Reader) -> list[Node]:
    """The columns behind `by`, `each` and `per`."""
    keys = []
    for at, node in enumerate(reader.row):
        if node.letter in "ey" and at + 1 < len(reader.row):
            nxt = at + 1
            while nxt < len(reader.row) and reader.row[nxt].letter in "nlok":
                nxt += 1
            if nxt < len(reader.row) and reader.row[nxt].letter == "C":
                keys.append(reader.row[nxt])
    return keys


def _base_and_condition(reader: Reader, at: int) -> tuple[list[Filter], Filter]:
    """Splits the conditions of a share: what is counted, and among which rows."""
    places = [n for n, node in enumerate(reader.row) if node.letter == "F"]
    groups = dict(zip(places, reader.picked, strict=True))
    predicates = [p for p in places if p > at and reader.row[p - 1].letter in "bh!"]
    first_after = next((p for p in places if p > at), places[0])
    if len(places) == 1:
        chosen = places[0]
    elif predicates:
        chosen = predicates[-1]
    else:
        later = [p for p in places if p > first_after and reader.row[p - 1].letter not in "p"]
        if len(later) != 1:
            raise NotRead(reader.row[at].text)
        chosen = later[0]
    formulas = groups[chosen]
    condition = Filter(
        write.all_of([f.formula for f in formulas]), tuple(c for f in formulas for c in f.columns), formulas[0].said
    )
    return [f for p in places if p != chosen for f in groups[p]], condition


def _share_of_sum(reader: Reader, measures: list[Node], keys: list[Node]) -> Query | None:
    if len(measures) != 1:
        return None
    column = reader.measurable(measures[0])
    if not reader.additive(column):
        return None
    query, name = reader.query, reader.name(column)
    if keys and not reader.filters:
        query.keys = [reader.key(k) for k in keys]
        query.metrics = [(f"sum({name}) / sum({name}, by=[])", f"share of {column.name}")]
        query.order = [f"{write.name(f'share of {column.name}')} desc"]
    elif len(reader.filters) == 1 and not keys:
        query.metrics = [(f"sum({name}, where={reader.filters[0].formula}) / sum({name})", f"share of {column.name}")]
    else:
        return None
    query.notes.append(f"share of the total {column.name}")
    return query


def _distribution(reader: Reader, at: int) -> Query | None:
    """Counts of a category, or the summary of a number."""
    found = [reader.column(n) for n in _columns(reader) if not reader.stands_for_rows(n)]
    if any(n.letter in "GkS" for n in reader.row):
        return None if any(n.letter in "S" for n in reader.row) else _broken_down(reader, at)
    if len(found) != 1 or not _others(reader, "Hoy"):
        return None
    column = found[0]
    if column.kind.numeric and _distinct(reader, column) > FEW:
        return _describe(reader, [column])
    return _counts(reader, column)


def _broken_down(reader: Reader, at: int) -> Query | None:
    """`a breakdown of average weight by origin` is the average by origin."""
    reader.row = [n for n in reader.row if n.letter != "H"]
    return None


def _counts(reader: Reader, column: Column) -> Query:
    query = reader.query
    query.filters = reader.filters
    query.keys, query.metrics = [(reader.name(column), column.name)], [("count()", "rows")]
    query.order = ["rows desc"]
    return query


def _distinct(reader: Reader, column: Column) -> int:
    return next((p.distinct for p in reader.index.table.profile.columns if p.name == column.name), 0)


def _description(reader: Reader, at: int) -> Query | None:
    keys = _keys(reader)
    found = [reader.measurable(n) for n in _columns(reader) if n not in keys and not reader.stands_for_rows(n)]
    grouped = any(n.letter in "ey" for n in reader.row)
    if not _others(reader, "Ey") or grouped != bool(keys) or any(n.letter in "GSk" for n in reader.row):
        return None
    if keys and not {"describe", "statistics"} & set(reader.row[at].word.split()):
        # a summary by groups may be one figure a group, or all of them
        return None
    if not found and (keys or not any(n.letter in "n" for n in reader.row)):
        return None
    return _describe(reader, found, keys)


def _describe(reader: Reader, columns: list[Column], keys: Sequence[Node] = ()) -> Query:
    query = reader.query
    query.filters = reader.filters
    by = [formula for formula, _ in map(reader.key, keys)]
    query.steps = [{"op": "describe", "columns": [reader.name(c) for c in columns] or None, "by": by}]
    return query


def _existence(reader: Reader, at: int) -> Query | None:
    """`Are there any orders over 100?`"""
    if at != 0 or _columns(reader) or not reader.filters or not _others(reader, "q"):
        return None
    query = reader.query
    query.filters = reader.filters
    query.metrics = [("count() > 0", "exists"), ("count()", "rows")]
    return query


def _versus(reader: Reader) -> Query | None:
    """`Do smokers or non-smokers tip more on average?`, `which is longer, A or B?`, `compare X at lunch and dinner`."""
    compare = any(n.letter == "v" for n in reader.row)
    more = [n for n in reader.row if n.letter == "Y"]
    if not compare and not more:
        return None
    if not _others(reader, "vYG2|Tk"):
        return None
    sides = _sides(reader, 0)
    measures = [reader.measurable(n) for n in _columns(reader) if reader.linker.column(n.columns[0][0]).kind.numeric]
    if sides is None or len(measures) > 1:
        return None
    column = _side_column(reader)
    if column is None:
        return None
    functions = [n.op for n in reader.row if n.letter == "G"]
    if len(functions) > 1 or (not measures and functions):
        return None
    query = reader.query
    query.filters = reader.filters
    query.keys = [(reader.name(column), column.name)]
    if not measures:
        query.metrics = [("count()", "rows")]
    else:
        function = functions[0] if functions else "sum" if reader.additive(measures[0]) else "mean"
        query.metrics = [reader.aggregate(function, measures[0])]
        if not functions:
            query.notes.append(f"{measures[0].name} compared by its {'total' if function == 'sum' else 'average'}")
    way = "asc" if more and more[0].op == "min" else "desc"
    if more:
        query.order = [f"{write.name(query.metrics[0][1])} {way}"]
        if reader.row[0].letter == "w" and reader.row[0].op in ("who", "which", "what"):
            query.limit, query.show = 1, [write.name(column.name)]
    return query


def _side_column(reader: Reader) -> Column | None:
    for f in reader.filters:
        if len(set(f.columns)) == 1 and len(f.sides) == 2:
            return reader.linker.column(f.columns[0])
    return None


def numeric(column: Column) -> bool:
    return column.kind in (Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL) and column.role is not Role.ID
