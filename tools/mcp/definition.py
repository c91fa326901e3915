"""One tool as its server describes it, and whether it is fit to be offered.

A definition is kept exactly as it was sent, so that its fingerprint tells of every change. What the model gets is made from it:
cleaned words and a sanitised schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tools.mcp.schemas import MAX_SCHEMA, SchemaRefused, sanitised
from tools.mcp.words import spoken

MAX_RAW_DESCRIPTION: Final = 16_000
"""Characters; a longer description is no description."""
MAX_DESCRIPTION: Final = 1_500
"""Characters of a description that the model gets."""
MAX_RAW_NAME: Final = 200


class Unusable(Exception):  # noqa: N818 - an outcome with a reason
    """A tool cannot be offered; the message says why, for the operator."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Name, description and schema of the arguments, as sent."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(hash=False)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all three. Raises `Unusable` when they cannot be written as JSON."""
        try:
            text = json.dumps([self.name, self.description, self.schema], sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise Unusable("its definition is not JSON") from error
        return hashlib.sha256(text.encode()).hexdigest()

    def check(self) -> None:
        """Raise `Unusable` unless the definition is of a size and kind that can be offered, compared and kept."""
        if not self.name or len(self.name) > MAX_RAW_NAME:
            raise Unusable(f"its name has {len(self.name):,} characters; 1 to {MAX_RAW_NAME} are accepted")
        if len(self.description) > MAX_RAW_DESCRIPTION:
            raise Unusable(f"its description has {len(self.description):,} characters; at most {MAX_RAW_DESCRIPTION:,} are accepted")
        try:
            size = len(json.dumps(self.schema, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise Unusable("its schema is not JSON") from error
        if size > MAX_SCHEMA:
            raise Unusable(f"its schema has {size:,} characters; at most {MAX_SCHEMA:,} are accepted")

    def parameters(self) -> dict[str, Any]:
        """The schema for the model. Raises `Unusable`."""
        try:
            return sanitised(self.schema)
        except SchemaRefused as error:
            raise Unusable(f"its schema {error}") from error

    def words(self) -> str:
        """The description for the model; may be empty."""
        return spoken(self.description, MAX_DESCRIPTION)
