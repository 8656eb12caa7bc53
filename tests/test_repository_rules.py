"""Rules of the repository that no linter knows: how modules open, names, layout, and what must never be committed."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TOP = {
    "app.py", "pages", "qa", "tests", "sample_data", ".streamlit", ".ci", "benchmarks", "docs", "requirements.txt",
    "requirements-dev.txt", "packages.txt", "pyproject.toml", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md",
    "LICENSE", "Dockerfile", ".gitignore", ".gitattributes",
}  # fmt: skip
VAGUE = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}
CALLS_ROW_BY_ROW = {"map_elements", "iterrows", "itertuples", "apply_rows"}
LONGEST = 550
TO_BE_SPLIT = {"qa/planner/offline/conditions.py", "qa/planner/offline/link.py", "qa/planner/offline/read.py"}
"""Files that hold more than one subject still. Take a name out when its file is split; add none."""

# Addresses of a machine that made this, not of the product: absolute home or work folders, package mirrors on disk.
MACHINE = re.compile(
    r"(?<![\w.:])/(?:work|root|home/\w+|Users/\w+)/\w|file:///(?:opt|home|root)|(?:\d{1,3}\.){3}\d{1,3}:\d+/(?:simple|pypi)|"
    r"https?://[\w.-]*(?:artifactory|nexus|devpi|mirror)[\w.-]*",
    re.IGNORECASE,
)


def tracked() -> list[Path]:
    """The files of the repository: what git tracks, or, in a copy without git, all but what tools leave behind."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        left = {".venv", "venv", "build", "dist", "node_modules", "test-results", "__pycache__"}
        found = [path for path in ROOT.rglob("*") if path.is_file()]
        return [
            path
            for path in found
            if not any(
                part in left or part.endswith(("_cache", ".egg-info")) or part == ".git"
                for part in path.relative_to(ROOT).parts
            )
        ]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


FILES = tracked()
PYTHON = [path for path in FILES if path.suffix == ".py"]
PRODUCT = [path for path in PYTHON if path.relative_to(ROOT).parts[0] in ("qa", "pages", "app.py")]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def opens_with_a_sentence(source: str) -> bool:
    """Whether the module's docstring starts with one sentence on what it is for."""
    doc = ast.get_docstring(ast.parse(source)) or ""
    first = doc.split("\n\n")[0].strip()
    return bool(re.match(r"[\"'`A-Z0-9.]", first)) and first.endswith((".", "!", "?", ":")) and len(first.split()) >= 3


def swallows_everything(source: str) -> list[int]:
    """Lines of `except:` and of `except BaseException` that does not raise again."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            bare = node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "BaseException")
            if bare and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
                found.append(node.lineno)
    return found


def row_by_row(source: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr in CALLS_ROW_BY_ROW
    ]


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_a_module_opens_with_one_sentence(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not source.strip() or opens_with_a_sentence(source)


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_a_product_module_catches_by_name_and_never_loops_over_rows(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert swallows_everything(source) == []
    assert row_by_row(source) == []


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_a_product_module_holds_one_subject(path: Path) -> None:
    long = len(path.read_text(encoding="utf-8").splitlines()) > LONGEST
    assert not long or name_of(path) in TO_BE_SPLIT


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [name_of(path) for path in PYTHON if VAGUE & set(re.split(r"[_/.]", name_of(path)))] == []


def test_the_top_level_is_as_designed() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} - TOP == set()


def test_no_file_names_the_machine_it_was_made_on() -> None:
    found = []
    for path in FILES:
        if path.suffix in (".parquet", ".png", ".xlsx", ".xls", ".zip", ".gz", ".sqlite", ".duckdb"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if MACHINE.search(line) and path != Path(__file__):
                found.append(f"{name_of(path)}:{number}: {line.strip()[:80]}")
    assert found == []


def test_no_secret_is_tracked() -> None:
    names = [name_of(path) for path in FILES]
    assert not [name for name in names if name.endswith((".env", "secrets.toml", ".pem", ".key"))]
    key = re.compile(r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}|AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{16})")
    assert not [
        name_of(path)
        for path in FILES
        if path.suffix in (".py", ".toml", ".md", ".yaml", ".json", ".example")
        and key.search(path.read_text(encoding="utf-8"))
    ]


def test_requirements_give_lower_bounds_and_no_upper_ones() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [
            line
            for line in ROOT.joinpath(name).read_text(encoding="utf-8").splitlines()
            if line and line[0] not in "#-"
        ]
        assert [
            line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+(\[[a-z0-9,]+\])?>=[0-9.]+( ?;.*)?", line)
        ] == []


def test_the_readme_has_exactly_two_set_up_commands_and_both_exist() -> None:
    setup = ROOT.joinpath("README.md").read_text(encoding="utf-8").split("## Set up")[1].split("```")[1]
    commands = [line.split("#")[0].strip() for line in setup.splitlines()[1:] if line.strip()]
    assert commands == ["make run", "make test"]
    makefile = ROOT.joinpath("Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE) for command in commands)


@pytest.mark.parametrize(
    ("rule", "wrong", "right"),
    [
        (lambda s: not opens_with_a_sentence(s), "x = 1", '"""What this is for, in one sentence."""'),
        (lambda s: not opens_with_a_sentence(s), '"""utilities"""', '"""A thing that tells.\n\nMore."""'),
        (swallows_everything, "try:\n    x\nexcept:\n    pass", "try:\n    x\nexcept ValueError:\n    pass"),
        (swallows_everything, "try:\n    x\nexcept BaseException:\n    pass", "try:\n    x\nexcept BaseException:\n    raise"),
        (row_by_row, "frame.map_elements(f)", "frame.map_batches(f)"),
        (MACHINE.search, "open('/work/" + "shared/x')", "GET /work-item/7"),
        (MACHINE.search, "file:///opt/" + "pypi", "https://pypi" + ".org/simple"),
    ],
)  # fmt: skip
def test_each_rule_tells_right_from_wrong(rule: object, wrong: str, right: str) -> None:
    assert callable(rule)
    assert rule(wrong)
    assert not rule(right)
