"""`ask_person`: a question with buttons. The run waits for the answer as it waits for an approval; nothing runs meanwhile."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tools.decorator import tool
from tools.result import ErrorCode
from tools.tool import ToolFailed

Choice = Annotated[str, Field(min_length=1, max_length=75, pattern=r"\S")]


@tool(effect="read", group="conversation", asks=True, always=True, trusted=True, aliases=("askPerson", "ask_user"), title="Ask the person")
async def ask_person(
    question: Annotated[str, Field(description="One short, complete question, in the person's language", min_length=1, max_length=500, pattern=r"\S")],
    choices: Annotated[
        list[Choice], Field(description="Two to eight short answers to choose from, each a button; empty when only free text makes sense", max_length=8)
    ] = [],  # noqa: B006 - a schema's default; every call gets a copy
) -> dict[str, Any]:
    """Ask the person you are answering one question and wait for the answer: a click on a choice, or their own words.

    Use it when you cannot go on without something only they know, above all when there are a few possibilities to choose from.
    Not for permission to change something: call the tool, its card asks for that. Not for small talk.
    """
    raise ToolFailed(f"The question {question!r} with {len(choices)} choices could not be put to the person.", code=ErrorCode.INTERNAL)
