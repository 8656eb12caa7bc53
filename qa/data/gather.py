"""The tables of the places that a person names on a command line, in a program or in the settings."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import overload

from qa.data.catalog import Catalog, Opened, Read, open_tables, renamed
from qa.data.names import file_stem, identifier
from qa.data.options import ReadOptions
from qa.data.read import load
from qa.data.remote import is_address
from qa.data.semantics import ENDING, Semantics, apply, beside, dump_semantics
from qa.data.table import Table
from qa.errors import Issue, LoadError
from qa.plan.scope import did_you_mean, nearest

Place = str | Path
_NO_OPTIONS = ReadOptions()


@dataclass(frozen=True)
class Tables(Sequence[Table]):
    """Tables that are asked about together, under names that differ, with what their semantic files add.

    `files` says which file each table came from, `findings` where semantic files no longer fit, `problems` which
    files of a folder could not be read.
    """

    tables: tuple[Table, ...] = ()
    semantics: Mapping[str, Semantics] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    problems: tuple[Issue, ...] = ()

    @overload
    def __getitem__(self, key: int) -> Table: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Table]: ...
    @overload
    def __getitem__(self, key: str) -> Table: ...
    def __getitem__(self, key: int | slice | str) -> Table | Sequence[Table]:
        """A table by place or by name, ignoring case. Raises LoadError, with the nearest name, for an unknown one."""
        return self.named(key) if isinstance(key, str) else self.tables[key]

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return f"Tables({', '.join(f'{table.name}: {table.rows:,} rows' for table in self.tables)})"

    @property
    def by_name(self) -> dict[str, Table]:
        return {table.name: table for table in self.tables}

    def named(self, name: str) -> Table:
        for table in self.tables:
            if table.name.casefold() == name.casefold():
                return table
        near = nearest(name, [table.name for table in self.tables])
        hint = did_you_mean(near) or f"Tables are {', '.join(table.name for table in self.tables[:20]) or 'none'}."
        raise LoadError(Issue("no_such_table", "", f"There is no table {name!r}.", hint, near))

    def semantic_file(self, name: str) -> Path:
        """Where the semantic file of a table lies or would lie. Raises LoadError for a table that came from no file."""
        if name not in self.files:
            hint = "Save the table as a file and load that."
            raise LoadError(Issue("no_file", "", f"{name} came from no file, so nothing can be kept beside one.", hint))
        path = self.files[name]
        single = sum(other == path for other in self.files.values()) == 1
        return beside(path) if single else path.with_name(f"{file_stem(path)}.{name}{ENDING}")

    def told(self, name: str, semantics: Semantics) -> Tables:
        """The same tables, one with another semantic file, which is also written beside its data."""
        place = self.semantic_file(name)
        scratch = place.with_name(f".{place.name}.part")
        scratch.write_text(dump_semantics(semantics), encoding="utf-8")
        scratch.replace(place)
        tables = tuple(apply(table, semantics) if table.name == name else table for table in self.tables)
        return replace(self, tables=tables, semantics={**self.semantics, name: semantics})

    def joined(self, more: Tables) -> Tables:
        """These and more tables; of two with one name the later gets a number."""
        return _named_apart([(self, None), (more, None)])

    def renamed(self, name: str) -> Tables:
        """One table under another name, its semantic file going with it. Raises LoadError for several tables."""
        if len(self.tables) != 1:
            names = ", ".join(table.name for table in self.tables)
            raise LoadError(
                Issue(
                    "several_tables",
                    "",
                    f"One name cannot stand for {len(self.tables)} tables: {names}.",
                    "Choose a sheet, or leave the name away.",
                )
            )
        old = self.tables[0].name
        table = renamed(self.tables[0], identifier(name))
        moved = {table.name: self.semantics[old]} if old in self.semantics else {}
        return replace(
            self, tables=(table,), semantics=moved, files={table.name: self.files[old]} if old in self.files else {}
        )


class Shelf:
    """Keeps the tables of some places at hand and opens again what changed. May be asked from several threads.

    `places` are files, folders, and addresses of Parquet; a folder is read as the catalog reads it, what cannot be
    read in it is a problem and not an error. A file that is named itself must be readable. `read` reads one file,
    here (`load`) or in a child process (`load_isolated`).
    """

    def __init__(
        self,
        places: Sequence[Place],
        *,
        options: ReadOptions = _NO_OPTIONS,
        cache: Path | None = None,
        read: Read = load,
    ) -> None:
        self._read_with, self._cache = partial(read, options=options), cache
        self._lock = threading.Lock()
        self._opened: dict[Path, tuple[tuple[int, ...], Opened]] = {}
        self._shelves = [
            Folder(place, self._read_with, cache) if _holds_files(place) else Path(place) for place in places
        ]

    def tables(self) -> Tables:
        """Every table, as of now. Raises LoadError for a named file that is not there or cannot be read."""
        with self._lock:
            return _named_apart([shown for shelf in self._shelves for shown in self._of(shelf)])

    def _of(self, shelf: Folder | Path) -> Iterator[tuple[Tables, Path | None]]:
        if isinstance(shelf, Path):
            opened = self._read(shelf)
            yield Tables(opened.tables, opened.semantics, findings=opened.findings), shelf
            return
        catalog = shelf.catalog()
        entries = [catalog.open(entry.name) for entry in catalog.entries]
        for entry in entries:
            if entry.opened:
                known = entry.opened
                yield Tables(known.tables, known.semantics, findings=known.findings), entry.path
        yield Tables(problems=tuple(catalog.problems)), None

    def _read(self, path: Path) -> Opened:
        if not path.exists():
            raise LoadError(Issue("no_such_file", str(path), "There is no such file.", "Check the path."))
        stamp = tuple(part.stat().st_mtime_ns for part in (path, beside(path)) if part.exists())
        known = self._opened.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, open_tables(path, read=self._read_with, cache=self._cache))
            self._opened[path] = known
        return known[1]


class Folder:
    """The catalog of a folder or address. One whose semantic files changed is made anew; what was read stays in the cache."""

    def __init__(self, place: Place, read: Read, cache: Path | None) -> None:
        self._place, self._cache, self._read = place, cache, read
        self._described: dict[Path, int] | None = None
        self._catalog = self._made()

    def catalog(self) -> Catalog:
        """The catalog as of now."""
        described = self._stamps()
        if described == self._described:
            self._catalog.refresh()
        else:
            self._catalog, self._described = self._made(), described
        return self._catalog

    def _made(self) -> Catalog:
        return Catalog([self._place], read=self._read, cache=self._cache)

    def _stamps(self) -> dict[Path, int]:
        if is_address(str(self._place)):
            return {}
        return {path: path.stat().st_mtime_ns for path in Path(self._place).rglob(f"*{ENDING}") if path.is_file()}


def gather(places: Sequence[Place], *, options: ReadOptions = _NO_OPTIONS, cache: Path | None = None) -> Tables:
    """The tables of files, folders and addresses, each with its semantic file. Raises LoadError; see Shelf."""
    return Shelf(places, options=options, cache=cache).tables()


def _holds_files(place: Place) -> bool:
    return is_address(str(place)) or Path(place).is_dir()


def _named_apart(groups: Sequence[tuple[Tables, Path | None]]) -> Tables:
    """All tables together; of two with one name the later gets a number."""
    tables: list[Table] = []
    semantics: dict[str, Semantics] = {}
    files: dict[str, Path] = {}
    taken: set[str] = set()
    for group, path in groups:
        for table in group.tables:
            name, number = table.name, 2
            while name.casefold() in taken:
                name, number = f"{table.name}_{number}", number + 1
            taken.add(name.casefold())
            tables.append(renamed(table, name))
            if table.name in group.semantics:
                semantics[name] = group.semantics[table.name]
            known = path or group.files.get(table.name)
            if known is not None:
                files[name] = known
    findings = tuple(dict.fromkeys(finding for group, _ in groups for finding in group.findings))
    return Tables(
        tuple(tables), semantics, files, findings, tuple(issue for group, _ in groups for issue in group.problems)
    )
