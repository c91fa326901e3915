"""What Steward says when somebody acts on their long-term memory: confirmations, refusals, forms, help, the App Home. A part of `messages_longterm`."""

from __future__ import annotations

from typing import Final

ACTS: Final[dict[str, dict[str, str]]] = {
    "lt_down": {
        "en": "My long-term memory does not answer. Nothing was changed. Please try again in a moment.",
        "zh": "我的长期记忆没有响应，没有更改任何内容。请稍后再试。",
    },
    "lt_down_home": {"en": "My long-term memory does not answer right now.", "zh": "我的长期记忆目前没有响应。"},
    "lt_unsure": {
        "en": "Slack did not tell me who you are, so I show and change nothing. Please try again in a moment.",
        "zh": "Slack 没有告诉我你的身份，因此没有显示或更改任何内容。请稍后再试。",
    },
    "lt_foreign": {
        "en": "I keep memories only for people of this workspace, so there are none of yours here.",
        "zh": "我只为本工作区的成员保存记忆，因此这里没有你的记忆。",
    },
    "lt_off": {"en": "Long-term memory is switched off here.", "zh": "这里没有启用长期记忆。"},
    "lt_not_there": {"en": "There is no such memory of yours (any more).", "zh": "你没有这条记忆（或已被忘记）。"},
    "lt_working": {"en": "Working on it…", "zh": "正在处理……"},
    "lt_failed": {"en": "That did not work. Please try again in a moment.", "zh": "没有成功，请稍后再试。"},
    "lt_add_what": {"en": "Say what to remember: `/memory add I am allergic to peanuts`.", "zh": "请写明要记住什么：`/memory 添加 我对花生过敏`。"},
    "lt_add_long": {"en": "That is too long for one memory: at most {limit} characters.", "zh": "一条记忆最多 {limit} 个字符，太长了。"},
    "lt_added_add": {"en": "Remembered:", "zh": "已记住："},
    "lt_added_reinforce": {"en": "I knew that already:", "zh": "我已经知道："},
    "lt_added_update": {"en": "Changed to:", "zh": "已更新为："},
    "lt_added_supersede": {"en": "Remembered, in place of what was so before:", "zh": "已记住，并取代了之前的内容："},
    "lt_added_ask": {"en": "Noted, but it does not fit with this:", "zh": "已记下，但与这一条矛盾："},
    "lt_disputed_notice": {
        "en": "What you just told me does not fit with something I remember about you. Type `/memory` to say which holds; until then I use the older one.",
        "zh": "你刚才告诉我的与我记得的一条内容矛盾。请输入 `/memory` 说明以哪条为准；在此之前我仍按旧的那条。",
    },
    "lt_refused": {"en": "I did not remember that.", "zh": "我没有记住这一条。"},
    "lt_refused_secret": {
        "en": "I do not remember passwords, keys, card or identity numbers. Nothing was kept.",
        "zh": "我不会记住密码、密钥、银行卡号或证件号码。没有保存任何内容。",
    },
    "lt_refused_authority": {
        "en": "I do not remember rights or permissions: who may do what is decided by buttons and settings, not by memory. Nothing was kept.",
        "zh": "我不会记住权限：谁可以做什么由按钮和设置决定，而不是由记忆决定。没有保存任何内容。",
    },
    "lt_refused_anothers": {
        "en": "That is about somebody else's private life, so I do not remember it.",
        "zh": "这是别人的私事，我不会记住。",
    },
    "lt_refused_sensitive": {
        "en": "That is of a sensitive kind, and I keep such things only on an explicit request. Nothing was kept.",
        "zh": "这属于敏感信息，只有在你明确要求时我才会保存。没有保存任何内容。",
    },
    "lt_refused_not_said": {"en": "Those are not your own words, so I do not remember them.", "zh": "这不是你自己的话，我不会记住。"},
    "lt_refused_not_meant": {
        "en": "That reads like a question, an example or a joke, so I do not remember it.",
        "zh": "这看起来像提问、举例或玩笑，我不会记住。",
    },
    "lt_refused_nothing": {"en": "I find nothing lasting in that to remember.", "zh": "这里面没有可以长期记住的内容。"},
    "lt_refused_paused": {
        "en": "Memory is paused, so nothing was kept. `/memory resume` ends the pause.",
        "zh": "记忆已暂停，没有保存任何内容。输入 `/memory 恢复` 可以继续。",
    },
    "lt_forget_what": {
        "en": "Say what to forget: `/memory forget peanuts`, or `/memory forget all`.",
        "zh": "请写明要忘记什么：`/memory 忘记 花生`，或 `/memory 忘记 全部`。",
    },
    "lt_forget_which": {"en": "Which of these should I forget?", "zh": "要忘记哪一条？"},
    "lt_forget_one": {"en": "Forget this?", "zh": "忘记这一条？"},
    "lt_forgotten": {"en": "Forgotten.", "zh": "已忘记。"},
    "lt_kept": {"en": "Kept. Nothing was changed.", "zh": "已保留，没有更改任何内容。"},
    "lt_changed": {"en": "Changed.", "zh": "已更改。"},
    "lt_settled": {"en": "Thank you, I go by that.", "zh": "谢谢，我会照此为准。"},
    "lt_all_title": {"en": "Forget everything?", "zh": "全部忘记？"},
    "lt_all_what": {
        "en": (
            "I delete everything I remember about you ({total}), its history, and the agreements you told me for channels. Your settings stay. "
            "The messages in Slack stay. This cannot be undone."
        ),
        "zh": "我会删除关于你的全部记忆（{total} 条）、变更记录，以及你在频道中告诉我的约定。你的设置和 Slack 中的消息会保留。此操作无法撤销。",
    },
    "lt_all_word": {"en": "forget all", "zh": "全部忘记"},
    "lt_all_label": {"en": "To confirm, type: {word}", "zh": "请输入以确认：{word}"},
    "lt_all_wrong": {"en": "Please type exactly: {word}", "zh": "请准确输入：{word}"},
    "lt_all_done": {"en": "Done: everything I remembered about you is deleted ({count}).", "zh": "好的：关于你的全部记忆已删除（{count} 条）。"},
    "lt_all_asked": {"en": "Please confirm in the window that opened.", "zh": "请在弹出的窗口中确认。"},
    "lt_window_late": {"en": "The window did not open in time. Please try again.", "zh": "窗口没有及时打开，请再试一次。"},
    "lt_edit_title": {"en": "Edit a memory", "zh": "修改记忆"},
    "lt_edit_label": {"en": "What I should remember", "zh": "我应该记住的内容"},
    "lt_audience_title": {"en": "Where I may use it", "zh": "使用范围"},
    "lt_audience_label": {"en": "I may use this memory", "zh": "这条记忆可以用于"},
    "lt_choice_private": {"en": "Only in direct messages with you", "zh": "仅与你的私信"},
    "lt_choice_channel": {"en": "Also in the channel it came from", "zh": "也用于它来自的频道"},
    "lt_choice_workspace": {"en": "Anywhere in this workspace", "zh": "整个工作区"},
    "lt_exported": {"en": "I sent you a file with everything I remember, in our direct messages.", "zh": "我已通过私信把包含全部记忆的文件发给你。"},
    "lt_export_comment": {"en": "Everything I remember about you, as you asked.", "zh": "这是你要求导出的全部记忆。"},
    "lt_export_failed": {"en": "I could not send you the file. Please try again in a moment.", "zh": "文件没有发送成功，请稍后再试。"},
    "lt_paused": {
        "en": "Paused: I learn nothing about you and use nothing I know. What I remember stays until you delete it.",
        "zh": "已暂停：我不会再记关于你的内容，也不会使用已有的记忆。已有记忆会保留，直到你删除。",
    },
    "lt_resumed": {"en": "Resumed: I learn from what you tell me again.", "zh": "已恢复：我会重新从你说的话中学习。"},
    "lt_undone": {"en": "Taken back.", "zh": "已撤销。"},
    "lt_not_undone": {
        "en": "That cannot be taken back: it is not yours, was taken back already, or things have gone on since.",
        "zh": "无法撤销：它不属于你、已经撤销过，或之后又有了变化。",
    },
    "lt_undo_what": {
        "en": "Say which change: `/memory undo <id>`. `/memory history` shows the ids.",
        "zh": "请写明要撤销哪一项：`/memory 撤销 <编号>`，编号见 `/memory 历史`。",
    },
    "lt_language_set": {"en": "I write my messages to you in English.", "zh": "我会用中文给你发消息。"},
    "lt_language_auto": {"en": "I go by the language you write in.", "zh": "我会按你使用的语言回复。"},
    "lt_unknown": {"en": "I do not know that word.", "zh": "我不认识这个命令。"},
    "lt_help": {
        "en": (
            "`/memory` shows what I remember about you, with buttons to forget, edit or limit each thing.\n"
            "`/memory search peanuts` looks in it. `/memory add …` keeps something. `/memory forget peanuts` or `/memory forget all` deletes.\n"
            "`/memory why` shows what my last answers here used. `/memory room` shows this channel's agreements.\n"
            "`/memory history` shows changes, `/memory undo <id>` takes one back. `/memory export` sends you everything as a file.\n"
            "`/memory pause` stops learning and use, `/memory resume` ends that. `/memory language auto|en|zh` sets the language of my messages."
        ),
        "zh": (
            "`/memory` 查看我记得的关于你的事，可以逐条忘记、修改或限制使用范围。\n"
            "`/memory 搜索 花生` 搜索。`/memory 添加 ……` 记住一件事。`/memory 忘记 花生` 或 `/memory 忘记 全部` 删除。\n"
            "`/memory 为什么` 查看最近的回答用到了什么。`/memory 频道` 查看本频道的约定。\n"
            "`/memory 历史` 查看变更，`/memory 撤销 <编号>` 撤销一项。`/memory 导出` 把全部内容作为文件发给你。\n"
            "`/memory 暂停` 停止学习和使用，`/memory 恢复` 继续。`/memory 语言 自动|英文|中文` 设置我使用的语言。"
        ),
    },
    "lt_home_memories": {"en": "What I remember about you", "zh": "我记得的关于你的事"},
    "lt_home_settings": {"en": "Settings", "zh": "设置"},
    "lt_home_learning_on": {"en": "Memory is on: I learn from what you tell me, and use it.", "zh": "记忆已开启：我会从你说的话中学习并使用。"},
    "lt_home_learning_off": {"en": "Memory is paused: I learn nothing and use nothing.", "zh": "记忆已暂停：我不学习，也不使用。"},
    "lt_home_language": {"en": "Language of my messages to you", "zh": "我给你发消息使用的语言"},
    "lt_language_choose": {"en": "Choose a language", "zh": "选择语言"},
    "lt_language_option_auto": {"en": "Automatic", "zh": "自动"},
    "lt_language_option_en": {"en": "English", "zh": "English"},
    "lt_language_option_zh": {"en": "中文", "zh": "中文"},
    "lt_home_reminders": {"en": "Reminders", "zh": "提醒"},
    "lt_home_reminders_none": {"en": "No open reminders.", "zh": "没有待办提醒。"},
    "lt_home_reminders_down": {"en": "Your reminders could not be read right now.", "zh": "目前无法读取提醒。"},
    "lt_home_more": {"en": "and {count} more", "zh": "另有 {count} 条"},
    "lt_home_approvals": {"en": "Recent approvals", "zh": "最近的审批"},
    "lt_home_approvals_none": {"en": "No recent approvals.", "zh": "最近没有审批。"},
    "lt_home_open": {"en": "open", "zh": "打开"},
    "lt_stats_title": {"en": "Long-term memory of this workspace, numbers only", "zh": "本工作区的长期记忆（仅数字）"},
    "lt_stats_refused": {"en": "Only admins and owners of this workspace can see these numbers.", "zh": "只有本工作区的管理员和所有者可以查看这些数字。"},
}
"""By key and language, as in `messages`."""
