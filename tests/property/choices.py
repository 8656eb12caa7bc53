"""Choices drawn from Hypothesis, a few microseconds each: strategies are made once, not for every draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@cache
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


class Choices:
    """What a generator may ask: one of several, some of several, yes or no."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return 0 if n <= 1 else self._draw(_below(n))  # type: ignore[no-any-return]

    def pick(self, among: Sequence[T]) -> T:
        return among[self.below(len(among))]

    def one_in(self, n: int) -> bool:
        return self.below(n) == n - 1

    def some(self, among: Sequence[T], least: int, most: int) -> list[T]:
        """Between `least` and `most` different items, in a random order; fewer where there are fewer."""
        left, taken = list(among), []
        for _ in range(min(least + self.below(most - least + 1), len(left))):
            taken.append(left.pop(self.below(len(left))))
        return taken

    def maybe(self, n: int, **fields: Callable[[], Any]) -> dict[str, Any]:
        """Each field once in `n` times."""
        return {name: value() for name, value in fields.items() if self.one_in(n)}
