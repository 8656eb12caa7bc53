"""Links words to columns: by name, part of a name, synonym, abbreviation, small typing mistakes, and written-out formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from qa.planner.offline import formula as write
from qa.planner.offline.index import TITLES, Name, TableIndex
from qa.planner.offline.lexicon import Lexicon
from qa.planner.offline.links import Link
from qa.planner.offline.text import Token, fold
from qa.types import Column, Kind, Role

LONGEST_NAME = 9
TYPO = 88
"""rapidfuzz ratio above which two long words are one, mistyped"""
GRAMMAR = frozenset({"WH", "BE", "HAVE", "PREP", "OF", "AND", "OR", "NOT", "AS", "BY", "EACH"})
"""tags of words that hold a question together and name nothing"""
LEAST_SHARE = 0.2
"""of a header's words that must be said"""
SHORTEST_TYPO = 5
LONG_FORM = 6
"""letters of a word that a header may abbreviate"""
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


class Naming:
    """One question against one table, and the columns its words can name."""

    def __init__(
        self,
        question: str,
        toks: Sequence[Token],
        index: TableIndex,
        lex: Lexicon,
        others: Iterable[str] = (),
        partners: Iterable[str] = (),
    ) -> None:
        self.looked_up = frozenset(word for other in partners for word in table_words(other, lex))
        others, partners = tuple(others), tuple(partners)
        self.elsewhere = frozenset(word for other in others for word in table_words(other, lex))
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

    def text(self, first: int, last: int) -> str:
        return self.question[self.toks[first].start : self.toks[last].end]

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
                    if best < 0.9 and all(self._bare_grammar(n) for n in content):
                        continue  # `what` is no name of a column `What is your age?`
                    near = tuple(sorted(((c, s) for c, s in found if s >= best - 0.12), key=lambda item: -item[1]))
                    between = 0.62 if best >= 0.97 else 0.5
                    score = best * len(content) + 0.06 * (len(content) - 1) + between * (len(span) - len(content))
                    yield Link("column", first, last, score, self.text(first, last), columns=near)

    def _ends_name(self, found: list[tuple[str, float]], span: list[int]) -> bool:
        """True when a small word at the end is the name's own: `written by`."""
        said = tuple(self.folded[n] for n in span)
        return any(name.words == said for id, _ in found for name in self.index.names[id])

    def _bare_grammar(self, n: int) -> bool:
        word = self.folded[n]
        heads = {tag.partition(":")[0] for tag in self.lex.phrases.get((word,), ())}
        commands = "SHOW" in heads and n == 0
        return word in self.lex.particles or commands or bool(heads & GRAMMAR)

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
        for id in sorted(candidates or ()):
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
            alike = abs(len(root) - len(self.lex.root(word))) <= 2 and len(root) >= SHORTEST_TYPO - 1
            if alike and fuzz.ratio(root, self.lex.root(word)) >= TYPO:
                found |= ids
        return found

    def _sure(self, name: Name, said: list[str], full: list[str]) -> float:
        words, lemmas, roots = list(name.words), list(name.lemmas), list(name.roots)
        sure = name.sure
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
        if self.lex.changing & set(name) - set(said):
            return 0.0
        counter = len(name) > 1 and name[0] in ("no", "number") and not {"no", "number"} & set(said)
        if ("id" in name and "id" not in said) or counter:
            return 0.5
        share = len(said) / max(1, len(name))
        if share < LEAST_SHARE:
            return 0.0  # one word of a header that is a whole sentence
        head = 0.1 if said_roots[-1] == name_roots[-1] or set(name) - set(said) <= TITLES else 0.0
        whole = share >= 1
        return (0.82 if whole else 0.42 + 0.36 * share + head) * (1.0 if exact == len(said) else 0.92)

    def hyphen(self, at: int) -> bool:
        """The dash joins two words (`new-listings`): it stands between letters without a space, and is no minus."""
        if self.folded[at] != "-" or not 0 < at < len(self.toks) - 1:
            return False
        before, dash, after = self.toks[at - 1 : at + 2]
        close = before.end == dash.start and dash.end == after.start
        return close and before.text[-1].isalpha() and after.text[0].isalpha()

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
            parts: list[str] = []
            end, operands, operators = at, 0, 0
            while end < len(self.toks):
                word = self.folded[end]
                if end in best and (not parts or parts[-1] in OPERATORS or parts[-1] == "("):
                    parts.append(write.name(self.index.column(best[end].columns[0][0]).name))
                    operands, end = operands + 1, best[end].last + 1
                elif (
                    word in OPERATORS
                    and parts
                    and parts[-1] not in OPERATORS
                    and parts[-1] != "("
                    and not self.hyphen(end)
                ):
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


@lru_cache(maxsize=256)
def table_words(name: str, lex: Lexicon) -> frozenset[str]:
    words = {w for w in fold(name.replace("_", " ")).split() if len(w) > 1}
    return frozenset(words | {w + "s" for w in words} | {lex.lemma(w) for w in words})
