"""What can go wrong, said once: an issue names its place, its cause and its cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong, in words a person can act on.

    `code` is a stable identifier (`no_such_column`), `where` a path into the plan or the file
    (`parts[0].steps[1].metrics[0], col 5`), `message` says what is wrong, `hint` what would be right.
    `candidates` are the nearest right names or values, for a repair turn or a button.
    """

    code: str
    where: str
    message: str
    hint: str = ""
    candidates: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}{' ' + self.hint if self.hint else ''}"

    def at(self, where: str) -> Issue:
        """The same issue, its place inside a larger whole."""
        joined = where if not self.where else self.where if not where else f"{where}{_glue(self.where)}{self.where}"
        return Issue(self.code, joined, self.message, self.hint, self.candidates)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def _glue(inner: str) -> str:
    return "" if inner.startswith("[") else ", " if inner.startswith("col ") else "."


class QAError(Exception):
    """Any failure the product explains; its type says what happens next."""

    def __init__(self, issues: Issue | Iterable[Issue]) -> None:
        self.issues: tuple[Issue, ...] = (issues,) if isinstance(issues, Issue) else tuple(issues)
        super().__init__("; ".join(str(issue) for issue in self.issues))

    def __reduce__(self) -> tuple[type[QAError], tuple[tuple[Issue, ...]]]:
        return type(self), (self.issues,)

    def at(self, where: str) -> QAError:
        return type(self)(issue.at(where) for issue in self.issues)


class PlanError(QAError):
    """The plan does not fit the language or the tables: repair it or ask."""


class LoadError(QAError):
    """The file cannot be read as a table: say why and how to fix it."""


class ModelUnavailable(QAError):
    """No usable reply came from a model: try the next one, then the offline planner."""


class LimitExceeded(QAError):
    """A limit was reached (time, memory, rows, money): say which, and how to stay under it."""
