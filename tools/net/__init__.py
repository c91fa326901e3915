"""The way out: everything a tool needs to read from the public internet without being led into the network it runs in."""

from tools.net.errors import (
    BadStatus,
    BadUrl,
    Blocked,
    FetchError,
    NameNotFound,
    NotReadable,
    Offline,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
    Untrusted,
)
from tools.net.fetcher import Fetcher, Page, Policy, default_fetcher

__all__ = [
    "BadStatus",
    "BadUrl",
    "Blocked",
    "FetchError",
    "Fetcher",
    "NameNotFound",
    "NotReadable",
    "Offline",
    "Page",
    "Policy",
    "TooLarge",
    "TooManyRedirects",
    "TooSlow",
    "Unreachable",
    "Untrusted",
    "default_fetcher",
]
