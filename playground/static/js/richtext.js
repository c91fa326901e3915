// Slack's `rich_text` block: sections, nested lists, quotes, preformatted text and their inline elements, into DOM nodes.

import { fragment, h } from "./dom.js";
import { broadcast, channelMention, date, emoji, link, userMention } from "./entities.js";

const STYLE_TAGS = { bold: "strong", italic: "em", strike: "s", code: "code", underline: "u", highlight: "mark", client_highlight: "mark" };

/** A rich_text block as a fragment. */
export function renderRichText(ui, block) {
  const out = fragment();
  let lists = []; // the open nested lists, outermost first: {indent, style, node}
  for (const element of block.elements ?? []) {
    if (element.type === "rich_text_list") {
      lists = addList(ui, out, lists, element);
      continue;
    }
    lists = [];
    out.append(renderElement(ui, element));
  }
  return out;
}

function renderElement(ui, element) {
  if (element.type === "rich_text_preformatted") {
    return h("pre", { class: "code-block" }, h("code", {}, (element.elements ?? []).map((part) => part.text ?? part.url ?? "").join("")));
  }
  if (element.type === "rich_text_quote") return h("blockquote", {}, inlines(ui, element.elements));
  return h("div", { class: "rich-section" }, inlines(ui, element.elements));
}

function addList(ui, out, open, element) {
  const indent = element.indent ?? 0;
  const style = element.style ?? "bullet";
  const lists = open.filter((entry) => entry.indent <= indent);
  let top = lists.at(-1);
  if (top && top.indent === indent && top.style !== style) {
    lists.pop();
    top = lists.at(-1);
  }
  if (!top || top.indent < indent) {
    const start = (element.offset ?? 0) + 1;
    const node = h(style === "ordered" ? "ol" : "ul", {
      class: `rich-list level-${indent % 3}${element.border ? " bordered" : ""}`,
      start: style === "ordered" && start !== 1 ? start : null,
    });
    (top?.node.lastElementChild ?? out).append(node);
    top = { indent, style, node };
    lists.push(top);
  }
  for (const item of element.elements ?? []) top.node.append(h("li", {}, inlines(ui, item.elements)));
  return lists;
}

const inlines = (ui, elements) => (elements ?? []).map((part) => styled(part, inline(ui, part)));

function styled(part, node) {
  let result = node;
  // Code innermost, so that bold code is <strong><code>.
  for (const name of ["code", "underline", "strike", "italic", "bold", "highlight", "client_highlight"]) {
    if (part.style?.[name]) result = h(STYLE_TAGS[name], {}, result);
  }
  return result;
}

function withBreaks(text) {
  return text.split("\n").flatMap((line, i) => (i ? [h("br"), line] : [line]));
}

function inline(ui, part) {
  switch (part.type) {
    case "text":
      return fragment(withBreaks(part.text ?? ""));
    case "link":
      return link(part.url, part.text || part.url);
    case "user":
      return userMention(ui, part.user_id);
    case "channel":
      return channelMention(ui, part.channel_id);
    case "usergroup":
      return h("span", { class: "mention" }, `@${part.usergroup_id}`);
    case "team":
      return h("span", { class: "mention" }, `@${part.team_id}`);
    case "broadcast":
      return broadcast(part.range);
    case "emoji":
      return emoji(part.skin_tone ? `${part.name}::skin-tone-${part.skin_tone}` : part.name, part.unicode);
    case "date":
      return date(part.timestamp, part.format ?? "{date}", part.url, part.fallback);
    case "color": {
      const swatch = h("span", { class: "swatch" });
      if (/^#[0-9a-f]{3,8}$/i.test(part.value)) swatch.style.setProperty("background", part.value);
      return h("span", {}, swatch, part.value);
    }
    default:
      return h("span", {}, part.text ?? `[${part.type}]`);
  }
}
