"""Plan with a language model, whichever provider it is at: the only module that loads LiteLLM, and only when asked."""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

from qa.data.table import Table
from qa.errors import Issue, ModelUnavailable
from qa.planner import faults, payload, pricing, schema, tokens
from qa.planner.attempts import Attempt, Call, Planned, Said
from qa.planner.budget import Budget
from qa.planner.dialogue import Turn
from qa.planner.faults import CallFailed
from qa.planner.loop import Check, Conversation, Progress
from qa.planner.payload import Payload, SendRules
from qa.planner.providers import PROVIDERS, Provider, Shape, access, full_name, has_key, provider_of
from qa.settings import Settings

__all__ = [
    "Attempt",
    "Planned",
    "estimate",
    "list_models",
    "plan",
    "plans",
    "served_models",
    "supported",
    "test_connection",
    "warm",
]

Transport = Callable[[Call], Said]
"""What carries a request to a model and brings its reply, or raises `CallFailed`."""

_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true", "LITELLM_MODE": "PRODUCTION"}
"""Set before the import: no price map from the web, no other look-ups, no `.env` read behind our back."""

_loading = threading.Lock()
_loaded: list[ModuleType] = []


def warm() -> threading.Thread:
    """Start loading the model library in the background; the thread ends when it is ready. Costs about 12 s once."""
    thread = threading.Thread(target=_library, daemon=True, name="model-library")
    thread.start()
    return thread


def _library() -> ModuleType:
    with _loading:
        if not _loaded:
            os.environ.update(_ENVIRONMENT)
            import litellm

            litellm.suppress_debug_info = True
            litellm.drop_params = False
            _loaded.append(litellm)
    return _loaded[0]


def plan(
    question: str,
    tables: Sequence[Table],
    *,
    settings: Settings,
    check: Check,
    history: Sequence[Turn] = (),
    budget: Budget | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    send_rules: SendRules | None = None,
    today: dt.date | None = None,
    via: Transport | None = None,
) -> Planned:
    """Ask `settings.model`, then each of `settings.fallback_models`, until a reply passes `check`.

    `check` gives the issues of a plan reply, none when it fits. The budget counts over all models. When no reply
    fits, `Planned.reply` is None and `Planned.failure` says why. `progress` is told what is going on, also while
    waiting; what it raises ends the question. Raises `ModelUnavailable` when no model is set. `via` stands in for the provider: a recorded or scripted model.
    """
    built = _payload(question, tables, settings, history, send_rules, today)
    spending = budget or Budget.of(settings)
    return _first(_models(settings), built, settings, check, spending, progress, stop, via=via)


def plans(
    k: int,
    question: str,
    tables: Sequence[Table],
    *,
    settings: Settings,
    check: Check,
    history: Sequence[Turn] = (),
    budget: Budget | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    send_rules: SendRules | None = None,
    today: dt.date | None = None,
) -> list[Planned]:
    """Careful mode: `k` independent plans, from different models where several are set, else from one asked warmer."""
    built = _payload(question, tables, settings, history, send_rules, today)
    spending = budget or Budget.of(settings, plans=k)
    models = _models(settings)
    halted = threading.Event()
    asked = [(models[n % len(models)], 0.0 if n < len(models) else 0.8) for n in range(k)]
    pool = ThreadPoolExecutor(max_workers=k)
    running = [
        pool.submit(_first, [name], built, settings, check, spending, None, halted, warmth) for name, warmth in asked
    ]
    try:
        while not all(future.done() for future in running):
            wait(running, timeout=0.05)
            if progress:
                progress(f"{sum(future.done() for future in running)} of {k} plans are ready")
            if stop is not None and stop.is_set():
                halted.set()
        return [future.result() for future in running]
    finally:
        halted.set()
        pool.shutdown(wait=False)


def _models(settings: Settings) -> list[str]:
    names = [name for name in (settings.model, *settings.fallback_models) if name]
    if not names:
        raise ModelUnavailable(Issue("no_model", "", "no model is set", "Set QA_MODEL to provider/model."))
    return [full_name(name) for name in names]


def _payload(
    question: str,
    tables: Sequence[Table],
    settings: Settings,
    history: Sequence[Turn],
    send_rules: SendRules | None,
    today: dt.date | None,
) -> Payload:
    day = today or dt.datetime.now(ZoneInfo(settings.zone)).date()
    return payload.build(question, tables, privacy=settings.privacy, history=history, send_rules=send_rules, today=day)


