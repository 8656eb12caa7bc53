"""What an assistant may read besides calling tools: profiles, columns, examples, the plan language, and two prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from qa.data.table import Table
from qa.errors import QAError
from qa.mcp_server.desk import Desk, told, without_kept
from qa.mcp_server.examples import examples
from qa.mcp_server.server import Server
from qa.mcp_server.tools import description_of, profile_of
from qa.plan.plan import reply_schema
from qa.plan.reference import markdown
from qa.planner import prompt


def add_resources(server: Server, desk: Desk) -> None:
    def of_table(kind: str, about: str) -> Callable[[Callable[[Table], Any]], None]:
        """Adds a resource of every table. What goes wrong reads `[code] message Hint: …`."""

        def add(work: Callable[[Table], Any]) -> None:
            def read(table: str) -> str:
                try:
                    made = json.dumps(work(desk.named(desk.all(), table)), ensure_ascii=False, default=str)
                except QAError as error:
                    desk.record(f"read qa://tables/*/{kind}", {"table": table}, error.issues)
                    raise ResourceNotFoundError(told(error.issues[0])) from None
                desk.record(f"read qa://tables/*/{kind}", {"table": table})
                return made

            server.resource(
                f"qa://tables/{{table}}/{kind}", name=f"table {kind}", description=about, mime_type="application/json"
            )(read)

        return add

    of_table("profile", "Statistics of a table's columns, and how its file was read.")(
        lambda t: profile_of(without_kept(t)).model_dump(mode="json")
    )
    of_table("columns", "A table's columns: kinds, roles, units, descriptions.")(
        lambda t: description_of(t).model_dump(mode="json")
    )
    of_table("examples", "Questions about a table with plans that answer them.")(lambda t: examples(desk, t.name))

    def fixed(uri: str, name: str, about: str, mime: str, text: Callable[[], str]) -> None:
        def read() -> str:
            desk.record(f"read {uri}", {})
            return text()

        server.resource(uri, name=name, description=about, mime_type=mime)(read)

    fixed(
        "qa://reference",
        "plan reference",
        "How to write a plan: all rules, steps and functions in short.",
        "text/markdown",
        prompt.static,
    )
    fixed(
        "qa://reference/full",
        "full plan reference",
        "Every step and function with its examples.",
        "text/markdown",
        markdown,
    )
    fixed(
        "qa://schema",
        "reply schema",
        "The JSON schema of a plan.",
        "application/json",
        lambda: json.dumps(reply_schema()),
    )


def add_prompts(server: Server) -> None:
    @server.prompt(title="A first look at a table")
    def first_look(table: str) -> str:
        """What a table is about, what is odd in it, and what one could ask."""
        return (
            f"Take a first look at the table {table!r}. Call describe_table and profile_table for it and relationships for its links. Then say in a few sentences "
            "what a row is and which period and groups it covers; name what is odd (missing values, assumptions in how the file was read, columns of one value); "
            "and propose three questions worth asking. Report figures as the tools give them."
        )

    @server.prompt(title="Ask a question of the tables")
    def ask_tables(question: str) -> str:
        """An answer with what it rests on."""
        return (
            f"Answer this question from the tables: {question}\n\nCall `ask` first. If it declines or asks back, read qa://reference, write a plan yourself, check it with check_plan and run it with "
            "run_plan. Answer in a sentence with the figures as they stand, then list the assumptions and warnings. If the tables do not hold what is asked, say so."
        )
