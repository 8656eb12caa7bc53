"""A real MCP client lists and calls every tool, resource and prompt: in process, over stdio and over HTTP."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from qa.audit import Audit
from qa.data.gather import Shelf
from qa.engine.pool import Pool
from qa.mcp_server import make_server
from qa.settings import Settings, settings

ROOT = Path(__file__).parents[2]
TOOLS = {
    "ask", "run_plan", "check_plan", "list_tables", "describe_table", "profile_table", "sample_rows", "search_columns", "relationships", "explain",
    "save_question", "list_saved_questions",
}  # fmt: skip
PROBLEM = re.compile(r"^\[[a-z_]+\] .+ Hint: .+", re.DOTALL)
BY_REGION = {
    "reply": "plan",
    "lets": [],
    "parts": [
        {
            "title": "by region",
            "source": "sales",
            "steps": [{"op": "summarize", "by": ["region"], "metrics": ["sum(amount) as total"]}],
        }
    ],
}
ROWS = [["North", 4.5], ["South", 2.0]]
EVERY_ROW = {"parts": [{"title": "", "source": "numbers", "steps": []}]}
SLOW = {
    "parts": [{"title": "", "source": "numbers", "steps": [
        {"op": "join", "table": "numbers", "as": "more", "how": "cross"}, {"op": "summarize", "by": ["text(numbers.n * 10000 + more.n) as pair"], "metrics": ["count() as n"]},
    ]}]
}  # fmt: skip


def apart(main: Any) -> Any:
    """Runs a coroutine function in a thread of its own: browser tests leave an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, main).result()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sales of two regions, their bosses, and some thousand numbers."""
    root = tmp_path / "data"
    root.mkdir()
    (root / "sales.csv").write_text(
        "region,amount,buyer,card\nNorth,1.5,Ann,AAAA-1\nSouth,2,Bob,AAAA-2\nNorth,3,Cleo,AAAA-3\n"
    )
    (root / "sales.qa.yaml").write_text(
        "description: What was sold\ncolumns:\n  region: {}\n  amount: {}\n  buyer: {send: profile}\n  card: {send: nothing}\n"
    )
    (root / "bosses.csv").write_text("region,boss\nNorth,Ann\nSouth,Bob\n")
    (root / "numbers.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(4_000)))
    return root


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    return settings().model_copy(update={"audit": tmp_path / "audit.sqlite", "cache": tmp_path / "cache"})


Call = Callable[..., Awaitable[Any]]


@asynccontextmanager
async def client_of(folder: Path, own: Settings) -> AsyncIterator[mcp.Client]:
    pool = Pool(own)
    try:
        async with mcp.Client(make_server(Shelf([folder], cache=own.cache), own, pool=pool)) as client:
            yield client
    finally:
        pool.close()


def talk(folder: Path, own: Settings, work: Callable[[mcp.Client], Awaitable[Any]]) -> Any:
    """What `work` gives with a client of a server over the folder."""

    async def main() -> Any:
        async with client_of(folder, own) as client:
            return await work(client)

    return apart(main)


def called(folder: Path, own: Settings, tool: str, **arguments: Any) -> Any:
    return talk(folder, own, lambda client: client.call_tool(tool, arguments))


def good(result: Any) -> Any:
    assert not result.is_error, result.content[0].text
    return result.structured_content


async def everything(client: mcp.Client) -> None:
    """Lists and calls every tool, resource and prompt."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() == TOOLS
    assert all(tool.output_schema and tool.description for tool in tools.values())
    assert {name for name, tool in tools.items() if not tool.annotations.read_only_hint} == {"save_question"}

    async def call(tool: str, **arguments: Any) -> Any:
        return good(await client.call_tool(tool, arguments))

    assert [(t["name"], t["rows"]) for t in (await call("list_tables"))["tables"]] == [
        ("bosses", 2),
        ("numbers", 4000),
        ("sales", 3),
    ]
    assert (await call("describe_table", table="sales"))["description"] == "What was sold"
    assert (await call("profile_table", table="numbers"))["profile"]["columns"][0]["mean"] == 1999.5
    sample = await call("sample_rows", table="numbers", n=3, seed=7)
    assert len(sample["rows"]) == 3
    assert sample == await call("sample_rows", table="numbers", n=3, seed=7)
    assert (await call("search_columns", words="boss"))["hits"][0]["table"] == "bosses"
    assert (await call("relationships"))["relationships"][0]["on"] == ["region"]
    assert await call("check_plan", plan=BY_REGION) == {"ok": True, "issues": []}
    explained = await call("explain", plan=BY_REGION)
    assert explained["parts"][0]["steps"][0]["op"] == "summarize"
    assert "GROUP BY" in explained["parts"][0]["sql"]
    assert (await call("run_plan", plan=BY_REGION))["parts"][0]["rows"] == ROWS
    answer = await call("ask", question="total amount by region")
    assert (answer["status"], answer["parts"][0]["rows"]) == ("answered", ROWS)
    assert answer["audit_id"]
    assert (await call("save_question", question="what did each region bring in", plan=BY_REGION))["table"] == "sales"
    assert [q["problem"] for q in (await call("list_saved_questions"))["questions"]] == [None]
    assert (await call("ask", question="What did each region bring in?"))["planner"] == "verified"
    uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
    assert {
        "qa://reference",
        "qa://schema",
        "qa://tables/sales/profile",
        "qa://tables/sales/columns",
        "qa://tables/sales/examples",
    } <= set(uris)
    texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in uris}
    assert all(texts.values())
    for example in json.loads(texts["qa://tables/sales/examples"])["examples"]:
        assert good(await client.call_tool("run_plan", {"plan": example["plan"]}))["status"] == "answered"
    assert len((await client.list_resource_templates()).resource_templates) == 3
    prompts = (await client.list_prompts()).prompts
    assert {prompt.name for prompt in prompts} == {"first_look", "ask_tables"}
    for prompt in prompts:
        told = await client.get_prompt(prompt.name, {argument.name: "sales" for argument in prompt.arguments or ()})
        assert "sales" in told.messages[0].content.text