def _first(
    models: Sequence[str],
    built: Payload,
    settings: Settings,
    check: Check,
    budget: Budget,
    progress: Progress | None,
    stop: threading.Event | None,
    temperature: float = 0.0,
    via: Transport | None = None,
) -> Planned:
    """The first of the models whose reply fits; a limit or a stop ends the search."""
    attempts: tuple[Attempt, ...] = ()
    failure: Issue | None = None
    for name in models:
        conversation = Conversation(
            model=name,
            payload=built,
            call=via or (lambda request: call(request, settings)),
            check=check,
            budget=budget,
            timeout=settings.model_timeout,
            max_tokens=settings.max_tokens_out,
            temperature=temperature,
            schema_tokens=schema.size(provider_of(name)[0].follows_references),
            address=access(name, settings).get("api_base", ""),
            stop=stop,
            progress=progress,
        )
        if via is None and not _loaded and (missing := _loaded_while(stop, progress)) is not None:
            return Planned(None, attempts, missing)
        tried = conversation.plan()
        attempts += tried.attempts
        if tried.reply is not None:
            return Planned(tried.reply, attempts)
        failure = tried.failure
        if failure is not None and failure.code in _ENDS:
            break
    return Planned(None, attempts, failure)


_ENDS = frozenset({"stopped", "too_many_calls", "too_slow", "too_many_tokens"})


def _loaded_while(stop: threading.Event | None, progress: Progress | None) -> Issue | None:
    """Wait for the model library, but not once the user has stopped. Gives the issue when it is not there."""
    thread = warm()
    while thread.is_alive():
        thread.join(0.05)
        if progress:
            progress("loading the model library")
        if stop is not None and stop.is_set():
            return faults.named("stopped").issue()
    return None if _loaded else faults.named("not_installed").issue()


def call(request: Call, settings: Settings) -> Said:
    """One request through LiteLLM, without any retry of its own. Raises `CallFailed` with the named fault."""
    reach = access(request.model, settings)
    provider, bare = provider_of(request.model)
    options: dict[str, Any] = {
        "model": f"ollama_chat/{bare}" if provider.prefix == "ollama" else request.model,
        "messages": _marked(request.messages, provider),
        "max_tokens": request.max_tokens,
        "timeout": request.timeout,
        "num_retries": 0,
        "max_retries": 0,
        **reach,
        **_held_to(request.shape, provider),
    }
    if request.temperature is not None:
        options["temperature"] = request.temperature
    try:
        return _said(_library().completion(**options), request.model)
    except CallFailed:
        raise
    except Exception as error:  # the library raises its providers' classes, its own, and plain TypeErrors
        raise CallFailed(faults.name(error, secrets=(reach.get("api_key", ""),))) from error


