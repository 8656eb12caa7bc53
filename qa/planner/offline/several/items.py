"""Reads the words of a question as items over several tables: the tables themselves, their columns and values, and small words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qa.data.table import Table
from qa.planner.offline.index import TableIndex, index, unique_values
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.naming import SMALL
from qa.planner.offline.several.graph import Graph
from qa.planner.offline.text import header_words, key, numbers, tokens
from qa.types import Kind

LONGEST = 6
"""words of a name or a value that are tried together"""
PREFIXES = frozenset({"ref", "dim", "fact", "tbl", "tb", "tab", "lookup", "lu", "the"})
LABELS = ("name", "title")
TRAILING = frozenset({"code", "number", "no", "num", "nr", "text", "address", "of"})
PRONOUNS = frozenset({"they", "their", "theirs", "his", "her", "him", "them", "it", "its", "he", "she"})
LEFT_OUT = frozenset({"only", "just", "really", "then", "exactly", "new", "current", "currently", "now", "instead"})
"""particles that change the meaning here, so that they are not passed over"""
INSIDE = frozenset({"of", "the", "per"})
"""small words that a column's name may hold"""
ARTICLES = frozenset({"the", "a", "an"})
PASSED = frozenset({"yet", "temporarily", "well", "moment"})
LETTERS = {
    "WH": "w", "SHOW": "s", "COUNT": "K", "DISTINCT": "d", "BE": "b", "OF": "p", "HAVE": "h", "PREP": "p", "AND": "&", "COMMA": "&",
    "OR": "|", "NOT": "!", "CMP": ">", "ORMORE": "m", "ORLESS": "m", "AFTER": ">", "BEFORE": ">", "BY": "y", "EACH": "e", "AGG": "G",
    "SUP": "S", "TOP": "t", "AVERAGEOF": "M", "BELOWAVERAGE": "M", "BETWEEN": "B", "ORDER": "o", "DIR": "D", "ALPHA": "a", "MORE": ">",
    "FROMTO": "p", "TO": "p", "RARE": "R",
}  # fmt: skip
ORDER = ("COUNT", "AVERAGEOF", "BELOWAVERAGE", "ORDER", "ALPHA", "DIR", "EACH", "NOT", "CMP", "AFTER", "BEFORE", "ORMORE",
         "ORLESS", "WH", "PREP", "SUP", "AGG")  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One unit of the question. `letter` is what the grammar matches.

    `tables` are tables it may mean, `columns` (table, column, how sure), `values` (table, column, cells).
    """

    letter: str
    text: str
    first: int
    last: int
    op: str = ""
    number: float | None = None
    tables: tuple[str, ...] = ()
    columns: tuple[tuple[str, str, float], ...] = ()
    values: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    verb: bool = False


class Reader:
    """One question against several tables."""

    def __init__(self, question: str, graph: Graph, lex: Lexicon) -> None:
        self.question, self.graph, self.lex = question, graph, lex
        self.toks = tokens(question)
        self.folded = [token.folded for token in self.toks]
        self.lemmas = ["id" if word == "ids" else lex.lemma(word) for word in self.folded]
        self.keyed = {
            lex.root(word)
            for name in graph.tables
            for column in graph.keys(name)
            for word in header_words(column)
            if word not in SMALL and word != "id"
        }
        self.indexes: dict[str, TableIndex] = {name: index(table, lex) for name, table in graph.tables.items()}
        self.called = {name: table_names(table, graph, lex) for name, table in graph.tables.items()}
        self.columns = {name: _column_names(table, self.indexes[name], lex) for name, table in graph.tables.items()}
        self.figures = {n.first: n for n in numbers(question, self.toks, dict(lex.scales))}

    def items(self) -> list[Item] | None:
        """The items in order, or None when a word means nothing here."""
        found: list[Item] = []
        at = 0
        while at < len(self.toks):
            best = max(self._at(at), key=lambda item: item[0], default=None)
            if best is None:
                if not self._passes(at):
                    return None
                at += 1
                continue
            found.append(best[1])
            at = best[1].last + 1
        return found

    def unplaced(self) -> list[str]:
        """The words that mean nothing here."""
        return [
            self.toks[n].text
            for n in range(len(self.toks))
            if not any(True for _ in self._at(n)) and not self._passes(n)
        ]

    def _passes(self, at: int) -> bool:
        word = self.folded[at]
        if not self.toks[at].wordlike:
            return word not in "()+*/%$<>="
        return (word in self.lex.particles or word in PASSED) and word not in LEFT_OUT

    def _at(self, at: int) -> Iterator[tuple[float, Item]]:
        """What may begin at a word, with how telling it is: the most words, then the surest meaning."""
        if self.folded[at] in ".?;:" and at + 1 < len(self.toks):
            yield 1.0, Item(".", ".", at, at)
        if self.toks[at].wordlike or self.folded[at] == "'s":
            if not self.toks[at].quoted:
                yield from self._phrases(at)
                yield from self._tables(at)
                yield from self._columns(at)
                yield from self._verbs(at)
            yield from self._values(at)
            yield from self._numbers(at)
        elif self.folded[at] == ",":
            yield 1.0, Item("&", ",", at, at)

    def _span(self, first: int) -> Iterator[tuple[int, list[int]]]:
        """(last word, the words so far) of stretches from a word; symbols end them."""
        taken: list[int] = []
        for last in range(first, min(len(self.toks), first + LONGEST)):
            if not self.toks[last].wordlike:
                return
            taken.append(last)
            yield last, taken

    def text(self, first: int, last: int) -> str:
        return self.question[self.toks[first].start : self.toks[last].end]

    def _phrases(self, first: int) -> Iterator[tuple[float, Item]]:
        if self.folded[first] in PRONOUNS:
            yield 1.0, Item("P", self.toks[first].text, first, first)
        for last in range(first, min(len(self.toks), first + self.lex.longest)):
            said = tuple(self.folded[first : last + 1])
            size = last - first + 1
            if size > 1 and said[0] in ARTICLES:
                break
            text = self.text(first, last)
            if said in self.lex.superlatives:
                yield size + 0.3, Item("Z", text, first, last, op=" ".join(said))
            tags = self.lex.phrases.get(said, ())
            head = next((h for h in ORDER if any(t.partition(":")[0] == h for t in tags)), None)
            head = head or next((t.partition(":")[0] for t in tags), None)
            if head is None or head not in LETTERS:
                continue
            argument = next(t.partition(":")[2] for t in tags if t.partition(":")[0] == head)
            if head == "SHOW" and not self._opens(first):
                continue
            op = {"AFTER": ">=" if said[0] in ("since", "from") else ">", "BEFORE": "<", "ORMORE": ">=", "ORLESS": "<=", "AVERAGEOF": ">", "BELOWAVERAGE": "<"}.get(head, argument)  # fmt: skip
            if head == "MORE":
                op = ">" if argument == "max" else "<"
            yield size + 0.2, Item(LETTERS[head], text, first, last, op=op)

    def _opens(self, first: int) -> bool:
        return first == 0 or self.folded[first - 1] in (".", "?", ";", ",", "and", "please", ":")

    def _tables(self, first: int) -> Iterator[tuple[float, Item]]:
        for last, taken in self._span(first):
            said = "".join(self.lemmas[n] for n in taken)
            hits = tuple(name for name, names in self.called.items() if said in names or self._titled(taken, names))
            if hits:
                busy = self.folded[last].endswith("ing") and first > 0 and self.folded[first - 1] in ("is", "are")
                yield len(taken) + 0.5, Item("E", self.text(first, last), first, last, tables=hits, verb=busy)

    def _titled(self, taken: Sequence[int], names: set[str]) -> bool:
        """True for `high school student` where the table is Highschooler and its rows are also called students."""
        front = "".join(self.lemmas[n] for n in taken[:-1])
        return len(front) > 3 and self.lemmas[taken[-1]] in names and any(name.startswith(front) for name in names)

    def _called(self, first: int, last: int) -> bool:
        """True when words are what the rows of a table are called, its article left out."""
        said = "".join(self.lemmas[n] for n in range(first, last + 1) if self.folded[n] not in SMALL)
        return any(said in names for names in self.called.values())

    def _verbs(self, first: int) -> Iterator[tuple[float, Item]]:
        """Verbs of the tables' own names (`hired` of `hiring`), and verbs that only say that two things are related."""
        word = self.folded[first]
        if word in self.lex.relations or self.lex.root(word) in self.keyed:
            yield 0.9, Item("v", self.toks[first].text, first, first)
        if word.endswith(("ed", "es", "s", "ing", "e", "t")) and len(word) > 3:
            hits = tuple(name for name in self.called if _stem(header_words(name)[-1]) == _stem(word))
            if len(hits) == 1:
                yield 1.0, Item("E", self.toks[first].text, first, first, tables=hits, verb=True)

    def _columns(self, first: int) -> Iterator[tuple[float, Item]]:
        for last, taken in self._span(first):
            if len(taken) == 1 and "NOT" in self.lex.phrases.get((self.folded[first],), ()):
                continue
            if any(self.folded[n] == "of" and self._called(n + 1, last) for n in taken):
                continue
            content = [n for n in taken if self.folded[n] not in INSIDE]
            if self.folded[first] in SMALL or self.folded[last] in SMALL or self.folded[first] in self.lex.particles:
                continue
            lemmas = tuple(sorted(self.lemmas[n] for n in content))
            roots = tuple(sorted(self.lex.root(self.folded[n]) for n in content))
            found = []
            for table, names in self.columns.items():
                hits = dict(names.get(("root", *roots), {}))
                hits |= {c: max(sure, hits.get(c, 0.0)) for c, sure in names.get(lemmas, {}).items()}
                found += [(table, column, sure) for column, sure in hits.items()]
            if found:
                best = max(sure for *_, sure in found)
                near = tuple(sorted((f for f in found if f[2] >= min(best - 0.2, 0.8)), key=lambda f: -f[2]))
                worth = 0.1 if len(taken) == 1 and self._measuring(first) else 0.1 + 0.3 * best
                yield len(taken) + worth, Item("C", self.text(first, last), first, last, columns=near)

    def _measuring(self, at: int) -> bool:
        """True for `highest` before a word that it can be about."""
        tags = self.lex.phrases.get((self.folded[at],), ())
        return any(tag.startswith(("SUP", "AGG")) for tag in tags) and any(
            item.letter in "CE" for _, item in (self._at(at + 1) if at + 1 < len(self.toks) else ())
        )

    def _values(self, first: int) -> Iterator[tuple[float, Item]]:
        for last, taken in self._span(first):
            said = key(" ".join(self.folded[n] for n in taken))
            quoted = self.toks[first].quoted
            if quoted and last + 1 < len(self.toks) and self.toks[last + 1].quoted:
                continue
            everyday = (
                self.folded[first] in self.lex.particles or tuple(self.folded[first : last + 1]) in self.lex.phrases
            )
            if not quoted and (everyday and not self.toks[first].text.isupper()):
                continue
            values = self._cells(said)
            if values and (quoted or not said.isdigit()):
                sure = 0.6 if quoted or (self.toks[first].proper and first) else 0.05
                yield len(taken) + sure, Item("V", self.text(first, last), first, last, values=values)

    def _cells(self, said: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """(table, column, cells) that read like these words."""
        hits: dict[tuple[str, str], list[str]] = {}
        for table, built in self.indexes.items():
            for id, cell in built.values.get(said, ()):
                hits.setdefault((table, built.column(id).name), []).append(cell)
        return tuple((table, column, tuple(cells)) for (table, column), cells in hits.items())

    def _numbers(self, at: int) -> Iterator[tuple[float, Item]]:
        number = self.figures.get(at)
        if number is not None:
            first, last = number.first, number.last
            text = self.text(first, last)
            values = self._cells(key(text))
            yield last - first + 1.05, Item("N", text, first, last, number=number.value, values=values)
        elif self.folded[at] in self.lex.cardinals and self.folded[at] != "once":
            yield 1.05, Item("N", self.toks[at].text, at, at, number=float(self.lex.cardinals[self.folded[at]]))


def _stem(word: str) -> str:
    """A word without the ending that makes it a plural or a verb: `votes` and `voted` are `vot`."""
    for ending in ("ings", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def table_names(table: Table, graph: Graph, lex: Lexicon) -> set[str]:
    """What a table's rows are called, lemmas run together: its name, its synonyms, what keys to it are called."""
    words = [lex.lemma(w) for w in header_words(table.name) if w[0].isalnum()]
    while len(words) > 1 and words[0] in PREFIXES:
        words = words[1:]
    names = set() if graph.bridge(table.name) and len(words) > 1 else {"".join(words)}
    if len(words) > 1 and words[-1] not in lex.ignored and not any(w in SMALL for w in words):
        rivals = [t for t in graph.tables if t != table.name and words[-1] in [lex.lemma(w) for w in header_words(t)]]
        if not rivals and not graph.bridge(table.name):
            names.add(words[-1])
    names |= {"".join(lex.lemma(w) for w in header_words(said)) for said in table.profile.synonyms}
    taken = {lex.lemma(header_words(t)[-1]) for t in graph.tables}
    for hop in graph.hops.get(table.name, ()):
        said = [w for w in header_words(hop.pairs[0][1]) if w != "id"] if hop.many else []
        if len(said) == 1 and lex.lemma(said[0]) not in taken and header_words(hop.pairs[0][1])[-1:] == ["id"]:
            names.add(lex.lemma(said[0]))
    return names


def label(table: Table, lex: Lexicon) -> str | None:
    """The column that names a row of the table to a reader: its name or title, else a text column called like the table."""
    own = {lex.lemma(w) for w in header_words(table.name)}
    texts = [c.name for c in table.columns if c.kind is Kind.TEXT]
    for wanted in LABELS:
        exact = [c for c in texts if [lex.lemma(w) for w in header_words(c) if lex.lemma(w) not in own] == [wanted]]
        if len(exact) == 1:
            return exact[0]
    alike = [c for c in texts if {lex.lemma(w) for w in header_words(c)} <= own]
    return alike[0] if len(alike) == 1 else None


def identity(table: Table, graph: Graph, lex: Lexicon) -> list[str]:
    """The columns that tell a reader which row is meant: the label, after the key where two rows share a label."""
    name = label(table, lex)
    if name is None or unique_values(table, table.column(name)):
        return [name] if name else []
    keys = {hop.pairs[0][0] for hop in graph.hops.get(table.name, ()) if hop.many and len(hop.pairs) == 1}
    keys = {key for key in keys if unique_values(table, table.column(key))}
    return [keys.pop(), name] if len(keys) == 1 else []


def _column_names(table: Table, built: TableIndex, lex: Lexicon) -> dict[tuple[str, ...], dict[str, float]]:
    """Sorted words -> columns and how surely they are meant; a key that begins with `root` holds roots."""
    own = {lex.lemma(w) for w in header_words(table.name)}
    found: dict[tuple[str, ...], dict[str, float]] = {}

    def add(words: Sequence[str], column: str, sure: float) -> None:
        content = [w for w in words if w not in SMALL and w[0].isalnum()]
        if not content:
            return
        lemmas = tuple(sorted(lex.lemma(w) for w in content))
        roots = ("root", *sorted(lex.root(w) for w in content))
        for at, worth in ((lemmas, sure), (roots, sure * 0.9)):
            held = found.setdefault(at, {})
            held[column] = max(held.get(column, 0.0), worth)

    for column in table.columns:
        words = header_words(column.name)
        add(words, column.name, 1.0)
        for name in built.names[column.id]:
            if name.sure >= 0.85 and not (words[-1] == "id" and {"number", "no"} & set(name.words)):
                add(name.words, column.name, name.sure * 0.97)
        bare = [w for w in words if lex.lemma(w) not in own]
        if bare and bare != words:
            add(bare, column.name, 0.9)
        if len(words) > 1 and "year" in words:
            add([w for w in words if w != "year"], column.name, 0.85)
        short = list(bare or words)
        while len(short) > 1 and short[-1] in TRAILING:
            short = short[:-1]
        if short != (bare or words):
            add(short, column.name, 0.85)
    return found
