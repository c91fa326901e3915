"""JSON as it comes in over the wire, without what no UTF-8 text can hold.

JSON can spell half of a character (a lone surrogate). Stored as it is, it would break every later answer that carries it.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse(raw: bytes) -> Any:
    """The value of a JSON text; halves of characters become question marks. Raises `ValueError`."""
    value = json.loads(raw)
    if not _SURROGATE.search(raw):
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
