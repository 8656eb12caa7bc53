"""How text is folded and cut into words, the same for questions, headers and cells."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(r"[^\W_]+n['’]t\b|['’]s\b|[^\W_]+|[<>]=|==|[^\w\s]")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
NOTE_MARK = re.compile(r"[¹²³⁰-⁹*†‡]+(?=\s|$)|(?<=[a-z]{3})[¹²³⁰-⁹*†‡]+")
DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
QUOTES = {ord("’"): "'", ord("‘"): "'", ord("`"): "'", ord("´"): "'", ord("“"): '"', ord("”"): '"'}
NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-−])?(?P<currency>[$€£¥]\s?)?(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<decimals>\.\d+)?"
    r"\s?(?P<scale>(?:k|m|mn|bn|b|million|billion|thousand)\b)?(?P<percent>\s?%)?(?![\w])",
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower case, without accents, with plain quotes and dashes."""
    plain = text.translate(DASHES).translate(QUOTES)
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return plain.casefold()


def words(text: str) -> list[str]:
    """Folded words and single symbols, in order."""
    return WORD.findall(fold(text))


def key(text: str) -> str:
    """What two spellings of one value share: folded words without symbols."""
    return " ".join(word for word in words(text) if word[0].isalnum())


def tight(text: str) -> str:
    """Folded text without blanks; keeps the symbols that `key` drops."""
    return "".join(fold(text).split())


def header_words(name: str) -> list[str]:
    """The words of a column name, `CamelCase` and `snake_case` cut apart."""
    return words(CAMEL.sub(" ", NOTE_MARK.sub(" ", name.replace("_", " "))))


@dataclass(frozen=True)
class Token:
    """One word or symbol of the question; `start` and `end` are places in its text."""

    text: str
    folded: str
    start: int
    end: int
    quoted: bool = False

    @property
    def wordlike(self) -> bool:
        return self.text[0].isalnum()

    @property
    def proper(self) -> bool:
        return self.text[0].isupper()


@dataclass(frozen=True)
class Number:
    """A number in the question: its value as written out, and the tokens it spans."""

    value: float
    first: int
    last: int
    percent: bool = False
    money: bool = False
    plain: float = 0.0
    """the value without its scale word, for columns that are in millions"""


QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|``\s*(.+?)\s*''|(?<!\w)['‘](.+?)['’](?!\w)")


def quoted_spans(question: str) -> list[tuple[int, int]]:
    """Where quoted text stands, without its quotes."""
    spans = []
    for match in QUOTED.finditer(question):
        group = next(n for n, text in enumerate(match.groups(), 1) if text is not None)
        spans.append(match.span(group))
    return spans


def tokens(question: str) -> tuple[Token, ...]:
    """The question's words and symbols; blanks and quote marks carry no token of their own."""
    spans = quoted_spans(question)
    return tuple(
        Token(match.group(), fold(match.group()), *match.span(), any(a <= match.start() < b for a, b in spans))
        for match in WORD.finditer(question)
    )


def numbers(question: str, toks: tuple[Token, ...], scales: dict[str, float]) -> list[Number]:
    """Every number written with digits, `$1M` and `10k` included."""
    found = []
    for match in NUMBER.finditer(question):
        inside = [n for n, token in enumerate(toks) if token.start >= match.start() and token.end <= match.end()]
        if not inside:
            continue
        value = float(match["digits"].replace(",", "") + (match["decimals"] or ""))
        plain = value
        scale = (match["scale"] or "").lower()
        # `56.16 m` is a length: a lone letter after a blank scales money only
        apart = len(scale) == 1 and match.group().rstrip().endswith(" " + (match["scale"] or ""))
        if not apart or match["currency"]:
            value *= scales.get(scale, 1.0)
        # `of -24` is a negative number; `10 -24` and `2010-12` are not
        signed = bool(match["sign"]) and not question[: match.start()].rstrip()[-1:].isdigit()
        found.append(
            Number(
                -value if signed else value,
                inside[0],
                inside[-1],
                bool(match["percent"]),
                bool(match["currency"]),
                plain,
            )
        )
    return found
