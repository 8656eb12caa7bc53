"""Settings from the environment (QA_…), `.env` and Streamlit's secrets, in that order."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

SECRETS = Path(".streamlit/secrets.toml")


class _Secrets(PydanticBaseSettingsSource):
    """The `[qa]` table of Streamlit's secrets file, read without Streamlit."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        try:
            return dict(tomllib.loads(SECRETS.read_text(encoding="utf-8")).get("qa", {}))
        except (OSError, tomllib.TOMLDecodeError):
            return {}


class Settings(BaseSettings):
    """Every knob, with its unit. `QA_MODEL=openai/gpt-5-mini` sets `model`."""

    model_config = SettingsConfigDict(env_prefix="QA_", env_file=".env", extra="ignore", frozen=True)

    model: str | None = Field(None, description="LiteLLM model name, provider/model; empty means offline")
    fallback_models: tuple[str, ...] = Field((), description="tried in order after `model`")
    api_key: str | None = Field(
        None, description="key for `model`; else the provider's own variable is used", repr=False
    )
    api_base: str | None = Field(None, description="base URL of an OpenAI-compatible or local server")
    privacy: Literal["names", "profile", "samples"] = "profile"
    careful: int = Field(1, ge=1, le=7, description="plans asked for and compared in careful mode")
    model_timeout: float = Field(60, description="seconds for one model call")
    max_calls: int = Field(6, description="model calls a question")
    max_seconds: float = Field(120, description="seconds of planning a question")
    max_tokens_out: int = Field(4000, description="tokens a reply")
    max_tokens_question: int = Field(60_000, description="tokens in and out a question")
    max_cost_question: float = Field(0.5, description="US dollars a question")
    max_cost_session: float = Field(5.0, description="US dollars a session")
    query_seconds: float = Field(30, description="seconds a plan may run")
    query_memory_mb: int = Field(4096, description="address space a worker may add, MB")
    engine: Literal["polars", "spark"] = Field(
        "polars", description="where plans run: on this machine, or on the cluster at `spark`"
    )
    spark: str | None = Field(None, description="Spark Connect server, sc://host:port")
    spark_send_mb: int = Field(200, description="MB of Parquet that a loaded table may have to be sent to the cluster")
    workers: int = Field(2, ge=1, description="worker processes")
    crosscheck: Literal["auto", "always", "never"] = "auto"
    crosscheck_rows: int = Field(
        5_000_000, description="above this many input rows the cross-check waits to be asked for"
    )
    crosscheck_seconds: float = Field(20, description="seconds the cross-check may run before it is given up")
    crosscheck_wait: float = Field(
        0.3, description="seconds the page waits for the cross-check before it shows the answer as being checked"
    )
    result_rows: int = Field(10_000, description="rows of a result that are shown and handed out")
    upload_mb: int = Field(200, description="MB an uploaded file may have")
    zone: str = Field("UTC", description="IANA zone for today and relative periods")
    week_start: Literal["monday", "sunday"] = "monday"
    allow: tuple[str, ...] = Field(
        (),
        description="who may use the page once sign-in is set up: addresses or @domains; empty means whoever can sign in",
    )
    data: tuple[str, ...] = Field((), description="folders and files of the catalog")
    mcp_token: str | None = Field(None, description="bearer token that MCP clients must send over HTTP", repr=False)
    audit: Path = Field(Path(platformdirs.user_data_dir("dataframe-qa")) / "audit.sqlite", description="audit database")
    cache: Path = Field(Path(platformdirs.user_cache_dir("dataframe-qa")), description="folder of canonical Parquet")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, dotenv_settings, _Secrets(settings_cls)


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process."""
    return Settings()
