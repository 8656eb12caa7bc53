"""Links every stretch of a question to what it can mean, and lays the links end to end over the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz

from qa.planner.offline import formula as write
from qa.planner.offline.dates import YEARS, Period, periods
from qa.planner.offline.index import TITLES, TableIndex, mostly_unique
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.text import Token, fold, key, numbers, tight
from qa.types import Column, Kind, Role

COVERS = 12
LONGEST_NAME = 9
TYPO = 88
"""rapidfuzz ratio above which two long words are one, mistyped"""
SHORTEST_TYPO = 5
LONG_FORM = 6
"""letters of a word that a header may abbreviate"""


@dataclass(frozen=True)
class Link:
    """A stretch of words and its meaning.

    `kind` is column, value, number, date, word (with `tags`), ignored, light, row or unknown.
    `columns` are (id, how sure), `values` are (column id, cell texts).
    """

    kind: str
    first: int
    last: int
    score: float
    text: str
    tags: tuple[str, ...] = ()
    columns: tuple[tuple[str, float], ...] = ()
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    number: float | None = None
    plain: float | None = None
    percent: bool = False
    period: Period | None = None
    weak: bool = False
    quoted: bool = False

    def tag(self, name: str) -> str | None:
        """The argument of a tag (`>=` of `CMP:>=`), an empty text for a bare one, None when it is not there."""
        for tag in self.tags:
            head, _, argument = tag.partition(":")
            if head == name:
                return argument
        return None

    def cells(self, column_id: str) -> tuple[str, ...]:
        return next((cells for id, cells in self.values if id == column_id), ())


class Linker:
    """Finds the links of one question in one table."""

    def __init__(
        self,
        question: str,
        toks: Sequence[Token],
        index: TableIndex,
        lex: Lexicon,
        others: Iterable[str] = (),
        partners: Iterable[str] = (),
    ) -> None:
        self.looked_up = frozenset(word for other in partners for word in _table_words(other, lex))
        others, partners = tuple(others), tuple(partners)
        self.elsewhere = frozenset(word for other in others for word in _table_words(other, lex))
        self.question, self.toks, self.index, self.lex = question, tuple(toks), index, lex
        single = {lex.lemma(fold(name)) for name in (*others, *partners) if "_" not in name}
        self.single = frozenset(single)
        """other tables' names of one word; such a word never means this table's rows"""
        self.virtual: dict[str, tuple[Column, str]] = {}
        self.folded = [token.folded for token in toks]
        self.lemmas = [lex.lemma(word) for word in self.folded]
        self.roots = [lex.root(word) for word in self.folded]

    def column(self, id: str) -> Column:
        """A column of the table, or one that the question derives."""
        return self.virtual[id][0] if id in self.virtual else self.index.column(id)

    def written(self, id: str) -> str:
        """A column as a formula writes it."""
        return f"({self.virtual[id][1]})" if id in self.virtual else write.name(self.index.column(id).name)

    def derive(self, formula: str, name: str, role: Role | None = None, unit: str | None = None) -> str:
        """Registers a column that the question defines; gives its id."""
        id = f"={formula}"
        taken = {column.name.lower() for column in self.index.columns}
        name = f"{name} (computed)" if name.lower() in taken else name
        self.virtual[id] = (Column(id, name, Kind.NUMBER, role, unit), formula)
        return id

    def links(self) -> list[Link]:
        """Every link that could matter, of all kinds."""
        named = list(self._columns())
        found = [
            *self._words(),
            *named,
            *self._negated(),
            *self._arithmetic(named),
            *self._values(),
            *self._numbers(),
            *self._dates(),
        ]
        return self._lift(found)

    def text(self, first: int, last: int) -> str:
        return self.question[self.toks[first].start : self.toks[last].end]

    # words of the language
    def _words(self) -> Iterable[Link]:
        tables = (self.lex.phrases, self.lex.superlatives, self.lex.comparatives)
        for first in range(len(self.toks)):
            for last in range(first, min(len(self.toks), first + self.lex.longest)):
                phrase = tuple(self.folded[first : last + 1])
                tags = list(self.lex.phrases.get(phrase, ()))
                if phrase in tables[1]:
                    tags.append(f"SUPOF:{' '.join(phrase)}")
                if phrase in tables[2]:
                    tags.append(f"CMPOF:{' '.join(phrase)}")
                if self._compound(first) and last == first + 2:
                    yield Link("row", first, last, 2.2, self.text(first, last))
                if tags and not self.toks[first].quoted:
                    size = last - first + 1
                    yield Link("word", first, last, 0.6 * size + 0.1 * (size - 1), self.text(first, last), tuple(tags))

    def _compound(self, first: int) -> bool:
        """`metro-months`: one row for each of the first and each period."""
        if first + 2 >= len(self.toks) or self.folded[first + 1] != "-":
            return False
        grain = any(tag.startswith("GRAIN") for tag in self.lex.phrases.get((self.folded[first + 2],), ()))
        return grain and self.folded[first] in self.lex.row_nouns and any(c.kind.temporal for c in self.index.columns)

    # columns
    def _columns(self) -> Iterable[Link]:
        for first in range(len(self.toks)):
            if not self._nameable(first):
                continue
            alive = True
            for last in range(first, min(len(self.toks), first + LONGEST_NAME)):
                if not alive or (self.toks[last].quoted and not self.toks[first].quoted):
                    break
                if not self._nameable(last):
                    continue
                span = [n for n in range(first, last + 1) if self._nameable(n)]
                content = [n for n in span if self.folded[n] not in SMALL] or span
                found = self._columns_at(content, span)
                if found is None:
                    alive = False
                elif found and (self.folded[last] not in SMALL or self._ends_name(found, span)):
                    best = max(sure for _, sure in found)
                    near = tuple(sorted(((c, s) for c, s in found if s >= best - 0.12), key=lambda item: -item[1]))
                    between = 0.62 if best >= 0.97 else 0.5
                    score = best * len(content) + 0.06 * (len(content) - 1) + between * (len(span) - len(content))
                    yield Link("column", first, last, score, self.text(first, last), columns=near)

    def _ends_name(self, found: list[tuple[str, float]], span: list[int]) -> bool:
        """True when a small word at the end is the name's own: `written by`."""
        said = tuple(self.folded[n] for n in span)
        return any(name.words == said for id, _ in found for name in self.index.names[id])

    def _nameable(self, n: int) -> bool:
        return self.toks[n].wordlike or self.folded[n] in "#%"

    def _columns_at(self, content: list[int], span: list[int]) -> list[tuple[str, float]] | None:
        """Columns that these words can name; None when no longer stretch can name one either."""
        alias = {"#": "number", "%": "percent"}
        said = [alias.get(self.folded[n], self.folded[n]) for n in content]
        roots = [self._root(word) if len(said) > 1 else self.lex.root(word) for word in said]
        candidates: set[str] | None = None
        for word, root in zip(said, roots, strict=True):
            ids = self.index.by_root.get(root, set()) | self._mistyped(word)
            candidates = set(ids) if candidates is None else candidates & ids
            if not candidates:
                return None
        full = [alias.get(self.folded[n], self.folded[n]) for n in span]
        found = []
        for id in candidates or ():
            sure = max(self._sure(name, said, full) for name in self.index.names[id])
            if sure > 0:
                found.append((id, sure))
        return found

    def _negated(self) -> Iterable[Link]:
        """`inactive`, `unsatisfied`: a yes/no column said no."""
        for n, word in enumerate(self.folded):
            for prefix in self.lex.negations:
                rest = word.removeprefix(prefix)
                if rest == word or len(rest) < 4:
                    continue
                ids = [id for id in self.index.by_root.get(self.lex.root(rest), ()) if id in self.index.yes]
                if len(ids) == 1:
                    yield Link("column", n, n, 1.0, self.toks[n].text, tags=("NEG",), columns=((ids[0], 0.9),))

    def _root(self, word: str) -> str:
        """A word's root, or the abbreviation that the headers use for it: `departure` is `dep` there."""
        root = self.lex.root(word)
        if root in self.index.by_root or len(word) < LONG_FORM:
            return root
        short = [
            r for r in self.index.by_root if len(r) in (3, 4) and word.startswith(r) and (r,) not in self.lex.phrases
        ]
        return short[0] if len(short) == 1 else root

    def _mistyped(self, word: str) -> set[str]:
        if (
            len(word) < SHORTEST_TYPO
            or word in self.lex.light
            or word in self.lex.ignored
            or (word,) in self.lex.phrases
        ):
            return set()
        found: set[str] = set()
        for root, ids in self.index.by_root.items():
            if abs(len(root) - len(self.lex.root(word))) <= 2 and len(root) >= SHORTEST_TYPO - 1:
                if fuzz.ratio(root, self.lex.root(word)) >= TYPO:
                    found |= ids
        return found

    def _sure(self, name: object, said: list[str], full: list[str]) -> float:
        words, lemmas, roots = list(name.words), list(name.lemmas), list(name.roots)  # type: ignore[attr-defined]
        sure: float = name.sure  # type: ignore[attr-defined]
        if full == words or said == words:
            return sure
        said_lemmas = [self.lex.lemma(word) for word in said]
        bare = [lemma for word, lemma in zip(words, lemmas, strict=True) if word not in SMALL]
        if said_lemmas in (lemmas, bare):
            return sure * 0.97
        if sorted(said_lemmas) == sorted(bare):
            return sure * 0.92
        said_roots = [self._root(word) if len(said) > 1 else self.lex.root(word) for word in said]
        bare_roots = [root for word, root in zip(words, roots, strict=True) if word not in SMALL]
        if sorted(said_roots) == sorted(bare_roots):
            return sure * 0.88
        if said_roots != [self.lex.root(word) for word in said]:
            return 0.0
        if sure < 0.9:
            return 0.0
        return self._part(said_lemmas, said_roots, bare, bare_roots) * sure

    def _part(self, said: list[str], said_roots: list[str], name: list[str], name_roots: list[str]) -> float:
        """How sure a name is when only a part of its words is said."""
        exact = sum(word in name for word in said)
        near = sum(root in name_roots for root in said_roots)
        if near < len(said_roots):
            fuzzy = all(any(fuzz.ratio(root, other) >= TYPO for other in name_roots) for root in said_roots)
            if not fuzzy:
                return 0.0
        counter = len(name) > 1 and name[0] in ("no", "number") and not {"no", "number"} & set(said)
        if ("id" in name and "id" not in said) or counter:
            return 0.5
        share = len(said) / max(1, len(name))
        head = 0.1 if said_roots[-1] == name_roots[-1] or set(name) - set(said) <= TITLES else 0.0
        whole = share >= 1
        return (0.82 if whole else 0.42 + 0.36 * share + head) * (1.0 if exact == len(said) else 0.92)

    # arithmetic written out
    def _arithmetic(self, named: list[Link]) -> Iterable[Link]:
        """`(price - cost) / price`: the longest stretches of numeric columns, numbers and operators."""
        best: dict[int, Link] = {}
        for link in named:
            column = self.index.column(link.columns[0][0]) if link.columns else None
            if (
                column
                and column.kind.numeric
                and link.columns[0][1] >= 0.9
                and link.last >= best.get(link.first, link).last
            ):
                best[link.first] = link
        at = 0
        while at < len(self.toks):
            end, parts, operands, operators = at, [], 0, 0
            while end < len(self.toks):
                word = self.folded[end]
                if end in best and (not parts or parts[-1] in OPERATORS or parts[-1] == "("):
                    parts.append(write.name(self.index.column(best[end].columns[0][0]).name))
                    operands, end = operands + 1, best[end].last + 1
                elif word in OPERATORS and parts and parts[-1] not in OPERATORS and parts[-1] != "(":
                    parts.append(OPERATORS[word])
                    operators, end = operators + 1, end + 1
                elif (word == "(" and (not parts or parts[-1] in OPERATORS.values())) or (
                    word == ")" and parts.count("(") > parts.count(")")
                ):
                    parts.append(word)
                    end += 1
                elif word.isdigit() and parts and parts[-1] in OPERATORS.values():
                    parts.append(word)
                    operands, end = operands + 1, end + 1
                else:
                    break
            while parts and (parts[-1] in OPERATORS.values() or parts[-1] == "("):
                parts.pop()
                end -= 1
            whole = any(link.first <= at and link.last >= end - 1 and link.columns[0][1] >= 0.95 for link in named)
            if operators and operands >= 2 and not whole and parts.count("(") == parts.count(")"):
                formula = " ".join(parts).replace("( ", "(").replace(" )", ")")
                id = self.derive(formula, formula)
                yield Link("expression", at, end - 1, 1.0 * (end - at), self.text(at, end - 1), columns=((id, 1.0),))
                at = end
            else:
                at += 1

    # values of text columns
    def _values(self) -> Iterable[Link]:
        starts = self.index.starts
        for first in range(len(self.toks)):
            if not self.toks[first].wordlike:
                continue
            words: list[str] = []
            reach = max(starts.get(self.folded[first], 0), starts.get(self.lemmas[first], 0), 3)
            for last in range(first, len(self.toks)):
                if self.toks[last].wordlike or self.folded[last] == "'s":
                    words.append(
                        self.folded[last].replace("'", " ").strip() if "'" in self.folded[last] else self.folded[last]
                    )
                else:
                    continue
                if len(words) > reach + 1:
                    break
                link = self._value(first, last, " ".join(words))
                if link:
                    yield link

    def _value(self, first: int, last: int, said: str) -> Link | None:
        sure, found = 1.0, self.index.values.get(said, [])
        if not found and "'" not in said and first == last:
            lemma = self.lemmas[first]
            sure, found = 0.85, self.index.values.get(lemma, [])
        synonyms = self.lex.values.get(said)
        if synonyms:
            also = [hit for other in sorted(synonyms) for hit in self.index.values.get(other, ())]
            if not found:
                sure = 0.85
            found = [*found, *(hit for hit in also if hit not in found)]
        if not found:
            return None
        last = self._stretch(first, last, found)
        raw = tight(self.text(first, last))
        exact = [hit for hit in found if tight(hit[1]) == raw]
        if exact and not synonyms:
            found = exact
        elif not exact and sure == 1.0:
            sure = 0.95
        cells: dict[str, list[str]] = {}
        for id, value in found:
            cells.setdefault(id, []).append(value)
        size = sum(self.toks[n].wordlike for n in range(first, last + 1))
        content = sum(self.folded[n] not in SMALL for n in range(first, last + 1) if self.toks[n].wordlike) or 1
        weak = self._weak(first, last, said, bool(exact))
        between = last - first + 1 - content
        score = 0.25 if weak else sure * content * 0.98 + 0.62 * between + 0.08 * (size - 1)
        return Link(
            "value", first, last, score, self.text(first, last),
            values=tuple((id, tuple(values)) for id, values in cells.items()), weak=weak, quoted=self.toks[first].quoted,
        )  # fmt: skip

    def _stretch(self, first: int, last: int, found: list[tuple[str, str]]) -> int:
        """Takes in closing symbols that belong to the value, as in `C++` or `Acme (UK)`."""
        wanted = {tight(value) for _, value in found}
        for end in range(last, min(len(self.toks), last + 4)):
            if end > last and self.toks[end].wordlike:
                break
            if tight(self.text(first, end)) in wanted:
                return end
        return last

    def _weak(self, first: int, last: int, said: str, exact: bool) -> bool:
        """A value that is also an everyday word counts only where a column calls for it."""
        if self.toks[first].quoted or first != last:
            return False
        word = self.folded[first]
        everyday = word in self.lex.particles or (word,) in self.lex.phrases or word in SMALL
        if everyday:
            return not (
                exact and self.toks[first].text.isupper() and first > 0 and self.question.upper() != self.question
            )
        short = len(word) == 1 and not word.isdigit()
        return short and not self.toks[first].text.isupper()

    # numbers and dates
    def _numbers(self) -> Iterable[Link]:
        for number in numbers(self.question, self.toks, dict(self.lex.scales)):
            text = self.text(number.first, number.last)
            values = self._number_cells(number.first, number.last)
            score = 0.9 * 1 + 0.3 * (number.last - number.first)
            yield Link(
                "number",
                number.first,
                number.last,
                score,
                text,
                values=values,
                number=number.value,
                plain=number.plain,
                percent=number.percent,
            )
        for n, word in enumerate(self.folded):
            if word in self.lex.cardinals and word != "one":
                yield Link("number", n, n, 0.62, word, number=float(self.lex.cardinals[word]))
            elif word == "one" and n > 0 and self.folded[n - 1] in ("than", "least", "exactly", "only", "just", "most"):
                yield Link("number", n, n, 0.62, word, number=1.0)
            elif word in self.lex.ordinals or (word[:-2].isdigit() and word[-2:] in ("st", "nd", "rd", "th")):
                rank = self.lex.ordinals.get(word) or int(word[:-2])
                yield Link("ordinal", n, n, 0.4, word, number=float(rank), values=self._number_cells(n, n))

    def _number_cells(self, first: int, last: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
        said = key(self.text(first, last))
        cells: dict[str, list[str]] = {}
        for id, value in self.index.values.get(said, ()):
            cells.setdefault(id, []).append(value)
        raw = tight(self.text(first, last))
        for id, values in list(cells.items()):
            exact = [value for value in values if tight(value) == raw]
            cells[id] = exact or values
        return tuple((id, tuple(values)) for id, values in cells.items())

    def _dates(self) -> Iterable[Link]:
        for first, last, period in periods(self.folded, self.lex.months):
            led = first > 0 and self.folded[first - 1] in ("in", "of", "during", "since", "for")
            if (
                first == last
                and self.folded[first] in ("may", "mar", "sun", "march")
                and not (self.toks[first].proper or led)
            ):
                continue
            score = 0.8 * (last - first + 1) + 0.1
            yield Link(
                "date",
                first,
                last,
                score,
                self.text(first, last),
                period=period,
                values=self._number_cells(first, last),
            )

    def _closes(self, link: Link, column_end: int) -> bool:
        """True when an everyday word stands where a value must: `is no`, `a 2007 of A and …`."""
        after = self.folded[link.last + 1] if link.last + 1 < len(self.toks) else "?"
        ends = not after[0].isalnum() or after in ("and", "or", "with", "when", "in", "for")
        return ends or (self.toks[link.first].text.isupper() and link.first - column_end > 1)

    def _lift(self, found: list[Link]) -> list[Link]:
        """Raises a weak value that follows its own column: `venue is away`, `the Venue A`."""
        ends: dict[int, set[str]] = {}
        for link in found:
            if link.kind == "column":
                ends.setdefault(link.last, set()).update(id for id, _ in link.columns)
        lifted = []
        for link in found:
            if link.weak:
                near: set[str] = set()
                at = link.first - 1
                while at >= 0 and (self.folded[at] in BRIDGES) and link.first - at < 4:
                    at -= 1
                near |= ends.get(at, set())
                own = tuple((id, cells) for id, cells in link.values if id in near)
                if own and self._closes(link, at):
                    link = replace(link, values=own, weak=False, score=1.3)
            if not link.weak:
                lifted.append(link)
        return lifted


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
)
LABELS = frozenset({"name", "id", "number", "no", "code", "title", "key", "num", "label"})
"""words that make a column the label of what stands before them: `car_name`, `PassengerId`"""
OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "/", "×": "*", "times": "*", "minus": "-", "plus": "+"}
SMALL = frozenset(
    {
        "of",
        "the",
        "in",
        "for",
        "a",
        "an",
        "to",
        "and",
        "or",
        "on",
        "at",
        "by",
        "is",
        "with",
        "from",
        "'s",
        "s",
        "per",
        "as",
    }
)
BRIDGES = frozenset(
    {
        "is",
        "was",
        "of",
        "a",
        "the",
        "are",
        "were",
        "being",
        "as",
        "=",
        "equals",
        '"',
        "'",
        "“",
        "has",
        "have",
        "with",
        "by",
        "that",
    }
)


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
    whole = [item for item in best[size] if not _broken(item[1], by_start)]
    return whole[:COVERS]


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


