"""One HTML file that holds everything it shows: no request leaves it, no data of it runs."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from plotly.offline import get_plotlyjs

from qa.answer.chart.theme import FONT, THEMES, ThemeName, repaint

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)

_DRAW = """
for (const holder of document.querySelectorAll('[data-chart]')) {
  const figure = JSON.parse(document.getElementById(holder.dataset.chart).textContent);
  Plotly.newPlot(holder, figure.data, figure.layout, {responsive: true, displaylogo: false});
}
"""


def escaped(text: str) -> str:
    """Text as HTML text, also inside a quoted attribute."""
    return html.escape(text, quote=True)


def figure_block(figure: Mapping[str, Any], id: str, alt: str, theme: ThemeName) -> str:
    """A chart's place and its data. `id` is ours, never a person's."""
    painted = repaint(figure, theme)
    # The graphics-card trace compiles code at run time, which the policy forbids.
    for trace in painted["data"]:
        trace["type"] = "scatter" if trace["type"] == "scattergl" else trace["type"]
    content = json.dumps(painted, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "").replace("\u2029", "")
    height = int(painted["layout"].get("height") or 400)
    return (
        f'<div class="chart" role="img" aria-label="{escaped(alt)}" data-chart="{id}" style="height:{height}px"></div>'
        f'<script type="application/json" id="{id}">{content}</script>'
    )


def table_block(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], caption: str) -> str:
    """A table of texts; `right` marks the columns of numbers."""
    sides = ["num" if is_right else "" for is_right in right]
    head = "".join(
        f'<th scope="col" class="{side}">{escaped(name)}</th>' for name, side in zip(header, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{side}">{escaped(cell)}</td>' for cell, side in zip(row, sides, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table><caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def page(title: str, body: str, *, theme: ThemeName = "light") -> str:
    """The whole file. Plotly goes in once, and only when a chart is there."""
    charts = "data-chart=" in body
    scripts = f"<script>{get_plotlyjs()}</script><script>{_DRAW}</script>" if charts else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{_style(theme)}</style></head>"
        f"<body><main>{body}</main>{scripts}</body></html>\n"
    )


def _style(theme: ThemeName) -> str:
    look = THEMES[theme]
    return f"""
:root {{ color-scheme: {theme}; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: {look.background}; color: {look.text}; font: 16px/1.55 {FONT}; }}
main {{ max-width: 72rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }}
h1 {{ font-size: 1.8rem; line-height: 1.2; letter-spacing: -.015em; margin: 0 0 .5rem; }}
h2 {{ font-size: 1.2rem; margin: 0 0 .4rem; }}
.quiet, caption, summary, footer {{ color: {look.quiet}; font-size: .875rem; }}
.sentence {{ font-size: 1.1rem; margin: .25rem 0 .75rem; }}
.value {{ font-size: 2.4rem; font-weight: 650; letter-spacing: -.02em; line-height: 1.15; margin: .25rem 0; }}
section {{ border-top: 1px solid {look.grid}; padding: 1.5rem 0 .5rem; overflow-wrap: anywhere; }}
.board {{ display: grid; grid-template-columns: repeat(6, 1fr); gap: 1rem; margin-top: 1.5rem; }}
.board section {{ border: 1px solid {look.grid}; border-radius: .5rem; padding: 1.1rem; grid-column: span 6; min-width: 0; }}
@media (min-width: 60rem) {{ .board .w1 {{ grid-column: span 2; }} .board .w2 {{ grid-column: span 3; }} }}
.scroll {{ overflow-x: auto; max-height: 32rem; overflow-y: auto; margin: .75rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; caption-side: bottom; padding-top: .4rem; }}
th, td {{ text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid {look.grid}; vertical-align: top; }}
th {{ color: {look.quiet}; font-weight: 600; }}
.num {{ text-align: right; }}
pre {{ overflow-x: auto; font-size: .82rem; white-space: pre-wrap; }}
.warning {{ border-left: 3px solid #d98218; padding-left: .75rem; }}
details {{ margin: .5rem 0; }}
@media print {{ .scroll {{ max-height: none; }} section {{ break-inside: avoid; }} }}
"""
