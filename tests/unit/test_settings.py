"""The environment in, `Settings` or one clear line out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.settings import Settings, SettingsError, load_settings
from bot.state import Policy
from memory.budget import ContextBudget, Shares

BOT, APP, SECRET, KEY = "xoxb-1-secretbot", "xapp-1-secretapp", "secretsigning", "sk-secretkey"
SOCKET = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, "OPENAI_API_KEY": KEY}
HTTP = {"SLACK_BOT_TOKEN": BOT, "SLACK_SIGNING_SECRET": SECRET, "OPENAI_API_KEY": KEY}


def refusal(environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as error:
        load_settings(environ)
    line = str(error.value)
    assert "\n" not in line
    assert "secret" not in line.replace("SECRET", "").replace("signing secret", "")
    return line


@pytest.mark.parametrize(
    ("environ", "mode", "host", "demo"),
    [
        ({}, "playground", "127.0.0.1", True),
        ({"OPENAI_API_KEY": KEY}, "playground", "127.0.0.1", False),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODEL": "small"}, "playground", "127.0.0.1", False),
        (SOCKET, "socket", "127.0.0.1", False),
        (HTTP, "http", "0.0.0.0", False),
        (SOCKET | HTTP, "socket", "127.0.0.1", False),
        (HTTP | {"STEWARD_HOST": "10.0.0.5"}, "http", "10.0.0.5", False),
    ],
)
def test_what_is_set_decides_which_slack_and_which_model(environ: dict[str, str], mode: str, host: str, demo: bool) -> None:
    settings = load_settings(environ)
    assert (settings.mode, settings.host, settings.uses_demo_model) == (mode, host, demo)


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        ({"SLACK_BOT_TOKEN": BOT, "OPENAI_API_KEY": KEY}, ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"]),
        ({"SLACK_APP_TOKEN": APP}, ["SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"]),
        ({"SLACK_SIGNING_SECRET": SECRET}, ["SLACK_SIGNING_SECRET", "SLACK_BOT_TOKEN"]),
        ({"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": SECRET}, ["SLACK_CLIENT_ID", "SLACK_BOT_TOKEN"]),
        ({"SLACK_API_URL": "http://127.0.0.1:1/api"}, ["SLACK_API_URL", "SLACK_BOT_TOKEN"]),
        (HTTP | {"SLACK_CLIENT_ID": "1.2"}, ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"]),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}, ["OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, ["OPENAI_MODEL"]),
        (SOCKET | {"SLACK_BOT_TOKEN": "xoxp-secret"}, ["SLACK_BOT_TOKEN", "xoxb-"]),
        (SOCKET | {"SLACK_APP_TOKEN": "xoxb-secret"}, ["SLACK_APP_TOKEN", "xapp-"]),
        (SOCKET | {"SLACK_API_URL": "slack.com/api"}, ["SLACK_API_URL", "https://"]),
        ({"OPENAI_BASE_URL": "file:///secret", "OPENAI_MODEL": "m"}, ["OPENAI_BASE_URL"]),
        ({"REDIS_URL": "postgres://user:secret@host/0"}, ["REDIS_URL", "redis://"]),
        ({"REDIS_URL": "redis://"}, ["REDIS_URL"]),
        ({"PORT": "65536"}, ["PORT", "65535"]),
        ({"PORT": "three"}, ["PORT", "integer"]),
        ({"STEWARD_MAX_MODEL_CALLS": "0"}, ["STEWARD_MAX_MODEL_CALLS"]),
        ({"STEWARD_APPROVAL_TTL": "-1"}, ["STEWARD_APPROVAL_TTL"]),
        ({"STEWARD_CONTEXT_WINDOW": "-1"}, ["STEWARD_CONTEXT_WINDOW"]),
        ({"STEWARD_CONTEXT_WINDOW": "999"}, ["STEWARD_CONTEXT_WINDOW", "1000"]),
        ({"STEWARD_CONTEXT_SHARES": "system=60,session=60"}, ["STEWARD_CONTEXT_SHARES", "100"]),
        ({"STEWARD_CONTEXT_SHARES": "history=50"}, ["STEWARD_CONTEXT_SHARES", "history", "session"]),
        ({"STEWARD_COMPACT_AT": "19"}, ["STEWARD_COMPACT_AT", "20"]),
        ({"STEWARD_COMPACT_AT": "96"}, ["STEWARD_COMPACT_AT", "95"]),
        ({"STEWARD_KEEP_ROUNDS": "0"}, ["STEWARD_KEEP_ROUNDS"]),
        ({"STEWARD_KEEP_ROUNDS": "51"}, ["STEWARD_KEEP_ROUNDS"]),
        ({"STEWARD_LOG_LEVEL": "LOUD"}, ["STEWARD_LOG_LEVEL", "DEBUG"]),
        ({"STEWARD_CONFIG": "/nowhere/steward.toml"}, ["STEWARD_CONFIG", "/nowhere/steward.toml"]),
    ],
)
def test_a_missing_or_wrong_setting_is_one_line_that_names_it(environ: dict[str, str], names: list[str]) -> None:
    line = refusal(environ)
    for name in names:
        assert name in line


def test_an_empty_value_counts_as_unset() -> None:
    settings = load_settings({"SLACK_BOT_TOKEN": "", "OPENAI_API_KEY": "", "PORT": "", "STEWARD_CONFIG": ""})
    assert (settings.mode, settings.port, settings.config_path) == ("playground", 3000, None)


def test_the_real_environment_and_a_dotenv_file_are_read_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("PORT=4000\nSTEWARD_WORKERS=\nSTEWARD_LOG_LEVEL=debug\n# a remark\nUNRELATED=1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORT", "5000")
    monkeypatch.setenv("STEWARD_HOME", "~/elsewhere")
    settings = load_settings()
    assert (settings.port, settings.workers, settings.log_level, settings.home) == (5000, 32, "DEBUG", Path.home() / "elsewhere")


def test_variables_that_merely_resemble_a_field_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TOOLS", "WORKERS", "LOG_LEVEL", "MAX_TOKENS", "BIND_HOST", "CONFIG_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    settings = load_settings()
    assert settings.home == tmp_path / ".local" / "share" / "steward"
    assert (settings.tools, settings.workers, settings.log_level, settings.host, settings.config_path) == ((), 32, "INFO", "127.0.0.1", None)


def test_given_values_alone_count_when_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", BOT)
    assert load_settings({"PORT": "0"}).mode == "playground"


def test_lists_are_split_at_commas() -> None:
    settings = load_settings({"STEWARD_TOOLS": "our.tools, other ,", "STEWARD_MODEL_FALLBACKS": "second,third"})
    assert settings.tools == ("our.tools", "other")
    assert settings.model_fallbacks == ("second", "third")


def test_no_rendering_of_the_settings_shows_a_secret() -> None:
    settings = load_settings(SOCKET | HTTP | {"REDIS_URL": "redis://:hunter22@127.0.0.1:1/0"})
    for shown in (str(settings), repr(settings), settings.model_dump_json()):
        assert not re.search(r"secret(?:bot|app|signing|key)|hunter22", shown)
    assert {BOT, APP, SECRET, KEY} <= set(settings.secrets())


def test_the_example_file_names_every_setting_and_nothing_else() -> None:
    text = (Path(__file__).parents[2] / ".env.example").read_text(encoding="utf-8")
    written = set(re.findall(r"^([A-Z_]+)=$", text, re.MULTILINE))
    later = {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"}
    assert written == {str(field.validation_alias) for field in Settings.model_fields.values()} - later


# ── STEWARD_CONFIG ──


def with_file(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "steward.toml"
    path.write_text(text, encoding="utf-8")
    return {"STEWARD_CONFIG": str(path)}


def test_policies_are_chosen_by_tool_then_by_default(tmp_path: Path) -> None:
    text = """
    [approvals]
    policy = "not_requester"
    expiry = 600
    [approvals.tools.cancel_order]
    policy = { usergroup = "S0ABC" }
    [approvals.tools.change_shipping_address]
    policy = { users = ["U1", "W2"] }
    expiry = 60
    [approvals.tools.post_message]
    expiry = 30
    [channels.C0ABC]
    tools = ["calculate"]
    """
    approvals = load_settings(with_file(tmp_path, text)).policies.approvals
    assert approvals.policy_for("cancel_order", default_expiry=5) == Policy(rule="usergroup", usergroup="S0ABC", expires_after=600)
    assert approvals.policy_for("change_shipping_address", default_expiry=5) == Policy(rule="users", users=("U1", "W2"), expires_after=60)
    assert approvals.policy_for("post_message", default_expiry=5) == Policy(rule="not_requester", expires_after=30)
    assert approvals.policy_for("another", default_expiry=5) == Policy(rule="not_requester", expires_after=600)
    assert approvals.usergroups() == {"S0ABC"}


def test_without_a_file_the_requester_decides_and_the_setting_gives_the_expiry() -> None:
    settings = load_settings({"STEWARD_APPROVAL_TTL": "120"})
    assert settings.policies.approvals.policy_for("any", default_expiry=settings.approval_ttl) == Policy(
        rule="requester", expires_after=120, always_for=30 * 86_400
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("approvals = [", ["not valid TOML"]),
        ("[aprovals]\npolicy = 'requester'", ["unknown key", "aprovals"]),
        ("[approvals]\npolcy = 'requester'", ["unknown key", "approvals.polcy"]),
        ("[approvals.tools.x]\npolicy = 'anyone'", ["approvals.tools.x.policy", "two_people"]),
        ("[approvals.tools.x]\npolicy = { users = [] }", ["approvals.tools.x.policy.users"]),
        ("[approvals.tools.x]\npolicy = { users = ['lily'] }", ["approvals.tools.x.policy.users.0"]),
        ("[approvals.tools.x]\npolicy = { usergroup = 'admins' }", ["approvals.tools.x.policy.usergroup"]),
        ("[approvals.tools.x]\npolicy = { group = 'S1' }", ["approvals.tools.x.policy"]),
        ("[approvals]\nexpiry = 0", ["approvals.expiry"]),
        ("[approvals]\nexpiry = 'soon'", ["approvals.expiry"]),
    ],
)
def test_a_mistake_in_the_file_is_one_line_with_the_path_of_the_key(tmp_path: Path, text: str, names: list[str]) -> None:
    line = refusal(with_file(tmp_path, text))
    for name in ["STEWARD_CONFIG", "steward.toml", *names]:
        assert name in line


def test_the_model_s_cache_needs_a_temperature_at_which_there_is_one_answer() -> None:
    with pytest.raises(SettingsError, match="STEWARD_MODEL_TEMPERATURE=0"):
        load_settings({"STEWARD_MODEL_CACHE_TTL": "60"})

    assert load_settings({"STEWARD_MODEL_CACHE_TTL": "60", "STEWARD_MODEL_TEMPERATURE": "0"}).model_cache_ttl == 60


@pytest.mark.parametrize(
    ("given", "strict"),
    [
        ({"OPENAI_API_KEY": "sk-1"}, True),
        ({"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}, False),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m", "STEWARD_STRICT_SCHEMAS": "ON"}, True),
        ({"OPENAI_API_KEY": "sk-1", "STEWARD_STRICT_SCHEMAS": "off"}, False),
        ({}, False),
    ],
)
def test_strict_schemas_are_asked_for_where_the_endpoint_is_known_to_honour_them(given: dict[str, str], strict: bool) -> None:
    assert load_settings(given).uses_strict_schemas is strict


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ({}, 128_000),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "gpt-4.1-mini"}, 128_000),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "Qwen/Qwen2.5-7B-Instruct"}, 32_768),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "our-own"}, 32_000),
        ({"STEWARD_CONTEXT_WINDOW": "400000"}, 400_000),
        ({"STEWARD_CONTEXT_WINDOW": "0"}, 128_000),
    ],
)
def test_the_context_s_window_is_the_one_chosen_or_the_model_s_up_to_a_cap(given: dict[str, str], window: int) -> None:
    assert load_settings(given).context_budget == ContextBudget(window)


def test_the_context_is_shared_out_as_the_operator_says() -> None:
    given = {"STEWARD_CONTEXT_SHARES": "session=40, answer=30", "STEWARD_COMPACT_AT": "75", "STEWARD_KEEP_ROUNDS": "6"}
    budget = load_settings(given).context_budget

    assert budget == ContextBudget(128_000, Shares(session=0.4, answer=0.3), 0.75, 6)
