"""The tables that are at hand: folders, files and addresses of the configuration, and a session's uploads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from qa.data.cluster_place import each_table, is_cluster, table_there
from qa.data.names import file_stem, identifier
from qa.data.read import load
from qa.data.remote import fetched, is_address
from qa.data.semantics import ENDING, Semantics, apply, beside, drift, load_semantics
from qa.data.table import Table
from qa.errors import Issue, LoadError

SINGLE = [
    "csv",
    "tsv",
    "tab",
    "psv",
    "parquet",
    "arrow",
    "feather",
    "ipc",
    "xlsx",
    "xlsm",
    "xls",
    "xlsb",
    "ods",
    "json",
    "ndjson",
    "jsonl",
    "sqlite",
    "sqlite3",
    "db",
    "duckdb",
]
PACKED = ("gz", "zip", "zst")
PACKABLE = ["csv", "tsv", "tab", "psv", "json", "ndjson", "jsonl"]
FILES_MOST = 10_000
DEPTH_MOST = 20

Read = Callable[..., list[Table]]


@dataclass(frozen=True)
class Opened:
    """The tables of one file with what its semantic files add, and where those no longer fit."""

    tables: tuple[Table, ...]
    semantics: Mapping[str, Semantics] = field(default_factory=dict)
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One file of the catalog. `problem` says why it has no tables; both are unknown until it is opened."""

    name: str
    path: Path
    origin: str
    bytes: int
    modified: int
    opened: Opened | None = None
    problem: Issue | None = None

    @property
    def stamp(self) -> tuple[int, int]:
        return self.bytes, self.modified


