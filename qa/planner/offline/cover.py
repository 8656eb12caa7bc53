"""Lays links end to end over the question: the best ways to take it apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from qa.planner.offline.index import mostly_unique
from qa.planner.offline.link import Linker
from qa.planner.offline.links import Link
from qa.planner.offline.naming import SMALL, table_words

COVERS = 12
COUNTERS = frozenset({"number", "numbers", "amount of"})
"""a column of this name does not undo `the highest number of …`"""
WHOLE = 0.8
"""below this a name is said only in part"""
SPELLED = 0.95
"""a name this sure is said in full"""
BINDING = (
    "COUNT",
    "CMP",
    "SHARE",
    "DIFF",
    "AVERAGEOF",
    "BELOWAVERAGE",
    "MEDIANOF",
    "BELOWMEDIAN",
    "SUPOF",
    "ORDER",
    "ORMORE",
    "ORLESS",
    "AGG",
    "EACH",
    "SUP",
)
LABELS = frozenset({"name", "id", "number", "no", "code", "title", "key", "num", "label"})
"""words that make a column the label of what stands before them: `car_name`, `PassengerId`"""


def covers(linker: Linker, links: Iterable[Link]) -> list[tuple[float, tuple[Link, ...]]]:
    """The best ways to lay links end to end, best first. Words without a link become links of their own."""
    size = len(linker.toks)
    by_start: dict[int, list[Link]] = {}
    for link in links:
        by_start.setdefault(link.first, []).append(link)
    best: list[list[tuple[float, tuple[Link, ...]]]] = [[] for _ in range(size + 1)]
    best[0] = [(0.0, ())]
    for at in range(size):
        options = list(by_start.get(at, ()))
        if not any(link.kind == "word" and link.last == at for link in options):
            options.append(_bare(linker, at))
        options = [o for o in options if o.score > 0 or o.kind in ("ignored", "light", "row", "unknown", "symbol")]
        for score, path in best[at]:
            for link in options:
                best[link.last + 1].append((score + link.score, (*path, link)))
        for end in {link.last + 1 for link in options}:
            best[end] = sorted(best[end], key=lambda item: -item[0])[: COVERS * 2]
    whole = [
        item
        for item in best[size]
        if not _broken(item[1], by_start)
        and not _cuts_a_name(linker, item[1], by_start)
        and not _wastes(linker, item[1], by_start)
        and not _breaks_a_list(item[1], by_start)
        and not _scraped(item[1])
    ]
    return whole[:COVERS]


SURE = 0.9
"""how sure a column's name must be to stand as one word"""
PASSED = frozenset({"row", "light", "ignored"})
"""links that say nothing: a full name is not read as these"""


def _cuts_a_name(linker: Linker, path: tuple[Link, ...], by_start: dict[int, list[Link]]) -> bool:
    """True when a cover cuts the full name of a column apart: `annual salary` is not the salary by year."""
    for start, found in by_start.items():
        for name in found:
            if name.kind == "column" and name.last > start and name.columns and name.columns[0][1] >= SURE:
                whole = any(link.first <= start and link.last >= name.last for link in path)
                inside = [link for link in path if start <= link.first and link.last <= name.last]
                left = {n for n in range(start, name.last + 1) if linker.folded[n] not in SMALL}
                over = [link for link in path if link.first <= name.last and link.last >= start]
                passed = all(link.kind in PASSED for link in over) and name.columns[0][1] >= SPELLED
                # `number of rings` leaves nothing of `of rings` but the small word
                cut = any(link.kind == "column" and left - set(range(link.first, link.last + 1)) for link in inside)
                if not whole and (cut or passed):
                    return True
    return False


def _broken(path: tuple[Link, ...], by_start: dict[int, list[Link]]) -> bool:
    """True when a cover cuts a phrase of the language apart: `at least` is never a superlative."""
    for link in path:
        if link.kind in ("column", "value", "expression"):
            continue
        for start in range(max(0, link.first - 3), link.first + 1):
            for phrase in by_start.get(start, ()):
                binding = phrase.kind == "word" and phrase.last > phrase.first and phrase.last >= link.first
                if binding and link is not phrase and _binds(phrase) and not _inside(phrase, path):
                    return True
    return False


