"""The bot under measurement, or the plain thing, in a process of its own.

    python -m evals.bench_bot '{"what": "steward" | "plain", "port": …, "slack": {…}, "model": …, "redis": …, "profile": ""}'

With `profile` a file for `pstats` is written there at the end.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import json
import sys
from collections.abc import AsyncIterator

from aiohttp import web
from openai import AsyncOpenAI
from slack_sdk.web.async_client import AsyncWebClient

from bot.log import configure_logging
from bot.service import Parts, Service
from evals.bench_process import Json, obey, run
from evals.plain import plain_app


@contextlib.asynccontextmanager
async def steward(options: Json) -> AsyncIterator[None]:
    """Steward with everything at its default, over HTTP."""
    slack = options["slack"]
    parts = Parts(
        slack_api_url=slack["api_url"],
        bot_token=slack["bot_token"],
        signing_secret=slack["signing_secret"],
        redis_url=options["redis"],
        model_base_url=options["model"],
        model_key="none",
        models=("instant",),
        port=options["port"],
    )
    service = Service(parts)
    await service.start()
    try:
        yield
    finally:
        await service.stop(grace=2.0)


@contextlib.asynccontextmanager
async def plain(options: Json) -> AsyncIterator[None]:
    """The plain thing."""
    slack = options["slack"]
    model = AsyncOpenAI(api_key="none", base_url=options["model"])
    client = AsyncWebClient(token=slack["bot_token"], base_url=slack["api_url"])
    runner = web.AppRunner(plain_app(client, slack["signing_secret"], model, "instant"), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", options["port"]).start()
    try:
        yield
    finally:
        await runner.cleanup()
        await model.close()


async def main(options: Json) -> None:
    """Work until told to end."""
    async with steward(options) if options["what"] == "steward" else plain(options):
        gc.collect()
        gc.freeze()  # as the program itself does once it has started; the plain thing gets the same help
        await obey({}, {})


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    configure_logging(level="WARNING")
    if given.get("profile"):
        profile = cProfile.Profile()
        profile.runcall(run, main(given))
        profile.dump_stats(given["profile"])
    else:
        run(main(given))
