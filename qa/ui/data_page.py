"""The Data page: what a table holds, how it was read, and how to have it read another way."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import polars as pl
import streamlit as st

from qa.answer.answer import AnswerColumn
from qa.answer.chart.theme import THEMES
from qa.answer.formats import number, show
from qa.data.options import ReadOptions
from qa.data.reversal import changed, pair
from qa.data.table import ColumnProfile, LoadReport, Table
from qa.errors import LoadError
from qa.types import Kind
from qa.ui import datasets
from qa.ui.charts import shade
from qa.ui.columns import column_config
from qa.ui.data_findings import SIGNS
from qa.ui.picking import pick_dataset
from qa.ui.session import Dataset, Session, Upload
from qa.ui.words import cut, escape, plain, plural, rows

PREVIEW = 100
"""rows of the table that are shown as they are"""


def pick_table(here: Session) -> tuple[Dataset, Table]:
    """The dataset and one of its tables."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="picker"):
        dataset = pick_dataset(here)
        names = [table.name for table in dataset.tables]
        name = st.selectbox("Table", names, key=f"table-{dataset.key}") if len(names) > 1 else names[0]
    return dataset, next(table for table in dataset.tables if table.name == name)


def facts(table: Table) -> None:
    """The size of the table and where it came from."""
    report = table.report
    with st.container(horizontal=True, gap="medium"):
        st.metric("Rows", f"{table.rows:,}", width="content")
        st.metric("Columns", f"{len(table.columns):,}", width="content")
        st.metric("Missing cells", f"{sum(c.missing for c in table.profile.columns):,}", width="content")
    pieces = [report.format, report.encoding, f"delimiter {report.delimiter!r}" if report.delimiter else None]
    pieces += [f"sheet {report.sheet}" if report.sheet else None, f"digest {table.digest[:12]}"]
    st.caption(" · ".join(plain(p, 60) for p in pieces if p))


def columns(table: Table) -> None:
    """Every column with its kind, its gaps and a sketch of its values."""
    st.subheader("Columns")
    profile = list(table.profile.columns)
    frame = pl.DataFrame(
        {
            "column": [c.name for c in profile],
            "kind": [c.kind.value for c in profile],
            "role": [_role(c) for c in profile],
            "missing": [c.missing / table.rows if table.rows else 0.0 for c in profile],
            "distinct": [c.distinct for c in profile],
            "lowest": [_short(c, c.low) for c in profile],
            "typical": [_typical(c) for c in profile],
            "highest": [_short(c, c.high) for c in profile],
            "shape": [sketch(c) for c in profile],
        },
        schema_overrides={"shape": pl.List(pl.Int64)},
    )
    st.dataframe(
        frame,
        hide_index=True,
        height="content" if frame.height <= 20 else 600,
        alt="Columns of the table",
        column_config={
            "missing": st.column_config.NumberColumn(format="percent"),
            "distinct": st.column_config.NumberColumn(format="%,d"),
            "shape": st.column_config.BarChartColumn(
                help="How the values spread, or how often the commonest occur", y_min=0
            ),
        },
    )


def sketch(column: ColumnProfile) -> list[int]:
    """Heights of a small bar chart: the histogram of numbers, else the counts of the commonest values."""
    return [count for *_, count in column.histogram] or [count for _, count in column.top[:20]]


def _role(column: ColumnProfile) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.role.value.replace('_', ' ') if column.role else ''}{unit}".strip()


def _short(column: ColumnProfile, value: Any) -> str:
    if value is None:
        return ""
    return show(value, _as_shown(column)) if column.kind.numeric else cut(value, 40)


def _as_shown(column: ColumnProfile) -> AnswerColumn:
    return AnswerColumn(name=column.name, kind=column.kind, role=column.role, unit=column.unit)


def _typical(column: ColumnProfile) -> str:
    if column.median is not None and column.kind.numeric:
        return show(column.median, _as_shown(column))
    return cut(column.top[0][0], 40) if column.top else ""


def column_detail(table: Table) -> None:
    """One column closely: its statistics, its values and why it has its kind."""
    names = [c.name for c in table.profile.columns]
    name = st.selectbox("Look closely at", names, format_func=lambda n: cut(n, 60), key=f"column-{table.digest}")
    column, report = table.profile.column(name), next((c for c in table.report.columns if c.name == name), None)
    with st.container(border=True):
        if report:
            st.text(f"{column.kind.value}: {report.why}" if report.why else column.kind.value)
            if report.header != name:
                st.text(f"The header in the file reads: {report.header!r}")
            if report.null_words:
                words = ", ".join(f"{word!r} ({count:,})" for word, count in report.null_words.items())
                st.text(f"Read as missing: {words}")
        shown: dict[str, float | None] = {
            "values": column.count,
            "missing": column.missing,
            "distinct": column.distinct,
        }
        shown |= {"mean": column.mean, "standard deviation": column.std, "quarter below": column.q25}
        shown |= {"median": column.median, "quarter above": column.q75}
        st.caption(" · ".join(f"{key} {number(value)}" for key, value in shown.items() if value is not None))
        if column.histogram or column.top:
            st.plotly_chart(_figure(column), key=f"sketch-{table.digest}-{name}", config={"displayModeBar": False})


