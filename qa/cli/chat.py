"""The conversation in a terminal: questions, follow-ups, and a look at the plan behind the last answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qa.cli.arguments import OK, add_files, add_json, progress, tables_of
from qa.cli.asking import asked_settings, model_options
from qa.errors import Issue, LoadError, QAError

if TYPE_CHECKING:
    from qa.answer.answer import Answer
    from qa.data.gather import Tables
    from qa.planner.dialogue import Turn

HISTORY = 6
"""Earlier questions that a follow-up may refer to."""


def options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    model_options(command)
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Reads questions until `/quit` or the end of input. With `--json` each answer is one line."""
    tables = tables_of(options)
    own, planner = asked_settings(options)
    chat = Chat(tables, own, planner, options.json, progress(options))
    chat.hello()
    for line in _lines(tables):
        if not chat.heard(line.strip()):
            break
    return OK


def _lines(tables: Tables) -> Iterator[str]:
    """What is typed: with history and completion at a terminal, else the lines of standard input."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory

    from qa.settings import settings

    kept = settings().audit.with_name("chat_history")
    kept.parent.mkdir(parents=True, exist_ok=True)
    words = [
        *COMMANDS,
        *(table.name for table in tables),
        *(column.name for table in tables for column in table.columns),
    ]
    completer = WordCompleter(words, ignore_case=True, WORD=True)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(kept)), completer=completer, complete_while_typing=False
    )
    while True:
        try:
            yield session.prompt("qa> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


@dataclass
class Chat:
    """One conversation about some tables: what was asked, what was answered, and what is shown of it."""

    tables: Tables
    settings: Any
    planner: str | None
    as_json: bool
    progress: Callable[..., None] | None = None
    answers: list[Answer] = field(default_factory=list)

    def hello(self) -> None:
        names = ", ".join(f"{table.name} ({table.rows:,} rows)" for table in self.tables[:12])
        more = f" and {len(self.tables) - 12} more" if len(self.tables) > 12 else ""
        print(f"Ask about {names}{more}. /help for commands.", file=sys.stderr)

    def heard(self, line: str) -> bool:
        """Does what a line asks for; false to end."""
        if not line:
            return True
        if line.startswith("/"):
            return self._command(line)
        try:
            self._answered(self._choice(line) or self._asked(line))
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        return True

    def _command(self, line: str) -> bool:
        word, _, rest = line.partition(" ")
        if word in ("/quit", "/exit"):
            return False
        known = COMMANDS.get(word)
        try:
            if known is None:
                raise LoadError(Issue("usage", "", f"There is no command {word}.", "/help lists them."))
            known[0](self, rest.strip())
        except QAError as error:
            print(f"qa: {error.issues[0]}", file=sys.stderr)
        except OSError as error:
            print(f"qa: {error.filename}: {error.strerror}", file=sys.stderr)
        return True

    def _asked(self, question: str) -> Answer:
        from qa import pipeline

        return pipeline.ask(
            question, self.tables, settings=self.settings, planner=self.planner, history=self._turns(), progress=self.progress, semantics=self.tables.semantics
        )  # fmt: skip

    def _turns(self) -> list[Turn]:
        from qa.planner.dialogue import Turn

        answered = [answer for answer in self.answers if answer.status == "answered"][-HISTORY:]
        return [
            Turn(a.question, a.reply or {}, "; ".join(p.reading for p in a.parts if p.reading) or None)
            for a in answered
        ]

    def _choice(self, line: str) -> Answer | None:
        """The answer to a question back when the line is the number of one of its options."""
        from qa import pipeline

        last = self.answers[-1] if self.answers else None
        if last is None or last.status != "clarify" or not line.isdigit() or not 1 <= int(line) <= len(last.options):
            return None
        option = last.options[int(line) - 1]
        if option.reply is None:
            return self._asked(option.label)
        return pipeline.run_plan(
            option.reply, self.tables, settings=self.settings, question=f"{last.question} ({option.label})", semantics=self.tables.semantics
        )  # fmt: skip

    def _answered(self, answer: Answer) -> None:
        from qa.answer.document import document
        from qa.terminal import show

        self.answers.append(answer)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        if self.as_json:
            print(json.dumps(document(answer), ensure_ascii=False, default=str), flush=True)
        else:
            show(answer)

    @property
    def last(self) -> Answer:
        """The last answer with a result. Raises LoadError when there is none."""
        for answer in reversed(self.answers):
            if answer.status == "answered":
                return answer
        raise LoadError(Issue("no_answer", "", "Nothing has been answered yet.", "Ask a question first."))

    # ---- commands ----

    def plan(self, _: str) -> None:
        self._say("plan", self.last.reply, json.dumps(self.last.reply, ensure_ascii=False, indent=1))

    def sql(self, _: str) -> None:
        self._code("sql", (part.sql for part in self.last.parts))

    def polars(self, _: str) -> None:
        self._code("polars", (part.polars for part in self.last.parts))

    def _code(self, what: str, texts: Iterable[str]) -> None:
        found = list(texts)
        self._say(what, found, "\n\n".join(found))

    def _say(self, what: str, value: Any, text: str) -> None:
        print(json.dumps({what: value}, ensure_ascii=False, default=str) if self.as_json else text, flush=True)

    def save(self, where: str) -> None:
        """The last answer to a file whose ending says what: its table, its report, or its plan."""
        from qa.answer import export, notebook, report

        if not where:
            raise LoadError(Issue("usage", "/save", "No file is named.", f"Write /save FILE with {_ENDINGS}."))
        path = Path(where).expanduser()
        ending, answer = path.suffix.lower().removeprefix("."), self.last
        note = ""
        if path.name.lower().endswith(".plan.json"):
            data = json.dumps(answer.reply, ensure_ascii=False, indent=1).encode()
        elif ending == "ipynb":
            data = notebook.notebook(answer.parts).encode()
        elif ending in ("md", "html"):
            data = report.download(answer, ending).data
        elif ending in export.FORMATS:
            made = [export.download(part, ending) for part in answer.parts[:1]]
            data, note = made[0].data, made[0].note
            if len(answer.parts) > 1:
                note = f"{note} The first of {len(answer.parts)} results.".strip()
        else:
            raise LoadError(Issue("usage", "/save", f"{path.name!r} has no ending known here.", f"Use {_ENDINGS}."))
        path.write_bytes(data)
        self._say("saved", str(path), f"saved {path}{f' ({note})' if note else ''}")

    def keep(self, who: str) -> None:
        """The last question and its plan as a verified question, in the semantic file beside the data."""
        from qa.data.semantics import Semantics
        from qa.data.verified import with_question

        answer = self.last
        assert answer.reply is not None
        name = _first_table(answer.reply, self.tables)
        known = self.tables.semantics.get(name) or Semantics(table=name)
        self.tables = self.tables.told(name, with_question(known, answer.question, answer.reply, by=who or None))
        place = str(self.tables.semantic_file(name))
        self._say("kept", place, f"kept in {place}")

    def show_tables(self, _: str) -> None:
        from qa.terminal import show_tables

        if self.as_json:
            self._say("tables", [{"name": table.name, "rows": table.rows} for table in self.tables], "")
        else:
            show_tables(self.tables)

    def profile(self, name: str) -> None:
        from qa.terminal import show_profile

        for table in [self.tables.named(name)] if name else self.tables:
            if self.as_json:
                self._say("profile", table.profile.model_dump(mode="json"), "")
            else:
                show_profile(table)

    def forget(self, _: str) -> None:
        self.answers.clear()

    def help(self, _: str) -> None:
        lines = [f"{word:<10}{about}" for word, (_, about) in COMMANDS.items()]
        self._say("help", {word: about for word, (_, about) in COMMANDS.items()}, "\n".join(lines))


def _first_table(reply: dict[str, Any], tables: Tables) -> str:
    """The table that a plan starts from, through its lets."""
    lets = {let["name"]: let["source"] for let in reply.get("lets", ())}
    source: str = reply["parts"][0]["source"]
    for _ in lets:
        source = lets.get(source, source)
    return tables.named(source).name


_ENDINGS = ".csv, .parquet, .xlsx, .json (the table), .md, .html (the report), .ipynb (a notebook) or .plan.json"

COMMANDS: dict[str, tuple[Callable[[Chat, str], None], str]] = {
    "/plan": (Chat.plan, "the plan of the last answer, as JSON"),
    "/sql": (Chat.sql, "the last answer as SQL"),
    "/polars": (Chat.polars, "the last answer as a Polars script"),
    "/save": (Chat.save, f"FILE: the last answer as {_ENDINGS}"),
    "/keep": (Chat.keep, "[BY]: the last question as a verified one, in the semantic file beside the data"),
    "/tables": (Chat.show_tables, "the tables at hand"),
    "/profile": (Chat.profile, "[TABLE]: what is in the columns"),
    "/forget": (Chat.forget, "start anew: later questions are no follow-ups"),
    "/help": (Chat.help, "this list"),
    "/quit": (lambda chat, rest: None, "end"),
}
"""Each command of the conversation: what it does and its one-line help."""
