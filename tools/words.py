"""Text for a card that a tool's author wrote in more than one language: the card shows the one its reader speaks.

Labels are translated by a tool's `words`; this is for values that are made when the card is (a date with its weekday).
"""

from __future__ import annotations

from typing import Self


class Worded(str):
    """A text as the model and the log have it, with how it reads in each language."""

    __slots__ = ("_languages",)
    _languages: dict[str, str]

    def __new__(cls, text: str, **languages: str) -> Self:
        """`text` stands for every language that is not among `languages`, e.g. `Worded("1 day 1天", en="1 day", zh="1天")`."""
        made = super().__new__(cls, text)
        made._languages = languages
        return made

    def said(self, language: str) -> str:
        """The text for readers of `language`."""
        return self._languages.get(language, str(self))
