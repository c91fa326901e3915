"""The plain thing a person would write instead of Steward, to hold its speed against.

A Bolt app on HTTP whose listener calls the model in process, keeps the history of each thread in a dict, and says the
answer. It keeps none of Steward's promises: a restart forgets everything, an event that comes twice is answered twice,
and nothing asks before it acts. It shares no code with the bot.

    SLACK_BOT_TOKEN=… SLACK_SIGNING_SECRET=… OPENAI_API_KEY=… python -m evals.plain
"""

from __future__ import annotations

import os
from typing import Any

from aiohttp import web
from openai import AsyncOpenAI
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

INSTRUCTIONS = "You are a helpful assistant in a Slack thread. Answer briefly."


def plain_app(client: AsyncWebClient, signing_secret: str, model: AsyncOpenAI, model_name: str) -> web.Application:
    """The whole bot, serving `POST /slack/events`."""
    app = AsyncApp(client=client, signing_secret=signing_secret)
    threads: dict[str, list[Any]] = {}

    @app.event("app_mention")
    async def answer(event: dict[str, Any], say: Any) -> None:
        thread_ts = event.get("thread_ts") or event["ts"]
        history = threads.setdefault(f"{event['channel']}:{thread_ts}", [{"role": "system", "content": INSTRUCTIONS}])
        history.append({"role": "user", "content": event["text"]})
        completion = await model.chat.completions.create(model=model_name, messages=history)
        text = completion.choices[0].message.content or "…"
        history.append({"role": "assistant", "content": text})
        await say(text=text, thread_ts=thread_ts)

    @app.event("message")
    async def ignore() -> None:
        """Every mention also comes as a message, and so does everything we say: without this Bolt warns each time."""

    return app.web_app()


def main() -> None:
    """Serve on `PORT` (3000) with the settings everyone knows."""
    client = AsyncWebClient(token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ.get("SLACK_API_URL", AsyncWebClient.BASE_URL))
    app = plain_app(client, os.environ["SLACK_SIGNING_SECRET"], AsyncOpenAI(), os.environ.get("OPENAI_MODEL", "gpt-5-mini"))
    web.run_app(app, port=int(os.environ.get("PORT", "3000")))


if __name__ == "__main__":
    main()
