"""Who and where: the two identities everything else is filed under, and the only code that builds a storage key.

An `Actor` is a person, a `Thread` is a place. Both carry the team id, because Slack repeats user and channel
ids across workspaces: leaving it out of one key is how one tenant reads another. Session keys share a hash tag
(`{s7}`) per shard, so that every script touches one Redis Cluster slot only.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

from pydantic import BaseModel, ConfigDict

SHARDS: Final = 16
"""How many shards sessions are spread over. Part of the stored format: changing it hides existing sessions."""

PREFIX: Final = "steward"
_GLOB: Final = re.compile(r"[*?\[\]^\\]")
"""What means something in a pattern of key names."""


class Actor(BaseModel):
    """A person: the workspace they belong to and their id in it.

    In a Slack Connect channel `team_id` is the person's own team, which differs from the thread's.
    """

    model_config = ConfigDict(frozen=True)

    team_id: str
    user_id: str


class Thread(BaseModel):
    """A place: one Slack thread, or a whole direct-message conversation when `thread_ts` is empty."""

    model_config = ConfigDict(frozen=True)

    team_id: str
    channel_id: str
    thread_ts: str = ""

    @property
    def id(self) -> str:
        """The session's id: `team:channel:thread_ts`, unique across workspaces."""
        return f"{self.team_id}:{self.channel_id}:{self.thread_ts}"

    @classmethod
    def parse(cls, session_id: str) -> Thread:
        """Read `id` back. Raises `ValueError` when it has not exactly three parts."""
        team_id, channel_id, thread_ts = session_id.split(":")
        return cls(team_id=team_id, channel_id=channel_id, thread_ts=thread_ts)

    @property
    def shard(self) -> int:
        """Which of the `SHARDS` shards this session lives in: a stable hash, the same in every process.

        By channel, not by thread: a message's identity is (channel, ts), and two deliveries of it must meet in one
        shard even when only one of them says which thread it belongs to.
        """
        return zlib.crc32(f"{self.team_id}:{self.channel_id}".encode()) % SHARDS


class Keys:
    """Key names of one workspace's sessions; `space` keeps installations apart that share a Redis."""

    def __init__(self, space: str) -> None:
        self._prefix = f"{PREFIX}:{space}" if space else PREFIX
        self.wake_channel = f"{self._prefix}:wake"
        """Pub/sub channel on which a shard's number is announced when one of its sessions became due."""
        self.tools = f"{self._prefix}:{{tools}}:"
        """Prefix of what the tool engines share: `value:`, `lock:`, `circuit:`, `generation:`, `result:`, `spent:`, `answer:`."""

    def base(self, shard: int) -> str:
        """Prefix of every key of a shard: `doc:`, `log:`, `mail:`, `meta:`, `memory:`, `index:` and a session's id follow, or `seen:` and an event's key."""
        return f"{self._prefix}:{{s{shard}}}:"

    def due(self, shard: int) -> str:
        """Sorted set of session ids by the time (ms) at which a worker should look at them."""
        return f"{self.base(shard)}due"

    def leases(self, shard: int) -> str:
        """Sorted set of claimed session ids by the deadline (ms) of their lease."""
        return f"{self.base(shard)}leases"

    def recent(self, thread: Thread) -> str:
        """Sorted set of a channel's session ids by the time (ms) they were last active."""
        return f"{self.base(thread.shard)}recent:{thread.team_id}:{thread.channel_id}"

    def idle(self, shard: int) -> str:
        """Sorted set of a shard's session ids by the time (ms) they were last active, for what has to be done before they expire."""
        return f"{self.base(shard)}idle"

    def handovers(self, shard: int) -> str:
        """Hash of what was kept of threads that are about to expire, by session id."""
        return f"{self.base(shard)}handovers"

    def handover_times(self, shard: int) -> str:
        """Sorted set of the same session ids by the time (ms) they were handed over."""
        return f"{self.base(shard)}handover_times"

    def grants(self, actor: Actor) -> str:
        """Prefix of one person's standing permissions: `index`, and for each its id, alone and after `used:`, `last:` and `revoked:`, follow."""
        return f"{self._prefix}:{{grants:{actor.team_id}:{actor.user_id}}}:"

    def recalled(self, actor: Actor) -> str:
        """List of the latest answers that used one person's memories, newest first."""
        return f"{self._prefix}:{{memory:{actor.team_id}:{actor.user_id}}}:recalled"

    def agreed(self, thread: Thread) -> str:
        """Sorted set of which answers in a channel used which of its agreements, by the time (s) at which they did."""
        return f"{self._prefix}:{{memory:{thread.team_id}:#{thread.channel_id}}}:agreed"

    def forgetting(self, actor: Actor, mark: str) -> str:
        """Which memories a person's request `mark` is about to have forgotten."""
        return f"{self._prefix}:{{memory:{actor.team_id}:{actor.user_id}}}:forgetting:{mark}"

    @property
    def unfinished(self) -> str:
        """Hash of what requests began to have forgotten and did not get to the end of."""
        return f"{self._prefix}:{{memory}}:unfinished"

    @property
    def everything(self) -> str:
        """A pattern that every key of the workspace fits."""
        return _GLOB.sub(r"\\\g<0>", self._prefix) + ":*"

    def decisions(self, actor: Actor) -> str:
        """Sorted set of the latest actions a person was asked about, by the time they were decided."""
        return f"{self._prefix}:{{decisions:{actor.team_id}:{actor.user_id}}}"

    @property
    def forgotten(self) -> str:
        """The note that files have to be rewritten because something was forgotten."""
        return f"{self._prefix}:{{memory}}:forgotten"

    def owner_lock(self, owner: str) -> str:
        """The lock of one owner of memories, by its tag."""
        return f"{self._prefix}:{{memory:{owner}}}:lock"

    def job(self, name: str) -> str:
        """Hash of what is known of one job: who holds it, its newest completed slot, how far the work has come."""
        return f"{self._prefix}:{{jobs}}:{name}"

    @property
    def reminders_due(self) -> str:
        """Sorted set of reminder ids by the time (s) at which they are to be given."""
        return f"{self._prefix}:{{reminders}}:by_time"

    def reminders_of(self, actor: Actor) -> str:
        """Sorted set of the ids of one person's open reminders, by the same time."""
        return f"{self._prefix}:{{reminders}}:of:{actor.team_id}:{actor.user_id}"

    def reminder(self, reminder: str) -> str:
        """One reminder's document."""
        return f"{self._prefix}:{{reminders}}:doc:{reminder}"

    def reminder_over(self, reminder: str) -> str:
        """The mark that a reminder was given or called off."""
        return f"{self._prefix}:{{reminders}}:over:{reminder}"
