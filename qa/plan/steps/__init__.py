"""The steps of the language, one file each; a file put here is a step of the language."""

from __future__ import annotations

import importlib
import pkgutil
from typing import get_args

from qa.plan.steps.step import CheckedStep, Step, StepExample

_FIRST = ("filter", "derive", "summarize", "sort", "limit", "select", "window", "join")
"""Steps that are taught first; the others follow by name."""


def _found() -> dict[str, type[Step]]:
    """Every step class of this package by its op."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    steps = {str(get_args(cls.model_fields["op"].annotation)[0]): cls for cls in Step.__subclasses__()}
    return {
        op: steps[op] for op in sorted(steps, key=lambda op: (_FIRST.index(op) if op in _FIRST else len(_FIRST), op))
    }


STEPS: dict[str, type[Step]] = _found()

__all__ = ["STEPS", "CheckedStep", "Step", "StepExample"]
