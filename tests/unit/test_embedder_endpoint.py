"""Vectors from an OpenAI-compatible endpoint, against a real HTTP server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from bot.embeddings import BATCH, MAX_TEXT, OpenAiEmbedder
from memory.embedder import NoVectorsError, size_of
from tests.fakes.embeddings_endpoint import Endpoint

KEY = "sk-very-secret"


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint() as made:
        yield made


@pytest.fixture
async def embedder(endpoint: Endpoint) -> AsyncIterator[OpenAiEmbedder]:
    made = OpenAiEmbedder("small", base_url=endpoint.url, api_key=KEY, patience=5.0)
    yield made
    await made.close()


async def test_texts_go_in_batches_and_each_once(endpoint: Endpoint, embedder: OpenAiEmbedder) -> None:
    texts = [f"text {number}" for number in range(2 * BATCH + 1)]
    vectors = await embedder.passages([*texts, *texts])
    await embedder.passages(texts)
    assert [len(each["input"]) for each in endpoint.requests] == [BATCH, BATCH, 1]
    assert vectors.shape == (2 * len(texts), 6)
    for text, vector in zip(texts, vectors[: len(texts)], strict=True):
        wanted = np.array(endpoint.vector(text))
        assert vector == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)


async def test_the_size_is_found_by_asking_once(endpoint: Endpoint, embedder: OpenAiEmbedder) -> None:
    assert embedder.size == 0
    assert [await size_of(embedder), await size_of(embedder), embedder.size] == [6, 6, 6]
    assert len(endpoint.requests) == 1
    assert endpoint.requests[0]["model"] == "small"
    assert endpoint.keys == [f"Bearer {KEY}"]


async def test_a_long_text_is_cut_and_an_empty_one_is_never_sent(endpoint: Endpoint, embedder: OpenAiEmbedder) -> None:
    await embedder.passages(["长" * 50_000, "", "  "])
    assert [len(text) for text in endpoint.requests[0]["input"]] == [MAX_TEXT, 1]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_that_is_busy_is_asked_again(endpoint: Endpoint, embedder: OpenAiEmbedder, status: int) -> None:
    endpoint.statuses = [status]
    assert (await embedder.query("x")).shape == (6,)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "STEWARD_EMBEDDER_KEY"), (403, "STEWARD_EMBEDDER_KEY"), (404, "STEWARD_EMBEDDER_URL"), (400, "HTTP 400"), (500, "HTTP 500")]
)
async def test_a_refusal_is_told_in_one_line_without_the_text_or_the_key(
    endpoint: Endpoint, embedder: OpenAiEmbedder, caplog: pytest.LogCaptureFixture, status: int, remedy: str
) -> None:
    endpoint.statuses = [status] * 10
    with caplog.at_level(logging.INFO), pytest.raises(NoVectorsError, match=remedy) as error:
        await embedder.query("my secret diary")
    told = str(error.value) + caplog.text
    assert "diary" not in told
    assert KEY not in told
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "shaped",
    [
        lambda data: {"object": "list", "data": data[1:]},
        lambda data: {"object": "list", "data": []},
        lambda data: {"object": "list", "data": [each | {"embedding": None} for each in data]},
        lambda data: {"object": "list", "data": [each | {"embedding": "AAAA"} for each in data]},
        lambda data: {"object": "list", "data": [each | {"embedding": [0.0] * 6} for each in data]},
        lambda data: {"object": "list", "data": [each | {"embedding": []} for each in data]},
        lambda data: {"object": "list", "data": [each | {"index": 0} for each in data]},
        lambda data: json.dumps({"object": "list", "data": [each | {"embedding": [float("nan")] * 6} for each in data]}),
        lambda data: {"object": "list", "data": [data[0] | {"embedding": [1.0]}, *data[1:]]},
        lambda _: {"object": "list"},
        lambda _: [],
        lambda _: "<html>busy</html>",
    ],
    ids=["one missing", "none", "null", "packed", "zeros", "no numbers", "one index", "not numbers", "ragged", "no data", "a list", "a page"],
)
async def test_an_answer_that_is_not_what_it_should_be_is_not_used(endpoint: Endpoint, embedder: OpenAiEmbedder, shaped: Any) -> None:
    endpoint.shaped = shaped
    with pytest.raises(NoVectorsError):
        await embedder.passages(["a", "b"])
    endpoint.shaped = Endpoint().shaped
    assert (await embedder.passages(["a", "b"])).shape == (2, 6)


async def test_an_endpoint_whose_vectors_change_their_size_is_not_believed(endpoint: Endpoint, embedder: OpenAiEmbedder) -> None:
    await embedder.query("a")
    endpoint.size = 7
    with pytest.raises(NoVectorsError, match="shape"):
        await embedder.query("b")


async def test_silence_ends_after_the_time_given(endpoint: Endpoint) -> None:
    silence = asyncio.Event()
    endpoint.hold = silence.wait
    embedder = OpenAiEmbedder("small", base_url=endpoint.url, api_key=KEY, patience=0.05)
    with pytest.raises(NoVectorsError, match=r"no answer within|cannot be reached"):
        await embedder.query("x")
    silence.set()
    await embedder.close()
