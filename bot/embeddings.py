"""Vectors of meaning from an OpenAI-compatible embeddings endpoint.

Beside `bot.model` the only module that uses the openai client: that one asks for a streamed answer and decides about fallbacks, this one
sends batches of texts and takes lists of numbers; they share nothing but the protocol's authentication, time-outs and errors. Endpoints are
expected to be sloppy: what comes back is put in order by its index, counted, and brought to unit length.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from openai import APIError, APIStatusError, AsyncOpenAI, AuthenticationError, DefaultAioHttpClient, NotFoundError, PermissionDeniedError, Timeout  # noqa: TID251 - the door for vectors

from memory.embedder_cache import Batched, NoVectorsError

BATCH: Final = 64
"""Texts sent at once."""
MAX_TEXT: Final = 4_000
"""Characters of a text that are sent: within the 8,191 tokens OpenAI takes of one, in any language, and within what it takes of a batch."""
PATIENCE: Final = 30.0
"""Seconds for one batch, its second tries included."""
TRIES: Final = 2
"""How often the client tries again after a dropped line, a busy or a failing server."""


class OpenAiEmbedder(Batched):
    """One model of one endpoint. `size` is 0 until the endpoint answered for the first time; close it once."""

    def __init__(self, model: str, *, base_url: str | None, api_key: str, patience: float = PATIENCE, tries: int = TRIES) -> None:
        """`base_url` None: OpenAI's own. `patience` in seconds."""
        super().__init__(batch=BATCH, longest=MAX_TEXT)
        self.name = f"openai:{model}"
        self.size = 0
        self._model = model
        self._patience = patience
        timeout = Timeout(patience, connect=min(5.0, patience))
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=tries, timeout=timeout, http_client=DefaultAioHttpClient(timeout=timeout))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _make(self, texts: list[str], *, is_query: bool) -> Any:  # noqa: ARG002 - these endpoints do not tell the two apart
        try:
            async with asyncio.timeout(self._patience):
                # As numbers: not every server knows the packed form that the client asks for by itself.
                answer = await self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
            rows = {each.index: each.embedding for each in answer.data}
            return [rows[place] for place in range(len(texts))]
        except TimeoutError as error:
            raise NoVectorsError(f"{self.name}: no answer within {self._patience:g} s") from error
        except (AuthenticationError, PermissionDeniedError) as error:
            raise NoVectorsError(
                f"{self.name}: the endpoint refuses the key (HTTP {error.status_code}): mend STEWARD_EMBEDDER_KEY or OPENAI_API_KEY"
            ) from error
        except NotFoundError as error:
            raise NoVectorsError(f"{self.name}: the endpoint has no such model or address (HTTP 404): mend STEWARD_EMBEDDER or STEWARD_EMBEDDER_URL") from error
        except APIStatusError as error:  # its text may repeat what was sent
            raise NoVectorsError(f"{self.name}: the endpoint answers HTTP {error.status_code}") from error
        except APIError as error:
            raise NoVectorsError(f"{self.name}: the endpoint cannot be reached ({type(error).__name__})") from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:  # an answer that is not what it says it is
            raise NoVectorsError(f"{self.name}: the endpoint's answer cannot be read ({type(error).__name__})") from error
