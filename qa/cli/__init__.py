"""The terminal: every command by name, and the one line that says what went wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from qa.cli import asking, browsing, chat, files, records, serving
from qa.cli.arguments import FAILED, OK, USAGE
from qa.errors import QAError

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int], str]

COMMANDS: dict[str, Command] = {
    "ask": (asking.ask_options, asking.ask, "ask a question of files"),
    "chat": (chat.options, chat.run, "ask one question after the other; a later one may follow up on an earlier one"),
    "run": (asking.run_options, asking.run, "run a plan on files"),
    "check": (asking.plan_options, asking.check, "check a plan against files without running it"),
    "from-sql": (asking.sql_options, asking.from_sql, "turn a SELECT into a plan"),
    "tables": (browsing.tables_options, browsing.tables, "which tables there are, and their columns"),
    "profile": (browsing.profile_options, browsing.profile, "what is in the columns of files, and how they were read"),
    "relationships": (browsing.relationships_options, browsing.relationships, "how tables hang together, with the evidence"),
    "search": (browsing.search_options, browsing.search, "find tables, columns and values by words"),
    "load": (files.load_options, files.load, "read files and write clean copies"),
    "init-config": (files.init_options, files.init_config, "draft the semantic file of a table"),
    "schema": (asking.json_option, asking.schema, "the JSON schema of a reply"),
    "prompt": (asking.prompt_options, asking.prompt, "exactly what would be sent to a model"),
    "reference": (asking.json_option, asking.reference, "every step and function of the plan language"),
    "audit": (records.audit_options, records.audit, "export or verify the audit record"),
    "eval": (records.eval_options, records.evaluate, "score a set of questions"),
    "mcp": (serving.mcp_options, serving.mcp, "serve the tables to an assistant over MCP"),
    "serve": (serving.serve_options, serving.serve, "open the page in a browser"),
    "completion": (serving.completion_options, serving.completion, "print a completion script for a shell"),
}  # fmt: skip
"""Each command: its options, what it does, its one-line help."""

EXIT_CODES = """\
exit codes:
  0  it did what was asked
  1  no answer: declined, asked back or failed; a check that found issues
  2  a usage or file error, told in one line on standard error
results go to standard output, progress and errors to standard error; with --json standard output holds JSON alone"""


class Parser(argparse.ArgumentParser):
    """Tells a usage error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"qa: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Results go to stdout, progress and errors to stderr."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.command_door(options)
        sys.stdout.flush()
        return code
    except QAError as error:
        print(f"qa: {' '.join(str(error.issues[0]).split()) if error.issues else 'failed'}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:
        print(f"qa: {error.filename or ''}: {error.strerror or error}".replace("qa: : ", "qa: "), file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("qa: stopped", file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The command line, as `python -m qa --help` shows it."""
    top = Parser(
        prog="qa",
        description="Ask questions of your own tables and get answers you can trust.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (build, run, help_text) in COMMANDS.items():
        command = commands.add_parser(
            name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.", epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
        )  # fmt: skip
        build(command)
        command.set_defaults(command_door=run)
    return top
