"""What Steward says about its memory of a thread: `/steward context`, `/steward reset` and the message shortcut. A part of `messages.MESSAGES`."""

from __future__ import annotations

from typing import Final

MEMORY: Final[dict[str, dict[str, str]]] = {
    "memory_title": {"en": "What I hold about this thread", "zh": "我记住的这个消息列"},
    "memory_title_short": {"en": "What Steward holds", "zh": "Steward 记住的内容"},
    "memory_began": {"en": "It began with:", "zh": "开头是："},
    "memory_untitled": {"en": "(no words)", "zh": "（没有文字）"},
    "memory_carried": {
        "en": "Messages carried word by word: {verbatim}; earlier ones summarised: {covered}.",
        "zh": "逐字保留 {verbatim} 条消息，更早的 {covered} 条已写入摘要。",
    },
    "memory_carried_all": {"en": "Messages carried word by word: {verbatim}, which is all of them.", "zh": "共 {verbatim} 条消息，全部逐字保留。"},
    "memory_partial": {"en": "Only a part of this thread's earlier messages could be read.", "zh": "这个消息列更早的消息只读到了一部分。"},
    "memory_budget": {"en": "Room used", "zh": "空间使用"},
    "memory_budget_of": {"en": "{used} of {allotted} tokens", "zh": "{used} / {allotted} 个词元"},
    "memory_share_total": {"en": "in all", "zh": "合计"},
    "memory_share_system": {"en": "instructions", "zh": "系统说明"},
    "memory_share_long_term": {"en": "long-term memory", "zh": "长期记忆"},
    "memory_share_session": {"en": "this thread", "zh": "本消息列"},
    "memory_share_current": {"en": "current message", "zh": "当前消息"},
    "memory_share_answer": {"en": "kept free for the answer", "zh": "为回答预留"},
    "memory_summary": {"en": "Summary of what came before", "zh": "此前内容的摘要"},
    "memory_goals": {"en": "Goals", "zh": "目标"},
    "memory_constraints": {"en": "Constraints", "zh": "限制"},
    "memory_decisions": {"en": "Decisions", "zh": "决定"},
    "memory_actions": {"en": "Done", "zh": "已做的事"},
    "memory_state": {"en": "How things stand", "zh": "目前情况"},
    "memory_questions": {"en": "Still open", "zh": "未解决"},
    "memory_entities": {"en": "Who and what", "zh": "人与物"},
    "memory_said": {"en": "Who said what", "zh": "谁说了什么"},
    "memory_identifiers": {"en": "Kept exactly as written", "zh": "原样保留"},
    "memory_identifiers_more": {"en": "and {count} more that search in the thread still finds", "zh": "另有 {count} 项，可在消息列中搜索到"},
    "memory_facts": {"en": "Key facts", "zh": "关键事实"},
    "memory_facts_none": {"en": "No key facts yet.", "zh": "还没有关键事实。"},
    "memory_before": {"en": "was: {value}", "zh": "原为：{value}"},
    "memory_cut": {"en": "cut: {count} more characters do not fit here", "zh": "已截断：还有 {count} 个字符，这里放不下"},
    "memory_compacted": {
        "en": "Last summarised {when}, {by}: {before} → {after} tokens.",
        "zh": "上次整理：{when}，{by}：{before} → {after} 个词元。",
    },
    "memory_by_model": {"en": "by the model", "zh": "由模型撰写"},
    "memory_by_extract": {"en": "by picking sentences", "zh": "由程序摘取原句"},
    "memory_not_compacted": {"en": "Nothing had to be summarised yet.", "zh": "目前还不需要整理摘要。"},
    "memory_none": {"en": "I hold nothing about this thread.", "zh": "我没有关于这个消息列的记忆。"},
    "memory_none_here": {
        "en": ("I take part in no thread of this channel at present. To ask about one elsewhere, add a link to one of its messages."),
        "zh": "我目前没有参与这个频道的任何消息列。如要查看别处的消息列，请附上其中一条消息的链接。",
    },
    "memory_link": {"en": "That is not a link to a message that I can read.", "zh": "这不是我能识别的消息链接。"},
    "memory_not_yours": {
        "en": "I can only show or forget what you can read yourself, and I do not find you in that conversation.",
        "zh": "我只能显示或清空你自己可以看到的内容，而你似乎不在那个会话中。",
    },
    "memory_unsure": {
        "en": ("Slack did not tell me whether you may see this, so I show and change nothing. Please try again in a moment."),
        "zh": "Slack 没有告诉我你是否有权查看，因此没有显示或更改任何内容。请稍后再试。",
    },
    "memory_down": {"en": "My store does not answer. Nothing was changed. Please try again in a moment.", "zh": "存储没有响应，没有更改任何内容。请稍后再试。"},
    "memory_other": {"en": "Another thread of this conversation:", "zh": "本会话的其他消息列："},
    "memory_other_choose": {"en": "Choose a thread", "zh": "选择消息列"},
    "memory_reset_title": {"en": "Forget this thread?", "zh": "清空这个消息列的记忆？"},
    "memory_reset_what": {
        "en": (
            "I would forget everything said here so far (messages: {messages}, key facts: {facts}) and its summary. What is under way "
            "here is stopped, and open cards are closed. The messages themselves stay in Slack. This cannot be undone."
        ),
        "zh": (
            "我会忘记全部 {messages} 条消息、摘要和 {facts} 条关键事实。正在进行的任务会停止，未决定的卡片会关闭。消息本身仍保留在 Slack 中。此操作无法撤销。"
        ),
    },
    "memory_reset_ended": {
        "en": (
            "The conversation in this thread has expired here. What was kept of it for long-term memory (key facts: {facts}, and a summary) I would "
            "forget. The messages themselves stay in Slack. This cannot be undone."
        ),
        "zh": "这个消息列的对话在我这里已过期。我会忘记为长期记忆保留的摘要和 {facts} 条关键事实。消息本身仍保留在 Slack 中。此操作无法撤销。",
    },
    "memory_button_reset": {"en": "Forget this thread's memory", "zh": "清空这个消息列的记忆"},
    "memory_button_reset_short": {"en": "Forget…", "zh": "清空……"},
    "memory_button_forget": {"en": "Forget", "zh": "清空"},
    "memory_button_keep": {"en": "Keep", "zh": "保留"},
    "memory_confirm": {
        "en": "I will know nothing of what was said here before. This cannot be undone.",
        "zh": "我将不再知道这里之前说过的任何内容。此操作无法撤销。",
    },
    "memory_forgotten": {"en": "Done: I forget this thread's memory, and say so in the thread.", "zh": "好的：我会清空这个消息列的记忆，并在消息列中说明。"},
    "memory_forgotten_ended": {"en": "Done: what was kept of this thread is forgotten.", "zh": "好的：为这个消息列保留的内容已清空。"},
    "memory_kept": {"en": "Kept. Nothing was changed.", "zh": "已保留，没有更改任何内容。"},
    "reset_refused": {
        "en": "Guests, bots and people from other companies cannot clear a thread's memory.",
        "zh": "访客、机器人和其他公司的成员不能清空消息列的记忆。",
    },
    "reset_done": {
        "en": "I've forgotten this thread's conversation up to here (asked by {user}).",
        "zh": "我已忘记这个消息列到此为止的对话（由 {user} 提出）。",
    },
    "help_memory": {
        "en": (
            "`/steward context` shows what I hold about a thread, `/steward reset` makes me forget it. Both "
            "take a link to a message of the thread; in a message's menu, “What Steward holds” shows the same."
        ),
        "zh": (
            "`/steward context`（或 `上下文`）查看我记住的某个消息列的内容，`/steward reset`（或 "
            "`重置`）清空记忆。两者都可以附上该消息列中一条消息的链接；消息菜单中的“What Steward holds”也可以查看。"
        ),
    },
}
"""By key and language, as in `messages`."""
