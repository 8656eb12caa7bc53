"""A plan as form controls: change a filter, a group or a formula, see at once if it fits, run it without a model."""

from __future__ import annotations

import copy
import difflib
import json
import re
import types
import typing
from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from qa.errors import Issue, PlanError
from qa.plan.check import check
from qa.plan.plan import PlanReply, parse_reply
from qa.plan.steps import STEPS
from qa.ui.asking import run
from qa.ui.formula_field import Word, formula_field, words_of
from qa.ui.mending import mended
from qa.ui.session import Dataset, Entry, Session
from qa.ui.words import cut, escape, plain

CHARTS = ("", "bar", "line", "area", "scatter", "histogram", "box", "heatmap", "pie", "value")


def editor(here: Session, entry: Entry, dataset: Dataset) -> None:
    """The form under an answer. Every change is checked; nothing runs until Run."""
    versions = here.drafts.setdefault(entry.id, [copy.deepcopy(entry.answer.reply or {})])
    draft = copy.deepcopy(versions[-1])
    with st.container(border=True, key=f"editor-{entry.id}"):
        st.markdown("**Edit the plan**")
        kind = st.segmented_control(
            "Show as", ("Form", "JSON", "Changes"), default="Form", key=f"as-{entry.id}", required=True
        )
        stamp = f"{entry.id}-{here.redrawn.get(entry.id, 0)}"
        changed = _VIEWS[kind](draft, stamp, here, entry, words_of(dataset.tables, _made_names(draft)))
        if changed != versions[-1]:
            rebuilt = kind != "Form" or _ops(changed) != _ops(versions[-1])
            versions.append(changed)
            if rebuilt:  # other controls; a typed change keeps its own, and the cursor in it
                _redraw(here, entry)
        issues = problems(changed, dataset)
        with st.container():  # one place however much is said, so that the buttons below keep theirs
            show_issues(issues)
            better = _meant(changed, issues, stamp)
        if better:
            versions.append(better)
            _redraw(here, entry)
        _buttons(here, entry, dataset, versions, ready=not issues)


def _redraw(here: Session, entry: Entry) -> None:
    """Draw the page again with fresh controls, which show the plan as it is now."""
    here.redrawn[entry.id] = here.redrawn.get(entry.id, 0) + 1
    st.rerun()


def _blocks(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(plan.get("lets") or []), *(plan.get("parts") or [])]


def _ops(plan: dict[str, Any]) -> list[list[Any]]:
    """The steps by name: two plans with the same have the same controls."""
    return [[step.get("op") for step in block.get("steps") or []] for block in _blocks(plan)]


def _made_names(plan: dict[str, Any]) -> list[str]:
    """The names that steps give to what they make: `… as name`."""
    text = json.dumps(plan, ensure_ascii=False)
    return list(dict.fromkeys(re.findall(r" as ([^\W\d]\w*)", text)))


def _meant(draft: dict[str, Any], issues: tuple[Issue, ...], stamp: str) -> dict[str, Any] | None:
    """A button for each word that may have been meant; gives the plan as the one pressed sets it right."""
    fixes = [(issue, word) for issue in issues[:4] for word in issue.candidates[:3]]
    known = [(word, better) for issue, word in fixes if (better := mended(draft, issue, word))]
    if not known:
        return None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Did you mean", width="content")
        pressed = [
            better
            for number, (word, better) in enumerate(known)
            if st.button(plain(word, 60), key=f"meant-{stamp}-{number}", icon=":material/auto_fix_high:")
        ]
    return pressed[0] if pressed else None


