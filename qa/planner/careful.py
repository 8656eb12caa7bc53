"""Careful mode: several plans for one question, grouped by what they come to; agreement is told, disagreement is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qa.plan.plan import PlanReply, Reply
from qa.planner.attempts import Planned

Outcome = tuple[str, str]
"""What a plan comes to: a hash that is equal for equal results, and the result in a few words."""


@dataclass(frozen=True)
class Group:
    """Plans that gave one result. `shown` is that result in a few words."""

    reply: PlanReply
    votes: int
    shown: str

    @property
    def label(self) -> str:
        """How these plans read the question, and what they come to."""
        readings = [part.reading or part.title for part in self.reply.parts if part.reading or part.title]
        return f"{'; '.join(readings) or 'As planned'}: {self.shown}"[:200]


@dataclass(frozen=True)
class Agreement:
    """What several plans came to: one reply to run, or groups to choose from.

    `reply` is set when every plan that ran gave one result, or when no plan ran and a model asked back or declined.
    `note` says it for the answer's assumptions.
    """

    reply: Reply | None
    groups: tuple[Group, ...]
    note: str

    @property
    def rivals(self) -> tuple[Group, ...]:
        """The groups to ask about; none when there is agreement."""
        return self.groups if len(self.groups) > 1 else ()


def agreed(plans: Sequence[Planned], run: Callable[[PlanReply], Outcome | None]) -> Agreement:
    """Run every plan and group them by result, the most frequent first.

    `run` gives None for a plan that cannot be run; such a plan has no vote. A model that asked back or declined
    counts only when no plan ran.
    """
    found: dict[str, list[tuple[PlanReply, str]]] = {}
    for planned in plans:
        if isinstance(planned.reply, PlanReply) and (outcome := run(planned.reply)) is not None:
            found.setdefault(outcome[0], []).append((planned.reply, outcome[1]))
    groups = tuple(
        Group(members[0][0], len(members), members[0][1])
        for members in sorted(found.values(), key=lambda members: -len(members))
    )
    asked = len(plans)
    if not groups:
        other = next((planned.reply for planned in plans if planned.reply is not None), None)
        return Agreement(other if not isinstance(other, PlanReply) else None, (), f"none of {asked} plans could be run")
    ran = sum(group.votes for group in groups)
    if len(groups) == 1:
        return Agreement(groups[0].reply, groups, f"{ran} of {asked} plans gave this result, none another")
    return Agreement(None, groups, f"{asked} plans gave {len(groups)} different results")
