"""The SDK's server with our errors, limits and record around every tool."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import Resource, ToolAnnotations
from pydantic import ValidationError

from qa.errors import Issue, QAError
from qa.mcp_server.desk import Desk, told

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class Server(MCPServer[Any]):
    """The SDK's server, its errors in our words and each table's resources listed."""

    desk: Desk

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise self._refused(name, arguments, _argument_issue(name, cause)) from cause
            if isinstance(cause, ToolError):
                raise ToolError(str(cause)) from None
            if cause is None:
                known = ", ".join(tool.name for tool in await self.list_tools())
                raise self._refused(
                    name, arguments, Issue("no_such_tool", "", f"There is no tool {name!r}.", f"Tools are {known}.")
                ) from None
            raise

    def _refused(self, name: str, arguments: dict[str, Any], issue: Issue) -> ToolError:
        self.desk.record(name, arguments, [issue])
        return ToolError(told(issue))

    async def read_resource(self, uri: Any, context: Any = None) -> Any:
        try:
            return await super().read_resource(uri, context)
        except ResourceNotFoundError as error:
            if str(error).startswith("["):
                raise
            issue = Issue(
                "no_such_resource",
                "",
                f"There is no resource {str(uri)[:200]!r}.",
                "List the resources; a path is never opened.",
            )
            self.desk.record("read", {"uri": str(uri)[:200]}, [issue])
            raise ResourceNotFoundError(told(issue)) from None

    async def list_resources(self) -> list[Resource]:
        fixed = await super().list_resources()
        tables = await anyio.to_thread.run_sync(self.desk.open)
        kinds = {
            "profile": "Statistics of every column",
            "columns": "Names, kinds, roles and descriptions",
            "examples": "Questions with their plans",
        }
        return [
            *fixed,
            *(
                Resource(
                    uri=f"qa://tables/{table.name}/{kind}",
                    name=f"{table.name} {kind}",
                    description=f"{about} of {table.name}.",
                    mime_type="application/json",
                )
                for table in tables
                for kind, about in kinds.items()
            ),
        ]


def _argument_issue(tool: str, error: ValidationError) -> Issue:
    detail = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return Issue(
        "bad_argument",
        str(detail["loc"][0]),
        f"{detail['msg']}.",
        f"See the input schema of {tool}.",
    )


def add_tool(
    server: Server, *, seconds: float, annotations: ToolAnnotations = READS, asks: bool = False
) -> Callable[[Callable[..., Any]], None]:
    """Adds a tool that runs in a thread under a time limit. What it raises becomes `[code] message Hint: …`.

    Every call is recorded; one that `asks` records itself when it comes to an answer.
    """
    desk = server.desk

    def add(work: Callable[..., Any]) -> None:
        async def run(arguments: dict[str, Any]) -> Any:
            with anyio.fail_after(seconds):
                value = await anyio.to_thread.run_sync(lambda: work(**arguments), abandon_on_cancel=True)
            if not asks:
                await anyio.to_thread.run_sync(desk.record, work.__name__, arguments)
            return value

        @functools.wraps(work)
        async def call(**arguments: Any) -> Any:
            try:
                return await run(arguments)
            except QAError as error:
                issues = error.issues
            except TimeoutError:
                issues = (
                    Issue(
                        "too_slow",
                        "",
                        f"{work.__name__} took longer than {seconds:g} seconds.",
                        "Ask for less, or raise QA_QUERY_SECONDS.",
                    ),
                )
            except Exception:  # the door: an assistant is told that something broke, the log what
                logging.getLogger(__name__).exception("%s broke", work.__name__)
                issues = (Issue("unexpected", "", "Something inside the program broke.", "Ask another way."),)
            desk.record(work.__name__, arguments, issues)
            raise ToolError("\n".join(told(issue) for issue in issues[:10]))

        server.add_tool(call, annotations=annotations)

    return add
