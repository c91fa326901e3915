"""Whether a request that opens a thread leans on what stands above it in the channel. Pure.

"@bot what did we decide?" and a bare "@bot" below an alert are about messages the thread does not hold: those are read, once. A request
that says all it needs costs no call to Slack and brings no other people's words into the conversation.
"""

from __future__ import annotations

from typing import Final

from bot.events import Mention
from memory.reference import looks_back

SMALL_TALK: Final = frozenset(
    {
        *("hi", "hello", "hey", "yo", "help", "thanks", "thank you", "thx", "ok", "okay", "yes", "no", "bye", "ping", "test"),
        *("good morning", "hi there", "hello there"),
        *("你好", "您好", "嗨", "在吗", "帮助", "谢谢", "多谢", "好的", "好", "早", "早上好", "再见", "是", "不"),
    }
)
"""Short, and still complete."""


def leans_on_channel(event: Mention) -> bool:
    """Whether the channel's latest messages are needed to understand a mention that is the root of its thread."""
    if not event.root or event.text.strip(" \n.,!?~。，！？、～…").casefold() in SMALL_TALK:
        return False
    if not any(char.isalnum() for char in event.text):
        return not event.files and not event.quoted  # no words: it is about what came along, or else about what stands above
    return looks_back(event.text)
