"""The examples of the README work as they are printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parents[1]
README = ROOT.joinpath("README.md").read_text(encoding="utf-8")


def examples(heading: str) -> list[str]:
    """The commands of the first block of code under a heading."""
    block = README.split(f"\n## {heading}\n")[1].split("```sh\n")[1].split("```")[0]
    return [line.split("  #")[0].strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize("command", examples("From the terminal"))
def test_a_terminal_example_does_what_it_says(command: str, tmp_path: Path) -> None:
    assert command.startswith("python -m qa ")
    own = os.environ | {
        "QA_AUDIT": str(tmp_path / "audit.sqlite"),
        "QA_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "160",
    }
    mine = command.replace("python", f"'{sys.executable}'", 1)
    done = subprocess.run(
        ["bash", "-c", mine], cwd=ROOT, env=own, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_python_example_runs(tmp_path: Path) -> None:
    code = README.split("\n## From Python\n")[1].split("```python\n")[1].split("```")[0]
    own = os.environ | {"QA_AUDIT": str(tmp_path / "audit.sqlite"), "QA_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "953" in done.stdout


def test_the_assistant_example_starts_a_server_that_answers(tmp_path: Path) -> None:
    block = json.loads(README.split("\n## For an assistant\n")[1].split("```json\n")[1].split("```")[0])
    told = block["mcpServers"]["tables"]
    own = os.environ | {"QA_AUDIT": str(tmp_path / "audit.sqlite"), "QA_CACHE": str(tmp_path / "cache")}
    command = sys.executable if told["command"] == "python" else told["command"]

    async def main() -> int:
        import mcp
        from mcp.client.stdio import StdioServerParameters

        server = StdioServerParameters(command=command, args=told["args"], env=own, cwd=ROOT)
        async with mcp.Client(server) as client:
            found = await client.call_tool("list_tables", {})
            return int(found.structured_content["total"])

    with ThreadPoolExecutor(1) as pool:  # browser tests leave an event loop in this thread
        assert pool.submit(anyio.run, main).result() == 4


def test_the_plain_commands_do_what_the_make_targets_do() -> None:
    run, test = examples("Set up")
    assert (run, test) == ("make run", "make test")
    plain = README.split("Without make")[1].split("```sh\n")[1].split("```")[0].splitlines()
    assert len(plain) == 2
    assert "-r requirements.txt" in plain[0]
    assert "streamlit run app.py" in plain[0]
    assert "-r requirements-dev.txt" in plain[1]
    assert plain[1].endswith("pytest")


def test_every_link_to_a_file_leads_to_one() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "sample_data/README.md"):
        path = ROOT / page
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (path.parent / target).exists(), f"{page}: {target}"


def test_the_semantic_file_in_the_readme_can_be_read() -> None:
    from qa.data.semantics import parse_semantics

    semantics = parse_semantics(README.split("```yaml\n")[1].split("```")[0])
    assert semantics.columns["salary"].send == "nothing"
    assert semantics.formulas == {"average order": "sum(amt) / count_distinct(order_id)"}


def test_every_setting_that_the_documents_name_exists() -> None:
    from qa.settings import Settings

    files = ("README.md", "CONTRIBUTING.md", ".streamlit/secrets.toml.example", ".streamlit/config.toml")
    named = {
        name
        for file in files
        for name in re.findall(r"\bQA_([A-Z_]+)\b", ROOT.joinpath(file).read_text(encoding="utf-8"))
    }
    assert named - {"CHROMIUM"} <= {name.upper() for name in Settings.model_fields}
    example = ROOT.joinpath(".streamlit/secrets.toml.example").read_text(encoding="utf-8")
    ours = re.sub(r"^# \[auth\]$.*?(?=^# \[|\Z)", "", example, flags=re.MULTILINE | re.DOTALL)  # Streamlit's own table
    assert set(re.findall(r"^# (\w+) = ", ours, re.MULTILINE)) <= set(Settings.model_fields)
