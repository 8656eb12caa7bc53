"""The reply: a plan, a question back, or a refusal; parsed strictly, and its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qa.errors import Issue, PlanError
from qa.plan.scope import did_you_mean, nearest
from qa.plan.steps import STEPS, Step

LIMITS = {"steps": 30, "lets": 10, "parts": 10, "options": 3}


class Written(BaseModel):
    """Base of the parts of a reply as they are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Chart(Written):
    """A chart hint; the chart room may choose another kind when this one does not fit."""

    kind: str
    x: str | None = None
    y: list[str] | None = None
    color: str | None = None


class Let(Written):
    """A named intermediate table, seen by every part and by later lets."""

    name: str
    source: str
    steps: tuple[Step, ...] = ()


class Part(Written):
    """One sub-question: a pipeline from a table or let, with how vague words were taken."""

    title: str = ""
    reading: str | None = None
    source: str
    steps: tuple[Step, ...] = ()
    show: list[str] | None = Field(default=None, description="'a' or 'b as c'; null shows all")
    chart: Chart | None = None


class PlanReply(Written):
    """A plan."""

    reply: Literal["plan"] = "plan"
    lets: tuple[Let, ...] = ()
    parts: tuple[Part, ...]


class Choice(Written):
    """One way to take an ambiguous question, with its parts where they are known."""

    label: str
    parts: tuple[Part, ...] | None = None
    lets: tuple[Let, ...] = ()


class ClarifyReply(Written):
    """A question back."""

    reply: Literal["clarify"]
    question: str
    options: tuple[Choice, ...] = ()


class DeclineReply(Written):
    """A refusal: what is missing, and the nearest question that can be answered."""

    reply: Literal["decline"]
    reason: str
    missing: tuple[str, ...] = ()
    nearest: str | None = None


Reply = PlanReply | ClarifyReply | DeclineReply
_KINDS: dict[str, type[Written]] = {"plan": PlanReply, "clarify": ClarifyReply, "decline": DeclineReply}


def parse_reply(reply: str | Mapping[str, Any]) -> Reply:
    """A reply from JSON text or a mapping. Raises PlanError with one issue for every fault found."""
    data = _json(reply) if isinstance(reply, str) else dict(reply)
    if not isinstance(data, dict):
        raise PlanError(
            Issue(
                "bad_reply", "", "The reply is not a JSON object.", 'Write {"reply": "plan", "lets": [], "parts": […]}.'
            )
        )
    kind = data.get("reply", "plan")
    if kind not in _KINDS:
        raise PlanError(
            Issue(
                "bad_reply",
                "reply",
                f"{kind!r} is not a kind of reply.",
                "It is plan, clarify or decline.",
                tuple(_KINDS),
            )
        )
    data = _without_nulls_that_mean_absent(data)
    issues: list[Issue] = []
    for field in ("lets", "parts"):
        _parse_steps(data, field, issues)
    for index, option in enumerate(data.get("options") or []):
        if isinstance(option, dict):
            _parse_steps(option, "parts", issues, f"options[{index}].")
            _parse_steps(option, "lets", issues, f"options[{index}].")
    if issues:
        raise PlanError(issues)
    try:
        parsed: Any = _KINDS[kind].model_validate({**data, "reply": kind})
    except ValidationError as error:
        raise PlanError(_issues(error)) from None
    _within_limits(parsed)
    return parsed  # type: ignore[no-any-return]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        place = f"line {error.lineno}, col {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise PlanError(
            Issue("bad_json", place, "The reply is not valid JSON.", "Send one JSON object and nothing else.")
        ) from None


