"""Look up what a model costs and can do in the price map that the model library ships, without importing it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from qa.planner.providers import provider_of

_MAP = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True)
class Facts:
    """What the price map says of a model; every field None where it does not say. Prices are dollars a token."""

    price_in: float | None = None
    price_out: float | None = None
    context: int | None = None
    longest_reply: int | None = None
    schema: bool | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    caching: bool | None = None

    @property
    def prices(self) -> tuple[float, float] | None:
        return None if self.price_in is None or self.price_out is None else (self.price_in, self.price_out)


@lru_cache(maxsize=1)
def _prices() -> dict[str, dict[str, Any]]:
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / _MAP
        if path.exists():
            entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
            return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    return {}


def facts(model: str) -> Facts:
    """What is known of `provider/model`. An unknown model gives `Facts()`; local providers cost nothing."""
    provider, bare = provider_of(model)
    prices = _prices()
    entry = next((found for name in (model, f"{provider.prefix}/{bare}", bare) if (found := prices.get(name))), None)
    if entry is None:
        return Facts(price_in=0.0, price_out=0.0) if provider.local else Facts()
    return Facts(
        0.0 if provider.local else entry.get("input_cost_per_token"),
        0.0 if provider.local else entry.get("output_cost_per_token"),
        entry.get("max_input_tokens") or entry.get("max_tokens"),
        entry.get("max_output_tokens"),
        entry.get("supports_response_schema"),
        entry.get("supports_function_calling"),
        entry.get("supports_reasoning"),
        entry.get("supports_prompt_caching"),
    )


def chat_models(prefix: str) -> Iterator[str]:
    """The chat models of one provider that the price map knows, as `provider/model`, in its order."""
    for name, entry in _prices().items():
        if entry.get("mode") == "chat" and entry.get("litellm_provider") == prefix and "/container" not in name:
            yield name if name.startswith(f"{prefix}/") else f"{prefix}/{name}"