def _wastes(linker: Linker, path: tuple[Link, ...], by_start: dict[int, list[Link]]) -> bool:
    """True when a cover passes over a word that is a column's own name."""
    for link in path:
        passed = link.kind in ("light", "row") or (link.kind == "ignored" and _means(linker, link))
        if passed and any(
            other.kind == "column" and other.last == link.last and other.columns[0][1] >= SPELLED
            for other in by_start.get(link.first, ())
        ):
            return True
    return False


def _breaks_a_list(path: tuple[Link, ...], by_start: dict[int, list[Link]]) -> bool:
    """True when a cover passes over a value that is listed beside others of its column: `paid` in `paid, pending`."""
    for at, link in enumerate(path):
        if link.kind not in ("ignored", "light"):
            continue
        value = next((v for v in by_start.get(link.first, ()) if v.kind == "value" and v.last == link.last), None)
        own = {id for id, _ in value.values} if value else set()
        for step in (-1, 1):
            if not own or not 0 <= at + 2 * step < len(path):
                continue
            between, other = path[at + step], path[at + 2 * step]
            listed = any(between.tag(tag) is not None for tag in ("COMMA", "AND", "OR"))
            if listed and other.kind == "value" and own & {id for id, _ in other.values}:
                return True
    return False


def _scraped(path: tuple[Link, ...]) -> bool:
    """True when two columns stand side by side that are both named only in part: one name was cut in two."""
    named = [link for link in path if link.kind == "column"]
    return any(
        a.last + 1 == b.first and a.columns[0][1] < WHOLE and b.columns[0][1] < WHOLE
        for a, b in itertools.pairwise(named)
    )


def _means(linker: Linker, link: Link) -> bool:
    """True for a filler; a particle never names a column by itself."""
    word = linker.folded[link.first]
    return word not in linker.lex.particles and word not in SMALL


def _binds(phrase: Link) -> bool:
    return any(phrase.tag(head) is not None for head in BINDING)


def _inside(phrase: Link, path: tuple[Link, ...]) -> bool:
    """True when the cover holds the phrase, or something longer or more telling over one of its words."""
    for link in path:
        overlaps = link.first <= phrase.last and link.last >= phrase.first
        more = link.text.lower() not in COUNTERS
        if link is phrase or (overlaps and more and link.kind in ("column", "value", "expression", "date")):
            return True
        if overlaps and link.kind == "word" and link.last - link.first >= phrase.last - phrase.first:
            return True
    return False


def _bare(linker: Linker, at: int) -> Link:
    token, lex = linker.toks[at], linker.lex
    word = token.folded
    text = token.text
    if not token.wordlike:
        return Link("symbol", at, at, 0.05, text)
    if word in lex.ignored or word in SMALL:
        return Link("ignored", at, at, 0.3, text)
    own = word in table_words(linker.index.table.name, lex)
    if own and lex.lemma(word) not in linker.single:
        return Link("row", at, at, 1.0, text)
    if word in linker.elsewhere:
        return Link("unknown", at, at, 0.0, text)
    if word in linker.looked_up:
        return Link("partner", at, at, 0.6, text)
    if word in lex.row_nouns and _rows_are(word, linker, at):
        return Link("row", at, at, 0.66, text)
    if word in lex.light:
        return Link("light", at, at, 0.15, text)
    return Link("unknown", at, at, 0.0, text)


def _rows_are(noun: str, linker: Linker, at: int) -> bool:
    """True when a general noun can mean this table's rows: no column is named after it, and people need a trace of people."""
    lex, index = linker.lex, linker.index
    before = linker.folded[at - 1] if at else ""
    if before in lex.row_nouns or before in table_words(index.table.name, lex):
        return True
    named = index.by_root.get(lex.root(noun), set())
    labels = {
        id
        for id in named
        if any(set(n.words) - LABELS <= {lex.lemma(noun), noun} and len(n.words) > 1 for n in index.names[id][:1])
        and mostly_unique(index.table, index.column(id))
    }
    if named and not labels:
        return False
    if labels:
        return True
    if noun not in lex.persons:
        return True
    traces = {lex.root(word) for word in (*lex.asks["who"], *lex.personal)}
    return any(root in traces for root in index.by_root)