def _binds(phrase: Link) -> bool:
    return any(phrase.tag(head) is not None for head in BINDING)


def _inside(phrase: Link, path: tuple[Link, ...]) -> bool:
    """True when the cover holds the phrase, or something longer or more telling over one of its words."""
    for link in path:
        overlaps = link.first <= phrase.last and link.last >= phrase.first
        if link is phrase or (overlaps and link.kind in ("column", "value", "expression", "date")):
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
    own = word in _table_words(linker.index.table.name, lex)
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
    if before in lex.row_nouns or before in _table_words(index.table.name, lex):
        return True
    named = index.by_root.get(lex.root(noun), set())
    labels = {
        id
        for id in named
        if any(set(n.words) - LABELS <= {lex.lemma(noun), noun} and len(n.words) > 1 for n in index.names[id][:1])
        and mostly_unique(index.table, index.column(id))
    }
    if named and not labels and noun not in lex.persons:
        return False
    if labels:
        return True
    if noun not in lex.persons:
        return True
    traces = {lex.root(word) for word in (*lex.asks["who"], *lex.personal)}
    return any(root in traces for root in index.by_root)


@lru_cache(maxsize=256)
def _table_words(name: str, lex: Lexicon) -> frozenset[str]:
    words = {w for w in fold(name.replace("_", " ")).split() if len(w) > 1}
    return frozenset(words | {w + "s" for w in words} | {lex.lemma(w) for w in words})


def is_year(number: float | None) -> bool:
    return number is not None and number == int(number) and int(number) in YEARS


def temporal(kind: Kind) -> bool:
    return kind.temporal