def _without_nulls_that_mean_absent(value: Any) -> Any:
    """Providers' strict modes send every field; a null one is as good as absent. Rows of nulls do not occur in a plan."""
    if isinstance(value, dict):
        return {key: _without_nulls_that_mean_absent(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls_that_mean_absent(item) for item in value]
    return value


def _parse_steps(data: dict[str, Any], field: str, issues: list[Issue], prefix: str = "") -> None:
    """Turns the steps of each let or part into their classes, in place."""
    parts = data.get(field)
    if not isinstance(parts, list):
        return
    made = []
    for index, part in enumerate(parts):
        if isinstance(part, dict) and isinstance(part.get("steps"), list):
            where = f"{prefix}{field}[{index}].steps"
            part = {
                **part,
                "steps": tuple(parse_step(step, f"{where}[{i}]", issues) for i, step in enumerate(part["steps"])),
            }
        made.append(part)
    data[field] = tuple(made)


def parse_step(step: Any, where: str, issues: list[Issue]) -> Step | None:
    """One step from its JSON object; faults go to `issues`."""
    if isinstance(step, Step):
        return step
    op = step.get("op") if isinstance(step, dict) else None
    if not isinstance(op, str) or op not in STEPS:
        near = nearest(str(op), STEPS)
        issues.append(
            Issue(
                "no_such_step",
                where,
                f"There is no step {op!r}.",
                did_you_mean(near) or f"Steps are {', '.join(STEPS)}.",
                near,
            )
        )
        return None
    known = {info.alias or name for name, info in STEPS[op].model_fields.items()}
    foreign = {key for key in step if key not in known}
    others = {info.alias or name for cls in STEPS.values() for name, info in cls.model_fields.items()}
    if foreign and all(key in others and step[key] in ([], {}, "") for key in foreign):
        step = {key: value for key, value in step.items() if key in known}
    try:
        return STEPS[op].model_validate(step)
    except ValidationError as error:
        issues.extend(issue.at(where) for issue in _issues(error, known))
        return None


def _issues(error: ValidationError, known: set[str] | None = None) -> list[Issue]:
    return [
        _issue(detail, known) for detail in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def _issue(detail: Any, known: set[str] | None) -> Issue:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    match detail["type"]:
        case "extra_forbidden":
            near = nearest(str(detail["loc"][-1]), known or ())
            return Issue(
                "unknown_field",
                where,
                f"There is no field {detail['loc'][-1]!r} here.",
                did_you_mean(near) or (f"Fields are {', '.join(sorted(known))}." if known else ""),
                near,
            )
        case "missing":
            return Issue("missing_field", where, f"The field {detail['loc'][-1]!r} is missing.", "")
        case _:
            return Issue("bad_field", where, f"{detail['msg']}.", "")


def _within_limits(reply: Reply) -> None:
    if isinstance(reply, ClarifyReply) and len(reply.options) > LIMITS["options"]:
        raise PlanError(
            Issue(
                "too_many", "options", f"There are {len(reply.options)} options; {LIMITS['options']} is the most.", ""
            )
        )
    if not isinstance(reply, PlanReply):
        return
    if not reply.parts:
        raise PlanError(Issue("bad_reply", "parts", "A plan needs a part.", "Give one part a sub-question."))
    for field, items in cast(list[tuple[str, tuple[Let | Part, ...]]], [("lets", reply.lets), ("parts", reply.parts)]):
        if len(items) > LIMITS[field]:
            raise PlanError(
                Issue(
                    "too_many",
                    field,
                    f"There are {len(items)} {field}; {LIMITS[field]} is the most.",
                    "Ask in several questions.",
                )
            )
        for index, item in enumerate(items):
            if len(item.steps) > LIMITS["steps"]:
                raise PlanError(
                    Issue(
                        "too_many",
                        f"{field}[{index}].steps",
                        f"There are {len(item.steps)} steps; {LIMITS['steps']} is the most.",
                        "Use fewer steps.",
                    )
                )


def as_json(reply: Written | Step) -> dict[str, Any]:
    """A reply or step as plain JSON data, without what is absent."""
    return _plain(reply)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = {info.alias or name: getattr(value, name) for name, info in type(value).model_fields.items()}
        return {key: _plain(item) for key, item in fields.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


# ---- JSON schema -----------------------------------------------------------------------------


def reply_schema() -> dict[str, Any]:
    """The JSON schema of a reply, in the subset that every provider's strict mode takes.

    One flat object: no recursion, no references, `anyOf` only, no defaults, every field required and
    nullable where it may be absent.
    """
    step = {"anyOf": [_step_schema(cls) for cls in STEPS.values()]}
    chart = _object({"kind": _TEXT, "x": _nullable(_TEXT), "y": _nullable(_list(_TEXT)), "color": _nullable(_TEXT)})
    part = _object({
        "title": _TEXT, "reading": _nullable(_TEXT), "source": _TEXT, "steps": _list(step), "show": _nullable(_list(_TEXT)), "chart": _nullable(chart),
    })  # fmt: skip
    let = _object({"name": _TEXT, "source": _TEXT, "steps": _list(step)})
    return _object({
        "reply": {"type": "string", "enum": list(_KINDS)},
        "lets": _nullable(_list(let)), "parts": _nullable(_list(part)),
        "question": _nullable(_TEXT), "options": _nullable(_list(_object({"label": _TEXT, "parts": _nullable(_list(part))}))),
        "reason": _nullable(_TEXT), "missing": _nullable(_list(_TEXT)), "nearest": _nullable(_TEXT),
    })  # fmt: skip


_TEXT: dict[str, Any] = {"type": "string"}
_KEPT = ("type", "enum", "const", "items", "anyOf", "description")


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _step_schema(cls: type[Step]) -> dict[str, Any]:
    written = cls.model_json_schema(by_alias=True)["properties"]
    required = {info.alias or name for name, info in cls.model_fields.items() if info.is_required()}
    properties = {name: _kept(schema) for name, schema in written.items()}
    for name, schema in properties.items():
        if (
            name not in required
            and not any(option.get("type") == "null" for option in schema.get("anyOf", []))
            and schema.get("type") != "array"
        ):
            properties[name] = _nullable(schema)
    properties["op"] = {"type": "string", "enum": [cls.model_fields["op"].annotation.__args__[0]]}  # type: ignore[union-attr]
    return {**_object(properties), "description": (cls.__doc__ or "").split("\n")[0]}


def _kept(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "items" in kept:
        kept["items"] = _kept(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [_kept(option) for option in kept["anyOf"]]
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    return kept
