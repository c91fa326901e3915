"""Long-term memory in the page: said once, confirmed, used in a later answer, shown in `/memory` and App Home, corrected and forgotten by its owner."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import Windows
from tests.browser.person import Person
from tests.fakes.program import Program

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@dataclass(frozen=True, slots=True)
class Words:
    """What one person says and then reads, in their language."""

    user: str
    told: str
    memory: str
    confirmed: tuple[str, str]
    asked: str
    advice: str
    used: str
    which: str
    title: str
    other: str
    """Another thing to remember, in words that stand nowhere else in the channel."""
    other_memory: str
    unsaid: str
    gone: str
    search: str
    found: str
    """How what was found begins, and what is said when nothing was."""


ENGLISH = Words(
    user="bruno",
    told="remember that I hate rainy days",
    memory="I hate rainy days",
    confirmed=("I will remember that.", "Remembered."),
    asked="going to Guangzhou for two days, any advice?",
    advice="umbrella",
    used="Used ",
    which="Which?",
    title="What I remember about you",
    other="remember that I prefer window seats",
    other_memory="I prefer window seats",
    unsaid="forget that I prefer window seats",
    gone="forgotten for good",
    search="search window seats",
    found="in your memories",
)
CHINESE = Words(
    user="mei",
    told="记住我讨厌下雨天",
    memory="我讨厌下雨天",
    confirmed=("记住了。", "已记住。"),
    asked="我要去广州两天，有什么建议？",
    advice="雨伞",
    used="使用了",
    which="查看",
    title="我记得的关于你的事",
    other="记住我喜欢靠窗的座位",
    other_memory="我喜欢靠窗的座位",
    unsaid="忘掉我喜欢靠窗的座位",
    gone="彻底忘掉",
    search="搜索 靠窗的座位",
    found="在你的记忆中",
)


async def home(person: Person) -> Locator:
    """Look at App Home, drawn anew."""
    await person.page.get_by_test_id("dm-steward").click()
    await person.page.get_by_test_id("tab-home").click()
    return person.page.get_by_test_id("app-home")


@pytest.mark.parametrize("words", [ENGLISH, CHINESE], ids=["en", "zh"])
async def test_what_was_said_once_is_used_shown_and_forgotten_by_its_owner(steward: Program, windows: Windows, words: Words) -> None:
    person = await windows.open(steward, words.user)
    await person.ask(words.told)
    await person.sees(*words.confirmed)

    await person.ask(words.asked)
    await person.sees(words.memory, words.advice, words.used)
    await person.thread.get_by_role("button", name=words.which).last.click()
    await expect(person.modal).to_contain_text(words.memory)
    await person.page.get_by_test_id("modal-close").click()

    await person.say("/memory")
    shown = person.main.locator(".ephemeral").filter(has_text=words.title).last
    await expect(shown).to_contain_text(words.memory)
    at_home = await home(person)
    await expect(at_home).to_contain_text(words.title)
    await expect(at_home).to_contain_text(words.memory)

    await person.page.get_by_test_id("channel-orders").click()
    forget = shown.get_by_test_id("action-steward:mem:forget").first
    await forget.click()
    await person.page.get_by_test_id("confirm-no").click()
    await expect(shown).to_contain_text(words.memory)
    await forget.click()
    await person.page.get_by_test_id("confirm-yes").click()
    await expect(shown).not_to_contain_text(words.memory)
    at_home = await home(person)
    await expect(at_home).to_contain_text(words.title)
    await expect(at_home).not_to_contain_text(words.memory)


@pytest.mark.parametrize("words", [ENGLISH, CHINESE], ids=["en", "zh"])
async def test_what_was_forgotten_in_words_is_gone_from_the_next_look(steward: Program, windows: Windows, words: Words) -> None:
    person = await windows.open(steward, words.user, phone=True)
    await person.ask(words.other)
    await person.sees(*words.confirmed)
    await person.reply(words.unsaid)
    await person.sees(words.gone)
    await person.page.get_by_role("button", name="Back to the channel").click()
    await person.say(f"/memory {words.search}")
    shown = person.main.locator(".ephemeral").last
    await expect(shown).to_contain_text(words.found)
    await expect(shown).not_to_contain_text(words.other_memory)
    width = await person.page.evaluate("document.documentElement.scrollWidth")
    assert width == 390, "a phone never scrolls sideways"
