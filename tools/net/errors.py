"""How going to the network can fail, as a small tree of exceptions whose messages may be read by anyone.

    FetchError
    ├── BadUrl          what was given is not a web address
    ├── Blocked         an address that must not be opened: inside a network, another protocol, a hidden sign-in
    ├── NameNotFound    there is no such site
    ├── Offline         nothing outside can be reached from this installation
    ├── Unreachable     the site refused or hung up
    │   └── Untrusted   the site failed to prove who it is
    ├── TooSlow         no complete answer in time
    ├── TooLarge        more bytes than the caller takes, or a compressed answer that swells
    ├── NotReadable     an answer of a kind the caller cannot use
    ├── TooManyRedirects
    └── BadStatus       the site answered with an error

No message names a host or an address: a redirect or a name server may have supplied one that the person never wrote,
and telling it would show what is inside. `as_tool_failure` gives each its place in the envelope of a tool's result.
"""

from __future__ import annotations

from typing import ClassVar

from tools.result import ErrorCode, Suggestion
from tools.tool import ToolFailed


class FetchError(Exception):
    """Something went wrong on the way; the message is a sentence for people."""

    code: ClassVar[ErrorCode] = ErrorCode.UPSTREAM_ERROR
    suggestion: ClassVar[Suggestion] = Suggestion.GIVE_UP

    def as_tool_failure(self) -> ToolFailed:
        """The same as a tool says it."""
        return ToolFailed(str(self), code=self.code, suggestion=self.suggestion)


class BadUrl(FetchError):  # noqa: N818 - names what happened
    """Not a complete http or https address."""

    code = ErrorCode.INVALID_ARGUMENTS
    suggestion = Suggestion.FIX_ARGUMENTS


class Blocked(FetchError):  # noqa: N818 - names what happened
    """The gate refused; nothing was sent. `reason` is one short word or two, for the log and for tests."""

    code = ErrorCode.PERMISSION_DENIED

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NameNotFound(FetchError):  # noqa: N818 - names what happened
    """The site's name does not exist."""

    code = ErrorCode.NOT_FOUND
    suggestion = Suggestion.ASK_PERSON


class Offline(FetchError):  # noqa: N818 - names what happened
    """No connection to anything outside succeeds."""

    def __init__(self) -> None:
        super().__init__(
            "This installation cannot reach the internet: no outside site answers from here. "
            "Whoever runs it has to allow outgoing connections; asking again will not help."
        )


class Unreachable(FetchError):  # noqa: N818 - names what happened
    """No conversation with the site was possible, or it broke off."""

    suggestion = Suggestion.RETRY


class Untrusted(Unreachable):
    """The site's certificate is not valid."""

    suggestion = Suggestion.GIVE_UP


class TooSlow(FetchError):  # noqa: N818 - names what happened
    """The time given did not suffice."""

    code = ErrorCode.TIMEOUT
    suggestion = Suggestion.RETRY

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The site did not give a complete answer within {seconds:g} s.")


class TooLarge(FetchError):  # noqa: N818 - names what happened
    """The answer is larger than the caller takes."""

    code = ErrorCode.TOO_LARGE


class NotReadable(FetchError):  # noqa: N818 - names what happened
    """The answer is of a kind that cannot be used: an image where text is wanted."""

    code = ErrorCode.REFUSED


class TooManyRedirects(FetchError):  # noqa: N818 - names what happened
    """The site sends one on and on."""


class BadStatus(FetchError):  # noqa: N818 - names what happened
    """The site answered, with an error. `status` is HTTP's; `retry_after` the seconds it asks to wait, 0 when it does not say."""

    def __init__(self, status: int, retry_after: float = 0.0) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(_status_in_words(status, retry_after))

    def as_tool_failure(self) -> ToolFailed:
        """The code and the suggestion depend on the status."""
        code, suggestion = _STATUS_CODES.get(self.status, (ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY if self.status >= 500 else Suggestion.GIVE_UP))
        return ToolFailed(str(self), code=code, suggestion=suggestion, retry_after=self.retry_after or None)


_STATUS_CODES = {
    401: (ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
    403: (ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
    404: (ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON),
    407: (ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
    408: (ErrorCode.TIMEOUT, Suggestion.RETRY),
    410: (ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON),
    429: (ErrorCode.RATE_LIMITED, Suggestion.RETRY),
    451: (ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
}


def _status_in_words(status: int, retry_after: float) -> str:
    match status:
        case 401 | 407:
            return f"The page needs a sign-in (status {status}); only public pages can be read."
        case 403 | 451:
            return f"The site refuses to show this page to us (status {status})."
        case 404:
            return "The site has no such page (status 404). The address may be misspelled or the page moved."
        case 410:
            return "The site has removed this page (status 410)."
        case 429:
            wait = f"It asks to wait {retry_after:g} s." if retry_after else "Wait a while before asking again."
            return f"The site says that it was asked too often (status 429). {wait}"
        case _ if status >= 500:
            wait = f" It asks to wait {retry_after:g} s." if retry_after else ""
            return f"The site has a fault of its own at the moment (status {status}).{wait}"
        case _:
            return f"The site did not answer the request (status {status})."
