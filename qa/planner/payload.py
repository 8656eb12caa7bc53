"""The only gate through which anything leaves for a model: the messages of a question, and of a repair.

What each privacy level lets out:

- `names`: table and column names, and kinds.
- `profile`: also row counts, roles, units, missing and distinct counts, ranges and quantiles of numbers, ranges of
  dates, descriptions and synonyms. Never text from a cell: no values of categories, no shortest or longest text.
  Ranges are left out of ids, and of columns with fewer than five values, where they would be the cells themselves.
- `samples`: also frequent values of categories, a few examples of other text, and values that the question names.

A send rule lowers the level of one column; `nothing` keeps even its name at home.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal
from zoneinfo import ZoneInfo

from qa.data.table import Table
from qa.errors import Issue
from qa.planner import links, prompt, tokens
from qa.planner.columns import Handles, Sent, expanded, level_of, line, written
from qa.planner.dialogue import Turn, rendered
from qa.planner.prompt import quoted
from qa.planner.relevance import Score, scores, table_scores
from qa.planner.repair import rebuilt
from qa.settings import settings

Privacy = Literal["names", "profile", "samples"]
SendRules = Mapping[str, str]
"""`column` or `table.column` to `nothing`, `names`, `profile` or `samples`."""

PROMPT_TOKENS = 5_600
"""The most a prompt may take, the language reference included."""
CONVERSATION_TOKENS = 1_000
QUESTION_CHARACTERS = 4_000
ECHO_CHARACTERS = 6_000
"""The most of an unusable reply that is shown to the model again."""


@dataclass(frozen=True)
class Payload:
    """Exactly what is sent, and what was left out of it.

    `messages` are chat messages; `cut` says in words which tables and columns did not fit; `names` are the
    table and column names that may leave, `hidden` those that may not; `handles` maps short names to the real ones.
    """

    messages: tuple[dict[str, str], ...]
    privacy: Privacy
    cut: tuple[str, ...] = ()
    handles: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    values_may_leave: bool = False
    """true when every column is at `samples`"""

    @property
    def tokens(self) -> int:
        """An estimate of the tokens of all messages."""
        return sum(tokens.count(message["content"]) + 4 for message in self.messages)

    def expanded(self, reply: dict[str, Any]) -> dict[str, Any]:
        """A reply with the short names it was given put back to the real ones."""
        made: dict[str, Any] = expanded(reply, self.handles)
        return made

    def repair(self, reply: str, issues: Sequence[Issue]) -> Payload:
        """This payload followed by a reply and what was wrong with it, in words that hold nothing new."""
        text = prompt.repair(rebuilt(issues, reply, self))
        echo = reply if len(reply) <= ECHO_CHARACTERS else f"{reply[:ECHO_CHARACTERS]} … (cut)"
        more = ({"role": "assistant", "content": echo or "(empty)"}, {"role": "user", "content": text})
        return replace(self, messages=(*self.messages, *more))

    def as_dict(self) -> dict[str, Any]:
        """For the record: the messages, the level and the cut."""
        return {"messages": list(self.messages), "privacy": self.privacy, "cut": list(self.cut), "tokens": self.tokens}


def with_real_names(reply: dict[str, Any], tables: Sequence[Table]) -> dict[str, Any]:
    """A recorded reply to these tables with the short names of their payload put back to the real ones."""
    made: dict[str, Any] = expanded(reply, Handles.of(tables).names)
    return made


def build(
    question: str,
    tables: Sequence[Table],
    *,
    privacy: Privacy,
    history: Sequence[Turn] = (),
    send_rules: SendRules | None = None,
    today: dt.date | None = None,
) -> Payload:
    """The messages that ask a model for a plan.

    Wide tables are cut to the columns that the question, its history and their kinds call for, so that the whole
    stays under `PROMPT_TOKENS`; the cut is named in `Payload.cut`. Long or odd names get handles. `today` is the day
    that relative periods count from, by default this day in the zone of the settings.
    """
    rules = send_rules or {}
    asked = [question[:QUESTION_CHARACTERS], *(turn.question for turn in reversed(history[-3:]))]
    levels = {(t.name, c.name): level_of(t.name, c, privacy, rules) for t in tables for c in t.profile.columns}
    hidden = frozenset(name for (_, name), level in levels.items() if level == "nothing")
    hidden -= {name for (_, name), level in levels.items() if level != "nothing"}
    handles = Handles.of(tables)
    open_values = all(level == "samples" for level in levels.values())
    talk = _conversation(history, question, open_values, hidden)
    system = prompt.static()
    room = PROMPT_TOKENS - sum(tokens.count(text) for text in (system, asked[0], talk)) - 60
    ranked = scores([*asked, *(str(turn.reply) for turn in history[-1:])], tables)
    block, cut = _Tables(tables, levels, handles, ranked, table_scores(asked, tables, ranked), asked[0]).fitted(room)
    user = prompt.user(block, talk, asked[0], today or dt.datetime.now(ZoneInfo(settings().zone)).date())
    visible = {name for (_, name), level in levels.items() if level != "nothing"} | {table.name for table in tables}
    messages = ({"role": "system", "content": system}, {"role": "user", "content": user})
    return Payload(messages, privacy, tuple(cut), dict(handles.names), frozenset(visible), hidden, open_values)


def _conversation(history: Sequence[Turn], question: str, values: bool, hidden: frozenset[str]) -> str:
    """The earlier turns that fit, the newest kept."""
    lines = rendered(history, question, values=values, hidden=hidden)
    while lines and tokens.count("\n".join(lines)) > CONVERSATION_TOKENS:
        lines.pop(0)
    return "\n".join(lines)


@dataclass(frozen=True)
class _Tables:
    """The tables of a question, to be written within a number of tokens."""

    tables: Sequence[Table]
    levels: Mapping[tuple[str, str], Sent]
    handles: Handles
    columns: Mapping[tuple[str, str], Score]
    ranks: Mapping[str, float]
    question: str

    @cached_property
    def _linked(self) -> list[str]:
        return links.lines(self.tables, self.ranks, self.levels, self.handles)

    def fitted(self, room: int) -> tuple[str, list[str]]:
        """The block of tables, whole when it fits, and the notes on what was left out."""
        whole = {table.name: self._shown(table) for table in self.tables}
        text = self._text(whole, {})
        if tokens.count(text) <= room:
            return text, []
        return self._cut(room)

    def _shown(self, table: Table) -> list[str]:
        return [column.name for column in table.columns if self.levels[table.name, column.name] != "nothing"]

    def _cut(self, room: int) -> tuple[str, list[str]]:
        """Take columns best first, in full while they are spoken for and by name after, until the room is used."""
        order = sorted(self.tables, key=lambda table: -self.ranks[table.name])
        near = {table.name for place, table in enumerate(order) if place < 3 or self.ranks[table.name] > 0.6}
        heads = (tokens.count("\n".join([self._head(table), *self._metrics(table)])) + 12 for table in self.tables)
        linked = (tokens.count(link) + 2 for link in self._linked)
        left = room - sum(heads) - sum(linked) - 40
        full: dict[str, list[str]] = {table.name: [] for table in self.tables}
        brief: dict[str, list[str]] = {table.name: [] for table in self.tables}
        places = sorted(
            ((table.name, name) for table in self.tables for name in self._shown(table)),
            key=lambda place: (-self._worth(place, near), self._position(place)),
        )
        for place in places:
            spoken = self.columns[place].named > 0.35 or (self.columns[place].total >= 0.1 and place[0] in near)
            wanted = tokens.count(self._line(place)) + 1 if spoken and left > room * 0.35 else 0
            short = tokens.count(self._brief(place)) + 3
            if wanted and wanted <= left:
                full[place[0]].append(place[1])
                left -= wanted
            elif short <= left and (place[0] in near or self.columns[place].named > 0.35):
                brief[place[0]].append(place[1])
                left -= short
        return self._text(full, brief), self._notes(full, brief)

    def _worth(self, place: tuple[str, str], near: set[str]) -> float:
        score = self.columns[place]
        return (
            score.named
            + (score.total - score.named + 0.05 if place[0] in near else 0.0)
            + 0.2 * min(2.0, self.ranks[place[0]])
        )

    def _position(self, place: tuple[str, str]) -> int:
        table = self._table(place[0])
        return [column.name for column in table.columns].index(place[1]) if len(table.columns) < 200 else 0

    def _table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    def _head(self, table: Table) -> str:
        """The table's name, and what its profile says of it where some column may be told more than its name."""
        if not self._told(table):
            return f"table {table.name}"
        about = [f"table {table.name} · {table.rows} rows"]
        if table.profile.description:
            about.append(quoted(table.profile.description, 160))
        if table.profile.synonyms:
            about.append("a row is also called " + ", ".join(quoted(word, 30) for word in table.profile.synonyms[:6]))
        return " · ".join(about)

    def _told(self, table: Table) -> bool:
        return any(self.levels[table.name, column.name] in ("profile", "samples") for column in table.columns)

    def _metrics(self, table: Table) -> list[str]:
        """The named formulas of the semantic file, but none that names a column kept at home."""
        home = [column.name for column in table.columns if self.levels[table.name, column.name] == "nothing"]
        named = {
            name: formula
            for name, formula in table.profile.metrics.items()
            if self._told(table) and not any(column.casefold() in formula.casefold() for column in home)
        }
        return [f"- metric {written(name)}: {quoted(formula, 160)}" for name, formula in list(named.items())[:20]]

    def _line(self, place: tuple[str, str]) -> str:
        table = self._table(place[0])
        return line(table, table.column(place[1]), self.levels[place], self.handles, self.question)

    def _brief(self, place: tuple[str, str]) -> str:
        return f"{self.handles.shown(*place, label=48)} {self._table(place[0]).column(place[1]).kind}"

    def _text(self, full: Mapping[str, Sequence[str]], brief: Mapping[str, Sequence[str]]) -> str:
        blocks = []
        for table in self.tables:
            lines = [self._head(table)]
            lines += [self._line((table.name, name)) for name in self._in_order(table, full.get(table.name, ()))]
            short = [self._brief((table.name, name)) for name in self._in_order(table, brief.get(table.name, ()))]
            if short:
                lines.append(f"- also: {'; '.join(short)}")
            missing = len(self._shown(table)) - len(full.get(table.name, ())) - len(short)
            if missing:
                lines.append(f"- and {missing} more columns, not listed")
            lines += self._metrics(table)
            blocks.append("\n".join(lines))
        return "\n\n".join(
            [*blocks, *(["\n".join(["links", *(f"- {link}" for link in self._linked)])] if self._linked else [])]
        )

    def _in_order(self, table: Table, names: Sequence[str]) -> list[str]:
        chosen = set(names)
        return [column.name for column in table.columns if column.name in chosen]

    def _notes(self, full: Mapping[str, Sequence[str]], brief: Mapping[str, Sequence[str]]) -> list[str]:
        notes = []
        for table in self.tables:
            shown, all_of_them = len(full[table.name]) + len(brief[table.name]), len(self._shown(table))
            if shown < all_of_them:
                notes.append(f"{table.name}: {shown} of {all_of_them} columns fitted into the prompt")
        return notes
