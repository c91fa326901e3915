"""`steward demo`: one short conversation through the whole program, told in the terminal.

Everything is the real thing on loopback in a folder that is thrown away afterwards: the store, the local Slack, the
bot over Socket Mode, the offline demo model. What is printed is what each side sees: the person the thread and the
cards, the model the tools it asked for, the operator the state that was committed.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bot.log import configure_logging
from bot.manifest import build
from bot.memory_store import MEMORY_TOOLS
from bot.service import BUILT_IN, Parts, Service
from bot.settings import Settings
from memory.embedded import open_embedded
from memory.keys import Thread
from memory.longterm.collection import Tuning
from memory.longterm.opening import open_store
from memory.longterm.store import WORDS_ONLY
from memory.transcript import ITEM, AssistantMessage, ToolMessage
from playground.appconfig import AppConfig
from playground.demo_model import DemoModel
from playground.server import Playground

WITHIN: Final = 15.0
SHOWN: Final = 150
"""Characters of a tool's result that are printed."""
CHANNEL: Final = "#orders"
PERSON: Final = "alice"


class _Stage:
    """The conversation and its narrator."""

    def __init__(self, slack: Playground, service: Service, write: Callable[[str], object]) -> None:
        self._slack = slack
        self._service = service
        self._write = write
        self._seen: dict[str, str] = {}
        self._told = 0
        self.root = ""

    def say(self, line: str = "") -> None:
        self._write(line)

    def _own(self) -> list[dict[str, Any]]:
        return [m for m in self._slack.messages(CHANNEL, self.root) if m.get("user") == self._slack.bot_user_id]

    async def speak(self, text: str) -> None:
        """The person writes; the bot's next message, or a card that it redrew, is shown."""
        self.say(f"\n  Alice    {text}")
        ts = await self._slack.say(PERSON, CHANNEL, text, self.root or None)
        self.root = self.root or ts
        await self.watch()

    async def elsewhere(self, text: str) -> None:
        """The person begins another thread."""
        self.root, self._told = "", 0
        await self.speak(text)

    async def press(self, action: str) -> None:
        """The person presses a button of the newest card."""
        card = next(m for m in reversed(self._own()) if _buttons(m))
        self.say(f"\n  Alice    presses [{_label(card, action)}]")
        await self._slack.click(PERSON, CHANNEL, card["ts"], action)
        await self.watch(after_click=card["ts"])

    async def watch(self, after_click: str = "") -> None:
        """Show what the bot posted or redrew, once it has come to rest: an answer or an open card."""

        def settled() -> bool:
            new = [m for m in self._own() if m["ts"] not in self._seen]
            redrawn = not after_click or not _buttons(next(m for m in self._own() if m["ts"] == after_click))
            return bool(new) and redrawn

        await self._slack.wait_for(settled, WITHIN)
        await self.at_rest()
        await self._behind_the_scenes()
        for message in self._own():
            text = _readable(message)
            if self._seen.get(message["ts"]) != text:
                verb = "Steward " if message["ts"] not in self._seen else "Steward*"
                self._seen[message["ts"]] = text
                first, *rest = text.splitlines() or [""]
                self.say(f"  {verb} {first}")
                for line in rest:
                    self.say(f"           {line}")

    async def at_rest(self) -> None:
        """Wait until no session is worked on any more."""
        async with asyncio.timeout(WITHIN):
            while self._service.worker.busy:  # noqa: ASYNC110 - a worker tells nobody when it comes to rest
                await asyncio.sleep(0.01)

    async def _behind_the_scenes(self) -> None:
        """What passed between the model and the tools since the last look, from the stored transcript."""
        channel_id = await self._service.slack.channel_id(CHANNEL) or ""
        thread = Thread(team_id=self._slack.team_id, channel_id=channel_id, thread_ts=self.root)
        for _, raw in await self._service.mailbox.read_log(thread, (self._told, self._told + 100)):
            self._told += 1
            match ITEM.validate_json(raw):
                case AssistantMessage(calls=calls):
                    for call in calls:
                        self.say(f"    model  asks for {call.name} {call.arguments}")
                case ToolMessage(name=name, content=content):
                    self.say(f"    tool   {name} → {content if len(content) <= SHOWN else content[:SHOWN] + ' …'}")
                case _:
                    pass


def main(settings: Settings) -> int:
    """Play it. Returns 0 when every step came out as it should, 1 otherwise."""
    configure_logging(level="ERROR", fmt=settings.log_format, secrets=settings.secrets())
    return asyncio.run(_play(print))


