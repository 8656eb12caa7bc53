"""An answer as a report to keep or send: Markdown, or one HTML file with its charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from qa.answer.answer import Answer, AnswerColumn, AnswerPart
from qa.answer.chart import ThemeName
from qa.answer.export import MIMES, Download, file_name
from qa.answer.formats import PLAIN, Style, number, plain, plural, show
from qa.answer.page import escaped, figure_block, page, table_block

ROWS = 100
"""Rows of a table that a report shows; it says how many there are."""


def cells(part: AnswerPart, rows: int = ROWS, style: Style = PLAIN) -> list[list[str]]:
    """The first rows as they are shown everywhere else, by kind and role."""
    by_name = {column.name: column for column in part.columns}
    shown = part.table.head(rows)
    columns = [
        [show(value, by_name.get(values.name), style) for value in values.to_list()] for values in shown.get_columns()
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def caption(part: AnswerPart, shown: int) -> str:
    """How many rows a table shows of how many."""
    whole = plural(part.total_rows, "row")
    return whole if shown >= part.total_rows else f"The first {number(shown)} of {whole}."


def is_single(part: AnswerPart) -> bool:
    """The part is one cell: a table would say nothing more."""
    return part.table.height == 1 and part.table.width == 1 and part.value is not None


def status_words(answer: Answer) -> list[str]:
    """What an answer without parts says."""
    told = [answer.question_back, answer.reason, *(issue.message for issue in answer.issues)]
    told += [f"Possible: {option.label}" for option in answer.options]
    return [line for line in dict.fromkeys(told) if line] or [f"Status: {answer.status}."]


def _evidence(part: AnswerPart) -> list[tuple[str, list[str]]]:
    """The headed lists under an answer, empty ones left out."""
    marks = {True: "passed", False: "FAILED", None: "not run"}
    checks = [f"{check.name}: {marks[check.passed]}. {check.detail}" for check in part.checks]
    rows = [
        f"{row.op}: {_count(row.rows_in)} → {_count(row.rows_out)} rows{'. ' + row.note if row.note else ''}"
        for row in part.ledger
    ]
    lists = [
        ("Assumptions", list(part.assumptions)),
        ("How it was worked out", list(part.explanation)),
        ("Rows, step by step", rows),
        ("Checks", checks),
    ]
    return [(head, lines) for head, lines in lists if lines]


def _count(rows: int | None) -> str:
    return "?" if rows is None else number(rows)


def _source_words(answer: Answer, names: Mapping[str, str]) -> list[str]:
    return [
        f"{plain(names.get(table, table), 120)} (SHA-256 {digest[:12]}…)" for table, digest in answer.digests.items()
    ]


# --- Markdown ----------------------------------------------------------------------------------------------------------

_ACTIVE = re.compile(r"([\\`*_{}\[\]()#|~<>$&@!])|(?<=\w)(:)(?=//)|^([-+.\d])(?=[.)\s])|(?<=\bwww)(\.)", re.IGNORECASE)


def literal(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    one_line = re.sub(r"\s+", " ", text).strip()
    return _ACTIVE.sub(lambda match: "\\" + match[0] if not match[0].isalnum() else match[0], one_line)


def markdown(
    answer: Answer, *, names: Mapping[str, str] | None = None, rows: int = ROWS, made: datetime | None = None
) -> str:
    """The answer as Markdown: sentences, tables and what they rest on. `names` are the files' names by table."""
    lines = [f"# {literal(answer.question) or 'Answer'}", ""]
    if answer.status != "answered":
        lines += [*(f"{literal(line)}\n" for line in status_words(answer))]
    for part in answer.parts:
        lines += part_markdown(part, rows=rows, heading="##" if len(answer.parts) > 1 else None)
    sources = _source_words(answer, names or {})
    lines += ["---", "", *(f"- Data: {literal(source)}" for source in sources)]
    lines += [f"- Made by DataFrame QA on {_moment(made)}", ""]
    return "\n".join(lines)


def part_markdown(
    part: AnswerPart, *, rows: int = ROWS, heading: str | None = None, evidence: bool = True
) -> list[str]:
    """The lines of one part; no table with `rows` 0."""
    lines = [f"{heading} {literal(part.title)}", ""] if heading else []
    lines += [" ".join(literal(sentence) for sentence in part.sentences), ""] if part.sentences else []
    lines += [f"**Warning:** {literal(warning)}\n" for warning in part.warnings]
    if part.chart:
        lines += [f"*{literal(str(part.chart.get('alt') or ''))}*", ""]
    if rows and part.table.width and part.table.height and not is_single(part):
        lines += _markdown_table(part, rows)
    for head, items in _evidence(part) if evidence else ():
        numbered = head == "How it was worked out"
        lines += [f"**{head}**", ""]
        lines += [f"{f'{n}.' if numbered else '-'} {literal(item)}" for n, item in enumerate(items, 1)]
        lines.append("")
    if part.sql and evidence:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", part.sql)), default=0))
        lines += ["**As SQL**", "", f"{fence}sql", part.sql, fence, ""]
    return lines


