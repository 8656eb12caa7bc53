"""What a chart shows, before it is drawn."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Kind = Literal[
    "bar", "grouped_bar", "stacked_bar", "line", "area", "scatter", "histogram", "box", "heatmap", "pie", "value", "map"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

Order = Literal["table", "natural"]


@dataclass(frozen=True)
class ChartSpec:
    """A chart of columns of a result.

    `x` is the category, time or first measure; `y` the measures (of a heatmap: the rows' category, whose measure is
    `color`); `color` the column that splits it into series. `ranked` is true when the plan ordered the rows by the
    measure, so that the table's order is kept. `additive` says that values left out may be summed into "Other".
    `title`, `x_title` and `y_title` are plain words made from the plan.
    """

    kind: Kind
    x: str | None
    y: tuple[str, ...]
    color: str | None = None
    ranked: bool = False
    additive: bool = False
    grain: str | None = None
    title: str = ""
    x_title: str = ""
    y_title: str = ""
    compare: str | None = None
    label: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"y": list(self.y)}
