"""Small words for the page: counts, seconds, money, and data text made safe for a label."""

from __future__ import annotations

import re

LINKISH = re.compile(r"https?:|www(?=\.)|@", re.IGNORECASE)
"""What Markdown makes a link of even when escaped; a word joiner, which nobody sees, keeps it apart."""
SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=@&])")


def escape(text: object) -> str:
    """Text that Markdown shows as it is: no bold, link, formula, emoji, colour or HTML comes of it."""
    flat = " ".join(str(text).split())
    return SPECIAL.sub(_entity, LINKISH.sub("\\g<0>\u2060", flat))


def _entity(match: re.Match[str]) -> str:
    # A character reference is never syntax, whatever Markdown extension is on; a backslash is not always honoured.
    return f"&#{ord(match.group())};"


def cut(text: object, most: int = 80) -> str:
    """At most `most` characters of one line, an ellipsis for the rest."""
    flat = " ".join(str(text).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def plain(text: object, most: int = 80) -> str:
    """Data text cut and escaped: fit for a button, a tab or a caption."""
    return escape(cut(text, most))


def rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 0.1 else f"{value:.1f} s" if value < 60 else f"{value / 60:.1f} min"


def money(value: float) -> str:
    """US dollars with as many decimals as a small sum needs; the sign is escaped for Markdown."""
    return f"&#36;{value:.4f}" if 0 < value < 0.1 else f"&#36;{value:,.2f}"
