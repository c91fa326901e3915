"""`read_more`: the rest of a result that was too large to be shown at once, from what is kept for the run; nothing is run again."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from memory.toolstate import ToolState, ToolStateDown
from tools.decorator import tool
from tools.result import ErrorCode, Suggestion
from tools.tool import ModelRetry, ToolContext, ToolFailed


@tool(effect="read", group="conversation", always=True, timeout=5, title="Read more")
async def read_more(
    ctx: ToolContext,
    result_id: Annotated[str, Field(description="The result_id that came with the part already shown", min_length=1, max_length=200)],
    page: Annotated[int, Field(description="Which page to read; 1 is the part already shown", ge=1, le=1000)] = 2,
) -> dict[str, Any]:
    """Read another page of an earlier result of this request that was too large to be shown at once.

    Use it when the part shown is not enough; the earlier result names its result_id and number of pages. Returns that page's content.
    """
    state = ctx.resources.get("tool_state")
    if not isinstance(state, ToolState):
        raise ToolFailed("Nothing more is kept of earlier results here.", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.USE_OTHER_TOOL)
    try:
        text, count = await state.page(ctx.run_id, result_id, page)
    except ToolStateDown as error:
        raise ToolFailed("The kept result cannot be reached just now.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY) from error
    if count == 0:
        raise ToolFailed(
            f"Nothing is kept under {result_id!r} in this request. Call the tool again if its result is still needed.",
            code=ErrorCode.NOT_FOUND,
            suggestion=Suggestion.USE_OTHER_TOOL,
        )
    if text is None:
        raise ModelRetry(f"There is no page {page}: the result has {count} pages.")
    return {"page": page, "of": count, "content": json.loads(text)}
