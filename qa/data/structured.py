"""JSON, NDJSON, Parquet, Arrow, SQLite and DuckDB files to raw tables, read-only."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from qa.data.names import distinct_identifiers
from qa.data.options import ReadOptions
from qa.data.raw import Raw
from qa.data.reversal import as_kind
from qa.data.stated import flattened, numbered
from qa.data.table import Assumption
from qa.errors import Issue, LimitExceeded, LoadError


def read_parquet(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """The table of a Parquet file."""
    frame = pl.scan_parquet(path)
    _within(pl.scan_parquet(path).select(pl.len()).collect().item(), len(frame.collect_schema()), options)
    return [_raw(frame.collect(), name, "parquet", "strictly")]


def read_arrow(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """The table of an Arrow IPC or Feather file, or of an Arrow stream."""
    with path.open("rb") as file:
        head = file.read(6)
    frame = pl.read_ipc(path) if head == b"ARROW1" else pl.read_ipc_stream(path)
    _within(frame.height, frame.width, options)
    return [_raw(frame, name, "arrow", "strictly")]


def read_ndjson(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """One JSON object a line; a key counts wherever it first appears. Broken lines are left out and told."""
    text = _json_text(path, options)
    records: list[dict[str, Any]] = []
    repeated: set[str] = set()
    skipped: list[tuple[int, str, str]] = []
    rows: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=lambda pairs: _object(pairs, repeated))
        except (ValueError, RecursionError):
            skipped.append((number, "is not JSON", line[:200]))
            continue
        records.append(record if isinstance(record, dict) else {"value": record})
        rows.append(number)
    if not records:
        raise LoadError(
            Issue(
                "not_json", path.name, f"{path.name!r} has no line that is a JSON object.", "Check the file's format."
            )
        )
    raw = _told_of(_from_records(records, name, "ndjson", options), repeated)
    return [
        replace(
            raw, rows=pl.Series("row", rows, dtype=pl.UInt32), skipped=tuple(skipped), rows_in=len(rows) + len(skipped)
        )
    ]


def read_json(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """A JSON file: a list of records, an object of columns, or an object holding such lists (one table each)."""
    text = _json_text(path, options)
    repeated: set[str] = set()
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, repeated))
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        if "\n{" in text.strip():
            return read_ndjson(path, options, name)
        raise LoadError(
            Issue(
                "not_json",
                path.name,
                f"{path.name!r} is not valid JSON: {_position(error)}.",
                "Check that the file is complete.",
            )
        ) from error
    tables = _tables(data)
    if not tables:
        raise LoadError(
            Issue(
                "no_table",
                path.name,
                f"{path.name!r} holds no list of records.",
                "A table is a JSON list of objects, or an object of lists.",
            )
        )
    names = (
        distinct_identifiers([key or name for key, _ in tables])
        if len(tables) > 1
        else [name if options.sheet is None else tables[0][0] or name]
    )
    wanted = [
        (named, records)
        for named, (key, records) in zip(names, tables, strict=True)
        if options.sheet in (None, key, named)
    ]
    if not wanted:
        raise LoadError(
            Issue(
                "no_such_table",
                path.name,
                f"There is no table {options.sheet!r} in {path.name!r}.",
                f"It holds {', '.join(names)}.",
            )
        )
    return [_told_of(_from_records(records, named, "json", options), repeated) for named, records in wanted]


def _object(pairs: list[tuple[str, Any]], repeated: set[str]) -> dict[str, Any]:
    """An object of a JSON text; keys that stand in it twice are added to `repeated`."""
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        repeated |= {key for key, _ in pairs if key in seen or seen.add(key)}  # type: ignore[func-returns-value]
    return result


def _told_of(raw: Raw, repeated: set[str]) -> Raw:
    """The table with a note on the keys that some object holds twice."""
    if not repeated:
        return raw
    said = ", ".join(map(repr, sorted(repeated)[:5]))
    note = Assumption(
        code="repeated_keys",
        column=None,
        damage=3,
        message=f"Some objects hold {said} more than once; the last one was taken.",
    )
    return replace(raw, notes=(*raw.notes, note))


def _too_deep(path: Path) -> LoadError:
    return LoadError(
        Issue("too_deep", path.name, f"{path.name!r} is nested too deeply to be read.", "Take out the inner levels.")
    )


def _json_text(path: Path, options: ReadOptions) -> str:
    data = path.read_bytes()
    if len(data) > options.limits.bytes:
        raise LimitExceeded(
            Issue(
                "too_large",
                path.name,
                f"{path.name!r} has {len(data):,} bytes; at most {options.limits.bytes:,} are read.",
                "Split the file.",
            )
        )
    for encoding in (
        [options.encoding]
        if options.encoding
        else ["utf-8-sig", "utf-16"]
        if data[:2] in (b"\xff\xfe", b"\xfe\xff")
        else ["utf-8-sig", "cp1252"]
    ):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise LoadError(Issue("not_text", path.name, f"{path.name!r} is not text.", "Load it with its real ending."))


def _position(error: ValueError) -> str:
    return (
        f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "it cannot be read"
    )


def _tables(data: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    """(key, records) of every table in a JSON document."""
    match data:
        case list() if data and all(isinstance(row, list) for row in data):
            header = [str(cell) for cell in data[0]]
            return [("", [dict(zip(header, row, strict=False)) for row in data[1:]])]
        case list() if data:
            return [("", [row if isinstance(row, dict) else {"value": row} for row in data])]
        case {"columns": list() as columns, "data": list() as rows}:
            return [("", [dict(zip(map(str, columns), row, strict=False)) for row in rows])]
        case {"schema": dict(), "data": list() as rows}:
            return [("", [row for row in rows if isinstance(row, dict)])]
        case dict() if data:
            return _tables_of_object(data)
        case _:
            return []


def _tables_of_object(data: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    values = list(data.values())
    lists = [value for value in values if isinstance(value, list)]
    if (
        lists
        and len(lists) == len(values)
        and len({len(value) for value in lists}) == 1
        and not any(isinstance(x, dict) for value in lists for x in value)
    ):
        return [("", [dict(zip(data, row, strict=True)) for row in zip(*lists, strict=True)])]
    if all(isinstance(value, dict) for value in values) and len(values) > 1:
        keys = [set(value) for value in values]
        if all(k <= keys[0] | keys[1] for k in keys) and all(
            not isinstance(x, dict | list) for value in values for x in value.values()
        ):
            if all(key.isdigit() for value in values for key in value):
                # pandas' orient="columns": {"name": {"0": …, "1": …}}
                return [
                    (
                        "",
                        [
                            {name: column.get(row) for name, column in data.items()}
                            for row in dict.fromkeys(row for value in values for row in value)
                        ],
                    )
                ]
            return [("", [{"key": key, **value} for key, value in data.items()])]
    found = [
        (key, [row if isinstance(row, dict) else {"value": row} for row in value])
        for key, value in data.items()
        if isinstance(value, list) and value
    ]
    if found:
        return found
    inner = [
        (key, records)
        for key, value in data.items()
        if isinstance(value, dict)
        for _, records in _tables_of_object(value)
    ]
    return inner or [("", [data])]


def _from_records(records: list[dict[str, Any]], name: str, format: str, options: ReadOptions) -> Raw:
    """Records to columns in order of first appearance; each column has one kind, a mixed one becomes text."""
    keys = list(dict.fromkeys(key for record in records for key in record))
    flat: dict[str, list[Any]] = {}
    opened: list[str] = []
    for key in keys:
        cells = [record.get(key) for record in records]
        inner = dict.fromkeys(field for cell in cells if isinstance(cell, dict) for field in cell)
        if inner and all(cell is None or isinstance(cell, dict) for cell in cells):
            opened.append(key)
            for field in inner:
                flat[f"{key}.{field}"] = [cell.get(field) if isinstance(cell, dict) else None for cell in cells]
        else:
            flat[key] = cells
    _within(len(records), len(flat), options)
    notes: list[Assumption] = []
    if opened:
        notes.append(
            Assumption(
                code="flattened",
                column=None,
                damage=1,
                message=f"Nested fields were laid out as columns: {', '.join(opened[:10])}.",
            )
        )
    columns = [_json_column(f"c{index}", cells, key, notes) for index, (key, cells) in enumerate(flat.items())]
    return Raw(
        name=name, frame=pl.DataFrame(columns), headers=tuple(flat), format=format, states="loosely", notes=tuple(notes)
    )


def _json_column(id: str, cells: list[Any], key: str, notes: list[Assumption]) -> pl.Series:
    sorts = {type(cell) for cell in cells if cell is not None}
    if not sorts:
        return pl.Series(id, cells, dtype=pl.String)
    if sorts <= {int, float} and bool not in sorts:
        if sorts == {int} and all(cell is None or -(2**63) <= cell < 2**63 for cell in cells):
            return pl.Series(id, cells, dtype=pl.Int64)
        if sorts == {int}:
            return pl.Series(id, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
        if any(isinstance(cell, int) and abs(cell) > EXACT for cell in cells):
            notes.append(
                Assumption(
                    code="digits_lost",
                    column=key,
                    damage=2,
                    reversal=as_kind(key, "text"),
                    message=f"{key!r} mixes broken numbers with whole ones too long to be held exactly beside them.",
                )
            )
        return pl.Series(id, [None if cell is None else _double(cell) for cell in cells], dtype=pl.Float64)
    if sorts == {bool}:
        return pl.Series(id, cells, dtype=pl.Boolean)
    if sorts == {str}:
        return pl.Series(id, cells, dtype=pl.String)
    if sorts == {list} and not any(isinstance(item, dict | list) for cell in cells if cell for item in cell):
        return pl.Series(
            id,
            [None if cell is None else [None if item is None else _plain(item) for item in cell] for cell in cells],
            dtype=pl.List(pl.String),
        )
    if sorts & {dict, list}:
        notes.append(
            Assumption(
                code="kept_as_text",
                column=key,
                damage=1,
                message=f"{key!r} holds deeper nested values; they were kept as JSON text.",
            )
        )
    elif len(sorts) > 1:
        notes.append(
            Assumption(
                code="mixed_json",
                column=key,
                damage=2,
                reversal=as_kind(key, "text"),
                message=f"{key!r} mixes {', '.join(sorted({_SORTS.get(s, 'others') for s in sorts}))}; its cells were read from their text.",
            )
        )
    return pl.Series(id, [None if cell is None else _plain(cell) for cell in cells], dtype=pl.String)


EXACT = 1 << 53
"""Whole numbers up to here are exact as doubles."""


def _double(cell: float) -> float:
    """A number as a double; one past all doubles is infinite."""
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


_SORTS: dict[type, str] = {
    str: "texts",
    int: "numbers",
    float: "numbers",
    bool: "true/false",
    dict: "objects",
    list: "lists",
}


def _plain(cell: Any) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def read_sqlite(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """Every table of a SQLite file, opened read-only; a column's cells may be of several types."""
    import sqlite3

    connection = sqlite3.connect(
        f"file:{path.resolve().as_posix().replace('?', '%3f').replace('#', '%23')}?mode=ro&immutable=1", uri=True
    )
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        found = [
            row[0]
            for row in connection.execute(
                "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rootpage"
            )
        ]
        return [
            _sqlite_table(connection, path, original, table, options)
            for original, table in _chosen(found, path, options)
        ]
    except sqlite3.Error as error:
        raise LoadError(
            Issue(
                "not_sqlite",
                path.name,
                f"{path.name!r} cannot be read as a SQLite database.",
                "Check that the file is complete.",
            )
        ) from error
    finally:
        connection.close()


