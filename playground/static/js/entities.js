// The small pieces every text format shares: links, mentions, emoji, dates. Each builder returns one DOM node.

import { h } from "./dom.js";
import { emojiFromCodes, emojiOf } from "./emoji.js";
import { formatTokens, fullOf } from "./time.js";

/** The URL if following it is harmless (http, https, mailto, tel), else null. */
export function safeUrl(url) {
  try {
    const parsed = new URL(url);
    return ["http:", "https:", "mailto:", "tel:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null; // not an absolute URL at all: shown as text
  }
}

/** A link that opens in a new tab; an unsafe address stays text. `label` is a string or nodes. */
export function link(url, label = url) {
  const href = safeUrl(url);
  if (!href) return h("span", {}, label);
  return h("a", { href, target: "_blank", rel: "noopener noreferrer", title: href }, label);
}

/** `@name`; highlighted when it is the person looking. */
export function userMention(ui, id, label) {
  const user = ui.store.users.get(id);
  const me = id === ui.store.me;
  return h("span", { class: `mention${me ? " me" : ""}`, "data-user": id, title: user?.real_name }, `@${user?.name ?? label ?? id}`);
}

/** `#name`; goes to the channel when the person can see it. */
export function channelMention(ui, id, label) {
  const channel = ui.store.channels.get(id);
  const name = `#${channel?.name ?? (label || "private-channel")}`;
  if (!channel) return h("span", { class: "mention" }, name);
  const follow = (event) => {
    event.preventDefault();
    ui.openChannel(id);
  };
  return h("a", { class: "mention channel-link", href: `#as=${ui.store.me}&in=${id}`, "data-channel": id, onclick: follow }, name);
}

/** `@here`, `@channel`, `@everyone`. */
export const broadcast = (range) => h("span", { class: "mention me" }, `@${range}`);

/** An emoji by name (and optionally Slack's `unicode` codes); an unknown one stays `:name:`. */
export function emoji(name, codes) {
  const glyph = emojiFromCodes(codes) ?? emojiOf(name);
  return glyph ? h("span", { class: "emoji", role: "img", "aria-label": `:${name}:`, title: `:${name}:` }, glyph) : h("span", {}, `:${name}:`);
}

/** A moment in the reader's time zone, by Slack's pattern; `fallback` when the moment is not a number. */
export function date(seconds, pattern, url, fallback) {
  // Beyond this there are no dates at all.
  if (!(Math.abs(Number(seconds)) < 8e12)) return h("span", {}, fallback ?? pattern);
  const text = formatTokens(seconds, pattern);
  const node = h("time", { title: fullOf(seconds), datetime: new Date(Number(seconds) * 1000).toISOString() }, text);
  return url ? link(url, node) : node;
}

/** Undoes Slack's three escapes. */
export const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** The node for what stands between `<` and `>` in Slack's text: a mention, a date, a link. Never null. */
export function angle(ui, inner) {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = bar < 0 ? "" : unescape(inner.slice(bar + 1));
  if (target.startsWith("@")) return userMention(ui, target.slice(1), label);
  if (target.startsWith("#")) return channelMention(ui, target.slice(1), label);
  if (target.startsWith("!subteam^")) return h("span", { class: "mention" }, label || "@group");
  if (target.startsWith("!date^")) {
    const [, seconds, pattern = "{date}", url] = target.split("^");
    return date(seconds, pattern, url, label);
  }
  if (/^!(here|channel|everyone)$/.test(target)) return broadcast(target.slice(1));
  if (target.startsWith("!")) return h("span", { class: "mention" }, label || target);
  return link(unescape(target), label || unescape(target).replace(/^mailto:/, ""));
}

const ANGLE = /<([^<>\n]+)>/g;

/** Slack's text as a person would type it: mentions by name, links bare, escapes undone. For editing, previews and the live region. */
export function plain(store, text) {
  return unescape(
    (text ?? "").replace(ANGLE, (whole, inner) => {
      const [target, label] = inner.split("|");
      if (target.startsWith("@")) return `@${store.users.get(target.slice(1))?.name ?? label ?? target.slice(1)}`;
      if (target.startsWith("#")) return `#${store.channels.get(target.slice(1))?.name ?? label ?? target.slice(1)}`;
      if (target.startsWith("!date^") || target.startsWith("!subteam^")) return label ?? "";
      if (target.startsWith("!")) return `@${target.slice(1)}`;
      return label && !target.startsWith("mailto:") && label !== target ? label : target.replace(/^mailto:/, "");
    }),
  );
}
