"""The address of a message in Slack, made from what is known, without asking."""

from __future__ import annotations

from memory.keys import Thread


def permalink(workspace_url: str, thread: Thread, ts: str) -> str:
    """Where the message `ts` of a thread is read; empty when the workspace's address (`https://name.slack.com/`) or the message is not known."""
    if not workspace_url or not ts or not thread.channel_id:
        return ""
    link = f"{workspace_url.rstrip('/')}/archives/{thread.channel_id}/p{ts.replace('.', '')}"
    return f"{link}?thread_ts={thread.thread_ts}&cid={thread.channel_id}" if thread.thread_ts and thread.thread_ts != ts else link
