// Block Kit elements that act: buttons, overflow menus, feedback and icon buttons, images; value elements are handed to inputs.js.
// A `surface` says where they are: {ui, form, blocks, kind: "message" | "modal" | "home", send(block, element, extra)}.

import { h, icon } from "./dom.js";
import { isInput, renderInput } from "./inputs.js";
import { renderPlain, renderText } from "./mrkdwn.js";
import { safeUrl } from "./entities.js";
import { fileUrl } from "./files.js";

/** Draws any element of an actions, section, context or context_actions block. */
export function renderElement(surface, block, element) {
  if (isInput(element)) return renderInput(surface, block, element, { dispatch: true });
  const draw = { button, workflow_button: button, overflow, feedback_buttons: feedback, icon_button: iconElement, image: thumbnail }[element.type];
  return draw ? draw(surface, block, element) : h("span", { class: "unsupported" }, `[${element.type}]`);
}

async function press(surface, block, element, extra, node) {
  if (node.getAttribute("aria-disabled") === "true") return;
  if (element.confirm && !(await surface.ui.confirm(confirmation(surface.ui, element.confirm)))) return;
  node.setAttribute("aria-disabled", "true");
  node.classList.add("busy");
  try {
    await surface.send(block, element, extra);
  } finally {
    node.removeAttribute("aria-disabled");
    node.classList.remove("busy");
  }
}

const confirmation = (ui, confirm) => ({
  title: confirm.title?.text ?? "Are you sure?",
  body: renderText(ui, confirm.text),
  yes: confirm.confirm?.text ?? "Yes",
  no: confirm.deny?.text ?? "No",
  danger: confirm.style === "danger",
});

function attributes(block, element) {
  return {
    "data-testid": `action-${element.action_id}`,
    "data-focus-key": `${block.block_id}/${element.action_id}`,
    "aria-label": element.accessibility_label,
  };
}

function button(surface, block, element) {
  const style = element.style === "primary" || element.style === "danger" ? element.style : "";
  const extra = { type: element.type, value: element.value, text: element.text };
  const label = renderPlain(element.text?.text, { emojis: element.text?.emoji !== false });
  const href = element.url ? safeUrl(element.url) : null;
  if (href) {
    return h(
      "a",
      {
        ...attributes(block, element),
        class: `button ${style}`,
        href,
        target: "_blank",
        rel: "noopener noreferrer",
        onclick: (event) => press(surface, block, { ...element, confirm: undefined }, extra, event.currentTarget),
      },
      label,
    );
  }
  return h(
    "button",
    {
      ...attributes(block, element),
      type: "button",
      class: `button ${style}`,
      onclick: (event) => press(surface, block, element, extra, event.currentTarget),
    },
    label,
  );
}

function overflow(surface, block, element) {
  const opener = h(
    "button",
    {
      ...attributes(block, element),
      type: "button",
      class: "button icon-only",
      "aria-haspopup": "menu",
      "aria-label": element.accessibility_label ?? "More actions",
      onclick: () =>
        surface.ui.menu(
          opener,
          element.options.map((option) => ({
            label: renderText(surface.ui, option.text),
            detail: option.description?.text,
            testid: `option-${option.value}`,
            href: option.url ? safeUrl(option.url) : null,
            run: () => press(surface, block, element, { type: "overflow", selected_option: option }, opener),
          })),
        ),
    },
    icon("more"),
  );
  return opener;
}

function feedback(surface, block, element) {
  const side = (part, name, glyph) => {
    const node = h(
      "button",
      {
        type: "button",
        class: "button ghost",
        "data-testid": `action-${element.action_id}-${name}`,
        "data-focus-key": `${block.block_id}/${element.action_id}/${name}`,
        "aria-label": part.accessibility_label ?? part.text?.text,
        title: part.text?.text,
        onclick: async () => {
          await press(surface, block, element, { type: "feedback_buttons", value: part.value, text: part.text }, node);
          for (const other of node.parentElement.children) other.setAttribute("aria-pressed", String(other === node));
        },
      },
      icon(glyph),
    );
    return node;
  };
  return h(
    "span",
    { class: "feedback", role: "group", "aria-label": "Feedback", "data-testid": `action-${element.action_id}` },
    element.positive_button && side(element.positive_button, "positive", "up"),
    element.negative_button && side(element.negative_button, "negative", "thumbdown"),
  );
}

function iconElement(surface, block, element) {
  if (element.visible_to_user_ids && !element.visible_to_user_ids.includes(surface.ui.store.me)) return null;
  const extra = { type: "icon_button", value: element.value, text: element.text };
  return h(
    "button",
    {
      ...attributes(block, element),
      type: "button",
      class: "button ghost",
      "aria-label": element.accessibility_label ?? element.text?.text,
      title: element.text?.text,
      onclick: (event) => press(surface, block, element, extra, event.currentTarget),
    },
    icon(element.icon === "trash" ? "trash" : "more"),
  );
}

function thumbnail(surface, block, element) {
  return picture(surface.ui, element, "thumbnail");
}

/** An image of this playground, or a placeholder with its description: nothing is ever fetched from elsewhere. */
export function picture(ui, image, className) {
  const alt = image.alt_text ?? image.title?.text ?? "image";
  const local = image.slack_file?.id ? fileUrl(ui, { id: image.slack_file.id, name: alt }) : localUrl(image.image_url ?? image.slack_file?.url);
  if (local) return h("img", { class: className, src: local, alt, loading: "lazy" });
  return h(
    "span",
    { class: `${className} placeholder`, role: "img", "aria-label": alt, title: `${alt}\n${image.image_url ?? ""}` },
    icon("image"),
    h("span", {}, alt),
  );
}

function localUrl(address) {
  if (!address) return null;
  try {
    const url = new URL(address, location.href);
    return url.origin === location.origin ? url.href : null;
  } catch {
    return null; // not a URL: the placeholder is shown
  }
}
