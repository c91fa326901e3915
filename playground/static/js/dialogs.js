// The page's own small windows: confirmation, menus, the emoji picker and the channel switcher (Ctrl/Cmd+K). Native <dialog> and
// popovers carry focus trapping, Escape and stacking.

import { h, icon, trapFocus } from "./dom.js";
import { searchEmoji } from "./emoji.js";
import { avatar } from "./message.js";

/** Asks; resolves true for yes. `body` may be a string or nodes. */
export function confirm({ title, body, yes = "OK", no = "Cancel", danger = false }) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const dialog = h(
      "dialog",
      { class: "dialog small", "aria-label": title, "data-testid": "confirm" },
      h(
        "form",
        { method: "dialog" },
        h("h2", {}, title),
        h("div", { class: "dialog-body" }, body),
        h(
          "div",
          { class: "dialog-foot" },
          h("button", { class: "button", value: "no", "data-testid": "confirm-no" }, no),
          h("button", { class: `button ${danger ? "danger" : "primary"}`, value: "yes", "data-testid": "confirm-yes", autofocus: true }, yes),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.({ preventScroll: true });
      resolve(dialog.returnValue === "yes");
    });
    (before?.closest?.("dialog") ?? document.body).append(dialog);
    trapFocus(dialog);
    dialog.showModal();
  });
}

// A popover next to `anchor`, inside the same dialog if there is one (everything outside an open dialog is inert).
function popup(anchor, content, props) {
  const node = h("div", { popover: "auto", class: "popup", ...props }, content);
  (anchor.closest("dialog") ?? document.body).append(node);
  node.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const inside = node.contains(document.activeElement) || document.activeElement === document.body;
    node.remove();
    if (inside && anchor.isConnected) anchor.focus({ preventScroll: true });
  });
  node.showPopover();
  const box = (anchor.querySelector(".toolbar") ?? anchor).getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = node;
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const below = box.bottom + 6 + height < innerHeight;
  node.style.setProperty("left", `${left}px`);
  node.style.setProperty("top", `${Math.max(8, below ? box.bottom + 6 : box.top - height - 6)}px`);
  return node;
}

/** A menu; `items`: {label, detail?, href?, testid?, run()}. */
export function menu(anchor, items) {
  const node = popup(
    anchor,
    items.map((item) =>
      h(
        item.href ? "a" : "button",
        {
          type: item.href ? null : "button",
          class: "menu-item",
          role: "menuitem",
          "data-testid": item.testid,
          href: item.href,
          target: item.href ? "_blank" : null,
          rel: item.href ? "noopener noreferrer" : null,
          onclick: () => {
            node.hidePopover();
            item.run();
          },
        },
        item.label,
        item.detail && h("small", { class: "muted block" }, item.detail),
      ),
    ),
    { role: "menu" },
  );
  node.addEventListener("keydown", (event) => moveFocus(event, [...node.querySelectorAll(".menu-item")]));
  node.querySelector(".menu-item")?.focus();
}

function moveFocus(event, nodes, columns = 1) {
  const at = nodes.indexOf(document.activeElement);
  const step = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: columns > 1 ? 1 : 0, ArrowLeft: columns > 1 ? -1 : 0 }[event.key];
  if (!step || at < 0) return;
  event.preventDefault();
  nodes[(at + step + nodes.length) % nodes.length]?.focus();
}

/** The emoji picker; calls `done({name, glyph})`. */
export function pickEmoji(anchor, done) {
  const grid = h("div", { class: "emoji-grid" });
  const choose = (entry) => {
    node.hidePopover();
    done(entry);
  };
  const draw = () =>
    grid.replaceChildren(
      ...searchEmoji(search.value, 400).map((entry) =>
        h(
          "button",
          {
            type: "button",
            class: "emoji-cell",
            title: `:${entry.name}:`,
            "aria-label": entry.name,
            "data-emoji": entry.name,
            onclick: () => choose(entry),
          },
          entry.glyph,
        ),
      ),
    );
  const search = h("input", {
    class: "field",
    type: "search",
    placeholder: "Find an emoji",
    "aria-label": "Find an emoji",
    oninput: draw,
    onkeydown: (event) => {
      if (event.key === "Enter") grid.querySelector("button")?.click();
      else if (event.key === "ArrowDown") grid.querySelector("button")?.focus();
      else return;
      event.preventDefault();
    },
  });
  draw();
  const node = popup(anchor, [search, grid], { class: "popup emoji-picker", role: "dialog", "aria-label": "Emoji", "data-testid": "emoji-picker" });
  grid.addEventListener("keydown", (event) => moveFocus(event, [...grid.children], 8));
  search.focus();
}

/** The switcher: type a few letters of a channel or a person, Enter goes there. */
export function openSwitcher(ui) {
  if (document.querySelector(".switcher")) return;
  const { store } = ui;
  const places = [
    ...[...store.channels.values()]
      .filter((channel) => channel.kind !== "im")
      .map((channel) => ({
        label: store.title(channel.id),
        mark: channel.kind === "group" ? icon("lock") : icon("hash"),
        go: () => ui.openChannel(channel.id),
      })),
    ...[...store.users.values()]
      .filter((user) => user.id !== store.me && !user.deleted)
      .map((user) => ({ label: `${user.real_name || user.name} @${user.name}`, mark: avatar(user, true), go: () => ui.openPerson(user.id) })),
  ];
  let hits = [];
  let at = 0;
  const list = h("div", { class: "switcher-list", role: "listbox", id: "switcher-list", "aria-label": "Places" });
  const go = (place) => {
    dialog.close();
    place?.go();
  };
  const draw = () => {
    list.replaceChildren(
      ...hits.map((place, i) =>
        h(
          "div",
          {
            class: `completion-item${i === at ? " active" : ""}`,
            role: "option",
            id: `place-${i}`,
            "aria-selected": String(i === at),
            onclick: () => go(place),
          },
          place.mark,
          h("span", {}, place.label.replace(/^#/, "")),
        ),
      ),
    );
    input.setAttribute("aria-activedescendant", `place-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const find = () => {
    const wanted = input.value.trim().toLowerCase().replace(/^[#@]/, "");
    hits = places.filter((place) => place.label.toLowerCase().includes(wanted)).slice(0, 12);
    at = 0;
    draw();
  };
  const input = h("input", {
    class: "field",
    type: "search",
    placeholder: "Go to a channel or a person",
    "aria-label": "Go to a channel or a person",
    role: "combobox",
    "aria-controls": "switcher-list",
    "aria-expanded": "true",
    oninput: find,
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && hits.length) at = (at + step + hits.length) % hits.length;
      else if (event.key === "Enter" && !event.isComposing) return go(hits[at]);
      else return undefined;
      event.preventDefault();
      return draw();
    },
  });
  const dialog = h("dialog", { class: "dialog switcher", "aria-label": "Go to", "data-testid": "switcher" }, input, list);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  trapFocus(dialog);
  dialog.showModal();
  find();
}
