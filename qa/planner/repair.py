"""Say again what was wrong with a reply, in words that hold nothing the model has not seen or may not see."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from qa.errors import Issue

MOST_ISSUES = 8
CELL_CODES: dict[str, str] = {
    "no_such_value": "no cell of that column equals this text. The column's values are not shown to you: "
    "use contains() with a part of it, or reply clarify",
    "not_one_value": "only() met several values there. Narrow its where=, or use an aggregate",
    "ambiguous_value": "several spellings in that column could be meant. Reply clarify",
    "no_such_date": "no cell of that column is that date",
}
"""Issues that speak of cells: below the level that sends values, this is all that is said of them."""

_SPOKEN = """
ambiguous_name bad_field bad_json bad_key bad_name bad_option bad_regex bad_reply bad_step bad_type empty_formula empty_reply empty_step
expect_broken fan_out formula_too_deep formula_too_long key_not_kept kinds_differ many_to_many misplaced_aggregate misplaced_list misplaced_window
missing_field name_taken nested_aggregate no_row_condition no_such_column no_such_function no_such_let no_such_option
needs_alias needs_order no_such_period bad_sql no_such_step no_such_table not_a_column not_a_literal not_grouped not_one_row null_comparison overflow
syntax too_big too_many too_many_columns unexpected_cardinality unknown_field unsummable_role wrong_arguments wrong_kind broken_json
no_json repeated_key reply_too_long truncated_reply two_replies
"""
SPOKEN = frozenset(_SPOKEN.split())
"""Issues that speak only of the plan and of names. Any other is told by its code, its place and names alone."""

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|‘[^’]*’|“[^”]*”")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d")
_PLACE = re.compile(r"(?:[a-z_]+(?:\[\d+\])*(?:\.[a-z_]+(?:\[\d+\])*)*)?(?:, )?(?:line \d+, )?(?:col \d+)?")
_OUTSIDE = "…"


class Sent(Protocol):
    """What a repair may know of the payload it follows."""

    @property
    def messages(self) -> tuple[dict[str, str], ...]: ...
    @property
    def names(self) -> frozenset[str]: ...
    @property
    def hidden(self) -> frozenset[str]: ...
    @property
    def values_may_leave(self) -> bool: ...


def rebuilt(issues: Sequence[Issue], reply: str, sent: Sent) -> list[str]:
    """One line an issue: its place, what is wrong, the hint, and the nearest right names.

    Quoted words and numbers are kept only if the reply or the prompt held them, or they are names that may leave;
    a hidden column is never named, and cells are spoken of only where values may leave.
    """
    seen = f"{reply}\n{sent.messages[-1]['content']}\n{sent.messages[0]['content']}"
    keep = _allowed(seen, sent)
    lines = []
    for issue in issues[:MOST_ISSUES]:
        if sent.values_may_leave:
            told, near = f"{issue.message.rstrip('.')}. {issue.hint}", list(issue.candidates)
        elif issue.code in CELL_CODES:
            told, near = CELL_CODES[issue.code], []
        else:
            words = (
                f"{issue.message.rstrip('.')}. {issue.hint}" if issue.code in SPOKEN else issue.code.replace("_", " ")
            )
            told, near = _kept(words, keep), [name for name in issue.candidates if keep(name)]
        for name in sent.hidden:
            told = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _OUTSIDE, told, flags=re.IGNORECASE)
        near = [name for name in near if name not in sent.hidden and name not in told]
        where = issue.where if _PLACE.fullmatch(issue.where) else ""
        nearest = f" Nearest: {', '.join(near[:5])}." if near else ""
        lines.append(f"[{issue.code}] {where}: {told.strip().rstrip('.')}.{nearest}")
    if len(issues) > MOST_ISSUES:
        lines.append(f"and {len(issues) - MOST_ISSUES} more")
    return lines


def _allowed(seen: str, sent: Sent) -> Callable[[str], bool]:
    known = seen.casefold()
    names = {name.casefold() for name in sent.names}
    hidden = {name.casefold() for name in sent.hidden}

    def keep(text: str) -> bool:
        folded = text.casefold().strip()
        return folded not in hidden and (
            folded in names or folded in known or folded.split(".")[-1].strip("`") in names
        )

    return keep


def _kept(text: str, keep: Callable[[str], bool]) -> str:
    """The text with every quoted piece and number the model has not met blanked."""

    def quoted(found: re.Match[str]) -> str:
        whole = found.group()
        return whole if keep(whole[1:-1]) else f"{whole[0]}{_OUTSIDE}{whole[-1]}"

    pieces = re.split(_QUOTED, text)
    quotes = [quoted(found) for found in _QUOTED.finditer(text)]
    plain = [_NUMBER.sub(lambda found: found.group() if keep(found.group()) else _OUTSIDE, piece) for piece in pieces]
    return "".join(piece + quote for piece, quote in zip(plain, [*quotes, ""], strict=True))
