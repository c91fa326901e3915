// Slack's own mark-up ("mrkdwn"): *bold*, _italic_, ~strike~, `code`, ``` fences, > quotes and <angle> entities, into DOM nodes.
// As in Slack a marker only counts at the edge of a word, so `2*3*4` and `中文*粗体*中文` stay as they are.

import { append, fragment, h } from "./dom.js";
import { emojiOf } from "./emoji.js";
import { angle, emoji, unescape } from "./entities.js";

const STYLES = { "*": "strong", _: "em", "~": "s" };
const WORD = /[\p{L}\p{N}]/u;
const EMOJI = /:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/y;

/** A text object's or message's mrkdwn as a fragment. */
export function renderMrkdwn(ui, text) {
  const out = fragment();
  const parts = (text ?? "").split("```");
  // An odd number of fences leaves the last one open: it is then ordinary text.
  const closed = parts.length % 2 === 1 ? parts.length : parts.length - 1;
  for (let i = 0; i < closed; i += 1) {
    if (i % 2 === 1) out.append(h("pre", { class: "code-block" }, h("code", {}, unescape(flatten(parts[i].replace(/^\n/, "").replace(/\n$/, ""))))));
    else lines(ui, out, trimAround(parts[i], i > 0, i < closed - 1));
  }
  if (closed < parts.length) lines(ui, out, "```" + parts.at(-1));
  return out;
}

/** A plain_text object: only emoji names are special. */
export function renderPlain(text, { emojis = true } = {}) {
  const out = fragment();
  const source = text ?? "";
  let last = 0;
  if (emojis) {
    for (const match of source.matchAll(/:([a-z0-9_+'-]+):/g)) {
      if (!emojiOf(match[1])) continue;
      append(out, source.slice(last, match.index));
      out.append(emoji(match[1]));
      last = match.index + match[0].length;
    }
  }
  append(out, source.slice(last));
  return out;
}

/** A Block Kit text object (`plain_text` or `mrkdwn`), or a bare string taken as plain text. */
export function renderText(ui, object) {
  if (!object) return fragment();
  if (typeof object === "string") return renderPlain(object);
  return object.type === "mrkdwn" ? renderMrkdwn(ui, object.text) : renderPlain(object.text, { emojis: object.emoji !== false });
}

const flatten = (code) => code.replace(/<([^<>|\n]+)\|?([^<>\n]*)>/g, (whole, target, label) => label || target);

function trimAround(text, after, before) {
  let result = text;
  if (after) result = result.replace(/^\n/, "");
  if (before) result = result.replace(/\n$/, "");
  return result;
}

function lines(ui, out, text) {
  if (!text) return;
  const rows = text.split("\n");
  let run = [];
  let quote = [];
  const flushRun = () => {
    if (run.length) out.append(inline(ui, run.join("\n")));
    run = [];
  };
  const flushQuote = () => {
    if (quote.length) out.append(h("blockquote", {}, inline(ui, quote.join("\n"))));
    quote = [];
  };
  for (let i = 0; i < rows.length; i += 1) {
    const all = /^(?:&gt;|>){3}\s?(.*)$/s.exec(rows[i]);
    const one = /^(?:&gt;|>)\s?(.*)$/s.exec(rows[i]);
    if (all) {
      flushRun();
      quote.push(all[1], ...rows.slice(i + 1));
      break;
    }
    if (one) {
      flushRun();
      quote.push(one[1]);
    } else {
      flushQuote();
      run.push(rows[i]);
    }
  }
  flushRun();
  flushQuote();
}

function closing(text, from, marker) {
  for (let j = from; j < text.length; j += 1) {
    const c = text[j];
    if (c === "\n") return -1;
    if (c === "<" || c === "`") {
      const end = text.indexOf(c === "<" ? ">" : "`", j + 1);
      if (end > 0) j = end;
      continue;
    }
    if (c === marker && j > from && !/\s/.test(text[j - 1]) && !WORD.test(text[j + 1] ?? "") && text[j + 1] !== marker) return j;
  }
  return -1;
}

function inline(ui, text) {
  const out = fragment();
  const dead = new Set(); // markers without an end on this line: not searched for again
  let plainStart = 0;
  const flush = (end) => end > plainStart && out.append(unescape(text.slice(plainStart, end)));
  let i = 0;
  const take = (end, node) => {
    flush(i);
    out.append(node);
    i = end;
    plainStart = end;
  };
  while (i < text.length) {
    const c = text[i];
    if (c === "\n") {
      take(i + 1, h("br"));
      dead.clear();
      continue;
    }
    if (c === "`") {
      const end = text.indexOf("`", i + 1);
      const inner = end > i + 1 ? text.slice(i + 1, end) : "";
      if (inner && !inner.includes("\n")) {
        take(end + 1, h("code", {}, unescape(flatten(inner))));
        continue;
      }
    } else if (c === "<") {
      const end = text.indexOf(">", i + 1);
      const inner = end > i + 1 ? text.slice(i + 1, end) : "";
      if (inner && !/[<\n]/.test(inner)) {
        take(end + 1, angle(ui, inner));
        continue;
      }
    } else if (c === ":") {
      EMOJI.lastIndex = i;
      const match = EMOJI.exec(text);
      if (match && emojiOf(match[1])) {
        take(i + match[0].length, emoji(match[1]));
        continue;
      }
    } else if (
      STYLES[c] &&
      !dead.has(c) &&
      !WORD.test(text[i - 1] ?? "") &&
      text[i - 1] !== c &&
      /\S/.test(text[i + 1] ?? " ") &&
      text[i + 1] !== c
    ) {
      const end = closing(text, i + 1, c);
      if (end > 0) {
        take(end + 1, h(STYLES[c], {}, inline(ui, text.slice(i + 1, end))));
        continue;
      }
      dead.add(c);
    }
    i += 1;
  }
  flush(text.length);
  return out;
}
