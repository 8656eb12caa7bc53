"""What a visitor can ask about: the samples that ship, the catalog's files, and their own uploads."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import streamlit as st

from qa.data.catalog import Catalog, Opened, open_tables
from qa.data.gather import Shelf
from qa.data.read import ReadOptions, load_isolated
from qa.data.remote import is_address
from qa.data.table import Table
from qa.errors import Issue, LoadError
from qa.settings import settings
from qa.ui.session import Dataset, Session, Upload

ROOT = Path(__file__).parents[2]
UPLOADS = "uploads"
MOST_FILES = 20
MOST_LISTED = 200
"""files of one folder that are offered one by one; all of them are in the folder's own entry"""


@dataclass(frozen=True)
class Sample:
    """A sample that ships: its label, one line about it, and its files under `sample_data/`."""

    label: str
    blurb: str
    files: tuple[str, ...]


SAMPLES = {
    "housing": Sample(
        "Housing market (sample)",
        "Synthetic monthly figures of 928 US housing markets: inventory, new listings, prices, days to pending.",
        ("housing.parquet",),
    ),
    "flights": Sample(
        "New York flights 2013 (sample)",
        "Every flight that left New York in 2013, with airlines, airports, planes and weather.",
        tuple(f"flights/{name}.parquet" for name in ("flights", "airlines", "airports", "planes", "weather")),
    ),
    "shop": Sample(
        "Small shop (sample)",
        "Customers, orders, order lines and products, with the dirt of real exports.",
        tuple(f"shop/{name}.csv" for name in ("orders", "order_lines", "customers", "products")),
    ),
}


class Given(Protocol):
    """What a file uploader hands over: a readable with a name."""

    name: str

    def read(self, size: int = -1) -> bytes: ...


def choices(here: Session) -> dict[str, str]:
    """Key -> label of everything this visitor can pick, their own files first."""
    own = {UPLOADS: _uploads_label(here)} if here.uploads else {}
    return (
        own
        | {f"sample:{key}": sample.label for key, sample in SAMPLES.items()}
        | {f"file:{path}": label for path, label in _catalog().items()}
    )


def current(here: Session) -> Dataset:
    """The dataset the visitor works on; the first sample on a first visit."""
    keys = choices(here)
    if here.dataset_key not in keys:
        here.dataset_key = next(iter(keys))
    return _open(here, here.dataset_key or "")


def _open(here: Session, key: str) -> Dataset:
    kind, _, rest = key.partition(":")
    match kind:
        case "sample":
            return sample(rest)
        case "file":
            return _offered(rest)
        case _:
            return uploads(here)


def uploads(here: Session) -> Dataset:
    """All tables of the files this visitor gave."""
    tables = tuple(table for upload in here.uploads.values() for table in upload.tables)
    return Dataset(UPLOADS, _uploads_label(here), "", tables)


def _uploads_label(here: Session) -> str:
    names = [upload.shown for upload in here.uploads.values()]
    return names[0] if len(names) == 1 else f"Your files ({len(names)})"


@st.cache_resource(show_spinner=False, max_entries=20)
def sample(key: str) -> Dataset:
    """A sample's tables, read once for the whole server and never changed."""
    entry = SAMPLES[key]
    paths = [ROOT / "sample_data" / file for file in entry.files]
    return _described(
        f"sample:{key}", entry.label, entry.blurb, [open_tables(path, cache=settings().cache) for path in paths]
    )


def _described(key: str, label: str, blurb: str, opened: Sequence[Opened]) -> Dataset:
    """A dataset of opened files, their semantic files applied."""
    tables = tuple(table for one in opened for table in one.tables)
    return Dataset(key, label, blurb, tables, {name: file for one in opened for name, file in one.semantics.items()})


def _catalog() -> dict[str, str]:
    """Path -> label of the folders and files that the person who runs the server offers with QA_DATA, each folder
    with all its tables together first. Nothing else can be opened by path, and no hidden file."""
    found: dict[str, str] = {}
    for place in settings().data:
        if is_address(place) or not Path(place).is_dir():
            found[place] = Path(place).name
            continue
        entries = _folder(place).entries
        found[place] = f"{Path(place).resolve().name} ({len(entries)} files together)"
        for entry in entries[:MOST_LISTED]:
            found[str(entry.path)] = str(entry.path.relative_to(place))
    return found


@st.cache_resource(show_spinner=False, ttl=30)
def _folder(place: str) -> Catalog:
    """What lies in a folder, by name only; looked at again every half minute."""
    return Catalog([place])


def _offered(place: str) -> Dataset:
    """The tables of a folder, address or file of the catalog, as they are now."""
    tables = _shelf(place).tables()
    if not tables.tables:
        raise LoadError(
            list(tables.problems) or Issue("no_tables", Path(place).name, "There is no table here.", "Check QA_DATA.")
        )
    bad = [Path(issue.where).name for issue in tables.problems]
    more = ", …" if len(bad) > 3 else ""
    blurb = f"{len(bad)} of its files could not be read: {', '.join(bad[:3])}{more}." if bad else ""
    return Dataset(f"file:{place}", _catalog().get(place, Path(place).name), blurb, tables.tables, tables.semantics)


