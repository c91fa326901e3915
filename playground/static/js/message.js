// One message as a row: avatar, name, time, text or blocks, files, reactions, the thread's summary and the toolbar.

import { h, icon, iconButton } from "./dom.js";
import { renderAttachments, renderBlocks } from "./blocks.js";
import { emojiOf, QUICK } from "./emoji.js";
import { renderFiles } from "./files.js";
import { renderMrkdwn } from "./mrkdwn.js";
import { fullOf, narrowTimeOf, timeOf } from "./time.js";
import { statusLine } from "./status.js";

const SYSTEM = new Set([
  "channel_join",
  "channel_leave",
  "group_join",
  "group_leave",
  "channel_topic",
  "channel_purpose",
  "channel_name",
  "channel_archive",
  "channel_unarchive",
]);

/** A square with the initials of a person or an app, in their colour. */
export function avatar(user, small = false) {
  const name = user.real_name || user.name || "?";
  const words = name.trim().split(/\s+/);
  const initials = /\p{Script=Han}/u.test(name)
    ? [...name][0]
    : words
        .slice(0, 2)
        .map((word) => [...word][0] ?? "")
        .join("")
        .toUpperCase();
  const node = h(
    "span",
    { class: `avatar${small ? " small" : ""}${user.is_bot ? " bot" : ""}`, "aria-hidden": "true" },
    user.glyph ?? (user.is_bot ? icon("spark") : initials),
  );
  const color = `#${String(user.color ?? "").replace(/^#/, "")}`;
  if (CSS.supports("color", color)) node.style.setProperty("--avatar", color);
  return node;
}

/** Who wrote a message, with the name and picture a bot may have chosen for it. */
export function authorOf(store, message) {
  const user = store.user(message.user);
  const glyph = message.icons?.emoji ? emojiOf(message.icons.emoji.replaceAll(":", "")) : null;
  const isBot = user.is_bot || Boolean(message.bot_id);
  const name = message.username ?? (message.user ? user.real_name || user.name : (message.bot_profile?.name ?? "App"));
  return { ...user, real_name: name, is_bot: isBot, glyph };
}

function badges(ui, author) {
  return [
    author.is_bot && h("span", { class: "badge" }, "APP"),
    author.is_guest && h("span", { class: "badge soft" }, "guest"),
    author.team_id && ui.store.team.id && author.team_id !== ui.store.team.id && h("span", { class: "badge soft" }, "external"),
  ];
}

/** The content of a message: blocks if it has them, else its text; then attachments and files. */
export function renderContent(ui, message) {
  const surface = ui.messageSurface(message);
  const body = h("div", { class: `content${message.subtype === "me_message" ? " me-message" : ""}` });
  if (message.blocks?.length) body.append(renderBlocks(surface, message.blocks));
  else if (message.text) body.append(h("div", { class: "text" }, renderMrkdwn(ui, message.text)));
  if (message.edited && !(message.bot_id || message.streaming_state))
    lastLine(body).append(h("span", { class: "muted edited", title: fullOf(message.edited.ts) }, "(edited)"));
  if (message.streaming_state === "in_progress")
    textEnd(body).append(h("span", { class: "stream-caret", role: "img", "aria-label": "still writing" }));
  if (message.streaming_state === "errored") body.append(h("div", { class: "muted" }, "This answer broke off."));
  if (message.attachments?.length) body.append(renderAttachments(surface, message.attachments));
  const files = renderFiles(ui, message.files);
  if (files) body.append(files);
  return body;
}

// Where a growing answer is being written: the end of its last paragraph, item or cell.
function textEnd(body) {
  let node = body;
  while (node.lastElementChild?.matches("p, li, ul, ol, pre, code:only-child, blockquote, .markdown, .rich-text, .rich-section, .text"))
    node = node.lastElementChild;
  return node;
}

// Where "(edited)" goes: the last line of text, or a line of its own after a list or code.
function lastLine(body) {
  const last = body.querySelector(":scope > .rich-text:last-child > .rich-section:last-child");
  return last ?? (body.lastElementChild?.matches(".text") ? body.lastElementChild : body);
}

function reactions(ui, message) {
  if (!message.reactions?.length) return null;
  return h(
    "div",
    { class: "reactions" },
    message.reactions.map((reaction) => {
      const mine = (reaction.users ?? []).includes(ui.store.me);
      const names = (reaction.users ?? []).map((id) => ui.store.user(id).real_name).join(", ");
      return h(
        "button",
        {
          type: "button",
          class: `reaction${mine ? " mine" : ""}`,
          "aria-pressed": String(mine),
          "data-reaction": reaction.name,
          "data-focus-key": `reaction/${reaction.name}`,
          "aria-label": `${reaction.name}, ${reaction.count}: ${names}`,
          title: `${names} reacted with :${reaction.name}:`,
          onclick: () => ui.react(message, reaction.name, mine),
        },
        h("span", { class: "emoji" }, emojiOf(reaction.name) ?? `:${reaction.name}:`),
        String(reaction.count),
      );
    }),
    h(
      "button",
      {
        type: "button",
        class: "reaction add",
        "aria-label": "Add a reaction",
        "data-focus-key": "reaction/+",
        onclick: (event) => ui.pickReaction(message, event.currentTarget),
      },
      icon("smile"),
    ),
  );
}

