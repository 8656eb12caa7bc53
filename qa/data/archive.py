"""Looks into a zipped workbook before any reader opens it: true sizes, ratio, encryption."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from qa.data.options import Limits
from qa.errors import Issue, LimitExceeded, LoadError

_LOOKED_AT = 10_000_000
"""Below so many unpacked bytes a ratio does not matter."""
_BLOCK = 1 << 20
_LOCAL_HEADER = 30


def check_archive(path: Path, limits: Limits) -> None:
    """Refuse an archive that unpacks to too much, by its directory and by unpacking it once without keeping anything."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise LoadError(
            Issue(
                "damaged",
                path.name,
                f"{path.name!r} is damaged: its contents cannot be listed.",
                "Open it in a spreadsheet program and save it again.",
            )
        ) from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise LoadError(
            Issue(
                "password", path.name, f"{path.name!r} is protected by a password.", "Save a copy without a password."
            )
        )
    packed = max(path.stat().st_size, 1)
    _refuse_if_large(path, sum(entry.file_size for entry in entries), packed, limits)
    total = 0
    with path.open("rb") as file:
        for entry in entries:
            file.seek(entry.header_offset)
            header = file.read(_LOCAL_HEADER)
            file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            if entry.compress_type == zipfile.ZIP_STORED:
                total += entry.compress_size
            elif entry.compress_type == zipfile.ZIP_DEFLATED:
                total += _unpacked(file.read(entry.compress_size), limits.bytes - total + 1)
            else:
                raise LoadError(
                    Issue(
                        "unusual_packing",
                        path.name,
                        f"{path.name!r} is packed in an unusual way.",
                        "Open it in a spreadsheet program and save it again.",
                    )
                )
            _refuse_if_large(path, total, packed, limits)


def _unpacked(data: bytes, most: int) -> int:
    """The number of bytes a deflated entry unpacks to, counted no further than `most`."""
    stream = zlib.decompressobj(-15)
    count = 0
    block = stream.decompress(data, _BLOCK)
    while block and count <= most:
        count += len(block)
        block = stream.decompress(stream.unconsumed_tail, _BLOCK)
    return count


def _refuse_if_large(path: Path, unpacked: int, packed: int, limits: Limits) -> None:
    if unpacked > limits.bytes or (unpacked > _LOOKED_AT and unpacked > limits.ratio * packed):
        raise LimitExceeded(
            Issue(
                "unpacks_too_large",
                path.name,
                f"{path.name!r} has {packed:,} bytes but unpacks to {unpacked:,} or more, far more than a workbook of its size should; it was not opened.",
                "If it is a real workbook, save its sheet as CSV and load that.",
            )
        )
