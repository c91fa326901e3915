// The middle column: header, messages (or the app's Home), hints, prompts and the message box of one channel.

import { acceptDrops, Composer } from "./composer.js";
import { batched, fragment, h, icon, iconButton } from "./dom.js";
import { hintPanel } from "./hints.js";
import { HomeTab } from "./home.js";
import { avatar } from "./message.js";
import { promptRow } from "./status.js";
import { Timeline } from "./timeline.js";

export class Conversation {
  constructor(ui, element) {
    Object.assign(this, { ui, element });
    this.channel = null;
    this.tab = null;
    const ours = (event) => !event.detail?.channel || event.detail.channel === this.channel;
    this.updateExtras = batched(() => this.#drawExtras());
    ui.store.addEventListener("messages", (event) => {
      if (!ours(event)) return;
      this.timeline?.update();
      this.updateExtras();
    });
    ui.store.addEventListener("status", (event) => {
      if (!ours(event)) return;
      this.timeline?.update();
      this.updateExtras();
    });
    ui.store.addEventListener("workspace", () => this.channel && this.#drawHeader());
    acceptDrops(element, () => this.composer);
  }

  /** Shows a channel; `tab` matters for the app only ("home" or "messages"). */
  show(channel, tab = "messages") {
    this.channel = channel;
    this.tab = tab;
    this.timeline?.destroy();
    this.timeline = this.composer = this.home = null;
    const { ui } = this;
    this.header = h("header", { class: "pane-head" });
    this.extras = h("div", { class: "extras" });
    if (!ui.store.channels.has(channel)) {
      this.element.replaceChildren(h("div", { class: "empty" }, icon("hash"), h("p", {}, "There is no such conversation for you.")));
      return;
    }
    this.#drawHeader();
    if (tab === "home" && ui.store.isAppChannel(channel)) {
      this.home = new HomeTab(ui);
      this.element.replaceChildren(this.header, this.home.element);
      this.home.open();
      return;
    }
    const title = ui.store.title(channel);
    this.timeline = new Timeline(ui, {
      channel,
      intro: () => this.#intro(),
      newSince: ui.store.marks.unread.has(channel) ? ui.store.marks.lastRead(channel) : "",
      label: `Messages in ${title}`,
    });
    this.composer = new Composer(ui, { channel, placeholder: `Message ${title}`, testid: "composer" });
    this.element.replaceChildren(
      this.header,
      this.timeline.element,
      h("div", { class: "compose-area", id: "composer-area" }, this.extras, this.composer.element),
    );
    this.timeline.toBottom();
    this.#drawExtras();
  }

  /** Redraws what depends on which thread is open. */
  refresh() {
    this.timeline?.update();
  }

  #drawHeader() {
    const { ui, channel } = this;
    const { store } = ui;
    const place = store.channels.get(channel);
    if (!place || !this.header) return;
    const isApp = store.isAppChannel(channel);
    const direct = place.kind === "im" ? store.user(place.peer) : null;
    const mark = direct ? avatar(direct, true) : icon(place.kind === "group" ? "lock" : "hash");
    const members = place.members?.length ?? 0;
    this.header.replaceChildren(
      fragment(
        h(
          "div",
          { class: "pane-title" },
          h("span", { class: "pane-mark" }, mark),
          h("h1", {}, store.title(channel).replace(/^#/, "")),
          direct?.is_bot && h("span", { class: "badge" }, "APP"),
        ),
        isApp
          ? h(
              "div",
              { class: "tabs", role: "tablist", "aria-label": "Parts of the app", onkeydown: (event) => this.#tabKeys(event) },
              ["home", "messages"].map((name) =>
                h(
                  "button",
                  {
                    type: "button",
                    role: "tab",
                    class: "tab",
                    "aria-selected": String(name === this.tab),
                    tabindex: name === this.tab ? "0" : "-1",
                    "data-testid": `tab-${name}`,
                    onclick: () => ui.openTab(channel, name),
                  },
                  name === "home" ? "Home" : "Messages",
                ),
              ),
            )
          : h("div", { class: "pane-topic muted" }, place.topic ?? ""),
        !direct &&
          members > 0 &&
          h(
            "span",
            { class: "pane-members muted", title: place.members.map((id) => store.user(id).real_name).join(", ") },
            `${members} ${members === 1 ? "member" : "members"}`,
          ),
      ),
    );
  }

  #tabKeys(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    this.ui.openTab(this.channel, this.tab === "home" ? "messages" : "home");
    queueMicrotask(() => this.header.querySelector("[aria-selected=true]")?.focus());
  }

  #intro() {
    const { store } = this.ui;
    const place = store.channels.get(this.channel);
    if (!place) return h("div");
    if (place.kind === "im") {
      const peer = store.user(place.peer);
      return h(
        "div",
        { class: "intro" },
        avatar(peer),
        h(
          "div",
          {},
          h("strong", {}, peer.real_name || peer.name),
          h(
            "div",
            { class: "muted" },
            store.isAppChannel(this.channel)
              ? `This is your conversation with ${peer.real_name || peer.name}. Nobody else sees it, and no @mention is needed.`
              : `This is the beginning of your conversation with ${peer.real_name || peer.name}.`,
          ),
        ),
      );
    }
    return h(
      "div",
      { class: "intro" },
      h("span", { class: "intro-mark" }, icon(place.kind === "group" ? "lock" : "hash")),
      h(
        "div",
        {},
        h("strong", {}, store.title(this.channel)),
        h("div", { class: "muted" }, `This is the beginning of ${place.kind === "group" ? "this private channel" : "this channel"}.`),
      ),
    );
  }

  #drawExtras() {
    if (!this.composer) return;
    const prompts = this.ui.store.isAppChannel(this.channel) || this.ui.store.promptsOf(this.channel) ? promptRow(this.ui, this.channel, null) : null;
    // An agent session of the whole conversation, as in a direct message, has its status and its Stop button here.
    const nodes = [this.ui.statusLine(this.channel, null), prompts ?? hintPanel(this.ui, this.channel)].filter(Boolean);
    const signature = nodes.map((node) => node.textContent).join("|");
    if (signature === this.extrasSignature && this.extras.childElementCount === nodes.length) return;
    this.extrasSignature = signature;
    this.extras.replaceChildren(...nodes);
  }
}

/** The right column: one thread with its own message box. */
export class ThreadPanel {
  constructor(ui, element) {
    Object.assign(this, { ui, element });
    this.place = null;
    const ours = (event) => this.place && event.detail?.channel === this.place.channel;
    this.updateFoot = batched(() => this.#drawFoot());
    ui.store.addEventListener("messages", (event) => {
      if (!ours(event)) return;
      this.timeline.update();
    });
    ui.store.addEventListener("status", (event) => ours(event) && this.updateFoot());
    acceptDrops(element, () => this.composer);
  }

  show(channel, thread) {
    if (this.place?.channel === channel && this.place.thread === thread && this.place.user === this.ui.store.me) return;
    this.timeline?.destroy();
    const { ui } = this;
    this.place = { channel, thread, user: ui.store.me };
    this.heading = h("h1", {}, "Thread");
    this.foot = h("div", { class: "thread-foot" });
    this.timeline = new Timeline(ui, { channel, thread, label: "Messages in this thread" });
    this.composer = new Composer(ui, { channel, thread, placeholder: "Reply…", testid: "thread-composer" });
    this.element.replaceChildren(
      h(
        "header",
        { class: "pane-head" },
        iconButton("back", "Back to the channel", () => ui.closeThread(), { class: "icon-button phone-only" }),
        h("div", { class: "pane-title" }, this.heading, h("span", { class: "muted" }, ui.store.title(channel))),
        iconButton("close", "Close thread (Escape)", () => ui.closeThread(), { class: "icon-button desk-only", "data-testid": "thread-close" }),
      ),
      this.timeline.element,
      this.foot,
      h("div", { class: "compose-area" }, this.composer.element),
    );
    this.element.hidden = false;
    this.footSignature = null;
    this.#drawFoot();
    this.timeline.toBottom();
  }

  hide() {
    this.timeline?.destroy();
    this.place = this.composer = this.timeline = null;
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  #drawFoot() {
    if (!this.place) return;
    const { channel, thread } = this.place;
    const session = this.ui.store.sessionOf(channel, thread);
    this.heading.textContent = session?.title || "Thread";
    const signature = JSON.stringify([this.ui.store.statusOf(channel, thread), session, this.ui.store.promptsOf(channel, thread)]);
    if (signature === this.footSignature) return;
    this.footSignature = signature;
    const stuck = this.timeline.stuck;
    const line = this.ui.statusLine(channel, thread);
    this.foot.replaceChildren(...[line, promptRow(this.ui, channel, thread)].filter(Boolean));
    if (stuck) this.timeline.toBottom();
  }
}
