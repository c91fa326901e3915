"""Reading on in a result that was too long to be shown at once.

The rest is kept for the request it came from only. When it is gone, a read is simply called again and the page taken
from its new result.
"""

from __future__ import annotations

from typing import Any, Final

from playground.demo_results import report
from playground.demo_transcript import Called, Transcript
from playground.demo_words import Language, say

READ_MORE: Final = "read_more"
_REPEATABLE: Final = frozenset({"read_thread", "list_orders", "list_channels", "search_messages", "fetch_url", "list_reminders", "get_order_status"})


def read_on(transcript: Transcript, start: int, language: Language) -> str | tuple[str, dict[str, Any]]:
    """For a request at position `start` to read on: the tool to call with its arguments, or what to say."""
    before = [call for call in transcript.calls if call.index < start]
    place = next((found for call in reversed(before) if (found := _place(call))), None)
    if place is None:
        return say("nothing_more", language)
    ident, page, pages = place
    if page > pages:
        return say("last_page", language)
    turn = [call for call in transcript.turn_calls if call.index > start]
    tries = [call for call in turn if call.name == READ_MORE]
    if not tries:
        return READ_MORE, {"result_id": ident, "page": page}
    if tries[-1].code != "NOT_FOUND" or len(tries) > 1:
        return report(tries[-1], language)
    origin = next((call for call in reversed(before) if call.result_id == ident), None)
    if origin is None or origin.name not in _REPEATABLE:
        return report(tries[-1], language)
    again = next((call for call in turn if call.name == origin.name), None)
    if again is None:
        return origin.name, origin.arguments
    return (READ_MORE, {"result_id": again.result_id, "page": page}) if again.result_id else report(again, language)


def _place(call: Called) -> tuple[str, int, int] | None:
    """Where to read on after a call: the result, the next page, and how many there are."""
    if call.name == READ_MORE and call.success and isinstance(call.data, dict) and isinstance(call.data.get("page"), int):
        of = call.data.get("of")
        return str(call.arguments.get("result_id", "")), call.data["page"] + 1, of if isinstance(of, int) else 0
    return (call.result_id, 2, call.pages) if call.result_id else None