function toolbar(ui, message, inThread) {
  if (message.is_ephemeral) return null;
  const mine = message.user === ui.store.me;
  const shortcuts = ui.store.shortcuts.filter((entry) => entry.kind === "message");
  return h(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    QUICK.map((name) =>
      h(
        "button",
        {
          type: "button",
          class: "icon-button emoji",
          tabindex: "-1",
          "aria-label": `React with ${name}`,
          title: `:${name}:`,
          onclick: () => ui.react(message, name, hasMine(ui, message, name)),
        },
        emojiOf(name),
      ),
    ),
    iconButton("smile", "Add a reaction (R)", (event) => ui.pickReaction(message, event.currentTarget), { tabindex: "-1" }),
    !inThread &&
      iconButton("reply", "Reply in thread (T)", () => ui.openThread(message.channel, message.thread_ts ?? message.ts), {
        tabindex: "-1",
        "data-testid": "reply-in-thread",
      }),
    mine && iconButton("edit", "Edit message (E)", () => ui.startEdit(message), { tabindex: "-1", "data-testid": "edit-message" }),
    mine && iconButton("trash", "Delete message (Delete)", () => ui.deleteMessage(message), { tabindex: "-1", "data-testid": "delete-message" }),
    shortcuts.length > 0 &&
      iconButton(
        "more",
        "More actions",
        (event) =>
          ui.menu(
            event.currentTarget,
            shortcuts.map((entry) => ({
              label: entry.name,
              detail: entry.description,
              testid: `shortcut-${entry.callback_id}`,
              run: () => ui.shortcut(entry, message),
            })),
          ),
        { tabindex: "-1", "data-testid": "message-more" },
      ),
  );
}

const hasMine = (ui, message, name) =>
  (message.reactions ?? []).some((reaction) => reaction.name === name && (reaction.users ?? []).includes(ui.store.me));

function threadSummary(ui, message, inThread) {
  if (inThread || !message.reply_count) return null;
  const faces = (message.reply_users ?? []).slice(0, 4).map((id) => avatar(ui.store.user(id), true));
  return h(
    "button",
    {
      type: "button",
      class: "thread-summary",
      "data-testid": "thread-summary",
      "data-focus-key": "thread",
      onclick: () => ui.openThread(message.channel, message.ts),
    },
    faces,
    h("span", { class: "reply-count" }, `${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`),
    message.latest_reply && h("span", { class: "muted" }, `last at ${timeOf(message.latest_reply)}`),
  );
}

function keys(ui, message, inThread) {
  return (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || message.is_ephemeral) return;
    const mine = message.user === ui.store.me;
    const actions = {
      Enter: !inThread && (() => ui.openThread(message.channel, message.thread_ts ?? message.ts)),
      t: !inThread && (() => ui.openThread(message.channel, message.thread_ts ?? message.ts)),
      r: () => ui.pickReaction(message, event.currentTarget),
      e: mine && (() => ui.startEdit(message)),
      Delete: mine && (() => ui.deleteMessage(message)),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
}

/** The row of a message. `compact`: same author as just above, so without name. `inThread`: drawn in the thread panel. */
export function renderMessage(ui, message, { compact = false, inThread = false } = {}) {
  const author = authorOf(ui.store, message);
  const data = {
    "data-testid": "message",
    "data-ts": message.ts,
    "data-user": message.user ?? message.bot_id ?? "",
    role: "listitem",
    tabindex: "-1",
  };
  if (SYSTEM.has(message.subtype)) {
    return h(
      "div",
      { ...data, class: "row system" },
      avatar(author, true),
      h("span", {}, h("strong", {}, author.real_name), " ", renderMrkdwn(ui, systemText(message))),
      h("time", { class: "muted" }, timeOf(message.ts)),
    );
  }
  if (message.subtype === "tombstone")
    return h("div", { ...data, class: "row tombstone muted" }, icon("trash"), "This message was deleted.", threadSummary(ui, message, inThread));
  const ephemeral = Boolean(message.is_ephemeral);
  const editing = ui.editing === message.ts;
  const time = h("time", { class: "time muted", title: fullOf(message.ts) }, compact ? narrowTimeOf(message.ts) : timeOf(message.ts));
  return h(
    "div",
    {
      ...data,
      class: `row${compact ? " compact" : ""}${ephemeral ? " ephemeral" : ""}${editing ? " editing" : ""}`,
      "data-streaming": message.streaming_state,
      onkeydown: keys(ui, message, inThread),
    },
    ephemeral && h("div", { class: "row-note" }, icon("eye"), "Only visible to you"),
    message.subtype === "thread_broadcast" &&
      !inThread &&
      h(
        "div",
        { class: "row-note" },
        icon("reply"),
        h(
          "button",
          { type: "button", class: "link-button", onclick: () => ui.openThread(message.channel, message.thread_ts) },
          "replied to a thread",
        ),
      ),
    h("div", { class: "gutter" }, compact ? time : avatar(author)),
    h(
      "div",
      { class: "row-body" },
      !compact && h("div", { class: "row-head" }, h("span", { class: "author" }, author.real_name), badges(ui, author), time),
      compact && h("span", { class: "sr-only" }, `${author.real_name}: `),
      editing ? ui.editBox(message) : renderContent(ui, message),
      reactions(ui, message),
      threadSummary(ui, message, inThread),
      !inThread && statusLine(ui, message.channel, message.ts),
      ephemeral && h("button", { type: "button", class: "link-button small", onclick: () => ui.dismiss(message) }, "Dismiss"),
    ),
    !editing && toolbar(ui, message, inThread),
  );
}

// Slack's own sentences begin with the mention of the person, whose name is already shown.
const systemText = (message) => (message.text ?? "").replace(/^<@[^>]+>\s*/, "") || message.subtype.replaceAll("_", " ");