def _figure(column: ColumnProfile) -> go.Figure:
    figure = go.Figure(layout={"height": 240, "margin": {"l": 10, "r": 10, "t": 10, "b": 10}, "bargap": 0.06})
    color = THEMES[shade()].series[0]
    if column.histogram:
        figure.add_bar(
            x=[(low + high) / 2 for low, high, _ in column.histogram],
            y=[count for *_, count in column.histogram],
            width=[high - low for low, high, _ in column.histogram],
            marker_color=color,
        )
        return figure.update_yaxes(title="rows")
    values = [show(value) for value, _ in column.top][::-1]
    figure.add_bar(
        y=[_no_html(v) for v in values], x=[count for _, count in column.top][::-1], orientation="h", marker_color=color
    )
    figure.update_yaxes(type="category").update_xaxes(title="rows")
    return figure.update_layout(height=max(160, 24 * len(values) + 60))


def _no_html(text: str) -> str:
    """Plotly reads a small HTML in labels; the data's own angle brackets must not be part of it."""
    return cut(text, 40).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def preview(table: Table) -> None:
    """The first rows as they were read."""
    st.subheader(f"First {min(PREVIEW, table.rows):,} rows")
    head = table.scan().head(PREVIEW).collect().rename({c.id: c.name for c in table.columns})
    shown = [AnswerColumn(name=c.name, kind=c.kind, role=c.role, unit=c.unit) for c in table.columns]
    config = column_config(shown, head)
    st.dataframe(head, hide_index=True, height=320, column_config=config, alt=f"First rows of {cut(table.name)}")


