"""Every sentence Steward says in its own voice, by key and language.

Adding a language is adding a column. `pick` chooses it from what the person wrote, because a Slack locale says
which menus someone reads, not in which language they asked.
"""

from __future__ import annotations

import re
from typing import Final

from bot.messages_longterm import LONGTERM
from bot.messages_memory import MEMORY

_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]+")

MESSAGES: Final[dict[str, dict[str, str]]] = {
    "thinking": {"en": "is thinking…", "zh": "正在思考…"},
    "still_trying": {
        "en": "The model is not answering right now. I keep trying and will reply here.",
        "zh": "模型暂时没有响应。我会继续重试，并在这里回复你。",
    },
    "unavailable": {
        "en": "I could not reach the language model, so I have no answer. Please ask again in a few minutes.",
        "zh": "我无法连接语言模型，因此没有答案。请几分钟后再问一次。",
    },
    "rate_limited": {
        "en": "The language model is overloaded right now. Please ask again in a few minutes.",
        "zh": "语言模型目前负载过高。请几分钟后再问一次。",
    },
    "refused": {
        "en": "The language model declined to answer this. You could put the question differently.",
        "zh": "语言模型拒绝回答这个问题。你可以换一种问法。",
    },
    "overflow": {
        "en": "This conversation has become too long for the model. Please start a new thread with what matters.",
        "zh": "这个对话对模型来说太长了。请把要点发到一个新的消息列里再问我。",
    },
    "too_long": {
        "en": "Your message alone is longer than the model can read at once. Please send it in parts, or only what matters of it.",
        "zh": "您这条消息本身就超过了模型一次能读的长度。请分几次发送，或只发重点部分。",
    },
    "empty": {
        "en": "The language model gave an empty answer twice. Please ask again, perhaps in other words.",
        "zh": "语言模型两次都给出了空的回答。请换个说法再问一次。",
    },
    "invalid": {"en": "The language model's answer could not be read. Please ask again.", "zh": "无法读取语言模型的回答。请再问一次。"},
    "not_configured": {
        "en": "The language model refused our access. Someone who runs this bot needs to check its model settings.",
        "zh": "语言模型拒绝了我们的访问。请让维护这个机器人的人检查模型设置。",
    },
    "capped": {
        "en": "I stopped because this request used up its budget of steps before I was done. Ask for a smaller piece of it, or ask me to go on.",
        "zh": "这个请求在完成之前用完了步骤预算，所以我停下了。你可以把任务拆小，或者让我继续。",
    },
    "stopped": {"en": "Stopped, as you asked. Nothing else will be done for this request.", "zh": "已按你的要求停止，这个请求不会再执行任何操作。"},
    "stopped_under_way": {
        "en": "Stopped, as you asked. One action was already under way ({tool}); please check whether it took effect.",
        "zh": "已按你的要求停止。有一个操作已经在执行（{tool}），请检查它是否生效。",
    },
    "nothing_running": {"en": "Nothing is running here.", "zh": "这里没有正在进行的任务。"},
    "parked": {
        "en": "Something went wrong while I worked on this and trying again did not help, so I have set it aside. Please ask again; if it happens again, tell whoever runs this bot (reference {ref}).",
        "zh": "处理这条消息时出了错，重试也没有成功，所以我先把它搁置了。请再问一次；如果还是这样，请告诉维护这个机器人的人（编号 {ref}）。",
    },
    "too_big": {
        "en": "This request became too large for me to keep. Please ask again in smaller pieces.",
        "zh": "这个请求太大，我无法保存。请拆成小一些的部分再问。",
    },
    "busy": {
        "en": "Too much is waiting for an answer in this thread already, so I could not take this message. Please send it again when I have caught up.",
        "zh": "这个消息列里等待回答的内容已经太多，这条消息我没能接收。请等我处理完后再发一次。",
    },
    "bot_loop": {
        "en": "I have answered another bot several times in a row here, so I stop until a person writes.",
        "zh": "我在这里已经连续多次回复另一个机器人，所以先停下，等有人发言再继续。",
    },
    "foreign": {"en": "I only work for people of this workspace, so I cannot answer you here.", "zh": "我只为本工作区的成员服务，因此无法在这里回答你。"},
    "reminder": {"en": "⏰ Reminder:", "zh": "⏰ 提醒："},
    "reminder_moved": {"en": "I could not post it in {where}", "zh": "无法发送到 {where}"},
    "reminder_late": {"en": "it was due {when}", "zh": "原定 {when}"},
    "click_unknown": {"en": "This card is no longer valid.", "zh": "这张卡片已失效。"},
    "click_decided": {"en": "This was already decided: {state}.", "zh": "这件事已经有了决定：{state}。"},
    "click_expired": {"en": "This approval has expired. Ask again if you still want it.", "zh": "这个审批已过期。如仍需要，请重新提出。"},
    "click_requester": {"en": "Only the person who asked can decide on this.", "zh": "只有提出请求的人可以决定。"},
    "click_listed": {"en": "You are not on the list of people who may decide on this.", "zh": "你不在可以决定此事的人员名单中。"},
    "click_other": {"en": "Someone other than the person who asked must decide on this.", "zh": "必须由提出请求者以外的人来决定。"},
    "click_outsider": {"en": "Guests, bots and people from other companies cannot decide on this.", "zh": "访客、机器人和其他公司的成员不能决定此事。"},
    "click_again": {"en": "You have already approved this; a second person must approve it too.", "zh": "你已经批准过；还需要另一个人批准。"},
    "click_half": {"en": "Thank you. One more person must approve this before it runs.", "zh": "谢谢。还需要另一个人批准后才会执行。"},
    "click_edit_two": {
        "en": "This needs two people, so its values cannot be edited. Deny it and ask again with the right values.",
        "zh": "此事需要两个人批准，不能修改内容。请拒绝后用正确的内容重新提出。",
    },
    "click_always": {
        "en": "That kind of permission cannot be given here. Nothing was approved; you can still approve this one call.",
        "zh": "这里不能给予这种长期授权。没有批准任何操作；你仍然可以只批准这一次。",
    },
    "status_ok": {"en": "I am here and my store answers.", "zh": "我在线，存储正常。"},
    "status_store_down": {
        "en": "I am here, but my store does not answer. What you send me is delivered again by Slack until it does.",
        "zh": "我在线，但存储没有响应。在它恢复之前，Slack 会重新投递你的消息。",
    },
    "status_done": {"en": "done", "zh": "已完成"},
    "status_failed": {"en": "failed", "zh": "失败"},
    "status_denied": {"en": "denied", "zh": "已拒绝"},
    "status_expired": {"en": "expired", "zh": "已过期"},
    "status_superseded": {"en": "no longer valid, because the conversation went on", "zh": "已失效，因为对话已继续"},
    "status_unknown": {"en": "outcome unknown", "zh": "结果未知"},
    "status_stopped": {"en": "stopped", "zh": "已停止"},
    "status_approved": {"en": "approved", "zh": "已批准"},
    "status_started": {"en": "running", "zh": "执行中"},
    "answer_cut": {"en": "… cut here: {count} more characters", "zh": "……在此截断：后面还有 {count} 个字符"},
    "progress_thinking": {"en": "Thinking…", "zh": "正在思考…"},
    "progress_writing": {"en": "… still writing", "zh": "……还在写"},
    "home_hello": {"en": "Hello {name}", "zh": "{name}，你好"},
    "home_someone": {"en": "there", "zh": "朋友"},
    "home_what": {
        "en": "I am Steward, an assistant for your team. I answer in the thread, look things up with tools, and ask before I change anything.",
        "zh": "我是 Steward，你们团队的助手。我在消息列里回答，用工具查资料，改动任何东西之前都会先问你。",
    },
    "home_how_title": {"en": "How to use me", "zh": "怎么用我"},
    "home_how": {
        "en": "Mention me in a channel, or write to me directly. In a thread I am part of, just go on writing. Write “stop” to end what I am doing.",
        "zh": "在频道里提到我，或者直接给我发消息。我参与的消息列里，接着写就行。写“停止”可以让我停下手上的事。",
    },
    "home_approvals": {
        "en": "Before a change I show a card with exactly what would be done. Nothing happens until someone who may decide approves it. You can also deny it, say why, or edit the values first.",
        "zh": "改动之前，我会用卡片写清楚到底要做什么。有权决定的人批准之前，什么都不会发生。你也可以拒绝、说明原因，或者先修改内容。",
    },
    "home_commands": {"en": "Commands", "zh": "命令"},
    "help_commands": {
        "en": "`/steward status` says whether I am well. `/steward grants` lists what you allowed in advance, `/steward revoke` ends it. `/steward help` shows this text. `/memory` shows what I remember about you.",
        "zh": "`/steward status` 查看我是否正常，`/steward grants` 列出你预先允许的操作，`/steward revoke` 撤销，`/steward help` 显示这段说明。`/memory` 查看我记得的关于你的内容。",
    },
    "card_ask": {"en": "Approval needed", "zh": "需要审批"},
    "card_head": {"en": "{lead}: {title}", "zh": "{lead}：{title}"},
    "card_not_yet": {"en": "Nothing has been done yet.", "zh": "目前什么都还没有执行。"},
    "card_asked_by": {"en": "Asked by {user} · expires {when}", "zh": "{user} 提出 · {when} 过期"},
    "card_was_asked_by": {"en": "Asked by {user}", "zh": "{user} 提出"},
    "card_who_requester": {"en": "Only the person who asked can decide.", "zh": "只有提出请求的人可以决定。"},
    "card_who_users": {"en": "Who can decide: {users}", "zh": "可以决定的人：{users}"},
    "card_who_group": {"en": "Who can decide: {group}", "zh": "可以决定的人：{group}"},
    "card_who_two_people": {"en": "Two people must approve.", "zh": "需要两个人批准。"},
    "card_who_not_requester": {"en": "Someone other than the person who asked must approve.", "zh": "必须由提出请求者以外的人批准。"},
    "card_repaired": {
        "en": "The model's values were malformed and have been mended. Please read them with care.",
        "zh": "模型给出的内容格式有误，已作修复。请仔细核对。",
    },
    "card_no_rows": {"en": "It takes no values.", "zh": "这个操作没有参数。"},
    "card_empty": {"en": "(empty text)", "zh": "（空文本）"},
    "card_cut": {"en": "cut: {count} more characters — View all", "zh": "已截断：还有 {count} 个字符——请点“查看全部”"},
    "card_rows_cut": {"en": "cut: {count} more values — View all", "zh": "已截断：还有 {count} 项——请点“查看全部”"},
    "card_reason": {"en": "Why it was denied", "zh": "拒绝的原因"},
    "card_reason_cut": {"en": "cut: {count} more characters", "zh": "已截断：还有 {count} 个字符"},
    "card_half": {"en": "One of two people has approved. One more must approve before it runs.", "zh": "两人中已有一人批准，还需要另一个人批准后才会执行。"},
    "card_fingerprint": {"en": "Fingerprint {digest} · {tool}", "zh": "指纹 {digest} · {tool}"},
    "card_vote_approve": {"en": "Approved by {user}, {when}", "zh": "{user} 批准，{when}"},
    "card_vote_deny": {"en": "Denied by {user}, {when}", "zh": "{user} 拒绝，{when}"},
    "card_vote_edit": {"en": "Edited and approved by {user}, {when}", "zh": "{user} 修改并批准，{when}"},
    "card_granted": {
        "en": "Allowed by a standing permission of {user}, until {when}. `/steward grants` shows and revokes it.",
        "zh": "由 {user} 的长期授权允许，有效期至 {when}。用 `/steward grants` 查看和撤销。",
    },
    "card_always": {
        "en": "{user} also allows such calls of their own in this channel until {when}. `/steward grants` shows and revokes this.",
        "zh": "{user} 还允许自己在本频道的同类操作，有效期至 {when}。用 `/steward grants` 查看和撤销。",
    },
    "card_always_same": {"en": "As long as these stay the same: {names}", "zh": "前提是以下内容保持不变：{names}"},
    "card_always_any": {"en": "With any values.", "zh": "内容不限。"},
    "card_button_always": {"en": "Always allow…", "zh": "总是允许……"},
    "card_button_approve": {"en": "Approve", "zh": "批准"},
    "card_button_deny": {"en": "Deny", "zh": "拒绝"},
    "card_button_deny_reason": {"en": "Deny with a reason", "zh": "拒绝并说明原因"},
    "card_button_edit": {"en": "Edit", "zh": "修改"},
    "card_button_view": {"en": "View all", "zh": "查看全部"},
    "card_state_approved": {"en": "☑️ Approved, not run yet", "zh": "☑️ 已批准，尚未执行"},
    "card_state_started": {"en": "⏳ Running", "zh": "⏳ 执行中"},
    "card_state_done": {"en": "✅ Done", "zh": "✅ 已完成"},
    "card_state_failed": {"en": "⚠️ Failed", "zh": "⚠️ 失败"},
    "card_state_denied": {"en": "🚫 Denied", "zh": "🚫 已拒绝"},
    "card_state_expired": {"en": "⌛ Expired", "zh": "⌛ 已过期"},
    "card_state_superseded": {"en": "➖ No longer valid", "zh": "➖ 已失效"},
    "card_state_unknown": {"en": "❓ Outcome unknown", "zh": "❓ 结果未知"},
    "card_state_stopped": {"en": "⏹️ Stopped", "zh": "⏹️ 已停止"},
    "card_outcome_approved": {"en": "It was approved and has not run yet.", "zh": "已批准，还没有执行。"},
    "card_outcome_started": {"en": "It is running now.", "zh": "正在执行。"},
    "card_outcome_done": {"en": "It was carried out.", "zh": "已经执行完成。"},
    "card_outcome_failed": {"en": "It was not carried out: the attempt failed.", "zh": "没有执行成功。"},
    "card_outcome_denied": {"en": "It was not carried out.", "zh": "没有执行。"},
    "card_outcome_expired": {"en": "Nobody decided in time. It was not carried out.", "zh": "没有人及时决定，没有执行。"},
    "card_outcome_superseded": {"en": "The conversation went on instead. It was not carried out.", "zh": "对话已经继续，没有执行。"},
    "card_outcome_unknown": {
        "en": "It may or may not have taken effect. Please check before you try again.",
        "zh": "可能已经生效，也可能没有。再次尝试之前请先核实。",
    },
    "card_outcome_stopped": {"en": "It was stopped before it ran. It was not carried out.", "zh": "在执行之前被停止，没有执行。"},
    "click_changed": {
        "en": "What this action does has changed since the card was shown, so nothing was done. Please ask for it again.",
        "zh": "这个操作在卡片显示之后发生了变化，所以什么都没有执行。请重新提出。",
    },
    "ask_head": {"en": "A question for you", "zh": "有个问题想问你"},
    "ask_how": {"en": "Choose, or write your answer below in the thread.", "zh": "请选择，或者直接在消息列里写下你的回答。"},
    "ask_answered": {"en": "✅ Answered:", "zh": "✅ 已回答："},
    "ask_button_words": {"en": "Answer in words", "zh": "用文字回答"},
    "ask_state_done": {"en": "✅ Answered", "zh": "✅ 已回答"},
    "ask_state_superseded": {"en": "➖ You wrote on instead", "zh": "➖ 你已直接回复"},
    "ask_state_expired": {"en": "⌛ Nobody answered in time", "zh": "⌛ 没有人及时回答"},
    "ask_state_stopped": {"en": "⏹️ Stopped", "zh": "⏹️ 已停止"},
    "ask_state_failed": {"en": "⚠️ The question was withdrawn", "zh": "⚠️ 问题已撤回"},
    "form_answer_title": {"en": "Your answer", "zh": "你的回答"},
    "form_answer_label": {"en": "Answer", "zh": "回答"},
    "form_answer_submit": {"en": "Send", "zh": "发送"},
    "view_title": {"en": "Everything", "zh": "全部内容"},
    "view_close": {"en": "Close", "zh": "关闭"},
    "view_left_out": {"en": "cut: {count} more characters do not fit here either", "zh": "已截断：还有 {count} 个字符，这里也放不下"},
    "form_edit_title": {"en": "Edit and approve", "zh": "修改并批准"},
    "form_edit_submit": {"en": "Approve as edited", "zh": "按修改批准"},
    "form_cancel": {"en": "Back", "zh": "返回"},
    "form_deny_title": {"en": "Deny", "zh": "拒绝"},
    "form_deny_submit": {"en": "Deny", "zh": "拒绝"},
    "form_deny_label": {"en": "Why not?", "zh": "为什么不行？"},
    "form_deny_hint": {"en": "The person who asked and the model will read this.", "zh": "提出请求的人和模型会看到这段话。"},
    "form_always_title": {"en": "Always allow", "zh": "总是允许"},
    "form_always_submit": {"en": "Approve and allow", "zh": "批准并允许"},
    "always_what": {
        "en": "This call is approved now. After that I do such calls *without asking*:\n• only when {user} asks for them,\n• only {where},\n• only with the values that you leave at “exactly this value” below,\n• only until the time you choose.\nEverything else is asked about as before. `/steward grants` shows what you allowed and ends it at any time.",
        "zh": "现在批准这一次。之后的同类操作我会*直接执行，不再询问*：\n• 仅限 {user} 提出的请求，\n• 仅限{where}，\n• 下面选择“必须与此相同”的内容必须完全一致，\n• 仅在你选择的时间之内。\n其他情况仍会照常询问。用 `/steward grants` 可以随时查看和撤销。",
    },
    "always_here": {"en": "in {channel}, in any thread", "zh": " {channel} 中的所有消息列"},
    "always_direct": {"en": "in this conversation", "zh": "本对话"},
    "always_values": {"en": "{name}: what may it be?", "zh": "{name}：可以是什么？"},
    "always_exact": {"en": "Exactly this value", "zh": "必须与此相同"},
    "always_any": {"en": "Any value", "zh": "任何内容"},
    "always_more": {
        "en": "{count} more values do not fit into this form and must stay exactly as they are.",
        "zh": "还有 {count} 项放不进这个表单，必须保持完全一致。",
    },
    "always_for": {"en": "For how long?", "zh": "多长时间？"},
    "always_hours": {"en": "{count} h — until {until}", "zh": "{count} 小时——至 {until}"},
    "always_days": {"en": "{count} d — until {until}", "zh": "{count} 天——至 {until}"},
    "always_minutes": {"en": "{count} min — until {until}", "zh": "{count} 分钟——至 {until}"},
    "always_choose": {"en": "Please choose one of these times.", "zh": "请选择其中一个时间。"},
    "grants_title": {"en": "What you allowed in advance: {count}", "zh": "你预先允许的操作：{count} 项"},
    "grants_none": {
        "en": "You have allowed nothing in advance: I ask before every change. A card's “Always allow…” button changes that for one kind of call.",
        "zh": "你没有预先允许任何操作：每次改动之前我都会询问。卡片上的“总是允许……”按钮可以为某一类操作改变这一点。",
    },
    "grants_where": {"en": "{where} · until {until} · {used}", "zh": "{where} · 有效期至 {until} · {used}"},
    "grants_used_never": {"en": "not used yet", "zh": "尚未使用"},
    "grants_used_once": {"en": "used once", "zh": "已使用 1 次"},
    "grants_used": {"en": "used {count} times", "zh": "已使用 {count} 次"},
    "grants_last": {"en": "last {when}", "zh": "最近一次 {when}"},
    "grants_direct": {"en": "our direct conversation", "zh": "我们的私聊"},
    "grants_any": {"en": "{name}: any value", "zh": "{name}：任何内容"},
    "grants_same": {"en": "{name}: {value}", "zh": "{name}：{value}"},
    "grants_more_values": {"en": "… and {count} more", "zh": "……还有 {count} 项"},
    "grants_more": {
        "en": "Page {page} of {pages}. `/steward grants {next}` shows the next one.",
        "zh": "第 {page} 页，共 {pages} 页。`/steward grants {next}` 显示下一页。",
    },
    "grants_how": {
        "en": "`/steward revoke {id}` ends one as its button does, `/steward revoke all` ends all. The next such call is asked about again.",
        "zh": "`/steward revoke {id}` 与按钮作用相同，`/steward revoke all` 撤销全部。之后的同类操作会重新询问。",
    },
    "grants_revoke": {"en": "Revoke", "zh": "撤销"},
    "grants_revoked": {"en": "Revoked: {title}. I ask before the next such call.", "zh": "已撤销：{title}。下一次同类操作之前我会询问。"},
    "grants_revoked_all": {"en": "Revoked: all {count}. I ask before every change again.", "zh": "已全部撤销，共 {count} 项。每次改动之前我都会重新询问。"},
    "grants_revoked_only": {
        "en": "Revoked: the one permission you gave. I ask before every change again.",
        "zh": "已撤销仅有的 1 项授权。每次改动之前我都会重新询问。",
    },
    "grants_revoked_none": {
        "en": "There was nothing to revoke: you have allowed nothing in advance. I ask before every change.",
        "zh": "没有可以撤销的授权：你没有预先允许任何操作。每次改动之前我都会询问。",
    },
    "grants_unknown": {"en": "You have no such permission any more. Nothing was changed.", "zh": "你没有这项授权，或者它已经失效。没有改变任何内容。"},
    "grants_several": {"en": "Several of your permissions begin with these letters. Give more of them.", "zh": "有多项授权以这些字符开头，请多写几个字符。"},
    "grants_which": {
        "en": "Say which one: `/steward revoke` and the letters shown in `/steward grants`, or `/steward revoke all`.",
        "zh": "请说明是哪一项：`/steward revoke` 加上 `/steward grants` 中显示的字符，或者 `/steward revoke all`。",
    },
    "grants_full": {
        "en": "You have allowed as many kinds of calls as one person may. Revoke some with `/steward grants` first; until then I go on asking.",
        "zh": "你预先允许的操作已达到上限。请先用 `/steward grants` 撤销一些；在此之前我会继续询问。",
    },
    "grants_down": {
        "en": "My store does not answer, so this could not be looked up or changed. I go on asking before every change. Please try again in a moment.",
        "zh": "存储没有响应，无法查看或更改授权。每次改动之前我仍会询问。请稍后再试。",
    },
    "form_kept": {"en": "cannot be edited here and stays as it is", "zh": "无法在这里修改，保持不变"},
    "form_kept_more": {"en": "{count} more values do not fit into this form and stay as they are.", "zh": "还有 {count} 项放不进这个表单，保持不变。"},
    "form_nothing": {"en": "There is nothing to edit: it takes no values.", "zh": "没有可以修改的内容：这个操作没有参数。"},
    "form_yes": {"en": "Yes", "zh": "是"},
    "form_no": {"en": "No", "zh": "否"},
    "form_hint_lines": {"en": "One per line.", "zh": "每行一个。"},
    "form_hint_json": {"en": "Written as JSON.", "zh": "用 JSON 格式填写。"},
    "form_hint_integer": {"en": "A whole number.", "zh": "整数。"},
    "form_hint_number": {"en": "A number.", "zh": "数字。"},
    "form_error_missing": {"en": "This is needed.", "zh": "这一项必填。"},
    "form_error_too_short": {"en": "Too short: at least {limit} characters.", "zh": "太短：至少 {limit} 个字符。"},
    "form_error_too_long": {"en": "Too long: at most {limit} characters.", "zh": "太长：最多 {limit} 个字符。"},
    "form_error_few": {"en": "Too few: at least {limit}.", "zh": "太少：至少 {limit} 项。"},
    "form_error_many": {"en": "Too many: at most {limit}.", "zh": "太多：最多 {limit} 项。"},
    "form_error_integer": {"en": "Please write a whole number, such as 12.", "zh": "请填写整数，例如 12。"},
    "form_error_number": {"en": "Please write a number, such as 12.5.", "zh": "请填写数字，例如 12.5。"},
    "form_error_boolean": {"en": "Please choose yes or no.", "zh": "请选择是或否。"},
    "form_error_min": {"en": "Must be {limit} or more.", "zh": "不能小于 {limit}。"},
    "form_error_above": {"en": "Must be more than {limit}.", "zh": "必须大于 {limit}。"},
    "form_error_max": {"en": "Must be {limit} or less.", "zh": "不能大于 {limit}。"},
    "form_error_below": {"en": "Must be less than {limit}.", "zh": "必须小于 {limit}。"},
    "form_error_choice": {"en": "Must be one of: {limit}.", "zh": "只能是以下之一：{limit}。"},
    "form_error_pattern": {"en": "Does not have the expected form.", "zh": "格式不对。"},
    "form_error_date": {
        "en": "Please write a date or time such as 2026-11-30 or 2026-11-30T09:00.",
        "zh": "请填写日期或时间，例如 2026-11-30 或 2026-11-30T09:00。",
    },
    "form_error_json": {"en": "This is not valid JSON of the expected form.", "zh": "不是符合要求的 JSON。"},
    "form_error_other": {"en": "Not accepted: {reason}", "zh": "不能接受：{reason}"},
    "form_error_rule": {"en": "Not allowed by the rules of this workspace. {reason}", "zh": "工作区的规则不允许。{reason}"},
    "form_error_extra": {"en": "This value is not known here.", "zh": "这里不认识这一项。"},
    **MEMORY,
    **LONGTERM,
}


def pick(text: str, locale: str = "en") -> str:
    """The language to answer `text` in: `zh` when Chinese characters weigh at least as much as other words, `en` for other words, else from `locale`.

    A Chinese name in an English sentence does not make it Chinese, nor does a product name in a Chinese one make it English.
    """
    han, words = len(_HAN.findall(text)), len(_WORD.findall(text))
    if han and han >= words and not _KANA.search(text):
        return "zh"
    if han or words:
        return "en"
    return "zh" if locale.lower().startswith("zh") else "en"


def say(key: str, language: str, **values: str) -> str:
    """The sentence `key` in `language` (English when there is no such column). Raises `KeyError` for an unknown key."""
    row = MESSAGES[key]
    return row.get(language, row["en"]).format(**values)
