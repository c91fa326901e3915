// Completion while typing: `@` people, `#` channels, `/` commands, `:` emoji. The list belongs to the text box as an ARIA combobox.

import { h } from "./dom.js";
import { searchEmoji } from "./emoji.js";
import { avatar } from "./message.js";

const MOST = 8;
// A mark counts at the start, or after anything that is not a Latin letter or digit: also right after Chinese text.
const PATTERN = /(?<![A-Za-z0-9_])([@#:])([\p{L}\p{N}._+-]*)$/u;
let serial = 0;

export class Completion {
  constructor(ui, input, { thread }) {
    Object.assign(this, { ui, input, thread });
    this.id = `completion-${(serial += 1)}`;
    this.items = [];
    this.at = 0;
    this.element = h("div", { class: "completion", role: "listbox", id: this.id, "aria-label": "Suggestions", hidden: true });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", this.id);
    input.setAttribute("aria-expanded", "false");
  }

  get open() {
    return !this.element.hidden;
  }

  close() {
    this.element.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** Looks at the text before the caret and shows what fits. */
  refresh() {
    const { value, selectionStart, selectionEnd } = this.input;
    const before = value.slice(0, selectionStart);
    this.items = selectionStart === selectionEnd ? this.#find(before) : [];
    this.at = 0;
    if (!this.items.length) return this.close();
    return this.#draw();
  }

  #find(before) {
    const { store } = this.ui;
    const command = /^\/(\S*)$/.exec(before);
    if (command && !this.thread) {
      const wanted = before.toLowerCase();
      const hits = store.commands.filter((entry) => entry.command.startsWith(wanted)).slice(0, MOST);
      if (hits.length === 1 && hits[0].command === wanted) return []; // typed in full: Enter sends it
      const shortcuts = store.shortcuts
        .filter((entry) => entry.kind === "global" && entry.name.toLowerCase().startsWith(wanted.slice(1)))
        .map((entry) => ({ text: "", from: 0, label: entry.name, detail: entry.description || "shortcut", run: () => this.ui.shortcut(entry) }));
      return [
        ...hits.map((entry) => ({
          text: `${entry.command} `,
          from: 0,
          label: entry.command,
          detail: [entry.usage_hint, entry.description].filter(Boolean).join(" — "),
        })),
        ...shortcuts,
      ];
    }
    const match = PATTERN.exec(before);
    if (!match) return [];
    const [, mark, part] = match;
    const from = match.index;
    const wanted = part.toLowerCase();
    const fits = (...names) =>
      names.some(
        (name) =>
          name?.toLowerCase().startsWith(wanted) ||
          name
            ?.toLowerCase()
            .split(/\s+/)
            .some((word) => word.startsWith(wanted)),
      );
    if (mark === "#") {
      return [...store.channels.values()]
        .filter((channel) => (channel.kind === "channel" || channel.kind === "group") && fits(channel.name))
        .slice(0, MOST)
        .map((channel) => ({ text: `#${channel.name} `, from, label: `#${channel.name}`, detail: channel.topic }));
    }
    if (mark === ":") {
      return part.length < 2
        ? []
        : searchEmoji(part, MOST).map((entry) => ({ text: `${entry.glyph} `, from, label: `:${entry.name}:`, glyph: entry.glyph }));
    }
    const app = store.app.bot_user_id;
    const users = [...store.users.values()]
      .filter((user) => !user.deleted && fits(user.name, user.real_name))
      .sort((a, b) => Number(b.id === app) - Number(a.id === app) || a.name.localeCompare(b.name));
    const groups = ["here", "channel"]
      .filter((name) => wanted && name.startsWith(wanted))
      .map((name) => ({ text: `@${name} `, from, label: `@${name}`, detail: "everyone in this channel" }));
    return [
      ...users.slice(0, MOST).map((user) => ({ text: `@${user.name} `, from, label: user.real_name || user.name, detail: `@${user.name}`, user })),
      ...groups,
    ];
  }

  #draw() {
    this.element.replaceChildren(
      ...this.items.map((item, i) =>
        h(
          "div",
          {
            class: `completion-item${i === this.at ? " active" : ""}`,
            role: "option",
            id: `${this.id}-${i}`,
            "aria-selected": String(i === this.at),
            onmousedown: (event) => {
              event.preventDefault();
              this.at = i;
              this.choose();
            },
          },
          item.user && avatar(item.user, true),
          item.glyph && h("span", { class: "emoji" }, item.glyph),
          h("span", { class: "completion-label" }, item.label),
          item.detail && h("span", { class: "muted" }, item.detail),
        ),
      ),
    );
    this.element.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.input.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    this.element.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /** Puts the highlighted suggestion into the text. */
  choose() {
    const item = this.items[this.at];
    this.close();
    item.run?.();
    this.input.setRangeText(item.text, item.from, this.input.selectionStart, "end");
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }

  /** Handles a key while open; answers whether it was used. */
  key(event) {
    if (!this.open) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.at = (this.at + step + this.items.length) % this.items.length;
      this.#draw();
    } else if (event.key === "Enter" && this.items[this.at].text.trim() === this.input.value.trim() && this.input.value.startsWith("/")) {
      this.close(); // a whole command: Enter sends it
      return false;
    } else if (event.key === "Enter" || event.key === "Tab") {
      this.choose();
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
