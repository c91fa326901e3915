"""The parts of a running playground, in one place for the modules that answer requests."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from playground.clock import Clock, Ids
from playground.delivery import Delivery
from playground.events import AppEvents
from playground.faults import Faults
from playground.feed import Feed
from playground.filestore import FileStore
from playground.interactivity import Interactivity
from playground.limits import Limits
from playground.people import Json
from playground.sessions import Sessions
from playground.socketmode import SocketMode
from playground.streaming import Streams
from playground.views import Views
from playground.world import World


@dataclass(slots=True)
class Core:
    """Everything a request may need."""

    world: World
    clock: Clock
    ids: Ids
    feed: Feed
    delivery: Delivery
    events: AppEvents
    interactivity: Interactivity
    views: Views
    streams: Streams
    sessions: Sessions
    files: FileStore
    limits: Limits
    faults: Faults
    socket: SocketMode
    calls: deque[Json]
    signing_secret: str
    app_token: str
    url: str = ""
    call_count: int = 0
    oauth_codes: dict[str, str] = field(default_factory=dict)