def _buttons(here: Session, entry: Entry, dataset: Dataset, versions: list[dict[str, Any]], *, ready: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Run", type="primary", icon=":material/play_arrow:", key=f"run-{entry.id}", disabled=not ready):
            here.editing = None
            here.drafts.pop(entry.id, None)
            run(here, dataset, entry.question, versions[-1], note="edited by hand", proposed=entry.answer.reply)
            st.rerun()
        if st.button("Undo", icon=":material/undo:", key=f"undo-{entry.id}", disabled=len(versions) < 2):
            versions.pop()
            _redraw(here, entry)
        if st.button("Close", type="tertiary", key=f"close-{entry.id}"):
            here.editing = None
            st.rerun()


def _form(draft: dict[str, Any], stamp: str, here: Session, entry: Entry, words: Sequence[Word]) -> dict[str, Any]:
    for let in draft.get("lets") or []:
        st.caption(f"First, as {plain(let.get('name', ''))}, from {plain(let.get('source', ''))}")
        let["steps"] = steps_form(let.get("steps") or [], f"{stamp}-let-{let.get('name')}", words)
    for number, part in enumerate(draft.get("parts") or []):
        st.caption(f"{plain(part.get('title') or 'Answer')} · from {plain(part.get('source', ''))}")
        part["steps"] = steps_form(part.get("steps") or [], f"{stamp}-{number}", words)
        chart = _chart_form(part.get("chart"), f"{stamp}-{number}")
        if chart != part.get("chart"):
            part["chart"] = chart
    return draft


def steps_form(steps: list[dict[str, Any]], key: str, words: Sequence[Word]) -> list[dict[str, Any]]:
    """The steps as rows of controls; gives them as changed, moved, added to or left out."""
    kept: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        with st.container(border=True, key=f"step-{key}-{number}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{number + 1}. {plain(step.get('op', '?'))}**", help=_doc(step.get("op", "")))
                gone = st.button("Remove", key=f"remove-{key}-{number}", type="tertiary", icon=":material/delete:")
            if not gone:
                kept.append(_step_form(step, f"{key}-{number}", words))
    picked = st.menu_button("Add a step", list(STEPS), key=f"add-{key}", icon=":material/add:", type="tertiary")
    if picked:
        kept.append({"op": picked})
    return kept


def _doc(op: str) -> str:
    return escape((STEPS[op].__doc__ or "").strip().split("\n")[0]) if op in STEPS else ""


def _step_form(step: dict[str, Any], key: str, words: Sequence[Word]) -> dict[str, Any]:
    """One control a field, made from the step's own class."""
    model = STEPS.get(step.get("op", ""))
    if model is None:
        return step
    names = [f.alias or name for name, f in model.model_fields.items() if name != "op"]
    kinds = {f.alias or name: _bare(f.annotation) for name, f in model.model_fields.items()}
    shown = [name for name in names if step.get(name) is not None or _wanted(model, name)]
    values = {name: _control(name, kinds[name], step.get(name), f"{key}-{name}", words) for name in shown}
    rest = [name for name in names if name not in shown]
    if rest:
        with st.popover("More", type="tertiary"):
            values |= {name: _control(name, kinds[name], None, f"{key}-{name}", words) for name in rest}
    return {"op": step["op"]} | {name: value for name, value in values.items() if value is not None or name in step}


def _wanted(model: Any, name: str) -> bool:
    field = next(f for n, f in model.model_fields.items() if (f.alias or n) == name)
    return bool(field.is_required())


def _bare(annotation: Any) -> Any:
    """The annotation without `| None`."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return inner[0] if len(inner) == 1 else str
    return annotation


def _control(name: str, kind: Any, value: Any, key: str, words: Sequence[Word]) -> Any:
    """A control that fits the field: choices, whole numbers, yes or no, one formula a line, or one formula."""
    if typing.get_origin(kind) is Literal:
        options = ["", *typing.get_args(kind)]
        picked = st.selectbox(name, options, index=options.index(value) if value in options else 0, key=key)
        return picked or None
    if typing.get_origin(kind) in (tuple, list) or isinstance(value, list | tuple):
        text = formula_field(f"{name} (one a line)", "\n".join(map(str, value or ())), words, key, lines=True)
        return (
            [line.strip() for line in text.splitlines() if line.strip()] if text.strip() or value is not None else None
        )
    if kind is bool or isinstance(value, bool):
        return st.checkbox(name, bool(value), key=key) or (None if value is None else False)
    shown = "" if value is None else str(value)
    if kind in (int, float):
        text = st.text_input(name, shown, key=key).strip()
        return _number(text) if text else None
    return formula_field(name, shown, words, key).strip() or None


def _number(text: str) -> int | float | str:
    """The number that was typed, or the text itself, which the check will then refuse in words."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _chart_form(chart: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    now = (chart or {}).get("kind") or ""
    options = list(dict.fromkeys((*CHARTS, now)))
    kind = st.selectbox(
        "Chart", options, index=options.index(now), format_func=lambda k: k or "chosen by the data", key=f"chart-{key}"
    )
    return chart if kind == now else {"kind": kind, "x": None, "y": [], "color": None} if kind else None


def _json(draft: dict[str, Any], stamp: str, here: Session, entry: Entry, words: Sequence[Word]) -> dict[str, Any]:
    text = st.text_area(
        "Plan as JSON", json.dumps(draft, indent=2, ensure_ascii=False), height=360, key=f"json-{stamp}"
    )
    try:
        typed = json.loads(text)
    except json.JSONDecodeError as error:
        st.error(f"This is not JSON yet: {escape(error.msg)} in line {error.lineno}.")
        return draft
    return typed if isinstance(typed, dict) else draft


def _changes(draft: dict[str, Any], stamp: str, here: Session, entry: Entry, words: Sequence[Word]) -> dict[str, Any]:
    lines = difference(entry.proposed or entry.answer.reply or {}, draft)
    st.code("\n".join(lines) or "Nothing is changed yet.", language="diff" if lines else None)
    return draft


def difference(
    before: dict[str, Any], after: dict[str, Any], one: str = "proposed", other: str = "edited"
) -> list[str]:
    """What differs between two plans, as the lines of a diff; `one` and `other` are what they are called."""
    old, new = (json.dumps(plan, indent=1, ensure_ascii=False).splitlines() for plan in (before, after))
    return list(difflib.unified_diff(old, new, one, other, lineterm="", n=1))


_VIEWS = {"Form": _form, "JSON": _json, "Changes": _changes}


def problems(draft: dict[str, Any] | str, dataset: Dataset) -> tuple[Issue, ...]:
    """Everything that is wrong with a plan against these tables; empty when it can run."""
    try:
        reply = parse_reply(draft)
        if not isinstance(reply, PlanReply):
            return (Issue("not_a_plan", "", "This is not a plan, so there is nothing to run."),)
        check(reply, {table.name: table for table in dataset.tables})
    except PlanError as error:
        return error.issues
    return ()


def show_issues(issues: tuple[Issue, ...]) -> None:
    """Each issue with its place and its cure, as plain text."""
    if not issues:
        st.markdown(":green[:material/check_circle:] The plan fits the data.")
    for issue in issues[:8]:
        st.error(
            f"**{plain(issue.where or 'plan', 120)}** {escape(cut(issue.message, 400))} {escape(cut(issue.hint, 300))}"
        )
