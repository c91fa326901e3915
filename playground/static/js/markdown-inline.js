// Inline part of standard Markdown: code spans, emphasis, links, bare addresses, escapes, plus Slack's <angle> entities and :emoji:.
// More lenient than CommonMark at one point: emphasis may touch CJK letters and punctuation (`**注意：**请` is bold), since Chinese has no spaces.

import { fragment, h } from "./dom.js";
import { emojiOf } from "./emoji.js";
import { angle, emoji, link } from "./entities.js";

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const MOST_NESTED = 12;
const LATIN_WORD = /[A-Za-z0-9]/;
const EMOJI = /:([a-z0-9_+'-]+):/y;
const BARE_URL = /https?:\/\/[^\s<>"'，。；！？、）】」]+/y;
const ANGLE = /<((?:[@#!]|https?:|mailto:)[^<>\n]*)>/y;
const ENTITY = /&(amp|lt|gt|quot|#39|nbsp);/y;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };
const MARKERS = [
  ["***", ["strong", "em"]],
  ["**", ["strong"]],
  ["__", ["strong"]],
  ["~~", ["s"]],
  ["*", ["em"]],
  ["_", ["em"]],
];

function matchAt(pattern, text, index) {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

// The end of a code span that opens with `run` backticks at `from`, or -1.
function codeEnd(text, from, run) {
  const pattern = new RegExp(`(?<!\`)\`{${run}}(?!\`)`, "g");
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

function emphasisEnd(text, from, marker) {
  for (let j = from; j < text.length; j += 1) {
    if (text[j] === "\\") {
      j += 1;
    } else if (text[j] === "`") {
      const run = /^`+/.exec(text.slice(j))[0].length;
      const end = codeEnd(text, j + run, run);
      j = (end < 0 ? j : end) + run - 1;
    } else if (text.startsWith(marker, j) && j > from && !/\s/.test(text[j - 1])) {
      const longer = marker.length < 3 && text[j + marker.length] === marker[0];
      if (longer && marker.length === 1) {
        // `**` inside `*…*`: step over the nested strong text.
        const end = emphasisEnd(text, j + 2, marker + marker);
        j = end < 0 ? j + 1 : end + 1;
        continue;
      }
      if (marker[0] === "_" && LATIN_WORD.test(text[j + marker.length] ?? "")) continue;
      return longer ? j + 1 : j;
    }
  }
  return -1;
}

const UNCLOSED = {};

// `[label](target "title")` at `i`; null when it is not one, UNCLOSED when not even the bracket ends.
function parseLink(text, i) {
  let depth = 0;
  let j = i;
  for (; j < text.length; j += 1) {
    if (text[j] === "\\") j += 1;
    else if (text[j] === "[") depth += 1;
    else if (text[j] === "]" && --depth === 0) break;
  }
  if (depth !== 0) return UNCLOSED;
  if (text[j + 1] !== "(") return null;
  const target = /^\(\s*<?((?:[^\s()<>]|\([^\s()]*\))*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(j + 1));
  return target ? { label: text.slice(i + 1, j), url: target[1], end: j + 1 + target[0].length } : null;
}

/** Inline Markdown as a fragment; a single line break becomes a line break, as chat readers expect. */
export function inlineMarkdown(ui, text, depth = 0) {
  if (depth > MOST_NESTED) return fragment(text);
  const out = fragment();
  const dead = new Set(); // openers without an end: not searched for again, so that hostile text stays cheap
  let buffer = "";
  const push = (node) => {
    if (buffer) out.append(buffer);
    buffer = "";
    out.append(node);
  };
  let i = 0;
  while (i < text.length) {
    const c = text[i];
    if (c === "\\" && text[i + 1] === "\n") {
      push(h("br"));
      i += 2;
    } else if (c === "\\" && ESCAPABLE.test(text[i + 1] ?? "")) {
      buffer += text[i + 1];
      i += 2;
    } else if (c === "\n") {
      buffer = buffer.replace(/[ \t]+$/, "");
      push(h("br"));
      i += 1;
    } else {
      const next = special(ui, text, i, depth, dead);
      if (next) {
        push(next.node);
        i = next.end;
      } else {
        buffer += c;
        i += 1;
      }
    }
  }
  if (buffer) out.append(buffer);
  return out;
}

// The node that begins at `i` and where it ends, or null for an ordinary character.
function special(ui, text, i, depth, dead) {
  const c = text[i];
  if (c === "`") {
    const run = /^`+/.exec(text.slice(i))[0].length;
    const end = dead.has(`code${run}`) ? -1 : codeEnd(text, i + run, run);
    if (end < 0) {
      dead.add(`code${run}`);
      return { node: document.createTextNode("`".repeat(run)), end: i + run };
    }
    return {
      node: h(
        "code",
        {},
        text
          .slice(i + run, end)
          .replaceAll("\n", " ")
          .replace(/^ (.*\S.*) $/, "$1"),
      ),
      end: end + run,
    };
  }
  if (c === "!" && text[i + 1] === "[" && !dead.has("[")) {
    const image = parseLink(text, i + 1);
    return image?.url !== undefined ? { node: link(image.url, image.label || image.url), end: image.end } : null; // images become links, as in Slack
  }
  if (c === "[") {
    const parsed = dead.has("[") ? null : parseLink(text, i);
    if (parsed === UNCLOSED) dead.add("[");
    return parsed?.url !== undefined ? { node: link(parsed.url, inlineMarkdown(ui, parsed.label, depth + 1)), end: parsed.end } : null;
  }
  if (c === "<") {
    const match = matchAt(ANGLE, text, i);
    return match ? { node: angle(ui, match[1]), end: i + match[0].length } : null;
  }
  if (c === "&") {
    const match = matchAt(ENTITY, text, i);
    return match ? { node: document.createTextNode(ENTITIES[match[1]]), end: i + match[0].length } : null;
  }
  if (c === ":") {
    const match = matchAt(EMOJI, text, i);
    return match && emojiOf(match[1]) ? { node: emoji(match[1]), end: i + match[0].length } : null;
  }
  if (c === "h" && !LATIN_WORD.test(text[i - 1] ?? "")) {
    const match = matchAt(BARE_URL, text, i);
    if (!match) return null;
    const url = match[0].replace(/[.,;:!?)\]*_~]+$/, "");
    return { node: link(url), end: i + url.length };
  }
  for (const [marker, tags] of MARKERS) {
    if (!text.startsWith(marker, i) || dead.has(marker)) continue;
    const start = i + marker.length;
    if (!/\S/.test(text[start] ?? " ") || (marker[0] === "_" && LATIN_WORD.test(text[i - 1] ?? ""))) continue;
    const end = emphasisEnd(text, start, marker);
    if (end < 0) {
      dead.add(marker);
      continue;
    }
    const inner = inlineMarkdown(ui, text.slice(start, end), depth + 1);
    return { node: tags.reduceRight((content, tag) => h(tag, {}, content), inner), end: end + marker.length };
  }
  return null;
}