def load_report(here: Session, table: Table) -> None:
    """What happened between the file and the table; nothing is dropped without a line here. Each decision about an
    uploaded file can be undone beside it."""
    report = table.report
    st.subheader("How it was read")
    if report.rows_in == report.rows_out:
        st.markdown(f":material/check: All {rows(report.rows_out)} of the file are in the table.")
    else:
        st.markdown(f"{rows(report.rows_in)} in the file, **{rows(report.rows_out)}** in the table.")
    upload = datasets.upload_of(here, table)
    for number_, assumption in enumerate(sorted(report.assumptions, key=lambda a: -a.damage)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{SIGNS[assumption.damage]} {escape(assumption.message)}", width="stretch")
            if upload is not None and assumption.reversal:
                _undo(here, upload, table, assumption.reversal, f"undo-{table.digest}-{number_}")
    for column in report.unreadable:
        examples = ", ".join(f"row {row:,}: {text!r}" for row, text in column.examples[:3])
        cells = plural(column.count, "cell")
        st.text(
            f"{column.column}: {cells} could not be read and {'is' if column.count == 1 else 'are'} missing ({examples})"
        )
    if report.skipped:
        with st.expander(f"{plural(report.skipped_total or len(report.skipped), 'row')} left out"):
            frame = pl.DataFrame(list(report.skipped), schema=["row", "why", "text"], orient="row")
            st.dataframe(frame, hide_index=True, alt="Rows left out")
    for spellings, title in (
        (report.variants, "Read as one value"),
        (report.offered, "May be the same value (left apart)"),
    ):
        for name, pairs in spellings.items():
            text = ", ".join(f"{a!r} → {b!r}" for a, b in list(pairs.items())[:8])
            st.text(f"{title} in {name}: {text}")


def _undo(here: Session, upload: Upload, table: Table, reversal: str, key: str) -> None:
    """The control that reads the file again without one decision: a button, or a choice where there are several."""
    options = upload.options or ReadOptions()
    told = changed(options, reversal)
    if told is None:
        name = reversal.split()[0]
        choices = _choices(name, table.report)
        if not choices:
            return
        chosen = st.selectbox(name, choices, index=None, placeholder="change", key=key, width=150, label_visibility="collapsed")  # fmt: skip
        told = changed(options, f"{name} {shlex.quote(chosen)}") if chosen else None
    elif not st.button(
        undoing(reversal), key=key, help=f"Reads the file again with {escape(reversal)}", width="content"
    ):
        return
    if told is not None:
        _read_again(here, upload, told)


def undoing(reversal: str) -> str:
    """What a button does that applies a reversal, in a few words: `Month first`, `Read as text`."""
    name, value = shlex.split(reversal)[:2]
    match name:
        case "--as":
            kind = pair(value)[1]
            return "Keep as in the file" if kind == "verbatim" else plain(f"Read as {kind}")
        case "--missing":
            return plain(f"Read {pair(value)[1]} as missing", 40)
        case _:
            return UNDOING.get((name, value), "Undo")


UNDOING = {
    ("--dayfirst", "yes"): "Day first",
    ("--dayfirst", "no"): "Month first",
    ("--decimal", ","): "Decimal comma",
    ("--decimal", "."): "Decimal point",
    ("--totals", "keep"): "Keep them",
    ("--totals", "all"): "Leave them out",
    ("--hidden", "drop"): "Leave them out",
    ("--hidden", "keep"): "Keep them",
    ("--header", "0"): "It is data",
    ("--header", "1"): "It is the header",
}
"""option and value -> what its button says"""


def _choices(name: str, report: LoadReport) -> list[str]:
    """What may be chosen for an option that leaves a choice."""
    match name:
        case "--sheet":
            return [sheet for sheet in (report.sheet, *report.other_sheets) if sheet]
        case "--encoding":
            return ["utf-8", "cp1252", "cp1250", "cp1251", "iso8859_15", "mac_roman", "utf-16", "shift_jis", "gb18030"]
        case "--header":
            return [str(row) for row in range(31)]
        case "--table":
            return [str(number) for number in range(1, 10)]
        case _:
            return []


def _read_again(here: Session, upload: Upload, options: ReadOptions) -> None:
    try:
        with st.spinner("Reading again"):
            datasets.reread(here, upload, options)
        st.rerun()
    except LoadError as error:
        for issue in error.issues:
            st.error(escape(f"{issue.message} {issue.hint}"))


def read_again(here: Session, table: Table) -> None:
    """Controls that read an uploaded file another way; every assumption above can be undone here."""
    upload = datasets.upload_of(here, table)
    if upload is None:
        st.caption("Samples and catalog files are read as they are. Upload a file to read it another way.")
        return
    with st.expander("Read it another way", icon=":material/tune:"), st.form(f"reread-{upload.shown}"):
        wanted = _options_form(table.report, upload.options or ReadOptions(), table)
        if st.form_submit_button("Read again", type="primary"):
            _read_again(here, upload, wanted)
    if st.button("Remove this file", icon=":material/delete:"):
        datasets.forget(here, upload)
        st.rerun()


AS_FOUND = "as found"
CHOICES: dict[str, tuple[str, dict[str, Any]]] = {
    "dayfirst": ("Order of day and month", {AS_FOUND: None, "day first (31/12)": True, "month first (12/31)": False}),
    "decimal": ("Decimal mark", {AS_FOUND: None, "point (1,234.5)": ".", "comma (1.234,5)": ","}),
    "delimiter": ("Between cells", {AS_FOUND: None, "comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|"}),
    "totals": (
        "Totals",
        {AS_FOUND: "drop", "kept as rows": "keep", "left out wherever called total": "all"},
    ),
    "hidden": ("Hidden rows", {AS_FOUND: "keep", "left out": "drop"}),
    "variants": ("Spellings of one value", {AS_FOUND: True, "kept apart": False}),
    "table": ("Table in the file", {AS_FOUND: None, **{f"the {n}.": n for n in range(1, 10)}}),
    "encoding": ("Encoding", {AS_FOUND: None, **{name: name for name in ("utf-8", "cp1252", "utf-16", "latin-1")}}),
}
"""reading option -> its label and what can be chosen"""


KINDS = ("text", "id", "category", "integer", "number", "decimal", "percent", "currency", "boolean", "date", "datetime", "time", "duration", "verbatim")  # fmt: skip


def _options_form(report: LoadReport, options: Any, table: Table) -> Any:
    update: dict[str, Any] = {}
    left, right = st.columns(2)
    for number_, (field, (label, values)) in enumerate(CHOICES.items()):
        keys = list(values)
        now = next((k for k, v in values.items() if v == getattr(options, field)), AS_FOUND)
        with left if number_ % 2 == 0 else right:
            update[field] = values[st.selectbox(label, keys, index=keys.index(now))]
    headers = {AS_FOUND: None, "none": 0} | {f"row {row}": row for row in range(1, 31)}
    now = next(key for key, row in headers.items() if row == options.header)
    update["header"] = headers[left.selectbox("Header", list(headers), index=list(headers).index(now))]
    sheets = [s for s in (report.sheet, *report.other_sheets) if s]
    if len(sheets) > 1:
        update["sheet"] = st.selectbox("Sheet", sheets)
    names = [c.name for c in table.columns]
    texts = st.multiselect("Columns to read as text", names, default=_as_text(options, names), format_func=cut)
    others = {k: v for k, v in options.as_kinds.items() if v != Kind.TEXT.value}
    update["as_kinds"] = others | dict.fromkeys(texts, Kind.TEXT.value)
    left, right = st.columns(2)
    column = left.selectbox("Read a column", names, index=None, placeholder="choose a column", format_func=cut)
    kind = right.selectbox("as", KINDS, index=None, placeholder="choose a kind")
    if column and kind:
        update["as_kinds"] |= {column: kind}
    words = st.text_input(
        "Words that mean missing", ", ".join(options.missing.get("", ())), placeholder="-999, unknown"
    )
    told = tuple(word.strip() for word in words.split(",") if word.strip())
    update["missing"] = {k: v for k, v in options.missing.items() if k} | ({"": told} if told else {})
    return options.model_copy(update=update)


def _as_text(options: Any, names: Sequence[str]) -> list[str]:
    return [name for name in names if options.as_kinds.get(name) == Kind.TEXT.value]
