// Block Kit: one small function per block type, each from Slack's JSON to DOM nodes. An unknown type shows its name instead of vanishing.

import { fragment, h, icon } from "./dom.js";
import { picture, renderElement } from "./elements.js";
import { link } from "./entities.js";
import { renderFiles } from "./files.js";
import { isInput, renderInput } from "./inputs.js";
import { renderMarkdown } from "./markdown.js";
import { renderMrkdwn, renderPlain, renderText } from "./mrkdwn.js";
import { renderRichText } from "./richtext.js";
import { dateOf, timeOf } from "./time.js";
import { renderPlan, renderTaskCard } from "./tasks.js";

let serial = 0;

/** All `blocks` of a surface as a fragment. A `surface` is described in elements.js. */
export function renderBlocks(surface, blocks) {
  return fragment((blocks ?? []).map((block) => renderBlock(surface, block)));
}

function renderBlock(surface, block) {
  const draw = BLOCKS[block.type];
  return draw ? draw(surface, block) : h("div", { class: "block unsupported" }, `A block of type “${block.type}” (not drawn here)`);
}

const BLOCKS = {
  section,
  header: (surface, block) => h("h3", { class: "block header-block" }, renderText(surface.ui, block.text)),
  divider: () => h("hr", { class: "block" }),
  context: (surface, block) =>
    h(
      "div",
      { class: "block context" },
      (block.elements ?? []).map((element) =>
        element.type === "image" ? picture(surface.ui, element, "context-image") : h("span", {}, renderText(surface.ui, element)),
      ),
    ),
  actions: (surface, block) =>
    h(
      "div",
      { class: "block actions" },
      (block.elements ?? []).map((element) => renderElement(surface, block, element)),
    ),
  context_actions: (surface, block) =>
    h(
      "div",
      { class: "block context-actions" },
      (block.elements ?? []).map((element) => renderElement(surface, block, element)),
    ),
  rich_text: (surface, block) => h("div", { class: "block rich-text" }, renderRichText(surface.ui, block)),
  markdown: (surface, block) => h("div", { class: "block markdown" }, renderMarkdown(surface.ui, block.text)),
  image: imageBlock,
  table,
  task_card: (surface, block) => h("div", { class: "block" }, renderTaskCard(surface.ui, block)),
  plan: (surface, block) => h("div", { class: "block" }, renderPlan(surface.ui, block)),
  alert: (surface, block) => {
    const level = ["info", "warning", "error", "success"].includes(block.level) ? block.level : "default";
    return h(
      "div",
      { class: `block alert ${level}`, role: "note" },
      icon({ warning: "warn", error: "warn", success: "check" }[level] ?? "info"),
      h("div", {}, renderText(surface.ui, block.text)),
    );
  },
  input: inputBlock,
  video: (surface, block) =>
    h(
      "div",
      { class: "block" },
      link(block.title_url ?? block.video_url, block.title?.text ?? "Video"),
      picture(surface.ui, { alt_text: block.alt_text, image_url: block.thumbnail_url }, "image"),
    ),
  file: (surface, block) =>
    h(
      "div",
      { class: "block" },
      renderFiles(surface.ui, block.file ? [block.file] : []) ?? h("span", { class: "muted" }, `File ${block.external_id ?? ""}`),
    ),
  card,
  carousel: (surface, block) =>
    h(
      "div",
      { class: "block carousel", role: "group", "aria-label": "Cards", tabindex: "0" },
      (block.elements ?? []).map((element) => card(surface, element)),
    ),
  container,
};

function section(surface, block) {
  const { accessory, fields } = block;
  const body = h(
    "div",
    { class: "section-body" },
    block.text && h("div", { class: "section-text" }, renderText(surface.ui, block.text)),
    fields?.length &&
      h(
        "div",
        { class: "fields" },
        fields.map((field) => h("div", { class: "field-cell" }, renderText(surface.ui, field))),
      ),
  );
  const wide = accessory && (accessory.type === "checkboxes" || accessory.type === "radio_buttons");
  return h(
    "div",
    { class: `block section${wide ? " stacked" : ""}` },
    body,
    accessory && h("div", { class: "accessory" }, renderElement(surface, block, accessory)),
  );
}

function imageBlock(surface, block) {
  return h(
    "figure",
    { class: "block" },
    block.title && h("figcaption", { class: "muted" }, renderText(surface.ui, block.title)),
    picture(surface.ui, block, "image"),
  );
}

