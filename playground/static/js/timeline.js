// The list of messages of a channel or a thread. Rows are kept while their message is unchanged, so a streaming answer redraws one
// row and nothing jumps; the list stays at the bottom unless the reader has scrolled up.

import { batched, h, icon, keepFocus } from "./dom.js";
import { authorOf, renderMessage } from "./message.js";
import { dayOf } from "./time.js";

const GROUP_SECONDS = 300;
const NEAR_BOTTOM_PX = 80;

export class Timeline {
  /** `intro()` gives the nodes above the first message; `newSince` is the ts after which messages count as new. */
  constructor(ui, { channel, thread = null, intro = null, newSince = "", label }) {
    Object.assign(this, { ui, channel, thread, intro, newSince });
    this.rows = new Map(); // key → {signature, node}
    this.stuck = true;
    this.list = h("div", { class: "rows", role: "list", "aria-label": label });
    this.pill = h("button", { type: "button", class: "new-pill", hidden: true, onclick: () => this.toBottom() }, icon("down"), "New messages");
    this.scroller = h("div", { class: "scroller" }, !thread && h("div", { class: "spacer" }), this.list);
    this.element = h("div", { class: "timeline" }, this.scroller, this.pill);
    this.scroller.addEventListener("scroll", () => this.#scrolled());
    this.list.addEventListener("keydown", (event) => this.#arrows(event));
    this.list.addEventListener("focusin", (event) => this.#rove(event.target.closest("[role=listitem]")));
    this.observer = new ResizeObserver(() => this.stuck && this.toBottom());
    this.observer.observe(this.list);
    this.observer.observe(this.scroller);
    this.update = batched(() => this.draw());
    this.draw();
  }

  destroy() {
    this.observer.disconnect();
    this.gone = true;
  }

  toBottom() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.stuck = true;
    this.pill.hidden = true;
  }

  /** The newest row's node, for focus. */
  last() {
    return [...this.list.querySelectorAll("[role=listitem]")].at(-1);
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.stuck = scrollHeight - scrollTop - clientHeight < NEAR_BOTTOM_PX;
    if (this.stuck) this.pill.hidden = true;
  }

  #entries() {
    const { store } = this.ui;
    const messages = store.list(this.channel, this.thread);
    const entries = [];
    if (store.hasEarlier(this.channel, this.thread))
      entries.push({ key: "earlier", signature: String(messages.length), make: () => this.#earlier() });
    else if (this.intro && store.isLoaded(this.channel, this.thread)) entries.push({ key: "intro", signature: "intro", make: this.intro });
    if (!store.isLoaded(this.channel, this.thread) && !messages.length)
      entries.push({ key: "loading", signature: "loading", make: () => h("div", { class: "loading muted" }, "Loading…") });
    let day = null;
    let before = null;
    let marked = !this.newSince;
    for (const message of messages) {
      const own = { ...message, channel: this.channel };
      const label = dayOf(message.ts);
      if (label !== day && !this.thread) {
        entries.push({ key: `day-${label}`, signature: label, make: () => h("div", { class: "day", role: "separator" }, h("span", {}, label)) });
        before = null;
      }
      day = label;
      if (!marked && message.ts > this.newSince && message.user !== store.me) {
        marked = true;
        entries.push({ key: "new", signature: "new", make: () => h("div", { class: "new-line", role: "separator" }, h("span", {}, "New")) });
        before = null;
      }
      const author = authorOf(store, message);
      const compact = Boolean(
        before &&
        !message.subtype &&
        !message.is_ephemeral &&
        !before.message.is_ephemeral &&
        before.name === author.real_name &&
        before.message.user === message.user &&
        !before.message.reply_count &&
        !isCard(before.message) &&
        !(this.thread && before.message.ts === this.thread) &&
        Number(message.ts) - Number(before.message.ts) < GROUP_SECONDS,
      );
      const editing = this.ui.editing === message.ts;
      const status = this.thread
        ? ""
        : JSON.stringify([
            store.statusOf(this.channel, message.ts),
            store.sessionOf(this.channel, message.ts)?.status,
            this.ui.isThreadOpen(this.channel, message.ts),
          ]);
      entries.push({
        key: message.ts,
        signature: `${compact}|${editing}|${status}|${store.users.size}|${JSON.stringify(message)}`,
        make: () => this.#row(own, compact),
      });
      before = message.subtype && message.subtype !== "file_share" && message.subtype !== "bot_message" ? null : { message, name: author.real_name };
      const replies = messages.filter((other) => !other.is_ephemeral).length - 1;
      if (this.thread && message.ts === this.thread && replies > 0) {
        entries.push({
          key: "replies",
          signature: String(replies),
          make: () => h("div", { class: "replies-line", role: "separator" }, `${replies} ${replies === 1 ? "reply" : "replies"}`),
        });
        before = null;
      }
    }
    return entries;
  }

  // The button for older messages; the message one was looking at stays where it is.
  #earlier() {
    const load = async (event) => {
      event.currentTarget.classList.add("busy");
      const fromEnd = this.scroller.scrollHeight - this.scroller.scrollTop;
      await this.ui.fetchEarlier(this.channel, this.thread);
      this.draw();
      this.scroller.scrollTop = this.scroller.scrollHeight - fromEnd;
    };
    return h(
      "div",
      { class: "earlier" },
      h("button", { type: "button", class: "button small", "data-testid": "earlier", onclick: load }, "Show earlier messages"),
    );
  }

  // One message that cannot be drawn must not take the others with it.
  #row(message, compact) {
    try {
      return renderMessage(this.ui, message, { compact, inThread: Boolean(this.thread) });
    } catch (error) {
      console.error("A message could not be drawn:", message, error);
      return h(
        "div",
        { class: "row system", role: "listitem", tabindex: "-1", "data-testid": "message", "data-ts": message.ts, "data-user": message.user ?? "" },
        icon("warn"),
        `This message could not be drawn: ${error.message}`,
      );
    }
  }

  draw() {
    if (this.gone) return;
    const entries = this.#entries();
    const wasStuck = this.stuck;
    const newest = entries.at(-1)?.key;
    const grew = this.newest !== undefined && newest !== this.newest && !this.rows.has(newest);
    this.newest = newest;
    keepFocus(this.list, () => {
      const wanted = new Set(entries.map((entry) => entry.key));
      for (const [key, row] of this.rows) {
        if (wanted.has(key)) continue;
        row.node.remove();
        this.rows.delete(key);
      }
      let cursor = this.list.firstChild;
      for (const entry of entries) {
        let row = this.rows.get(entry.key);
        if (!row || row.signature !== entry.signature) {
          const node = entry.make();
          const focused = row && document.activeElement === row.node;
          if (row) {
            carryOpen(row.node, node);
            if (cursor === row.node) cursor = cursor.nextSibling;
            row.node.replaceWith(node);
          }
          row = { signature: entry.signature, node };
          this.rows.set(entry.key, row);
          if (focused) node.focus({ preventScroll: true });
        }
        if (cursor === row.node) cursor = cursor.nextSibling;
        else this.list.insertBefore(row.node, cursor);
      }
    });
    if (!this.list.querySelector("[role=listitem][tabindex='0']")) this.#rove(this.last());
    if (wasStuck) this.toBottom();
    else if (grew) this.pill.hidden = false;
  }

  #rove(row) {
    if (!row || !this.list.contains(row)) return;
    for (const other of this.list.querySelectorAll("[role=listitem][tabindex='0']")) if (other !== row) other.tabIndex = -1;
    row.tabIndex = 0;
  }

  #arrows(event) {
    const row = event.target.closest("[role=listitem]");
    if (event.target !== row || !["ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
    const rows = [...this.list.querySelectorAll("[role=listitem]")];
    const at = rows.indexOf(row);
    const next = { ArrowUp: rows[at - 1], ArrowDown: rows[at + 1], Home: rows[0], End: rows.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

// A message that reads as a form of its own: what follows it starts anew, with its author's name.
const isCard = (message) => Boolean(message.blocks?.some((block) => block.type === "header" || block.type === "actions"));

// A task card or plan that the reader has opened or closed stays so through a redraw, as long as its state is the same.
function carryOpen(old, fresh) {
  const kept = new Map();
  const keyOf = (node, i) => `${node.className}|${node.dataset.task ?? i}`;
  old.querySelectorAll("details").forEach((node, i) => kept.set(keyOf(node, i), node.open));
  fresh.querySelectorAll("details").forEach((node, i) => {
    const open = kept.get(keyOf(node, i));
    if (open !== undefined) node.open = open;
  });
}
