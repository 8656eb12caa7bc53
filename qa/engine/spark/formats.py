"""strftime formats as Java's, and as a regular expression of the text that they read."""

from __future__ import annotations

import re

_PARTS: dict[str, tuple[str, str]] = {
    "Y": ("yyyy", r"\d{4}"), "y": ("yy", r"\d{2}"), "m": ("M", r"\d{1,2}"), "d": ("d", r"\d{1,2}"), "e": ("d", r"\d{1,2}"),
    "H": ("H", r"\d{1,2}"), "I": ("h", r"\d{1,2}"), "M": ("m", r"\d{1,2}"), "S": ("s", r"\d{1,2}"), "f": ("SSSSSS", r"\d{6}"),
    "p": ("a", "[AaPp][Mm]"), "b": ("MMM", "[A-Za-z]{3}"), "B": ("MMMM", "[A-Za-z]+"), "j": ("DDD", r"\d{3}"),
}  # fmt: skip


def java_pattern(form: str) -> tuple[str, str]:
    """A strftime format for Spark, and what a text must look like to be read by it."""
    pattern, regex = "", ""
    for part, other in re.findall(r"%(.)|([^%]+)", form):
        if part and part not in _PARTS:
            raise ValueError(part)
        if part:
            pattern, regex = pattern + _PARTS[part][0], regex + _PARTS[part][1]
        else:
            pattern += re.sub(r"[A-Za-z]+", lambda word: f"'{word[0]}'", other)
            regex += re.escape(other)
    return pattern, f"^{regex}$"


def java_output(form: str) -> str:
    """A strftime format as Spark writes it, with every number at its full width."""
    pattern = java_pattern(form)[0]
    return re.sub(r"(?<![A-Za-z'])([MdHms])(?![A-Za-z'])", r"\1\1", pattern)
