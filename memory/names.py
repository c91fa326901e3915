"""Names as they look: characters that leave no trace on the screen, and letters of other scripts that look like ours.

A person chooses how they are called, and what stands before their words is the only thing of theirs that is not marked as data. So a name is
shown without what cannot be seen, and two names are the same when a reader could take one for the other, whatever letters they are made of.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0")

_ALIKE: Final = (
    ("a", "АаΑαɑᴀᎪ4@"),
    ("b", "ВвΒβЬьʙᏴ"),
    ("c", "СсϹϲᴄᏟ"),
    ("d", "ԀԁᎠɗđᴅ"),
    ("e", "ЕеΕεЄєᎬҽᴇ3"),
    ("g", "ԌᏀɡցɢ"),
    ("h", "НнΗһҺᎻհħʜ"),
    ("i", "ІіΙιιıӀӏᏞᎥɪʟLlłŁ1|!ǀǃJјЈj"),
    ("k", "КкΚκᏦᴋ"),
    ("m", "МмΜμϺᎷᴍ"),
    ("n", "ΝпηոռɴПпŋ"),
    ("o", "ОоΟοσՕօᴏøØ0Ѳѳ"),
    ("p", "РрΡρᏢᴘþ"),
    ("r", "ГгᎡʀɼᏒ"),
    ("s", "ЅѕՏᏚꜱ5$ʂ"),
    ("t", "ТтΤτᎢᴛŧ7†"),
    ("u", "υՍսᴜцʋ"),
    ("w", "ԜԝաωᎳᴡшѡШ"),
    ("x", "ХхΧχ"),
    ("y", "УуΥγүҮᎩʏ"),
    ("z", "ΖᏃᴢ"),
)
"""Letters, and what is taken for them at a glance. "i", "l", "j" and "1" count as one."""
_LETTER: Final = {ord(sign): letter for letter, signs in _ALIKE for sign in signs}
_BOXED: Final = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
"""Where the 26 capitals in squares and circles begin, and those that flags are made of."""


@lru_cache(maxsize=4096)
def invisible(char: str) -> bool:
    """Whether a character leaves no trace on the screen, or reorders what is around it: format and control characters, selectors, fillers."""
    code = ord(char)
    return char in _BLANKS or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or (unicodedata.category(char) in {"Cf", "Cc"} and char not in "\n\t")


def visible(name: str) -> str:
    """`name` on one line, without what cannot be seen."""
    line = " ".join(name.split())
    return line if line.isascii() and line.isprintable() else " ".join("".join(char for char in line if not invisible(char)).split())


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """What two names have in common that a reader could take for one another: compare it, do not show it."""
    plain = "".join(_boxed(char) for char in name if not invisible(char))
    bare = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.category(char).startswith("M"))
    # Capitals first: a Greek capital eta looks like an H, a small one like an n.
    folded = bare.translate(_LETTER).casefold().translate(_LETTER)
    return "".join(filter(str.isalnum, folded)).replace("vv", "w").replace("rn", "m")


def _boxed(char: str) -> str:
    first = next((first for first in _BOXED if first <= ord(char) < first + 26), None)
    return char if first is None else chr(ord("a") + ord(char) - first)
