"""What a person says in one conversation helps in another, days later: the storyline of long-term memory through the whole program."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import shown
from tests.fakes.valkey import Valkey
from tests.scenarios.desk_kit import actor
from tests.scenarios.remembering_kit import answered, known, prompt, remembering


async def test_what_was_asked_to_be_remembered_is_used_in_another_conversation_and_the_answer_says_so(valkey: Valkey, tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: text("Fine."))
    async with remembering(valkey, tmp_path, model) as stack:
        first = await answered(stack, "alice", "dm", "Please remember that I hate rainy days")
        assert await known(stack, actor("alice"), 1) == ["I hate rainy days"]
        assert "has just been saved" in prompt(model.requests[-1])
        assert "emember" in shown(first)
        ts = await stack.slack.say("alice", stack.slack.dm("alice"), "another thread")
        await stack.quiet()
        second = await answered(stack, "alice", "dm", "I am going to Guangzhou for two days, any advice?", thread=ts)
        assert "I hate rainy days" in prompt(model.requests[-1])
        assert "1 memory" in shown(second)
