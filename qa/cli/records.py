"""Commands over the audit record and over sets of questions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qa.cli.arguments import FAILED, OK, add_json, emit


def audit_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=["export", "verify"])
    command.add_argument("--out", metavar="FILE", help="where export writes; default standard output")
    command.add_argument("--noted", metavar="HEAD", help="verify: a head noted earlier, count:hash")
    add_json(command)


def audit(options: argparse.Namespace) -> int:
    from qa.audit import Audit
    from qa.settings import settings

    log = Audit(settings().audit)
    if options.action == "verify":
        return _verified(list(log.verify(options.noted)), log.head(), options.json)
    if options.out:
        with Path(options.out).open("w", encoding="utf-8") as file:
            count = log.export(file)
        if options.json:
            emit({"out": options.out, "records": count})
    else:
        log.export(sys.stdout)
    return OK


def _verified(findings: list[str], head: str, as_json: bool) -> int:
    if as_json:
        emit({"ok": not findings, "findings": findings, "head": head})
    else:
        for finding in findings:
            print(finding)
        if not findings:
            print("Every record is as it was written.")
    return FAILED if findings else OK


def eval_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("questions", metavar="QUESTIONS.jsonl")
    command.add_argument("--planner", choices=["offline", "model", "sql"])
    command.add_argument("--replies", metavar="FILE", help="score recorded replies")
    command.add_argument("--export-prompts", metavar="FILE", help="write what would be sent, and ask nothing")
    command.add_argument("--out", metavar="PREDS.jsonl")
    command.add_argument(
        "--report", metavar="FILE", help="write the figures as JSON, or as a page when it ends in .html"
    )
    command.add_argument("--chaos", action="store_true", help="break every first reply, to see how many recover")
    command.add_argument("--limit", type=int)
    add_json(command)


def evaluate(options: argparse.Namespace) -> int:
    from qa import evaluate

    def path(text: str | None) -> Path | None:
        return Path(text) if text else None

    report = evaluate.run(
        Path(options.questions), out=path(options.out), planner=options.planner, replies=path(options.replies), export_prompts=path(options.export_prompts),
        chaos=options.chaos, report=path(options.report), limit=options.limit, progress=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    if options.json:
        emit(report.as_dict())
    else:
        print(report)
    return OK
