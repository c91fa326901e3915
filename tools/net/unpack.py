"""Undoing the compression of an answer in steps of bounded size, so that a few kilobytes cannot become gigabytes in memory.

Only gzip and deflate are announced, so only they are undone; an answer in another coding (or in several, one around the other)
was not asked for and is refused with its bytes still packed.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from typing import Final

from tools.net.errors import NotReadable, Unreachable

ACCEPTED: Final = "gzip, deflate"
"""The value of `Accept-Encoding`."""

STEP: Final = 64 * 1024
"""Bytes that come out at once, at most."""

_DAMAGED = "The site's answer is damaged: its compression cannot be undone."
_MAX_MEMBERS = 16
"""Streams one after another within one answer; each costs a copy of what follows it."""


class Unpacker:
    """The coding of one answer, undone chunk by chunk."""

    def __init__(self, coding: str) -> None:
        """`coding` is the value of `Content-Encoding`. Raises `NotReadable` for one that was not asked for."""
        self._coding = coding.strip().lower().replace("x-gzip", "gzip")
        if self._coding not in ("", "identity", "gzip", "deflate"):
            raise NotReadable("The site packed its answer in a way that was not asked for, so it cannot be read.")
        self._members = 0
        self._over = False
        self._stream: zlib._Decompress | None = None

    @property
    def packs(self) -> bool:
        """Whether what comes out differs from what goes in."""
        return self._coding in ("gzip", "deflate")

    def feed(self, chunk: bytes) -> Generator[bytes, None, None]:
        """What `chunk` unpacks to, in pieces of at most `STEP` bytes; stop iterating and no more is unpacked.

        Raises `Unreachable` for an answer that is damaged.
        """
        if not self.packs:
            yield chunk
            return
        try:
            yield from self._unpacked(chunk)
        except zlib.error as error:
            raise Unreachable(_DAMAGED) from error

    def finish(self) -> None:
        """To be called after the last chunk. Raises `Unreachable` when more should have come."""
        if self._stream is not None:
            raise Unreachable(_DAMAGED)

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        while chunk and not self._over:
            if self._stream is None:
                if self._members and chunk[0] != 0x1F:  # padding after the end, which browsers ignore too
                    self._over = True
                    return
                self._stream = self._begin(chunk)
            piece = self._stream.decompress(chunk, STEP)
            if piece:
                yield piece
            if self._stream.eof:
                chunk, self._stream = self._stream.unused_data, None
            else:
                chunk = self._stream.unconsumed_tail
                if not chunk and len(piece) == STEP:  # what is held inside comes out before the next chunk goes in
                    yield from self._held(self._stream)

    def _held(self, stream: zlib._Decompress) -> Iterator[bytes]:
        while piece := stream.decompress(b"", STEP):
            yield piece
            if stream.eof:
                self._stream = None
                return

    def _begin(self, chunk: bytes) -> zlib._Decompress:
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise Unreachable(_DAMAGED)
        if self._coding == "gzip":
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        # "deflate" should come in a zlib wrapping, whose first byte ends in 8; some servers leave it off.
        wrapped = chunk[0] & 0x0F == 8
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