async def _play(write: Callable[[str], object]) -> int:
    with tempfile.TemporaryDirectory(prefix="steward-demo-") as folder:
        home = Path(folder)
        store = await open_embedded(home)
        slack, model = Playground(app_config=AppConfig.from_manifest(build())), DemoModel()
        await slack.start()
        await model.start()
        service = Service(
            Parts(
                slack_api_url=slack.api_url,
                bot_token=slack.bot_token,
                app_token=slack.app_token,
                redis_url=store.url,
                model_base_url=model.url,
                model_key="none",
                models=("demo",),
                home=home,
                tool_modules=(BUILT_IN, MEMORY_TOOLS),
                store=open_store(home, None, None, model=WORDS_ONLY, size=0, tuning=Tuning()),
                model_reads=False,
            )
        )
        try:
            await service.start()
            return await _scenes(_Stage(slack, service, write))
        except TimeoutError:
            write("\nThe demo waited in vain for an answer. Run `steward doctor`.")
            return 1
        finally:
            await service.stop()
            await model.stop()
            await slack.stop()
            await store.close()


async def _scenes(stage: _Stage) -> int:
    stage.say("A thread in #orders of a local Slack. Steward* marks a message that was redrawn in place.")
    await stage.speak("@steward what is 15% of 1,280, and where is my order ABC-20240520-001?")
    stage.say("\n  (The model asked for two tools at once; both only read, so they ran without asking.)")
    await stage.speak("Cancel that order please")
    stage.say("\n  (The model asked for a write. Nothing has happened yet: the card waits for Alice, and nothing runs meanwhile.)")
    await stage.press("steward:deny")
    stage.say("\n  (Refused is refused: the order is untouched, and the model was told so.)")
    await stage.speak("取消一个订单")
    stage.say("\n  (Which one? The model may ask with buttons; an answer permits nothing, so the write still waits for its own click.)")
    await stage.press("steward:choice:0")
    await stage.press("steward:approve")
    stage.say("\n  (Approved by a click, run once, and the card now says what really happened.)")
    await stage.speak("remind me tomorrow at 9am to call the warehouse")
    await stage.press("steward:approve")
    stage.say("\n  (The card named the exact time. It will be said in this thread, once, even if the program is restarted meanwhile.)")
    await stage.speak("what did I ask you first?")
    await stage.speak("When I check orders just tell me where it is, skip payment. Remember that.")
    stage.say("\n  (Kept at once, by rules and not by the model. `/memory` shows it to Alice alone, with buttons to correct or forget it.)")
    await stage.elsewhere("@steward where is my order ABC-20240520-002?")
    stage.say("\n  (Another thread: the answer begins with the logistics and leaves the payment out. Bruno's orders are told in full.)")
    await stage.speak("what do you know about me?")
    stage.say("\nDone. Try it yourself: `make run`, then open the page it names.")
    return 0


def _buttons(message: dict[str, Any]) -> bool:
    return any(block.get("type") == "actions" for block in message.get("blocks") or [])


def _label(message: dict[str, Any], action: str) -> str:
    """What stands on a button."""
    elements = [element for block in message.get("blocks") or [] for element in block.get("elements") or []]
    return str(next(element["text"]["text"] for element in elements if element.get("action_id") == action))


def _readable(message: dict[str, Any]) -> str:
    """A message's blocks as lines of plain text; buttons in square brackets."""
    lines: list[str] = []
    for block in message.get("blocks") or []:
        match block.get("type"):
            case "markdown":
                lines += str(block.get("text", "")).splitlines()
            case "actions":
                lines.append(" ".join(f"[{element['text']['text']}]" for element in block["elements"] if element.get("type") == "button"))
            case _:
                lines += _inner(block)
    text = "\n".join(line for line in lines if line.strip()) or str(message.get("text", ""))
    return re.sub(r"<@U01ALICE00>", "@alice", re.sub(r"<!date\^[^|>]*\|([^>]*)>", r"\1", text))


def _inner(node: Any) -> list[str]:
    if isinstance(node, list):
        return [line for child in node for line in _inner(child)]
    if not isinstance(node, dict):
        return []
    if node.get("type") in {"rich_text_section", "rich_text_preformatted"}:
        return ["".join(_inner(node.get("elements") or []))]
    if isinstance(node.get("text"), str):
        return [node["text"]]
    if node.get("type") == "user":
        return [f"<@{node.get('user_id')}>"]
    return [line for value in node.values() if isinstance(value, dict | list) for line in _inner(value)]