@st.cache_resource(show_spinner=False, max_entries=20)
def _shelf(place: str) -> Shelf:
    return Shelf([place], cache=settings().cache, read=load_isolated)


def take(here: Session, given: Sequence[Given], progress: Callable[[str], None] = lambda _: None) -> list[LoadError]:
    """Spool each file to disk, read it in a child process, and make the uploads the dataset.

    A file with the name of an earlier one replaces it. Gives one error per file that could not be read;
    the others are kept. `progress` hears the shown name of the file being read.
    """
    errors = []
    for file in given[:MOST_FILES]:
        shown = shown_name(file.name)
        progress(shown)
        path = here.folder
        try:
            path = _spool(here, file, shown)
            here.uploads[shown.casefold()] = Upload(shown, path, _read(here, path, shown, ReadOptions()), ReadOptions())
            here.dataset_key = UPLOADS
        except LoadError as error:
            errors.append(LoadError(_named(error, path.name, shown)))
        except Exception as error:  # the door: one broken file must not take the page or the other files down
            logging.getLogger(__name__).exception("reading an upload failed")
            hint = "Save it again as CSV, Excel or Parquet and try once more."
            errors.append(LoadError(Issue("unexpected", shown, f"Reading broke ({type(error).__name__}).", hint)))
    if len(given) > MOST_FILES:
        errors.append(LoadError(Issue("too_many_files", "", f"Only the first {MOST_FILES} files were read.")))
    return errors


def reread(here: Session, upload: Upload, options: ReadOptions) -> None:
    """Read an upload again in another way; its tables are replaced. Raises LoadError and then changes nothing."""
    tables = _read(here, upload.path, upload.shown, options)
    here.uploads[upload.shown.casefold()] = Upload(upload.shown, upload.path, tables, options)


def upload_of(here: Session, table: Table) -> Upload | None:
    """The file of this visitor that a table was read from; None for samples and files of the catalog."""
    return next((u for u in here.uploads.values() if any(t.digest == table.digest for t in u.tables)), None)


def forget(here: Session, upload: Upload) -> None:
    """Take a file out of this session and off the disk."""
    here.uploads.pop(upload.shown.casefold(), None)
    upload.path.unlink(missing_ok=True)


def shown_name(name: str) -> str:
    """The last piece of an uploaded name without control characters, at most 80 characters."""
    last = re.split(r"[/\\]", name)[-1]
    printable = "".join(c for c in last if c.isprintable()).strip()
    stem, dot, suffix = printable.rpartition(".")
    short = printable if len(printable) <= 80 else f"{(stem or suffix)[:70]}…{dot}{suffix[:8] if stem else ''}"
    return short or "file"


def _spool(here: Session, file: Given, shown: str) -> Path:
    """The bytes on disk in the session's own folder, under a name of ours: an uploaded name is never a path."""
    suffixes = [s for s in Path(shown).suffixes[-2:] if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", s)]
    path = here.folder / f"{here.next_id('upload')}{''.join(suffixes).lower()}"
    most, written = here.settings.upload_mb * 1_000_000, 0
    with path.open("wb") as out:
        while chunk := file.read(1 << 20):
            written += len(chunk)
            if written > most:
                path.unlink()
                hint = f"At most {here.settings.upload_mb} MB. Put it in a folder of QA_DATA on the server instead."
                raise LoadError(Issue("file_too_big", "", "The file is too big.", hint))
            out.write(chunk)
    return path


def _read(here: Session, path: Path, shown: str, options: ReadOptions) -> tuple[Table, ...]:
    name = _free_name(here, shown)
    return tuple(load_isolated(path, name=name, options=options, cache=here.folder / "parquet"))


def _free_name(here: Session, shown: str) -> str:
    """An identifier for a table made of the shown name, not yet taken by another upload."""
    stem = re.sub(r"\W+", "_", Path(shown).stem.split(".")[0].casefold(), flags=re.ASCII).strip("_") or "table"
    base = stem if not stem[0].isdigit() else f"t_{stem}"
    others = {table.name for key, upload in here.uploads.items() if key != shown.casefold() for table in upload.tables}
    return base if base not in others else next(f"{base}_{n}" for n in range(2, 1000) if f"{base}_{n}" not in others)


def _named(error: LoadError, spooled: str, shown: str) -> list[Issue]:
    """The issues under the name that the person gave the file, never ours."""
    return [
        Issue(i.code, shown, i.message.replace(spooled, shown), i.hint.replace(spooled, shown), i.candidates)
        for i in error.issues
    ]