function table(surface, block) {
  const settings = block.column_settings ?? [];
  const cell = (tag, content, column) => {
    const setting = settings[column] ?? {};
    const align = setting.align ?? (content.type === "raw_number" ? "right" : "left");
    return h(
      tag,
      { class: `align-${align}${setting.is_wrapped ? " wrap" : ""}`, scope: tag === "th" ? "col" : null },
      content.type === "rich_text" ? renderRichText(surface.ui, content) : String(content.text ?? content.value ?? ""),
    );
  };
  const [head, ...rows] = block.rows ?? [];
  return h(
    "div",
    { class: "block table-scroll", tabindex: "0", role: "region", "aria-label": "Table" },
    h(
      "table",
      {},
      head &&
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((content, i) => cell("th", content, i)),
          ),
        ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((content, i) => cell("td", content, i)),
          ),
        ),
      ),
    ),
  );
}

function inputBlock(surface, block) {
  const id = `input-${(serial += 1)}`;
  const error = surface.errors?.[block.block_id];
  const { element } = block;
  const labels = {
    "aria-labelledby": `${id}-label`,
    "aria-describedby": [block.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || null,
    "aria-invalid": error ? "true" : null,
    "aria-required": block.optional ? null : "true",
  };
  return h(
    "div",
    { class: `block input-block${error ? " invalid" : ""}`, "data-block": block.block_id },
    h(
      "div",
      { class: "input-label", id: `${id}-label` },
      renderText(surface.ui, block.label),
      block.optional && h("span", { class: "muted" }, " (optional)"),
    ),
    isInput(element)
      ? renderInput(surface, block, element, { dispatch: Boolean(block.dispatch_action), labels })
      : h("span", { class: "unsupported" }, `[${element.type}]`),
    error && h("div", { class: "input-error", id: `${id}-error`, "data-testid": "modal-error" }, icon("warn"), error),
    block.hint && h("div", { class: "muted hint", id: `${id}-hint` }, renderText(surface.ui, block.hint)),
  );
}

function card(surface, block) {
  return h(
    "div",
    { class: "block card" },
    block.hero_image && picture(surface.ui, block.hero_image, "image"),
    block.title && h("div", { class: "card-title" }, renderText(surface.ui, block.title)),
    block.subtitle && h("div", { class: "muted" }, renderText(surface.ui, block.subtitle)),
    block.body && h("div", {}, renderText(surface.ui, block.body)),
    block.actions?.length &&
      h(
        "div",
        { class: "actions" },
        block.actions.map((element) => renderElement(surface, block, element)),
      ),
  );
}

function container(surface, block) {
  const title = block.rich_text_title ? renderRichText(surface.ui, block.rich_text_title) : renderText(surface.ui, block.title);
  const inner = [block.subtitle && h("div", { class: "muted" }, renderText(surface.ui, block.subtitle)), renderBlocks(surface, block.child_blocks)];
  if (!block.is_collapsible) return h("section", { class: "block card" }, h("div", { class: "card-title" }, title), inner);
  return h("details", { class: "block card", open: !block.default_collapsed }, h("summary", { class: "card-title" }, title), inner);
}

/** Legacy attachments: a coloured bar with text, fields, blocks and a footer. */
export function renderAttachments(surface, attachments) {
  return fragment(
    (attachments ?? []).map((attachment) => {
      const node = h(
        "div",
        { class: "attachment" },
        attachment.author_name && h("div", { class: "attachment-author" }, attachment.author_name),
        attachment.title &&
          h(
            "div",
            { class: "card-title" },
            attachment.title_link ? link(attachment.title_link, renderPlain(attachment.title)) : renderPlain(attachment.title),
          ),
        attachment.text && h("div", {}, renderMrkdwn(surface.ui, attachment.text)),
        attachment.fields?.length &&
          h(
            "div",
            { class: "fields" },
            attachment.fields.map((field) =>
              h(
                "div",
                { class: field.short ? "" : "wide" },
                h("strong", {}, renderPlain(field.title)),
                h("div", {}, renderMrkdwn(surface.ui, field.value)),
              ),
            ),
          ),
        attachment.blocks && renderBlocks(surface, attachment.blocks),
        (attachment.image_url || attachment.thumb_url) &&
          picture(surface.ui, { image_url: attachment.image_url ?? attachment.thumb_url, alt_text: attachment.fallback ?? "image" }, "image"),
        !attachment.text && !attachment.title && !attachment.blocks && !attachment.fields && attachment.fallback && h("div", {}, attachment.fallback),
        (attachment.footer || attachment.ts) &&
          h(
            "div",
            { class: "muted" },
            [attachment.footer, attachment.ts && `${dateOf(attachment.ts).toLocaleDateString()} ${timeOf(attachment.ts)}`]
              .filter(Boolean)
              .join(" · "),
          ),
      );
      const color =
        { good: "#2f8f63", warning: "#c98a1b", danger: "#c4453c" }[attachment.color] ??
        (attachment.color && `#${attachment.color.replace(/^#/, "")}`);
      if (color && CSS.supports("color", color)) node.style.setProperty("--bar", color);
      return attachment.pretext ? h("div", {}, h("div", {}, renderMrkdwn(surface.ui, attachment.pretext)), node) : node;
    }),
  );
}
