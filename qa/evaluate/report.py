"""The figures of a run over a question file, in words, as JSON, and as a page of its own."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

from qa.evaluate.compare import Verdict


@dataclass
class Tally:
    """How a set of questions went."""

    asked: int = 0
    right: int = 0
    wrong: int = 0
    unscored: int = 0
    declined: int = 0
    failed: int = 0

    def add(self, status: str, judged: Verdict) -> None:
        self.asked += 1
        self.failed += status == "failed"
        self.declined += status in ("declined", "clarify")
        if status == "answered":
            self.right += judged == "right"
            self.wrong += judged == "wrong"
            self.unscored += judged == "unscored"

    def as_dict(self) -> dict[str, Any]:
        answered = self.right + self.wrong
        return self.__dict__ | {
            "right_of_all": round(self.right / self.asked, 4) if self.asked else None,
            "right_when_answered": round(self.right / answered, 4) if answered else None,
        }


@dataclass
class Report:
    """The figures of one run, over all questions and by feature."""

    questions: str
    planner: str
    total: Tally = field(default_factory=Tally)
    features: dict[str, Tally] = field(default_factory=dict)
    repaired: int = 0
    recovered: int = 0
    tokens: int = 0
    dollars: float = 0.0
    ms: list[float] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        times = sorted(self.ms) or [0.0]
        return {
            "questions": self.questions,
            "planner": self.planner,
            **self.total.as_dict(),
            "repaired": self.repaired,
            "recovered": self.recovered,
            "tokens": self.tokens,
            "dollars": round(self.dollars, 4),
            "ms_median": round(times[len(times) // 2], 1),
            "ms_p90": round(times[int(len(times) * 0.9)], 1),
            "by_feature": {name: tally.as_dict() for name, tally in sorted(self.features.items())},
            "wrong_answers": self.wrong,
        }

    def __str__(self) -> str:
        told = self.as_dict()
        lines = [
            f"{self.questions} · {self.planner}: {told['right']} of {told['asked']} right, {told['wrong']} wrong, "
            f"{told['declined']} declined, {told['failed']} failed",
            f"right of all {_percent(told['right_of_all'])} · right when answered {_percent(told['right_when_answered'])} · "
            f"repaired {self.recovered} of {self.repaired} · {self.tokens:,} tokens · ${told['dollars']:.4f} · median {told['ms_median']:g} ms",
        ]
        for name, tally in sorted(self.features.items(), key=lambda pair: -pair[1].asked):
            lines.append(f"  {name:<28} {tally.right:>4} of {tally.asked:>4} right, {tally.wrong} wrong")
        return "\n".join(lines)

    def page(self) -> str:
        """The figures as one HTML page without scripts."""
        told = self.as_dict()
        by_feature = told.pop("by_feature")
        wrong = told.pop("wrong_answers")
        columns = ("asked", "right", "wrong", "declined", "failed", "right_of_all", "right_when_answered")
        features = [[name, *(tally[column] for column in columns)] for name, tally in by_feature.items()]
        return _PAGE.format(
            title=html.escape(f"{self.questions}, {self.planner}"),
            figures=_table(("figure", "value"), list(told.items())),
            features=_table(("feature", *columns), features),
            wrong=_table(("id", "question", "answer"), [list(line.values()) for line in wrong[:200]]),
        )


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px system-ui;max-width:70rem;margin:2rem auto;padding:0 1rem}}table{{border-collapse:collapse}}
td,th{{border:1px solid #8886;padding:.2rem .6rem;text-align:left}}</style>
<h1>{title}</h1>{figures}<h2>By feature</h2>{features}<h2>Wrong answers</h2>{wrong}</html>
"""


def _table(header: tuple[str, ...], rows: list[Any]) -> str:
    def cells(tag: str, row: Any) -> str:
        return (
            "<tr>"
            + "".join(f"<{tag}>{html.escape(str('' if cell is None else cell))}</{tag}>" for cell in row)
            + "</tr>"
        )

    return f"<table>{cells('th', header)}{''.join(cells('td', row) for row in rows)}</table>"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
