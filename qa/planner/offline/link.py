"""Links every stretch of a question to what it can mean in one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qa.planner.offline.dates import periods
from qa.planner.offline.links import Link
from qa.planner.offline.naming import SMALL, Naming
from qa.planner.offline.text import key, numbers, tight

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
COURTESIES = frozenset(
    {"can", "could", "would", "you", "me", "please", "i", "'d", "like", "want", "to", "let", "know", "help"}
)


class Linker(Naming):
    """Finds the links of one question in one table."""

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

    # words of the language
    def _words(self) -> Iterable[Link]:
        tables = (self.lex.phrases, self.lex.superlatives, self.lex.comparatives)
        for first in range(len(self.toks)):
            for last in range(first, min(len(self.toks), first + self.lex.longest)):
                phrase = tuple(self.folded[first : last + 1])
                tags = [
                    tag for tag in self.lex.phrases.get(phrase, ()) if tag not in ("SHOW", "SORT") or self._opens(first)
                ]
                if phrase in tables[1]:
                    tags.append(f"SUPOF:{' '.join(phrase)}")
                if phrase in tables[2]:
                    tags.append(f"CMPOF:{' '.join(phrase)}")
                if self._compound(first) and last == first + 2:
                    yield Link("row", first, last, 2.2, self.text(first, last))
                if tags and not self.toks[first].quoted:
                    size = last - first + 1
                    yield Link("word", first, last, 0.6 * size + 0.1 * (size - 1), self.text(first, last), tuple(tags))

    def _opens(self, first: int) -> bool:
        """True where a command may stand: `name the …` opens a question, `the customer name` does not."""
        before = self.folded[:first]
        if not before or before[-1] in (",", ";", "and", ".", "?", ":", "'s"):
            return True
        return all(word in self.lex.particles or self._commands(word) for word in before)

    def _commands(self, word: str) -> bool:
        return "SHOW" in self.lex.phrases.get((word,), ()) or word in COURTESIES

    def _compound(self, first: int) -> bool:
        """`metro-months`: one row for each of the first and each period."""
        if first + 2 >= len(self.toks) or self.folded[first + 1] != "-":
            return False
        grain = any(tag.startswith("GRAIN") for tag in self.lex.phrases.get((self.folded[first + 2],), ()))
        return grain and self.folded[first] in self.lex.row_nouns and any(c.kind.temporal for c in self.index.columns)

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