def _markdown_table(part: AnswerPart, rows: int) -> list[str]:
    head = [literal(name) for name in part.table.columns]
    rule = ["---:" if is_number else "---" for is_number in _numeric(part.columns)]
    body = [[literal(cell) for cell in row] for row in cells(part, rows)]
    lines = [f"| {' | '.join(row)} |" for row in (head, rule, *body)]
    return [*lines, "", literal(caption(part, len(body))), ""]


def _numeric(columns: Sequence[AnswerColumn]) -> list[bool]:
    return [column.kind.numeric for column in columns]


def _moment(made: datetime | None) -> str:
    return (made or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M %Z").strip()


# --- HTML --------------------------------------------------------------------------------------------------------------


def html(
    answer: Answer,
    *,
    names: Mapping[str, str] | None = None,
    rows: int = ROWS,
    theme: ThemeName = "light",
    made: datetime | None = None,
) -> str:
    """The answer as one HTML file that needs no network: sentences, charts, tables and what they rest on."""
    title = plain(answer.question, 200) or "Answer"
    body = [f"<h1>{escaped(title)}</h1>"]
    if answer.status != "answered":
        body += [f"<p>{escaped(line)}</p>" for line in status_words(answer)]
    several = len(answer.parts) > 1
    body += [
        f"<section>{part_html(part, f'chart-{n}', theme=theme, rows=rows, heading=several)}</section>"
        for n, part in enumerate(answer.parts)
    ]
    body.append(footer(_source_words(answer, names or {}), made))
    return page(title, "".join(body), theme=theme)


def footer(sources: Iterable[str], made: datetime | None = None) -> str:
    """What the page was made from, and when."""
    data = "".join(f"<div>Data: {escaped(source)}</div>" for source in sources)
    return f"<section><footer>{data}<div>Made by DataFrame QA on {escaped(_moment(made))}</div></footer></section>"


def part_html(
    part: AnswerPart, id: str, *, theme: ThemeName, rows: int = ROWS, heading: bool = True, evidence: bool = True
) -> str:
    """One part as HTML. `id` names its chart and must be unique in the page; no table with `rows` 0."""
    blocks = [f"<h2>{escaped(plain(part.title, 200))}</h2>"] if heading and part.title else []
    if is_single(part):
        blocks.append(f'<p class="value">{escaped(show(part.value, part.columns[0]))}</p>')
    if part.sentences:
        blocks.append(f'<p class="sentence">{escaped(" ".join(part.sentences))}</p>')
    blocks += [f'<p class="warning">{escaped(warning)}</p>' for warning in part.warnings]
    if part.chart and part.chart.get("figure") and part.chart.get("kind") != "value":
        blocks.append(figure_block(part.chart["figure"], id, str(part.chart.get("alt") or part.title), theme))
        blocks += [f'<p class="quiet">{escaped(str(part.chart["note"]))}</p>'] if part.chart.get("note") else []
    if rows and part.table.width and part.table.height and not is_single(part):
        body = cells(part, rows)
        blocks.append(table_block(part.table.columns, body, _numeric(part.columns), caption(part, len(body))))
    if evidence:
        blocks.append(_evidence_html(part))
    return "".join(blocks)


def _evidence_html(part: AnswerPart) -> str:
    lists = [
        f"<h3>{escaped(head)}</h3><ul>{''.join(f'<li>{escaped(item)}</li>' for item in items)}</ul>"
        for head, items in _evidence(part)
    ]
    code = f"<h3>As SQL</h3><pre>{escaped(part.sql)}</pre>" if part.sql else ""
    return f"<details><summary>What this rests on</summary>{''.join(lists)}{code}</details>" if lists or code else ""


def download(
    answer: Answer, format: str, *, names: Mapping[str, str] | None = None, theme: ThemeName = "light"
) -> Download:
    """The report as a file: `md` or `html`."""
    text = {"md": lambda: markdown(answer, names=names), "html": lambda: html(answer, names=names, theme=theme)}[
        format
    ]()
    return Download(file_name(answer.question, format), MIMES[format], text.encode("utf-8"))
