"""The playground in a process of its own, as the benchmark's Slack.

The load generator sends what people say, straight to the bot; the playground takes the bot's answers and sends each of
them back to the bot as an event, as Slack does.

    python -m evals.bench_slack URL_OF_THE_BOT
"""

from __future__ import annotations

import sys
from typing import Final

from evals.bench_process import obey, run
from playground.server import Playground

PEOPLE: Final = ("alice", "bruno", "mei")
CHANNELS: Final = 40


async def main(request_url: str) -> None:
    """Serve until told to end."""
    slack = Playground(request_url=request_url)
    await slack.start()
    people = [user.id for user in slack.core.world.users.values() if user.name in PEOPLE]
    channels = [{"id": f"C0BENCH{n:03d}", "name": f"bench-{n}", "members": [*people, slack.bot_user_id]} for n in range(CHANNELS)]
    slack.add(channels=channels)

    hello = {
        "api_url": slack.api_url,
        "url": slack.url,
        "bot_token": slack.bot_token,
        "signing_secret": slack.signing_secret,
        "bot_user": slack.bot_user_id,
        "team": slack.team_id,
        "people": people,
        "channels": [channel["id"] for channel in channels],
    }
    try:
        await obey(hello, {})
    finally:
        await slack.stop()


if __name__ == "__main__":
    run(main(sys.argv[1]))