@dataclass(frozen=True)
class Changes:
    """What a refresh found, as entry names."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def open_tables(path: Path, *, name: str | None = None, read: Read = load, **options: object) -> Opened:
    """The tables of a file, each with its semantic file applied when one lies beside it.

    `sales.qa.yaml` describes the table of `sales.csv`; in a file of several tables it describes the one that its
    `table` names, and `sales.orders.qa.yaml` describes `orders`. A semantic file that cannot be read is a finding,
    not an error. Raises LoadError when the data cannot be read.
    """
    tables = read(path, name=name, **options)
    described: dict[str, Semantics] = {}
    findings: list[str] = []
    for table in tables:
        for place in (_own(path, table), beside(path)):
            if not place.is_file():
                continue
            try:
                known = load_semantics(place)
            except LoadError as error:
                findings += [f"{place.name}: {issue}" for issue in error.issues]
                continue
            if (
                len(tables) == 1
                or place != beside(path)
                or (known.table and known.table.casefold() == table.name.casefold())
            ):
                described[table.name] = known
                findings += [f"{place.name}: {finding}" for finding in drift(table, known)]
                break
    shown = tuple(apply(table, described[table.name]) if table.name in described else table for table in tables)
    return Opened(shown, described, tuple(dict.fromkeys(findings)))


def _own(path: Path, table: Table) -> Path:
    return path.with_name(f"{file_stem(path)}.{table.name}{ENDING}")


class Catalog:
    """The files of some places and the tables in them. Names are found at once, tables when they are asked for.

    `places` are folders (read recursively, hidden files and links that lead out of them left aside), files, and
    `https` or `s3` addresses of Parquet files, and `sc://host:port/table,table` of a Spark cluster; they come from the configuration, never from a question.
    A name is the file's name, after the folders it lies in; of two that would be the same, the later by path gets a
    number. A file keeps its name for as long as the catalog lives. May be used from several threads.
    """

    def __init__(self, places: Sequence[str | Path] = (), *, read: Read = load, cache: Path | None = None) -> None:
        self.places = [one for place in places for one in each_table(str(place))]
        self.cache = cache
        self._read = read
        self._entries: dict[str, Entry] = {}
        self._names: dict[Path, str] = {}
        self._notes: list[Issue] = []
        self._added: dict[Path, str | None] = {}
        self._lock = threading.RLock()
        self.refresh()

    def refresh(self) -> Changes:
        """Look at the places again. A file that changed is read anew when it is next asked for."""
        with self._lock:
            self._notes = []
            before = dict(self._entries)
            found = {entry.name: entry for entry in self._found()}
            changed = [name for name, entry in found.items() if name in before and entry.stamp != before[name].stamp]
            # What lies at an address is asked for again; an unchanged one costs one short answer of its server.
            stays = [
                name for name in found if name in before and name not in changed and not is_address(found[name].origin)
            ]
            kept = {name: before[name] for name in stays}
            self._entries = {name: kept.get(name, entry) for name, entry in found.items()}
            gone = [name for name in before if name not in found]
            return Changes(tuple(name for name in found if name not in before), tuple(changed), tuple(gone))

    def add(self, path: Path, name: str | None = None) -> str:
        """Add one file, such as an upload, to this catalog only; returns its entry's name."""
        with self._lock:
            self._added[Path(path)] = name
            self.refresh()
            return self._names[Path(path)]

    @property
    def entries(self) -> list[Entry]:
        """The files in the order of their places and paths."""
        return list(self._entries.values())

    @property
    def problems(self) -> list[Issue]:
        """What was left aside or cannot be read, as far as it is known."""
        return [*self._notes, *(entry.problem for entry in self.entries if entry.problem)]

    @property
    def findings(self) -> list[str]:
        """Where semantic files of opened tables no longer fit."""
        return [finding for entry in self.entries if entry.opened for finding in entry.opened.findings]

    @property
    def semantics(self) -> dict[str, Semantics]:
        """The semantic files of opened tables, by table."""
        return {name: known for entry in self.entries if entry.opened for name, known in entry.opened.semantics.items()}

    def open(self, name: str) -> Entry:
        """The entry with its tables, or with the problem why there are none. Raises KeyError for an unknown name."""
        with self._lock:
            entry = self._entries[name]
            if entry.opened is None and entry.problem is None:
                entry = self._opened(entry)
                self._entries[name] = entry
            return entry

    def tables(self) -> list[Table]:
        """All tables of all readable files. What cannot be read is in `problems`."""
        return [table for name in list(self._entries) for table in (self.open(name).opened or Opened(())).tables]

    def table(self, name: str) -> Table:
        """The table of this name, ignoring case; opens no more files than needed. Raises KeyError."""
        wanted = name.casefold()
        likely = [
            entry for entry in self._entries if entry.casefold() == wanted or wanted.startswith(f"{entry.casefold()}_")
        ]
        for entry in [*likely, *(entry for entry in self._entries if entry not in likely)]:
            for table in (self.open(entry).opened or Opened(())).tables:
                if table.name.casefold() == wanted:
                    return table
        raise KeyError(name)

    def _opened(self, entry: Entry) -> Entry:
        others = {e.name.casefold() for e in self.entries if e.name != entry.name}
        others |= {t.name.casefold() for e in self.entries if e.opened for t in e.opened.tables}
        try:
            if is_cluster(entry.origin):
                from qa.data.cluster_table import opened_there

                return replace(entry, opened=Opened((opened_there(entry.origin, entry.name),)))
            path = fetched(entry.origin, self.cache) if is_address(entry.origin) else entry.path
            opened = open_tables(path, name=entry.name, read=self._read, cache=self.cache)
        except LoadError as error:
            return replace(entry, problem=replace(error.issues[0], where=entry.origin))
        return replace(entry, opened=_named_apart(opened, entry.name, others))

    def _found(self) -> Iterator[Entry]:
        given: set[str] = set()
        for path, wanted, origin in self._files():
            name = self._names.get(path) or self._free_name(path, wanted, given)
            given.add(name)
            size, modified = 0, 0
            if not is_address(origin) and not is_cluster(origin):
                try:
                    status = path.stat()
                except OSError:
                    hint = "Check that it exists and may be read."
                    self._notes.append(Issue("cannot_open", origin, "This file cannot be opened.", hint))
                    continue
                size, modified = status.st_size, status.st_mtime_ns
            self._names[path] = name
            yield Entry(name, path, origin, size, modified)

    def _free_name(self, path: Path, wanted: str, given: set[str]) -> str:
        taken = {name.casefold() for name in (*given, *(name for other, name in self._names.items() if other != path))}
        return _free(wanted, taken)

    def _files(self) -> Iterator[tuple[Path, str, str]]:
        """(path, the name it should have, where it came from), each file once."""
        seen: set[Path] = set()
        for place in self.places:
            for path, wanted in self._at(place):
                if path not in seen:
                    seen.add(path)
                    yield path, wanted, place if is_address(place) or is_cluster(place) else str(path)
        for path, name in self._added.items():
            if path not in seen:
                yield path, identifier(name or file_stem(path)), str(path)

    def _at(self, place: str) -> Iterator[tuple[Path, str]]:
        """The files of one place, with the names they should have."""
        path = Path(place)
        if is_address(place):
            address = Path(place.split("?")[0])
            yield address, identifier(file_stem(address))
        elif is_cluster(place):
            yield Path(place), identifier(table_there(place)[1].rpartition(".")[2])
        elif path.is_dir():
            yield from ((file, _wanted(file, parts)) for file, parts in self._below(path))
        elif path.is_file():
            yield path, identifier(file_stem(path))
        else:
            self._notes.append(Issue("cannot_open", place, "There is no such file or folder.", "Check QA_DATA."))

    def _below(self, root: Path) -> Iterator[tuple[Path, Sequence[str]]]:
        """The data files below a folder in the order of their paths."""
        real = root.resolve()
        found: list[tuple[Path, Sequence[str]]] = []
        for folder, below, files in os.walk(root):
            parts = Path(folder).relative_to(root).parts
            below[:] = sorted(
                name for name in below if not name.startswith(".") and not Path(folder, name).is_symlink()
            )
            if len(parts) >= DEPTH_MOST:
                below.clear()
            for file in sorted(files):
                path = Path(folder, file)
                if not is_data(path):
                    continue
                if not path.resolve().is_relative_to(real):
                    self._notes.append(
                        Issue("leads_outside", str(path), "This link leads out of its folder and was left aside.", "")
                    )
                    continue
                found.append((path, parts))
            if len(found) > FILES_MOST:
                self._notes.append(
                    Issue(
                        "too_many_files",
                        str(root),
                        f"Only the first {FILES_MOST:,} files are listed.",
                        "Name a smaller folder.",
                    )
                )
                break
        yield from found[:FILES_MOST]


