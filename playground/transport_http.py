"""Events, interactivity and commands by HTTP: signed requests to the app's request URL.

The signature is Slack's: `v0=` and the hex HMAC-SHA256, under the signing secret, of `v0:{timestamp}:{raw body}`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from urllib.parse import urlencode

import aiohttp

from playground.delivery import Answer, Parcel
from playground.people import Json

USER_AGENT = "Slackbot 1.0 (+https://api.slack.com/robots)"
FORM = "application/x-www-form-urlencoded"


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """The `X-Slack-Signature` of a body."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def decode_body(content_type: str, text: str) -> Json | str | None:
    """An acknowledgement's body: JSON where it says or looks so, else text, None when empty."""
    if not text:
        return None
    if "json" in content_type or text[:1] == "{":
        try:
            value = json.loads(text)
        except ValueError:
            return text
        if isinstance(value, dict):
            return value
    return text


class HttpTransport:
    """Signed HTTP to one URL; `secret` is read at each attempt so that it can be rotated."""

    name = "http"

    def __init__(self, url: str, secret: Callable[[], str], ack_timeout: float) -> None:
        self.url = url
        self._secret = secret
        self._timeout = aiohttp.ClientTimeout(total=ack_timeout)
        self._session: aiohttp.ClientSession | None = None

    def connected(self) -> bool:
        """An HTTP app counts as connected; only an attempt can tell."""
        return True

    async def attempt(self, parcel: Parcel, retry: int, reason: str) -> Answer:
        """POST once. `reason` is why the attempt before failed."""
        if parcel.kind == "events_api":
            body, content_type = parcel.text.encode(), "application/json"
        elif parcel.kind == "interactive":
            body, content_type = urlencode({"payload": parcel.text}).encode(), FORM
        else:
            body, content_type = urlencode(parcel.payload).encode(), FORM
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": content_type,
            "User-Agent": USER_AGENT,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(self._secret(), timestamp, body),
        }
        if retry:
            headers |= {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason or "unknown_error"}
        if self._session is None:
            self._session = aiohttp.ClientSession(trust_env=False, connector=aiohttp.TCPConnector(limit=0))
        try:
            async with self._session.post(self.url, data=body, headers=headers, timeout=self._timeout, max_redirects=2) as response:
                text = await response.text(errors="replace")
                no_retry = response.headers.get("x-slack-no-retry") == "1"
                failed = "" if 200 <= response.status < 300 else "http_error"
                return Answer(response.status, decode_body(response.content_type, text), failed, no_retry)
        except TimeoutError:
            return Answer(0, reason="http_timeout")
        except aiohttp.TooManyRedirects:
            return Answer(0, reason="too_many_redirects")
        except aiohttp.ClientError:
            return Answer(0, reason="connection_failed")

    async def verify_url(self, token: str, challenge: str) -> bool:
        """The `url_verification` handshake Slack makes when a request URL is saved."""
        payload = {"token": token, "challenge": challenge, "type": "url_verification"}
        answer = await self.attempt(Parcel("events_api", "url_verification", "url_verification", payload, json.dumps(payload)), 0, "")
        return answer.ok and (answer.body == challenge or (isinstance(answer.body, dict) and answer.body.get("challenge") == challenge))

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
