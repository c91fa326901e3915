"""Models that fastembed runs: a real one of a few kilobytes from a folder, and what is said when one cannot be had."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.embedder import Floats, NoVectorsError, size_of
from memory.embedder_fastembed import NEEDED, REST, FastEmbed, Prefixes, known_model, local_model
from tests.fakes.small_model import SIZE, WORDS, table, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "small-e5")


def unit(vector: Floats) -> Floats:
    made: Floats = vector / np.linalg.norm(vector)
    return made


def mean(*words: str) -> Floats:
    made: Floats = unit(np.mean([table()[WORDS.index(word)] for word in words], axis=0))
    return made


async def test_a_model_from_a_folder_computes_what_its_weights_say_without_a_network(folder: Path) -> None:
    embedder = local_model(folder)
    assert await size_of(embedder) == SIZE
    passages = await embedder.passages(["The invoice was paid", "发票付了"])
    assert passages[0] == pytest.approx(mean("passage:", "the", "invoice", "was", "paid"), abs=1e-5)
    assert passages[1] == pytest.approx(mean("passage:", *"发票付了"), abs=1e-5)
    assert await embedder.query("paid") == pytest.approx(mean("query:", "paid"), abs=1e-5)


async def test_only_the_e5_family_is_told_questions_from_passages(tmp_path: Path) -> None:
    embedder = local_model(write(tmp_path / "plain"))
    assert await embedder.query("paid") == pytest.approx(mean("paid"), abs=1e-5)
    assert await embedder.passages(["paid"]) == pytest.approx(mean("paid")[None], abs=1e-5)


@pytest.mark.parametrize(
    ("name", "is_e5"), [("intfloat/multilingual-e5-large", True), ("E5", True), ("local_e5_small", True), ("BAAI/bge-small-en", False), ("some-e50", False)]
)
def test_the_family_is_told_by_a_word_of_the_name(name: str, is_e5: bool) -> None:
    assert (Prefixes.by_name(name) == Prefixes("query: ", "passage: ")) == is_e5


async def test_what_the_folder_says_about_pooling_and_prefixes_is_followed(folder: Path) -> None:
    plain = local_model(folder).name
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "dog ", "document": ""}}))
    embedder = local_model(folder)
    assert embedder.name != plain
    assert await embedder.query("paid") == pytest.approx(mean("dog"), abs=1e-5)
    assert await embedder.passages(["beach paid"]) == pytest.approx(mean("beach")[None], abs=1e-5)


@pytest.mark.parametrize("told", [{"pooling_mode_max_tokens": True}, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}])
def test_a_pooling_that_cannot_be_made_is_refused(folder: Path, told: dict[str, bool]) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told))
    with pytest.raises(NoVectorsError, match="pooling"):
        local_model(folder)


def test_the_name_follows_the_files_and_not_where_they_lie(folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(folder, tmp_path / "elsewhere" / "small-e5"))
    assert local_model(moved).name == local_model(folder).name
    (moved / "model.onnx").write_bytes((moved / "model.onnx").read_bytes() + b"\0")
    assert local_model(moved).name != local_model(folder).name


async def test_the_same_folder_can_be_opened_twice(folder: Path) -> None:
    first, second = local_model(folder), local_model(folder)
    assert (await first.query("paid") == await second.query("paid")).all()


@pytest.mark.parametrize("missing", NEEDED)
def test_a_folder_that_lacks_a_file_is_refused_by_the_name_of_the_file(tmp_path: Path, missing: str) -> None:
    with pytest.raises(NoVectorsError, match=missing):
        local_model(write(tmp_path / "m", without=missing))


async def test_weights_that_are_none_are_told_in_one_line(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(NoVectorsError) as error:
        await local_model(folder).query("x")
    assert "cannot be loaded" in str(error.value)
    assert "\n" not in str(error.value)


async def test_a_download_that_cannot_be_made_is_told_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NoVectorsError, match=r"huggingface.co.*STEWARD_EMBEDDER=fastembed:<their folder>"):
        await known_model("BAAI/bge-small-en-v1.5", tmp_path).query("x")


async def test_a_name_nobody_knows_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoVectorsError, match="knows no model 'nobody/nothing'"):
        await known_model("nobody/nothing", tmp_path).query("x")


async def test_after_a_failure_nothing_is_tried_for_a_while_and_then_again() -> None:
    tried: list[float] = []
    now = 100.0

    class Model:
        embedding_size = 2

        def query_embed(self, query: list[str]) -> Iterable[Any]:
            return [np.array([3.0, 4.0]) for _ in query]

        passage_embed = query_embed

    def load() -> Model:
        tried.append(now)
        if len(tried) == 1:
            raise OSError("no line")
        return Model()

    embedder = FastEmbed("m", load, Prefixes(), clock=lambda: now)
    for now in (100.0, 100.0 + REST - 1):  # noqa: B007 - read by the clock
        with pytest.raises(NoVectorsError, match="no line"):
            await embedder.query("x")
    now = 100.0 + REST
    assert list(await embedder.query("x")) == pytest.approx([0.6, 0.8])
    assert tried == [100.0, 100.0 + REST]
