"""Imports follow the data: no module reads one that comes after it, and big libraries stay in their rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A room may import the rooms before it. `settings` may be read by anything above `types`.
ORDER = ["errors", "types", "settings", "plan", "data", "engine", "planner", "answer", "audit", "pipeline"]
RANK = {room: place for place, room in enumerate(ORDER)}
RANK |= dict.fromkeys(("ui", "evaluate", "mcp_server", "terminal"), len(ORDER))
RANK |= {"cli": len(ORDER) + 1, "__main__": len(ORDER) + 2, "__init__": len(ORDER) + 2}
TOP = len(ORDER) + 3  # app.py and the pages

# Who may import a library, by the start of the path. `plan` knows no file format and no network.
ONLY_IN = {
    "streamlit": ("qa/ui/", "app.py", "pages/"),
    "litellm": ("qa/planner/model.py",),
    "mcp": ("qa/mcp_server/",),
}
LAZY = {"litellm", "mcp"}
NEVER_IN = {
    "qa/plan/": {
        "socket",
        "ssl",
        "http",
        "urllib",
        "requests",
        "httpx",
        "aiohttp",
        "subprocess",
        "duckdb",
        "pyarrow",
        "fastexcel",
    }
}


def product_files() -> list[Path]:
    return sorted([*ROOT.glob("app.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("qa/**/*.py")])


def room_of(place: str) -> str | None:
    """`qa/data/read.py` → data, `qa/audit.py` → audit, `app.py` → None."""
    parts = Path(place).with_suffix("").parts
    return parts[1] if parts[0] == "qa" else None


def imports(source: str, place: str) -> Iterator[tuple[str, int, bool]]:
    """(dotted name, line, whether it runs when the module is imported) of every import, typing-only ones too."""
    tree = ast.parse(source)
    inside = {
        id(node)
        for f in ast.walk(tree)
        if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(f)
    }
    package = Path(place).with_suffix("").parts[:-1]
    for node in ast.walk(tree):
        eager = id(node) not in inside
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, eager
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            if module == "qa":
                yield from ((f"qa.{alias.name}", node.lineno, eager) for alias in node.names)
            else:
                yield module, node.lineno, eager


def offences(source: str, place: str) -> list[str]:
    """What a file imports that it must not, as `line N: why`."""
    found = []
    room = room_of(place)
    rank = TOP if room is None else RANK.get(room)
    if rank is None:
        return [f"line 1: '{room}' has no place in the order; give it one in ORDER"]
    for name, line, eager in imports(source, place):
        library = name.split(".")[0]
        if library == "qa":
            target = [*name.split("."), "__init__"][1]
            other = RANK.get(target, RANK["__init__"])
            if target != room and other >= rank:
                found.append(f"line {line}: {room or place} must not import {name}, which comes after it")
        if library in ONLY_IN and not place.startswith(ONLY_IN[library]):
            found.append(f"line {line}: only {', '.join(ONLY_IN[library])} may import {library}")
        if library in LAZY and eager and library != "mcp":
            found.append(f"line {line}: import {library} inside a function; it takes seconds")
        for start, never in NEVER_IN.items():
            if place.startswith(start) and library in never:
                found.append(f"line {line}: {start} must not import {library}")
    return found


@pytest.mark.parametrize("path", product_files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_imports_only_what_comes_before_it(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()) == []


@pytest.mark.parametrize(
    ("place", "source", "is_wrong"),
    [
        ("qa/types.py", "from qa.errors import Issue", False),
        ("qa/types.py", "from qa.settings import settings", True),
        ("qa/errors.py", "import qa.types", True),
        ("qa/plan/check.py", "from qa.data.table import Table", True),
        ("qa/plan/check.py", "from ..data.table import Table", True),
        ("qa/plan/check.py", "from .formula import parse", False),
        ("qa/plan/check.py", "from qa import data", True),
        ("qa/plan/check.py", "import urllib.request", True),
        ("qa/data/read.py", "from qa.plan.formula import parse\nfrom qa.settings import settings", False),
        ("qa/data/read.py", "def late():\n    from qa.engine.run import run", True),
        ("qa/answer/prose.py", "from qa.planner.dialogue import Turn", False),
        ("qa/planner/dialogue.py", "from qa.answer.answer import Answer", True),
        ("qa/pipeline.py", "import qa.ui.session", True),
        ("qa/ui/cards.py", "from qa.cli import main", True),
        ("qa/ui/cards.py", "import qa", True),
        ("qa/cli.py", "from qa.mcp_server import serve", False),
        ("qa/answer/chart.py", "import streamlit as st", True),
        ("pages/data.py", "import streamlit as st\nfrom qa.ui.page import open_page", False),
        ("qa/planner/model.py", "import litellm", True),
        ("qa/planner/model.py", "def call():\n    import litellm", False),
        ("qa/pipeline.py", "def call():\n    import litellm", True),
        ("qa/cli.py", "from mcp.server import MCPServer", True),
        ("qa/gadget.py", "import os", True),
    ],
)
def test_the_rule_itself_tells_right_from_wrong(place: str, source: str, is_wrong: bool) -> None:
    assert bool(offences(source, place)) is is_wrong