def _held_to(shape: Shape, provider: Provider) -> dict[str, Any]:
    """The parameters that ask for a reply in this shape."""
    wanted = schema.sent(provider.follows_references)
    match shape:
        case "schema":
            named = {"name": "reply", "schema": wanted, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "tool":
            tool = {"name": "reply", "description": "Give the reply.", "parameters": wanted}
            return {
                "tools": [{"type": "function", "function": tool}],
                "tool_choice": {"type": "function", "function": {"name": "reply"}},
            }
        case "json":
            return {"response_format": {"type": "json_object"}}
    return {}


def _marked(messages: Sequence[dict[str, str]], provider: Provider) -> list[dict[str, Any]]:
    """The messages, the static part marked for the cache where the provider wants a mark."""
    first, *rest = messages
    if not provider.marks_cache:
        return [dict(first), *map(dict, rest)]
    block = {"type": "text", "text": first["content"], "cache_control": {"type": "ephemeral"}}
    return [{"role": first["role"], "content": [block]}, *map(dict, rest)]


def _said(response: Any, model: str) -> Said:
    """The reply inside a response; an empty, filtered or refused one is a named fault."""
    choices = getattr(response, "choices", None) or []
    if not choices:
        raise CallFailed(faults.named("empty_choices"))
    message, finish = choices[0].message, str(choices[0].finish_reason or "stop")
    if getattr(message, "refusal", None):
        raise CallFailed(faults.named("refused", said=faults.said(str(message.refusal))))
    if finish == "content_filter":
        raise CallFailed(faults.named("filtered"))
    calls = getattr(message, "tool_calls", None) or []
    text = "\n".join([message.content or "", *(item.function.arguments or "" for item in calls)]).strip()
    usage = getattr(response, "usage", None)
    tokens_in, tokens_out = (int(getattr(usage, part, 0) or 0) for part in ("prompt_tokens", "completion_tokens"))
    return Said(
        text, finish, tokens_in, tokens_out or tokens.count(text), _dollars(response, model, tokens_in, tokens_out)
    )


def _dollars(response: Any, model: str, tokens_in: int, tokens_out: int) -> float | None:
    priced = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    prices = pricing.facts(model).prices
    if prices == (0.0, 0.0) or priced is None:
        return tokens_in * prices[0] + tokens_out * prices[1] if prices else None
    return float(priced)


@dataclass(frozen=True)
class Estimate:
    """What a question will use before it is asked: tokens, and US dollars for one clean reply and at the very most.

    Dollars are None when the model's price is unknown.
    """

    tokens_in: int
    tokens_out: int
    dollars: float | None
    dollars_at_most: float | None


def estimate(built: Payload, settings: Settings) -> Estimate:
    """The expected size and price of sending this payload to `settings.model`."""
    tokens_in = built.tokens + (schema.size(provider_of(settings.model)[0].follows_references) if settings.model else 0)
    usual = min(400, settings.max_tokens_out)
    prices = pricing.facts(full_name(settings.model)).prices if settings.model else None
    dollars = tokens_in * prices[0] + usual * prices[1] if prices else None
    return Estimate(tokens_in, usual, dollars, None if dollars is None else settings.max_cost_question)


@dataclass(frozen=True)
class Support:
    """What is known of a model: how its reply is held to the schema, its size, and US dollars a million tokens."""

    model: str
    provider: str
    shape: Shape
    known: bool
    needs_key: bool
    has_key: bool
    context: int | None
    dollars_in: float | None
    dollars_out: float | None
    reasoning: bool


def supported(model: str, settings: Settings | None = None) -> Support:
    """What `provider/model` supports, from the tables that are on this machine; no call is made."""
    provider, _ = provider_of(model)
    known = pricing.facts(model)
    shape = provider.shapes[1] if known.schema is False and len(provider.shapes) > 1 else provider.shapes[0]
    return Support(
        model=full_name(model),
        provider=provider.label,
        shape=shape,
        known=known.context is not None,
        needs_key=bool(provider.keys),
        has_key=has_key(model, settings or Settings()),
        context=known.context,
        dollars_in=None if known.price_in is None else known.price_in * 1e6,
        dollars_out=None if known.price_out is None else known.price_out * 1e6,
        reasoning=bool(known.reasoning),
    )


def list_models(settings: Settings, *, every: bool = False) -> list[Support]:
    """Chat models of the providers that can be called now (of all providers with `every`), then those served locally."""
    callable_now = [p for p in PROVIDERS if not p.local and (every or has_key(f"{p.prefix}/x", settings))]
    callable_now = callable_now if every else [p for p in callable_now if p.keys]
    names = [name for provider in callable_now for name in pricing.chat_models(provider.prefix)]
    return [supported(name, settings) for name in names]


def served_models(api_base: str, *, timeout: float = 3.0) -> list[str]:
    """The model names a local server offers, OpenAI-compatible or Ollama; none when it does not say."""
    base = api_base.rstrip("/")
    if not base.startswith(("http://", "https://")):
        return []
    for path, rows, name in (("/models", "data", "id"), ("/v1/models", "data", "id"), ("/api/tags", "models", "name")):
        try:
            with urllib.request.urlopen(base + path, timeout=timeout) as answer:
                listed = json.loads(answer.read(1_000_000))
        except (urllib.error.URLError, OSError, ValueError):
            continue
        found = [str(row[name]) for row in listed.get(rows) or [] if isinstance(row, dict) and name in row]
        if found:
            return found
    return []


@dataclass(frozen=True)
class Connection:
    """Whether a model answered a test message, in how many milliseconds, or the fault in words."""

    ok: bool
    model: str
    message: str
    ms: float
    code: str | None = None


def test_connection(settings: Settings) -> Connection:
    """Send a short message without any data to `settings.model`."""
    name = _models(settings)[0]
    messages = ({"role": "user", "content": "Reply with the word ready."},)
    request = Call(name, messages, "text", 256, min(30.0, settings.model_timeout))
    started = time.monotonic()
    try:
        call(request, settings)
    except CallFailed as failed:
        fault = failed.fault
        return Connection(False, name, str(fault), (time.monotonic() - started) * 1000, fault.code)
    return Connection(True, name, "The model answered.", (time.monotonic() - started) * 1000)
