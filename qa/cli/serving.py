"""Commands that serve: the page, an MCP server, and completion for shells."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from qa.cli.arguments import OK, add_files, places_of, read_options
from qa.errors import Issue, LoadError, QAError

if TYPE_CHECKING:
    from qa.data.gather import Shelf

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT = 8765


def mcp_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    command.add_argument(
        "--http", nargs="?", const=f"127.0.0.1:{PORT}", metavar="HOST:PORT", help=f"streamable HTTP instead of standard input and output; default 127.0.0.1:{PORT}",
    )  # fmt: skip
    command.add_argument(
        "--token", help="bearer token that clients must send; needed beyond this machine; better set QA_MCP_TOKEN"
    )


def mcp(options: argparse.Namespace) -> int:
    from qa.data.gather import Shelf
    from qa.settings import settings

    places = places_of(options)
    _there(places)
    shelf = Shelf(places, options=read_options(options), cache=settings().cache)
    host, port = _address(options.http) if options.http else ("", 0)
    token = options.token or settings().mcp_token
    if host and host not in LOOPBACK and not token:
        raise LoadError(
            Issue(
                "usage",
                "--http",
                f"{host} can be reached from other machines, so a token is needed.",
                "Set QA_MCP_TOKEN, or bind 127.0.0.1.",
            )
        )
    threading.Thread(target=_opened, args=(shelf,), daemon=True).start()
    from qa.mcp_server import serve_http, serve_stdio

    if host:
        print(f"MCP at http://{f'[{host}]' if ':' in host else host}:{port}/mcp", file=sys.stderr)
        serve_http(shelf, settings(), host=host, port=port, token=token)
    else:
        serve_stdio(shelf, settings())
    return OK


def _there(places: list[str]) -> None:
    """Raises LoadError for a file or folder that is not there."""
    from qa.data.remote import is_address

    for place in places:
        if not is_address(place) and not Path(place).exists():
            raise LoadError(Issue("no_such_file", place, "There is no such file.", "Check the path."))


def _opened(shelf: Shelf) -> None:
    """Reads the tables ahead of the first call; what is wrong with one is told to the call that needs it, too."""
    try:
        found = shelf.tables()
    except (QAError, OSError) as error:
        print(f"qa: {error}", file=sys.stderr)
    else:
        print("\n".join(f"note: {text}" for text in (*found.problems, *found.findings)), end="", file=sys.stderr)


def _address(text: str) -> tuple[str, int]:
    """HOST:PORT, PORT or HOST. Raises LoadError for anything else."""
    host, _, port = text.rpartition(":") if ":" in text else ("", "", text) if text.isdigit() else (text, "", str(PORT))
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise LoadError(Issue("usage", "--http", f"{text!r} is not HOST:PORT.", f"Write --http 127.0.0.1:{PORT}."))
    return host.strip("[]") or "127.0.0.1", int(port)


def serve_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, default=8501, help="default 8501")
    command.add_argument("--host", default="localhost", help="address to listen on; default this machine only")
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")


def serve(options: argparse.Namespace) -> int:
    """Runs the page until it is stopped; its exit code is ours."""
    page = Path(__file__).parents[2] / "app.py"
    if not page.is_file() or importlib.util.find_spec("streamlit") is None:
        raise LoadError(
            Issue(
                "no_page",
                "serve",
                "The page is not part of this installation.",
                "Run this in a copy of the repository.",
            )
        )
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(page),
        "--server.address",
        options.host,
        "--server.port",
        str(options.port),
    ]
    return subprocess.call([*command, "--server.headless", str(options.no_browser).lower()], cwd=page.parent)


def completion_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=["bash", "zsh", "fish"])


def completion(options: argparse.Namespace) -> int:
    """Prints a script; `source <(qa completion bash)` turns it on."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](_known()))
    return OK


Known = dict[str, tuple[str, list[str]]]


def _known() -> Known:
    """Each command with its one-line help and its options."""
    from qa.cli import COMMANDS

    found = {}
    for name, (build, _, about) in COMMANDS.items():
        command = argparse.ArgumentParser(add_help=False)
        build(command)
        flags = [flag for action in command._actions for flag in action.option_strings]
        found[name] = (about, sorted([*flags, "--help"]))
    return found


def _bash(known: Known) -> str:
    cases = "\n".join(f"    {name}) flags={' '.join(flags)!r} ;;" for name, (_, flags) in known.items())
    return f"""_qa() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W '{" ".join(known)}' -- "$word") )
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$flags" -- "$word") ) ;;
    *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
  esac
}}
complete -o filenames -F _qa qa"""


def _zsh(known: Known) -> str:
    names = "\n".join(f"    '{name}:{_plain(about)}'" for name, (about, _) in known.items())
    cases = "\n".join(f"    {name}) _values 'option' {' '.join(flags)} ;;" for name, (_, flags) in known.items())
    return f"""#compdef qa
_qa() {{
  local -a commands
  commands=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  if [[ "${{words[CURRENT]}}" != -* ]]; then
    _files
    return
  fi
  case "${{words[2]}}" in
{cases}
  esac
}}
# Loaded from $fpath this file is the function's first call; sourced it only says what the function is for.
if [[ "${{funcstack[1]}}" == _qa ]]; then _qa "$@"; else compdef _qa qa; fi"""


def _fish(known: Known) -> str:
    lines = [
        f"complete -c qa -n __fish_use_subcommand -a {name} -d '{_plain(about)}'" for name, (about, _) in known.items()
    ]
    lines += [
        f"complete -c qa -n '__fish_seen_subcommand_from {name}' {f'-l {flag[2:]}' if flag.startswith('--') else f'-s {flag[1:]}'}"
        for name, (_, flags) in known.items()
        for flag in flags
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return text.replace("'", "").replace(":", " ")
