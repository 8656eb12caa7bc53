"""The providers that are known by name: where their key is, and how each can be held to the reply schema."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dotenv import dotenv_values

from qa.settings import SECRETS, Settings

Shape = Literal["schema", "tool", "json", "text"]
"""How a reply is asked for: by JSON schema, as a forced tool call, as any JSON, or as plain text."""

DOTENV = Path(".env")


@dataclass(frozen=True)
class Provider:
    """One provider. `shapes` are tried in order, the next one only when the provider rejects the last.

    `keys` are the variables that may hold its key, the first that is set wins; empty means it needs none.
    """

    prefix: str
    label: str
    keys: tuple[str, ...]
    shapes: tuple[Shape, ...] = ("schema", "json", "text")
    local: bool = False
    marks_cache: bool = False
    """the prompt's static part must be marked to be cached"""
    follows_references: bool = False
    """its schemas may define a piece once and refer to it"""


PROVIDERS: tuple[Provider, ...] = (
    Provider("openai", "OpenAI", ("OPENAI_API_KEY",), follows_references=True),
    Provider("anthropic", "Anthropic", ("ANTHROPIC_API_KEY",), ("schema", "tool", "text"), marks_cache=True),
    Provider("gemini", "Google Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    Provider("azure", "Azure OpenAI", ("AZURE_API_KEY",), follows_references=True),
    Provider("bedrock", "Amazon Bedrock", (), ("schema", "tool", "text")),
    Provider("vertex_ai", "Google Vertex AI", ()),
    Provider("groq", "Groq", ("GROQ_API_KEY",)),
    Provider("mistral", "Mistral", ("MISTRAL_API_KEY",)),
    Provider("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",)),
    Provider("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",), ("json", "text")),
    Provider("xai", "xAI", ("XAI_API_KEY",)),
    Provider("cohere", "Cohere", ("COHERE_API_KEY", "CO_API_KEY"), ("json", "text")),
    Provider("together_ai", "Together", ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY")),
    Provider("fireworks_ai", "Fireworks", ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY")),
    Provider("ollama_chat", "Ollama", (), local=True),
    Provider("ollama", "Ollama", (), local=True),
    Provider("hosted_vllm", "vLLM", ("HOSTED_VLLM_API_KEY",), local=True),
    Provider("lm_studio", "LM Studio", ("LM_STUDIO_API_KEY",), local=True),
    Provider("llamafile", "llamafile", (), local=True),
)

_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}
_BARE = (
    (("gpt-", "o1", "o3", "o4", "chatgpt"), "openai"),
    (("claude",), "anthropic"),
    (("gemini",), "gemini"),
)
"""Names without a provider that mean one anyway."""


def provider_of(model: str) -> tuple[Provider, str]:
    """The provider of `provider/model` and the model's bare name.

    A provider that is not in the table is taken as one that speaks like OpenAI and needs its own variable.
    """
    head, slash, rest = model.partition("/")
    if slash:
        known = _BY_PREFIX.get(head)
        return known or Provider(head, head, (f"{head.upper().replace('-', '_')}_API_KEY",)), rest
    prefix = next((prefix for starts, prefix in _BARE if model.startswith(starts)), "openai")
    return _BY_PREFIX[prefix], model


def full_name(model: str) -> str:
    """`provider/model`, with the provider put in front where the name alone tells it."""
    provider, bare = provider_of(model)
    return f"{provider.prefix}/{bare}"


def access(model: str, settings: Settings) -> dict[str, str]:
    """The `api_key` and `api_base` to call a model with, each only where one is known.

    The key and address of the settings belong to the provider of `settings.model`; no other provider gets them.
    """
    provider, _ = provider_of(model)
    ours = settings.model is None or provider_of(settings.model)[0].prefix == provider.prefix
    found: dict[str, str] = {}
    if ours and settings.api_base:
        found["api_base"] = settings.api_base
    key = (settings.api_key if ours else None) or _stored_key(provider)
    if key:
        found["api_key"] = key
    elif provider.local or "api_base" in found:
        found["api_key"] = "none"
    return found


def has_key(model: str, settings: Settings) -> bool:
    """True when the model can be called with what is known, a key or none needed."""
    provider, _ = provider_of(model)
    return not provider.keys or "api_key" in access(model, settings)


def _stored_key(provider: Provider) -> str | None:
    places: tuple[Mapping[str, object], ...] = (os.environ, _dotenv(), _secrets())
    for place in places:
        for name in provider.keys:
            value = place.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def _dotenv() -> Mapping[str, object]:
    return dotenv_values(DOTENV) if DOTENV.exists() else {}


def _secrets() -> Mapping[str, object]:
    try:
        return tomllib.loads(SECRETS.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return {}
