"""The steps of the language, one file each."""

from __future__ import annotations

from qa.plan.steps.derive import Derive
from qa.plan.steps.distinct import Distinct
from qa.plan.steps.explode import Explode
from qa.plan.steps.pivot import Pivot
from qa.plan.steps.rename import Rename
from qa.plan.steps.sample import Sample
from qa.plan.steps.union import Union
from qa.plan.steps.unpivot import Unpivot
from qa.plan.steps.filter import Filter
from qa.plan.steps.join import Join
from qa.plan.steps.limit import Limit
from qa.plan.steps.select import Select
from qa.plan.steps.sort import Sort
from qa.plan.steps.step import CheckedStep, Step, StepExample
from qa.plan.steps.summarize import Summarize
from qa.plan.steps.window import Window

STEPS: dict[str, type[Step]] = {step.model_fields["op"].annotation.__args__[0]: step for step in (Filter, Derive, Summarize, Sort, Limit, Select, Window, Join, Union, Distinct, Rename, Pivot, Unpivot, Explode, Sample)}  # type: ignore[union-attr]

__all__ = ["STEPS", "CheckedStep", "Step", "StepExample"]