def _sqlite_table(connection: Any, path: Path, original: str, table: str, options: ReadOptions) -> Raw:
    quoted = '"' + original.replace('"', '""') + '"'
    rows = connection.execute(f"select count(*) from {quoted}").fetchone()[0]
    declared = {row[1]: (row[2] or "").upper() for row in connection.execute(f"pragma table_info({quoted})")}
    _within(rows, len(declared), options)
    cursor = connection.execute(f"select * from {quoted}")
    headers = [entry[0] for entry in cursor.description]
    cells = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(headers)
    notes: list[Assumption] = []
    columns = [
        _sqlite_column(f"c{index}", list(values), header, declared.get(header, ""), notes)
        for index, (header, values) in enumerate(zip(headers, cells, strict=True))
    ]
    return Raw(
        name=table,
        frame=pl.DataFrame(columns),
        headers=tuple(headers),
        format="sqlite",
        sheet=original,
        states="loosely",
        notes=tuple(notes),
    )


def _sqlite_column(id: str, cells: list[Any], header: str, declared: str, notes: list[Assumption]) -> pl.Series:
    if any(isinstance(cell, bytes) for cell in cells):
        notes.append(
            Assumption(
                code="kept_as_text",
                column=header,
                damage=1,
                message=f"{header!r} holds bytes; they are shown as hexadecimal.",
            )
        )
        cells = [cell.hex() if isinstance(cell, bytes) else cell for cell in cells]
    if "BOOL" in declared and {cell for cell in cells if cell is not None} <= {0, 1}:
        return pl.Series(id, [None if cell is None else bool(cell) for cell in cells], dtype=pl.Boolean)
    return _json_column(id, cells, header, notes)


