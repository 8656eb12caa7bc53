"""Take a file out of its gzip, zip, zstandard, bzip2 or xz wrapping, within limits set beforehand."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import zstandard

from qa.errors import Issue, LimitExceeded, LoadError

BLOCK = 1 << 20


@dataclass(frozen=True)
class ReadLimits:
    """The most that reading one file may use: bytes before and after unpacking, cells, columns, rows, cell text."""

    file_bytes: int = 20 << 30
    unpacked_bytes: int = 4 << 30
    unpacked_ratio: int = 1000
    """unpacked bytes per packed byte, looked at once more than 64 MB came out"""
    columns: int = 20_000
    cells: int = 200_000_000
    cell_characters: int = 16 << 20
    scanned_bytes: int = 4 << 20
    """from this size on a text file is tried as a regular one first, which is scanned instead of held"""
    held_bytes: int = 64 << 20
    """an irregular text file larger than this is copied to the scratch folder, if there is one, instead of held"""
    members: int = 10_000
    """files inside a zip"""


@dataclass(frozen=True)
class Unpacked:
    """What came out: the bytes, the name of the file inside, the wrapping, and the other files that were left."""

    data: bytes
    name: str | None
    wrapping: str | None
    others: tuple[str, ...] = ()
    path: Path | None = None


MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
)

OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": gzip.open,
    "zstandard": lambda source: zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        source, read_across_frames=True
    ),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}

BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, zipfile.BadZipFile, ValueError)


def wrapping_of(head: bytes) -> str | None:
    """The compression that the first bytes announce, or None."""
    return next((name for magic, name in MAGIC if head.startswith(magic)), None)


def unpack(source: Path | bytes, *, limits: ReadLimits = ReadLimits(), member: str | None = None) -> Unpacked:
    """The bytes of the file, out of its wrapping when it has one.

    Of a zip with several files the named `member` is read, else the largest table-like one; the rest are named in
    `others`. A file wrapped twice, a broken archive and one that needs a password are a LoadError; one that would
    grow past the limits is LimitExceeded before the memory is used.
    """
    raw = _raw(source, limits)
    wrapping = wrapping_of(raw[:8])
    if wrapping is None:
        return Unpacked(raw, None, None)
    try:
        if wrapping == "zip":
            unpacked = _unzip(raw, limits, member)
        else:
            with OPENERS[wrapping](io.BytesIO(raw)) as stream:
                unpacked = Unpacked(_drain(stream, len(raw), limits), None, wrapping)
    except (RuntimeError, NotImplementedError) as error:
        raise _locked() from error
    except BROKEN as error:
        raise _broken(wrapping) from error
    _refuse_nested(unpacked.data[:8])
    return unpacked


def unpack_into(
    path: Path, folder: Path, *, limits: ReadLimits = ReadLimits(), member: str | None = None
) -> Unpacked | None:
    """The same for a file, written into the folder a block at a time: `data` is empty and `path` says where.

    None when the file is not wrapped.
    """
    with path.open("rb") as file:
        wrapping = wrapping_of(file.read(8))
    if wrapping is None:
        return None
    target = folder / "unpacked"
    packed = path.stat().st_size
    others: tuple[str, ...] = ()
    name = None
    try:
        if wrapping == "zip":
            with zipfile.ZipFile(path) as archive:
                files = _files(archive, limits)
                chosen = _choose(files, member)
                name, others = chosen.filename, tuple(info.filename for info in files if info is not chosen)
                with archive.open(chosen) as stream:
                    _pour(stream, target, max(chosen.compress_size, 1), limits)
        else:
            with path.open("rb") as source, OPENERS[wrapping](source) as stream:
                _pour(stream, target, packed, limits)
    except (RuntimeError, NotImplementedError) as error:
        raise _locked() from error
    except BROKEN as error:
        raise _broken(wrapping) from error
    with target.open("rb") as file:
        _refuse_nested(file.read(8))
    return Unpacked(b"", name, wrapping, others, target)


def peek(
    path: Path, *, limits: ReadLimits = ReadLimits(), member: str | None = None, most: int = 1 << 12
) -> Unpacked | None:
    """The first bytes of what a wrapped file holds, and its name in a zip; None when the file is not wrapped or broken."""
    with path.open("rb") as file:
        wrapping = wrapping_of(file.read(8))
    if wrapping is None:
        return None
    try:
        if wrapping == "zip":
            with zipfile.ZipFile(path) as archive:
                chosen = _choose(_files(archive, limits), member)
                with archive.open(chosen) as stream:
                    return Unpacked(stream.read(most), chosen.filename, wrapping)
        with path.open("rb") as source, OPENERS[wrapping](source) as stream:
            return Unpacked(stream.read(most), None, wrapping)
    except (RuntimeError, NotImplementedError, LoadError, *BROKEN):
        return None


def _pour(stream: IO[bytes], target: Path, packed: int, limits: ReadLimits) -> None:
    with target.open("wb") as file:
        for block in _blocks(stream, packed, limits):
            file.write(block)


def _locked() -> LoadError:
    return LoadError(
        Issue("locked_archive", "", "The archive is encrypted or packed in an unknown way.", "Unpack it first.")
    )


def _broken(wrapping: str) -> LoadError:
    return LoadError(
        Issue("broken_archive", "", f"The {wrapping} file is damaged or cut off.", "Download or pack it again.")
    )


def _refuse_nested(head: bytes) -> None:
    if wrapping_of(head) is not None:
        raise LoadError(
            Issue("nested_archive", "", "The file is packed more than once.", "Unpack it once, then load it.")
        )


def _raw(source: Path | bytes, limits: ReadLimits) -> bytes:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size > limits.file_bytes:
        raise LimitExceeded(_too_big(f"The file has {size:,} bytes; at most {limits.file_bytes:,} are read."))
    return source if isinstance(source, bytes) else source.read_bytes()


def _blocks(stream: IO[bytes], packed: int, limits: ReadLimits) -> Iterator[bytes]:
    total = 0
    while block := stream.read(BLOCK):
        total += len(block)
        if total > limits.unpacked_bytes or (total > 64 << 20 and total > packed * limits.unpacked_ratio):
            raise LimitExceeded(_too_big(f"Unpacked, the file passes {total:,} bytes."))
        yield block


def _drain(stream: IO[bytes], packed: int, limits: ReadLimits) -> bytes:
    return b"".join(_blocks(stream, packed, limits))


def _files(archive: zipfile.ZipFile, limits: ReadLimits) -> list[zipfile.ZipInfo]:
    files = [info for info in archive.infolist() if not info.is_dir() and "__MACOSX" not in info.filename]
    if len(files) > limits.members:
        raise LimitExceeded(_too_big(f"The zip holds {len(files):,} files."))
    if not files:
        raise LoadError(Issue("empty_archive", "", "The zip file holds no file.", "Pack the table into it."))
    return files


def _unzip(raw: bytes, limits: ReadLimits, member: str | None) -> Unpacked:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = _files(archive, limits)
        chosen = _choose(files, member)
        with archive.open(chosen) as stream:
            data = _drain(stream, max(chosen.compress_size, 1), limits)
        return Unpacked(data, chosen.filename, "zip", tuple(info.filename for info in files if info is not chosen))


def _choose(files: list[zipfile.ZipInfo], member: str | None) -> zipfile.ZipInfo:
    if member is not None:
        found = next((info for info in files if info.filename == member), None)
        if found is None:
            names = tuple(info.filename for info in files[:20])
            raise LoadError(Issue("no_such_member", "", f"The zip file holds no {member!r}.", "", names))
        return found
    tables = [info for info in files if Path(info.filename).suffix.lower() in TABLE_SUFFIXES]
    return max(tables or files, key=lambda info: info.file_size)


TABLE_SUFFIXES = frozenset({".csv", ".tsv", ".tab", ".txt", ".psv", ".json", ".ndjson", ".jsonl", ".parquet", ".arrow"})


def _too_big(message: str) -> Issue:
    return Issue("too_big", "", message, "Split the file or load it as Parquet.")
