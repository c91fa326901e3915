"""Running the Lua scripts that lie beside this package: by their hash, and whole when the server does not know them yet.

The library's own script objects load a script on one node of a cluster only, and not on the one a call is led to; sending
the text where the hash is unknown works on one Redis and on a cluster alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError


class Scripts:
    """The scripts `lua/<prefix><name>.lua`, by name."""

    def __init__(self, client: Any, names: Iterable[str], *, prefix: str = "") -> None:
        """`client` is a `Redis` or a `RedisCluster`."""
        self._client = client
        self._texts = {name: (files("memory") / "lua" / f"{prefix}{name}.lua").read_text() for name in names}
        self._hashes = {name: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in self._texts.items()}

    async def run(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run a script. Raises what the client raises; the caller says what that means."""
        try:
            return await self._client.evalsha(self._hashes[name], len(keys), *keys, *args)
        except NoScriptError:
            return await self._client.eval(self._texts[name], len(keys), *keys, *args)
