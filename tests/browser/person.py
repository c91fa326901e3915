"""A person in front of the page: what they write and press, in the page's own terms, and what they then see."""

from __future__ import annotations

from playwright.async_api import Locator, Page, expect

PATIENCE = 20_000
"""Milliseconds that something may take to appear; a busy machine is slow, not wrong."""
expect.set_options(timeout=PATIENCE)


class Person:
    """One person's window."""

    def __init__(self, page: Page) -> None:
        self.page = page

    # --- where ------------------------------------------------------------------------------------------------------------

    @property
    def main(self) -> Locator:
        """The conversation in the middle."""
        return self.page.locator("#main")

    @property
    def thread(self) -> Locator:
        """The open thread at the side."""
        return self.page.get_by_test_id("thread-panel")

    @property
    def modal(self) -> Locator:
        """The open modal."""
        return self.page.get_by_test_id("modal")

    def row(self, words: str, *, within: Locator | None = None) -> Locator:
        """The newest message that holds these words."""
        return (within or self.main).get_by_test_id("message").filter(has_text=words).last

    @property
    def card(self) -> Locator:
        """The newest message of the open thread that asks or asked for approval."""
        return self.thread.get_by_test_id("message").filter(has=self.page.locator(".header-block")).last

    # --- what one does ------------------------------------------------------------------------------------------------------

    async def say(self, text: str) -> None:
        """Write into the conversation's box and press Enter."""
        await self._write("composer", text)

    async def reply(self, text: str) -> None:
        """Write into the open thread's box and press Enter."""
        await self._write("thread-composer", text)

    async def _write(self, box: str, text: str) -> None:
        composer = self.page.get_by_test_id(box)
        await composer.fill(text)
        await composer.press("Enter")
        await expect(composer).to_have_value("")

    async def ask(self, text: str) -> Locator:
        """Mention the bot in the channel and open the thread in which it answers."""
        await self.say(f"@steward {text}")
        return await self.follow(text)

    async def follow(self, text: str) -> Locator:
        """Open the thread below the message with this text, once there is one."""
        await self.row(text).get_by_test_id("thread-summary").click(timeout=PATIENCE)
        await expect(self.thread).to_be_visible()
        return self.thread

    async def press(self, button: str) -> None:
        """Press a button of the newest card: approve, deny, deny_reason, edit or view."""
        await self.card.get_by_test_id(f"action-steward:{button}").click(timeout=PATIENCE)

    async def fill(self, block: str, text: str) -> None:
        """Write into a field of the open modal."""
        await self.modal.locator(f'[data-block="{block}"]').locator("input, textarea").fill(text, timeout=PATIENCE)

    async def submit(self) -> None:
        """Press the modal's own button."""
        await self.modal.get_by_test_id("modal-submit").click()

    # --- what one sees ------------------------------------------------------------------------------------------------------

    async def sees(self, *words: str) -> None:
        """The open thread holds these words, each of them."""
        for each in words:
            await expect(self.thread).to_contain_text(each)

    async def sees_on_card(self, *words: str) -> None:
        """The newest card holds these words, each of them."""
        for each in words:
            await expect(self.card).to_contain_text(each)

    async def sees_no_buttons(self) -> None:
        """The newest card can no longer be decided."""
        await expect(self.card.get_by_role("button", name="Approve")).to_have_count(0)
        await expect(self.card.locator(".actions button")).to_have_count(0)
