"""The chain that shows tampering: each record's hash covers the one before, and a sealed head counts them.

What it shows: a record that was edited, removed (also the last ones), inserted, or moved, and a head that was edited.
The seal is keyed by a file beside the database, so whoever can write the database but not read the key cannot
make a new chain that passes.
What it cannot show: someone with the key who writes the whole chain anew, the database put back as a whole to an
earlier copy, or both files deleted. Keep `Audit.head()` somewhere else to find those: `Audit.verify(head)`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qa.audit.record import canonical

START = "0" * 64
"""What the first record names as the hash before it."""


@dataclass(frozen=True)
class Link:
    """A record as stored: its place from 1, its exact text, and the two hashes that chain it."""

    seq: int
    body: str
    previous: str
    hash: str


@dataclass(frozen=True)
class Head:
    """How many records were ever written, and the hash of the last."""

    count: int
    hash: str

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """The head that `str` gave; ValueError when it is none."""
        count, _, digest = text.strip().partition(":")
        if len(digest) != 64:
            raise ValueError(f"{text!r} is not a head such as 12:3f…")
        return cls(int(count), digest)


def link_hash(previous: str, body: str) -> str:
    """The hash of a record's text after the hash before it."""
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def seal(key: bytes, head: Head) -> str:
    """The head's keyed seal."""
    return hmac.new(key, str(head).encode(), hashlib.sha256).hexdigest()


def broken_links(links: Iterable[Link], head: Head | None, noted: Head | None = None) -> Iterator[str]:
    """What is wrong with a chain read in the order of its places, a sentence each. Nothing wrong, nothing said."""
    place, before, met = 0, START, noted is None or noted.count == 0
    for link in links:
        if link.seq > place + 1:
            yield _missing(place + 1, link.seq - 1)
        elif link.previous != before:
            yield f"{name(link)} does not follow the record before it: one of the two was replaced."
        yield from _own_faults(link)
        if noted and link.seq == noted.count:
            met = link.hash == noted.hash
            if not met:
                yield f"{name(link)} is not the one whose hash was noted: the chain was written anew."
                met = True
        place, before = link.seq, link.hash
    if head is None:
        if place:
            yield "The head that counts the records was removed."
    elif head.count > place:
        yield _missing(place + 1, head.count)
    elif head.count < place:
        yield f"There are {place} records, but the head counts {head.count}: records were added past it."
    elif head.hash != before:
        yield f"Record {place} is not the one that the head names: one of the two was replaced."
    if not met and noted and noted.count > (head.count if head else place):
        yield f"The chain is shorter than the {noted.count} records that were noted: it was cut or put back to an earlier copy."


def _own_faults(link: Link) -> Iterator[str]:
    body = read_body(link)
    if body is None or link_hash(link.previous, link.body) != link.hash:
        yield f"{name(link)} was changed after it was written."
    if body is not None and body.get("seq") != link.seq:
        yield f"{name(link)} was moved: it was written at place {body.get('seq')}."
    if body is not None and body.get("broken_before"):
        yield f"When {_lower(name(link))} was written, {body['broken_before']}"


def read_body(link: Link) -> dict[str, Any] | None:
    """The record's body; None when its text is no longer one."""
    try:
        body = json.loads(link.body)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def name(link: Link) -> str:
    """A record as a person can find it."""
    body = read_body(link) or {}
    about = str(body.get("question") or body.get("kind") or "")
    shown = f"{about[:60]}…" if len(about) > 60 else about
    return f"Record {link.seq} ({body.get('id', 'no id')}, {body.get('at', 'no time')}, {shown!r})"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _missing(first: int, last: int) -> str:
    return f"Record {first} was removed." if first == last else f"Records {first} to {last} were removed."


def export_line(link: Link) -> str:
    """A record as one line of JSON, its hashes beside its body."""
    return f'{{"hash":"{link.hash}","previous":"{link.previous}","record":{link.body}}}'


def head_line(head: Head) -> str:
    """The last line of a whole export."""
    return canonical({"head": {"count": head.count, "hash": head.hash}})


def verify_export(lines: Iterable[str]) -> list[str]:
    """What is wrong with an exported JSONL. An export of one session has gaps and no head; its records are checked one by one."""
    links: list[Link] = []
    head: Head | None = None
    findings = []
    for number, line in enumerate(filter(str.strip, lines), 1):
        try:
            entry = json.loads(line)
            if "head" in entry:
                head = Head(int(entry["head"]["count"]), str(entry["head"]["hash"]))
            else:
                links.append(_exported(entry))
        except (ValueError, KeyError, TypeError):
            findings.append(f"Line {number} is not a record.")
    if head is not None:
        return [*findings, *broken_links(links, head)]
    return [*findings, *(fault for link in links for fault in _own_faults(link))]


def _exported(entry: Mapping[str, Any]) -> Link:
    body = entry["record"]
    return Link(int(body["seq"]), canonical(body), str(entry["previous"]), str(entry["hash"]))
