"""The only loop in the product: claim a session, do what `decide` names, commit, until there is nothing to do.

Nothing runs while a person thinks: a session that waits is given back. A worker that dies leaves a lease that runs
out; one that freezes is fenced by the next claim's epoch. What always fails is set aside after three attempts and the
person is told, so that one bad event harms only itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from time import monotonic, time
from typing import Literal

import structlog
from structlog.contextvars import bound_contextvars

from bot import actions as act
from bot.deps import Deps
from bot.events import Decision, DirectMessage, Event, Mention, Reset, Stop, ThreadReply
from bot.heartbeat import Beat, end_all
from bot.ledger import Ledger
from bot.mail import as_written, parsed, readable, standing
from bot.messages import say
from bot.recovery import apologise, resolve_started, set_aside, take_over
from bot.run import decide, fold
from bot.settle import settle
from bot.slack import SlackDown, SlackRefused
from bot.state import Session, StateError, StateTooLarge
from memory.keys import SHARDS
from memory.mailbox import Claim, Fenced, Mailbox, MailboxDown
from tools.engine import digest

log = structlog.get_logger(__name__)

MAX_ATTEMPTS = 6
"""A session is set aside after this many attempts without progress. A failure that was seen counts as two, so three are
enough; a holder that ended without a word counts as one, because its end may have come from outside."""
SUSPECT = 3
"""From this attempt on a session may be what ends its holders: a worker tries one such session at a time, so that none is blamed for another."""
UNTRIED_PAUSE = 0.2
"""Seconds a suspect waits for its turn."""
HEARTBEAT = 0.5
"""Seconds between looks at the lease and the mail while an action runs; also the longest a "stop" stays unseen."""
SWEEP = 1.0
"""Seconds between looks at every shard, for what no announcement told of."""


class Worker:
    """Works on up to `concurrency` sessions at once, until stopped."""

    def __init__(
        self, mailbox: Mailbox, deps: Deps, *, concurrency: int = 32, heartbeat: float = HEARTBEAT, sweep: float = SWEEP, clock: Callable[[], float] = time
    ) -> None:
        self._mailbox = mailbox
        self._deps = deps
        self._free = asyncio.Semaphore(concurrency)
        self._concurrency = concurrency
        self._lent_out = 0
        self._heartbeat = heartbeat
        self._sweep = sweep
        self._clock = clock
        self._look = asyncio.Event()
        self._shards: dict[int, None] = dict.fromkeys(range(SHARDS))
        """Shards to look at, in this order."""
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._stopping = False
        self._too_large: set[str] = set()
        self._suspect = ""

    # --- finding work -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until `stop`. Never raises for a fault of Redis, Slack or the model."""
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._listen()), group.create_task(self._every_shard())]
            try:
                while not self._stopping:
                    await self._look.wait()
                    self._look.clear()
                    while self._shards and not self._stopping:
                        shard = next(iter(self._shards))
                        del self._shards[shard]
                        if await self._claim_one(shard):
                            self._shards[shard] = None  # behind the others: a busy channel must not hold them up
            finally:
                await end_all(helpers)

    async def _claim_one(self, shard: int) -> bool:
        """Wait for room, then take one due session of a shard; whether there was one."""
        await self._free.acquire()
        claim = None
        try:
            claim = await self._mailbox.claim(shard)
        except MailboxDown as error:
            log.warning("mailbox_down", reason=str(error))
            await asyncio.sleep(min(self._sweep, 0.5))
        except Exception:  # whatever came back, the other shards are to be worked on
            log.exception("claim_failed", shard=shard)
            await asyncio.sleep(min(self._sweep, 0.5))
        finally:
            if claim is None:
                self._free.release()
        if claim is None:
            return False
        task = asyncio.create_task(self._hold(claim), name=f"session {claim.thread.id}")
        self._tasks[task] = claim.thread.id
        task.add_done_callback(self._ended)
        return True

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        self._free.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("session_task_failed", exc_info=error)

    @contextlib.asynccontextmanager
    async def _lent(self) -> AsyncIterator[None]:
        """Give this session's place to another one for a while. It is taken back whatever happens, for it is given back again at the end."""
        if self._lent_out >= self._concurrency:
            yield
            return
        self._lent_out += 1
        self._free.release()
        self._look.set()
        try:
            yield
        finally:
            self._lent_out -= 1
            taking = asyncio.create_task(self._free.acquire())
            cancelled = False
            while not taking.done():
                try:
                    await asyncio.shield(taking)
                except asyncio.CancelledError:
                    cancelled = True
            if cancelled:
                raise asyncio.CancelledError

    def wake(self, shard: int) -> None:
        """Look at a shard now."""
        self._shards.setdefault(shard)
        self._look.set()

    async def _listen(self) -> None:
        while True:
            try:
                async for shard in self._mailbox.wakes():
                    self.wake(shard)
            except MailboxDown as error:
                log.warning("wakes_lost", reason=str(error))
                await asyncio.sleep(min(self._sweep, 0.5))

    async def _every_shard(self) -> None:
        while True:
            for shard in range(SHARDS):
                self._shards.setdefault(shard)
            self._look.set()
            await asyncio.sleep(self._sweep)

    async def stop(self, grace: float = 8.0) -> None:
        """Take no more work, give running sessions back at once, and wait up to `grace` seconds for that."""
        self._stopping = True
        self._look.set()
        end = monotonic() + grace
        told: set[asyncio.Task[None]] = set()
        while self._tasks and monotonic() < end:  # a claim under way when we were told may come back after that
            for task in set(self._tasks) - told:
                task.cancel()
                told.add(task)
            await asyncio.wait(set(self._tasks), timeout=0.1)

    @property
    def busy(self) -> int:
        """Sessions being worked on now."""
        return len(self._tasks)

    # --- one session --------------------------------------------------------------------------------------------------

    async def _hold(self, claim: Claim) -> None:
        with bound_contextvars(session=claim.thread.id, epoch=claim.epoch):
            try:
                if self._stopping:  # it came back from Redis after everyone was told to stop
                    await self._give_back(claim, self._clock(), progress=True)
                else:
                    await self._in_turn(claim)
            except Fenced:
                log.warning("fenced")
            except MailboxDown as error:
                log.warning("mailbox_down", reason=str(error))
            except asyncio.CancelledError:
                await self._give_back(claim, self._clock(), progress=True)
            except StateTooLarge as error:
                log.error("state_too_large", reason=str(error), attempts=claim.attempts)
                self._too_large.add(claim.thread.id)
                await self._give_back(claim, self._clock(), progress=False, attempts=claim.attempts + 1)
            except StateError as error:
                # Written by a newer version, most likely: leave it whole for a replica that knows it.
                log.error("state_unreadable", reason=str(error))
                # A rest of uneven length, and no look of our own at its end: else we might be the first every time.
                await self._give_back(claim, self._clock() + 2.0 + secrets.randbelow(3_000) / 1_000, progress=True, look=False)
            except (SlackDown, SlackRefused) as error:
                log.warning("slack_failed", reason=str(error), attempts=claim.attempts)
                failed = None if isinstance(error, SlackDown) else claim.attempts + 1
                await self._give_back(claim, self._clock() + _pause(claim.attempts), progress=failed is None, attempts=failed)
            except Exception:  # the promise to everyone else's sessions: this one's fault ends here, logged
                log.exception("session_failed", attempts=claim.attempts)
                await self._give_back(claim, self._clock() + _pause(claim.attempts), progress=False, attempts=claim.attempts + 1)

    async def _in_turn(self, claim: Claim) -> None:
        """Work, unless the session is a suspect and another one is being tried: then it goes back uncounted."""
        suspected = SUSPECT <= claim.attempts <= MAX_ATTEMPTS
        if suspected and self._suspect:
            await self._give_back(claim, self._clock() + UNTRIED_PAUSE, progress=False)
            return
        self._suspect = claim.thread.id if suspected else self._suspect
        try:
            await self._mailbox.begin(claim)
            await self._work(claim)
        finally:
            if suspected:
                self._suspect = ""

    async def _give_back(self, claim: Claim, wake: float, *, progress: bool, attempts: int | None = None, look: bool = True) -> None:
        """Release without a change; if that fails the lease runs out by itself."""
        if claim.lost:
            return
        claim.taken = 0
        try:
            await self._mailbox.commit(claim, None, progress=progress, attempts=attempts, release=True, wake=wake)
            if look:
                self._later(claim.thread.shard, wake)
        except (Fenced, MailboxDown) as error:
            log.warning("not_given_back", reason=str(error))

    def _later(self, shard: int, wake: float | None) -> None:
        delay = None if wake is None else wake - self._clock()
        if delay is not None and delay < 60 and not self._stopping:
            asyncio.get_running_loop().call_later(max(delay, 0.0) + 0.002, self.wake, shard)

    async def _work(self, claim: Claim) -> None:
        if claim.attempts > MAX_ATTEMPTS:
            await self._set_aside(claim)
        ledger = Ledger(self._mailbox, claim, self._at_rest, kept=self._deps.kept)
        ledger.lent = self._lent
        ledger.session = take_over(ledger.session, claim.epoch, self._clock())
        async with self._beating(claim) as beat:
            while True:
                await self._fold_mail(ledger)
                action = decide(ledger.session, self._clock(), self._deps.budget)
                if isinstance(action, act.Wait):
                    if ledger.session.processing:
                        at_rest: Literal["suspended", "active"] = "suspended" if ledger.session.waiting else "active"
                        await self._deps.slack.session(claim.thread.channel_id, claim.thread.thread_ts, at_rest)
                        # Slack takes the line away when we post; an answer that took the place of a partial one was no post.
                        await self._deps.slack.status(claim.thread.channel_id, claim.thread.thread_ts, "")
                        ledger.session = ledger.session.model_copy(update={"processing": False})
                    await ledger.commit(release=True, wake=action.until)
                    self._later(claim.thread.shard, action.until)
                    return
                await beat.during(action, ledger, self._deps)
                if ledger.released is not None:
                    self._later(claim.thread.shard, ledger.released.until)
                    return

    def _at_rest(self, session: Session) -> act.Wait | None:
        action = decide(session, self._clock(), self._deps.budget)
        return action if isinstance(action, act.Wait) else None

    async def _fold_mail(self, ledger: Ledger) -> None:
        claim = ledger.claim
        # After a failed attempt, mail is taken in singly and committed each time, so that what is set aside in the end is
        # the one event that fails and not whatever came in beside it.
        careful = claim.attempts > 1
        waiting = claim.mail[claim.taken :]
        for raw in waiting if careful else as_written(waiting):
            event = await self._enriched(parsed(raw), ledger.session)
            before = ledger.session
            # A click counts from when Slack gave it to us, not from when a worker found the time to look.
            now = min(self._clock(), event.at) if isinstance(event, Decision) and event.at else self._clock()
            ledger.session = fold(before, event, now)
            if isinstance(event, Decision) and standing(before, event.approval_id) == standing(ledger.session, event.approval_id):
                log.warning("decision_refused", key=event.key, actor=event.actor.user_id)
            claim.taken += 1
            log.info("event", kind=event.kind, key=event.key, correlation=event.correlation)
            if careful:
                await ledger.commit()
        # Between actions nothing is under way: what is still marked as started was interrupted, and nobody waits for it.
        ledger.session = settle(resolve_started(ledger.session), self._clock())

    async def _enriched(self, event: Event, session: Session) -> Event:
        """The event with what Slack says about its author. A decision without that is not judged: the lookup is tried again."""
        if not isinstance(event, Mention | DirectMessage | ThreadReply | Decision | Stop | Reset):
            return event
        if getattr(event, "from_bot", False):
            return event
        groups = set(self._deps.guardrails.usergroups())
        update: dict[str, object] = {}
        if isinstance(event, Decision):
            for run in ([session.run] if session.run else []) + list(session.waiting):
                for call in run.calls:
                    if call.approval is not None and call.approval.id == event.approval_id:
                        groups.add(call.approval.policy.usergroup)
                        tool = self._deps.registry.get(call.tool)
                        if event.arguments is not None and tool is not None:
                            # Whoever edits a card agrees to the tool it shows: one that changed since must be asked for anew.
                            shown = digest(tool, call.arguments or {}, session.thread.id, run.id, call.id)
                            signed = digest(tool, event.arguments, session.thread.id, run.id, call.id)
                            update["digest"] = signed if shown == call.approval.digest else ""
        try:
            update["person"] = await self._deps.slack.person(event.actor, groups - {""})
        except SlackRefused as error:
            log.warning("person_unknown", reason=str(error))
        except SlackDown as error:
            if isinstance(event, Decision | Reset):
                raise
            log.warning("person_not_looked_up", reason=str(error))
        return event.model_copy(update=update)

    async def _set_aside(self, claim: Claim) -> None:
        """Every attempt failed at the same place: take out the mail that cannot be read or was next, else end the run that was active, and say so."""
        reference = secrets.token_hex(4)
        log.error("parked", ref=reference, attempts=claim.attempts)
        ledger = Ledger(self._mailbox, claim)
        bad = next((raw for raw in claim.mail if not readable(raw)), None)
        if bad is None and ledger.session.run is None and claim.mail:
            bad = claim.mail[0]  # the mail that comes next is what a worker trips over first
        key = "too_big" if claim.thread.id in self._too_large else "parked"
        self._too_large.discard(claim.thread.id)
        language = ledger.session.run.locale if ledger.session.run else "en"
        text = say(key, language, ref=reference)
        if bad is not None:
            await self._mailbox.park(claim, bad)
            ledger.session = apologise(ledger.session, text, self._clock(), claim.epoch)
        else:
            ledger.session = set_aside(ledger.session, text, self._clock(), claim.epoch)
        await ledger.commit(progress=True)
        claim.document = await self._mailbox.read_document(claim.thread)

    @contextlib.asynccontextmanager
    async def _beating(self, claim: Claim) -> AsyncIterator[Beat]:
        beat = Beat(self._mailbox, claim, self._heartbeat)
        task = asyncio.create_task(beat.run())
        try:
            yield beat
        finally:
            await end_all([task])


def _pause(attempts: int) -> float:
    """Seconds before the next attempt."""
    return float(min(0.5 * 2 ** (attempts // 2), 30.0))
