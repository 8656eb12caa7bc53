"""Plans questions without a model: right whenever it answers, else it asks or declines with the words it could not use."""

from qa.planner.offline.planner import plan

__all__ = ["plan"]
