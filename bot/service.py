"""One running bot for one workspace: the parts put together, started in order, drained and closed in the opposite one.

Given explicit values (`Parts`), so that the program, the demo and the tests build exactly the same thing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import structlog
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.answer_cache import AnswerCache, ModelCache
from bot.deps import Deps, Limits, PersonCap
from bot.edge import MAX_BODY, Edge
from bot.effects_memory import look_weight
from bot.guardrails import Guardrails
from bot.holding import Holding
from bot.interaction import Interaction
from bot.job_list import Needs, standing_jobs
from bot.jobs import Jobs
from bot.judging import Judge
from bot.memory_commands import MemoryCommands, desk_of
from bot.model import Model, weigher
from bot.offering import Fixed
from bot.policy_file import Approvals
from bot.run import Budget
from bot.scheduled import Job
from bot.slack import Slack
from bot.slack_tools import SlackForTools
from bot.worker import Worker
from memory.budget import ContextBudget
from memory.connect import HURRY, PATIENCE, connect
from memory.grants import Grants
from memory.handover import Handovers
from memory.mailbox import Mailbox
from memory.reminders import Reminders
from memory.slots import Slots
from memory.tokens import counter_for
from memory.toolstate import Circuits, ToolState
from memory.windows import DEFAULT_CAP, window_of
from tools.engine import Engine, EngineLimits
from tools.mcp.config import McpServer
from tools.metrics import CONTENT_TYPE
from tools.registry import Registry
from tools.routing import RoutingLimits
from tools.tool import ToolLoadError

if TYPE_CHECKING:  # its SDK takes seconds to load, and most installations have no servers
    from bot.long_term import LongTerm
    from memory.embedder import Embedder
    from memory.longterm.store import Store
    from tools.mcp.servers import McpServers

log = structlog.get_logger(__name__)

BUILT_IN = "tools.builtin"


@dataclass(frozen=True, slots=True)
class Parts:
    """What one bot is made of. Times in seconds."""

    slack_api_url: str
    bot_token: str
    redis_url: str
    model_base_url: str | None
    model_key: str
    models: tuple[str, ...]
    app_token: str = ""
    """Given: Socket Mode. Otherwise events come by HTTP and `signing_secret` is needed."""
    signing_secret: str = ""
    home: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    tool_modules: tuple[str, ...] = (BUILT_IN,)
    approvals: Approvals = field(default_factory=Approvals)
    approval_ttl: float = 86_400.0
    budget: Budget = field(default_factory=Budget)
    context: ContextBudget | None = None
    """How the model's window is shared out; None: by the name of the first model."""
    embedder: Callable[[], Embedder | None] = lambda: None
    """Finds older messages of a long thread by their meaning, made when it is first needed; None: they are found by their words alone."""
    limits: Limits = field(default_factory=Limits)
    engine_limits: EngineLimits = field(default_factory=EngineLimits)
    circuits: Circuits = field(default_factory=Circuits)
    guardrails: Guardrails = field(default_factory=Guardrails)
    routing: RoutingLimits = field(default_factory=RoutingLimits)
    person_cap: PersonCap = field(default_factory=PersonCap)
    workers: int = 32
    lease: float = 15.0
    heartbeat: float = 0.5
    sweep: float = 1.0
    session_idle_ttl: float = 30 * 86_400.0
    model_read_timeout: float = 60.0
    model_call_timeout: float = 180.0
    model_backoff: float = 0.5
    model_temperature: float | None = None
    model_cache_ttl: float = 0.0
    """Seconds for which a model at temperature 0 is not asked the very same thing again; 0: it is."""
    answer_cache_ttl: float = 0.0
    """Seconds for which a person's first question in a thread may be answered as before; 0: never."""
    strict_schemas: bool = False
    slack_backoff: float = 0.5
    ping_interval: float = 10.0
    store: Store | None = None
    """Where memories of people are kept, not started yet; closed with the service. None: nothing is remembered beyond a thread."""
    model_reads: bool = True
    """Whether the model reads, after an answer, what people told about themselves; False: rules alone."""
    memory_judge: str = ""
    """The model that looks once more at what memory brought; empty: none does."""
    memory_limit: float = 0.5
    """Seconds an answer waits for long-term memory."""
    rewrite_log: Callable[[], Awaitable[None]] | None = None
    """Has the session store rewrite its file, where that is ours to do: what was deleted still stands in an append-only file."""
    left_people_ttl: float = 30 * 86_400.0
    """Seconds after a person has left the workspace that everything remembered of them is deleted."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    """Servers whose tools are offered too, by name."""
    registry: Registry | None = None
    """Instead of loading `tool_modules`."""


def _proxy(url: str) -> str | None:
    """The proxy the environment names for an address, exceptions heeded (the SDK heeds none), never for this machine itself.

    Found once, at start: a session that trusts the environment looks it up for every request, in a thread.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    return None if host in {"127.0.0.1", "::1", "localhost"} or proxy_bypass(host) else getproxies().get(parts.scheme)


