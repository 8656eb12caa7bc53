"""Parquet at an address that the configuration names: fetched into the cache, checked for changes, never from a question."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import polars as pl

from qa.data.canonical import own_folder
from qa.errors import Issue, LoadError

LARGEST = 4_000_000_000
TIMEOUT = 30
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BLOCK = 1 << 20


def is_address(place: str) -> bool:
    """Whether a place of the configuration is an address and not a path."""
    return place.casefold().startswith(("https://", "http://", "s3://"))


def fetched(address: str, cache: Path | None = None) -> Path:
    """The file behind an address, kept in the cache until the server says it changed. Raises LoadError."""
    parts = urllib.parse.urlsplit(address)
    stem = Path(parts.path).name or "table.parquet"
    if not stem.casefold().endswith(".parquet"):
        raise LoadError(
            Issue(
                "not_parquet", "", "Only Parquet is read from an address.", "Save the file, or convert it to Parquet."
            )
        )
    folder = (cache or own_folder()) / "remote" / hashlib.blake2b(address.encode(), digest_size=8).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    match parts.scheme.casefold():
        case "s3":
            return _from_bucket(address, folder / stem)
        case "https":
            return _from_server(address, folder / stem)
        case "http" if parts.hostname in LOOPBACK:
            return _from_server(address, folder / stem)
        case _:
            raise LoadError(Issue("not_secure", "", "Only https and s3 addresses are read.", "Use https://…"))


def _from_server(address: str, target: Path) -> Path:
    tag = target.with_suffix(".tag")
    request = urllib.request.Request(address, headers={"User-Agent": "dataframe-qa"})
    if target.exists() and tag.exists():
        kind, _, value = tag.read_text(encoding="utf-8").partition(" ")
        request.add_header(kind, value)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            _save(answer, target)
            kept = (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified"))
            known = next((f"{ask} {answer.headers[given]}" for ask, given in kept if answer.headers[given]), "")
            tag.write_text(known, encoding="utf-8") if known else tag.unlink(missing_ok=True)
    except urllib.error.HTTPError as error:
        if error.code != 304:
            raise LoadError(
                Issue("cannot_fetch", "", f"The server answered {error.code}.", "Check the address.")
            ) from None
    except (OSError, ValueError) as error:
        raise LoadError(
            Issue("cannot_fetch", "", "The server cannot be reached.", "Check the address and the network.")
        ) from error
    return target


def _save(answer: object, target: Path) -> None:
    """Write the body beside the target and move it there whole; too much is an error, not a cut file."""
    draft = target.with_suffix(f".{os.getpid()}.part")
    total = 0
    try:
        with draft.open("wb") as file:
            while block := answer.read(_BLOCK):  # type: ignore[attr-defined]
                total += len(block)
                if total > LARGEST:
                    raise LoadError(
                        Issue(
                            "too_large", "", f"The file is over {LARGEST:,} bytes.", "Save it here and name the file."
                        )
                    )
                file.write(block)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _from_bucket(address: str, target: Path) -> Path:
    """A bucket's object through Polars, with the credentials of the environment."""
    draft = target.with_suffix(f".{os.getpid()}.part")
    try:
        pl.scan_parquet(address).sink_parquet(draft)
        draft.replace(target)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LoadError(
            Issue("cannot_fetch", "", "The bucket cannot be read.", "Check the address and the credentials.")
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return target
