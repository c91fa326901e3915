"""What a site says about its answer (its kind, its size, when to come back), put into words that are safe to show.

A site may write anything into its headers, so nothing of them is repeated unless it has the form it should have.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_KINDS: Final = {
    "application/pdf": "a PDF file",
    "application/zip": "an archive (ZIP)",
    "application/gzip": "an archive (gzip)",
    "application/x-gzip": "an archive (gzip)",
    "application/octet-stream": "a file of unknown kind",
    "application/msword": "a Word document",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "a Word document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "an Excel workbook",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "a PowerPoint presentation",
}
_FAMILIES: Final = {"image": "an image", "audio": "a sound recording", "video": "a video", "font": "a font"}
_TYPE = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9.+-]{0,60}")
_LONGEST_WAIT = 86_400.0


def kind(content_type: str) -> str:
    """A content type as a noun with its article, e.g. `an image (image/png)`."""
    if content_type in _KINDS:
        return _KINDS[content_type]
    if not _TYPE.fullmatch(content_type):
        return "a file of unknown kind"
    return f"{_FAMILIES.get(content_type.partition('/')[0], 'a file')} ({content_type})"


def size(count: int | None) -> str:
    """A number of bytes as an addition to a sentence, e.g. ` of 1.2 MB`; empty when it is not known."""
    if count is None or count < 0:
        return ""
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if count >= factor:
            return f" of {count / factor:,.1f} {unit}"
    return f" of {count} bytes"


def seconds_to_wait(header: str, now: datetime | None = None) -> float:
    """What `Retry-After` asks for, as seconds or as a date; 0 when it asks for nothing that makes sense, at most a day."""
    header = header.strip()
    if re.fullmatch(r"[0-9]{1,9}", header):
        return min(float(header), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max(float(round((until - (now or datetime.now(UTC))).total_seconds())), 0.0), _LONGEST_WAIT)
