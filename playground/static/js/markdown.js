// Standard Markdown, as Slack's `markdown` block takes it, into DOM nodes: headings, lists (nested, ordered, tasks), quotes, fenced code,
// tables, rules and paragraphs. Raw HTML is shown as text. Safe by construction: no string is ever parsed as HTML.

import { fragment, h } from "./dom.js";
import { inlineMarkdown } from "./markdown-inline.js";

const MOST_NESTED = 24;
const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?:(\s+)(.*)|\s*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** The Markdown text as a fragment. Unfinished constructs (a fence still streaming) render as far as they go. */
export function renderMarkdown(ui, text) {
  return blocks(ui, (text ?? "").replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"));
}

const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line) || QUOTE.test(line);
const isTable = (lines, i) =>
  lines[i].includes("|") &&
  lines[i + 1] !== undefined &&
  lines[i + 1].includes("-") &&
  DELIMITERS.test(lines[i + 1]) &&
  cells(lines[i]).length === cells(lines[i + 1]).length;

function blocks(ui, lines, depth = 0) {
  if (depth > MOST_NESTED) return fragment(h("p", {}, lines.join("\n")));
  const out = fragment();
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    if (!line.trim()) {
      i += 1;
    } else if (FENCE.test(line)) {
      i = fence(out, lines, i);
    } else if (HEADING.test(line)) {
      out.append(h("p", { class: "md-heading", role: "heading", "aria-level": "3" }, inlineMarkdown(ui, HEADING.exec(line)[2])));
      i += 1;
    } else if (RULE.test(line)) {
      out.append(h("hr"));
      i += 1;
    } else if (QUOTE.test(line)) {
      const inner = [];
      while (i < lines.length && (QUOTE.test(lines[i]) || (lines[i].trim() && !startsBlock(lines[i])))) {
        inner.push(QUOTE.exec(lines[i])?.[1] ?? lines[i]);
        i += 1;
      }
      out.append(h("blockquote", {}, blocks(ui, inner, depth + 1)));
    } else if (ITEM.test(line)) {
      i = list(ui, out, lines, i, depth);
    } else if (isTable(lines, i)) {
      i = table(ui, out, lines, i);
    } else {
      const paragraph = [];
      while (i < lines.length && lines[i].trim() && !(paragraph.length && (startsBlock(lines[i]) || isTable(lines, i)))) {
        paragraph.push(lines[i].replace(/^ +/, ""));
        i += 1;
      }
      out.append(h("p", {}, inlineMarkdown(ui, paragraph.join("\n"))));
    }
  }
  return out;
}

function fence(out, lines, start) {
  const [, indent, marker] = FENCE.exec(lines[start]);
  const end = new RegExp(`^ {0,3}${marker[0]}{${marker.length},}\\s*$`);
  const code = [];
  let i = start + 1;
  while (i < lines.length && !end.test(lines[i])) {
    code.push(lines[i].startsWith(indent) ? lines[i].slice(indent.length) : lines[i].trimStart());
    i += 1;
  }
  out.append(h("pre", { class: "code-block" }, h("code", {}, code.join("\n"))));
  return i + 1;
}

function list(ui, out, lines, start, depth) {
  const first = ITEM.exec(lines[start]);
  const base = first[1].length;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let i = start;
  while (i < lines.length) {
    const match = ITEM.exec(lines[i]);
    if (!match || RULE.test(lines[i]) || match[1].length > base + 1 || match[1].length < base || /\d/.test(match[2]) !== ordered) break;
    // What belongs to an item is indented deeper than its marker; how much of that is cut is at most the width of the marker.
    const width = base + match[2].length + (match[3]?.length ?? 1);
    const body = [match[4] ?? ""];
    i += 1;
    while (i < lines.length) {
      const indent = lines[i].length - lines[i].trimStart().length;
      if (!lines[i].trim()) {
        const next = lines.slice(i).find((line) => line.trim());
        if (next === undefined || next.length - next.trimStart().length <= base) break;
        body.push("");
      } else if (indent > base + 1 || (indent > base && ITEM.test(lines[i]))) {
        body.push(lines[i].slice(Math.min(width, indent)));
      } else if (!startsBlock(lines[i]) && body.at(-1).trim() && !FENCE.test(body.at(-1))) {
        body.push(lines[i].trimStart());
      } else {
        break;
      }
      i += 1;
    }
    items.push(body);
    // A loose list has blank lines between its items.
    let ahead = i;
    while (ahead < lines.length && !lines[ahead].trim()) ahead += 1;
    if (ahead > i && ahead < lines.length && ITEM.test(lines[ahead]) && ITEM.exec(lines[ahead])[1].length >= base) i = ahead;
  }
  const startAt = ordered ? Number.parseInt(first[2], 10) : 1;
  out.append(
    h(
      ordered ? "ol" : "ul",
      { start: ordered && startAt !== 1 ? startAt : null },
      items.map((body) => item(ui, body, depth + 1)),
    ),
  );
  return i;
}

function item(ui, body, depth) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(body[0]);
  if (task) body[0] = task[2];
  const content = blocks(ui, body, depth);
  const only = content.firstElementChild;
  if (only?.tagName === "P") only.replaceWith(...only.childNodes, ...(only.nextElementSibling?.tagName === "P" ? [h("br")] : []));
  if (!task) return h("li", {}, content);
  return h(
    "li",
    { class: "task" },
    h("span", { class: "task-box", role: "img", "aria-label": task[1] === " " ? "to do" : "done" }, task[1] === " " ? "☐" : "☑"),
    content,
  );
}

// The cells of a table row: split at `|` outside code spans, unescaped `\|`.
function cells(line) {
  const result = [""];
  let code = false;
  const body = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  for (let i = 0; i < body.length; i += 1) {
    if (body[i] === "\\" && body[i + 1] === "|") {
      result[result.length - 1] += "|";
      i += 1;
    } else if (body[i] === "|" && !code) {
      result.push("");
    } else {
      if (body[i] === "`") code = !code;
      result[result.length - 1] += body[i];
    }
  }
  return result.map((cell) => cell.trim());
}

function table(ui, out, lines, start) {
  const head = cells(lines[start]);
  const align = cells(lines[start + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left"));
  const rows = [];
  let i = start + 2;
  while (i < lines.length && lines[i].trim() && lines[i].includes("|")) {
    rows.push(cells(lines[i]));
    i += 1;
  }
  const cell = (tag, text, column) =>
    h(tag, { class: `align-${align[column] ?? "left"}`, scope: tag === "th" ? "col" : null }, inlineMarkdown(ui, text ?? ""));
  out.append(
    h(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((text, column) => cell("th", text, column)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              head.map((_, column) => cell("td", row[column], column)),
            ),
          ),
        ),
      ),
    ),
  );
  return i;
}