def read_duckdb(path: Path, options: ReadOptions, name: str) -> list[Raw]:
    """Every table of a DuckDB file, opened read-only."""
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": False}) as connection:
            found = [
                row[0]
                for row in connection.execute(
                    "select table_name from information_schema.tables where table_schema = 'main' order by table_name"
                ).fetchall()
            ]
            result = []
            for original, table in _chosen(found, path, options):
                relation = connection.table('"' + original.replace('"', '""') + '"')
                _within(int(relation.count("*").fetchall()[0][0]), len(relation.columns), options)
                result.append(
                    _raw(pl.DataFrame(relation.to_arrow_table()), table, "duckdb", "strictly", sheet=original)
                )
            return result
    except duckdb.Error as error:
        raise LoadError(
            Issue(
                "not_duckdb",
                path.name,
                f"{path.name!r} cannot be read as a DuckDB database.",
                "Check that the file is complete and not in use.",
            )
        ) from error


def _chosen(found: list[str], path: Path, options: ReadOptions) -> list[tuple[str, str]]:
    """(name in the file, table name) of the tables to read."""
    if not found:
        raise LoadError(Issue("no_table", path.name, f"{path.name!r} holds no table."))
    if len(found) > options.limits.tables:
        raise LimitExceeded(
            Issue(
                "too_many_tables",
                path.name,
                f"{path.name!r} holds {len(found)} tables; at most {options.limits.tables} are read.",
                "Name one with --sheet.",
            )
        )
    pairs = list(zip(found, distinct_identifiers(found), strict=True))
    if options.sheet is None:
        return pairs
    wanted = [pair for pair in pairs if options.sheet in pair]
    if not wanted:
        raise LoadError(
            Issue(
                "no_such_table",
                path.name,
                f"There is no table {options.sheet!r} in {path.name!r}.",
                f"It holds {', '.join(found[:20])}.",
            )
        )
    return wanted


def _raw(frame: pl.DataFrame, name: str, format: str, states: Any, sheet: str | None = None) -> Raw:
    flat, headers, notes = flattened(frame, frame.columns)
    return Raw(
        name=name,
        frame=flat if flat.width else numbered(frame),
        headers=tuple(headers),
        format=format,
        states=states,
        notes=notes,
        sheet=sheet,
    )


def _within(rows: int, columns: int, options: ReadOptions) -> None:
    limits = options.limits
    for what, count, most in (
        ("rows", rows, limits.rows),
        ("columns", columns, limits.columns),
        ("cells", rows * columns, limits.cells),
    ):
        if count > most:
            raise LimitExceeded(
                Issue(
                    f"too_many_{what}",
                    "",
                    f"The table has {count:,} {what}; at most {most:,} are read.",
                    "Split the file or take out what is not needed.",
                )
            )


READERS: dict[str, Callable[[Path, ReadOptions, str], list[Raw]]] = {
    "parquet": read_parquet,
    "arrow": read_arrow,
    "ndjson": read_ndjson,
    "json": read_json,
    "sqlite": read_sqlite,
    "duckdb": read_duckdb,
}
