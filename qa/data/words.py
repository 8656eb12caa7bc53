"""The distinct texts of a column, how often each stands there, and which of them mean missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from qa.data.extremes import share

ERROR_CELLS = frozenset(
    {"#ref!", "#div/0!", "#value!", "#name?", "#num!", "#null!", "#spill!", "#calc!", "#getting_data", "#####"}
)
"""What a spreadsheet shows for a formula that failed; `#N/A` is a null word."""

BLANKS = frozenset(
    {
        "null",
        "nan",
        "n/a",
        "#n/a",
        "n.a.",
        "<na>",
        "(null)",
        "<null>",
        "\\n",
        "#na",
        "n/a.",
        "(blank)",
        "[null]",
        "-nan",
        "#n/a n/a",
        "1.#qnan",
    }
)
"""Words that mean missing in a column of any kind, in any case."""

DASHES = frozenset({"-", "--", "---", "–", "—", "‒", "−"})
"""Dashes alone; missing in a column of any kind."""

NON_VALUES = (
    BLANKS
    | DASHES
    | frozenset(
        {
            "na",
            "none",
            "nil",
            "?",
            "??",
            ".",
            "..",
            "...",
            "…",
            "x",
            "xx",
            "*",
            "**",
            "/",
            "unknown",
            "missing",
            "not available",
            "not applicable",
            "no data",
            "nodata",
            "unk",
            "tbd",
            "tba",
            "tbc",
            "n.d.",
            "nd",
            "pending",
            "k.a.",
            "undefined",
            "nat",
            "not reported",
            "not known",
            "unspecified",
            "#",
            "0000-00-00",
            "0000-00-00 00:00:00",
            "00/00/0000",
            "00.00.0000",
            "00-00-0000",
            "inf",
            "-inf",
            "+inf",
            "infinity",
            "-infinity",
            "+infinity",
        }
    )
)
"""Words that can only mean missing among numbers, dates and yes/no values."""

NAMES_TOO = frozenset({"Null", "Nan"})
"""Spellings of a null word that are also names of people."""

_CODE = r"^[A-Z]{2,3}$"
_INVISIBLE = "[\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u00ad\x00]"
_SUPERSCRIPT = "[¹²³⁰⁴-⁹₀-₉½¼¾⅐-⅞①-⓿]"
_LEADING_MINUS = r"^([(\s$€£¥₹]*)[−–—‒﹣]"


@dataclass(frozen=True)
class Words:
    """Each distinct non-missing text of a column with its number of rows, in order of first appearance.

    `clean` is the text a reader sees: edge spaces, invisible marks and wide forms folded away.
    """

    values: pl.Series
    counts: pl.Series

    @classmethod
    def of(cls, raw: pl.Series) -> Words:
        """The words of a text column, coded or not; missing cells and cells of spaces are left out."""
        counted = (
            raw.alias("value")
            .to_frame()
            .lazy()
            .filter(pl.col("value").is_not_null())
            .group_by("value", maintain_order=len(raw) <= 1_000_000)
            .agg(pl.len().cast(pl.Int64).alias("count"))
            .with_columns(pl.col("value").cast(pl.String))
            .filter(pl.col("value").str.strip_chars() != "")
            .collect(engine="in-memory")
        )
        return cls(counted["value"], counted["count"])

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def rows(self) -> int:
        return int(self.counts.sum() or 0)

    @cached_property
    def clean(self) -> pl.Series:
        return folded(self.values)

    @cached_property
    def lower(self) -> pl.Series:
        return self.clean.str.to_lowercase()

    def clean_text(self) -> pl.Series:
        """The words as text cells: edge spaces and invisible edge marks off, everything else as it stands."""
        return self.values.str.strip_chars().str.strip_chars("\u200b\u2060\ufeff\u00a0\u3000 ")

    def keep(self, mask: pl.Series) -> Words:
        return Words(self.values.filter(mask), self.counts.filter(mask))

    def weight(self, mask: pl.Series) -> int:
        """The rows whose word is marked."""
        return int(self.counts.filter(mask).sum() or 0)

    def tally(self, mask: pl.Series, most: int = 12) -> dict[str, int]:
        """The marked words with their rows, the most frequent first."""
        picked = pl.DataFrame({"value": self.values.filter(mask), "count": self.counts.filter(mask)})
        return dict(picked.sort("count", descending=True, maintain_order=True).head(most).iter_rows())


def folded(text: pl.Series) -> pl.Series:
    """Texts as a reader of numbers and dates sees them: wide digits, odd spaces and minus signs made plain."""
    plain = text.str.strip_chars()
    if (plain.str.len_bytes() == plain.str.len_chars()).all():
        return plain
    exotic = plain.str.contains(_SUPERSCRIPT)
    wide = (
        plain.str.replace_all(_INVISIBLE, "")
        .str.normalize("NFKC")
        .str.replace_all("[−﹣]", "-")
        .str.replace(_LEADING_MINUS, "${1}-")
    )
    wide = wide.str.replace_all("[’‘ʼ`´]", "'").str.replace_all("٫", ".").str.replace_all("٬", ",")
    for first in ("٠", "۰", "०", "০"):  # Arabic-Indic, Persian, Devanagari, Bengali digits
        if wide.str.contains(f"[{first}-{chr(ord(first) + 9)}]").any():
            wide = wide.str.replace_many([chr(ord(first) + i) for i in range(10)], [str(i) for i in range(10)])
    return (
        plain.to_frame("p")
        .with_columns(exotic.alias("x"), wide.alias("w"))
        .select(pl.when("x").then("p").otherwise(pl.col("w").str.strip_chars()))
        .to_series()
    )


def missing_in_text(words: Words, extra: tuple[str, ...] = (), *, names_people: bool = False) -> pl.Series:
    """Which words mean missing in a column that stays text. `NA` among codes of letters (Namibia) is a value,
    and so is `Null` where the column names people."""
    marked = words.lower.is_in(list(BLANKS | DASHES))
    if names_people:
        marked = marked & ~words.clean.is_in(list(NAMES_TOO))
    marked = marked | told(words, extra)
    na = words.clean == "NA"
    if na.any():
        others = words.keep(~(na | marked))
        codes = others.clean.str.contains(_CODE)
        if len(others) and share(codes) >= 0.6:
            return marked
        marked = marked | na
    return marked


def missing_in_values(words: Words, extra: tuple[str, ...] = ()) -> pl.Series:
    """Which words mean missing among numbers, dates and yes/no values."""
    return words.lower.is_in(list(NON_VALUES)) | told(words, extra)


def errors(words: Words) -> pl.Series:
    """Which words are the marks of failed spreadsheet formulas."""
    return words.lower.is_in(list(ERROR_CELLS))


def told(words: Words, extra: tuple[str, ...]) -> pl.Series:
    return words.clean.is_in([text.strip() for text in extra])


def quoted(tally: dict[str, int]) -> str:
    """`'N/A' ×3, '-' ×1` for a sentence."""
    return ", ".join(f"{re.sub(chr(10), ' ', word)[:40]!r} ×{count:,}" for word, count in tally.items())
