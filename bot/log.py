"""Structured logs: one JSON object a line (or plain lines for a terminal), the same for our own code and for every library.

Context is bound once (`run`, `session`, `correlation` ids, through `structlog.contextvars`) and appears on every line
that follows in the same task. The last step before a line is written masks secrets wherever they stand: in the event,
in nested values, in an exception's text. People's messages are never logged at INFO or above; libraries that would
print them (Bolt shows the body of a request it does not like) are kept at WARNING and their bodies cut out.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO

import structlog

from tools.redact import BEARER, TOKENS

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

MASK: Final = "[secret]"

CHATTY: Final = ("aiohttp", "apscheduler", "asyncio", "httpcore2", "httpx2", "mcp", "openai", "redis", "slack_bolt", "slack_sdk", "urllib3")
"""Libraries kept at WARNING at every level of ours: below it they print requests, bodies included."""
_SECRET_KEY: Final = re.compile(r"(?:^|_)(?:token|secret|password|authorization|api_?key)$", re.IGNORECASE)


class Redactor:
    """The last processor of the chain. `known` are exact values to mask besides everything that looks like a token."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        exact = sorted({value for value in known if len(value) >= 6}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, exact))) if exact else None

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Mask the whole line."""
        return {self.text(key): self.value(key, value) for key, value in event.items()}

    def text(self, text: str) -> str:
        """`text` with every secret in it masked."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return BEARER.sub(rf"\1 {MASK}", TOKENS.sub(MASK, text))

    def value(self, key: str, value: Any) -> Any:
        """`value`, masked at any depth; all of it when its key names a secret."""
        if value is not None and _SECRET_KEY.search(key):
            return MASK
        match value:
            case bool() | int() | float() | None:
                return value
            case Mapping():
                return {self.text(str(inner)): self.value(str(inner), each) for inner, each in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.value("", each) for each in value]
            case bytes():
                return self.text(value.decode("utf-8", "replace"))
            case _:
                return self.text(str(value))


class _CutBodies(logging.Filter):
    """Bolt warns about a request that nothing handles by printing all of it, people's words included: keep the fact only."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("slack_bolt") and "request" in record.getMessage().lower() and "{" in record.getMessage():
            record.msg, record.args = "Bolt could not handle a request (its body is not logged).", ()
        return True


def _without_copies(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Another handler may have left its own rendering of the line on the record, from before anything was cut: it is no extra."""
    event.pop("message", None)
    event.pop("asctime", None)
    return event


def configure_logging(*, level: str = "INFO", fmt: str = "json", secrets: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Set up logging for the whole process; calling it again replaces the set-up. `fmt` is `json` or `console`; `stream` is standard error by default."""
    out = stream if stream is not None else sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    last: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if fmt == "json"
        else structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)
    )
    handler = logging.StreamHandler(out)
    handler.addFilter(_CutBodies())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), _without_copies],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                Redactor(secrets),
                last,
            ],
        )
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