class Service:
    """A bot that can be started and stopped once."""

    def __init__(self, parts: Parts) -> None:
        """Loads the tools; raises `ToolLoadError` when one of them is refused or a policy names one that does not exist."""
        self.parts = parts
        self.registry = parts.registry if parts.registry is not None else Registry.load(parts.tool_modules)
        for name in parts.approvals.tools:
            own = self.registry.get(name)
            if own is not None and own.name != name:
                raise ToolLoadError(f"STEWARD_CONFIG has a policy for {name!r}, another name of the tool {own.name!r}. Write it under {own.name!r}.")
            if name not in self.registry and not name.startswith(parts.guardrails.foreign):
                # A misspelt name would quietly leave the tool it means to the default policy.
                close = ", ".join(self.registry.close_to(name)) or ", ".join(self.registry.names)
                raise ToolLoadError(f"STEWARD_CONFIG has a policy for {name!r}, but there is no such tool. Did you mean: {close}?")
        if mistakes := parts.guardrails.mistakes(self.registry):
            raise ToolLoadError(f"STEWARD_CONFIG: {mistakes[0]}. Mend it: a rule that names nothing would hold nothing back.")
        self._stack = contextlib.AsyncExitStack()
        self._socket: AsyncSocketModeHandler | None = None
        self._work: asyncio.Task[None] | None = None
        self._draining = False
        clock = parts.resources.get("now")
        self._now: Callable[[], float] = time if clock is None else lambda: clock().timestamp()
        self.jobs: Jobs | None = None
        self.long_term: LongTerm | None = None
        self.mcp: McpServers | None = None
        self.port = 0

    async def start(self) -> None:
        """Connect to everything and begin to work. Raises `SlackRefused`, `SlackDown`, `OSError` (the port) or `MailboxDown`."""
        parts = self.parts
        try:
            hurried, patient, tool_state = await self._connect()
            me, shared = self.slack.me, self._shared
            model = Model(
                base_url=parts.model_base_url,
                api_key=parts.model_key,
                models=parts.models,
                read_timeout=parts.model_read_timeout,
                call_timeout=parts.model_call_timeout,
                backoff=parts.model_backoff,
                temperature=parts.model_temperature,
            )
            self._stack.push_async_callback(model.close)
            self.engine = Engine(tool_state, limits=parts.engine_limits)
            grants = Grants(patient, space=me.team_id)
            resources = dict(parts.resources) | ({"home": parts.home} if parts.home is not None else {}) | {"tool_state": tool_state}
            reminders = Reminders(patient, space=me.team_id)
            resources["reminders"] = reminders
            cached = (
                ModelCache(model, tool_state, self.engine, ttl=parts.model_cache_ttl) if parts.model_cache_ttl > 0 and parts.model_temperature == 0 else None
            )
            count = counter_for(parts.models[0])
            window = parts.context or ContextBudget(min(window_of(parts.models[0]), DEFAULT_CAP))
            fixed = Fixed(self.registry, parts.routing, strict=parts.strict_schemas)
            long_term = await self._start_long_term(patient, Mailbox(patient, **shared), tool_state)
            if long_term is not None:
                from bot.memory_tools import MemoryForTools  # noqa: PLC0415 - loads numpy

                resources["memory"] = MemoryForTools(long_term)
            deps = Deps(
                slack=self.slack,
                model=cached or model,
                answers=AnswerCache(tool_state, self.engine, self.registry, ttl=parts.answer_cache_ttl) if parts.answer_cache_ttl > 0 else None,
                strict_schemas=parts.strict_schemas,
                registry=self.registry,
                approvals=parts.approvals,
                budget=replace(parts.budget, look_weight=look_weight(window), searches=True, learns=long_term is not None),
                long_term=long_term,
                context=window,
                fixed=fixed.tokens,
                count=count,
                weigh=weigher(count),
                embedder=parts.embedder,
                approval_ttl=parts.approval_ttl,
                limits=parts.limits,
                engine=self.engine,
                guardrails=parts.guardrails,
                grants=grants,
                routing=parts.routing,
                person_cap=parts.person_cap,
                tool_slack=SlackForTools(self.slack),
                withheld=lambda: self.mcp.refused() if self.mcp is not None else {},
                resources=resources,
            )
            self.worker = Worker(Mailbox(patient, **shared), deps, concurrency=parts.workers, heartbeat=parts.heartbeat, sweep=parts.sweep)
            hurried_grants = Grants(hurried, space=me.team_id)
            interaction = Interaction(
                self.mailbox,
                self.slack,
                self.registry,
                hurried_grants,
                parts.guardrails,
                resources=resources,
                holding=Holding(self.mailbox, window, count, fixed.tokens),
                handovers=Handovers(hurried, space=me.team_id),
                desk=self._desk(Reminders(hurried, space=me.team_id)),
            )
            self.edge = Edge(self.mailbox, interaction, self._web, me, signing_secret=parts.signing_secret)
            await self._start_mcp()
            await self._serve()
            self._work = asyncio.create_task(self.worker.run(), name="worker")
            self.jobs = Jobs(Mailbox(patient, **shared), reminders, self._standing(patient), Slots(patient, space=me.team_id), clock=self._now)
            self.jobs.start()
            if parts.app_token:
                self._socket = AsyncSocketModeHandler(self.edge.app, parts.app_token, ping_interval=parts.ping_interval)
                await self._socket.connect_async()  # type: ignore[no-untyped-call]
            log.info("started", team=me.team_id, bot_user=me.user_id, port=self.port, tools=len(self.registry), socket_mode=bool(parts.app_token))
        except BaseException:
            await self.stop(grace=1.0)
            raise

    async def _connect(self) -> tuple[Any, Any, ToolState]:
        """Slack and Redis: a client for what somebody waits for, one that is patient, and what the tools share."""
        parts = self.parts
        timeout = aiohttp.ClientTimeout(total=20, sock_connect=5)
        session = await self._stack.enter_async_context(aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=200)))
        self._web = AsyncWebClient(token=parts.bot_token, base_url=parts.slack_api_url, session=session, retry_handlers=[])
        self._web.proxy = _proxy(parts.slack_api_url)
        self.slack = Slack(self._web, backoff=parts.slack_backoff)
        me = await self.slack.connect()
        hurried, patient = connect(parts.redis_url, timeout=HURRY), connect(parts.redis_url, timeout=PATIENCE)
        self._stack.push_async_callback(hurried.aclose)
        self._stack.push_async_callback(patient.aclose)
        self._shared: dict[str, Any] = {"lease": parts.lease, "idle_lifetime": parts.session_idle_ttl, "space": me.team_id}
        self.mailbox = Mailbox(hurried, **self._shared)
        tool_state = ToolState(connect(parts.redis_url, timeout=HURRY), space=me.team_id, circuits=parts.circuits)
        self._stack.push_async_callback(tool_state.close)
        return hurried, patient, tool_state

    async def _start_long_term(self, client: Any, mailbox: Mailbox, tool_state: ToolState) -> LongTerm | None:
        """Long-term memory, if there is to be one. Raises `memory.longterm.store.StoreError`."""
        parts = self.parts
        if parts.store is None:
            return None
        from bot.long_term_start import start_long_term  # noqa: PLC0415 - loads numpy

        self._stack.push_async_callback(parts.store.close)
        self.long_term = await start_long_term(
            parts.store,
            parts.embedder(),
            client=client,
            mailbox=mailbox,
            tool_state=tool_state,
            slack=self.slack,
            now=self._now,
            session_lifetime=parts.session_idle_ttl,
            model_reads=parts.model_reads,
            limit=parts.memory_limit,
            judge=self._judge(),
        )
        return self.long_term

    def _judge(self) -> Judge | None:
        """The model that leaves out memories which do not help, if one is named."""
        parts = self.parts
        if not parts.memory_judge:
            return None
        judge = Judge(Model(base_url=parts.model_base_url, api_key=parts.model_key, models=(parts.memory_judge,)))
        self._stack.push_async_callback(judge.close)
        return judge

    def _desk(self, reminders: Reminders) -> MemoryCommands | None:
        """Where people see what is remembered about them."""
        if self.long_term is None:
            return None
        desk = desk_of(self.long_term, self.slack, reminders=reminders, approvals=self.long_term.decided.of)
        self._stack.push_async_callback(desk.close)
        return desk

    def _standing(self, client: Any) -> list[Job]:
        """The jobs of this installation; `client` is a patient one."""
        parts = self.parts
        self.handovers = Handovers(client, space=self.slack.me.team_id)
        standing = standing_jobs(Needs(Mailbox(client, **self._shared), self.handovers, parts.session_idle_ttl, self._now))
        if self.long_term is None:
            return standing
        from bot.memory_jobs import MemoryJobs  # noqa: PLC0415 - loads numpy

        memory = MemoryJobs(self.long_term, self.handovers, self.slack, left_ttl=parts.left_people_ttl, rewrite_log=parts.rewrite_log)
        return [*standing, *memory.jobs()]

    @contextlib.asynccontextmanager
    async def only_jobs(self) -> AsyncIterator[tuple[list[Job], Slots]]:
        """What an operator's command needs: the jobs, with everything they work on open, and nothing else running.

        Raises `SlackRefused`, `SlackDown`, `memory.longterm.store.StoreError`.
        """
        async with self._stack:
            _, patient, tool_state = await self._connect()
            await self._start_long_term(patient, Mailbox(patient, **self._shared), tool_state)
            yield self._standing(patient), Slots(patient, space=self.slack.me.team_id)

    async def _start_mcp(self) -> None:
        if not self.parts.mcp:
            return
        from tools.mcp.servers import McpServers  # noqa: PLC0415 - see above

        self.mcp = McpServers(self.parts.mcp, self.parts.home)
        self._stack.push_async_callback(self.mcp.stop)
        await self.mcp.start(self.registry)

    async def _serve(self) -> None:
        app = web.Application(client_max_size=MAX_BODY)
        if self.parts.signing_secret:
            app.router.add_post("/slack/events", self.edge.handle)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, self.parts.host, self.parts.port)
        await site.start()
        self.port = int(runner.addresses[0][1])

    async def _healthz(self, _: web.Request) -> web.Response:
        """Alive: the loop answers and the worker has not ended."""
        alive = self._work is not None and not self._work.done()
        return web.json_response({"alive": alive}, status=200 if alive else 503)

    async def _readyz(self, _: web.Request) -> web.Response:
        """Ready: the store answers, Slack is connected, and we are not about to leave."""
        checks = {
            "store": await self.mailbox.ping(),
            "slack": self._socket is None or (self._socket.client is not None and await self._socket.client.is_connected()),
            "worker": self._work is not None and not self._work.done(),
            "draining": self._draining,
        }
        ready = checks["store"] and checks["slack"] and checks["worker"] and not self._draining
        return web.json_response(checks, status=200 if ready else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        """Counters for Prometheus."""
        return web.Response(body=self.engine.metrics.render(), headers={"Content-Type": CONTENT_TYPE})

    async def run_until(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; a worker that ends by itself is an error, raised here."""
        if self._work is None:
            raise RuntimeError("not started")
        waiter = asyncio.create_task(stop.wait())
        await asyncio.wait({waiter, self._work}, return_when=asyncio.FIRST_COMPLETED)
        waiter.cancel()
        if self._work.done() and not stop.is_set():
            self._work.result()
            raise RuntimeError("the worker ended")

    async def stop(self, grace: float = 8.0) -> None:
        """Take nothing more in, give sessions back, close. At most `grace` seconds and a little."""
        self._draining = True
        if self._socket is not None:
            await self._socket.close_async()  # type: ignore[no-untyped-call]
        if self.jobs is not None:
            await self.jobs.stop()
        if self._work is not None:
            await self.worker.stop(grace)
            await asyncio.wait({self._work}, timeout=2.0)
            if self._work.cancel():
                await asyncio.wait({self._work}, timeout=2.0)
        await self._stack.aclose()
