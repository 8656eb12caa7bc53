"""Commands that show what is at hand: tables, columns, values, and how tables hang together."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from qa.cli.arguments import FAILED, OK, add_files, add_json, add_reading, emit, tables_of
from qa.errors import Issue, LoadError

if TYPE_CHECKING:
    from qa.data.gather import Tables
    from qa.data.relations import Relation
    from qa.data.table import Table


def tables_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    add_json(command)


def tables(options: argparse.Namespace) -> int:
    found = tables_of(options)
    if options.json:
        shown = [table_document(found, table) for table in found]
        emit(
            {
                "tables": shown,
                "problems": [issue.as_dict() for issue in found.problems],
                "findings": list(found.findings),
            }
        )
    else:
        from qa.terminal import show_tables

        show_tables(found)
    return OK


def table_document(found: Tables, table: Table) -> dict[str, Any]:
    """A table as JSON: name, file, rows, and its columns with what is known of each."""
    file = found.files.get(table.name)
    columns = [
        {"name": c.name, "kind": c.kind, "role": c.role, "unit": c.unit, "missing": c.missing, "description": c.description, "synonyms": list(c.synonyms)}
        for c in table.profile.columns
    ]  # fmt: skip
    return {
        "name": table.name, "file": None if file is None else str(file), "rows": table.rows, "digest": table.digest, "description": table.profile.description,
        "columns": columns, "metrics": table.profile.metrics,
    }  # fmt: skip


def profile_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    add_json(command)


def profile(options: argparse.Namespace) -> int:
    found = tables_of(options)
    if options.json:
        shown = [
            {"profile": t.profile.model_dump(mode="json"), "report": t.report.model_dump(mode="json")} for t in found
        ]
        emit(shown[0] if len(shown) == 1 else {"tables": shown})
    else:
        from qa.terminal import show_profile

        for table in found:
            show_profile(table)
    return OK


def relationships_options(command: argparse.ArgumentParser) -> None:
    add_files(command)
    add_json(command)


def relationships(options: argparse.Namespace) -> int:
    from qa.data.relations import relationships as found_between

    tables = tables_of(options)
    found = found_between(tables, tables.semantics)
    if options.json:
        emit({"relationships": [relation_document(relation) for relation in found]})
    else:
        from qa.terminal import show_relationships

        show_relationships(found)
    return OK


def relation_document(relation: Relation) -> dict[str, Any]:
    """A relationship as JSON, with the join's `on` and the share of rows that match."""
    return {**relation.model_dump(mode="json"), "on": relation.on, "match_rate": relation.match_rate}


def search_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("words", help="what to look for; every word must be found, the start of a word is enough")
    command.add_argument("files", nargs="*", metavar="FILE", help="files and folders; none: the places of QA_DATA")
    add_reading(command)
    command.add_argument("--limit", type=int, default=20, help="the most hits")
    command.add_argument("--no-values", action="store_true", help="names and descriptions only")
    add_json(command)


def search(options: argparse.Namespace) -> int:
    """Exit code 1 when nothing fits the words."""
    from qa.data.search import search as hits_for

    if options.limit < 1:
        raise LoadError(Issue("usage", "--limit", f"{options.limit} is less than 1.", "Give a number of hits."))
    hits = hits_for(tables_of(options), options.words, limit=options.limit, values=not options.no_values)
    if options.json:
        emit({"hits": [asdict(hit) for hit in hits]})
    else:
        from qa.terminal import show_hits

        show_hits(hits)
    return OK if hits else FAILED