def _wanted(file: Path, folders: Sequence[str]) -> str:
    """`north/2024/sales.csv` is `north_2024_sales`, but `sales/sales.csv` is `sales`."""
    stem = file_stem(file)
    above = folders[:-1] if folders and folders[-1].casefold() == stem.casefold() else folders
    return identifier("_".join((*above, stem)))


def _free(wanted: str, taken: set[str]) -> str:
    """The name, or the name with the first number that is free."""
    name, number = wanted, 2
    while name.casefold() in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _named_apart(opened: Opened, entry: str, others: set[str]) -> Opened:
    """The tables under names that are unique in the catalog: the entry's, and for one of several also its own."""
    taken, names = set(others), {}
    for table in opened.tables:
        own = table.name if table.name.casefold().startswith(entry.casefold()) else identifier(f"{entry}_{table.name}")
        name = _free(entry if len(opened.tables) == 1 else own, taken)
        taken.add(name.casefold())
        names[table.name] = name
    tables = tuple(renamed(table, names[table.name]) for table in opened.tables)
    return replace(opened, tables=tables, semantics={names[name]: known for name, known in opened.semantics.items()})


def renamed(table: Table, name: str) -> Table:
    """The same table under another name."""
    if table.name == name:
        return table
    columns = [replace(column, owner=name, origin=(name, column.id)) for column in table.columns]
    profile = table.profile.model_copy(update={"name": name})
    return Table(
        name=name, path=table.path, columns=columns, rows=table.rows, digest=table.digest, profile=profile, report=table.report
    )  # fmt: skip


def is_data(path: Path) -> bool:
    """Whether a file's name says that it holds tables. Hidden files do not."""
    if path.name.startswith((".", "~$")) or "." not in path.name:
        return False
    *_, last_but_one, last = ["", "", *path.name.casefold().split(".")]
    return last in SINGLE or (last in PACKED and last_but_one in PACKABLE)