def test_everything_in_process_and_every_call_is_on_record(folder: Path, own: Settings) -> None:
    talk(folder, own, everything)
    log = Audit(own.audit)
    asked = [record["question"].split(" {")[0] for record in log.list(limit=500)]
    assert TOOLS - {"ask", "run_plan"} <= set(asked)
    assert "total amount by region" in asked
    assert any(text.startswith("read qa://reference") for text in asked)
    assert log.verify() == []


def environment(own: Settings, **more: str) -> dict[str, str]:
    return {**os.environ, "QA_AUDIT": str(own.audit), "QA_CACHE": str(own.cache), "PYTHONPATH": str(ROOT), **more}


def test_everything_over_stdio(folder: Path, own: Settings) -> None:
    async def main() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "qa", "mcp", str(folder)], env=environment(own), cwd=ROOT
        )
        async with mcp.Client(server) as client:
            await everything(client)

    apart(main)


@pytest.fixture
def served(folder: Path, own: Settings) -> Iterator[str]:
    """The address of a server over HTTP that wants the token `open sesame`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "qa", "mcp", str(folder), "--http", f"127.0.0.1:{port}"]
    server = subprocess.Popen(
        command, env=environment(own, QA_MCP_TOKEN="open sesame"), cwd=ROOT, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait()


def test_everything_over_http_with_the_token_and_nothing_without(served: str) -> None:
    for headers in ({}, {"Authorization": "Bearer guess"}):
        refused = httpx2.post(served, json={}, headers=headers)
        assert (refused.status_code, refused.json()["error"].split(" ")[0]) == (401, "[no_token]")

    async def main() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer open sesame"}, timeout=120) as http,
            mcp.Client(streamable_http_client(served, http_client=http)) as client,
        ):
            await everything(client)

    apart(main)


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("a path for a table", "profile_table", {"table": "../sales.csv"}, "path_denied"),
    ("a path that exists", "sample_rows", {"table": "/etc/hostname"}, "path_denied"),
    ("an address for a table", "describe_table", {"table": "https://example.com/t.parquet"}, "path_denied"),
    ("an unknown table", "describe_table", {"table": "sale"}, "no_such_table"),
    ("a path as the source of a plan", "run_plan", {"plan": {"parts": [{"title": "", "source": "/etc/passwd", "steps": []}]}}, "no_such_table"),
    ("an over-long result", "run_plan", {"plan": EVERY_ROW}, "result_too_long"),
    ("a plan that is no JSON", "run_plan", {"plan": "{bad"}, "bad_json"),
    ("a plan with an unknown step", "run_plan", {"plan": {"parts": [{"title": "", "source": "sales", "steps": [{"op": "filtr"}]}]}}, "no_such_step"),
    ("a plan with an unknown column", "explain", {"plan": {"parts": [{"title": "", "source": "sales", "steps": [{"op": "filter", "where": "amout > 1"}]}]}}, "no_such_column"),
    ("a plan that names a column kept at home", "run_plan", {"plan": {"parts": [{"title": "", "source": "sales", "steps": [], "show": ["card"]}]}}, "no_such_column"),
    ("a plan that shows cells of which only figures may be told", "run_plan", {"plan": {"parts": [{"title": "", "source": "sales", "steps": []}]}}, "kept_home"),
    ("such cells under another name", "run_plan", {"plan": {"parts": [{"title": "", "source": "sales", "steps": [{"op": "derive", "columns": ["upper(buyer) as who"]}], "show": ["who"]}]}}, "kept_home"),
    ("an argument of a wrong kind", "sample_rows", {"table": "sales", "n": 5_000}, "bad_argument"),
    ("a missing argument", "run_plan", {}, "bad_argument"),
    ("an unknown tool", "drop_table", {"table": "sales"}, "no_such_tool"),
    ("neither plan nor question", "explain", {}, "bad_argument"),
    ("a question saved with a bad plan", "save_question", {"question": "x", "plan": {"parts": [{"title": "", "source": "nowhere", "steps": []}]}}, "no_such_table"),
]  # fmt: skip


def test_what_is_wrong_is_told_with_its_code_and_a_hint_and_recorded(folder: Path, own: Settings) -> None:
    async def main(client: mcp.Client) -> list[Any]:
        return [await client.call_tool(tool, arguments) for _, tool, arguments, _ in WRONG]

    results = talk(folder, own, main)
    for (name, _, _, code), result in zip(WRONG, results, strict=True):
        text = result.content[0].text
        assert result.is_error, f"{name}: {text}"
        assert text.startswith(f"[{code}] "), f"{name}: {text}"
        assert PROBLEM.match(text), f"{name}: {text}"
    assert len(Audit(own.audit).list(status="failed", limit=500)) >= len(WRONG)


def test_a_plan_past_its_time_is_stopped_and_the_next_is_answered(folder: Path, own: Settings) -> None:
    async def main(client: mcp.Client) -> tuple[Any, Any]:
        return await client.call_tool("run_plan", {"plan": SLOW}), await client.call_tool(
            "run_plan", {"plan": BY_REGION}
        )

    slow, next_one = talk(folder, own.model_copy(update={"query_seconds": 0.5}), main)
    assert slow.is_error
    assert slow.content[0].text.startswith("[too_slow] ")
    assert "Hint: " in slow.content[0].text
    assert good(next_one)["parts"][0]["rows"] == ROWS


def test_the_first_rows_of_a_long_result_are_given_when_asked_for(folder: Path, own: Settings) -> None:
    part = good(called(folder, own, "run_plan", plan=EVERY_ROW, rows=3))["parts"][0]
    assert (part["rows"], part["total_rows"], part["truncated"]) == ([[0], [1], [2]], 4000, True)


def test_a_declined_question_is_a_result_that_says_so(folder: Path, own: Settings) -> None:
    answer = good(called(folder, own, "ask", question="weather in Paris"))
    assert (answer["status"], answer["parts"]) == ("declined", [])
    assert answer["reason"]


def test_columns_kept_at_home_are_nowhere(folder: Path, own: Settings) -> None:
    async def main(client: mcp.Client) -> str:
        tools = [
            ("describe_table", {"table": "sales"}),
            ("profile_table", {"table": "sales"}),
            ("sample_rows", {"table": "sales"}),
            ("search_columns", {"words": "aaaa"}),
        ]
        said = [json.dumps(good(await client.call_tool(tool, arguments))) for tool, arguments in tools]
        uris = [str(r.uri) for r in (await client.list_resources()).resources if "sales" in str(r.uri)]
        return " ".join([*said, *[(await client.read_resource(uri)).contents[0].text for uri in uris]])

    said = talk(folder, own, main)
    assert "card" not in said
    assert "AAAA" not in said
    assert "Cleo" not in said
    counted = {
        "parts": [
            {"title": "", "source": "sales", "steps": [{"op": "summarize", "metrics": ["count_distinct(buyer) as n"]}]}
        ]
    }
    assert good(called(folder, own, "run_plan", plan=counted))["parts"][0]["rows"] == [[3]]


@pytest.mark.parametrize(
    "uri", ["qa://tables/nowhere/profile", "qa://tables/..%2F..%2Fetc%2Fpasswd/profile", "file:///etc/passwd"]
)
def test_a_resource_that_is_none_of_ours_is_refused_in_our_words(uri: str, folder: Path, own: Settings) -> None:
    async def main(client: mcp.Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        return str(refused.value)

    assert PROBLEM.match(talk(folder, own, main))


def test_a_changed_file_is_read_again(folder: Path, own: Settings) -> None:
    async def main(client: mcp.Client) -> tuple[Any, Any]:
        first = await client.call_tool("run_plan", {"plan": BY_REGION})
        (folder / "sales.csv").write_text("region,amount,buyer,card\nEast,7,Dan,AAAA-4\n")
        return first, await client.call_tool("run_plan", {"plan": BY_REGION})

    before, after = talk(folder, own, main)
    assert good(before)["parts"][0]["rows"] == ROWS
    assert good(after)["parts"][0]["rows"] == [["East", 7]]
