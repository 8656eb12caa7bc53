"""Which chart fits a result: by what its columns are, how many rows it has, and what was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qa.answer.answer import AnswerColumn
from qa.answer.chart.sight import CATEGORIES, SERIES, SLICES, Field, Sight, sight_of
from qa.answer.chart.spec import ChartSpec, Kind
from qa.answer.chart.tiles import are_states
from qa.answer.formats import words
from qa.answer.shape import Measure
from qa.types import Role

# --- every chart that fits, best first ---------------------------------------------------------------------------------


def candidates(sight: Sight) -> list[ChartSpec]:
    """Every chart that fits, the best first, one of each kind."""
    if sight.table.height == 0 or not sight.measures:
        return []
    found: dict[str, ChartSpec] = {}
    for spec in _fitting(sight):
        found.setdefault(spec.kind, spec)
    return list(found.values())


def _fitting(sight: Sight) -> Iterator[ChartSpec]:
    if sight.shape.special:
        return _special(sight)
    if sight.table.height == 1 and sight.total_rows == 1:
        return _one_row(sight)
    match len(sight.dims):
        case 0:
            return _no_dimension(sight)
        case 1:
            return _one_dimension(sight, sight.dims[0])
        case 2:
            return _two_dimensions(sight)
        case _:
            return _many_dimensions(sight)


def _special(sight: Sight) -> Iterator[ChartSpec]:
    if sight.shape.special == "correlate" and {"column_a", "column_b", "r"} <= set(sight.table.columns):
        if sight.table.height >= 3:
            made = sight.spec("heatmap", "column_a", ["column_b"], "r")
            yield replace(made, title="Correlations", x_title="", y_title="")
        elif sight.table.height == 1:
            yield sight.spec("value", None, ["r"])
    elif sight.shape.special == "correlate" and sight.table.columns[0] == "column" and sight.table.height >= 2:
        made = sight.spec("heatmap", "column", sight.table.columns[1:])
        yield replace(made, title="Correlations", x_title="", y_title="")


_EARLIER = re.compile(r"(^|[_ ])(previous|prior|before|last|earlier|baseline|old)([_ ]|$)", re.IGNORECASE)


def _one_row(sight: Sight) -> Iterator[ChartSpec]:
    first = sight.measures[0]
    alike = sight.alike(first)
    earlier = [measure for measure in alike[1:] if _EARLIER.search(measure.name)]
    label = sight.dims[0].name if sight.dims else None
    if len(sight.measures) == 1 or earlier:
        yield sight.spec("value", None, [first.name], compare=earlier[0].name if earlier else None, label=label)
    if 2 <= len(alike) <= CATEGORIES and not label:
        yield sight.spec("bar", None, [measure.name for measure in alike])


def _no_dimension(sight: Sight) -> Iterator[ChartSpec]:
    first = sight.measures[0].name
    if len(sight.measures) >= 2 and sight.table.height >= 3:
        yield sight.spec("scatter", first, [sight.measures[1].name])
    if sight.table.height >= 8:
        yield sight.spec("histogram", None, [first])
        yield sight.spec("box", None, [first])


def _one_dimension(sight: Sight, dim: Field) -> Iterator[ChartSpec]:
    if not dim.unique:
        return _repeated(sight, dim)
    if dim.is_time or dim.is_scale:
        return _along(sight, dim)
    return _by_category(sight, dim)


def _repeated(sight: Sight, dim: Field) -> Iterator[ChartSpec]:
    """Raw rows that share their category or date."""
    first = sight.measures[0].name
    if len(sight.measures) >= 2 and not dim.is_time:
        color = dim.name if dim.distinct <= SERIES else None
        yield sight.spec("scatter", first, [sight.measures[1].name], color, label=dim.name)
    if dim.is_time:
        yield sight.spec("scatter", dim.name, [first])
    if sight.table.height >= 3 * dim.distinct and dim.distinct <= CATEGORIES:
        yield sight.spec("box", dim.name, [first])
    if not dim.is_time:
        yield sight.spec("bar", dim.name, [first])
    if sight.table.height >= 8:
        yield sight.spec("histogram", None, [first])


def _along(sight: Sight, dim: Field) -> Iterator[ChartSpec]:
    """One value per point of time, or of a scale."""
    first = sight.measures[0]
    alike = sight.alike(first)[:SERIES]
    names = [measure.name for measure in alike]
    line = sight.spec("line", dim.name, names)
    bar = sight.spec("bar", dim.name, [first.name])
    few = sight.table.height < 3 or bool(sight.shape.rank and sight.shape.limit)
    yield from (bar, line) if few else (line, bar)
    if all(measure.additive for measure in alike) and not few:
        yield sight.spec("area", dim.name, names)
    if len(names) > 1 and sight.table.height <= 12:
        yield sight.spec("grouped_bar", dim.name, names)
    yield sight.spec("scatter", dim.name, [first.name])
    if sight.table.height >= 20:
        yield sight.spec("histogram", None, [first.name])


def _by_category(sight: Sight, dim: Field) -> Iterator[ChartSpec]:
    first = sight.measures[0]
    alike = sight.alike(first)[:SERIES]
    names = [measure.name for measure in alike]
    bar = sight.spec("bar", dim.name, [first.name])
    several = [sight.spec("grouped_bar", dim.name, names)] if len(names) > 1 else []
    listed = not sight.shape.grouped and len(sight.measures) >= 2 and sight.table.height > CATEGORIES
    scatter = [sight.spec("scatter", m.name, [sight.measures[0].name], label=dim.name) for m in sight.measures[1:2]]
    if listed and not sight.shape.rank:
        yield from scatter
    if are_states(dim.values) and sight.table.height > CATEGORIES and not sight.shape.rank:
        yield sight.spec("map", dim.name, [first.name])
    if sight.table.height >= 2:
        yield from several
        yield bar
    if len(names) > 1 and all(measure.additive for measure in alike):
        yield sight.spec("stacked_bar", dim.name, names)
    if _is_whole(sight, dim, first):
        yield sight.spec("pie", dim.name, [first.name])
    if dim.is_ordered and sight.table.height >= 3:
        yield sight.spec("line", dim.name, names)
    if are_states(dim.values) and sight.table.height >= 5:
        yield sight.spec("map", dim.name, [first.name])
    if len(names) > 2:
        yield sight.spec("heatmap", dim.name, names)
    yield from scatter
    if dim.column.kind.numeric:
        yield sight.spec("scatter", dim.name, [first.name])
    if sight.table.height >= 20:
        yield sight.spec("histogram", None, [first.name])


def _is_whole(sight: Sight, dim: Field, measure: Measure) -> bool:
    """Parts of one whole: few, none negative or missing, sums or shares, and all of them there."""
    values = sight.table[measure.name]
    column = sight.columns[measure.name]
    share = column.role is Role.PERCENT and column.unit in ("fraction", "percent")
    whole = 1.0 if column.unit == "fraction" else 100.0
    if values.null_count() or sight.table.height < sight.total_rows or not 2 <= sight.table.height <= 2 * SLICES:
        return False
    low, total = float(values.cast(pl.Float64).min() or 0), float(values.cast(pl.Float64).sum())  # type: ignore[arg-type]
    if low < 0 or total <= 0 or sight.shape.partial:
        return False
    return measure.additive or (share and abs(total - whole) < 0.02 * whole)


def _two_dimensions(sight: Sight) -> Iterator[ChartSpec]:
    first, second = sight.dims
    measure = sight.measures[0]
    alone = [dim for dim in sight.dims if dim.unique]
    if alone and not sight.shape.grouped:
        # Rows as they are: one column names each row, the other only describes it.
        return _one_dimension(sight, next((dim for dim in alone if dim.is_time), alone[0]))
    if not _one_row_each(sight, (first.name, second.name)):
        return _many_dimensions(sight)
    if first.is_time or first.is_scale or second.is_time or second.is_scale:
        along, split = (first, second) if first.is_time or first.is_scale else (second, first)
        return _lines(sight, along, split, measure)
    return _crossed(sight, first, second, measure)


def _one_row_each(sight: Sight, keys: Sequence[str]) -> bool:
    return pl.DataFrame([sight.table[key] for key in keys]).n_unique() == sight.table.height


def _lines(sight: Sight, along: Field, split: Field, measure: Measure) -> Iterator[ChartSpec]:
    y = [measure.name]
    if along.distinct >= 3:
        yield sight.spec("line", along.name, y, split.name)
    if along.distinct <= CATEGORIES and split.distinct <= SERIES:
        stacked = [sight.spec("stacked_bar", along.name, y, split.name)] if measure.additive else []
        yield from stacked
        yield sight.spec("grouped_bar", along.name, y, split.name)
    if measure.additive and along.distinct >= 3:
        yield sight.spec("area", along.name, y, split.name)
    yield sight.spec("heatmap", along.name, [split.name], measure.name)
    if along.distinct < 3:
        yield sight.spec("line", along.name, y, split.name)


def _crossed(sight: Sight, first: Field, second: Field, measure: Measure) -> Iterator[ChartSpec]:
    wide, narrow = (first, second) if first.distinct >= second.distinct else (second, first)
    y = [measure.name]
    heatmap = sight.spec("heatmap", wide.name, [narrow.name], measure.name)
    if narrow.distinct > SERIES:
        yield heatmap
    bars: list[Kind] = ["stacked_bar", "grouped_bar"] if measure.additive else ["grouped_bar"]
    for kind in bars:
        yield sight.spec(kind, wide.name, y, narrow.name)
    yield heatmap
    for along, split in ((first, second), (second, first)):
        if along.is_ordered and along.distinct >= 3:
            yield sight.spec("line", along.name, y, split.name)


def _many_dimensions(sight: Sight) -> Iterator[ChartSpec]:
    """Rows with several categories: only what needs no category, or one to colour by."""
    names = [measure.name for measure in sight.measures]
    few = [dim for dim in sight.dims if dim.distinct <= SERIES and not dim.is_time]
    named = max(sight.dims, key=lambda dim: dim.distinct)
    if sight.shape.rank and named.unique and sight.table.height <= CATEGORIES:
        yield sight.spec("bar", named.name, names[:1])
    if len(names) >= 2 and sight.table.height >= 3:
        yield sight.spec("scatter", names[0], [names[1]], few[0].name if few else None, label=named.name)
    if named.unique and not sight.shape.grouped:
        yield sight.spec("bar", named.name, names[:1])
    times = [dim for dim in sight.dims if dim.is_time]
    if times:
        yield sight.spec("scatter", times[0].name, names[:1], few[0].name if few else None)
    if few and sight.table.height >= 3 * few[0].distinct and not sight.shape.grouped:
        yield sight.spec("box", few[0].name, names[:1])
    if sight.table.height >= 8 and not sight.shape.grouped:
        yield sight.spec("histogram", None, names[:1])


# --- what was asked for ------------------------------------------------------------------------------------------------

_WORDS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    (r"\bpie\b|\bdonut\b|\bdoughnut\b", ("pie", "bar")),
    (r"\bheat ?maps?\b", ("heatmap",)),
    (r"\bbox ?plots?\b|\bbox chart\b|\bwhisker", ("box",)),
    (r"\bscatter|\bdot plot", ("scatter",)),
    (r"\bstack(ed|ing)?\b", ("stacked_bar", "area")),
    (r"\bgroup(ed|ing)? bar|\bside[- ]by[- ]side", ("grouped_bar", "bar")),
    (r"\barea (chart|plot|graph)", ("area", "line")),
    (r"\bline\b|\blines\b(?=.*(chart|plot|graph))|\bline (chart|plot|graph)", ("line",)),
    (r"\bbars?\b|\bcolumn chart", ("bar", "grouped_bar", "stacked_bar")),
    (r"\bhistogram", ("histogram", "bar")),
    (r"\bmap\b|\bchoropleth", ("map",)),
    (r"\btrends?\b|\bover time\b|\bover the years\b|\bevolution\b|\btime series\b", ("line",)),
    (r"\bproportions?\b|\bshares? of\b|\bpercentages? of\b|\bbreakdown\b|\bcomposition\b|\bmake-?up of\b", ("pie",)),
    (r"\bcorrelat|\brelationship\b|\bversus\b|\bvs\.?\b|\bagainst\b", ("scatter",)),
    (r"\bdistribution\b|\bspread\b", ("histogram", "box")),
)

ALIASES: Mapping[str, Kind] = {
    "column": "bar",
    "columns": "bar",
    "barh": "bar",
    "horizontal_bar": "bar",
    "grouped bar": "grouped_bar",
    "stacked bar": "stacked_bar",
    "stacked": "stacked_bar",
    "donut": "pie",
    "hist": "histogram",
    "boxplot": "box",
    "number": "value",
    "indicator": "value",
    "choropleth": "map",
    "lines": "line",
    "points": "scatter",
}


def choose(
    columns: Sequence[AnswerColumn],
    table: pl.DataFrame,
    plan: Mapping[str, Any],
    total_rows: int,
    *,
    question: str = "",
    kind: str | None = None,
) -> ChartSpec | None:
    """The chart of a result, or None where a table or a sentence says it better.

    `kind` is a person's choice among `alternatives` and wins where it fits; then the plan's hint where it fits; then
    a chart that the question names; then what the columns' kinds, roles and counts make clearest.
    """
    sight = sight_of(columns, table, plan, total_rows)
    fitting = candidates(sight)
    hint = plan.get("chart") if isinstance(plan.get("chart"), Mapping) else {}
    wanted = kind or str((hint or {}).get("kind") or "")
    if wanted and not (kind is None and wanted in ("none", "table")):
        named = ALIASES.get(wanted.lower(), wanted.lower())
        for seen in (sight, _with_ids(sight)):
            hinted = _hinted(seen, candidates(seen), named, hint or {})
            if hinted:
                return hinted
    if wanted in ("none", "table"):
        return None
    for spec in _asked(fitting, question):
        return spec
    return None if _is_a_listing(sight) or not fitting else fitting[0]


LISTED = 4
"""Columns of plain rows from which any pair would be an arbitrary choice to draw."""


def _is_a_listing(sight: Sight) -> bool:
    """Rows as they are, of many columns: a chart comes only when it is asked for."""
    asked = sight.shape.grouped or sight.shape.rank or sight.shape.special
    return not asked and len(sight.columns) > LISTED


def _asked(fitting: Sequence[ChartSpec], question: str) -> Iterator[ChartSpec]:
    by_kind: dict[str, ChartSpec] = {spec.kind: spec for spec in fitting}
    for pattern, kinds in _WORDS:
        if re.search(pattern, question, re.IGNORECASE):
            yield from (by_kind[kind] for kind in kinds if kind in by_kind)


def _with_ids(sight: Sight) -> Sight:
    """The result with the numbers that name rows as measures: to be drawn where a plan says so, never by itself."""
    shape = sight.shape
    keys = set(shape.keys) if shape.grouped else set()
    ids = [name for name, c in sight.columns.items() if c.kind.numeric and c.role is Role.ID and name not in keys]
    measured = {measure.name: measure for measure in shape.measures} | {
        name: Measure(name, words(name)) for name in ids
    }
    dims = tuple(name for name in shape.keys if name not in ids)
    ordered = tuple(measured[name] for name in sight.columns if name in measured)
    return replace(sight, shape=replace(shape, keys=dims, measures=ordered))


def _hinted(sight: Sight, fitting: Sequence[ChartSpec], kind: str, hint: Mapping[str, Any]) -> ChartSpec | None:
    """The wanted kind, on the hint's columns if they are there and make sense, else on the columns we would take."""
    own = next((spec for spec in fitting if spec.kind == kind), None)
    if own is None and kind in ("grouped_bar", "stacked_bar"):
        own = next((spec for spec in fitting if spec.kind == "bar"), None)
    if own is None and kind == "bar":
        own = next((spec for spec in fitting if spec.kind in ("stacked_bar", "grouped_bar")), None)
    if own is None:
        return None
    named = {name.casefold(): name for name in sight.table.columns}
    x = named.get(str(hint.get("x") or "").casefold())
    y = [named[name.casefold()] for name in hint.get("y") or () if isinstance(name, str) and name.casefold() in named]
    color = named.get(str(hint.get("color") or "").casefold())
    measures = {measure.name for measure in sight.measures}
    dims = {dim.name for dim in sight.dims}
    match own.kind:
        case "scatter" if x in measures and y and y[0] in measures and x != y[0]:
            return sight.titled(replace(own, x=x, y=(y[0],), color=color if color in dims else own.color))
        case "scatter" if color in dims and own.color is None:
            return sight.titled(replace(own, color=color))
        case "histogram" | "box" if y and y[0] in measures:
            return sight.titled(replace(own, y=(y[0],)))
        case "heatmap" if x in dims and y and y[0] in dims and x != y[0] and color in measures:
            return sight.titled(replace(own, x=x, y=(y[0],), color=color))
        case "bar" | "line" | "area" | "pie" | "map" if len(dims) == 1 and len(y) == 1 and y[0] in measures:
            return replace(sight.spec(own.kind, own.x, [y[0]]), label=own.label)
        case "grouped_bar" | "stacked_bar" if len(dims) == 2 and {x, color} == dims and y and y[0] in measures:
            return sight.spec(own.kind, x, [y[0]], color)
        case _:
            return own


def alternatives(
    columns: Sequence[AnswerColumn], table: pl.DataFrame, plan: Mapping[str, Any], total_rows: int
) -> list[Kind]:
    """The kinds that fit the result, the clearest first: what a person may switch between."""
    return [spec.kind for spec in candidates(sight_of(columns, table, plan, total_rows))]
